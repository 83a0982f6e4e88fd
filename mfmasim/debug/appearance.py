"""The position at which a finding begins: its check runs again, and is asked after each possible block."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.debug.history import Position
from mfmasim.errors import MfmasimError
from mfmasim.machine.events import Observer
from mfmasim.machine.execution.run import Machine
from mfmasim.machine.launch.quota import Meter, Quota
from mfmasim.machine.state.memory_snapshot import Earlier
from mfmasim.observe.registry import CHECKS

if TYPE_CHECKING:
    from mfmasim.debug.history import History
    from mfmasim.debug.recorder import Recorder
    from mfmasim.machine.execution.basic_block import Block
    from mfmasim.machine.state.waves import Group
    from mfmasim.observe import Finding
    from mfmasim.observe.check import Check


ASKED = 2000
"""Most times that a check is asked."""


class _Asking(Observer):
    """Ends the run as soon as the check has the finding."""

    def __init__(self, check: Check, finding: Finding, turns: set[int]) -> None:
        self.check, self.finding, self.turns = check, finding, turns
        self.turn = 0
        self.found: int | None = None

    def on_turn(self, machine: Machine, group: Group, block: Block) -> None:
        del block
        if self.turn - 1 in self.turns and self.found is None and self.reported():
            self.found = self.turn - 1
            machine.stop("debugger", "found", machine.kernel.info.entry, group)
        self.turn += 1

    def reported(self) -> bool:
        """Whether the check reports the finding now."""
        wanted = self.finding
        return any(
            (one.id, one.pc, one.workgroup, one.wave) == (wanted.id, wanted.pc, wanted.workgroup, wanted.wave)
            for one in self.check.findings()
        )


def appears(recorder: Recorder, history: History, finding: Finding, wave: int | None) -> Position | None:
    """Where a finding begins.

    Args:
        recorder: of the launch.
        history: of the launch.
        finding: of the launch.
        wave: number in the launch of the wave that the finding names.

    Returns:
        The instruction, in the turn after which the check first reports the finding; if no turn is found, the last
        execution of the instruction by the wave. None if the finding names no instruction.
    """
    if finding.pc is None:
        return None
    pc = finding.pc
    turns = history.matching(lambda entry: pc in entry.pcs)
    if wave is not None:
        turns = turns[np.isin(turns, history.turns_of(wave))]
    if not len(turns):
        return None
    turn = _asked(recorder, finding, turns.tolist()) if finding.check in CHECKS and len(turns) > 1 else None
    chosen = int(turns[-1]) if turn is None else turn
    return Position(chosen, history.entry(chosen).pcs[pc])


def _asked(recorder: Recorder, finding: Finding, turns: list[int]) -> int | None:
    launch = replace(recorder.launch, memory=Earlier(recorder.written), meter=Meter(Quota(None)), hostcall=None)
    if recorder.launch.hostcall is not None or recorder.machine is None:
        return None
    check = CHECKS[finding.check](launch)
    asking = _Asking(check, finding, set(turns[:ASKED]))
    try:
        Machine(launch, [check, asking], recorder.machine.budget, recorder.machine.max_waves).run()
    except MfmasimError:
        return None
    return asking.found
