"""A launch that passed every check: sizes, memory, and addresses of arguments and buffers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.address_names import Names
from mfmasim.machine.launch.argument_segment import Buffers
from mfmasim.machine.launch.clusters import ONE, Clusters
from mfmasim.machine.launch.place import Place
from mfmasim.machine.launch.printf import formats_by_hash, printed
from mfmasim.machine.launch.quota import Meter, Quota
from mfmasim.machine.opcodes.matrix import passes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.hostcall import Hostcall
    from mfmasim.machine.launch.limits import Dim3
    from mfmasim.machine.state.memory import Memory, Region

STACK_BYTES = 16384
"""Stack of a work-item when the compiler could not bound it (recursion, calls through pointers)."""


@dataclass
class Launch:
    """A launch that passed every check."""

    kernel: Kernel
    grid: Dim3
    block: Dim3
    shared_bytes: int
    memory: Memory
    kernarg: Region
    packet: Region
    image_base: int
    printf: Region | None = None
    """The buffer that printf fills, for a kernel that prints."""
    hostcall: Hostcall | None = None
    """Calls to the host, for a kernel with host calls."""
    buffers: Buffers = field(default_factory=Buffers)
    undefined: tuple[Region, ...] = ()
    """Buffers with undefined contents: the kernel may only use bytes that it has written."""
    undefined_bits: NDArray[np.uint8] | None = None
    """The undefined bits of every byte, if a buffer is undefined only in part; they change with the launch."""
    gds: Region | None = None
    """The global data share, for a kernel that accesses it."""
    meter: Meter = field(default_factory=lambda: Meter(Quota()))
    """Meter of the caller's quota."""
    approximation: int = 0  # of `mfmasim.machine.binding.approximation.APPROXIMATIONS`
    cluster: Dim3 = ONE
    """Workgroups of a cluster in x, y, z."""
    further: tuple[Launch, ...] = ()
    """Launches with other arguments in the same memory, whose workgroups run with these, numbered behind them."""
    grid_barrier: Region | None = None
    """Zeros at which all workgroups of a cooperative launch meet."""

    @cached_property
    def clusters(self) -> Clusters:
        """Order of the workgroups."""
        return Clusters(self.grid, self.cluster)

    @property
    def buffers_begin(self) -> int:
        """Address of the caller's first buffer; 0 without any."""
        return min((region.address for region, _ in self.buffers), default=0)

    @property
    def workgroups(self) -> int:
        """Number of workgroups: those of the grid, once for each of the joint launches."""
        return self.grid[0] * self.grid[1] * self.grid[2] * (1 + len(self.further))

    @property
    def work_items(self) -> int:
        """Work-items of a workgroup."""
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def waves_per_workgroup(self) -> int:
        """Waves of a workgroup; the last may be partial."""
        return -(-self.work_items // self.kernel.wave)

    @property
    def waves(self) -> int:
        """Waves of the launch."""
        return self.workgroups * self.waves_per_workgroup

    @property
    def lds_bytes(self) -> int:
        """LDS of a workgroup: static plus dynamic."""
        return self.kernel.info.group_segment_fixed_size + self.shared_bytes

    @property
    def scratch_bytes(self) -> int:
        """Scratch of a work-item, in whole dwords; with a stack of unknown depth, `STACK_BYTES` more."""
        fixed = self.kernel.info.private_segment_fixed_size
        dynamic = STACK_BYTES if self.kernel.info.descriptor.uses_dynamic_stack else 0
        return -(-(fixed + dynamic) // 4) * 4

    def place(self, wave: int, lane: int | None = None) -> Place:
        """Place of a wave in the grid, by its number in the launch."""
        linear, own = divmod(wave, self.waves_per_workgroup)
        linear %= self.workgroups // (1 + len(self.further))
        return Place(self.clusters.place(linear), own, lane)

    @cached_property
    def names(self) -> Names:
        """Names of places in buffers and in the LDS, for messages."""
        return Names(self.kernel, self.memory, self.buffers)

    passes = staticmethod(passes)
    """Passes of a matrix instruction, for observers."""

    def printed(self) -> tuple[str, str]:
        """The kernel's output, and errors in the printf buffer; both are usually empty."""
        called = "".join(self.hostcall.text) if self.hostcall is not None else ""
        if self.printf is None:
            return called, ""
        formats = formats_by_hash(self.kernel.code.object.printf)
        text, wrong = printed(self.memory.view(self.printf).tobytes(), formats, self._text_at)
        return text + called, wrong

    def _text_at(self, address: int) -> bytes:
        """The zero-terminated bytes at an address, within its buffer."""
        region = self.memory.region_at(address)
        if region is None:
            return b"(null)" if address == 0 else b"(bad address)"
        return self.memory.view(region)[address - region.address :].tobytes().partition(b"\0")[0]

    def collect(self) -> None:
        """Copy the buffers back into the caller's arrays."""
        for region, array in self.buffers:
            if array.flags.writeable:
                array.reshape(-1).view(np.uint8)[:] = self.memory.view(region)


def check_quota(launch: Launch) -> None:
    """Refuse a launch that cannot stay within its quota.

    Raises:
        MfmasimError: names the size and the quota.
    """
    quota = launch.meter.quota
    waves = launch.workgroups * launch.waves_per_workgroup
    if quota.instructions is not None and waves > quota.instructions:
        raise MfmasimError(
            f"grid {launch.grid}: {waves:,} waves, each of which executes an instruction at least, and the quota is "
            f"{quota.instructions:,} wave-instructions"
        )
    if quota.bytes is not None and launch.memory.size > quota.bytes:
        raise MfmasimError(
            f"{launch.kernel.name}: {launch.memory.size:,} bytes of device memory, the quota is {quota.bytes:,}"
        )
