"""Dwords of global memory that waves share: one wave writes them, and another wave accesses them.

Most launches have no shared dwords; this search is then the whole cost of the check: the reader and the writer of each
dword, in arrays whose pages the system allocates on their first access. Only parts that a wave has accessed are
searched, so that the cost does not depend on the size of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.isa.scopes import DEVICE, WORKGROUP, reach

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.events import AccessEvent

PART_BITS = 14
PART = 1 << PART_BITS
"""Dwords that are searched together."""
MANY = -1
"""More than one wave."""
KEPT = 1 << 25
"""Bytes of reads that are stored before they are recorded; reads of dwords that no wave writes are never recorded."""


def dwords_of(event: AccessEvent, base: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """First dword that each lane accesses, and the lanes that count: active lanes with an access within memory.

    Args:
        event: an access to global memory.
        base: address of the first byte.
        end: bytes of memory.

    Returns:
        Offsets from `base`, and the lanes that count; None means all.
    """
    offsets = np.ascontiguousarray(event.addresses).view(np.int64) - base
    active = event.active
    if active is not None and active.shape != offsets.shape:
        offsets, active = np.broadcast_arrays(offsets, active)
    # Addresses below the first byte are huge as unsigned numbers.
    if offsets.size and int(offsets.view(np.uint64).max()) + event.size > end:
        inside = (offsets >= 0) & (offsets + event.size <= end)
        active = inside if active is None else active & inside
    return offsets, active


class Book:
    """The wave that accessed each dword: 0 is none, n + 1 wave number n, `MANY` more than one."""

    def __init__(self, dwords: int) -> None:
        """Start without accesses."""
        self.waves: NDArray[np.int32] = np.zeros(dwords, np.int32)
        self._parts: NDArray[np.bool_] = np.zeros(-(-dwords // PART), np.bool_)

    def note(self, at: NDArray[np.int64], count: int, who: NDArray[np.int32]) -> None:
        """Record accesses of waves.

        Args:
            at: first dword of each lane.
            count: dwords of each.
            who: the wave of each access, as a value of the book; broadcasts.
        """
        if count > 1:
            at, who = at[..., None] + np.arange(count), who[..., None]
        book, before = self.waves, self.waves.take(at)
        if not before.any():  # the usual case of a first access
            self._parts[at >> PART_BITS] = True
            book[at] = who
            lost = book.take(at) != who  # two waves of this access share a dword
            if lost.any():
                book[at[lost]] = MANY
            return
        new = (before != who) & (before != MANY)
        if not new.any():
            return
        at, before, who = at[new], before[new], np.broadcast_to(who, at.shape)[new]
        values = np.where(before == 0, who, MANY)
        self._parts[at >> PART_BITS] = True
        book[at] = values
        lost = book.take(at) != values
        if lost.any():
            book[at[lost]] = MANY

    def near(self, first: int, last: int) -> bool:
        """Whether a wave may have accessed dwords `first` to `last`."""
        return bool(self._parts[first >> PART_BITS : (last >> PART_BITS) + 1].any())

    def touched(self) -> NDArray[np.int64]:
        """Dwords that a wave accessed, ascending."""
        starts = np.flatnonzero(self._parts) * PART
        found = [np.flatnonzero(self.waves[start : start + PART]) + start for start in starts]
        return np.concatenate(found) if found else np.zeros(0, np.int64)


class Sharing:
    """Readers and writers of every dword."""

    def __init__(self, base: int, size: int) -> None:
        """Follow `size` bytes from address `base` on."""
        self.base, self.size = base, size
        self.reader, self.writer = Book(size // 4 + 1), Book(size // 4 + 1)
        self.changer = Book(size // 4 + 1)
        """Atomic operations."""
        self.narrow = Book(size // 4 + 1)
        """Atomic operations with a smaller scope than the device."""
        self.bytewise = False
        """Whether an access was smaller than a dword or not aligned to one."""
        self.acquired: dict[int, NDArray[np.int64]] = {}
        """Dwords that an atomic operation or an uncached load returned, by the address of the instruction."""
        self._known: set[int] = set()
        """Shared dwords of other parts of the launch."""
        self._outside: list[tuple[int, int]] = []
        self._reads: list[tuple[NDArray[np.int64], int, NDArray[np.int32]]] = []
        """Stored reads: first dwords, number of dwords of each, and the reading waves."""
        self._bytes = 0
        self._asked: tuple[NDArray[np.int64] | None, NDArray[np.int32]] = None, np.zeros((0, 1), np.int32)
        """Numbers of the waves of an access, and their values in a book; accesses of a block share both."""

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process: the shared dwords, without the waves."""
        return {
            "base": self.base,
            "size": self.size,
            "bytewise": self.bytewise,
            "acquired": self.acquired,
            "known": set(self.shared().tolist()),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the shared dwords; nothing more is followed."""
        self.__init__(state["base"], state["size"])  # type: ignore[misc]
        self.bytewise, self.acquired, self._known = state["bytewise"], state["acquired"], state["known"]

    def add(self, event: AccessEvent) -> None:
        """Record an access to global memory."""
        offsets, active = dwords_of(event, self.base, self.size)
        if active is not None and active.all():
            active = None
        if not event.waves or (active is not None and not active.any()):
            return
        rows = len(offsets)
        if event.numbers is not self._asked[0]:
            self._asked = event.numbers, (event.numbers[:, None] + 1).astype(np.int32)
        owners = np.full((1, 1), MANY, np.int32) if rows == 1 < event.waves else self._asked[1]
        who: Any = owners
        if active is not None:
            who = np.broadcast_to(owners, offsets.shape)[active]
            offsets = offsets[active]
        misaligned = event.size % 4 != 0 or bool(np.bitwise_or.reduce(offsets, axis=None) & 3)
        self.bytewise |= misaligned
        book = {"read": self.reader, "write": self.writer, "atomic": self.changer}[event.kind]
        first = offsets >> 2
        count = -(-event.size // 4)
        if book is self.reader:
            self._reads.append((first, count, who))
            self._bytes += first.nbytes
            if self._bytes > KEPT:
                self._note_reads(every=True)
        else:
            book.note(first, count, who)
            if event.kind == "atomic" and reach(event.instruction, event.kind) < DEVICE:
                self.narrow.note(first, count, who)
        if misaligned:
            last = offsets + (event.size - 1) >> 2
            if (last != first + (count - 1)).any():
                book.note(last, 1, who)
        if event.kind != "write" and event.instruction.dst and reach(event.instruction, event.kind) >= WORKGROUP:
            self._acquire(event.instruction.pc, np.unique(first))

    def _acquire(self, pc: int, dwords: NDArray[np.int64]) -> None:
        old = self.acquired.get(pc)
        if old is None or not np.isin(dwords, old).all():
            self.acquired[pc] = dwords if old is None else np.union1d(old, dwords)

    def _note_reads(self, *, every: bool) -> None:
        """Record the stored reads: all, or those near to written dwords."""
        left = []
        for at, count, who in self._reads:
            span = int(at.min()), int(at.max()) + count
            if every or self.writer.near(*span) or self.changer.near(*span):
                self.reader.note(at, count, who)
            else:
                left.append((at, count, who))
        self._reads, self._bytes = left, sum(at.nbytes for at, _, _ in left)

    def shared(self) -> NDArray[np.int64]:
        """Dwords, ascending, that one wave writes and another accesses, or several change with too small a scope."""
        self._note_reads(every=False)
        written = self.writer.touched()
        writer, reader, changer = (book.waves[written] for book in (self.writer, self.reader, self.changer))
        clash = (reader != writer) & (reader != 0) | (changer != writer) & (changer != 0) | (writer == MANY)
        changed = self.changer.touched()
        changer, reader = self.changer.waves[changed], self.reader.waves[changed]
        read = changed[(reader != 0) & ((reader != changer) | (reader == MANY))]
        narrow = self.narrow.touched()
        several = narrow[(self.changer.waves[narrow] == MANY)]
        found = np.union1d(np.union1d(written[clash], read), several)
        if self._known:
            found = np.union1d(found, np.array(sorted(self._known), np.int64))
        for first, last in self._outside:
            found = found[(found < first // 4) | (found >= -(-last // 4))]
        return found

    def leave_out(self, spans: list[tuple[int, int]]) -> None:
        """Ignore spans of bytes, each from its first byte to one past its last."""
        self._outside = spans

    def merge(self, other: Sharing) -> None:
        """Add another part of the launch; different parts do not share dwords."""
        self._known |= other._known or set(other.shared().tolist())
        self.bytewise |= other.bytewise
        for pc, dwords in other.acquired.items():
            self._acquire(pc, dwords)
