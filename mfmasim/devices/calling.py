"""The short form of a launch: ``kernel[grid, block](a, b, c)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.devices import device as open_device
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from mfmasim.devices import Device, Report
    from mfmasim.kernels import Kernel

FORM = "kernel[grid, block](arguments), such as kernel[(4, 4), 256](a, b, c)"


class Launcher:
    """A kernel with its grid: called with the arguments, it launches the kernel."""

    def __init__(self, kernel: Kernel, grid: object, block: object) -> None:
        """Keep the kernel and the sizes of a launch.

        Args:
            kernel: what to run.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup in x, y, z.
        """
        self.kernel, self.grid, self.block = kernel, grid, block

    def __repr__(self) -> str:
        return f"<{self.kernel.name}[{self.grid}, {self.block}]>"

    def __call__(self, *args: Any, device: str | Device = "sim", checks: Any = "all", **options: Any) -> Report:
        """Run the kernel.

        Args:
            args: one per argument: arrays of any library, updated in place, and numbers. A single dict has them by
                name.
            device: by name, such as ``sim`` or ``hip:1``, or an open one.
            checks: as for `mfmasim.devices.SimDevice.launch`.
            options: further arguments of that function, such as ``shared_bytes``.

        Returns:
            The report.
        """
        opened = open_device(device) if isinstance(device, str) else device
        given: Any = args[0] if len(args) == 1 and isinstance(args[0], dict) else list(args)
        return opened.launch(self.kernel, self.grid, self.block, given, checks=checks, **options)


def launcher(kernel: Kernel, key: object) -> Launcher:
    """The launcher of ``kernel[key]``.

    Raises:
        MfmasimError: the key is not a grid and a block.
    """
    if not isinstance(key, tuple) or len(key) != 2:
        raise MfmasimError(f"{kernel.name}[{key!r}]: a launch is written {FORM}; shared_bytes= is one of the arguments")
    return Launcher(kernel, *key)
