"""A recorded kernel beside a capture of a real GPU: instruction by instruction, line by line, counter by counter."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mfmasim.cost.bound import turns_of
from mfmasim.cost.replay import align, gaps
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.cost.capture import Capture, CapturedWave
    from mfmasim.cost.replay import Gap
    from mfmasim.cost.resident import Recorded
    from mfmasim.cost.timeline import Timeline

Table = tuple[str, tuple[str, ...], list[list[Any]]]
CLOCKS_OF_THE_GPU = "clocks of the whole GPU: not simulated"
LEFT = {
    "SQ_BUSY_CYCLES": CLOCKS_OF_THE_GPU, "GRBM_GUI_ACTIVE": CLOCKS_OF_THE_GPU, "GRBM_COUNT": CLOCKS_OF_THE_GPU,
    "TCC_HIT": "depends on what the L2 held before", "TCC_MISS": "depends on what the L2 held before",
    "GL2C_HIT": "depends on what the L2 held before", "GL2C_MISS": "depends on what the L2 held before",
}  # fmt: skip
"""Why a captured counter is not compared."""
AS_A_WHOLE = 1.4
"""From this factor on a capture is off as a whole: the median gap is an issue, whose clocks hardly vary."""
SHORT = 16
"""Clocks of a gap at most that is an issue or an ALU's, which no queue of the memory lengthens."""


@dataclass(frozen=True)
class Aligned:
    """A captured wave, and the simulated wave whose trace it follows."""

    number: int
    """Of the simulated wave."""
    clocks: dict[int, float]
    """Captured, by place in its trace."""
    gaps: list[Gap]
    steady: int
    """Place from which on the main loop is in its second turn or later; past the end without a loop."""

    @property
    def total(self) -> float:
        """Clocks from the first instruction to the last."""
        return max(self.clocks.values()) - min(self.clocks.values())


