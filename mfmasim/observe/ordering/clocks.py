"""What each wave knows of the others: up to which of its own steps each of them is over, as far as memory told.

A wave counts its steps: barriers that it tells of its arrival, and writes to places that somebody asks (`asking`). Such
a write hands on what the wave knows; who asks the place afterwards takes it over, and a barrier spreads it over the
workgroup. Knowledge is an array (kinds of knowledge, waves of the launch), never changed once it was handed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    I32 = NDArray[np.int32]

__all__ = ["ANY", "BARRIER", "FRESH", "FRESH_BARRIER", "ISSUED", "OVER", "ROWS", "Clocks"]

OVER, BARRIER, ISSUED, ANY, FRESH, FRESH_BARRIER = range(6)
"""Kinds of knowledge: what the wave itself had waited for; what a barrier ordered; what was issued, done or not; the
same where a scope is too small for other workgroups; and the first two as far as caches have been emptied since."""
ROWS = 6
FOREVER = np.int32(2**31 - 1)
"""A wave that has ended is over."""


@dataclass
class Place:
    """A place that is asked."""

    known: I32
    handed: bool = False
    """Whether somebody holds `known`, so that it may not change any more."""


@dataclass
class Question:
    """An answer that is under way to a wave."""

    key: tuple[str, str]
    """Counter and order of the operation, empty strings for none."""
    order: int
    known: I32


class Clocks:
    """Knowledge of all waves of a launch, by their numbers in it."""

    def __init__(self, waves: int, per: int) -> None:
        """For a launch of `waves` waves, `per` of them a workgroup."""
        self.waves, self.per = waves, per
        self.nothing: I32 = np.zeros((ROWS, waves), np.int32)
        self.known: dict[int, I32] = {}
        self.open: dict[int, list[Question]] = {}
        self.places: dict[int, Place] = {}
        self.meetings: dict[int, dict[int, I32]] = {}
        """What waves knew when they told a barrier, by workgroup and number of the barrier."""
        self._met: dict[int, int] = {}

    def of(self, wave: int) -> I32:
        """What a wave knows."""
        return self.known.get(wave, self.nothing)

    def learn(self, wave: int, more: I32) -> None:
        """A wave takes over knowledge."""
        old = self.known.get(wave)
        self.known[wave] = more if old is None else np.maximum(old, more)

    def answer(self, wave: int, question: Question) -> None:
        """An answer comes as soon as its operation is done."""
        self.open.setdefault(wave, []).append(question)

    def settle(self, wave: int, done: dict[tuple[str, str], I32], index: int, joined: int) -> None:
        """Take over what has come: answers, and what barriers passed since have spread.

        Args:
            wave: its number in the launch.
            done: operations done, by class and wave of the batch.
            index: the wave in the batch.
            joined: barriers that it has passed.
        """
        waiting = self.open.get(wave)
        if waiting:
            left = []
            for question in waiting:
                if question.key[0] and done[question.key][index] <= question.order:
                    left.append(question)
                else:
                    self.learn(wave, question.known)
            if left:
                self.open[wave] = left
            else:
                del self.open[wave]
        meetings = self.meetings.get(wave // self.per)
        if meetings:
            first = self._met.get(wave, 0)
            for number in range(first, joined):
                if number in meetings:
                    self.learn(wave, meetings[number])
            self._met[wave] = joined

    def meet(self, wave: int, number: int) -> None:
        """A wave tells a barrier of its arrival."""
        mine = self.known.get(wave)
        if mine is not None:
            meetings = self.meetings.setdefault(wave // self.per, {})
            old = meetings.get(number)
            meetings[number] = mine if old is None else np.maximum(old, mine)

    def emptied(self, wave: int) -> None:
        """The caches of a wave were emptied: what it knows, it also sees."""
        mine = self.known.get(wave)
        if mine is not None:
            mine = mine.copy()
            mine[FRESH] = np.maximum(mine[FRESH], mine[OVER])
            mine[FRESH_BARRIER] = np.maximum(mine[FRESH_BARRIER], mine[BARRIER])
            self.known[wave] = mine

    def hand_on(self, place: int, wave: int, step: int, met: I32 | None, *, wide: bool) -> None:
        """A wave writes to a place that is asked.

        Args:
            place: a number for it.
            wave: its number in the launch.
            step: of the wave, counted with this one.
            met: step of each wave of its workgroup when it told the last barrier that this wave has passed.
            wide: whether other workgroups see the write.
        """
        found = self.places.get(place)
        if found is None:
            found = self.places[place] = Place(np.zeros((FRESH, self.waves), np.int32))
        elif found.handed:
            found = self.places[place] = Place(found.known.copy())
        known, mine = found.known, self.known.get(wave)
        rows = slice(0, FRESH) if wide else slice(ANY, FRESH)
        if mine is not None:
            known[rows] = np.maximum(known[rows], mine[rows])
        for row in (OVER, ISSUED, ANY) if wide else (ANY,):
            known[row, wave] = max(int(known[row, wave]), step)
        if met is not None:
            first = wave // self.per * self.per
            group = slice(first, first + len(met))
            for row in (BARRIER, ISSUED, ANY) if wide else (ANY,):
                known[row, group] = np.maximum(known[row, group], met)

    def ask(self, place: int, *, wide: bool) -> I32 | None:
        """What a place tells who asks it; None where nobody has written to it."""
        found = self.places.get(place)
        if found is None:
            return None
        found.handed = True
        more = np.zeros((ROWS, self.waves), np.int32)
        rows = slice(0, FRESH) if wide else slice(ANY, FRESH)
        more[rows] = found.known[rows]
        return more
