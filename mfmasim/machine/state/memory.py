"""Device memory: one arena of bytes, buffers in it, and guard gaps between them.

An address is ``BASE`` plus an offset into the arena. Every buffer starts on a page and is followed by at least one
page that belongs to no buffer, so that a stray access is detected instead of reading a neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.machine.state.touched_bytes import Outside, Touched

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

BASE = 0x7F00_0000_0000
SHARED_BASE, PRIVATE_BASE = 1 << 48, 2 << 48
"""Flat addresses whose upper 32 bits are these mean LDS and scratch; the lower 32 bits are the offset. (The Linux
driver's choice; nothing else lies there.)"""
PAGE = 4096
POISON_BYTE = 0xA5
POISON_DWORD = 0xA5A5A5A5


@dataclass(frozen=True)
class Region:
    """A buffer of the arena: name, first address, size in bytes."""

    name: str
    address: int
    size: int
    writable: bool = True


def image_regions(name: str, base: int, spans: list[tuple[int, int, bool]]) -> list[Region]:
    """Buffers of a loaded file whose offset 0 lies at `base`: (offset, size, writable) of its segments.

    A segment reaches to the end of its last 64 bytes: the loader places whole pages, and compilers read constants
    with the next larger scalar load, which is aligned.

    Args:
        name: of the file, for messages.
        base: address of its offset 0.
        spans: offset, size and writability of each segment.
    """
    starts = [offset for offset, _, _ in spans]
    regions = []
    for number, (offset, size, writable) in enumerate(spans):
        end = min([-(-(offset + size) // 64) * 64, *(start for start in starts if start >= offset + size)])
        regions.append(Region(f"{name} segment {number}", base + offset, end - offset, writable))
    return regions


class Keeper(Protocol):
    """Saves the bytes that a launch overwrites."""

    def keep(self, offsets: NDArray[np.int64], size: int) -> None:
        """Save `size` bytes at each offset, before a write."""


class Between(Protocol):
    """Other processes that access the same memory while a launch runs; as a context, an access that has to be whole."""

    def __enter__(self) -> None:
        """No other process is in such an access from here on."""

    def __exit__(self, *exception: object) -> None:
        """The access ends."""

    def wait(self) -> str:
        """The waves go round until memory changes: give other processes time; why there is no use in it, or empty."""


class Memory:
    """The arena. Sizes are in bytes; addresses are uint64 arrays of any shape."""

    def __init__(self) -> None:
        """Start empty; `reserve` every buffer, then `seal`."""
        self.regions: list[Region] = []
        self._end = PAGE
        self._base = BASE
        self._bytes: NDArray[np.uint8] = np.empty(0, np.uint8)
        self.touched: Touched | None = None
        """Flags of what is read and written, if they were requested."""
        self.before: Keeper | None = None
        """Keeps what is overwritten, if that was requested."""
        self.former: Sequence[Region] = ()
        """Buffers that were freed, the last one at the end."""
        self.between: Between | None = None
        """Other processes that access the same memory, if there are any."""
        self.mapped, self.beyond = False, False
        """Whether a load outside every buffer gives 0, as from the rest of a page that a driver mapped and cleared; and
        whether an access left such pages."""

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process: buffers and bytes."""
        return {
            "regions": self.regions,
            "end": self._end,
            "base": self._base,
            "bytes": self._bytes,
            "mapped": self.mapped,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy of the memory, in separate arrays."""
        self.regions, self._end, self.touched, self.before = state["regions"], state["end"], None, None
        self.former, self.between = (), None
        self.mapped, self.beyond = state.get("mapped", False), False
        self._base = state["base"]
        self._arrange(np.array(state["bytes"]))

    @classmethod
    def over(cls, base: int, arena: NDArray[np.uint8], regions: Iterable[Region]) -> Memory:
        """A memory of an existing arena, whose first byte has the address `base`, and of the buffers in it.

        Args:
            base: address of the arena's first byte.
            arena: the bytes.
            regions: the buffers in it.
        """
        memory = cls()
        memory._base, memory._end = base, len(arena)
        memory.regions = sorted(regions, key=lambda region: region.address)
        memory._arrange(arena)
        return memory

    def follow(self) -> Touched:
        """Record read and written bytes from now on, in `touched`."""
        self.touched = Touched(self.size)
        return self.touched

    @property
    def base(self) -> int:
        """Address of the arena's first byte."""
        return self._base

    @property
    def size(self) -> int:
        """Bytes of the arena."""
        return self._end

    @property
    def extents(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """First byte of each buffer and one past its last, as ascending offsets, and whether it is writable."""
        return self._starts, self._ends, self._writable

    @property
    def arena(self) -> NDArray[np.uint8]:
        """All bytes, guard gaps included; byte 0 is at ``BASE``, or at the base of `over`."""
        return self._bytes

    def reserve(self, name: str, size: int, *, writable: bool = True, offset: int = 0) -> Region:
        """Set aside `size` bytes, `offset` past a page; the address is final, the bytes exist after `seal`.

        Args:
            name: of the buffer, for messages.
            size: bytes.
            writable: whether the kernel may write to it.
            offset: bytes past a page.
        """
        region = Region(name, self._pages(offset + size) + offset, size, writable)
        self.regions.append(region)
        return region

    def reserve_image(self, name: str, spans: list[tuple[int, int, bool]]) -> int:
        """Set aside a loaded file: (offset, size, writable) of its segments. Returns the address of offset 0."""
        base = self._pages(max(offset + size for offset, size, _ in spans))
        self.regions += image_regions(name, base, spans)
        return base

    def _pages(self, size: int) -> int:
        """The address of whole pages for `size` bytes, with a page behind them that is no buffer's."""
        address = BASE + self._end
        self._end += -(-max(size, 1) // PAGE) * PAGE + PAGE
        return address

    def seal(self) -> None:
        """Create the bytes, all zero; the system allocates such pages when they are first touched."""
        self._arrange(np.zeros(self._end, np.uint8))

    def _arrange(self, arena: NDArray[np.uint8]) -> None:
        self._bytes = arena
        self._dwords = self._bytes.view(np.uint32)
        self._starts = np.array([r.address - self._base for r in self.regions], np.int64)
        self._ends = np.array([r.address - self._base + r.size for r in self.regions], np.int64)
        self._writable = np.array([r.writable for r in self.regions], np.bool_)

    @property
    def dwords(self) -> NDArray[np.uint32]:
        """The whole arena as aligned dwords; `locate` gives byte offsets into it."""
        return self._dwords

    @property
    def given(self) -> int:
        """The dword that a load outside every buffer gives."""
        return 0 if self.mapped else POISON_DWORD

    def view(self, region: Region) -> NDArray[np.uint8]:
        """The bytes of a buffer, as a view."""
        start = region.address - self._base
        return self._bytes[start : start + region.size]

    def region_at(self, address: int) -> Region | None:
        """The buffer that holds an address, if any."""
        return next((r for r in self.regions if r.address <= address < r.address + r.size), None)

    def within(self, addresses: NDArray[np.uint64], size: int) -> bool:
        """Whether all bytes of an access by all lanes lie in one buffer.

        Args:
            addresses: address of each lane, uint64.
            size: bytes per lane.
        """
        low, high = int(addresses.min()) - self._base, int(addresses.max()) - self._base
        last = int(self._starts.searchsorted(low, side="right")) - 1
        return last >= 0 and high + size <= int(self._ends[last])

    def nearest(self, address: int, size: int = 1) -> str:
        """The buffer nearest to an access of `size` bytes and the distance to it, in words."""
        if address < 1 << 20:
            return f"a null pointer plus {address} bytes"
        for one in reversed(self.former):
            if one.address <= address < one.address + one.size:
                return f"byte {address - one.address} of {one.name} ({one.size} bytes), which was freed"
        gaps = [
            (r.address - address if address < r.address else address - (r.address + r.size) + 1, r)
            for r in self.regions
        ]
        gap, region = min(gaps, key=lambda pair: pair[0])
        if gap > 1 << 32:
            return "far from every buffer"
        if address < region.address:
            return f"{region.address - address} bytes before {region.name} ({region.size} bytes)"
        over = address + size - region.address - region.size
        if 0 < over < size:
            return f"of which {over} lie past the end of {region.name} ({region.size} bytes)"
        if over <= 0:
            return f"in {region.name}, which may not be written"
        past = address - region.address - region.size
        return f"{past} bytes past the end of {region.name} ({region.size} bytes)"

    def locate(
        self,
        addresses: NDArray[np.uint64],
        size: int,
        mask: NDArray[np.bool_] | None,
        *,
        write: bool,
        atomic: bool = False,
    ) -> tuple[NDArray[np.int64], Outside | None]:
        """Offsets into the arena (a safe one where masked off or outside) and the lanes that went outside.

        Args:
            addresses: address of each lane, uint64.
            size: bytes per lane.
            mask: active lanes; None means all.
            write: whether the access writes.
            atomic: whether it is an atomic operation.
        """
        offsets, outside = self._locate(addresses, size, mask, write=write)
        if outside is not None and self.mapped:
            self.beyond |= self._beyond(outside, size)
        if self.touched is not None:
            self.touched.note(offsets, size, mask, outside, "atomic" if atomic else "stored" if write else "read")
        if write and self.before is not None:
            self.before.keep(offsets, size)
        return offsets, outside

    def _locate(
        self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None, *, write: bool
    ) -> tuple[NDArray[np.int64], Outside | None]:
        offsets = addresses.astype(np.int64) - self._base
        if mask is not None:
            offsets, mask = np.broadcast_arrays(offsets, mask)
            if not mask.any():
                return np.zeros_like(offsets), None
            offsets = np.where(mask, offsets, offsets[mask].flat[0])
        low, high = int(offsets.min()), int(offsets.max())
        last = int(np.searchsorted(self._starts, low, side="right")) - 1
        if last >= 0 and high + size <= self._ends[last] and (self._writable[last] or not write):
            return offsets, None  # every lane in one buffer, the usual case
        slot = np.searchsorted(self._starts, offsets, side="right") - 1
        inside = (slot >= 0) & (offsets + size <= self._ends[slot])
        if write:
            inside &= self._writable[slot]
        if inside.all():
            return offsets, None
        outside = ~inside if mask is None else ~inside & mask
        return np.where(inside, offsets, 0), Outside(outside, addresses) if outside.any() else None

    def _beyond(self, outside: Outside, size: int) -> bool:
        """Whether an access outside leaves the pages of the buffer before it."""
        addresses = np.broadcast_to(outside.addresses, outside.mask.shape)[outside.mask].astype(np.int64) - self._base
        slot = np.searchsorted(self._starts, addresses, side="right") - 1
        ends = -(-self._ends[slot] // PAGE) * PAGE
        return bool(((slot < 0) | (addresses + size > ends)).any())

    def load_dwords(
        self, addresses: NDArray[np.uint64], count: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[list[NDArray[np.uint32]], Outside | None]:
        """Read `count` consecutive dwords per lane; lanes outside get `given`.

        Args:
            addresses: address of each lane, uint64.
            count: dwords per lane.
            mask: active lanes; None means all.
        """
        offsets, outside = self.locate(addresses, 4 * count, mask, write=False)
        if self.between is None or count == 1:
            out = self._dwords_from(offsets, count)
        else:
            with self.between:
                out = self._dwords_from(offsets, count)
        if outside is not None:
            out = [np.where(outside.mask, np.uint32(self.given), word) for word in out]
        return out, outside

    def _dwords_from(self, offsets: NDArray[np.int64], count: int) -> list[NDArray[np.uint32]]:
        """Consecutive dwords from each offset."""
        if not (offsets & 3).any():
            index = offsets >> 2
            return [self._dwords[k:].take(index) for k in range(count)]
        out = []
        for k in range(count):
            word = np.zeros(offsets.shape, np.uint32)
            for byte in range(4):
                word |= self._bytes[offsets + (4 * k + byte)].astype(np.uint32) << np.uint32(8 * byte)
            out.append(word)
        return out

    def load_small(
        self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.uint32], Outside | None]:
        """Read 1 or 2 bytes per lane, zero-extended; lanes outside get `given`.

        Args:
            addresses: address of each lane, uint64.
            size: bytes per lane.
            mask: active lanes; None means all.
        """
        offsets, outside = self.locate(addresses, size, mask, write=False)
        word = self._bytes[offsets].astype(np.uint32)
        if size == 2:
            word |= self._bytes[offsets + 1].astype(np.uint32) << np.uint32(8)
        if outside is not None:
            word = np.where(outside.mask, np.uint32(self.given & ((1 << 8 * size) - 1)), word)
        return word, outside

    def store(
        self, addresses: NDArray[np.uint64], words: list[NDArray[Any]], size: int, mask: NDArray[np.bool_] | None = None
    ) -> Outside | None:
        """Write `size` bytes per lane from dwords; lanes outside are dropped. Of two lanes at one byte the last wins.

        Args:
            addresses: address of each lane, uint64.
            words: what is written, one array per dword.
            size: bytes per lane.
            mask: active lanes; None means all.
        """
        offsets, outside = self.locate(addresses, size, mask, write=True)
        keep = mask
        if outside is not None:
            keep = ~outside.mask if mask is None else mask & ~outside.mask
        # Waves may share their addresses, their mask or their data.
        shapes = {offsets.shape, *(word.shape for word in words), *(() if keep is None else (keep.shape,))}
        if len(shapes) > 1:
            shape = np.broadcast_shapes(*shapes)
            offsets, *words = (np.broadcast_to(each, shape) for each in (offsets, *words))
        if keep is not None:
            chosen = np.broadcast_to(keep, offsets.shape)
            offsets = offsets[chosen]
            words = [word[chosen] for word in words]
        if self.between is None:
            self._put(offsets, words, size)
        else:
            with self.between:
                self._put(offsets, words, size)
        return outside

    def _put(self, offsets: NDArray[np.int64], words: list[NDArray[Any]], size: int) -> None:
        """Write bytes from each offset on."""
        if size % 4 == 0 and not (offsets & 3).any():
            index = offsets >> 2
            for k, word in enumerate(words):
                self._dwords[index + k] = word
        else:
            for byte in range(size):
                self._bytes[offsets + byte] = (words[byte // 4] >> np.uint32(8 * (byte % 4))).astype(np.uint8)
