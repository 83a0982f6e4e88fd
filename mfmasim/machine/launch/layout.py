"""Memory of a launch: the code object, the dispatch's own memory, the caller's buffers; one list for every entrance.

`prepare` lays a launch out in new memory. `mfmasim.hiprt` and `mfmasim.triton`, whose programs have memory already,
allocate the same pieces there.

Sources: LLVM's AMDGPU usage guide (initial kernel execution state, hidden kernel arguments of code object v4 to v6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.launch.argument_passing import in_order, segment
from mfmasim.machine.launch.argument_segment import Buffers
from mfmasim.machine.launch.dispatch_packet import hidden, packet
from mfmasim.machine.launch.hostcall import Hostcall, hostcall_bytes
from mfmasim.machine.launch.launch import Launch
from mfmasim.machine.launch.limits import check_call
from mfmasim.machine.launch.printf import HEADER_BYTES, PRINTF_BYTES, header
from mfmasim.machine.state.memory import POISON_BYTE, Memory, Region

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.kernels import Code, Kernel
    from mfmasim.machine.launch.argument_passing import Arguments
    from mfmasim.machine.launch.limits import Sizes

BARRIER_BYTES = 64
"""State of the barrier at which the workgroups of a cooperative launch meet."""


@dataclass(frozen=True)
class Piece:
    """The memory of a dispatch besides the caller's buffers."""

    field: str
    """Field of `Launch`."""
    name: str
    """Name in messages."""
    size: int
    """In bytes."""
    writable: bool = True
    """Whether the kernel may write it."""


class Reserve(Protocol):
    """Allocates memory, as `mfmasim.machine.state.memory.Memory.reserve`."""

    def __call__(self, name: str, size: int, *, writable: bool = True) -> Region:
        """A region of `size` bytes."""


def own_pieces(kernel: Kernel) -> list[Piece]:
    """Pieces that every dispatch has for itself."""
    return [
        Piece("kernarg", "kernel arguments", kernel.info.kernarg_room, writable=False),
        Piece("packet", "dispatch packet", 64, writable=False),
    ]


def shared_pieces(kernel: Kernel, waves: int, *, cooperative: bool = False) -> list[Piece]:
    """Pieces that the dispatches of a device may share.

    Args:
        kernel: the kernel.
        waves: of the launch.
        cooperative: whether its workgroups meet at a barrier over the grid.
    """
    prints = any(arg.value_kind == "hidden_printf_buffer" for arg in kernel.info.hidden_args)
    possible = [
        Piece("printf", "printf buffer", PRINTF_BYTES * prints),
        Piece("hostcall", "hostcall buffer", hostcall_bytes(kernel, waves)),
        Piece("gds", "global data share", kernel.arch.lds.gds_bytes * bool(kernel.shares)),
        Piece("grid_barrier", "grid barrier", BARRIER_BYTES * cooperative),
    ]
    return [piece for piece in possible if piece.size]


def set_aside(kernel: Kernel, sizes: Sizes, reserve: Reserve, *, cooperative: bool = False) -> dict[str, Region]:
    """Allocate the pieces of a launch; returns the regions, by the field of `Launch`.

    Args:
        kernel: the kernel.
        sizes: of the launch.
        reserve: allocates the memory.
        cooperative: whether its workgroups meet at a barrier over the grid.
    """
    wanted = [*own_pieces(kernel), *shared_pieces(kernel, sizes.waves, cooperative=cooperative)]
    return {piece.field: reserve(piece.name, piece.size, writable=piece.writable) for piece in wanted}


def lay_out(kernel: Kernel, sizes: Sizes, memory: Memory, image: int, regions: Mapping[str, Region]) -> Launch:
    """A launch without buffers of the caller.

    Args:
        kernel: the kernel.
        sizes: of the launch.
        memory: its memory.
        image: address of offset 0 of the code object.
        regions: the result of `set_aside`.
    """
    others: dict[str, Any] = dict(regions)
    if "hostcall" in others:
        others["hostcall"] = Hostcall(memory, others["hostcall"], sizes.waves)
    launch = Launch(
        kernel, sizes.grid, sizes.block, sizes.shared_bytes, memory, image_base=image, cluster=sizes.cluster, **others
    )
    launch.undefined = () if launch.gds is None else (launch.gds,)
    return launch


def begin(memory: Memory, kernel: Kernel, sizes: Sizes, *, cooperative: bool = False) -> Launch:
    """Lay out the code object and the dispatch's own memory; the caller's buffers may follow.

    Args:
        memory: not yet sealed.
        kernel: the kernel.
        sizes: of the launch.
        cooperative: whether its workgroups meet at a barrier over the grid.
    """
    image = memory.reserve_image("code object", segment_spans(kernel.code))
    return lay_out(kernel, sizes, memory, image, set_aside(kernel, sizes, memory.reserve, cooperative=cooperative))


