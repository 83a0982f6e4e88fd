"""Outputs: each element of C is stored exactly once, as an expression of its own sum over all k.

The stores of a path are compared with the tile of the workgroup: ``rows * wg_y + r`` and ``columns * wg_x + c``
with every r and c of the tile once. A guarded store has to store exactly the elements within C.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.prove.bounds import active, region_of
from mfmasim.prove.content_rules import expression
from mfmasim.prove.contents import COLUMN, DEPTH, MADE, PAD, RESULT, ROW, factor_of
from mfmasim.prove.global_races import fixed_symbols
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.intervals import loops_in
from mfmasim.prove.lds_races import together
from mfmasim.prove.matrices import line_and_place
from mfmasim.prove.polynomial import Polynomial, TooLarge, constant, of, tightened
from mfmasim.prove.trace import Loop, accesses

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from mfmasim.prove.contract import Contract, Region
    from mfmasim.prove.masks import Condition
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.prove.state import State
    from mfmasim.prove.trace import Access, Step

__all__ = ["unproved"]

WHOLE = ("f32", "i32")
"""Formats of C in which a sum may be stored without a conversion."""


class Unproved(Exception):  # noqa: N818 - control flow
    """A store that is not proved."""


@dataclass
class Tile:
    """The elements that the stores of a path write."""

    bases: list[Polynomial] = field(default_factory=list)
    """The parts of rows and columns that depend on the workgroup."""
    places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)
    expressions: set[tuple[int, int, int]] = field(default_factory=set)


def unproved(
    paths: Sequence[State], contract: Contract, data: Collection[Symbol], tick: Callable[[], None]
) -> dict[int, str]:
    """Matrix instructions and stores whose elements are not proved to be right, each with the reason.

    Args:
        paths: states at the end of the kernel.
        contract: its matrices and workgroups.
        data: symbols of arguments that are not sizes.
        tick: raises `Stopped` when the time is over.
    """
    problems: dict[int, str] = {}
    for path in paths:
        for step in _steps(path.trace):
            if step.unproved:
                problems.setdefault(step.instruction.pc, step.unproved)
    if problems:
        return problems
    try:
        region, depth = _matrices(contract)
    except Unproved as stop:
        return {paths[0].pc: str(stop)}
    found: dict[frozenset[tuple[Condition, bool]], set[tuple[int, int, int]]] = {}
    fixed = fixed_symbols(contract)
    for group in together(paths):
        tile = Tile()
        for path in group:
            for access in _stores(path, contract, region, problems):
                tick()
                try:
                    _stored(access, region, depth, tile)
                except (Unproved, TooLarge) as stop:
                    problems.setdefault(access.instruction.pc, str(stop) or "too many terms")
        if problems:
            return problems
        if _turns_differ(group):
            return {group[0].pc: "waves may repeat a loop a different number of times"}
        facts = [f for path in group for f in path.facts if f.symbols <= fixed and f.uniform]
        why = _covered(tile, contract, region, list(dict.fromkeys(facts)))
        if why:
            return {group[0].pc: why}
        found.setdefault(_data_decisions(group, data), set()).update(tile.expressions)
    for one in found:
        # Paths with equal decisions on data compute all elements by the same expression.
        alike = [other for other in found if not any((condition, not holds) in other for condition, holds in one)]
        if len(set().union(*(found[other] for other in alike))) > 1:
            return {paths[0].pc: "elements of C are computed in different ways"}
    return {}


def _turns_differ(group: Sequence[State]) -> bool:
    """Whether a symbol may have different numbers of turns on the paths of one launch.

    Conditions and facts on a number of turns then belong to one wave: they do not select the paths of one launch.
    """
    if len(group) == 1:
        return False
    decided = [{c: held for c, held in path.decisions.items() if c.value is not None} for path in group]
    unknown = any(c.value is None and not c.common for path in group for c in path.decisions)
    for turns in {loop.turns for path in group for loop in loops_in(path.trace)}:
        ends = [{c: held for c, held in one.items() if c.value and turns in c.value.symbols} for one in decided]
        if any(one != ends[0] for one in ends[1:]) or (ends[0] and unknown):
            return True
    return False


def _steps(trace: Sequence[Step | Loop]) -> Iterator[Step]:
    for item in trace:
        if isinstance(item, Loop):
            yield from _steps(item.period)
        else:
            yield item


def _data_decisions(group: Sequence[State], data: Collection[Symbol]) -> frozenset[tuple[Condition, bool]]:
    """Decisions that depend on arguments that are not sizes, such as whether beta is 0."""
    known = set(data)
    return frozenset(
        (condition, holds)
        for path in group
        for condition, holds in path.decisions.items()
        if condition.reads is not None and condition.reads and condition.reads <= known
    )


def _matrices(contract: Contract) -> tuple[Region, Polynomial]:
    """C, and the length of the sums."""
    by_role = {r.tensor.role: r for r in contract.regions if r.tensor is not None}
    if not {"A", "B", "C"} <= by_role.keys() or sum(r.writes for r in contract.regions) != 1:
        raise Unproved("the case does not declare A, B and a single output C")
    a, b, c = (by_role[role] for role in "ABC")
    if not (a.shape[1].same(b.shape[0]) and a.shape[0].same(c.shape[0]) and b.shape[1].same(c.shape[1])):
        raise Unproved("the shapes of A, B and C do not belong to one product")
    return c, a.shape[1]


def _stores(path: State, contract: Contract, region: Region, problems: dict[int, str]) -> list[Access]:
    """Stores to C outside of loops; every other write to memory is a problem."""
    found = []
    for item in path.trace:
        inside = isinstance(item, Loop)
        for access in accesses([item]):
            if access.space != "global" or access.kind == "read" or not access.mask.on.any():
                continue
            target = None if access.address is None else region_of(access.address, contract.regions)
            if target is not region:
                problems.setdefault(access.instruction.pc, "it is not known to store to C alone")
            elif inside:
                problems.setdefault(access.instruction.pc, "it stores to C within a loop")
            elif access.kind != "write" or not access.data:
                problems.setdefault(access.instruction.pc, "what it stores to C is not followed")
            else:
                found.append(access)
    return found


def _stored(access: Access, region: Region, depth: Polynomial, tile: Tile) -> None:
    """Add the elements of a store to a tile.

    Raises:
        Unproved: the store does not write elements of C with their own sums.
    """
    assert access.address is not None
    size = region.bits // 8
    if region.bits % 8 or access.size % size:
        raise Unproved("it stores a part of an element")
    if any(byte is None for byte in access.data):
        raise Unproved("what it stores is not an expression of one sum")
    offset, facts = active(access, access.address - of(region.pointer))
    everywhere = [fact for fact in access.facts if all(isinstance(c, int) for c in fact.terms.values())]
    count = int(access.mask.on.sum())
    for number in range(access.size // size):
        found = line_and_place(region, offset + number * size, facts)
        if found is None or found[2].terms:
            raise Unproved(f"{offset} is not split into a line of C and an element within it")
        assert region.tensor is not None
        row, column = found[:2] if region.tensor.order == "row" else found[1::-1]
        parts = [active(access, byte)[0] for byte in access.data[number * size : (number + 1) * size]]  # type: ignore[arg-type]
        tile.expressions.add(_judged(parts, row, column, depth, region, everywhere))
        for value, limit in ((row, region.shape[0]), (column, region.shape[1])):
            if not never_negative(limit - value - 1, facts):
                raise Unproved(f"{value} is not proved to be less than {limit}")
        _guarded(access, row, column, region)
        tile.bases += [row - constant(row.constant), column - constant(column.constant)]
        tile.places.append(
            (
                np.broadcast_to(np.asarray(row.constant), (count,)),
                np.broadcast_to(np.asarray(column.constant), (count,)),
            )
        )


def _judged(
    parts: Sequence[Polynomial],
    row: Polynomial,
    column: Polynomial,
    depth: Polynomial,
    region: Region,
    facts: list[Polynomial],
) -> tuple[int, int, int]:
    """The stored expression, which must be an expression of the sum of this row and column over all k."""
    first = expression(parts[0])
    if first is None or any(expression(part) != (first[0], first[1] + k) for k, part in enumerate(parts)):
        raise Unproved("the bytes that it stores are not those of one value")
    made, byte = first
    for part in parts:
        left = Polynomial({m: c for m, c in part.terms.items() if m and MADE not in m})
        left = left - of(RESULT) - row * of(ROW) - column * of(COLUMN)
        pads = PAD in left.symbols  # products with k beyond the matrices are 0
        left = left - of(PAD) if pads else left
        summed = factor_of(left, DEPTH)
        if not (left - summed * of(DEPTH)).same(constant(0)):
            raise Unproved(f"it stores {parts[0]} to row {row}, column {column}")
        if not (never_negative(summed - depth, facts) and (pads or never_negative(depth - summed, facts))):
            raise Unproved(f"the sum is over {summed} k, which is not proved to be {depth}")
    whole = region.format in WHOLE and byte == 0
    truncated = region.format == "bf16" and byte == 2
    if made == 0 and not whole and not truncated:
        raise Unproved(f"a sum is stored as {region.format} without a conversion")
    return len(parts), made, byte


def _guarded(access: Access, row: Polynomial, column: Polynomial, region: Region) -> None:
    """Lanes that a guard disables must lie outside of C."""
    if not access.mask.literals:
        return
    facts = list(active(access, constant(0))[1])[: len(access.facts)]
    inside = [tightened(limit - place - 1) for limit, place in zip(region.shape, (row, column), strict=True)]
    for condition, holds in access.mask.literals:
        said = condition.facts(holds=holds)
        if condition.kind != "ge" or not all(
            never_negative(active(access, fact)[0], [*facts, *inside]) for fact in said
        ):
            raise Unproved("its guard may leave out an element of C")


def _covered(tile: Tile, contract: Contract, region: Region, facts: Sequence[Polynomial]) -> str:
    """Why the stores do not write each element of C once; empty if they do."""
    if not tile.places:
        return "nothing is stored to C"
    used: list[Any] = []
    sizes = []
    for axis in range(2):
        bases = tile.bases[axis::2]
        if any(not base.same(bases[0]) for base in bases):
            return f"stores of one path lie at {bases[0]} and elsewhere"
        numbers = np.concatenate([place[axis] for place in tile.places])
        lowest, size = int(numbers.min()), int(numbers.max()) + 1
        if lowest:
            return f"the tile begins at {lowest}"
        why = _tiled(bases[0], size, region.shape[axis], contract, used)
        if why:
            return why
        sizes.append(size)
    ids = {symbol for place in contract.workgroup for symbol in place.symbols}
    if ids - set(used) or len(used) != len(set(used)):
        return "workgroups are not the tiles of C"
    rows, columns = (np.concatenate([place[axis] for place in tile.places]) for axis in range(2))
    numbers, counts = np.unique(rows * sizes[1] + columns, return_counts=True)
    left = np.setdiff1d(np.arange(sizes[0] * sizes[1]), numbers)
    outside = [
        _beyond(base, part, whole, facts)
        for base, part, whole in (
            (tile.bases[0], left // sizes[1], region.shape[0]),
            (tile.bases[1], left % sizes[1], region.shape[1]),
        )
    ]
    if not (outside[0] | outside[1]).all():
        return f"{len(numbers)} of the {sizes[0]} x {sizes[1]} elements of a tile are stored"
    return "an element of C is stored twice" if (counts > 1).any() else ""


def _beyond(
    base: Polynomial, numbers: NDArray[np.int64], whole: Polynomial, facts: Sequence[Polynomial]
) -> NDArray[np.bool_]:
    """Rows or columns of a tile that are proved to lie beyond the last one of C."""
    places, back = np.unique(numbers, return_inverse=True)
    found = [never_negative(base + int(place) - whole, facts) for place in places]
    return np.array(found, np.bool_)[back]


def _tiled(base: Polynomial, size: int, whole: Polynomial, contract: Contract, used: list[Any]) -> str:
    """Why tiles of a size, one for each number of a workgroup, do not cover an axis; empty if they do."""
    if base.terms:
        found = [
            (symbol, count)
            for place, count in zip(contract.workgroup, contract.grid, strict=True)
            for symbol in place.symbols
            if base.same(of(symbol).scaled(size))
        ]
        if len(found) != 1:
            return f"tiles of {size} do not begin at {base}"
        used.append(found[0][0])
        covered = found[0][1].scaled(size)
    else:
        covered = constant(size)
    return "" if never_negative(covered - whole, contract.facts) else f"{covered} are covered of {whole}"
