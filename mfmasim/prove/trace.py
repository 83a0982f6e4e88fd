"""The trace of a path: accesses, waits, barriers, matrix instructions, blocks, and loops in place of their turns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.observe.flights import Flight
    from mfmasim.prove.masks import Mask
    from mfmasim.prove.polynomial import Polynomial, Symbol

__all__ = ["Access", "Block", "Loop", "Reach", "Step", "accesses"]


@dataclass(frozen=True, eq=False)
class Reach:
    """A buffer resource: the base, and the bytes from the base on that an access can reach."""

    base: Polynomial | None
    records: Polynomial | None


@dataclass(frozen=True, eq=False)
class Access:
    """One access of some waves to one address space."""

    instruction: Instruction
    space: str
    """``global``, ``lds`` or ``scratch``."""
    kind: str
    """``read``, ``write`` or ``atomic``."""
    address: Polynomial | None
    """First byte of each lane; None if it is unknown."""
    size: int
    """Bytes of each lane."""
    mask: Mask
    facts: Sequence[Polynomial]
    """Facts at the access."""
    waves: NDArray[np.intp]
    why: str = ""
    """Why the address is unknown."""
    reach: Reach | None = None
    """The resource of a buffer access."""
    through: str = ""
    """Counter class: ``lds``, or ``memory`` for a load that writes the LDS."""
    data: tuple[Polynomial | None, ...] = ()
    """Contents of the bytes that a store writes (`mfmasim.prove.contents`)."""

    def of_wave(self, wave: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
        """Constant addresses (lanes,) and active lanes of one wave; None if they are not constant."""
        if self.address is None or not self.address.is_constant:
            return None
        row = int(np.flatnonzero(self.waves == wave)[0])
        value = np.asarray(self.address.constant, np.int64)
        lanes = self.mask.on.shape[1]
        whole = np.broadcast_to(value, (len(self.waves), lanes))
        return whole[row], np.broadcast_to(self.mask.on, (len(self.waves), lanes))[row]


@dataclass(frozen=True, eq=False)
class Block:
    """A block that a branch skips for some waves, while the others execute it."""

    code: list[Instruction]
    flights: tuple[Flight, ...]
    """Operations in flight before it."""
    exec: Mask | None
    """EXEC before the block, of all waves; None if its end has another EXEC."""
    waves: tuple[int, ...] | None = None
    """Numbers of the waves that execute it; None if conditions decide."""
    inside: Mask | None = None
    """EXEC at its first instruction; None if its end has another EXEC."""
    outer: Block | None = None
    """The outer block that ends at the same address."""

    @property
    def every(self) -> Iterator[Block]:
        """The block and its outer blocks."""
        yield self
        if self.outer is not None:
            yield from self.outer.every

    def chosen(self, which: NDArray[np.intp]) -> Block:
        """The block for some of the waves."""
        exec_, inside = (None if mask is None else mask.chosen(which) for mask in (self.exec, self.inside))
        outer = None if self.outer is None else self.outer.chosen(which)
        return replace(self, exec=exec_, inside=inside, outer=outer)


@dataclass(frozen=True, eq=False)
class Step:
    """A wait, a barrier, a memory access or a matrix instruction."""

    instruction: Instruction
    accesses: tuple[Access, ...] = ()
    unproved: str = ""
    """Why the operands of a matrix instruction are not proved."""
    maybe: bool = False
    """Whether a wave without active lanes may have skipped it."""
    waves: tuple[int, ...] | None = None
    """Numbers of the waves that execute it; None means all waves of the path."""


@dataclass(frozen=True, eq=False)
class Loop:
    """Any number of repetitions of a period."""

    pc: int
    turns: Symbol
    """Number of repetitions."""
    period: tuple[Step | Loop, ...] = field(default=())
    flying: int = 0
    """Operations in flight before each period."""


def accesses(trace: Sequence[Step | Loop]) -> Iterator[Access]:
    """All accesses of a trace; those of a period occur once."""
    for item in trace:
        if isinstance(item, Loop):
            yield from accesses(item.period)
        else:
            yield from item.accesses
