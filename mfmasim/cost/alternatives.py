"""What another instruction, tile or occupancy would give, at most: the timeline with what it would spare left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.cost.attribution import LITTLE, Change
from mfmasim.cost.timeline import timeline
from mfmasim.cost.trace import NOTHING, Trace, WaveTrace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mfmasim.cost.faster import Faster
    from mfmasim.cost.operation import Operation
    from mfmasim.cost.resident import Recorded
    from mfmasim.cost.timeline import Timeline


def alternatives(recorded: Recorded, line: Timeline, outdone: Iterable[Faster]) -> list[Change]:
    """What to try instead, each as if nothing else changed; nothing below one percent.

    Args:
        recorded: what one unit executed.
        line: its timeline.
        outdone: matrix instructions that another one of the same formats outdoes.
    """
    trace, head, end = recorded.trace, recorded.head, line.end
    before = line.turn(head)
    found: list[Change] = []

    def tried(what: str, changed: Trace, lines: Iterable[str], share: float = 1.0) -> None:
        after = timeline(changed, end).turn(head) * share
        gain = (before - after) / before if before else 0.0
        if gain >= LITTLE:
            found.append(Change(what, after, gain, tuple(lines)))

    for one in outdone:
        tried(f"{one.fastest} in place of {one.executed}", _at_rate(trace, one), _lines_of(trace, one.executed))
    multiplies = any(op.matrix for op in trace.operations)
    reads = [op for op in trace.operations if op.lds_read]
    if multiplies and reads:
        what = "half the LDS reads for each product, as of a wave's tile of twice the rows and columns"
        tried(what, _halved(trace, {op.number for op in reads}), _named(reads))
    loads = [op for op in trace.operations if op.slot == "memory" and not op.stores]
    if multiplies and loads:
        what = "half the loads for each product, as of a workgroup's tile of twice the rows and columns"
        tried(what, _halved(trace, {op.number for op in loads}), _named(loads))
    resident, fits = recorded.resident, recorded.occupancy
    most = 4 * trace.arch.simd.waves
    if recorded.workgroups > resident == fits.workgroups and (resident + 1) * fits.waves <= most:
        limits = ", ".join(fits.limited_by)
        what = f"{resident + 1} workgroups at a time in place of {resident} (limited by {limits})"
        tried(what, _crowded(trace, resident), (), resident / (resident + 1))
    return found


def _named(operations: Iterable[Operation]) -> list[str]:
    """Their source lines, the first four."""
    return list(dict.fromkeys(op.source or hex(op.pc) for op in operations))[:4]


def _lines_of(trace: Trace, name: str) -> list[str]:
    return _named(op for op in trace.operations if op.name == name)


def _at_rate(trace: Trace, one: Faster) -> Trace:
    """With the cycles that a matrix instruction would have at the rate of the fastest one."""

    def changed(op: Operation) -> Operation:
        if op.name != one.executed or not op.matrix:
            return op
        cycles = op.matrix * one.rate / one.peak
        needs = tuple((pipe, cycles if clocks == op.matrix else clocks) for pipe, clocks in op.needs)
        return replace(op, matrix=cycles, needs=needs)

    return replace(trace, operations=[changed(op) for op in trace.operations])


def _halved(trace: Trace, numbers: set[int]) -> Trace:
    """With accesses of these operations that need half of each pipe."""
    accesses = list(trace.accesses)
    halves: dict[int, int] = {}
    waves = []
    for wave in trace.waves:
        taken = wave.accesses[:]
        for place, (code, which) in enumerate(zip(wave.operations, wave.accesses, strict=True)):
            if which == NOTHING or code not in numbers:
                continue
            if which not in halves:
                one = trace.accesses[which]
                halves[which] = len(accesses)
                lines = one.lines[::2]
                accesses.append(
                    replace(
                        one, lds=one.lds / 2, port=one.port / 2, fill=one.fill / 2, lines=lines, bytes=one.bytes // 2
                    )
                )
            taken[place] = halves[which]
        waves.append(replace(wave, accesses=taken))
    return replace(trace, accesses=accesses, waves=waves)


def _crowded(trace: Trace, resident: int) -> Trace:
    """With the first workgroup once more."""
    more = [WaveTrace(resident, w.wave, w.operations, w.accesses) for w in trace.waves if w.workgroup == 0]
    return replace(trace, waves=[*trace.waves, *more])
