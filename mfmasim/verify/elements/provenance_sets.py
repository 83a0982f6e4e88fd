"""Outputs that depend on a set of elements: a largest magnitude, the scale of a block, a sum.

Elements are raised, many at once, and outputs that change depend on one of them. Sets that are equal or disjoint are
numbered; raising all elements whose set's number has a certain bit shows that an output depends on no element of
another set, and raising the first element of every set, then the second, and so on, that it depends on each of its own.
Sets that overlap otherwise take one run for each element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.observe import Finding
from mfmasim.verify.elements.labelled import Bench, element, joined, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import Flags
    from mfmasim.observe.fragments.mapping import MappingReport
    from mfmasim.verify.elements.sources import Source


MOST = 4096
"""Runs at most."""


class Raising:
    """Runs in which some elements of an input are raised."""

    def __init__(self, bench: Bench, source: Source) -> None:
        """Run once with nothing raised."""
        self.bench, self.source = bench, source
        self.count = int(np.prod(source.input_shape))
        self.low, self.high = (np.uint64(code) for code in source.codes)
        (self._base,) = self._run([np.zeros(self.count, np.bool_)])

    def changed(self, raised: Flags) -> Flags:
        """Mask of the output elements, flat, that change when elements are raised, (elements,)."""
        return self.each([raised])[0]

    def each(self, raised: Sequence[Flags]) -> list[Flags]:
        """`changed` for several runs."""
        return [np.asarray(held != self._base) for held in self._run(raised)]

    def _run(self, raised: Sequence[Flags]) -> list[NDArray[np.uint64]]:
        source = self.source
        codes = (np.where(one, self.high, self.low).reshape(source.input_shape) for one in raised)
        units = [joined(one, source.input_parts, source.given) for one in codes]
        outputs = [found[source.output.name][1] for found in self.bench.again(source.given.name, units)]
        return [split(after, source.parts, source.output).reshape(-1) for after in outputs]


def disjoint(sets: NDArray[np.int64], count: int) -> NDArray[np.int64] | None:
    """Number of the set that each element is in, or None where sets overlap in part.

    Args:
        sets: elements of each output, (outputs, n), -1 where a set has fewer.
        count: elements.

    Returns:
        int64 (count,): the number of the first output that has the element, -1 for none.
    """
    used = sets >= 0
    owner = np.full(count, len(sets), np.int64)
    rows = np.broadcast_to(np.arange(len(sets))[:, None], sets.shape)
    np.minimum.at(owner, sets[used], rows[used])
    owner[owner == len(sets)] = -1
    sizes = np.bincount(owner[owner >= 0], minlength=len(sets))
    numbers = np.where(used, owner[np.where(used, sets, 0)], -1)
    first = numbers.max(axis=1)
    alike = (numbers == first[:, None]) | ~used
    # As many elements as the set has that first had them: then the two are the same.
    whole = used.sum(axis=1) == np.where(first >= 0, sizes[np.maximum(first, 0)], 0)
    return owner if alike.all() and whole.all() else None


def check_sets(bench: Bench, source: Source, report: MappingReport) -> None:
    """Prove that every element of an output depends on exactly its set.

    Args:
        bench: runs the kernel.
        source: the sets that are declared of an output.
        report: takes the counts and the finding.

    Raises:
        MfmasimError: it takes too many runs.
    """
    places = source.places()
    sets = np.asarray(places.reshape(-1, places.shape[-1]))
    raising = Raising(bench, source)
    owner = disjoint(sets, raising.count)
    if owner is None:
        missing, undeclared = _one_by_one(raising, sets)
    else:
        missing, undeclared = _by_number(raising, sets, owner)
    wrong = missing | undeclared
    report.slots_checked += wrong.size
    if not wrong.any():
        return
    report.mismatches += int(wrong.sum())
    report.findings.append(_finding(raising, sets, missing, undeclared))


def _one_by_one(raising: Raising, sets: NDArray[np.int64]) -> tuple[Flags, Flags]:
    """A run for each element: outputs that lack a declared element, and outputs that depend on another one."""
    if raising.count > MOST:
        raise MfmasimError(
            f"sources: sets that overlap take a run for each of {raising.count} elements, {MOST} are allowed; "
            "make the input of the mapping check smaller (mapping= of the case)"
        )
    missing, undeclared = np.zeros(len(sets), np.bool_), np.zeros(len(sets), np.bool_)
    every = np.eye(raising.count, dtype=np.bool_)
    for number, changed in enumerate(raising.each(list(every))):
        members = (sets == number).any(axis=1)
        missing |= members & ~changed
        undeclared |= changed & ~members
    return missing, undeclared


def _by_number(raising: Raising, sets: NDArray[np.int64], owner: NDArray[np.int64]) -> tuple[Flags, Flags]:
    """`_one_by_one` in few runs, for sets that are equal or disjoint."""
    own = np.where((sets >= 0).any(axis=1), owner[np.maximum(sets.max(axis=1), 0)], -1)
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], owner[order])
    rank = np.empty(len(owner), np.int64)
    rank[order] = np.arange(len(owner)) - starts
    ranks = int(rank[owner >= 0].max(initial=-1)) + 1
    numbers = np.unique(owner[owner >= 0], return_inverse=True)[1]
    small = np.full(len(owner), -1, np.int64)
    small[owner >= 0] = numbers
    declared = np.where(own >= 0, small[np.maximum(sets.max(axis=1), 0)], -1)
    if ranks > MOST:
        raise MfmasimError(
            f"sources: a set of {ranks} elements takes as many runs, {MOST} are allowed; make the input of the mapping "
            "check smaller (mapping= of the case)"
        )
    missing, undeclared = np.zeros(len(sets), np.bool_), np.zeros(len(sets), np.bool_)
    if (owner < 0).any():
        undeclared |= raising.changed(owner < 0)
    halves = [(bit, value) for bit in range(int(small.max(initial=0)).bit_length()) for value in (0, 1)]
    runs = raising.each([(owner >= 0) & (small >> bit & 1 == value) for bit, value in halves])
    for (bit, value), changed in zip(halves, runs, strict=True):
        undeclared |= changed & ((declared < 0) | (declared >> bit & 1 != value))
    if not len(numbers) or small.max() == 0:  # one set has no bit: outputs without a set depend on nothing
        undeclared |= raising.changed(owner >= 0) & (declared < 0)
    sizes = (sets >= 0).sum(axis=1)
    for number, changed in enumerate(raising.each([(owner >= 0) & (rank == number) for number in range(ranks)])):
        missing |= ~changed & (sizes > number)
    return missing, undeclared


def _finding(raising: Raising, sets: NDArray[np.int64], missing: Flags, undeclared: Flags) -> Finding:
    """The finding about the first output that depends on undeclared or not on declared elements, with one of them."""
    source, bench = raising.source, raising.bench
    wrong = missing | undeclared
    output = int(wrong.argmax())
    own = np.zeros(raising.count, np.bool_)
    own[sets[output][sets[output] >= 0]] = True
    name, given = bench.called[source.output.name], bench.called[source.given.name]
    place = np.unravel_index(output, source.shape)
    if undeclared[output]:
        found = _search(raising, output, ~own)
        what = "depends on an element that is not declared"
        needs, has = "nothing of it", element(given, np.unravel_index(found, source.input_shape))
    else:
        lacking = (n for n in np.flatnonzero(own) if not raising.changed(np.arange(raising.count) == n)[output])
        found = int(next(lacking, np.flatnonzero(own)[0]))
        what = "does not depend on one of its declared elements"
        needs, has = element(given, np.unravel_index(found, source.input_shape)), "nothing of it"
    total = int(wrong.sum())
    text = f"{element(name, place)} {what}; {total} of {wrong.size} elements of {name} depend on others than declared"
    where: dict[str, Any] = {"element": element(name, place), "expected": needs, "actual": has, "count": total}
    return Finding("mapping", "error", text, "mapping-wrong-set", kernel=bench.kernel.name, **where)


def _search(raising: Raising, output: int, among: Flags) -> int:
    """One element among some that an output depends on."""
    left = np.flatnonzero(among)
    while len(left) > 1:
        half = left[: len(left) // 2]
        raised = np.zeros(raising.count, np.bool_)
        raised[half] = True
        left = half if raising.changed(raised)[output] else left[len(left) // 2 :]
    return int(left[0])
