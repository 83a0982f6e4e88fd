"""A code object that Triton compiled, with what a launch needs beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim import codeobject
from mfmasim.program import Code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.devices import Report
    from mfmasim.program import Kernel

__all__ = ["TritonCode"]


class TritonCode(Code):
    """Code with one kernel, compiled by Triton."""

    metadata: Any
    """Triton's: `num_warps`, `warp_size`, `shared`, and others."""
    asm: Mapping[str, Any]
    """Text of every stage of the compiler: ``ttir``, ``ttgir``, ``llir``, ``amdgcn``."""

    @classmethod
    def of(cls, made: Any, made_by: str) -> TritonCode:
        """Wrap what `triton.compile` returns."""
        code = cls(codeobject.read(made.asm["hsaco"], name=made.metadata.name), made_by=made_by)
        code.metadata, code.asm = made.metadata, dict(made.asm)
        return code

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self[self.metadata.name]

    @property
    def block(self) -> int:
        """Work-items of a workgroup."""
        return int(self.metadata.num_warps * self.metadata.warp_size)

    def launch(
        self, grid: Any, args: Sequence[Any], checks: str | Sequence[str] | None = "all", **options: Any
    ) -> Report:
        """Run the kernel on the simulator.

        Args:
            grid: workgroups in x, y, z.
            args: an entry for each argument that is not a constant: an array for a pointer, a number for a value.
            checks: as for `mfmasim.devices.SimDevice.launch`.
            options: those of that function.
        """
        from mfmasim.devices import device

        scratch = [None] * (len(self.kernel.args) - len(args))  # global and profile scratch memory
        given = [*args, *scratch]
        return device("sim").launch(self.kernel, grid, self.block, given, self.metadata.shared, checks, **options)
