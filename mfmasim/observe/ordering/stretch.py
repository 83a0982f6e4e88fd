"""Stretches: the steps of a block between two barriers, and their combined effect.

Within a stretch accesses of different waves are unordered. So the accesses of waves that execute it together are
examined at once, unless two waves access one unit and one of them writes: `touched_together`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.ordering.touched import Last

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mfmasim.arrays import I64
    from mfmasim.observe.ordering.progress import Class, Progress, Step
    from mfmasim.observe.ordering.records import Sort
    from mfmasim.observe.ordering.touched import Pattern, Touched

NO_COUNTER = "", ""


def counter_of(step: Step) -> Class:
    """The counter class that shows when an access to the LDS is complete; FLAT instructions have it last."""
    return next(reversed({(up.counter, up.order): None for up in step.up}), NO_COUNTER)


class Stretch:
    """Steps without a barrier, and the barrier that ends them."""

    def __init__(self, steps: list[Step], end: Step | None) -> None:
        """Examine the steps once.

        Args:
            steps: the steps, none of them a barrier.
            end: the step of the barrier; None at the end of a block.
        """
        self.steps, self.end = steps, end
        self.counters = [counter_of(step) for step in steps]
        self.raised: list[Class] = list(dict.fromkeys((up.counter, up.order) for step in steps for up in step.up))
        self.before = [
            0 if key == NO_COUNTER else self._raised(key, steps[:at]) for at, key in enumerate(self.counters)
        ]
        """Number of operations of each step's class that the steps before it issue."""
        self._effects: dict[Class, tuple[int, int | None]] = {}

    @staticmethod
    def _raised(key: Class, steps: Sequence[Step]) -> int:
        return sum((up.counter, up.order) == key for step in steps for up in step.up)

    def advance(self, progress: Progress, waves: I64) -> None:
        """Let waves execute all steps but the barrier: `Progress.advance` of each, at once.

        Args:
            progress: of all waves.
            waves: their numbers in the batch.
        """
        for key in self.raised:
            progress.of(key)
        for key, issued in progress.issued.items():
            effect = self._effects.get(key)
            if effect is None:
                effect = self._effects[key] = self._effect(key)
            more, done = effect
            if done is not None:
                complete = progress.complete[key]
                complete[waves] = np.maximum(complete[waves], issued[waves] + done)
            if more:
                issued[waves] += more

    def _effect(self, key: Class) -> tuple[int, int | None]:
        """Issued operations of a class; and the number of complete operations, relative to those issued before."""
        counter, order = key
        more, done = 0, None

        def left(value: int) -> None:
            nonlocal done
            if order or value == 0:  # operations of an unordered class are complete only after a wait for 0
                done = more - value if done is None else max(done, more - value)

        for step in self.steps:
            for waited, value in step.waits:
                if waited == counter:
                    left(value)
            for up in step.up:
                if (up.counter, up.order) == key:
                    more += 1
                    left(up.limit)
        return more, done


def stretches(steps: Sequence[Step]) -> list[Stretch]:
    """Divide the steps of a block at its barriers."""
    out: list[Stretch] = []
    own: list[Step] = []
    for step in steps:
        if step.signals or step.joins or step.named or step.cluster:
            out.append(Stretch(own, step))
            own = []
        else:
            own.append(step)
    return [*out, Stretch(own, None)] if own else out


@dataclass(frozen=True, eq=False)
class Alike:
    """Accesses of a stretch with one `Sort`."""

    sort: Sort
    members: list[int]
    """Indices of the accesses."""
    low: I64
    """First unit, (members, waves of the batch)."""
    high: I64


@dataclass(frozen=True, eq=False)
class Together:
    """The units of the accesses of a stretch."""

    count: int
    """Number of examined waves, which are the first ones."""
    touched: Callable[[int], Touched]
    """Gives the units of an access, by its number."""
    reads: Last | None
    writes: Last | None
    alike: list[Alike]

    @property
    def size(self) -> int:
        """Bytes of the arrays, without those of `touched`."""
        spans = sum(one.low.nbytes + one.high.nbytes for one in self.alike)
        last = sum(array.nbytes for last in (self.reads, self.writes) if last is not None for array in last)
        return spans + last


def touched_together(
    kinds: Sequence[str], sorts: Sequence[Sort], patterns: Sequence[Pattern], count: int
) -> Together | None:
    """Combine the accesses of a stretch; None if they must be examined one after the other.

    Args:
        kinds: of each access, ``read`` or ``write``.
        sorts: of each access.
        patterns: units of each access.
        count: number of examined waves.
    """
    if any(not len(touched.units) for touched, *_ in patterns):
        return None
    low, high = np.stack([low for _, low, _ in patterns]), np.stack([high for *_, high in patterns])
    if not in_turn(sorts, low, high):
        return None
    touched = [pattern[0] for pattern in patterns]
    reads, writes = (
        _last(touched, [at for at, kind in enumerate(kinds) if kind == wanted], count) for wanted in ("read", "write")
    )
    if writes is not None and ((writes.other >= 0).any() or (reads is not None and _meet(reads, writes))):
        return None
    return Together(count, touched.__getitem__, reads, writes, alike_of(sorts, low, high))


def in_turn(sorts: Sequence[Sort], low: I64, high: I64) -> bool:
    """Whether no access of a wave lies around another one with which it is not in order.

    Args:
        sorts: of each access.
        low: first unit, (accesses, waves of the batch).
        high: last unit, likewise.
    """
    return all(
        other.needs_no_wait(sort) or not ((low[before] <= high[at]) & (high[before] >= low[at])).any()
        for at, sort in enumerate(sorts)
        for before, other in enumerate(sorts[:at])
    )


def alike_of(sorts: Sequence[Sort], low: I64, high: I64) -> list[Alike]:
    """The accesses by their sorts.

    Args:
        sorts: sort of each access.
        low: first unit, (accesses, waves of the batch).
        high: last unit, likewise.
    """
    found = []
    for sort in dict.fromkeys(sorts):
        members = [at for at, one in enumerate(sorts) if one == sort]
        found.append(Alike(sort, members, low[members], high[members]))
    return found


def _last(touched: Sequence[Touched], members: Sequence[int], count: int) -> Last | None:
    if not members:
        return None
    places = np.concatenate([touched[at].places for at in members])
    wave = np.concatenate([touched[at].wave for at in members])
    mark = np.concatenate([touched[at].index + at * count for at in members])
    numbers = np.arange(len(places))
    last = np.empty(int(places.max()) + 1, np.int64)
    last[places] = numbers  # the last of several waves stays
    latest = last[places]
    differs = wave != wave[latest]
    last[places] = -1
    last[places[differs]] = mark[differs]
    final = latest == numbers
    return Last(places[final], wave[final], mark[final], last[places[final]])


def _meet(reads: Last, writes: Last) -> bool:
    """Whether a wave reads a unit that another wave writes."""
    writer = np.empty(max(int(reads.places.max()), int(writes.places.max())) + 1, np.int64)
    writer[reads.places] = -1
    writer[writes.places] = writes.wave
    found = writer[reads.places]
    return bool(((found >= 0) & ((found != reads.wave) | (reads.other >= 0))).any())