@dataclass
class Compared:
    """Capture and model."""

    recorded: Recorded
    capture: Capture
    waves: list[Aligned]
    drawn: Mapping[str, Timeline]
    """Timelines by end of the latencies' ranges."""
    counters: dict[str, int] = field(default_factory=dict)
    """Simulated."""
    cold: bool = True
    given: float = 0
    """Resolution to use in place of the capture's."""

    @cached_property
    def gaps(self) -> list[Gap]:
        """Of all captured waves."""
        return [gap for wave in self.waves for gap in wave.gaps]

    @cached_property
    def steady(self) -> list[Gap]:
        """Those of the main loop from its second turn on."""
        return [gap for wave in self.waves for gap in wave.gaps if gap.place >= wave.steady]

    @property
    def resolution(self) -> float:
        """Clocks that all captured ones are multiples of, at most the clocks between two issues."""
        return min(self.capture.resolution, self.recorded.trace.arch.rates["issue"].value)

    @cached_property
    def doubled(self) -> Compared:
        """The same for a capture of twice the clocks: how many of its gaps are inside says how much the ranges say."""
        return compare(self.recorded, self.capture.times(2), self.drawn, cold=self.cold, resolution=self.resolution)

    @cached_property
    def factor(self) -> float | None:
        """Median of captured clocks by those of the rows, if possible of gaps that no queue of the memory lengthens.

        A capture whose clocks are too few asks the memory for more than it serves, so that queues grow in the rows.
        """
        ratios = [gap.captured / gap.value for gap in self.gaps if gap.value]
        short = [gap.captured / gap.value for gap in self.gaps if 0 < gap.value <= SHORT]
        return statistics.median(short or ratios) if ratios else None

    def inside(self, gaps_: list[Gap]) -> float | None:
        """Part of some gaps that is in its range."""
        return sum(gap.inside(self.slack) for gap in gaps_) / len(gaps_) if gaps_ else None

    @property
    def slack(self) -> float:
        """What `resolution` is taken for; of a doubled capture that of the original."""
        return self.given or self.resolution

    @staticmethod
    def error(gaps_: list[Gap]) -> float | None:
        """Median of the relative error of the row's value; gaps of no clock are left out."""
        return statistics.median(errors) if (errors := _errors(gaps_)) else None

    @cached_property
    def span(self) -> tuple[float, float] | None:
        """Clocks from first to last instruction of the simulated waves that execute what was captured, at any end."""
        traces = self.recorded.trace.waves
        paths = {traces[wave.number].operations.tobytes() for wave in self.waves}
        numbers = {number for number, trace in enumerate(traces) if trace.operations.tobytes() in paths}
        spans = [
            lane.issued[-1] - lane.issued[0]
            for line in self.drawn.values()
            for lane in line.lanes
            if lane.wave in numbers and lane.issued
        ]
        return (min(spans), max(spans)) if spans else None

    def counted(self) -> list[list[Any]]:
        """Captured counters: name, captured, simulated, whether they are equal or why they are not compared."""
        rows = []
        for name, captured in self.capture.counters.items():
            names = (name, f"{name}_sum", name.removesuffix("_sum"))
            found = next((self.counters[one] for one in names if one in self.counters), None)
            if found is None:
                rows.append([name, captured, None, LEFT.get(name.removesuffix("_sum"), "not simulated")])
            else:
                rows.append([name, captured, found, "equal" if found == captured else "DIFFERS"])
        return rows

    def by_instruction(self) -> list[list[Any]]:
        """Captured instructions in the order of execution, from all waves.

        Of each: address, text, source, how often it was captured, its clocks (least, median, most), its range (low,
        median of the rows' values, high), how often it is inside.
        """
        trace, rows = self.recorded.trace, []
        groups: dict[int, list[Gap]] = {}
        for wave in self.waves:
            codes = trace.waves[wave.number].operations
            for gap in wave.gaps:
                groups.setdefault(codes[gap.place], []).append(gap)
        for code, found in groups.items():
            op = trace.operations[code]
            clocks = sorted(gap.captured for gap in found)
            rows.append(
                [
                    op.pc,
                    op.text,
                    op.source,
                    len(found),
                    clocks[0],
                    statistics.median(clocks),
                    clocks[-1],
                    min(gap.low for gap in found),
                    statistics.median(gap.value for gap in found),
                    max(gap.high for gap in found),
                    sum(gap.inside(self.slack) for gap in found),
                ]
            )
        return rows

    def by_line(self) -> list[list[Any]]:
        """Of each source line: clocks of all captured waves, clocks of the rows' values, range, gaps, those inside."""
        lines: dict[str, list[float]] = {}
        for wave in self.waves:
            codes = self.recorded.trace.waves[wave.number].operations
            for gap in wave.gaps:
                op = self.recorded.trace.operations[codes[gap.place]]
                sums = lines.setdefault(op.source or hex(op.pc), [0.0] * 6)
                inside = gap.inside(self.slack)
                for k, more in enumerate((gap.captured, gap.value, gap.low, gap.high, 1, inside)):
                    sums[k] += more
        return [[name, *sums] for name, sums in sorted(lines.items(), key=lambda item: -item[1][0])]

    def by_total(self) -> list[list[Any]]:
        """Instructions whose clocks were captured in sum.

        Of each: address, text, source, times, their mean, and the timeline's at the low end, of the rows, at the high
        end.
        """
        trace = self.recorded.trace
        means = {end: _means(line) for end, line in self.drawn.items()}
        totals = self.capture.totals
        known = {op.pc for op in trace.operations}
        offset = 0 if known & totals.keys() or not totals else min(known) - min(totals)
        rows = []
        for op in sorted(trace.operations, key=lambda op: op.pc):
            found = totals.get(op.pc - offset)
            if found is not None and found[0]:
                ends = [means[end][op.number] for end in ("low", "value", "high")]
                rows.append([op.pc, op.text, op.source, found[0], found[1] / found[0], *ends])
        return rows

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        names = (
            "pc",
            "text",
            "source",
            "count",
            "captured_low",
            "captured",
            "captured_high",
            "low",
            "value",
            "high",
            "inside",
        )
        means = ("pc", "text", "source", "count", "captured", "low", "value", "high")
        return {
            "capture": self.capture.name,
            "cold": self.cold,
            "waves": len(self.waves),
            "gaps": len(self.gaps),
            "inside": self.inside(self.gaps),
            "inside_doubled": self.doubled.inside(self.doubled.gaps) if self.gaps else None,
            "median_width": width_of(self.gaps) if self.gaps else None,
            "factor": self.factor,
            "median_error": self.error(self.gaps),
            "steady": {
                "gaps": len(self.steady),
                "inside": self.inside(self.steady),
                "inside_doubled": self.doubled.inside(self.doubled.steady) if self.gaps else None,
                "median_error": self.error(self.steady),
            },
            "clocks": {"captured": [wave.total for wave in self.waves], "model": self.span},
            "counters": [
                dict(zip(("name", "captured", "simulated", "verdict"), row, strict=True)) for row in self.counted()
            ],
            "instructions": [dict(zip(names, row, strict=True)) for row in self.by_instruction()],
            "totals": [dict(zip(means, row, strict=True)) for row in self.by_total()],
        }

    def tables(self) -> list[Table]:
        """As tables for the terminal."""
        tables: list[Table] = []
        if self.capture.counters:
            rows = [[name, f"{a:,.0f}", "" if b is None else f"{b:,}", said] for name, a, b, said in self.counted()]
            tables.append(("Counters beside the capture", ("counter", "captured", "simulated", ""), rows))
        if self.gaps:
            rows = [
                [
                    text,
                    source,
                    n,
                    f"{a:,.0f} / {b:,.0f} / {c:,.0f}",
                    f"{low:,.0f} / {value:,.0f} / {high:,.0f}",
                    f"{inside}/{n}",
                ]
                for _, text, source, n, a, b, c, low, value, high, inside in self.by_instruction()
            ]
            columns = ("instruction", "source", "times", "captured: least, median, most", "low, rows, high", "inside")
            tables.append(("Clocks from the instruction before", columns, rows))
            if any(op.source for op in self.recorded.trace.operations):
                rows = [
                    [name, f"{a:,.0f}", f"{b:,.0f}", f"{low:,.0f} to {high:,.0f}", f"{inside:.0f}/{n:.0f}"]
                    for name, a, b, low, high, n, inside in self.by_line()
                ]
                tables.append(("By line", ("source", "captured clocks", "rows", "range", "inside"), rows))
        if rows := self.by_total():
            shown = [
                [text, source, n, f"{mean:,.1f}", f"{low:,.1f} / {value:,.1f} / {high:,.1f}"]
                for _, text, source, n, mean, low, value, high in rows
            ]
            tables.append(
                (
                    "Mean clocks of each instruction",
                    ("instruction", "source", "times", "captured", "low, rows, high"),
                    shown,
                )
            )
        return tables

    def lines(self) -> list[str]:
        """What is said in words."""
        said = []
        rows = self.counted()
        if rows:
            compared = [row for row in rows if row[2] is not None]
            said.append(f"counters: {sum(row[3] == 'equal' for row in compared)} of {len(compared)} equal")
        for name, which in (("gaps", "gaps"), ("gaps of the main loop from its second iteration on", "steady")):
            found: list[Gap] = getattr(self, which)
            if found:
                twice = self.doubled.inside(getattr(self.doubled, which)) or 0.0
                said.append(
                    f"{name}: {self.inside(found):.1%} of {len(found):,} inside their range; of the same clocks "
                    f"doubled {twice:.1%} (median width {width_of(found):,.0f} clocks), median error "
                    f"{self.error(found) or 0:.1%}"
                )
        if self.factor is not None and not 1 / AS_A_WHOLE < self.factor < AS_A_WHOLE:
            slower = f"{self.factor:.2g} times as slow" if self.factor > 1 else f"{1 / self.factor:.2g} times as fast"
            said.append(
                f"the capture as a whole is {slower} as the rows (median of {len(self.gaps):,} gaps): clocks of "
                "another unit, a trace that was scaled, or rows that are wrong"
            )
        if means := self.by_total():
            clocks = sum(row[3] * row[4] for row in means)
            errors = [abs(row[6] - row[4]) / row[4] for row in means if row[4]]
            said.append(
                f"means: {len(means):,} instructions, {clocks:,.0f} clocks captured, median error of the timeline's "
                f"mean {statistics.median(errors) if errors else 0:.1%}"
            )
        if self.waves and self.span is not None:
            totals = [wave.total for wave in self.waves]
            start = "cold" if self.cold else "warm"
            said.append(
                f"whole waves: {min(totals):,.0f} to {max(totals):,.0f} clocks captured, {self.span[0]:,.0f} to "
                f"{self.span[1]:,.0f} in the timeline ({start} start)"
            )
        return said


