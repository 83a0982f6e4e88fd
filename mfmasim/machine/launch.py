"""What a launch needs before the first instruction: checked sizes, buffers, kernel arguments, initial registers.

Sources: LLVM's AMDGPU usage guide (initial kernel execution state, hidden kernel arguments of code object v4 to v6).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.codeobject.metadata import KERNARG_LIMIT
from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.arguments import Buffers
from mfmasim.machine.cluster import ONE, Clusters, check_cluster
from mfmasim.machine.dispatch import halves, hidden, packet
from mfmasim.machine.events import Place
from mfmasim.machine.hostcall import Hostcall, hostcall_bytes
from mfmasim.machine.memory import POISON_BYTE, POISON_DWORD, Memory, Region
from mfmasim.machine.naming import Names
from mfmasim.machine.ops import scratch
from mfmasim.machine.passes import passes
from mfmasim.machine.passing import in_order, segment
from mfmasim.machine.printf import HEADER_BYTES, PRINTF_BYTES, formats_by_hash, header, printed
from mfmasim.machine.quota import Meter, Quota

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.machine.passing import Arguments
    from mfmasim.program import Code, Kernel

__all__ = [
    "Launch", "check_call", "check_sizes", "dimensions", "fill", "load_image", "prepare", "prints", "segment_spans",
]  # fmt: skip

Dim3 = tuple[int, int, int]
SCRATCH_LIMIT = 262_144
"""Scratch of a work-item in bytes: the largest that any of the architectures supports (wave32 on gfx11 and gfx12)."""
GRID_LIMIT = (2**31 - 1, 65535, 65535)
"""Workgroups a dimension, as hipDeviceProp_t.maxGridSize gives it for these devices."""
WORK_ITEMS_LIMIT = 2**32 - 1
"""Work-items a dimension: the dispatch packet counts them in 32 bits (HSA runtime specification, 2.9.6; HIP's reference
of hipModuleLaunchKernel)."""
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
    """Calls to the host, of a kernel that makes some."""
    buffers: Buffers = field(default_factory=Buffers)
    undefined: tuple[Region, ...] = ()
    """Buffers with undefined contents: the kernel may not use what it did not write to them."""
    undefined_bits: NDArray[np.uint8] | None = None
    """The undefined bits of every byte, if a buffer is undefined only in part; they change with the launch."""
    gds: Region | None = None
    """The global data share, of a kernel that accesses it."""
    meter: Meter = field(default_factory=lambda: Meter(Quota()))
    """Holds it to the caller's quota."""
    approximation: int = 0  # of `mfmasim.machine.approximate.APPROXIMATIONS`
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
        """Address of the first of the caller's buffers; 0 where there is none."""
        return min((region.address for region, _ in self.buffers), default=0)

    @property
    def workgroups(self) -> int:
        """Workgroups that run: those of the grid, once for each of the launches."""
        return self.grid[0] * self.grid[1] * self.grid[2] * (1 + len(self.further))

    @property
    def work_items(self) -> int:
        """Work-items of a workgroup."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
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
        """Where in the grid a wave runs, by its number in the launch."""
        linear, own = divmod(wave, self.waves_per_workgroup)
        linear %= self.workgroups // (1 + len(self.further))
        return Place(self.clusters.place(linear), own, lane)

    @cached_property
    def names(self) -> Names:
        """Names of places in buffers and in the LDS, for messages."""
        return Names(self)

    passes = staticmethod(passes)
    """Passes of a matrix instruction, for observers."""

    def printed(self) -> tuple[str, str]:
        """What the kernel printed, and what is wrong with the printf buffer; both usually empty."""
        called = "".join(self.hostcall.text) if self.hostcall is not None else ""
        if self.printf is None:
            return called, ""
        formats = formats_by_hash(self.kernel.code.object.printf)
        text, wrong = printed(self.memory.view(self.printf).tobytes(), formats, self._text_at)
        return text + called, wrong

    def _text_at(self, address: int) -> bytes:
        """The zero-terminated bytes at an address, as far as its buffer goes."""
        region = self.memory.region_at(address)
        if region is None:
            return b"(null)" if address == 0 else b"(bad address)"
        return self.memory.view(region)[address - region.address :].tobytes().partition(b"\0")[0]

    def collect(self) -> None:
        """Copy the buffers back into the caller's arrays."""
        for region, array in self.buffers:
            if array.flags.writeable:
                array.reshape(-1).view(np.uint8)[:] = self.memory.view(region)


