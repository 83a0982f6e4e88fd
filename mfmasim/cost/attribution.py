"""What makes the bound and the waiting: source lines, bank conflicts, registers, and what to change first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mfmasim.cost.bound import bound_of, place_of, spans_of
from mfmasim.cost.operation import SCOPES
from mfmasim.cost.timeline import timeline
from mfmasim.cost.trace import NOTHING, Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.cost.operation import Operation
    from mfmasim.cost.resident import Recorded
    from mfmasim.cost.timeline import Timeline
    from mfmasim.cost.trace import Access

OF_LDS = ("LDS", "LDS port")
LITTLE, MUCH = 0.01, 0.25
"""Parts of the time below which a change is not worth trying, and above which vector instructions are."""


@dataclass(frozen=True)
class Share:
    """Cycles of the bound that a source line makes."""

    line: str
    cycles: float
    conflicts: float
    """Of these, for bank conflicts."""


def shares_of(trace: Trace, head: int | None, pipe: str) -> list[Share]:
    """Cycles of a pipe by source line, for one turn of the busiest instance; the most first.

    Args:
        trace: what was executed.
        head: address of the main loop's first instruction; None takes everything.
        pipe: one of `mfmasim.cost.operation.PIPES`.
    """
    spans, turns = spans_of(trace, head)
    instances: dict[int, dict[str, list[float]]] = {}
    seen: dict[int, set[int]] = {}
    rates = trace.arch.rates
    for number, (wave, (first, last)) in enumerate(zip(trace.waves, spans, strict=True)):
        instance = place_of(trace, number)[SCOPES[pipe]]
        lines = instances.setdefault(instance, {})
        touched = seen.setdefault(instance, set())
        for code, which in zip(wave.operations[first:last], wave.accesses[first:last], strict=True):
            op = trace.operations[code]
            cycles = sum(each for name, each in op.needs if name == pipe)
            conflicts = 0.0
            if which != NOTHING:
                access = trace.accesses[which]
                own = {"LDS": access.lds, "LDS port": access.port, "LDS fill": access.fill}
                cycles += own.get(pipe, access.memory(rates) if pipe == "memory" else 0.0)
                conflicts = min(cycles, access.extra) if pipe in OF_LDS else 0.0
                if pipe == "L2":
                    cycles = len(set(access.lines) - touched) * rates.line_bytes / rates["l2"].value
                    touched.update(access.lines)
            if cycles:
                sums = lines.setdefault(op.source or hex(op.pc), [0.0, 0.0])
                sums[0] += cycles
                sums[1] += conflicts
    busiest = max(instances.values(), key=lambda lines: sum(sums[0] for sums in lines.values()), default={})
    found = [Share(line, a / max(1, turns), b / max(1, turns)) for line, (a, b) in busiest.items()]
    return sorted(found, key=lambda share: (-share.cycles, share.line))


def registers_of(recorded: Recorded) -> dict[str, tuple[int, int]]:
    """Registers that instructions use, and that the kernel declares, by file: VGPRs, AGPRs."""
    metadata = recorded.kernel.info.metadata
    highest = {"v": 0, "a": 0}
    for instruction in recorded.kernel.instructions:
        for part in instruction.halves or (instruction,):
            for operand in (*part.src, *part.dst):
                if operand.kind in highest:
                    highest[operand.kind] = max(highest[operand.kind], operand.index + operand.count)
    declared = {"v": metadata.vgpr_count or 0, "a": metadata.agpr_count or 0}
    if recorded.kernel.arch.unified_vgprs and declared["a"]:
        declared["v"] -= declared["a"]  # the metadata counts both
    names = {"v": "VGPRs", "a": "AGPRs"}
    return {names[kind]: (highest[kind], declared[kind]) for kind in names if highest[kind] or declared[kind]}


@dataclass(frozen=True)
class Change:
    """What a change would gain at most: the timeline without what it removes."""

    what: str
    clocks: float
    """Of a turn of the main loop, or of everything, after it."""
    gain: float
    """Part of the clocks that is gone."""
    lines: tuple[str, ...]
    """Where."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {"what": self.what, "clocks": self.clocks, "gain": self.gain, "lines": list(self.lines)}


