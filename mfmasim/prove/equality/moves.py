"""Moved bytes: which byte of a source each byte of a result is, found by executing the instruction on numbered bits.

This is sound for operations whose rule for undefined bits is ``bits`` or ``moves`` (`Rule`): each bit of a result is a
function of one bit of each operand. Every bit of a source that depends on inputs gets a number, and the instruction is
executed once for each digit of the numbers, with the digit and with its complement. All other bits keep what they are.
At most two operands may have numbered bits: their two bits take all four combinations, since the numbers of two
different bits differ in a digit. A result bit that follows one number through all executions is that bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.definedness.keys import AGPR, SCC, SGPR, VECTORS
from mfmasim.machine.definedness.planes import register

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32
    from mfmasim.machine.state.waves import Group
    from mfmasim.prove.equality.pool import Codes

    Beside = Callable[[Mapping[int, U32]], Group]

BITS = 32


def moved(
    group: Group, run: Callable[[Group], None], sources: Mapping[int, Codes], writes: Sequence[int]
) -> dict[int, Codes] | None:
    """Codes of the bytes of each result; None where a result is more than moved bits.

    Args:
        group: waves that are about to execute the instruction.
        run: the bound instruction.
        sources: codes of the bytes of every register that is read or kept, in all lanes of the group's waves.
        writes: keys of the registers that are written.
    """
    keys = [key for key, codes in sources.items() if (codes >= 0).any()]
    numbers, count = _numbers(keys, group)
    digits = max(1, int(count).bit_length())
    real = {key: np.array(_rows(group, key)) for key in {*keys, *writes}}
    marked = {key: np.repeat(sources[key] >= 0, 8, axis=-1) for key in keys}
    read: dict[int, list[NDArray[np.bool_]]] = {key: [] for key in writes}
    for digit in range(digits + 1):
        for complement in (False, True):
            changes = {}
            for key in keys:
                bits = np.ones_like(numbers[key], np.bool_) if digit == digits else numbers[key] >> digit & 1 == 1
                changes[key] = _words(np.where(marked[key], bits ^ complement, _bits(real[key])))
            after = _beside(group, changes)
            run(after)
            for key in writes:
                read[key].append(_bits(_rows(after, key)))
    shapes = {key: real[key].shape for key in writes}
    return _result(read, digits, numbers, sources, shapes)


def _result(
    read: Mapping[int, list[NDArray[np.bool_]]],
    digits: int,
    numbers: Mapping[int, NDArray[np.int64]],
    sources: Mapping[int, Codes],
    shapes: Mapping[int, tuple[int, ...]],
) -> dict[int, Codes] | None:
    """Read the numbers off the executions; the waves have the same numbers, and codes of their own."""
    waves = next(iter(shapes.values()))[0]
    flat = np.concatenate([np.zeros(0, np.int64), *(one[0].reshape(-1) for one in numbers.values())])
    bits = [np.repeat(sources[key], 8, axis=-1).reshape(waves, -1) for key in numbers]
    codes = np.concatenate([np.zeros((waves, 0), np.int64), *bits], axis=1)
    order = np.full(int(flat.max(initial=0)) + 1, -1)
    order[flat] = np.arange(len(flat))
    found = {}
    for key, runs in read.items():
        plain, other = np.stack(runs[0::2]), np.stack(runs[1::2])
        constant = (plain == plain[:1]).all(axis=0) & (other == plain).all(axis=0)
        follows = (plain != other).all(axis=0) & plain[digits]
        number = sum(plain[digit].astype(np.int64) << digit for digit in range(digits))
        at = np.where(follows & (number < len(order)), order[np.minimum(number, len(order) - 1)], -1)
        if not (constant | (at >= 0)).all() or (constant & follows).any():
            return None
        if (constant != (at < 0)).any() or (~constant & (at % 8 != np.arange(BITS) % 8)).any():
            return None  # more than moved bits, or bits that change their places within a byte
        wave = np.arange(waves).reshape(-1, *[1] * (at.ndim - 1))
        source = np.where(constant, -1, codes[wave, np.maximum(at, 0)]) if len(flat) else np.full(at.shape, -1)
        source = source.reshape(*shapes[key], 4, 8)
        if (source != source[..., :1]).any():
            return None  # a byte of several sources
        held = (plain[0].reshape(source.shape).astype(np.int64) << np.arange(8)).sum(axis=-1)
        found[key] = np.where(source[..., 0] >= 0, source[..., 0], -1 - held)
    return found


def _numbers(keys: Sequence[int], group: Group) -> tuple[dict[int, NDArray[np.int64]], int]:
    """A number for every bit of the registers, (waves, [lanes,] 32), and how many; waves have the same ones."""
    found, first = {}, 1
    for key in keys:
        shape = (group.lanes, BITS) if key < VECTORS else (BITS,)
        size = int(np.prod(shape))
        own = np.arange(first, first + size).reshape(shape)
        found[key] = np.broadcast_to(own, (group.count, *shape))
        first += size
    return found, first


def _rows(group: Group, key: int) -> U32:
    """What the waves of a group hold in a register, (waves, [lanes])."""
    words = group.take(register(group.waves, key))
    shape = (group.count, group.lanes) if key < VECTORS else (group.count,)
    return np.broadcast_to(words, shape)


def _bits(words: U32) -> NDArray[np.bool_]:
    """(..., 32), the lowest first."""
    return (words[..., None] >> np.arange(BITS, dtype=np.uint32) & np.uint32(1)).astype(np.bool_)


def _words(bits: NDArray[np.bool_]) -> U32:
    found: U32 = (bits.astype(np.uint32) << np.arange(BITS, dtype=np.uint32)).sum(axis=-1, dtype=np.uint32)
    return found


def _beside(group: Group, changes: Mapping[int, U32]) -> Group:
    """The same waves with other values in some registers: a copy that an instruction may change."""
    from copy import copy

    real = group.waves
    waves = copy(real)
    waves.v, waves.a, waves.s = list(real.v), list(real.a), list(real.s)
    waves.own, waves.lane_masks = {}, {}
    for key, rows in changes.items():
        whole = np.array(np.broadcast_to(register(real, key), (real.count, *rows.shape[1:])))
        whole[group.indices()] = rows
        if key == SCC:
            waves.scc = whole != 0
        elif key < AGPR:
            waves.v[key] = whole
        elif key < SGPR:
            waves.a[key - AGPR] = whole
        else:
            waves.s[key - SGPR] = whole
    return type(group)(waves, group.indices())
