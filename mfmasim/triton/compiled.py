"""A code object that Triton compiled, with what a launch needs beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim import codeobject
from mfmasim.errors import MfmasimError
from mfmasim.program import Code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.devices import Report
    from mfmasim.kernels import Kernel


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
        return super().__getitem__(self.metadata.name)

    def __getitem__(self, name: object) -> Any:
        """A kernel by its name; with a grid, the short form of a launch, ``code[grid](x, y, n)``, as Triton has it."""
        if isinstance(name, str):
            return super().__getitem__(name)
        return lambda *args, **options: self.launch(name, args, **options)

    @property
    def block(self) -> int:
        """Work-items of a workgroup."""
        return int(self.metadata.num_warps * self.metadata.warp_size)

    def fields(self, args: Sequence[Any]) -> dict[str, Any]:
        """What the code knows of a launch: its workgroup, its dynamic LDS, and all arguments.

        Args:
            args: those of the source that are not constants.

        Raises:
            MfmasimError: the kernel needs scratch memory in global memory, or clusters, which only a session provides.
        """
        needs = {
            "scratch memory in global memory": getattr(self.metadata, "global_scratch_size", 0),
            "clusters of workgroups": getattr(self.metadata, "num_ctas", 1) > 1,
        }
        for what, needed in needs.items():
            if needed:
                raise MfmasimError(f"{self.kernel.name} needs {what}: run it in a session (mfmasim.triton.session)")
        scratch = [None] * (len(self.kernel.args) - len(args))  # two pointers to scratch memory, which it does not use
        return {"block": self.block, "args": [*args, *scratch], "shared_bytes": int(self.metadata.shared)}

    def launch(
        self, grid: object, args: Sequence[Any], checks: str | Sequence[str] | None = "all", **options: Any
    ) -> Report:
        """Run the kernel on the simulator.

        Args:
            grid: workgroups in x, y, z.
            args: an entry for each argument that is not a constant: an array for a pointer, a number for a value.
            checks: as for `mfmasim.devices.SimDevice.launch`.
            options: those of that function.
        """
        from mfmasim.devices import device

        return device("sim").launch(self.kernel, grid, checks=checks, **self.fields(args), **options)
