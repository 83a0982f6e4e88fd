"""A replay that moves to any position: from the nearest checkpoint, with further checkpoints on its way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mfmasim.debug.checkpoint import Checkpoints
from mfmasim.debug.replay import Replay

if TYPE_CHECKING:
    from mfmasim.debug.checkpoint import Checkpoint
    from mfmasim.debug.history import Position
    from mfmasim.debug.recorder import Recorder


NEAR_BYTES = 64 << 20
"""Bytes of the checkpoints that a replay adds to those of the recording."""
SECONDS = 0.01
"""Time of replay between two of these checkpoints."""


class Cursor:
    """The replay of one recording."""

    def __init__(self, recorder: Recorder) -> None:
        """At the beginning."""
        self.replay = Replay(recorder)
        self.recorded = recorder.checkpoints
        self.near = Checkpoints(NEAR_BYTES)

    def to(self, at: Position) -> None:
        """Go to a position."""
        replay = self.replay
        ahead = (replay.turn, replay.done) <= at
        nearest = self._before(at.turn)
        if not ahead or (nearest.turn > replay.turn + 1):
            replay.restore(nearest)
        made = time.perf_counter()
        while replay.turn < at.turn:
            replay.to_turn(replay.turn + 1)
            if time.perf_counter() - made > SECONDS and replay.turn < at.turn:
                self._keep()
                made = time.perf_counter()
        if at.done and not replay.done:
            self._keep()
        replay.to_instruction(at.done)

    def _before(self, turn: int) -> Checkpoint:
        one = self.recorded.before(turn)
        other = self.near.before(turn) if self.near.held else one
        return other if one.turn < other.turn <= turn else one

    def _keep(self) -> None:
        if self._before(self.replay.turn).turn != self.replay.turn and self.replay.turn < self.replay.turns:
            self.near.add(self.replay.checkpoint())

    def turns_held(self, begin: int, end: int) -> list[int]:
        """Turns that divide a range at its checkpoints, from `begin` to `end`."""
        held = {one.turn for one in (*self.recorded.held, *self.near.held) if begin < one.turn < end}
        return [begin, *sorted(held), end]
