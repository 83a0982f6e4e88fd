"""Moved bytes: the source byte of each byte of a result, found by executing the instruction on chosen bits.

This is sound for operations whose rule for undefined bits is ``bits`` or ``moves`` (`Rule`): each bit of a result is a
function of one bit of each operand. Source bits that depend on inputs get chosen values, all other bits keep their
values. First each operand is filled with zeros or ones, in all combinations: a result bit that equals one operand's
filling in all combinations is a bit of that operand, and of no other operand. Then every bit gets a number, and the
instruction is executed once for each digit of the numbers: the digits that this result bit shows are the number of
its source.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.definedness.keys import VECTORS
from mfmasim.machine.definedness.planes import Planes, register
from mfmasim.prove.equality.places import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32
    from mfmasim.machine.state.waves import Group
    from mfmasim.prove.equality.pool import Codes

    Beside = Callable[[Mapping[int, U32]], Group]

BITS = 32


def moved(
    group: Group,
    run: Callable[[Group], None],
    sources: Mapping[int, Codes],
    operands: Sequence[Sequence[int]],
    writes: Sequence[int],
) -> dict[int, Codes] | None:
    """Codes of the bytes of each result; None where a result does not consist of moved bytes.

    Args:
        group: waves that are about to execute the instruction.
        run: the bound instruction.
        sources: codes of the bytes of every register that the instruction reads or keeps, in all lanes of the group.
        operands: keys of the registers of each operand with bits that depend on inputs; no key is in two of them.
        writes: keys of the registers that are written.
    """
    keys = [key for operand in operands for key in operand if (sources[key] >= 0).any()]
    numbers, count = _numbers(keys, group)
    real = {key: np.array(rows(group, key)) for key in {*keys, *writes}}
    marked = {key: np.repeat(sources[key] >= 0, 8, axis=-1) for key in keys}

    def executed(chosen: Mapping[int, NDArray[np.bool_] | bool]) -> dict[int, NDArray[np.bool_]]:
        changes = {key: _words(np.where(marked[key], chosen[key], _bits(real[key]))) for key in keys}
        after = _with_values(group, changes)
        run(after)
        return {key: _bits(rows(after, key)) for key in writes}

    place = {key: number for number, operand in enumerate(operands) for key in operand}
    fillings = list(product((False, True), repeat=len(operands)))
    filled = [executed({key: filling[place[key]] for key in keys}) for filling in fillings]
    digits = [
        executed({key: numbers[key] >> digit & 1 == 1 for key in keys}) for digit in range(int(count).bit_length())
    ]
    flat = np.concatenate([np.zeros(0, np.int64), *(numbers[key][0].reshape(-1) for key in keys)])
    owner = np.concatenate([np.zeros(0, np.int64), *(np.full(numbers[key][0].size, place[key]) for key in keys)])
    bits = [np.repeat(sources[key], 8, axis=-1).reshape(group.count, -1) for key in keys]
    codes = np.concatenate([np.zeros((group.count, 0), np.int64), *bits], axis=1)
    order = np.full(int(flat.max(initial=0)) + 1, -1)
    order[flat] = np.arange(len(flat))
    found = {}
    for key in writes:
        seen = np.stack([one[key] for one in filled])
        constant = (seen == seen[:1]).all(axis=0)
        follows = np.full(constant.shape, -1)
        for operand in range(len(operands)):
            filling = np.array([one[operand] for one in fillings]).reshape(-1, *[1] * constant.ndim)
            follows = np.where((seen == filling).all(axis=0), operand, follows)
        number = sum(one[key].astype(np.int64) << digit for digit, one in enumerate(digits))
        at = np.where(follows >= 0, order[np.minimum(number, len(order) - 1)], -1)
        if (constant == (follows >= 0)).any() or ((follows >= 0) & ((at < 0) | (number >= len(order)))).any():
            return None  # the result does not consist of moved bits
        moves = follows >= 0
        if len(flat) and (moves & ((owner[at] != follows) | (at % 8 != np.arange(BITS) % 8))).any():
            return None  # bits move within a byte
        wave = np.arange(group.count).reshape(-1, *[1] * (at.ndim - 1))
        source = np.where(moves, codes[wave, np.maximum(at, 0)], -1) if len(flat) else np.full(at.shape, -1)
        source = source.reshape(*real[key].shape, 4, 8)
        if (source != source[..., :1]).any():
            return None  # the byte has bits of several source bytes
        held = (seen[0].reshape(source.shape).astype(np.int64) << np.arange(8)).sum(axis=-1)
        found[key] = np.where(source[..., 0] >= 0, source[..., 0], -1 - held)
    return found


def _numbers(keys: Sequence[int], group: Group) -> tuple[dict[int, NDArray[np.int64]], int]:
    """A number for every bit of the registers, (waves, [lanes,] 32), equal in all waves; and the count of numbers."""
    found, first = {}, 1
    for key in keys:
        shape = (group.lanes, BITS) if key < VECTORS else (BITS,)
        size = int(np.prod(shape))
        own = np.arange(first, first + size).reshape(shape)
        found[key] = np.broadcast_to(own, (group.count, *shape))
        first += size
    return found, first


def _bits(words: U32) -> NDArray[np.bool_]:
    """(..., 32), the lowest first."""
    return (words[..., None] >> np.arange(BITS, dtype=np.uint32) & np.uint32(1)).astype(np.bool_)


def _words(bits: NDArray[np.bool_]) -> U32:
    found: U32 = (bits.astype(np.uint32) << np.arange(BITS, dtype=np.uint32)).sum(axis=-1, dtype=np.uint32)
    return found


def _with_values(group: Group, changes: Mapping[int, U32]) -> Group:
    """A copy of the waves, with other values in some registers, that an instruction may change."""
    whole = {}
    for key, values in changes.items():
        whole[key] = np.array(np.broadcast_to(register(group.waves, key), (group.waves.count, *values.shape[1:])))
        whole[key][group.indices()] = values
    return Planes.with_values(group, whole)
