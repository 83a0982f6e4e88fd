"""Memory of the simulated devices: one range of this process's addresses, shared by programs and kernels.

Host and device use the same addresses, so pointers in arguments, structures and buffers need no translation, and pinned
and managed memory needs no special treatment. Every allocation starts on a page, is followed by an unallocated page,
and holds poison. Pages consume memory only once they are changed.
"""

from __future__ import annotations

import bisect
import os
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.hiprt.patterns import Pattern, reserved
from mfmasim.hiprt.registry import HipFailure
from mfmasim.machine.state.memory import POISON_BYTE, Region

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.hiprt.written import Written

PAGE, WORD = 4096, 8
OUT_OF_MEMORY, INVALID = 2, 1
HOST, DEVICE, MANAGED, INTERNAL = 1, 2, 3, 0
"""Kinds of memory, as hipMemoryType; internal memory holds code, arguments and printf's buffer."""
RESTING = 64 << 20
"""Freed addresses are not handed out again before so many bytes were freed, so that a stale pointer stays one. Checks
keep records of the whole range in use, so it is not more."""


@dataclass(frozen=True)
class Allocation:
    """An allocation."""

    name: str
    address: int
    size: int
    kind: int
    device: int
    flags: int = 0
    imported: bool = False
    """Whether it is memory of another process, of a device of its own."""

    @property
    def end(self) -> int:
        """The address after its last byte."""
        return self.address + self.size

    @property
    def region(self) -> Region:
        """The allocation as a region of the machine's memory."""
        return Region(self.name, self.address, self.size)


