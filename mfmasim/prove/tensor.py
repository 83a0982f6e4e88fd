"""The tensor data mover: the accesses of a descriptor in scalar registers, with open sizes and address of the tensor.

A tile of rows is followed. The mover reads the elements of the tile that lie within the tensor, and writes all elements
to the LDS, with zeros for those outside (`mfmasim.machine.tensor`). It ignores EXEC: every wave that executes the
instruction moves a tile.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.tensor import decode, moves
from mfmasim.prove.effects import strange
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.masks import Condition, Literal, Mask
from mfmasim.prove.paths import Stopped
from mfmasim.prove.polynomial import Polynomial, constant
from mfmasim.prove.trace import Access
from mfmasim.prove.words import Word, known, unsigned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.isa import Instruction
    from mfmasim.machine.tensor import Descriptor
    from mfmasim.prove.state import State

__all__ = ["moved"]

GROUPS = (4, 8, 4, 4)
HALF = 1 << 16
LDS, LOW, HIGH, DIM0_LOW, DIMS, DIM1_HIGH, STRIDE = 1, 2, 3, 5, 6, 7, 9
"""Dwords of a descriptor that may be open: addresses, the tensor's sizes (halves of dwords), and its stride."""
ADDRESS = (1 << 25) - 1
"""Bits of an address in `HIGH`."""
BELOW = 1 << 48
"""Addresses are below this number, so that the upper half of their high dword is free."""


def moved(state: State, ins: Instruction, executing: Sequence[int] | None) -> tuple[Access, ...]:
    """The accesses of a tensor load: to memory, and to the LDS.

    Args:
        state: before it.
        ins: the instruction.
        executing: numbers of the waves that execute it; None means all waves.

    Raises:
        Stopped: the descriptor is not followed.
    """
    if odd := strange(ins, frozenset()):
        raise Stopped(f"{ins.text}: {', '.join(odd)} is not followed", ins.pc)
    words = [word for operand, count in zip(ins.src, GROUPS, strict=True) for word in _group(state, operand, count)]
    start, kind = _address(state, words[LOW], words[HIGH])
    columns = _size(state, words[DIM0_LOW], words[DIMS])
    rows = _size(state, words[DIMS], words[DIM1_HIGH])
    place, stride = unsigned(words[LDS], state.facts), unsigned(words[STRIDE], state.facts)
    if start is None or columns is None or rows is None or place is None or stride is None:
        what = ("address", "first size", "second size", "address in the LDS", "stride")
        lost = [name for name, one in zip(what, (start, columns, rows, place, stride), strict=True) if one is None]
        raise Stopped(f"{ins.text}: not known of the descriptor: {', '.join(lost)}", ins.pc)
    tile = _tile(state, ins, words, kind)
    found = moves(tile, most=tile.element_bytes)
    index = found.memory // tile.element_bytes
    row, column = index // HALF, index % HALF
    chosen = np.ones(len(state.waves), np.bool_) if executing is None else np.isin(state.waves, executing)
    every = np.broadcast_to(chosen[:, None], (len(state.waves), len(index)))
    literals, on = set[Literal](), every
    for number, size, most in ((column, columns, tile.tile_dim0), (row, rows, tile.tile_dim1)):
        if most and not never_negative(size - most, state.facts):
            literals.add((Condition.of("ge", size - 1 - constant(number[None])), True))
            on = on & (number < np.asarray(size.constant)) if size.is_constant else on
    address = start + (stride.scaled(row[None]) + constant(column[None])).scaled(tile.element_bytes)
    facts = tuple(f for f in state.facts if all(isinstance(c, int) or c.shape[-1] == 1 for c in f.terms.values()))
    bytes_, waves, to = tile.element_bytes, state.waves, place + constant(found.lds[None])
    return (
        Access(ins, "global", "read", address, bytes_, Mask(on, frozenset(literals)), facts, waves),
        Access(ins, "lds", "write", to, bytes_, Mask(every), facts, waves, through="memory"),
    )


def _group(state: State, operand: object, count: int) -> list[Word | None]:
    return [state.operand(operand, k) for k in range(count)]  # type: ignore[arg-type]


