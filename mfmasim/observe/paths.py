"""A state that each wave carries along its path, and that the path alone determines.

Waves of one state share it, and a block that was seen from a state is never examined again, so that the cost grows
with the paths that differ and not with the waves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.events import BlockEvent

__all__ = ["Paths"]

State = TypeVar("State")


class Paths(Observer, ABC, Generic[State]):
    """Follows a state, which has to be hashable, through the blocks of every wave."""

    def __init__(self, start: State) -> None:
        """Every wave begins with `start`."""
        self._states: list[State] = [start]
        self._numbers: dict[State, int] = {start: 0}
        self._next: dict[tuple[int, int, int, int], int] = {}
        self._of_wave: NDArray[np.int32] = np.zeros(0, np.int32)

    @abstractmethod
    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """The state after a block.

        Args:
            state: of the wave before.
            event: the block.
            index: one of the waves of the event that are in this state.
        """

    def on_block(self, event: BlockEvent) -> None:
        """Move the waves of a block to their next state."""
        if event.fresh:
            self._of_wave = np.zeros(event.total, np.int32)
        waves = event.waves
        before = self._of_wave[waves]
        first = int(before[0])
        if (before == first).all():
            self._of_wave[waves] = self._reached(first, event, 0)
            return
        reached = np.empty_like(before)
        for state in np.unique(before):
            same = before == state
            reached[same] = self._reached(int(state), event, int(same.argmax()))
        self._of_wave[waves] = reached

    def _reached(self, number: int, event: BlockEvent, index: int) -> int:
        """Number of the state that a block leads to."""
        # Where VSKIP is set a block has fewer instructions than otherwise.
        block = event.instructions
        key = number, block[0].pc, block[-1].pc, len(block)
        found = self._next.get(key)
        if found is None:
            state = self.after(self._states[number], event, index)
            found = self._numbers.setdefault(state, len(self._states))
            if found == len(self._states):
                self._states.append(state)
            self._next[key] = found
        return found
