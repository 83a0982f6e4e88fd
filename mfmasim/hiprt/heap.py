"""Memory of the simulated devices: one range of this process's addresses, shared by programs and kernels.

Host and device use the same addresses, so pointers in arguments, structures and buffers need no translation, and pinned
and managed memory needs no special treatment. Every allocation starts on a page, is followed by an unallocated page,
and holds poison. Pages consume memory only once they are changed.
"""

from __future__ import annotations

import bisect
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
        allocations = (a for a in self._allocations.values() if a.device == device and a.kind != HOST)
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
        number = self._place(pages + PAGE)
        while number is None and self._resting:
            self._release()
            number = self._place(pages + PAGE)
        if number is None:
            raise HipFailure(OUT_OF_MEMORY)
        offset, length = self._free[number]
        rest = (offset + pages + PAGE, length - pages - PAGE)
        self._free[number : number + 1] = [rest] if rest[1] else []
        self._count += 1
        label = f"{name or 'allocation'} {self._count}" if kind else name
        made = Allocation(label, self.base + offset, size, kind, device, flags)
        if kind:
            self._poison.fill(self.arena, offset, pages)
        if self.written is not None:
            (self.written.forget if kind == DEVICE else self.written.mark)(made.address, pages)
        self._allocations[made.address] = made
        bisect.insort(self._starts, made.address)
        self.changes += 1
        return made

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
        self._poison.clear(self.arena, offset, length)
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
