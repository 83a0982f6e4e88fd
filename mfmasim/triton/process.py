"""Memory of a launch as the tensors themselves: nothing is copied, and addresses are the program's."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.argument_passing import laid_out
from mfmasim.machine.launch.layout import begin, fill, load_image
from mfmasim.machine.launch.limits import checked
from mfmasim.machine.state.memory import PAGE, Memory, Region
from mfmasim.machine.state.touched_bytes import Outside
from mfmasim.triton.arguments import words
from mfmasim.triton.calls import Call, Placed
from mfmasim.triton.storages import HIGHEST, LOWEST, Storage, holder, joined, looks_like_address

STRAY = 1024
"""Addresses outside every known buffer that are looked up at most at one access."""


class ProcessMemory(Memory):
    """This process's memory as the arena, from a page of its own below all that the system gives to programs.

    A tensor that an address leads to is looked up when the kernel gets there.
    """

    def __init__(self, storages: Iterable[Storage]) -> None:
        """Begin with the memory of the given tensors."""
        super().__init__()
        self._page = _low_page()
        self._base, self._end = self._page, HIGHEST - self._page
        self._own: list[NDArray[np.uint8]] = []  # what is set aside lives as long as this
        self.regions = [Region(storage.name, storage.address, storage.room) for storage in storages]

    def _pages(self, size: int) -> int:
        self._own.append(np.zeros(-(-max(size, 1) // PAGE) * PAGE + 2 * PAGE, np.uint8))
        return -(-int(self._own[-1].ctypes.data) // PAGE) * PAGE

    def seal(self) -> None:
        """Order the buffers: the bytes exist."""
        self.regions.sort(key=lambda region: region.address)
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
        page = libc.mmap(LOWEST >> 2, PAGE, readable, anonymous, -1, 0)
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
    memory = ProcessMemory(joined(storage for storage in call.storages if storage.size))
    sizes = checked(kernel, call.grid, call.block, call.lds, call.cluster)
    launch = begin(memory, kernel, sizes, cooperative=call.cooperative)
    memory.seal()
    load_image(memory, kernel.code, launch.image_base)
    fill(launch, laid_out(kernel, words(kernel, list(call.arguments))))
    return Placed(launch)
