"""Ends of launches before their time: what ends only a workgroup, and what then was not executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.state.waves import AT_BARRIER, ENDED

if TYPE_CHECKING:
    from mfmasim.machine.events.outcome import Outcome
    from mfmasim.machine.state.waves import Group, Waves

ALONE = "trap", "budget", "faults"
"""Checks of what ends the workgroup of a wave; anything else ends the launch."""
BUDGETS = 8
"""Batches with waves beyond their budget or their faults, after which the rest of the launch is not executed."""


def waiting(waves: Waves, group: Group | None = None) -> str:
    """Waves that wait at a barrier, in words; empty when there are none.

    Args:
        waves: those in flight.
        group: counts those of its first workgroup alone.
    """
    status = np.broadcast_to(waves.status, (waves.count,)) == AT_BARRIER
    if group is not None:
        status = status & (waves.workgroup == waves.workgroup[group.indices()[0]])
    count = int(status.sum())
    return f" while {count} wave{'s' * (count > 1)} wait{'s' * (count == 1)} at a barrier" if count else ""


def count_left(outcome: Outcome, waves: Waves, later: int) -> None:
    """Count what a launch that ends now has not executed.

    Args:
        outcome: counts it.
        waves: those in flight.
        later: workgroups of batches that have not begun.
    """
    running = np.broadcast_to(waves.status, (waves.count,)) != ENDED
    outcome.cut += len(np.unique(waves.workgroup[running]))
    outcome.unexecuted = max(0, later)
