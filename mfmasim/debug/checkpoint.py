"""The state of a machine between two blocks, and checkpoints within a bound of memory.

Registers are shared between checkpoints while nothing writes them, pages of global memory likewise; LDS and scratch are
copied.
"""

from __future__ import annotations

import copy
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.state.register_memo import Changed, Kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mfmasim.machine.execution.run import Machine
    from mfmasim.machine.state.waves import Waves

    Pages = dict[int, NDArray[np.uint8]]


BYTES = 256 << 20
"""Bytes that the checkpoints of a recording may hold."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a machine before a turn."""

    turn: int
    """Number of the turn in the launch."""
    first_workgroup: int
    waves: Waves
    lds: NDArray[np.uint8]
    scratch: NDArray[np.uint8]
    pages: Pages
    """Pages of global memory that were written since the launch began, by number."""
    hostcall: tuple[tuple[str, ...], dict[int, bytes]] | None
    """Texts that the kernel had printed by host calls, and unfinished texts."""
    chosen: bool
    """Whether the scheduler has chosen the waves of the turn and opened their barriers."""

    @classmethod
    def of(cls, machine: Machine, turn: int, pages: Pages, *, chosen: bool) -> Checkpoint:
        """The state of a machine now.

        Args:
            machine: between two blocks.
            turn: number of the next turn.
            pages: the written pages, with their current contents.
            chosen: whether the scheduler has chosen the waves of that turn and opened their barriers.
        """
        waves = machine.waves
        waves.own.clear()  # arrays that this state holds must not change in place
        call = machine.launch.hostcall
        told = None if call is None else (tuple(call.text), dict(call.begun))
        return cls(
            turn,
            machine.first_workgroup,
            frozen(waves),
            machine.lds.copy(),
            machine.scratch.copy(),
            pages,
            told,
            chosen,
        )

    def arrays(self) -> Iterator[NDArray[Any]]:
        """The arrays that the checkpoint keeps alive."""
        waves = self.waves
        for values in (*waves.v, *waves.a, *waves.s, waves.exec, self.lds, self.scratch, *self.pages.values()):
            owner = values
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            yield owner


def frozen(waves: Waves) -> Waves:
    """A copy of a batch's registers; further execution of the copy or the original does not change the other."""
    made = copy.copy(waves)
    made.v, made.a, made.s = list(waves.v), list(waves.a), list(waves.s)
    made.own, made.places, made.lane_masks = {}, {}, {}
    made.changed = Changed()
    made.kept = Kept(made.changed)
    made.further = copy.deepcopy(waves.further)
    return made


class Checkpoints:
    """Checkpoints in the order of their turns, thinned out when they exceed their bytes."""

    def __init__(self, limit: int = BYTES) -> None:
        """None yet; `limit`: bytes that they may hold."""
        self.limit = limit
        self.held: list[Checkpoint] = []
        self.bytes = 0
        self._counted: dict[int, NDArray[Any]] = {}

    def add(self, made: Checkpoint) -> bool:
        """Add a checkpoint; returns whether others were dropped for it."""
        at = self._after(made.turn)
        if at and self.held[at - 1].turn == made.turn:
            return False
        self.held.insert(at, made)
        self._count(made)
        thinned = False
        while self.bytes > self.limit and len(self.held) > 2:
            self.held = [*self.held[:-1:2], self.held[-1]]  # the first and the last stay
            self._counted, self.bytes, thinned = {}, 0, True
            for one in self.held:
                self._count(one)
        return thinned

    def before(self, turn: int) -> Checkpoint:
        """The last checkpoint at or before a turn."""
        return self.held[max(self._after(turn) - 1, 0)]

    def _after(self, turn: int) -> int:
        return bisect_right(self.held, turn, key=lambda one: one.turn)

    def _count(self, made: Checkpoint) -> None:
        for values in made.arrays():
            if id(values) not in self._counted:
                self._counted[id(values)] = values
                self.bytes += values.nbytes
