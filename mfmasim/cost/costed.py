"""Everything about one kernel's cost: bound, rates, occupancy, roofline, timeline; as tables and as a record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mfmasim.architectures.rates import NAMES
from mfmasim.cost.against import Compared, compare
from mfmasim.cost.alternatives import alternatives
from mfmasim.cost.attribution import Change, Share, changes_of, registers_of, shares_of
from mfmasim.cost.baseline import Difference, against_baseline
from mfmasim.cost.bound import bound_of
from mfmasim.cost.estimate import estimate, timelines
from mfmasim.cost.faster import Faster, faster
from mfmasim.cost.operation import SCOPES
from mfmasim.cost.timeline import timeline
from mfmasim.errors import MfmasimError, unknown
from mfmasim.files import brief
from mfmasim.lds import ds_instruction, phase_table
from mfmasim.matrix import instruction

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.architectures.rates import Product
    from mfmasim.cost.bound import Bound
    from mfmasim.cost.capture import Capture
    from mfmasim.cost.estimate import Estimate
    from mfmasim.cost.resident import Recorded
    from mfmasim.cost.timeline import Timeline

Table = tuple[str, tuple[str, ...], list[list[Any]]]
"""Title, columns, rows."""
COLD = ("cold scalar load", "cold load", "cold code")
"""Rates that only a cold start rests on."""
LATENCIES = tuple(name for name in tuple(NAMES)[tuple(NAMES).index("l2") + 1 :] if name not in COLD)
"""Rates that only the timeline rests on."""
_CONFIDENCE = {"unknown": "assumed"}
"""Of a phase table, in the words of rates."""


@dataclass(frozen=True)
class Used:
    """A rate that a result rests on."""

    rate: str
    value: str
    meaning: str
    source: str
    confidence: str
    timeline: bool = False
    """Whether only the timeline rests on it."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {
            "rate": self.rate,
            "value": self.value,
            "meaning": self.meaning,
            "source": self.source,
            "confidence": self.confidence,
            "of": "timeline" if self.timeline else "bound",
        }


def product_of(arch: Arch, name: str | None) -> Product:
    """A product of an architecture by name; without one, the first.

    Raises:
        MfmasimError: the architecture has no such product.
    """
    known = {product.name.lower(): product for product in arch.rates.products}
    if not known:
        raise MfmasimError(f"{arch.name}: there are no rates of a product")
    if name is None:
        return arch.rates.products[0]
    if name.lower() not in known:
        raise unknown("product", name, [product.name for product in arch.rates.products], f"with {arch.name}")
    return known[name.lower()]


