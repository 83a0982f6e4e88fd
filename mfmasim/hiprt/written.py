"""Initialised bytes of device memory, for the check `uninitialised`: memory from hipMalloc is uninitialised.

Copies, fills and kernels initialise memory; a copy also copies uninitialised bytes. A host may write through a pointer
to device memory, as it can if a GPU's memory is mapped: bytes that no longer hold poison in an allocation of at most
`PART` count as written by the host; in larger allocations such writes are not tracked. Pinned, managed and registered
memory, which programs write without a call, counts as initialised; bytes that a copy left uninitialised there stay so
until they hold other values than poison.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfmasim.hiprt.patterns import Pattern, reserved
from mfmasim.machine.state.memory import POISON_BYTE, Region

DWORD = 4
PART = 1 << 20
"""Bytes that are searched together."""
UNDEFINED = 0xFF


class Written:
    """The undefined bits of a range of addresses. A launch with the check changes them as its kernel stores."""

    def __init__(self, base: int, size: int) -> None:
        """Begin with nothing undefined: addresses that no allocation has count as initialised."""
        self._base = base
        self.bits, self._aside = (np.frombuffer(reserved(size), np.uint8) for _ in range(2))
        """Uninitialised bits of device memory, for launches; and bits copied to memory that counts as initialised."""
        self._any_aside, self._pattern = False, Pattern(UNDEFINED)
        self._known: dict[int, int] = {}
        """Number of initialised first bytes of a region, by its address."""

    def _span(self, address: int, size: int) -> slice:
        start = address - self._base
        return slice(start, start + size) if 0 <= start < len(self.bits) else slice(0, 0)

    def forget(self, address: int, size: int) -> None:
        """New memory is not initialised."""
        if self._any_aside:
            self._aside[self._span(address, size)] = 0
        self._pattern.fill(self.bits, address - self._base, size)
        self._unknow(address, size)

    def mark(self, address: int, size: int) -> None:
        """The bytes were written."""
        taken = self._span(address, size)
        if taken.stop:
            self._pattern.clear(self.bits, taken.start, size)
        if self._any_aside:
            self._aside[taken] = 0

    def carry(
        self, to: int, source: int, size: int, content: NDArray[np.uint8] | None = None, *, device: bool = True
    ) -> None:
        """Copy the bits of copied memory; a source outside the range counts as initialised.

        Args:
            to: destination address.
            source: source address.
            size: bytes.
            content: the bytes, if the program may have written the source without a call; else None.
            device: whether the destination is memory that only calls and kernels write.
        """
        given, taken = self._span(source, size), self._span(to, size)
        bits = self.bits[given] | self._aside[given] if self._any_aside else self.bits[given].copy()
        if not taken.stop or not bits.any():
            self.mark(to, size)
            return
        if content is not None:
            bits[_rewritten(bits, content, source % DWORD)] = 0
        self.mark(to, size)
        if device:
            self.bits[taken] = bits
            self._unknow(to, size)
        else:
            self._aside[taken] = bits
            self._any_aside = True

    def _unknow(self, address: int, size: int) -> None:
        for start, known in list(self._known.items()):
            if start < address + size and address < start + known:
                del self._known[start]

    def undefined(self, region: Region, content: NDArray[np.uint8] | None = None) -> bool:
        """Whether a byte of a region is not initialised.

        Args:
            region: of device memory.
            content: its bytes, which the host may have written.
        """
        bits = self.bits[self._span(region.address, region.size)]
        if content is not None and len(bits) <= PART and region.address not in self._known and bits.any():
            bits[_rewritten(bits, content, region.address % DWORD)] = 0
        start = self._known.get(region.address, 0)
        while start < len(bits) and not bits[start : start + PART].any():
            start += PART
        if start >= len(bits) or len(bits) > PART:
            self._known[region.address] = start
        return start < len(bits)


def _rewritten(bits: NDArray[np.uint8], content: NDArray[np.uint8], lead: int) -> NDArray[np.bool_]:
    """Bytes of aligned dwords with an uninitialised byte that no longer holds poison: a dword is written as a whole.

    Args:
        bits: mask of the uninitialised bytes.
        content: the bytes.
        lead: bytes between an aligned address and the first one.
    """
    other = np.pad((bits != 0) & (content != POISON_BYTE), (lead, -(lead + len(bits)) % DWORD))
    return np.repeat(other.reshape(-1, DWORD).any(axis=1), DWORD)[lead : lead + len(bits)]
