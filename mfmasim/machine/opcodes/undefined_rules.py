"""How undefined bits pass through an operation: an argument of its registration.

``bits``: every bit of a result is a function of one bit of each operand, so that the operation itself, executed on both
values of the undefined bits, shows which bits of the result they decide. ``moves``: bits that come from other lanes or
registers. In both, an undefined steering operand (a shift, a selector, a lane) makes the whole result undefined.
``sums``: an undefined bit reaches itself and all bits above it. ``typed``, the default: an undefined bit that is read
makes the whole result undefined. ``index``: the operation writes an index to M0. For
program flow and memory operations the opcode's record is sufficient.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One rule."""

    kind: str = "typed"
    """``bits``, ``moves``, ``sums``, ``typed`` or ``index``."""
    steering: tuple[int, ...] = ()
    """Positions among the sources of the operands that steer."""
    mixes: bool = False
    """Whether bits are combined other than by and, or and selection: a register that occurs twice, shifted, then
    hides from ``bits`` what its bits do."""
    keeps: bool = False
    """Whether destinations may keep bits or lanes beside those that EXEC leaves out."""
    exchanges: bool = False
    """Whether vector sources are written as well."""
    pushes: bool = False
    """Whether a lane may write to any other lane."""
    every_lane: bool = False
    """Whether EXEC is ignored."""
    shifted: int | None = None
    """Of a sum: the operand that shifts the first one to the left."""
    factors: int = 64
    """Of a sum: bits of the first two operands that count."""
    part: str = "operand"
    """The unit in which an operation reads parts of its registers: ``half`` of a register, a ``register`` or a
    whole ``operand``."""
    packed: bool = False
    """Whether the result of such an operation has separate parts; otherwise it is one unit."""
    written: int = 0
    """Bits of M0 that an index is written to."""
    quad: bool = False
    """Whether a lane reads operands of all lanes of its quad."""


TYPED = Rule()


def bits(*steering: int, mixes: bool = False, keeps: bool = False, exchanges: bool = False) -> Rule:
    """Each bit of a result depends on one bit of each operand; `steering` operands decide which.

    Args:
        *steering: positions of the operands that decide which.
        mixes: see `Rule`.
        keeps: see `Rule`.
        exchanges: see `Rule`.
    """
    return Rule("bits", steering, mixes=mixes, keeps=keeps, exchanges=exchanges)


def moves(
    *steering: int, keeps: bool = False, exchanges: bool = False, pushes: bool = False, every_lane: bool = False
) -> Rule:
    """Bits come from other lanes or registers, which `steering` operands choose.

    Args:
        *steering: positions of the operands that choose them.
        keeps: see `Rule`.
        exchanges: see `Rule`.
        pushes: see `Rule`.
        every_lane: see `Rule`.
    """
    return Rule("moves", steering, keeps=keeps, exchanges=exchanges, pushes=pushes, every_lane=every_lane)


def sums(*, shifted: int | None = None, factors: int = 64) -> Rule:
    """An undefined bit reaches itself and all bits above it."""
    return Rule("sums", shifted=shifted, factors=factors)


def parts(part: str, *, packed: bool = False) -> Rule:
    """The operation selects parts of registers; trial executions determine the parts that affect a part of a result."""
    return Rule(part=part, packed=packed)


def index(written: int) -> Rule:
    """An index goes into bits of M0."""
    return Rule("index", written=written)
