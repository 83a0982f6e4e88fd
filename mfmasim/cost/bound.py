"""Lower bounds: the cycles that each pipe must spend on what was executed, whatever the order and the latencies.

Each instruction occupies its pipes for at least the cycles that the rates say, and a pipe does one thing at a time, so
that the sum over all resident waves that share a pipe is a lower bound of the time. From the L2 each line is fetched
once, as by an L1 that is large enough. The largest sum is the bound; nothing says that it is reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mfmasim.architectures import Arch
from mfmasim.architectures.rates import Rate
from mfmasim.cost.operation import PIPES, SCOPES
from mfmasim.cost.trace import NOTHING, Trace, WaveTrace

RATES_OF = {
    "issue": ("issue",),
    "matrix": (),
    "VALU": ("valu", "transcendental", "f64", "b64", "multiply"),
    "transcendental": ("transcendental",),
    "scalar": ("issue",),
    "branch": ("issue",),
    "LDS": ("lds",),
    "LDS port": ("lds port",),
    "LDS fill": ("lds fill",),
    "memory": ("addresses", "lines", "l1"),
    "L2": ("l2",),
}
"""The rates that the cycles of a pipe rest on; those of matrix instructions are in the rows of `mfmasim.matrix`, the
passes of LDS accesses in the phase tables of `mfmasim.lds`."""

Span = tuple[int, int]
"""First instruction of a wave's trace, and one past the last."""


@dataclass(frozen=True)
class Bound:
    """What the resident waves of one unit must spend on a part of their traces."""

    arch: Arch
    cycles: Mapping[str, float]
    """By pipe, the busiest instance of it, for one turn."""
    turns: int
    """Turns of the main loop that were counted, of one wave; 1 for a whole kernel."""
    looped: bool
    """Whether it is about turns of the main loop."""
    waves: int
    """Resident waves."""
    flops: int
    """Operations of matrix instructions in a turn, all waves."""
    bytes: int
    """Bytes that loads and stores of global memory request in a turn, all lanes."""
    fetched: int
    """Bytes of lines that are touched for the first time in a turn."""

    @property
    def pipe(self) -> str:
        """The pipe that bounds."""
        return max(self.cycles, key=lambda name: self.cycles[name])

    @property
    def total(self) -> float:
        """Cycles of a turn, at least."""
        return self.cycles[self.pipe]

    @property
    def shares(self) -> dict[str, float]:
        """Part of the bound that each pipe fills."""
        return {pipe: cycles / self.total if self.total else 0.0 for pipe, cycles in self.cycles.items()}

    @property
    def intensity(self) -> float | None:
        """Matrix operations per byte that has to come from the L2."""
        return self.flops / self.fetched if self.fetched else None

    def rates(self) -> list[Rate]:
        """The rates of the pipes that are used."""
        used = [pipe for pipe, cycles in self.cycles.items() if cycles]
        names = dict.fromkeys(name for pipe in used for name in RATES_OF[pipe])
        if "transcendental" not in used:
            names.pop("transcendental", None)
        return [self.arch.rates[name] for name in names]

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        shares = self.shares
        return {
            "pipe": self.pipe,
            "cycles": self.total,
            "turns": self.turns,
            "per": "turn" if self.looped else "kernel",
            "waves": self.waves,
            "flops": self.flops,
            "bytes": self.bytes,
            "fetched": self.fetched,
            "intensity": self.intensity,
            "pipes": {p: {"cycles": c, "share": shares[p], "of": SCOPES[p]} for p, c in self.cycles.items()},
        }


def turns_of(trace: Trace, wave: WaveTrace, head: int | None) -> list[int]:
    """Places in a wave's trace where a turn of the main loop begins.

    Args:
        trace: what was executed.
        wave: one of its waves.
        head: address of the main loop's first instruction.
    """
    numbers = {op.number for op in trace.operations if op.pc == head}
    return [place for place, number in enumerate(wave.operations) if number in numbers]


def spans_of(trace: Trace, head: int | None) -> tuple[list[Span], int]:
    """The whole turns of each wave's trace, and how many they are on average; with fewer than two, everything.

    Args:
        trace: what was executed.
        head: address of the main loop's first instruction; None takes everything.
    """
    starts = [turns_of(trace, wave, head) if head is not None else [] for wave in trace.waves]
    turns = min((len(places) for places in starts), default=0) - 1
    if turns < 1:
        return [(0, len(wave.operations)) for wave in trace.waves], 0
    return [(places[0], places[turns]) for places in starts], turns


def place_of(trace: Trace, number: int) -> dict[str, int]:
    """Which instance of each scope a wave belongs to.

    Args:
        trace: what was executed.
        number: of the wave.
    """
    simd = trace.simd_of(number)
    return {"wave": number, "simd": simd, "pair": simd // 2, "group": trace.group_of(number)}


def bound_of(trace: Trace, head: int | None = None) -> Bound:
    """Bound the turns of the main loop, or a whole kernel.

    Args:
        trace: what the resident workgroups of one unit executed.
        head: address of the main loop's first instruction; None bounds the whole trace.
    """
    spans, turns = spans_of(trace, head)
    busy: dict[tuple[str, int], float] = {}
    flops = requested = 0
    lines: dict[int, set[int]] = {}
    before: dict[int, set[int]] = {}
    for number, (wave, (first, last)) in enumerate(zip(trace.waves, spans, strict=True)):
        place = place_of(trace, number)
        sums: dict[str, float] = {}
        for pipe, cycles in _needs(trace, wave, first, last):
            sums[pipe] = sums.get(pipe, 0.0) + cycles
        for pipe, cycles in sums.items():
            key = pipe, place[SCOPES[pipe]]
            busy[key] = busy.get(key, 0.0) + cycles
        flops += sum(trace.operations[k].flops for k in wave.operations[first:last])
        here, early = lines.setdefault(place["group"], set()), before.setdefault(place["group"], set())
        for access in wave.accesses[first:last]:
            if access != NOTHING:
                here.update(trace.accesses[access].lines)
                requested += trace.accesses[access].bytes
        for access in (*wave.accesses[:first], *wave.accesses[last:]):
            if access != NOTHING:
                early.update(trace.accesses[access].lines)
    rates = trace.arch.rates
    fetched = 0
    for group, found in lines.items():
        # A line that is also touched outside the turns may have been fetched there.
        size = len(found - before[group]) * rates.line_bytes
        busy["L2", group] = size / rates["l2"].value
        fetched += size
    divided = max(1, turns)
    most = {pipe: max((c for (p, _), c in busy.items() if p == pipe), default=0.0) / divided for pipe in PIPES}
    return Bound(
        trace.arch,
        most,
        divided,
        turns > 0,
        len(trace.waves),
        flops // divided,
        requested // divided,
        fetched // divided,
    )


def _needs(trace: Trace, wave: WaveTrace, first: int, last: int) -> Iterator[tuple[str, float]]:
    """Pipes and cycles of a part of a wave's trace."""
    counts: dict[int, int] = {}
    for number in wave.operations[first:last]:
        counts[number] = counts.get(number, 0) + 1
    for number, times in counts.items():
        for pipe, cycles in trace.operations[number].needs:
            yield pipe, cycles * times
    for number in wave.accesses[first:last]:
        if number != NOTHING:
            access = trace.accesses[number]
            yield "LDS", access.lds
            yield "LDS port", access.port
            yield "LDS fill", access.fill
            yield "memory", access.memory(trace.arch.rates)