def prepare(
    kernel: Kernel,
    grid: object,
    block: object,
    args: Arguments,
    shared_bytes: int = 0,
    undefined: Sequence[int | str | NDArray[Any]] = (),
    buffers: Mapping[int, Any] | None = None,
    cluster: object = None,
    further: Sequence[Arguments] = (),
) -> Launch:
    """Check a launch and lay out its memory.

    Args:
        kernel: what to run.
        grid: workgroups in x, y, z.
        block: work-items of a workgroup in x, y, z.
        args: one entry per explicit argument, in order or by name (see `mfmasim.machine.launch.argument_passing`):
            an array for a pointer (None is a null pointer), a NumPy scalar or a Python number for a value, a list
            for a structure (see `mfmasim.machine.launch.argument_segment`); or the bytes of the segment.
        shared_bytes: dynamic LDS in bytes.
        undefined: numbers or names of arguments whose buffers are undefined; or arrays, which may be fields.
        buffers: arrays by the byte of the segment at which their address belongs, if `args` is its bytes.
        cluster: workgroups of a cluster in x, y, z; None takes those that the kernel was compiled for.
        further: arguments of launches that run together with this one (`mfmasim.machine.execution.joint_launches`).

    Returns:
        The launch, its memory filled.

    Raises:
        MfmasimError: a dimension, a size or an argument that the device would not take; before anything runs.
    """
    sizes = check_call(kernel, grid, block, args, shared_bytes, cluster)
    memory = Memory()
    launch = begin(memory, kernel, sizes)
    given = segment(launch, kernel, args, buffers)
    launch.undefined += _undefined(launch, in_order(kernel, args), undefined)
    filled = [(launch, given)]
    for passed in further:
        own = {piece.field: memory.reserve(piece.name, piece.size, writable=False) for piece in own_pieces(kernel)}
        other = replace(launch, buffers=Buffers(), **own)  # type: ignore[arg-type]
        filled.append((other, segment(other, kernel, passed)))
    launch.further = tuple(other for other, _ in filled[1:])
    memory.seal()
    load_image(memory, kernel.code, launch.image_base)
    for each, content in filled:
        for region, array in each.buffers:
            memory.view(region)[:] = array.reshape(-1).view(np.uint8)
        fill(each, content)
    return launch


def _undefined(launch: Launch, args: Sequence[Any], chosen: Sequence[int | str | NDArray[Any]]) -> tuple[Region, ...]:
    """Buffers of the arguments whose contents are undefined."""
    named = zip(launch.kernel.args, args, strict=False)  # no arguments if the bytes of the segment are given
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


def segment_spans(code: Code) -> list[tuple[int, int, bool]]:
    """Offset, size and writability of the segments that a loader places."""
    return [(segment.vaddr, segment.memsize, segment.writable) for segment in code.object.segments]


def load_image(memory: Memory, code: Code, image: int) -> None:
    """Copy a code object's relocated segments to their buffers.

    Args:
        memory: memory of the launch.
        code: the code object.
        image: address of its offset 0.
    """
    for loaded in code.object.segments_at(image):
        place = memory.view(next(r for r in memory.regions if r.address == loaded.vaddr))
        place[: len(loaded.data)] = np.frombuffer(loaded.data, np.uint8)


def fill(launch: Launch, given: bytes) -> None:
    """Fill the dispatch's own memory: the given segment of arguments, hidden arguments, packet, printf, ...

    Args:
        launch: whose memory exists.
        given: the caller's part of the segment of arguments.
    """
    kernel, memory, printf = launch.kernel, launch.memory, launch.printf
    segment_bytes = memory.view(launch.kernarg)
    segment_bytes[: len(given)] = np.frombuffer(given, np.uint8)
    for arg in kernel.info.hidden_args:
        raw = hidden(launch, arg)
        segment_bytes[arg.offset : arg.offset + arg.size] = np.frombuffer(raw, np.uint8)
    memory.view(launch.packet)[:] = np.frombuffer(packet(launch), np.uint8)
    if launch.grid_barrier is not None:
        memory.view(launch.grid_barrier)[:] = 0
    if launch.gds is not None:
        memory.view(launch.gds)[:] = POISON_BYTE
    if launch.hostcall is not None:
        launch.hostcall.fill()
    if printf is not None:
        memory.view(printf)[:] = 0
        memory.view(printf)[:HEADER_BYTES] = np.frombuffer(header(printf.size), np.uint8)
