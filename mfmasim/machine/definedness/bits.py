"""Rules by execution: the operation is executed on both values of the undefined bits.

If every bit of a result is a function of one bit of each operand, a bit of the result is undefined exactly if it
differs between the choices of 0 and 1 for the undefined bits, with one choice for each operand.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.definedness.keys import EXECS, SCC, VECTORS
from mfmasim.machine.definedness.planes import ONES, register

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32
    from mfmasim.machine.definedness.planes import Planes
    from mfmasim.machine.events.interface import Bound
    from mfmasim.machine.state.waves import Group

    Found = dict[int, U32]


def together(operands: Sequence[Sequence[int]], dirty: Sequence[int]) -> list[list[int]]:
    """Undefined registers with a common choice: those of one operand, and of operands with a common register."""
    parts: list[list[int]] = []
    for operand in operands:
        joined = [key for key in operand if key in dirty]
        if not joined:
            continue
        for part in [part for part in parts if set(part) & set(joined)]:
            joined += [key for key in part if key not in joined]
            parts.remove(part)
        parts.append(joined)
    rest = [key for key in dirty if not any(key in part for part in parts)]
    if not parts:
        return [rest] if rest else []
    parts[0] += rest  # the old contents of destinations: their bits stay or are overwritten
    return parts


def by_execution(
    planes: Planes, group: Group, run: Bound, operands: Sequence[Sequence[int]], writes: Sequence[int]
) -> Found:
    """Undefined bits of the results, in all waves.

    Args:
        planes: undefined bits before the instruction.
        group: waves that execute.
        run: the bound instruction.
        operands: keys that each source operand reads.
        writes: keys that the instruction may write.
    """
    reads = [key for operand in operands for key in operand]
    dirty = [key for key in dict.fromkeys([*reads, *writes]) if key in planes.undefined]
    parts = together(operands, dirty)
    results: list[Group] = []
    for choice in product((False, True), repeat=len(parts)):
        changes: dict[int, NDArray[Any]] = {}
        for part, ones in zip(parts, choice, strict=True):
            for key in part:
                undefined, real = planes.undefined[key], planes.real(key)
                changes[key] = real | undefined if ones else real & ~undefined
        results.append(planes.with_values(group, changes))
        run(results[-1])
    out: Found = {}
    for key in writes:
        first = register(results[0].waves, key)
        total: U32 = np.zeros_like(first)
        for other in results[1:]:
            total = total | (register(other.waves, key) ^ first)
        out[key] = total
    if SCC in writes and len(writes) > 1:
        out[SCC] = _whether_zero(out, results[0], [key for key in writes if key in EXECS] or writes)
    return out


def _whether_zero(out: Found, after: Group, keys: Sequence[int]) -> U32:
    """SCC is whether a result is not 0: it is undefined if only undefined bits may be 1."""
    some, sure = np.zeros(1, np.bool_), np.zeros(1, np.bool_)
    for key in keys:
        if key != SCC:
            some = some | (out[key] != 0)
            sure = sure | (register(after.waves, key) & ~out[key] != 0)
    return (some & ~sure).astype(np.uint32)


def steered(planes: Planes, group: Group, keys: Sequence[int], *, vector: bool) -> NDArray[np.bool_] | None:
    """Lanes (or waves) in which a selecting operand is undefined; None if there are none.

    Args:
        planes: what is undefined before.
        group: the waves.
        keys: registers of the selecting operands.
        vector: whether the result is a vector.
    """
    bad: NDArray[np.bool_] | None = None
    for key in keys:
        if key not in planes.undefined:
            continue
        here = planes.of(group, key) != 0
        if vector and key >= VECTORS:
            here = here[:, None]
        elif not vector and key < VECTORS:
            here = here.any(axis=1)
        bad = here if bad is None else bad | here
    return bad if bad is not None and bad.any() else None


def moved_origins(planes: Planes, group: Group, run: Bound, data: Sequence[int], writes: Sequence[int]) -> Found:
    """Origins of moved results: the instruction moves the origins of its sources.

    Args:
        planes: what is undefined before.
        group: waves that execute.
        run: the bound instruction.
        data: keys of the operands that are moved.
        writes: keys of the results.
    """
    zero = np.zeros((1, group.lanes), np.uint32)
    changes = {
        key: planes.origins.get(key, zero if key < VECTORS else zero[:, 0])
        for key in dict.fromkeys([*data, *writes])
        if key != SCC
    }
    after = planes.with_values(group, changes)
    run(after)
    return {key: register(after.waves, key) for key in writes}


def everything(values: U32, bad: NDArray[np.bool_]) -> U32:
    """Undefined bits of results whose lanes `bad` are undefined as a whole."""
    return np.where(bad, ONES, values)