def _means(line: Timeline) -> dict[int, float]:
    """Mean clocks of each operation from the one before, by number."""
    period = line.trace.arch.rates["issue"].value
    sums: dict[int, tuple[int, float]] = {}
    for lane, wave in zip(line.lanes, line.trace.waves, strict=True):
        for number, stood in zip(wave.operations, lane.stood, strict=True):
            times, clocks = sums.get(number, (0, 0.0))
            sums[number] = times + 1, clocks + stood + period
    return {number: clocks / times for number, (times, clocks) in sums.items()}


def width_of(gaps_: list[Gap]) -> float:
    """Median width of some ranges, in clocks."""
    return statistics.median(gap.high - gap.low for gap in gaps_)


def _errors(gaps_: list[Gap]) -> list[float]:
    return [abs(gap.value - gap.captured) / gap.captured for gap in gaps_ if gap.captured]


def compare(
    recorded: Recorded,
    capture: Capture,
    drawn: Mapping[str, Timeline],
    counters: dict[str, int] | None = None,
    *,
    cold: bool = True,
    resolution: float = 0,
) -> Compared:
    """Set a capture beside what was recorded.

    Args:
        recorded: what one unit executed.
        capture: of the same launch.
        drawn: timelines of it by end of the ranges.
        counters: simulated, of the whole launch; None for none.
        cold: no cache has anything.
        resolution: clocks that all captured ones are multiples of; 0 takes those of the capture.

    Raises:
        MfmasimError: the capture is of another architecture or kernel, or of other instructions.
    """
    kernel = recorded.kernel
    names = (("architecture", kernel.arch.name, capture.arch), ("kernel", kernel.name, capture.kernel))
    for what, ours, theirs in names:
        if theirs and theirs != ours:
            raise MfmasimError(f"{capture.name}: captured of the {what} {theirs}, not {ours}")
    waves = [_aligned(recorded, capture, number, wave, cold=cold) for number, wave in enumerate(capture.waves)]
    return Compared(recorded, capture, [wave for wave in waves if wave.gaps], drawn, counters or {}, cold, resolution)


