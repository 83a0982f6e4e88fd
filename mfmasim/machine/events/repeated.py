"""Waves with repeated accesses of one instruction outside every buffer, as in a loop with a wrong counter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.state.waves import Group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction

FAULTING = ("global", "scalar")
"""Spaces outside of which a GPU reports a memory fault. An LDS, a buffer resource and the GDS drop such accesses."""


class Repeated:
    """Counts executions outside every buffer, by instruction and wave of the current batch of workgroups."""

    def __init__(self, limit: int | None) -> None:
        """Begin without counts; None means no limit."""
        self.limit = limit
        self.over: tuple[Instruction, Group] | None = None
        """An instruction, and the waves that have executed it more often than the limit allows."""
        self._counts: dict[int, NDArray[np.int64]] = {}
        self._batch = -1

    def add(self, instruction: Instruction, group: Group, rows: NDArray[np.bool_], batch: int) -> None:
        """Count one execution.

        Args:
            instruction: what accesses memory.
            group: the waves that execute it.
            rows: waves with lanes outside.
            batch: number of the first workgroup of the batch.
        """
        if self.limit is None:
            return
        if batch != self._batch:
            self._counts.clear()
            self._batch = batch
        counts = self._counts.get(instruction.pc)
        if counts is None:
            counts = self._counts[instruction.pc] = np.zeros(group.waves.count, np.int64)
        outside = group.indices()[rows]
        counts[outside] += 1
        beyond = outside[counts[outside] > self.limit]
        if len(beyond):
            self.over = instruction, Group(group.waves, beyond)
