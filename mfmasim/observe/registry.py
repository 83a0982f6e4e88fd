"""All checks, by name: a new check is one more line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.observe.absent_lanes import Absent
from mfmasim.observe.alignment import Alignment
from mfmasim.observe.atomic_order import AtomicOrder
from mfmasim.observe.barriers import Barriers
from mfmasim.observe.bounds import Bounds
from mfmasim.observe.clusters import ClusterLoads
from mfmasim.observe.conflicts import Conflicts
from mfmasim.observe.hazards import Hazards
from mfmasim.observe.numerics import Numerics
from mfmasim.observe.operands import Operands
from mfmasim.observe.ordering.check import Races
from mfmasim.observe.partitions import Partitions
from mfmasim.observe.registers import Registers
from mfmasim.observe.replays import Replays
from mfmasim.observe.spills import Spills
from mfmasim.observe.strides import Strides
from mfmasim.observe.uninitialised import Uninitialised
from mfmasim.observe.variables import Variables
from mfmasim.observe.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.check import Check

CHECKS: dict[str, type[Check]] = {
    check.name: check
    for check in (
        Bounds, Alignment, Barriers, ClusterLoads, Conflicts, Waits, Hazards, Races, Uninitialised, AtomicOrder, Absent,
        Operands, Numerics, Strides, Variables, Registers, Replays, Partitions, Spills,
    )
}  # fmt: skip
"""Checks that `launch` can turn on. The check `mapping` needs roles: see `mfmasim.verify`."""


def checks_of(launch: Launch, names: Sequence[str]) -> list[Check]:
    """The checks of a launch.

    Args:
        launch: the launch.
        names: of the checks, each with an option after a colon or without.
    """
    made = []
    for name in names:
        check, _, option = name.partition(":")
        made.append(CHECKS[check](launch, option) if option else CHECKS[check](launch))
    return made
