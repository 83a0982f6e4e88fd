"""Barriers: unsplit ones, and gfx12's split barriers, whose signal and wait are two instructions.

Sources: CDNA3 ISA manual, S_BARRIER; RDNA4 ISA manual, 5.6. A barrier is complete when every wave of the workgroup has
signalled or ended; then each wave may pass one S_BARRIER_WAIT. Named barriers and those of clusters:
`mfmasim.machine.state.barriers`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.isa.barriers import CLUSTER, CLUSTER_TRAP, NUMBER, TRAP, WORKGROUP, barrier_number
from mfmasim.machine.binding.operands import scalar_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.state.barriers import OF_CLUSTER, OF_NAME, OF_WORKGROUP
from mfmasim.machine.state.waves import AT_BARRIER, ENDED, RUNNING, Group, Waves

IGNORED = (TRAP, CLUSTER_TRAP)
"""Barriers of the trap handler, which kernels do not use."""


def _barrier(_instruction: Instruction, _machine: Machine) -> Bound:
    return lambda g: g.stop(AT_BARRIER)


direct("s_barrier")(_barrier)


def _number(instruction: Instruction, machine: Machine) -> int | None:
    """The barrier that the instruction names; None if M0 does.

    Raises:
        MfmasimError: a barrier that the architecture does not have.
    """
    number, most = barrier_number(instruction), machine.arch.named_barriers
    if number is None and most:
        return None
    lowest = CLUSTER_TRAP if machine.arch.max_cluster > 1 else TRAP
    if number is not None and (lowest <= number < 0 or (most and 0 <= number <= most)):
        return number
    raise unsupported(instruction, "a named barrier")


def _named(instruction: Instruction, machine: Machine) -> Callable[[Group], tuple[NDArray[Any], NDArray[Any]]]:
    """Number of a named barrier and of its members (0: as before), of each wave; none in a workgroup of one wave."""
    number, m0 = _number(instruction, machine), machine.arch.m0
    alone = machine.launch.waves_per_workgroup == 1

    def read(g: Group) -> tuple[NDArray[Any], NDArray[Any]]:
        zero = np.zeros(g.count, np.int64)
        if number is not None or alone:
            return (zero if alone else zero + (number or 0)), zero
        word = np.broadcast_to(g.s(m0), (g.count,)).astype(np.int64)
        return word & NUMBER, word >> 16 & 127

    return read


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
    waiting = completed & (status == AT_BARRIER) & (waves.further.waits == OF_WORKGROUP)
    waves.signalled = signalled & ~completed
    waves.complete = (_spread(waves, waves.complete) | completed) & ~waiting
    waves.status = np.where(waiting, np.uint8(RUNNING), status)


def _signal(answers: bool, instruction: Instruction, machine: Machine) -> Bound:
    """Signal the barrier; the ISFIRST form sets SCC to whether no wave of the workgroup had signalled yet."""
    number = _number(instruction, machine)
    if number in IGNORED or (number == CLUSTER and machine.launch.clusters.workgroups == 1):
        return lambda g: None  # noqa: ARG005
    if number == CLUSTER:
        if answers:
            raise unsupported(instruction, "the barrier of a cluster, for which it is illegal,")
        return lambda g: g.waves.further.signal_cluster(g)
    if number != WORKGROUP:
        named = _named(instruction, machine)

        def signal(g: Group) -> None:
            which, members = named(g)
            first = g.waves.further.signal(g, which, members)
            exists = (which > 0) & (which <= g.waves.further.named)
            if answers:
                g.scc = np.where(exists, first, g.scc)

        return signal

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


def _wait(instruction: Instruction, machine: Machine) -> Bound:
    """Pass if the barrier has been complete since the last wait, else stop until it is."""
    number = _number(instruction, machine)
    if number in IGNORED or (number == CLUSTER and machine.launch.clusters.workgroups == 1):
        return lambda g: None  # noqa: ARG005
    if number == CLUSTER:
        return lambda g: g.waves.further.wait(g, OF_CLUSTER, np.ones(g.count, np.bool_))
    if number != WORKGROUP:  # whichever the wave has joined
        return lambda g: g.waves.further.wait(g, OF_NAME, g.waves.further.joined[g.indices()] > 0)

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
            waves.further.waits[stopping] = OF_WORKGROUP
            Group(waves, stopping).stop(AT_BARRIER)

    return run


direct("s_barrier_wait")(_wait)


def _state(instruction: Instruction, machine: Machine) -> Bound:
    """Waves that have signalled in bits 22 to 16, waves of the workgroup in bits 10 to 4, and bit 0 set."""
    number = _number(instruction, machine)
    if number in (*IGNORED, CLUSTER):
        raise unsupported(instruction, "the barrier of a trap handler or a cluster")
    write = scalar_writer(instruction.dst[0], "u32", instruction)
    members = machine.launch.waves_per_workgroup

    if number != WORKGROUP:
        named = _named(instruction, machine)
        return lambda g: write(
            g, g.waves.further.state(g, named(g)[0]) | np.uint32(g.waves.further.named // 4 << 24 | 1)
        )

    def run(g: Group) -> None:
        counts = _signalled(g.waves)[g.workgroup].astype(np.uint32)
        write(g, counts << np.uint32(16) | np.uint32(members << 4 | 1))

    return run


direct("s_get_barrier_state", "assumed")(_state)


def _init(instruction: Instruction, machine: Machine) -> Bound:
    named = _named(instruction, machine)
    return lambda g: g.waves.further.start(g, *named(g))


def _join(instruction: Instruction, machine: Machine) -> Bound:
    named = _named(instruction, machine)
    return lambda g: g.waves.further.join(g, named(g)[0])


def _leave(_instruction: Instruction, machine: Machine) -> Bound:
    """Leave the named barrier; SCC is whether the wave was its last member."""
    alone = machine.launch.waves_per_workgroup == 1

    def run(g: Group) -> None:
        g.scc = np.zeros(g.count, np.bool_) if alone else g.waves.further.leave(g)

    return run


direct("s_barrier_init")(_init)
direct("s_barrier_join")(_join)
direct("s_barrier_leave", writes="scc")(_leave)
