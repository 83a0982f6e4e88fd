"""Stretches: the steps of a block between two barriers, and what they do as a whole.

Within a stretch nothing is ordered between waves. So the accesses of the waves that execute it together are examined
at once, where no two of these touch one unit and one of them writes: `touched_together`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.ordering.touched import Last

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.arrays import I64
    from mfmasim.observe.ordering.progress import Class, Progress, Step
    from mfmasim.observe.ordering.records import Sort
    from mfmasim.observe.ordering.touched import Pattern, Touched

NO_COUNTER = "", ""


def counter_of(step: Step) -> Class:
    """The class that shows when an instruction's access to the LDS is complete; FLAT raises it last."""
    return next(reversed({(up.counter, up.order): None for up in step.up}), NO_COUNTER)


class Stretch:
    """Steps without a barrier, and the barrier that ends them."""

    def __init__(self, steps: list[Step], end: Step | None) -> None:
        """Examine them once.

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
        """Operations of the class of each step that the steps before it issue."""
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
        """Operations of a class that are issued; and how many more than were issued before are then complete."""
        counter, order = key
        more, done = 0, None

        def left(value: int) -> None:
            nonlocal done
            if order or value == 0:  # without an order nothing is complete before a wait for 0
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
    """Accesses of a stretch that are alike in what orders them."""

    sort: Sort
    members: list[int]
    """Which of the accesses."""
    low: I64
    """First unit, (members, waves of the batch)."""
    high: I64


@dataclass(frozen=True, eq=False)
class Together:
    """What the accesses of a stretch touch."""

    count: int
    """Waves that are examined, the first ones."""
    touched: list[Touched]
    """Of each access."""
    reads: Last | None
    writes: Last | None
    alike: list[Alike]

    @property
    def size(self) -> int:
        """Bytes, without those of `touched`."""
        spans = sum(one.low.nbytes + one.high.nbytes for one in self.alike)
        last = sum(array.nbytes for last in (self.reads, self.writes) if last is not None for array in last)
        return spans + last


def touched_together(
    kinds: Sequence[str], sorts: Sequence[Sort], patterns: Sequence[Pattern], count: int
) -> Together | None:
    """Combine the accesses of a stretch; None where they are to be examined one after the other.

    Args:
        kinds: of each, ``read`` or ``write``.
        sorts: of each.
        patterns: what each touches.
        count: waves that are examined.
    """
    if any(not len(touched.units) for touched, *_ in patterns):
        return None
    spans = [(low, high) for _, low, high in patterns]
    for at, sort in enumerate(sorts):
        for other, (low, high) in zip(sorts[:at], spans, strict=False):
            if not other.needs_no_wait(sort) and ((low <= spans[at][1]) & (high >= spans[at][0])).any():
                return None
    touched = [pattern[0] for pattern in patterns]
    reads, writes = (
        _last(touched, [at for at, kind in enumerate(kinds) if kind == wanted], count) for wanted in ("read", "write")
    )
    if writes is not None and ((writes.other >= 0).any() or (reads is not None and _meet(reads, writes))):
        return None
    alike = []
    for sort in dict.fromkeys(sorts):
        members = [at for at, one in enumerate(sorts) if one == sort]
        low, high = (np.stack([spans[at][end] for at in members]) for end in (0, 1))
        alike.append(Alike(sort, members, low, high))
    return Together(count, touched, reads, writes, alike)


def _last(touched: Sequence[Touched], members: Sequence[int], count: int) -> Last | None:
    if not members:
        return None
    places = np.concatenate([touched[at].places for at in members])
    wave = np.concatenate([touched[at].wave for at in members])
    mark = np.concatenate([touched[at].index + at * count for at in members])
    numbers = np.arange(len(places))
    last = np.empty(int(places.max()) + 1, np.int64)
    last[places] = numbers  # of several the last one stays
    latest = last[places]
    differs = wave != wave[latest]
    last[places] = -1
    last[places[differs]] = mark[differs]
    final = latest == numbers
    return Last(places[final], wave[final], mark[final], last[places[final]])


def _meet(reads: Last, writes: Last) -> bool:
    """Whether a wave reads what another one writes."""
    writer = np.empty(max(int(reads.places.max()), int(writes.places.max())) + 1, np.int64)
    writer[reads.places] = -1
    writer[writes.places] = writes.wave
    found = writer[reads.places]
    return bool(((found >= 0) & ((found != reads.wave) | (reads.other >= 0))).any())