@dataclass
class Costed:
    """One kernel on one architecture."""

    recorded: Recorded
    product: Product
    case: str = ""
    cold: bool = False
    """The timeline starts without anything in any cache."""
    capture: Capture | None = None
    """Of a real GPU, to set beside it."""
    baseline: list[dict[str, Any]] | None = None
    """What an earlier run wrote."""

    @cached_property
    def bound(self) -> Bound:
        """Of the main loop's turns, or of the whole kernel where no loop has two turns."""
        return bound_of(self.recorded.trace, self.recorded.head)

    @cached_property
    def drawn(self) -> dict[str, Timeline]:
        """Timelines by end of the latencies' ranges."""
        return timelines(self.recorded, cold=self.cold)

    @cached_property
    def estimated(self) -> Estimate:
        """Time of the launch."""
        return estimate(self.recorded, self.bound, self.drawn, self.product)

    @property
    def arch(self) -> Arch:
        """The architecture."""
        return self.recorded.kernel.arch

    @cached_property
    def used(self) -> list[Used]:
        """Every rate that the results rest on, those of instructions included."""
        found = [_used(self.arch, name, timeline=False) for name in (row.name for row in self.bound.rates())]
        wave = self.recorded.kernel.wave
        for name in dict.fromkeys(op.name for op in self.recorded.trace.operations if op.matrix):
            cycles = next(op.matrix for op in self.recorded.trace.operations if op.name == name)
            source = instruction(self.arch, name, wave=wave).generation.source
            found.append(Used(name, f"{cycles:g}", "clocks of a matrix core", source, "vendor"))
        for name in dict.fromkeys(op.name for op in self.recorded.trace.operations if op.slot == "LDS"):
            try:
                table = phase_table(self.arch, ds_instruction(self.arch, name).name)
            except MfmasimError:  # without addresses per lane
                continue
            confidence = _CONFIDENCE.get(table.confidence, table.confidence)
            shown = f"{len(table.sets(wave))} phases, {table.banks} banks"
            found.append(Used(name, shown, "a pass for each phase and conflict", table.source, confidence))
        names = (*LATENCIES, *COLD) if self.cold else LATENCIES
        return found + [_used(self.arch, name, timeline=True) for name in names]

    @cached_property
    def shares(self) -> list[Share]:
        """Source lines that make the bound."""
        return shares_of(self.recorded.trace, self.recorded.head, self.bound.pipe)

    @cached_property
    def changes(self) -> list[Change]:
        """What to change first: what could go, and what another instruction, tile or occupancy would give."""
        line = timeline(self.recorded.trace) if self.cold else self.drawn["value"]
        found = changes_of(self.recorded, line) + alternatives(self.recorded, line, self.faster)
        return sorted(found, key=lambda change: -change.gain)

    @cached_property
    def counters(self) -> dict[str, int]:
        """Performance counters of the whole launch; empty where only one unit's workgroups were run."""
        return self.recorded.report.counters if self.recorded.report is not None else {}

    @cached_property
    def compared(self) -> Compared | None:
        """Beside the capture."""
        if self.capture is None:
            return None
        return compare(self.recorded, self.capture, self.drawn, self.counters, cold=self.cold)

    @cached_property
    def differences(self) -> list[Difference]:
        """From the earlier run."""
        return [] if self.baseline is None else against_baseline(self._record(), self.baseline, "--baseline")

    @property
    def assumed(self) -> list[str]:
        """Rates without a public source, by name."""
        return [used.rate for used in self.used if used.confidence == "assumed"]

    @cached_property
    def faster(self) -> list[Faster]:
        """Executed matrix instructions that another one of the same formats outdoes."""
        names = (op.name for op in self.recorded.trace.operations if op.matrix)
        return faster(self.arch, self.recorded.kernel.wave, names)

    @property
    def ridge(self) -> float | None:
        """Matrix operations per byte from which on the matrix cores and not memory limit this kernel's mix."""
        matrix = self.bound.cycles["matrix"]
        if not matrix:
            return None
        return (
            self.bound.flops
            / matrix
            * self.product.units
            * self.product.megahertz
            * 1e6
            / (self.product.gigabytes * 1e9)
        )

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        found = self._record()
        if self.compared is not None:
            found["against"] = self.compared.record()
        if self.baseline is not None:
            found["baseline"] = [one.record() for one in self.differences]
        return found

    def _record(self) -> dict[str, Any]:
        bound, recorded = self.bound, self.recorded
        found: dict[str, Any] = {
            "kernel": recorded.kernel.name,
            "case": self.case,
            "arch": self.arch.name,
            "product": self.product.name,
            "bound": bound.pipe,
            "cycles": bound.total,
            **{k: v for k, v in bound.record().items() if k in _KEPT},
            "pipes": [
                {"pipe": pipe, "cycles": cycles, "share": bound.shares[pipe], "of": SCOPES[pipe]}
                for pipe, cycles in bound.cycles.items()
            ],
            "rates": [used.record() for used in self.used],
            "assumed": self.assumed,
            "occupancy": recorded.occupancy.record(),
            "resident": recorded.resident,
            "ridge": self.ridge,
            "faster_instructions": [one.record() for one in self.faster],
            "timeline": {end: self._line(line) for end, line in self.drawn.items()},
            "estimate": self.estimated.record(),
            "cold": self.cold,
            "counters": self.counters,
            "bound_lines": [vars(share) for share in self.shares],
            "registers": {name: {"used": a, "declared": b} for name, (a, b) in registers_of(recorded).items()},
            "changes": [change.record() for change in self.changes],
        }
        return found

    def _line(self, line: Timeline) -> dict[str, Any]:
        return {
            "clocks": line.clocks,
            "turn": line.turn(self.recorded.head),
            "matrix_share": line.matrix_share(self.recorded.head),
            "standing": line.standing(),
            "lines": dict(list(line.by_line().items())[:10]),
            "causes": {cause: sum(waits.values()) for cause, waits in list(line.by_cause().items())[:10]},
        }

    def tables(self, *, rates: bool = False) -> list[Table]:
        """As tables for the terminal.

        Args:
            rates: with every rate that the results rest on.
        """
        bound, recorded = self.bound, self.recorded
        per = "loop iteration" if bound.looped else "kernel"
        pipes = [
            [pipe, SCOPES[pipe], f"{cycles:,.1f}", f"{bound.shares[pipe]:.0%}"]
            for pipe, cycles in sorted(bound.cycles.items(), key=lambda item: -item[1])
            if cycles
        ]
        waves = ", ".join(
            f"{count} {what}{'s' * (count != 1)}"
            for count, what in ((recorded.resident, "workgroup"), (bound.waves, "wave"))
        )
        tables: list[Table] = [
            (
                f"Bound: {bound.pipe}, {bound.total:,.0f} cycles per {per} ({waves} on four SIMDs)",
                ("pipe", "of a", "cycles, at least", "share of the bound"),
                pipes,
            )
        ]
        lines = self.drawn
        ends = [self._line(lines[end]) for end in ("low", "value", "high")]
        standing = [
            [
                reason,
                *(f"{end['standing'].get(reason, 0.0) / max(1.0, end['clocks'] * bound.waves):.1%}" for end in ends),
            ]
            for reason in ends[1]["standing"]
        ]
        tables.append(
            (
                "Timeline, with the latencies of the rows, and with both ends of their ranges",
                ("", "low", "rows", "high"),
                [
                    [f"clocks per {per}", *(f"{end['turn']:,.0f}" for end in ends)],
                    ["matrix cores busy", *(f"{end['matrix_share']:.1%}" for end in ends)],
                    ["clocks of the recorded workgroups", *(f"{end['clocks']:,.0f}" for end in ends)],
                    ["ms of the launch", *(f"{self.estimated.milliseconds[e]:.4g}" for e in ("low", "value", "high"))],
                    *[[f"waves stalled: {name}", *cells] for name, *cells in standing],
                ],
            )
        )
        where = [
            [
                brief(cause),
                f"{sum(waits.values()):,.0f}",
                ", ".join(map(brief, sorted(waits, key=lambda at: -waits[at])[:3])),
            ]
            for cause, waits in list(lines["value"].by_cause().items())[:8]
        ]
        if where:
            tables.append(("What waves stall on", ("cause", "clocks of all waves", "waits at"), where))
        first = [[c.what, f"{c.gain:.0%}", f"{c.clocks:,.0f}", ", ".join(map(brief, c.lines))] for c in self.changes]
        if first:
            columns = ("without, or with", "gain at most", f"clocks per {per}", "source")
            tables.append(("What to change first, one at a time", columns, first))
        if rates:
            shown = [[u.rate, u.value, u.confidence, u.source] for u in self.used]
            tables.append(("Rates", ("rate", "value", "confidence", "source"), shown))
        if self.differences:
            rows = [
                [one.what, f"{one.before:,.0f}", f"{one.now:,.0f}", f"{one.change:+.1%}", one.verdict]
                for one in self.differences
                if one.before != one.now
            ]
            tables.append(("Compared with the baseline", ("clocks", "before", "now", "change", ""), rows))
        return tables + (self.compared.tables() if self.compared is not None else [])

    def lines(self) -> list[str]:
        """What is said in words: occupancy, intensity, roofline, what is assumed."""
        bound, occupancy = self.bound, self.recorded.occupancy
        said = [
            self._made_by(),
            f"occupancy: {occupancy.waves_per_simd:g} waves per SIMD, limited by {', '.join(occupancy.limited_by)}",
        ]
        if bound.intensity is not None and self.ridge is not None:
            said.append(
                f"intensity: {bound.intensity:,.0f} matrix operations per byte of new lines; ridge point of "
                f"{self.product.name} {self.ridge:,.0f} (memory, {self.product.gigabytes:,.0f} GB/s)"
            )
        said += [one.line for one in self.faster]
        for name, (used, declared) in registers_of(self.recorded).items():
            granule = next(step for lanes, _, step in self.arch.simd.vgprs if lanes == self.recorded.kernel.wave)
            padded = declared > -(-used // granule) * granule
            said.append(f"{name}: {used} used, {declared} declared" + (": padded by the compiler" if padded else ""))
        sure = Counter(used.confidence for used in self.used)
        counts = ", ".join(f"{count} {name}" for name, count in sure.most_common())
        said.append(f"rates: {len(self.used)}, of them {counts} (--rates prints them)")
        said.append(f"assumed, without a public source: {', '.join(self.assumed) or 'nothing'}")
        main = self.recorded.main
        if main is not None and main.last - main.first > (cache := self.arch.rates.code_bytes):
            said.append(
                f"code: the main loop has {main.last - main.first:,} bytes, more than the {cache:,} of the instruction "
                "cache: each iteration fetches it again, which the timeline leaves out"
            )
        said.append(self._clocked())
        said.append("a bound is a lower one under these rates; the timeline is a model, its range that of latencies")
        if self.baseline is not None:
            better, worse = (sum(one.verdict == word for one in self.differences) for word in ("better", "worse"))
            said.append(f"compared with the baseline: {better} better, {worse} worse")
        return said + (self.compared.lines() if self.compared is not None else [])

    def _clocked(self) -> str:
        """Which clock the milliseconds take, in words."""
        product, clock = self.product, self.estimated.megahertz
        if not product.loaded[0]:
            return f"clock: {product.megahertz:,.0f} MHz, the peak of {product.name}; under load it is not known"
        return (
            f"clock: {clock['low']:,.0f} / {clock['value']:,.0f} / {clock['high']:,.0f} MHz (low, rows, high) of "
            f"{product.name} for this share of matrix instructions ({product.measured})"
        )

    def _made_by(self) -> str:
        """What makes the bound, in words: lines, and conflicts."""
        bound, shares = self.bound, self.shares
        conflicts = sum(share.conflicts for share in shares)
        of = f", {conflicts:,.0f} of them bank conflicts" if conflicts else ""
        most = [f"{brief(share.line)} ({share.cycles:,.0f})" for share in shares[:4]]
        more = f" and {len(shares) - 4} more" if len(shares) > 4 else ""
        per = "iteration" if bound.looped else "kernel"
        return f"bound: {bound.pipe}, {bound.total:,.0f} cycles per {per}{of}; by {', '.join(most)}{more}"


_KEPT = ("per", "turns", "waves", "flops", "bytes", "fetched", "intensity")


def _used(arch: Arch, name: str, *, timeline: bool) -> Used:
    row = arch.rates[name]
    low, value, high = row.ends
    shown = f"{value:.4g}" if low == high else f"{value:g} ({low:g} to {high:g})"
    return Used(name, shown, NAMES[name], row.source, row.confidence, timeline)
