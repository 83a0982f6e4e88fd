"""What Triton's compiler says a tensor's elements are held by: a linear layout over registers, lanes and waves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mfmasim.arrays import I64


def spanned(bases: Sequence[Sequence[int]], rank: int) -> I64:
    """Sum, as exclusive or, of the bases that each number's bits select: (numbers, rank)."""
    found = np.zeros((1, rank), np.int64)
    for base in bases:
        found = np.concatenate([found, found ^ np.asarray(base, np.int64)])
    return found


@dataclass(frozen=True)
class Held:
    """A tensor in registers.

    The element of a place is the exclusive or of the bases that the bits of its register, lane and wave select.
    """

    shape: tuple[int, ...]
    format: str
    """Number format; of 4-bit floats the tensor has bytes of two, along K."""
    registers: tuple[tuple[int, ...], ...]
    lanes: tuple[tuple[int, ...], ...]
    waves: tuple[tuple[int, ...], ...]
    encoding: str = ""
    """As the compiler prints it."""

    def places(self) -> I64:
        """Element of each place: (waves, lanes, registers, dimensions)."""
        rank = len(self.shape)
        waves, lanes, registers = (spanned(bases, rank) for bases in (self.waves, self.lanes, self.registers))
        return waves[:, None, None] ^ lanes[None, :, None] ^ registers[None, None]


@dataclass(frozen=True)
class Dot:
    """A product of the kernel."""

    source: str
    """File and line."""
    operands: Mapping[str, Held] = field(hash=False)
    """``A``, ``B``, ``D`` and, of a scaled product, ``scale_A`` and ``scale_B`` (rows: lines of the product)."""
    exchanged: bool = False
    """Whether the compiler passes A as the instruction's B: the result is the product's transpose."""
    shape: tuple[int, ...] = ()
    """M, N and, where the layout states it, K of the instruction."""
    unread: str = ""
    """Why the layouts could not be read, if they could not."""


@dataclass(frozen=True)
class Shared:
    """A tensor in LDS."""

    source: str
    operation: str
    shape: tuple[int, ...]
    encoding: str
