"""Barriers: unsplit ones, and gfx12's split barriers, whose signal and wait are two instructions.

Sources: CDNA3 ISA manual, S_BARRIER; RDNA4 ISA manual, 5.6. A barrier is complete when every wave of the workgroup has
signalled or ended; then each wave may pass one S_BARRIER_WAIT.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.operands import scalar_writer
from mfmasim.machine.refusal import unsupported
from mfmasim.machine.registry import direct
from mfmasim.machine.state import AT_BARRIER, ENDED, RUNNING, Group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.interface import Bound, Machine
    from mfmasim.machine.state import Waves


WORKGROUP, TRAP = -1, -2


def _barrier(_instruction: Instruction, _machine: Machine) -> Bound:
    return lambda g: g.stop(AT_BARRIER)


direct("s_barrier")(_barrier)


def _number(instruction: Instruction) -> int:
    """The barrier that the instruction names: the workgroup's or the trap handler's, which kernels do not use."""
    operand = instruction.src[0]
    if operand.kind in ("const", "imm"):
        number = (operand.bits & 0xFFFF ^ 0x8000) - 0x8000
        if number in (WORKGROUP, TRAP):
            return number
    raise unsupported(instruction, "a named barrier")


def _spread(waves: Waves, values: NDArray[Any]) -> NDArray[Any]:
    """Values of every wave, as a copy."""
    return np.array(np.broadcast_to(values, (waves.count,)))


def _signalled(waves: Waves) -> NDArray[np.int64]:
    """Waves that have signalled since the barrier was last complete, by workgroup of the batch."""
    which = waves.workgroup[_spread(waves, waves.signalled)]
    return np.bincount(which, minlength=int(waves.workgroup[-1]) + 1)


def settle(waves: Waves) -> None:
    """Complete the barriers at which all waves that have not ended have signalled, and let those pass that wait."""
    signalled, status = _spread(waves, waves.signalled), _spread(waves, waves.status)
    arrived = signalled | (status == ENDED)
    missing = np.bincount(waves.workgroup[~arrived], minlength=int(waves.workgroup[-1]) + 1)
    completed = ((missing == 0) & (_signalled(waves) > 0))[waves.workgroup]
    if not completed.any():
        waves.signalled = signalled
        return
    waiting = completed & (status == AT_BARRIER)
    waves.signalled = signalled & ~completed
    waves.complete = (_spread(waves, waves.complete) | completed) & ~waiting
    waves.status = np.where(waiting, np.uint8(RUNNING), status)


def _signal(answers: bool, instruction: Instruction, _machine: Machine) -> Bound:
    """Signal the barrier; the ISFIRST form sets SCC to whether no wave of the workgroup had signalled yet."""
    if _number(instruction) == TRAP:
        return lambda g: None  # noqa: ARG005

    def run(g: Group) -> None:
        waves = g.waves
        if answers:
            workgroup = g.workgroup
            first = np.zeros(g.count, np.bool_)
            first[np.unique(workgroup, return_index=True)[1]] = True
            g.scc = first & (_signalled(waves)[workgroup] == 0)
        if g.all:
            waves.signalled, waves.complete = np.zeros(1, np.bool_), np.ones(1, np.bool_)
            return
        signalled = _spread(waves, waves.signalled)
        signalled[g.indices()] = True
        waves.signalled = signalled
        settle(waves)

    return run


direct("s_barrier_signal")(partial(_signal, False))
direct("s_barrier_signal_isfirst", writes="scc")(partial(_signal, True))


def _wait(instruction: Instruction, _machine: Machine) -> Bound:
    """Pass if the barrier has been complete since the last wait, else stop until it is."""
    if _number(instruction) == TRAP:
        return lambda g: None  # noqa: ARG005

    def run(g: Group) -> None:
        waves = g.waves
        complete = g.take(waves.complete)
        if g.all and complete.all():
            waves.complete = np.zeros(1, np.bool_)
            return
        indices, passing = g.indices(), np.broadcast_to(complete, (g.count,))
        left = _spread(waves, waves.complete)
        left[indices[passing]] = False
        waves.complete = left
        if not passing.all():
            stopping = indices[~passing]
            Group(waves, stopping, len(stopping)).stop(AT_BARRIER)

    return run


direct("s_barrier_wait")(_wait)


def _state(instruction: Instruction, machine: Machine) -> Bound:
    """Waves that have signalled in bits 22 to 16, waves of the workgroup in bits 10 to 4, and bit 0 set."""
    if _number(instruction) == TRAP:
        raise unsupported(instruction, "the trap handler's barrier")
    write = scalar_writer(instruction.dst[0], "u32", instruction)
    members = machine.launch.waves_per_workgroup

    def run(g: Group) -> None:
        counts = _signalled(g.waves)[g.workgroup].astype(np.uint32)
        write(g, counts << np.uint32(16) | np.uint32(members << 4 | 1))

    return run


direct("s_get_barrier_state", "assumed")(_state)
