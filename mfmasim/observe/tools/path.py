"""The path of one wave: the instructions that it executes, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.launch.launch import Launch

LONGEST = 1_000_000
"""Most instructions that are recorded."""


class Path(Observer):
    """Records the instructions of the first wave of the launch; a second launch starts anew."""

    name = "path"

    def __init__(self) -> None:
        """Start without instructions."""
        self.instructions: list[Instruction] = []
        self._batches = 0

    def on_start(self, launch: Launch) -> None:  # noqa: ARG002
        """Forget an earlier launch."""
        self.instructions, self._batches = [], 0

    def on_block(self, event: BlockEvent) -> None:
        """Add a block of the first wave of the first batch."""
        self._batches += event.fresh
        if self._batches <= 1 and len(self.instructions) < LONGEST and (np.asarray(event.waves) == 0).any():
            self.instructions += event.instructions