def changes_of(recorded: Recorded, line: Timeline) -> list[Change]:
    """What to change first: each as if it were free, the largest gain first; nothing below one percent.

    Args:
        recorded: what one unit executed.
        line: its timeline, which says what is worth trying.
    """
    trace, head = recorded.trace, recorded.head
    before, all_waves = line.turn(head), line.clocks * max(1, len(line.lanes))
    stood = {reason: clocks / all_waves for reason, clocks in line.standing().items()}
    counted = sum(share for reason, share in stood.items() if "cnt" in reason)
    vector = bound_of(trace, head).shares["VALU"]
    extra = any(access.extra for access in trace.accesses)
    found = []
    for what, worth, changed, lines in (
        ("no bank conflicts", extra, _without_conflicts, _lines(trace, lambda access: access.extra)),
        (
            "LDS accesses that take no clocks",
            counted > LITTLE,
            partial(_without, lds=0.0, port=0.0),
            _lines(trace, lambda access: access.lds),
        ),
        (
            "memory accesses that take no clocks",
            counted > LITTLE,
            partial(_without, lines=(), own_lines=0, lanes=0, bytes=0, fill=0.0),
            _lines(trace, lambda access: access.lanes),
        ),
        (
            "results of the LDS and of memory at once",
            counted > LITTLE,
            _at_once,
            _lines(trace, lambda access: access.lds + access.lanes),
        ),
        ("no barriers", stood.get("barrier", 0.0) > LITTLE, _without_barriers, _barriers(trace)),
        ("no vector instructions but those of matrices", vector > MUCH, _without_vectors, _vectors(trace)),
    ):
        if worth and lines:
            after = timeline(changed(trace), line.end).turn(head)
            gain = (before - after) / before if before else 0.0
            if gain >= LITTLE:
                found.append(Change(what, after, gain, tuple(lines[:4])))
    return sorted(found, key=lambda change: -change.gain)


def _without(trace: Trace, **fields: Any) -> Trace:
    return replace(trace, accesses=[replace(access, **fields) for access in trace.accesses])


def _without_conflicts(trace: Trace) -> Trace:
    return replace(trace, accesses=[replace(a, lds=max(0.0, a.lds - a.extra), extra=0) for a in trace.accesses])


def _at_once(trace: Trace) -> Trace:
    rates = trace.arch.rates
    names = ("lds latency", "l1 latency", "l2 latency", "miss latency", "scalar load")
    rows = tuple(replace(r, value=1.0, low=None, high=None) if r.name in names else r for r in rates.rows)
    return replace(trace, arch=replace(trace.arch, rates=replace(rates, rows=rows)))


def _without_barriers(trace: Trace) -> Trace:
    return replace(trace, operations=[replace(op, signals=False, awaits=False) for op in trace.operations])


def _without_vectors(trace: Trace) -> Trace:
    def changed(op: Operation) -> Operation:
        if op.slot != "VALU" or op.matrix:
            return op
        return replace(op, slot="internal", free=True, needs=(("issue", 0.0),), trans=False)

    return replace(trace, operations=[changed(op) for op in trace.operations])


def _lines(trace: Trace, of: Callable[[Access], float]) -> list[str]:
    """Source lines by how much of something their accesses have."""
    sums: dict[str, float] = {}
    for wave in trace.waves:
        for code, which in zip(wave.operations, wave.accesses, strict=True):
            if which != NOTHING and (amount := of(trace.accesses[which])):
                op = trace.operations[code]
                sums[op.source or hex(op.pc)] = sums.get(op.source or hex(op.pc), 0.0) + amount
    return sorted(sums, key=lambda line: (-sums[line], line))


def _barriers(trace: Trace) -> list[str]:
    return list(dict.fromkeys(op.source or hex(op.pc) for op in trace.operations if op.awaits))


def _vectors(trace: Trace) -> list[str]:
    chosen = [op for op in trace.operations if op.slot == "VALU" and not op.matrix]
    return list(dict.fromkeys(op.source or hex(op.pc) for op in chosen))