class Heap:
    """The range of addresses and the allocations in it. `limit` is the memory of one device in bytes."""

    def __init__(self, limit: int, devices: int) -> None:
        """Reserve addresses for every device and for pinned memory."""
        self.limit = limit
        size = (limit * (devices + 1) // PAGE + 4096) * PAGE
        self.arena: NDArray[np.uint8] = np.frombuffer(reserved(size), np.uint8)
        self._poison = Pattern(POISON_BYTE)
        self.base = int(self.arena.ctypes.data)
        self._free = [(PAGE, size - 2 * PAGE)]
        self._resting: deque[tuple[int, int, Region]] = deque()
        self._rests = 0
        self._restful = min(RESTING, size // 4)
        self._starts: list[int] = []
        self._allocations: dict[int, Allocation] = {}
        self._count = 0
        self.files: dict[int, int] = {}
        """Files behind memory that processes share, see `mfmasim.hiprt.sharing`, by the address of the allocation."""
        self.written: Written | None = None
        """Initialised bytes, if a check needs them."""
        self.changes = 0
        """Number of allocations and frees, to invalidate data derived from them."""

    @property
    def allocations(self) -> list[Allocation]:
        """All allocations, by address."""
        return [self._allocations[start] for start in self._starts]

    @property
    def freed(self) -> list[Region]:
        """Freed allocations whose addresses are not reused yet, the last one at the end."""
        return [region for _, _, region in self._resting]

    def used(self, device: int) -> int:
        """Bytes that a device holds, in whole pages."""
        own = (a for a in self._allocations.values() if a.device == device and not a.imported)
        allocations = (a for a in own if a.kind != HOST)
        return sum(-(-a.size // PAGE) * PAGE for a in allocations)

    def allocate(self, size: int, kind: int, device: int, name: str = "", flags: int = 0) -> Allocation:
        """Allocate poisoned memory.

        Args:
            size: bytes.
            kind: hipMemoryType, or internal memory.
            device: the device whose memory is used.
            name: name in findings, ``allocation`` by default.
            flags: flags of the HIP call, for later queries.

        Raises:
            HipFailure: out of memory.
        """
        pages = -(-max(size, 1) // PAGE) * PAGE
        if kind in (DEVICE, MANAGED) and self.used(device) + pages > self.limit:
            raise HipFailure(OUT_OF_MEMORY)
        offset = self._taken(pages)
        self._count += 1
        label = f"{name or 'allocation'} {self._count}" if kind else name
        made = Allocation(label, self.base + offset, size, kind, device, flags)
        if kind:
            self._poison.fill(self.arena, offset, pages)
        if self.written is not None:
            (self.written.forget if kind == DEVICE else self.written.mark)(made.address, pages)
        self._add(made)
        return made

    def _taken(self, pages: int) -> int:
        """Take addresses for an allocation and the page behind it; the offset of the first."""
        number = self._place(pages + PAGE)
        while number is None and self._resting:
            self._release()
            number = self._place(pages + PAGE)
        if number is None:
            raise HipFailure(OUT_OF_MEMORY)
        offset, length = self._free[number]
        rest = (offset + pages + PAGE, length - pages - PAGE)
        self._free[number : number + 1] = [rest] if rest[1] else []
        return offset

    def _add(self, made: Allocation) -> None:
        self._allocations[made.address] = made
        bisect.insort(self._starts, made.address)
        self.changes += 1

    def attach(self, file: int, size: int, device: int, process: int) -> Allocation:
        """Memory of another process's device, which a file holds.

        Args:
            file: the file; it is closed when the memory is freed.
            size: bytes.
            device: the device that accesses it here.
            process: whose it is.

        Raises:
            HipFailure: no addresses are left.
        """
        offset = self._taken(-(-size // PAGE) * PAGE)
        self._count += 1
        name = f"hipIpcOpenMemHandle {self._count} of process {process}"
        made = Allocation(name, self.base + offset, size, DEVICE, device, imported=True)
        self._add(made)
        self.back(made, file)
        return made

    def back(self, allocation: Allocation, file: int) -> None:
        """Let a file that other processes map hold an allocation; its bytes count as initialised, as others write them.

        Args:
            allocation: of this heap.
            file: the file, with what the allocation holds.

        Raises:
            HipFailure: the system does not map it.
        """
        pages = -(-allocation.size // PAGE) * PAGE
        if not self._poison.back(self.arena, allocation.address - self.base, pages, file):
            raise HipFailure(OUT_OF_MEMORY)
        self.files[allocation.address] = file
        if self.written is not None:
            self.written.mark(allocation.address, pages)

    def zero(self, address: int, size: int) -> None:
        """Let bytes of an allocation hold zeros, which take no memory where they fill pages of a large range."""
        found = self.at(address, size)
        shared = found is not None and found.address in self.files
        self._poison.empty(self.arena, address - self.base, size, shared=shared)

    def free(self, address: int) -> None:
        """Free an allocation by its first address; its pages return to the system, its addresses are not reused yet.

        Raises:
            HipFailure: no allocation begins there.
        """
        found = self._allocations.pop(address, None)
        if found is None:
            raise HipFailure(INVALID)
        self._starts.remove(address)
        offset, length = address - self.base, -(-max(found.size, 1) // PAGE) * PAGE
        file = self.files.pop(address, None)
        if file is None:
            self._poison.clear(self.arena, offset, length)
        else:
            self._poison.back(self.arena, offset, length, -1)  # others keep what it holds
            os.close(file)
        self._resting.append((offset, length + PAGE, found.region))
        self._rests += length + PAGE
        while self._rests > self._restful and len(self._resting) > 1:
            self._release()
        self.changes += 1

    def _place(self, size: int) -> int | None:
        """The first free range of a size, by its number."""
        return next((n for n, (_, length) in enumerate(self._free) if length >= size), None)

    def _release(self) -> None:
        """Make the addresses that were freed first available again."""
        offset, size, _ = self._resting.popleft()
        self._rests -= size
        place = bisect.bisect(self._free, (offset, 0))
        self._free.insert(place, (offset, size))
        for at in (place, place - 1):  # join with the neighbours
            if 0 <= at < len(self._free) - 1 and sum(self._free[at]) == self._free[at + 1][0]:
                first, second = self._free[at : at + 2]
                self._free[at : at + 2] = [(first[0], first[1] + second[1])]

    def word(self, address: int) -> int:
        """The 64 bits at an address of the heap."""
        return int.from_bytes(self.arena[address - self.base :][:WORD].tobytes(), "little")

    def put_word(self, address: int, value: int) -> None:
        """Write 64 bits to an address of the heap."""
        self.arena[address - self.base :][:WORD] = list(value.to_bytes(WORD, "little"))

    def holds(self, address: int) -> bool:
        """Whether an address lies in the range of the heap."""
        return self.base <= address < self.base + len(self.arena)

    def at(self, address: int, size: int = 0) -> Allocation | None:
        """The allocation that contains `size` bytes from an address on, or None."""
        place = bisect.bisect_right(self._starts, address) - 1
        if place < 0:
            return None
        found = self._allocations[self._starts[place]]
        return found if address < max(found.end, found.address + 1) and address + size <= found.end else None
