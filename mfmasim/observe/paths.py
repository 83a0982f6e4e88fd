"""A state of each wave that its path alone determines.

Waves share a state, and a block is examined once for each state, so that the cost grows with the number of different
paths, not with the number of waves. Further launches of a kernel share the transitions as well, except those with a
report: a finding names the launch's own waves.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.machine.events import Observer, Walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import BlockEvent

    Key = tuple[int, int, int, int, int]
    """Number of a state, first and last address of a block, how many of its instructions are executed, and the bits of
    MODE that select their registers."""

State = TypeVar("State")


class Table(Generic[State]):
    """The states of a kernel's paths, by number, and the transitions between them."""

    def __init__(self, start: State) -> None:
        """State 0 is `start`."""
        self.states: dict[int, State] = {0: start}
        self._free = itertools.count(1)
        self._numbers: dict[State, int] = {start: 0}
        self.next: dict[Key, tuple[int, Any]] = {}
        """The next state and the result of `Paths.effect`, for transitions without a report."""

    def __reduce__(self) -> tuple[type[Table[State]], tuple[State]]:
        """A process that receives the table begins anew: states of different processes are different objects."""
        return Table, (self.states[0],)

    def number(self, state: State) -> int:
        """Number of a state.

        Launches of one kernel may run in several threads, and a process may fork meanwhile: there is no lock, and a
        number is known only after its state.
        """
        found = self._numbers.get(state)
        if found is None:
            number = next(self._free)
            self.states[number] = state
            found = self._numbers.setdefault(state, number)
            if found != number:  # another thread was faster
                del self.states[number]
        return found


TABLES: PerKernel[dict[type, Any]] = PerKernel(lambda _: {})
"""The table of each class of paths."""


class Paths(Observer, ABC, Generic[State]):
    """Follows a state, which has to be hashable, through the blocks of every wave."""

    def __init__(self, start: State, kernel: Kernel | None = None) -> None:
        """Every wave begins with the state `start`. If `kernel` is given, its launches share the transitions."""
        own = Table(start)
        self._table: Table[State] = own if kernel is None else TABLES.of(kernel).setdefault(type(self), own)
        self._next: dict[Key, int] = {}
        """Transitions of this launch."""
        self._of_wave: NDArray[np.int32] = np.zeros(0, np.int32)
        self._batch = 0
        self._lowest: dict[Key, tuple[int, int]] = {}
        """The first wave of the grid with a report, by transition."""
        self._walks: dict[tuple[tuple[int, int, int], ...], tuple[int, NDArray[np.int32]]] = {}
        """Tables of transitions by blocks, and the number of entries of `_next` for which they were made."""
        self.first = 0, 0
        """The wave for which `after` is called: number of the batch, and of the wave in it."""
        self.reported = False
        """Set by `after` if it reports something; `after` is called again for a wave that is earlier in the grid."""

    @abstractmethod
    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """The state after a block.

        Args:
            state: of the wave before.
            event: the block.
            index: one of the waves of the event that are in this state.
        """

    def effect(self) -> Any:
        """The effect of the last block of `after` besides the next state; it is the same in every launch."""

    def note(self, effect: Any) -> None:
        """Apply the effect of a block, in the launch that executes it first or in a further launch."""

    def on_block(self, event: BlockEvent) -> None:
        """Move the waves of a block to their next state."""
        if event.fresh:
            self._of_wave = np.zeros(event.total, np.int32)
            self._batch += 1
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

    def walk(self, blocks: Sequence[Sequence[Instruction]], waves: int) -> Walk | None:  # noqa: ARG002
        """The states after blocks; None for blocks with a report, which may have to name an earlier wave."""
        if type(self).on_block is not Paths.on_block:
            return None
        places = {(block[0].pc, block[-1].pc, len(block)): place for place, block in enumerate(blocks) if block}
        known = self._walks.get(tuple(places))
        if known is None or known[0] != len(self._next):
            found = [
                (key[0], place, after)
                for key, after in self._next.items()
                if not key[4] and key not in self._lowest and (place := places.get(key[1:4])) is not None
            ]
            most = max(self._of_wave.max(initial=0), *(max(before, after) for before, _, after in found), 0)
            table = np.full((most + 1, len(blocks)), -1, np.int32)
            for before, place, after in found:
                table[before, place] = after
            known = self._walks[tuple(places)] = len(self._next), table
        if self._of_wave.max(initial=0) >= len(known[1]):
            more = np.full((int(self._of_wave.max()) + 1 - len(known[1]), len(blocks)), -1, np.int32)
            known = self._walks[tuple(places)] = known[0], np.concatenate([known[1], more])
        return Walk(known[1], self._of_wave)

    def _reached(self, number: int, event: BlockEvent, index: int) -> int:
        """Number of the state after a block."""
        # With VSKIP set a block has fewer instructions.
        block = event.instructions
        key = number, block[0].pc, block[-1].pc, len(block), event.mode
        found = self._next.get(key)
        if found is not None and (
            key not in self._lowest or self._lowest[key] <= (self._batch, int(event.waves[index]))
        ):
            return found
        table = self._table
        known = table.next.get(key)
        if known is None:
            self.reported, self.first = False, (self._batch, int(event.waves[index]))
            known = table.number(self.after(table.states[number], event, index)), self.effect()
            if self.reported:
                self._lowest[key] = self.first
            else:
                table.next[key] = known
        self.note(known[1])
        self._next[key] = known[0]
        return known[0]
