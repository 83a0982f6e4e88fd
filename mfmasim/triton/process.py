"""Memory of a launch as the tensors themselves: nothing is copied, and addresses are the program's."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.cluster import check_cluster
from mfmasim.machine.hostcall import Hostcall, hostcall_bytes
from mfmasim.machine.launch import Launch, check_sizes, fill, load_image, prints, segment_spans
from mfmasim.machine.memory import PAGE, Memory, Outside, Region, image_regions
from mfmasim.machine.passing import laid_out
from mfmasim.machine.printf import PRINTF_BYTES
from mfmasim.triton.arguments import words
from mfmasim.triton.calls import PACKET_BYTES, Call, Placed
from mfmasim.triton.storages import HIGHEST, LOWEST, holder, joined, looks_like_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["shared"]

STRAY = 1024
"""Addresses outside every known buffer that are looked up at most at one access."""


class ProcessMemory(Memory):
    """This process's memory as the arena, from a page of its own below all that the system gives to programs.

    A tensor that an address leads to is looked up when the kernel gets there.
    """

    def __init__(self, regions: Sequence[Region]) -> None:
        """Begin with the given buffers."""
        super().__init__()
        self._page = _low_page()
        self._base, self._end = self._page, HIGHEST - self._page
        self.regions = sorted(regions, key=lambda region: region.address)
        self._arrange(_span(self._base, self._end))

    def _locate(
        self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None, *, write: bool
    ) -> tuple[NDArray[np.int64], Outside | None]:
        offsets, outside = super()._locate(addresses, size, mask, write=write)
        if outside is None:
            return offsets, None
        stray = np.unique(np.broadcast_to(outside.addresses, outside.mask.shape)[outside.mask])
        found = holder((int(address) for address in stray[looks_like_address(stray)][:STRAY]), ())
        known = {region.address for region in self.regions}
        fresh = {s.address: Region(s.name, s.address, s.room) for s in found.values() if s.address not in known}
        if not fresh:
            return offsets, outside
        self.regions = sorted([*self.regions, *fresh.values()], key=lambda region: region.address)
        self._arrange(self._bytes)
        return self._locate(addresses, size, mask, write=write)


_low: list[int] = []


def _low_page() -> int:
    """A page that can be read, below the memory of programs: where an access outside every buffer is diverted to."""
    if not _low:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 1, *[ctypes.c_int] * 3, ctypes.c_long]
        anonymous, readable = 0x22, 1  # MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ
        page = libc.mmap(1 << 32, PAGE, readable, anonymous, -1, 0)
        if page in (None, ctypes.c_void_p(-1).value) or page > LOWEST:
            raise MfmasimError("memory 'process': no page below the program's memory can be had; use memory 'copy'")
        _low.append(int(page))
    return _low[0]


def _span(base: int, size: int) -> NDArray[np.uint8]:
    """Addresses as an array, most of which cannot be accessed."""
    span: Any = type("Span", (), {})()
    span.__array_interface__ = {"data": (base, False), "shape": (size,), "typestr": "|u1", "version": 3}
    return np.asarray(span)


def shared(call: Call) -> Placed:
    """Lay a launch out on the tensors themselves.

    Raises:
        MfmasimError: the device would not take the launch.
    """
    kernel = call.kernel
    check_sizes(kernel, call.grid, call.block, call.lds)
    spans = segment_spans(kernel.code)
    room = max(offset + size for offset, size, _ in spans)
    groups = call.grid[0] * call.grid[1] * call.grid[2]
    waves = groups * -(-call.block[0] * call.block[1] * call.block[2] // kernel.wave)
    calls = hostcall_bytes(kernel, waves)
    sizes = [
        -(-room // PAGE) * PAGE,
        kernel.info.kernarg_room,
        PACKET_BYTES,
        PRINTF_BYTES,
        kernel.arch.lds.gds_bytes,
        calls,
    ]
    starts = np.cumsum([0, *(-(-max(size, 1) // PAGE) * PAGE + PAGE for size in sizes)])
    own = np.zeros(int(starts[-1]) + PAGE, np.uint8)
    first = -(-int(own.ctypes.data) // PAGE) * PAGE
    image, kernarg_at, packet_at, printf_at, gds_at, calls_at = (first + int(start) for start in starts[:-1])
    kernarg = Region("kernel arguments", kernarg_at, kernel.info.kernarg_room, writable=False)
    packet = Region("dispatch packet", packet_at, PACKET_BYTES, writable=False)
    printf = Region("printf buffer", printf_at, PRINTF_BYTES) if prints(kernel) else None
    gds = Region("global data share", gds_at, kernel.arch.lds.gds_bytes) if kernel.shares else None
    storages = joined(storage for storage in call.storages if storage.size)
    regions = [*image_regions("code object", image, spans), kernarg, packet]
    hostcall = Region("hostcall buffer", calls_at, calls) if calls else None
    regions += [region for region in (printf, gds, hostcall) if region is not None]
    regions += [Region(s.name, s.address, s.room) for s in storages]
    memory = ProcessMemory(regions)
    launch = Launch(kernel, call.grid, call.block, call.lds, memory, kernarg, packet, image, printf, gds=gds)
    launch.cluster = check_cluster(kernel, call.grid, call.cluster)
    if hostcall is not None:
        launch.hostcall = Hostcall(memory, hostcall, waves)
    load_image(memory, kernel.code, image)
    fill(launch, laid_out(kernel, words(kernel, list(call.arguments))))
    return Placed(launch, kept=[own])