def dimensions(value: Any, what: str) -> Dim3:
    """Read a grid or block: one to three positive integers.

    Raises:
        MfmasimError: anything else.
    """
    parts = tuple(value) if isinstance(value, tuple | list | np.ndarray) and np.ndim(value) == 1 else (value,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, int | np.integer) and not isinstance(p, bool) for p in parts):
        raise MfmasimError(f"{what} {value!r}: one to three integers are expected")
    if any(p < 1 for p in parts):
        raise MfmasimError(f"{what} {value!r}: every dimension must be at least 1")
    x, y, z = (*(int(p) for p in parts), 1, 1)[:3]
    return x, y, z


def prepare(
    kernel: Kernel, grid: Any, block: Any, args: Arguments, shared_bytes: int = 0,
    undefined: Sequence[int | str | NDArray[Any]] = (), buffers: Mapping[int, NDArray[Any]] | None = None,
    cluster: Any = None, further: Sequence[Arguments] = (),
) -> Launch:  # fmt: skip
    """Check a launch and lay out its memory.

    Args:
        kernel: what to run.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        args: one entry per explicit argument, in order or by name (see `mfmasim.machine.passing`): an array for a
            pointer (None is a null pointer), a NumPy scalar or a Python number for a value, a list for a structure
            (see `mfmasim.machine.arguments`); or the bytes of the segment.
        shared_bytes: dynamic LDS in bytes.
        undefined: numbers or names of arguments whose buffers are undefined; or arrays, which may be fields.
        buffers: arrays by the byte of the segment at which their address belongs, if `args` is its bytes.
        cluster: workgroups of a cluster in x, y, z; None takes those that the kernel was compiled for.
        further: arguments of launches that run together with this one (`mfmasim.machine.together`).

    Returns:
        The launch, its memory filled.

    Raises:
        MfmasimError: a dimension, a size or an argument that the device would not take; before anything runs.
    """
    grid, block = check_call(kernel, grid, block, args, shared_bytes)
    together = check_cluster(kernel, grid, cluster)
    memory = Memory()
    image = memory.reserve_image("code object", segment_spans(kernel.code))
    kernarg, dispatch = _reserved(memory, kernel)
    printf = memory.reserve("printf buffer", PRINTF_BYTES) if prints(kernel) else None
    launch = Launch(kernel, grid, block, shared_bytes, memory, kernarg, dispatch, image, printf, cluster=together)
    if size := hostcall_bytes(kernel, launch.waves):
        launch.hostcall = Hostcall(memory, memory.reserve("hostcall buffer", size), launch.waves)
    given = segment(launch, kernel, args, buffers)
    launch.undefined = _undefined(launch, in_order(kernel, args), undefined)
    if kernel.shares:
        launch.gds = memory.reserve("global data share", kernel.arch.lds.gds_bytes)
        launch.undefined += (launch.gds,)
    filled = [(launch, given)]
    for passed in further:
        kernarg, dispatch = _reserved(memory, kernel)
        other = replace(launch, kernarg=kernarg, packet=dispatch, buffers=Buffers())
        filled.append((other, segment(other, kernel, passed)))
    launch.further = tuple(other for other, _ in filled[1:])
    memory.seal()
    load_image(memory, kernel.code, image)
    for each, own in filled:
        for region, array in each.buffers:
            memory.view(region)[:] = array.reshape(-1).view(np.uint8)
        fill(each, own)
    return launch


