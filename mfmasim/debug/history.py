"""Executed instructions of each wave, from the recording alone: questions that need no replay."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mfmasim.debug.recorder import Entry, Recorder
    from mfmasim.isa import Instruction


class Position(NamedTuple):
    """Before an instruction: the turn, and how many of its instructions are executed."""

    turn: int
    done: int = 0


class History:
    """The turns of a recording. A wave is named by its number in the launch."""

    def __init__(self, recorder: Recorder) -> None:
        """Read a recording that is complete."""
        self.recorder = recorder
        self.blocks: NDArray[np.uint32] = np.frombuffer(recorder.blocks, np.uint32)
        self.groups: NDArray[np.uint32] = np.frombuffer(recorder.groups, np.uint32)
        self.per = recorder.launch.waves_per_workgroup
        self.sizes = np.array([entry.size for entry in recorder.entries], np.int64)
        self._turns: dict[int, NDArray[np.int64]] = {}

    @property
    def turns(self) -> int:
        """Turns of the recording."""
        return len(self.blocks)

    @property
    def end(self) -> Position:
        """After the last instruction."""
        return Position(self.turns)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First turn of each batch of workgroups."""
        return np.array([turn for turn, _ in self.recorder.batches], np.int64)

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """Wave-instructions before each turn, and after the last, (turns + 1,)."""
        waves = np.array([0 if one is None else len(one) for one in self.recorder.members], np.int64)
        counts = self.sizes[self.blocks] * waves[self.groups]
        whole = waves[self.groups] == 0
        if whole.any():
            counts[whole] = (self.sizes[self.blocks] * self._batch_waves)[whole]
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def _batch_waves(self) -> NDArray[np.int64]:
        """Waves of the batch of each turn."""
        firsts = [first for _, first in self.recorder.batches]
        launch = self.recorder.launch
        most = self.recorder.machine.workgroups_in_flight() if self.recorder.machine is not None else 1
        counts = np.array([min(most, launch.workgroups - first) * self.per for first in firsts], np.int64)
        return counts[np.searchsorted(self.starts, np.arange(self.turns), side="right") - 1]

    def entry(self, turn: int) -> Entry:
        """The block of a turn."""
        return self.recorder.entries[int(self.blocks[turn])]

    def instruction(self, at: Position) -> Instruction:
        """The instruction that is about to be executed at a position within the recording."""
        return self.entry(at.turn).instructions[at.done]

    def first_wave(self, turn: int) -> int:
        """Number in the launch of the first wave of the batch of a turn."""
        at = int(np.searchsorted(self.starts, turn, side="right")) - 1
        return self.recorder.batches[max(at, 0)][1] * self.per

    def waves(self, turn: int) -> NDArray[np.int64]:
        """The waves of a turn."""
        members = self.recorder.members[self.groups[turn]]
        numbers = np.arange(self._batch_waves[turn]) if members is None else members
        return numbers + self.first_wave(turn)

    def turns_of(self, wave: int) -> NDArray[np.int64]:
        """Turns in which a wave executed something, ascending."""
        found = self._turns.get(wave)
        if found is None:
            parts = []
            for number, (turn, first) in enumerate(self.recorder.batches):
                own = wave - first * self.per
                end = int(self.starts[number + 1]) if number + 1 < len(self.starts) else self.turns
                if not 0 <= own < (self._batch_waves[turn] if turn < self.turns else 0):
                    continue
                member = np.array([one is None or own in one for one in self.recorder.members], np.bool_)
                parts.append(turn + np.flatnonzero(member[self.groups[turn:end]]))
            turns = np.concatenate(parts) if parts else np.zeros(0, np.int64)
            found = self._turns[wave] = turns[self.sizes[self.blocks[turns]] > 0]
        return found

    def has(self, wave: int, turn: int) -> bool:
        """Whether a wave executes the turn."""
        turns = self.turns_of(wave)
        at = int(np.searchsorted(turns, turn))
        return at < len(turns) and int(turns[at]) == turn

    def next_of(self, wave: int, at: Position) -> Position:
        """Position of a wave's next instruction, from a position on; the end if there is none."""
        turns = self.turns_of(wave)
        number = int(np.searchsorted(turns, at.turn))
        if number < len(turns) and turns[number] == at.turn and at.done < self.entry(at.turn).size:
            return at
        number += number < len(turns) and int(turns[number]) == at.turn
        return Position(int(turns[number])) if number < len(turns) else self.end

    def forward(self, wave: int, at: Position) -> Iterator[Position]:
        """Positions of a wave's instructions after `at`, ascending."""
        turns = self.turns_of(wave)
        for turn in turns[int(np.searchsorted(turns, at.turn)) :].tolist():
            first = at.done + 1 if turn == at.turn else 0
            for index in range(first, self.entry(turn).size):
                yield Position(turn, index)

    def backward(self, wave: int, at: Position) -> Iterator[Position]:
        """Positions of a wave's instructions before `at`, descending."""
        turns = self.turns_of(wave)
        for turn in turns[: int(np.searchsorted(turns, at.turn, side="right"))][::-1].tolist():
            last = at.done if turn == at.turn else self.entry(turn).size
            for index in range(last - 1, -1, -1):
                yield Position(turn, index)

    def ordinal(self, wave: int, at: Position) -> int:
        """Number of instructions that a wave has executed at a position."""
        turns = self.turns_of(wave)
        number = int(np.searchsorted(turns, at.turn))
        before = int(self.sizes[self.blocks[turns[:number]]].sum())
        return before + (at.done if number < len(turns) and turns[number] == at.turn else 0)

    def matching(self, wanted: Callable[[Entry], bool]) -> NDArray[np.int64]:
        """Turns whose block is wanted, ascending."""
        chosen = np.array([wanted(entry) for entry in self.recorder.entries], np.bool_)
        return np.flatnonzero(chosen[self.blocks]) if len(chosen) else np.zeros(0, np.int64)