def _aligned(recorded: Recorded, capture: Capture, which: int, wave: CapturedWave, *, cold: bool) -> Aligned:
    """Find the simulated wave that executes what was captured."""
    trace = recorded.trace
    known = {op.pc for op in trace.operations}
    events = list(wave.events)
    if events and isinstance(events[0][1], int) and events[0][1] not in known:
        offset = min(known) - min(what for _, what in events if isinstance(what, int))
        events = [(clock, what + offset if isinstance(what, int) else what) for clock, what in events]
    best: list[int] = []
    number = 0
    seen: set[bytes] = set()
    for candidate, each in enumerate(trace.waves):
        path = each.operations.tobytes()
        if path in seen:
            continue
        seen.add(path)
        places = align(trace.operations, each.operations, events)
        if len(places) > len(best) or not candidate:
            best, number = places, candidate
    if len(best) < len(events):
        clock, what = events[len(best)]
        shown = f"{what:#x}" if isinstance(what, int) else what
        raise MfmasimError(
            f"{capture.name}: wave {which} executes {shown} at clock {clock:,.0f}, which no simulated wave does after "
            f"{len(best):,} equal instructions: another kernel, launch or path?"
        )
    clocks = dict(zip(best, (clock for clock, _ in events), strict=True))
    starts = turns_of(trace, trace.waves[number], recorded.head) if recorded.head is not None else []
    steady = starts[1] + 1 if len(starts) > 2 else len(trace.waves[number].operations)
    return Aligned(number, clocks, gaps(trace, number, clocks, cold=cold), steady)
