"""What a path did: accesses, waits, barriers, matrix instructions, and loops in place of their turns; blocks."""

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
    """A buffer resource: bytes from a base on that an access can reach."""

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
    """First byte of each lane; None where it is not known."""
    size: int
    """Bytes of each lane."""
    mask: Mask
    facts: Sequence[Polynomial]
    """What holds where it is executed."""
    waves: NDArray[np.intp]
    why: str = ""
    """Why the address is not known."""
    reach: Reach | None = None
    """Of a buffer access."""
    through: str = ""
    """Counter class: ``lds``, or ``memory`` of a load that writes the LDS."""
    data: tuple[Polynomial | None, ...] = ()
    """Contents of the bytes that a store writes (`mfmasim.prove.contents`)."""

    def of_wave(self, wave: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
        """Constant addresses (lanes,) and active lanes of one wave; None where they are not constant."""
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
    """EXEC before it, of all waves; None where its end has another one."""
    waves: tuple[int, ...] | None = None
    """Numbers of the waves that execute it; None where conditions decide."""
    inside: Mask | None = None
    """EXEC at its first instruction; None where its end has another one."""
    outer: Block | None = None
    """The block around it that ends at the same address."""

    @property
    def every(self) -> Iterator[Block]:
        """It and those around it."""
        yield self
        if self.outer is not None:
            yield from self.outer.every

    def chosen(self, which: NDArray[np.intp]) -> Block:
        """Of some of the waves."""
        exec_, inside = (None if mask is None else mask.chosen(which) for mask in (self.exec, self.inside))
        outer = None if self.outer is None else self.outer.chosen(which)
        return replace(self, exec=exec_, inside=inside, outer=outer)


@dataclass(frozen=True, eq=False)
class Step:
    """An instruction that waits, or is a barrier, or accesses memory, or multiplies."""

    instruction: Instruction
    accesses: tuple[Access, ...] = ()
    unproved: str = ""
    """Why the operands of a matrix instruction are not proved."""
    maybe: bool = False
    """Whether a wave without active lanes may have skipped it."""
    waves: tuple[int, ...] | None = None
    """Numbers of the waves that execute it; None is all of the path."""


@dataclass(frozen=True, eq=False)
class Loop:
    """Any number of repetitions of a period."""

    pc: int
    turns: Symbol
    """How many repetitions."""
    period: tuple[Step | Loop, ...] = field(default=())
    flying: int = 0
    """Operations in flight before each period."""


def accesses(trace: Sequence[Step | Loop]) -> Iterator[Access]:
    """All accesses of a trace, those of a period once."""
    for item in trace:
        if isinstance(item, Loop):
            yield from accesses(item.period)
        else:
            yield from item.accesses
