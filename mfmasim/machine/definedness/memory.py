"""Undefined bytes of LDS, scratch and global memory, and the instructions that move them.

Loads and stores are executed a second time, with the same addresses, on planes: arrays of the shape of LDS, scratch and
arena whose bits say which bits of memory are undefined. So ranges, swizzles, transposed reads and loads straight to the
LDS are what the machine makes of them. A plane of origins beside that of the bits is made when undefined data is met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.definedness.keys import LDS
from mfmasim.machine.definedness.origin import at_address
from mfmasim.machine.memory import Memory, Outside, Region

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness.planes import Planes
    from mfmasim.machine.events import AccessEvent, ResourceEvent
    from mfmasim.machine.ops.spaces import Part
    from mfmasim.machine.run import Machine
    from mfmasim.machine.state import Group

    Bits = NDArray[np.uint32]

__all__ = ["OriginPlane", "Plane"]


class GlobalBits(Memory):
    """Undefined bits of the arena. A store tells which lanes store undefined bits, and leaves its bytes defined."""

    leaks: list[list[Bits]]

    @classmethod
    def beside(cls, real: Memory, undefined: Iterable[Region]) -> GlobalBits:
        """The same buffers; those that start undefined hold ones."""
        made = cls()
        made.__setstate__(real.__getstate__() | {"bytes": np.zeros(len(real.arena), np.uint8)})
        made.leaks = []
        for region in undefined:
            made.view(region)[:] = 0xFF
        return made

    def load_dwords(
        self, addresses: NDArray[np.uint64], count: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[list[Bits], Outside | None]:
        """Undefined bits of dwords; what lies outside is told by another check."""
        words, outside = super().load_dwords(addresses, count, mask)
        return _inside(words, outside), None

    def load_small(
        self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[Bits, Outside | None]:
        """Undefined bits of a byte or a word."""
        word, outside = super().load_small(addresses, size, mask)
        return _inside([word], outside)[0], None

    def store(
        self, addresses: NDArray[np.uint64], words: list[NDArray[Any]], size: int,
        mask: NDArray[np.bool_] | None = None,
    ) -> Outside | None:  # fmt: skip
        """Remember lanes that store undefined bits; afterwards the bytes count as defined: told once."""
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
    ) -> tuple[list[Bits], Outside | None]:
        """Origins of dwords."""
        offsets, _ = self.locate(addresses, 4 * count, mask, write=False)
        return [at_address("global", offsets + 4 * k) for k in range(count)], None

    def load_small(
        self, addresses: NDArray[np.uint64], size: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[Bits, Outside | None]:
        """Origin of the dword that holds a byte or a word."""
        offsets, _ = self.locate(addresses, size, mask, write=False)
        return at_address("global", offsets), None

    def store(
        self, addresses: NDArray[np.uint64], words: list[NDArray[Any]], size: int,
        mask: NDArray[np.bool_] | None = None,
    ) -> Outside | None:  # fmt: skip
        """Nothing: global memory has no other origins."""
        del addresses, words, size, mask
        return None


def _inside(words: list[Bits], outside: Outside | None) -> list[Bits]:
    return words if outside is None else [np.where(outside.mask, np.uint32(0), word) for word in words]


class Plane:
    """What memory instructions see of a machine, with undefined bits in the place of memory."""

    def __init__(self, machine: Machine) -> None:
        """Nothing is laid out yet."""
        self._machine = machine
        self.arch, self.kernel, self.launch = machine.arch, machine.kernel, machine.launch
        # No observer hears of what happens here.
        self.access_listeners: list[Callable[[AccessEvent], None]] = []
        self.scalar_listeners: list[Callable[[AccessEvent], None]] = []
        self.resource_listeners: list[Callable[[ResourceEvent], None]] = []
        self.memory: GlobalBits = GlobalBits.beside(machine.memory, machine.launch.undefined)
        self.lds: NDArray[np.uint8]
        self.scratch: NDArray[np.uint8]
        self.stored = False
        self.outside: NDArray[np.bool_] | None = None
        """Lanes of the last access that went outside."""

    def begin(self) -> None:
        """A new batch of workgroups: all of the LDS and of scratch is undefined."""
        self.lds = np.full(self._machine.lds.shape, 0xFF, np.uint8)
        self.scratch = np.full(self._machine.scratch.shape, 0xFF, np.uint8)
        self.stored = False

    def reset(self) -> None:
        """The next access begins: no lane is outside yet."""
        self.outside = None

    def settle(self, planes: Planes) -> None:
        """Look whether every byte of the LDS is written by now."""
        if self.stored and planes.dirty >> LDS & 1:
            self.stored = False
            limit = self.launch.lds_bytes
            if limit % 4:
                self.lds[:, limit:] = 0
            if not self.lds.reshape(-1).view(np.uint32).any():
                planes.dirty &= ~(1 << LDS)

    def fault(self, instruction: Instruction, group: Group, space: str, kind: str, size: int, out: Outside) -> None:
        """Lanes outside are reported by another check; what they get is no matter of this one."""
        del instruction, group, space, kind, size
        self.outside = out.mask

    def accessed(
        self, instruction: Instruction, group: Group, part: Part, kind: str, size: int, data: Sequence[Bits] = ()
    ) -> None:
        """No observer hears of an access."""

    def read_by_scalars(self, instruction: Instruction, group: Group, address: NDArray[Any], size: int) -> None:
        """Nor of a scalar load."""

    def described(self, instruction: Instruction, group: Group, words: list[Bits]) -> None:
        """Nor of a buffer resource."""


class OriginPlane(Plane):
    """The same with origins: of what was never written, the address; else that of the data that was stored."""

    def __init__(self, machine: Machine) -> None:
        """Nothing is laid out yet."""
        super().__init__(machine)
        self.memory = GlobalOrigins.beside(machine.memory, ())
        self._batch: NDArray[np.uint8] | None = None
        self.access_listeners.append(lambda event: None)  # noqa: ARG005 - so that accesses are reported
        self.parts: list[Part] = []
        """Accesses of the instruction that was executed last."""

    def accessed(
        self, instruction: Instruction, group: Group, part: Part, kind: str, size: int, data: Sequence[Bits] = ()
    ) -> None:
        """Remember where an access went."""
        del instruction, group, kind, size, data
        self.parts.append(part)

    def ready(self) -> OriginPlane:
        """Lay out the LDS and scratch of the batch that runs, when that is needed."""
        if self._batch is not self._machine.lds:
            self._batch = self._machine.lds
            self.lds = _own_addresses("lds", self._machine.lds.shape)
            self.scratch = _own_addresses("scratch", self._machine.scratch.shape)
        self.parts = []
        return self


def _own_addresses(space: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    row = at_address(space, np.arange(0, shape[1], 4)).view(np.uint8)[: shape[1]]
    return np.array(np.broadcast_to(row, shape), order="C")  # written through a flat view
