"""What an issued instruction does: to its pipes, to its wave's registers and counters; when the wave may go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.cost.pipes import branched
from mfmasim.cost.trace import NOTHING, Access

if TYPE_CHECKING:
    from mfmasim.cost.pipes import GroupPipes, Latencies, SimdPipes
    from mfmasim.cost.trace import Trace
    from mfmasim.cost.wave import Wave

EMPTY = Access()


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every instruction of a unit."""

    late: Latencies
    period: float
    """Of issue."""
    on_valu: bool
    """Matrix instructions occupy the vector ALU."""

    @property
    def queued(self) -> bool:
        """Vector instructions go through a queue."""
        return self.late.queue > 1


@dataclass(frozen=True, slots=True)
class Effect:
    """Times of an issued instruction."""

    start: float
    """When its pipe begins with it."""
    busy: float
    """Until when the pipe is occupied."""
    done: float
    """When its result is there."""
    after: float
    """From when on its wave may issue the next one."""


def issue(
    trace: Trace, wave: Wave, pipes: SimdPipes, group: GroupPipes, now: float, rules: Rules, late: float = 0.0
) -> Effect:
    """Issue the next instruction of a wave; the wave stays at it.

    Args:
        trace: gives the accesses.
        wave: the wave.
        pipes: of its SIMD.
        group: LDS and memory of its SIMDs.
        now: when it issues.
        rules: latencies and issue.
        late: clocks by which the result of an LDS access is later than the model says.
    """
    op, place, period = wave.next, wave.place, rules.period
    accepted = start = done = now
    busy = now + period
    if op.slot == "VALU":
        ready = wave.operands(op) if rules.queued else now
        accepted, start, busy = pipes.send(op, ready, now, period, rules.late, on_valu=rules.on_valu)
        done = busy
    elif op.slot in ("LDS", "memory") or op.scalar_load or op.raises:
        number = wave.accesses[place]
        access = trace.accesses[number] if number != NOTHING else EMPTY
        if op.slot == "LDS":
            served = group.access_lds(access, wave.simd // 2, now)
            start, busy, done = served.start, served.busy, served.done + late
        elif op.slot == "memory":
            served = group.access_memory(access, wave.workgroup, now)
            start, busy, done = served.start, served.busy, served.done
        else:
            lines = access.lines or (-op.pc - 1,)  # where the address is not reported, by instruction
            done = max(now + rules.late.scalar, group.first_touch(lines, now, rules.late.cold_scalar))
        wave.fly(op, done)
    wave.produce(op, now, rules.late, start, done)
    after = now if op.free else accepted + period + op.idle
    if place + 1 < len(wave.codes):
        after = max(after, branched(op, wave.operations[wave.codes[place + 1]], now, period, rules.late))
    return Effect(start, busy, done, after)