def _reserved(memory: Memory, kernel: Kernel) -> tuple[Region, Region]:
    """Room for the arguments of a dispatch, and for its packet."""
    kernarg = memory.reserve("kernel arguments", kernel.info.kernarg_room, writable=False)
    return kernarg, memory.reserve("dispatch packet", 64, writable=False)


def _undefined(launch: Launch, args: Sequence[Any], chosen: Sequence[int | str | NDArray[Any]]) -> tuple[Region, ...]:
    """Buffers of the arguments whose contents are undefined."""
    named = zip(launch.kernel.args, args, strict=False)  # no arguments where the bytes of the segment are given
    arrays = {k: arg.name or str(k) for k, (arg, value) in enumerate(named) if isinstance(value, np.ndarray)}
    numbers = {name: number for number, name in arrays.items()}
    regions = []
    for each in chosen:
        array: Any = each
        if not isinstance(each, np.ndarray):
            number = numbers.get(each, each) if isinstance(each, str) else each
            if number not in arrays:
                raise unknown("argument", str(each), arrays.values(), "among those that are arrays")
            array = args[int(number)]
        region = launch.buffers.same(array)
        if region is None:
            raise MfmasimError(f"undefined: an array of {array.nbytes} bytes that is not an argument")
        regions.append(region)
    return tuple(regions)


def check_call(kernel: Kernel, grid: Any, block: Any, args: Arguments, shared_bytes: int) -> tuple[Dim3, Dim3]:
    """Check what can be checked without a device; the arguments' values come later.

    Args:
        kernel: what is launched.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        args: as `prepare` takes them.
        shared_bytes: dynamic LDS in bytes.

    Returns:
        Grid and block as three numbers each.

    Raises:
        MfmasimError: see `prepare`.
    """
    if not (hasattr(kernel, "info") and hasattr(kernel, "code")):
        hint = f"; take one of its kernels: {', '.join(kernel.kernels)}" if hasattr(kernel, "kernels") else ""
        raise MfmasimError(f"a kernel is expected, not {type(kernel).__name__}{hint}")
    grid, block = dimensions(grid, "grid"), dimensions(block, "block")
    check_sizes(kernel, grid, block, shared_bytes)
    in_order(kernel, args)
    return grid, block


def segment_spans(code: Code) -> list[tuple[int, int, bool]]:
    """Offset, size and writability of the segments that a loader places."""
    return [(segment.vaddr, segment.memsize, segment.writable) for segment in code.object.segments]


def load_image(memory: Memory, code: Code, image: int) -> None:
    """Copy a code object's segments, relocated, to where their buffers are.

    Args:
        memory: memory of the launch.
        code: the code object.
        image: address of its offset 0.
    """
    for loaded in code.object.segments_at(image):
        place = memory.view(next(r for r in memory.regions if r.address == loaded.vaddr))
        place[: len(loaded.data)] = np.frombuffer(loaded.data, np.uint8)


def fill(launch: Launch, given: bytes) -> None:
    """Fill what a dispatch points to: the segment of arguments as it is given, hidden ones, packet, printf."""
    kernel, memory, printf = launch.kernel, launch.memory, launch.printf
    segment_bytes = memory.view(launch.kernarg)
    segment_bytes[: len(given)] = np.frombuffer(given, np.uint8)
    for arg in kernel.info.hidden_args:
        raw = hidden(launch, arg)
        segment_bytes[arg.offset : arg.offset + arg.size] = np.frombuffer(raw, np.uint8)
    memory.view(launch.packet)[:] = np.frombuffer(packet(launch), np.uint8)
    if launch.gds is not None:
        memory.view(launch.gds)[:] = POISON_BYTE
    if launch.hostcall is not None:
        launch.hostcall.fill()
    if printf is not None:
        memory.view(printf)[:] = 0
        memory.view(printf)[:HEADER_BYTES] = np.frombuffer(header(printf.size), np.uint8)


