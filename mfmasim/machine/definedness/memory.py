"""Undefined bytes of LDS, scratch and global memory, and the instructions that move them.

Loads and stores are executed a second time, with the same addresses, on planes: arrays of the shape of LDS, scratch and
arena whose bits say which bits of memory are undefined. Thus ranges, swizzles, transposed reads and direct-to-LDS loads
follow the machine's own rules. A plane of origins is added when undefined data is first seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.arrays import zeros
from mfmasim.machine.definedness.keys import LDS
from mfmasim.machine.definedness.origin import at_address
from mfmasim.machine.events.notify import Notify
from mfmasim.machine.state.memory import Memory, Region
from mfmasim.machine.state.touched_bytes import Outside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from mfmasim.arrays import U32
    from mfmasim.machine.definedness.planes import Planes
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.events.interface import Machine
    from mfmasim.machine.events.outcome import Outcome


FEW = 1 << 16
"""Bytes up to which an examination is faster than following an access."""


class GlobalBits(Memory):
    """Undefined bits of the arena. A store records lanes that store undefined bits; its bytes are then defined."""

    leaks: list[list[U32]]
    _unset: list[tuple[int, int]]
    """First address of each initially undefined buffer, and the address after its last byte."""

    @classmethod
    def shadowing(cls, real: Memory, undefined: Iterable[Region], bits: NDArray[np.uint8] | None = None) -> GlobalBits:
        """Undefined bits over the buffers of a memory.

        Args:
            real: the memory.
            undefined: buffers that start undefined.
            bits: the undefined bits of every byte, which this object then changes; None: ones in `undefined`.
        """
        made = cls()
        made.regions, made._end, made._base = real.regions, real.size, real.base
        # The system backs pages of zeros when they are first written.
        made._arrange(zeros(len(real.arena)) if bits is None else bits)
        made.leaks, made._unset = [], []
        for region in undefined:
            if bits is None:
                made.view(region)[:] = 0xFF
            made._unset.append((region.address, region.address + region.size))
        return made

    def undefined_within(self, first: int, end: int) -> bool:
        """Whether bytes of a range of addresses may be undefined; for a short range, whether they are."""
        if not any(first < after and start < end for start, after in self._unset):
            return False
        return end - first > FEW or bool(self._bytes[max(first - self._base, 0) : end - self._base].any())

    def define(self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None = None) -> None:
        """Store defined dwords.

        Args:
            addresses: address of each lane, uint64.
            size: bytes per lane.
            mask: active lanes; None means all.
        """
        super().store(addresses, [np.zeros((1, 1), np.uint32)] * (size // 4), size, mask)

    def load_dwords(
        self, addresses: NDArray[np.uint64], count: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[list[U32], Outside | None]:
        """Undefined bits of dwords; another check reports addresses outside.

        Args:
            addresses: address of each lane, uint64.
            count: dwords per lane.
            mask: active lanes; None means all.
        """
        words, outside = super().load_dwords(addresses, count, mask)
        return _inside(words, outside), None

    def load_small(
        self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[U32, Outside | None]:
        """Undefined bits of a byte or a word.

        Args:
            addresses: address of each lane, uint64.
            size: bytes per lane.
            mask: active lanes; None means all.
        """
        word, outside = super().load_small(addresses, size, mask)
        return _inside([word], outside)[0], None

    def store(
        self, addresses: NDArray[np.uint64], words: list[NDArray[Any]], size: int, mask: NDArray[np.bool_] | None = None
    ) -> Outside | None:
        """Record lanes that store undefined bits; the bytes then count as defined, so that they are reported once.

        Args:
            addresses: address of each lane, uint64.
            words: undefined bits of what is written, one array per dword.
            size: bytes per lane.
            mask: active lanes; None means all.
        """
        if size < 4:
            words = [words[0] & np.uint32((1 << 8 * size) - 1)]
        if any(word.any() for word in words):
            _, outside = self.locate(addresses, size, mask, write=True)
            keep: NDArray[np.bool_] = np.ones((1, 1), np.bool_) if mask is None else mask
            if outside is not None:
                keep = keep & ~outside.mask
            stored = [np.where(keep, word, np.uint32(0)) for word in words]
            if any(word.any() for word in stored):
                self.leaks.append(stored)
        super().store(addresses, [np.zeros_like(word) for word in words], size, mask)
        return None


class GlobalOrigins(GlobalBits):
    """Origins of the arena's dwords: their own addresses."""

    def load_dwords(
        self, addresses: NDArray[np.uint64], count: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[list[U32], Outside | None]:
        """Origins of dwords.

        Args:
            addresses: address of each lane, uint64.
            count: dwords per lane.
            mask: active lanes; None means all.
        """
        offsets, _ = self.locate(addresses, 4 * count, mask, write=False)
        return [at_address("global", offsets + 4 * k) for k in range(count)], None

    def load_small(
        self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[U32, Outside | None]:
        """Origin of the dword that holds a byte or a word.

        Args:
            addresses: address of each lane, uint64.
            size: bytes per lane.
            mask: active lanes; None means all.
        """
        offsets, _ = self.locate(addresses, size, mask, write=False)
        return at_address("global", offsets), None

    def store(
        self, addresses: NDArray[np.uint64], words: list[NDArray[Any]], size: int, mask: NDArray[np.bool_] | None = None
    ) -> Outside | None:
        """Nothing: global memory has no other origins.

        Args:
            addresses: address of each lane, uint64.
            words: undefined bits of what is written, one array per dword.
            size: bytes per lane.
            mask: active lanes; None means all.
        """
        del addresses, words, size, mask
        return None


def _inside(words: list[U32], outside: Outside | None) -> list[U32]:
    return words if outside is None else [np.where(outside.mask, np.uint32(0), word) for word in words]


class Aside(Notify):
    """Replaces the observers for accesses to planes, which are not reported."""

    outside: NDArray[np.bool_] | None = None
    """Lanes of the last access that went outside; another check reports them."""

    def fault(self, *args: Any) -> None:
        """Record the lanes; a misaligned scalar access continues at the aligned address below."""
        if args[3] not in ("misaligned read", "misaligned write"):
            self.outside = args[-1].mask

    def reset(self) -> None:
        """Begin the next access, without lanes outside."""
        self.outside = None


class Followed(Aside):
    """As `Aside`, and records accesses."""

    def __init__(self, machine: Machine) -> None:
        """Start empty."""
        super().__init__(machine)
        self.events: list[AccessEvent] = []
        """Accesses of the instruction that was executed last."""
        self.accesses.append(self.events.append)


class Plane:
    """The machine for memory instructions, with undefined bits in place of memory."""

    content = "undefined"

    def __init__(self, machine: Machine) -> None:
        """Start with nothing laid out."""
        self._machine = machine
        self.arch, self.kernel, self.launch = machine.arch, machine.kernel, machine.launch
        self.outcome: Outcome = machine.outcome
        self.memory: GlobalBits = GlobalBits.shadowing(
            machine.memory, machine.launch.undefined, machine.launch.undefined_bits
        )
        self.lds: NDArray[np.uint8]
        self.scratch: NDArray[np.uint8]
        self.stored = False
        self.notify = Aside(machine)

    def begin(self) -> None:
        """A new batch of workgroups: all of the LDS and of scratch is undefined."""
        self.lds = np.full(self._machine.lds.shape, 0xFF, np.uint8)
        self.scratch = np.full(self._machine.scratch.shape, 0xFF, np.uint8)
        self.stored = False

    def settle(self, planes: Planes) -> None:
        """Check whether every byte of the LDS is written by now."""
        if self.stored and planes.dirty >> LDS & 1:
            self.stored = False
            limit = self.launch.lds_bytes
            if limit % 4:
                self.lds[:, limit:] = 0
            if not self.lds.reshape(-1).view(np.uint32).any():
                planes.dirty &= ~(1 << LDS)


class OriginPlane(Plane):
    """A plane of origins: the address of a byte that was never written, else the origin of the stored data."""

    content = "origins"
    notify: Followed

    def __init__(self, machine: Machine) -> None:
        """Start with nothing laid out."""
        super().__init__(machine)
        self.memory = GlobalOrigins.shadowing(machine.memory, ())
        self._batch: NDArray[np.uint8] | None = None
        self.notify = Followed(machine)

    def ready(self) -> OriginPlane:
        """Lay out the LDS and scratch of the current batch when they are needed."""
        if self._batch is not self._machine.lds:
            self._batch = self._machine.lds
            self.lds = _own_addresses("lds", self._machine.lds.shape)
            self.scratch = _own_addresses("scratch", self._machine.scratch.shape)
        self.notify.events.clear()
        return self


def _own_addresses(space: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    row = at_address(space, np.arange(0, shape[1], 4)).view(np.uint8)[: shape[1]]
    return np.array(np.broadcast_to(row, shape), order="C")  # written through a flat view
