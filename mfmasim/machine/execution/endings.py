"""Early ends of launches: stops of a workgroup alone, and counts of what was not executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.state.waves import AT_BARRIER, ENDED

if TYPE_CHECKING:
    from mfmasim.machine.events.outcome import Outcome
    from mfmasim.machine.state.waves import Group, Waves

ALONE = "trap", "budget", "faults"
"""Checks whose stop ends the workgroup of a wave; every other stop ends the launch."""
BUDGETS = 8
"""Batches with waves beyond their budget or their faults, after which the rest of the launch is not executed."""


def waiting(waves: Waves, group: Group | None = None) -> str:
    """Waves that wait at a barrier, in words; empty when there are none.

    Args:
        waves: waves in flight.
        group: only waves of its first workgroup count.
    """
    status = np.broadcast_to(waves.status, (waves.count,)) == AT_BARRIER
    if group is not None:
        status = status & (waves.workgroup == waves.workgroup[group.indices()[0]])
    count = int(status.sum())
    return f" while {count} wave{'s' * (count > 1)} wait{'s' * (count == 1)} at a barrier" if count else ""


def count_left(outcome: Outcome, waves: Waves, later: int) -> None:
    """Count the workgroups that a launch with an early end has not executed.

    Args:
        outcome: receives the counts.
        waves: waves in flight.
        later: workgroups of batches that have not begun.
    """
    running = np.broadcast_to(waves.status, (waves.count,)) != ENDED
    outcome.cut += len(np.unique(waves.workgroup[running]))
    outcome.unexecuted = max(0, later)