def prints(kernel: Kernel) -> bool:
    """Whether a kernel requires a buffer that printf fills."""
    return any(arg.value_kind == "hidden_printf_buffer" for arg in kernel.info.hidden_args)


def check_sizes(kernel: Kernel, grid: Dim3, block: Dim3, shared_bytes: int) -> None:
    """Refuse a launch that the device would not take.

    Args:
        kernel: what is launched.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        shared_bytes: dynamic LDS in bytes.

    Raises:
        MfmasimError: the value, and what is allowed.
    """
    arch, info = kernel.arch, kernel.info
    for axis, size, limit in zip("xyz", grid, GRID_LIMIT, strict=True):
        if size > limit:
            raise MfmasimError(f"grid {grid}: {size} workgroups in {axis}, at most {limit} are allowed")
    for axis, size, width in zip("xyz", grid, block, strict=True):
        if size * width > WORK_ITEMS_LIMIT:
            raise MfmasimError(
                f"grid {grid} of blocks {block}: {size * width} work-items in {axis}, at most {WORK_ITEMS_LIMIT} fit "
                "into a dispatch"
            )
    threads = block[0] * block[1] * block[2]
    limit = min(arch.max_workgroup, info.metadata.max_flat_workgroup_size or arch.max_workgroup)
    if threads > limit:
        why = "" if limit == arch.max_workgroup else f" ({kernel.name} was compiled for at most {limit})"
        raise MfmasimError(f"block {block} has {threads} work-items, at most {limit} are allowed{why}")
    required = info.metadata.reqd_workgroup_size
    if required and tuple(required) != block:
        raise MfmasimError(f"block {block}: {kernel.name} requires {tuple(required)}")
    if not isinstance(shared_bytes, int | np.integer) or shared_bytes < 0:
        raise MfmasimError(f"shared_bytes {shared_bytes!r}: a number of bytes, 0 or more, is expected")
    if info.private_segment_fixed_size > SCRATCH_LIMIT:
        raise MfmasimError(
            f"{kernel.name} requires {info.private_segment_fixed_size:,} bytes of scratch per work-item, at most "
            f"{SCRATCH_LIMIT:,} are possible"
        )
    if info.kernarg_size > KERNARG_LIMIT:
        raise MfmasimError(
            f"{kernel.name} requires {info.kernarg_size:,} bytes of kernel arguments, at most {KERNARG_LIMIT:,} are "
            f"possible"
        )
    total = info.group_segment_fixed_size + int(shared_bytes)
    if total > arch.lds_bytes:
        raise MfmasimError(
            f"LDS of {total} bytes ({info.group_segment_fixed_size} static, {shared_bytes} dynamic) exceeds the "
            f"{arch.lds_bytes} bytes of {arch.name}"
        )


def initial_user_sgprs(launch: Launch) -> NDArray[np.uint32]:
    """User SGPRs from s0 up, as uint32 (count,)."""
    descriptor = launch.kernel.info.descriptor
    out: list[int] = []
    for name, count in descriptor.user_sgprs:
        if name == "kernarg_preload":
            first = descriptor.kernarg_preload_offset * 4
            raw = launch.memory.view(launch.kernarg)[first : first + 4 * count]
            out.extend(int(word) for word in np.ascontiguousarray(raw).view(np.uint32))
        elif name in ("kernarg_segment_ptr", "dispatch_ptr"):
            out.extend(halves((launch.kernarg if name.startswith("kern") else launch.packet).address))
        elif name == "private_segment_buffer" and launch.kernel.arch.scratch_resource:
            out.extend(scratch.RESOURCE)
        elif name == "flat_scratch_init" and launch.kernel.arch.scratch_resource:
            out.extend(halves(scratch.SCRATCH_BASE))
        elif name == "private_segment_size":
            out.append(launch.kernel.info.private_segment_fixed_size)
        else:
            out.extend([0] * count)  # queue, dispatch id and old scratch state: not modelled
    out.extend([POISON_DWORD] * (descriptor.user_sgpr_count - len(out)))
    return np.array(out, np.uint32)