def _address(state: State, low: Word | None, high: Word | None) -> tuple[Polynomial | None, int]:
    """The address of a tile, and the bits above the address in its high dword."""
    if low is None or high is None or low.part or high.part != 1:
        return None, 0
    start, above = low.value, high.value - low.value
    if not above.is_constant or not isinstance(above.constant, int) or above.constant % (1 << 32):
        return None, 0
    bits = above.constant >> 32 & 0xFFFFFFFF
    small = never_negative(start, state.facts) and never_negative(-start + (BELOW - 1), state.facts)
    return (start, bits) if small and not bits & ADDRESS else (None, 0)


def _halves(state: State, word: Word | None) -> tuple[Polynomial, Polynomial] | None:
    """The low half of a dword, and its high half modulo 2^16."""
    number = known(word)
    if isinstance(number, int):
        return constant(number % HALF), constant(number // HALF)
    if word is None or word.part or number is not None:
        return None
    low = Polynomial(
        {m: c if m else c % HALF for m, c in word.value.terms.items() if not m or np.any(np.asarray(c) % HALF)}
    )
    whole = Polynomial({m: c // HALF for m, c in (word.value - low).terms.items()})
    # As a multiple, which bounds the quotient of a dword by 2^16.
    small = never_negative(low, state.facts) and never_negative((-low + (HALF - 1)).scaled(HALF), state.facts)
    return (low, whole) if small else None


def _size(state: State, first: Word | None, second: Word | None) -> Polynomial | None:
    """A size of the tensor: its low half is the high half of a dword, its high half the low half of the next dword."""
    one, two = _halves(state, first), _halves(state, second)
    if one is None or two is None:
        return None
    low, high = one[1], two[0]
    if high.is_constant and low.is_constant:
        return constant(low.constant % HALF) + high.scaled(HALF)
    if high.is_constant:
        inside = never_negative(low, state.facts) and never_negative(-low + (HALF - 1), state.facts)
        return low + high.scaled(HALF) if inside else None
    divided = [symbol for symbol in high.symbols if symbol.quotient is not None]
    if len(divided) != 1 or divided[0].quotient is None or high.terms.get((divided[0],)) != 1:
        return None
    (symbol,) = divided
    whole, by = divided[0].quotient
    # 2^16 (x // 2^16) plus the low half of x is x.
    if not by.same(constant(HALF)) or any(np.any(np.asarray(c) % HALF) for c in (whole - low).terms.values()):
        return None
    return whole + (high - Polynomial({(symbol,): 1})).scaled(HALF)


def _tile(state: State, ins: Instruction, words: Sequence[Word | None], kind: int) -> Descriptor:
    """The descriptor for a tile that lies within the tensor, with a stride of `HALF` elements between rows.

    Raises:
        Stopped: the shape of the tile is unknown, or has no rows.
    """
    plain: list[int] = []
    for number, word in enumerate(words):
        value = known(word)
        if number in (LDS, LOW, DIMS, STRIDE):
            value = 0
        elif number == HIGH:
            value = kind
        elif number == DIM0_LOW:
            value = 0 if not isinstance(value, int) else value % HALF
        elif number == DIM1_HIGH:
            halves = _halves(state, word)
            whole = None if halves is None or not halves[1].is_constant else halves[1].constant
            value = whole % HALF * HALF if isinstance(whole, int) else None
        if not isinstance(value, int):
            raise Stopped(f"{ins.text}: dword {number} of the descriptor is not known", ins.pc)
        plain.append(value)
    found = decode(plain)
    wrong = found.problems(store=False)
    more = found.tile_dim2 or found.tile_dim3 or found.tile_dim4 or found.tensor_dim0_stride >> 32
    if wrong or more or found.atomic_barrier_enable or found.form != "dense" or found.empty:
        raise Stopped(f"{ins.text}: {wrong[0] if wrong else 'a tile that is none of rows'} is not followed", ins.pc)
    return replace(found, tensor_dim0=found.tile_dim0, tensor_dim1=found.tile_dim1, tensor_dim0_stride=HALF)
