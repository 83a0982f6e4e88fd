"""A captured wave against the model, instruction by instruction: a range follows from what was captured before it.

The wave goes through its trace with the captured clocks in place of the model's, once for each end of the latencies'
ranges; so the error of an instruction does not spread to the next one. What other waves do is not known: at the high
end those of the same SIMD and LDS go first, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mfmasim.cost.effects import Rules, issue
from mfmasim.cost.operation import Operation
from mfmasim.cost.pipes import ColdCode, GroupPipes, SimdPipes, latencies
from mfmasim.cost.trace import NOTHING, Trace
from mfmasim.cost.wave import Wave

ENDS = ("low", "value", "high")
CLASSES: dict[str, Callable[[Operation], bool]] = {
    "SMEM_RD": lambda op: op.scalar_load,
    "SALU_32": lambda op: op.slot == "scalar" and not op.scalar_load,
    "VALU_32": lambda op: op.slot == "VALU" and op.size == 4,
    "VALU_64": lambda op: op.slot == "VALU" and op.size > 4,
    "IMMED": lambda op: op.slot == "internal",
    "FLAT_RD": lambda op: op.slot == "memory" and not op.stores,
    "FLAT_WR": lambda op: op.slot == "memory" and op.stores,
    "LDS": lambda op: op.slot == "LDS",
    "NEXT": lambda op: op.slot == "branch",
    "JUMP": lambda op: op.slot == "branch",
    "OTHER_MSG": lambda op: op.slot == "internal",
}
"""Classes of instructions in thread traces of CDNA, whose tokens have no addresses."""


@dataclass(frozen=True)
class Gap:
    """Clocks from the instruction before, of one captured instruction."""

    place: int
    """In the wave's trace."""
    captured: float
    low: float
    value: float
    high: float

    def inside(self, resolution: float) -> bool:
        """Whether the captured clocks are in the range, as far as the capture's clocks resolve it."""
        slack = resolution if resolution > 1 else 0
        return self.low - slack <= self.captured <= self.high + slack


def align(
    operations: Sequence[Operation], codes: Sequence[int], events: Sequence[tuple[float, int | str]]
) -> list[int]:
    """Places in a wave's trace of captured instructions; traces leave out some waits and hints.

    Args:
        operations: of the trace.
        codes: what the wave executed, by number of the operation.
        events: clock, and address or class, of each captured instruction.

    Returns:
        As many places as the events that could be matched, from the first one on.
    """
    places: list[int] = []
    place = 0
    for _, what in events:
        while place < len(codes):
            op = operations[codes[place]]
            place += 1
            if op.pc == what if isinstance(what, int) else what in CLASSES and CLASSES[what](op):
                places.append(place - 1)
                break
            if op.slot != "internal" and not op.awaits and not op.signals:
                return places
        else:
            return places
    return places


def gaps(trace: Trace, number: int, clocks: dict[int, float], *, cold: bool) -> list[Gap]:
    """The gaps of a captured wave, and their ranges.

    Args:
        trace: of the resident workgroups.
        number: of the wave whose trace it is.
        clocks: captured, by place in the wave's trace.
        cold: no cache has anything.
    """
    ends = [_predicted(trace, number, clocks, end, cold=cold) for end in ENDS]
    found = []
    places = sorted(clocks)
    for before, place in pairwise(places):
        low, value, high = (end[place] - clocks[before] for end in ends)
        found.append(Gap(place, clocks[place] - clocks[before], min(low, value), value, max(value, high)))
    return found


def _predicted(trace: Trace, number: int, clocks: dict[int, float], end: str, *, cold: bool) -> dict[int, float]:
    """When each captured instruction may issue, at an end of the ranges, after what was captured before it."""
    rates = trace.arch.rates
    late = latencies(rates, end)
    rules = Rules(late, rates["issue"].ends[ENDS.index(end)], rates.matrix_on_valu)
    simd = trace.simd_of(number)
    wave, pipes = Wave(number, simd, trace.waves[number], trace.operations), SimdPipes()
    group, code = GroupPipes(rates, late, cold=cold), ColdCode() if cold else None
    others = _Others(trace, number) if end == "high" else None
    found: dict[int, float] = {}
    while not wave.done:
        op, place = wave.next, wave.place
        ready = wave.ready
        if op.slot == "VALU":
            ready = max(ready, pipes.valu, 0.0 if rules.queued or not op.matrix else pipes.matrix)
            ready = max(ready, pipes.trans if op.trans else 0.0)
        if others is not None:
            ready += others.first(op)
        if place in clocks:
            found[place] = ready
            ready = clocks[place]
        late_by = others.delay(wave, op) if others is not None else 0.0
        effect = issue(trace, wave, pipes, group, ready, rules, late_by)
        wave.advance(effect.after, late, queued=rules.queued)
        if op.awaits:
            wave.ready = max(wave.ready, ready + late.barrier)
        if code is not None and not wave.done:
            wave.ready = max(wave.ready, code.fetch(op, wave.next, ready, late.cold_code))
    return found


class _Others:
    """What the other waves of a wave's SIMD and LDS may do before it."""

    def __init__(self, trace: Trace, number: int) -> None:
        """Count them."""
        self.trace = trace
        waves = range(len(trace.waves))
        self.on_simd = sum(trace.simd_of(w) == trace.simd_of(number) for w in waves) - 1
        self.on_lds = sum(trace.group_of(w) == trace.group_of(number) for w in waves) - 1
        self.run = longest_run(trace, number) if self.on_simd else 0.0
        """Cycles of the longest run of matrix instructions."""

    def first(self, op: Operation) -> float:
        """Clocks by which they delay the issue of an instruction."""
        if op.slot != "VALU":
            return self.on_simd * op.needs[0][1]
        return self.on_simd * max(cycles for _, cycles in op.needs) + self.run

    def delay(self, wave: Wave, op: Operation) -> float:
        """Clocks by which they delay an LDS access: theirs go first, as many of each as this wave has in flight."""
        number = wave.accesses[wave.place]
        if op.slot != "LDS" or number == NOTHING:
            return 0.0
        flights = max((len(wave.flights.get(row.counter, ())) for row in op.raises), default=0)
        return self.on_lds * self.trace.accesses[number].lds * (flights + 1)


def longest_run(trace: Trace, number: int) -> float:
    """Cycles of the longest run of matrix instructions of a wave, one after the other."""
    most = run = 0.0
    for code in trace.waves[number].operations:
        cycles = trace.operations[code].matrix
        run = run + cycles if cycles else 0.0
        most = max(most, run)
    return most
