"""Phase tables from measured times: lanes that share a phase, the number of banks, and equal known rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.architectures import ARCHITECTURES
from mfmasim.lds import LANE_SETS, PhaseTable, lane_sets, phase_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from mfmasim.lab.calibration.phase_probes import Timed

BANKS = (8, 16, 32, 64, 128, 256)
"""Numbers of banks that are tried."""
LOW = 0.25
"""Additional ticks up to this share of the level are no conflict; from ``1 - LOW`` on they are a conflict."""
HIGH = 0.99
"""Quantile of the pairs that is used: a few of a thousand pairs are always disturbed."""


@dataclass
class PhaseFit:
    """Phases and banks found from the times of one LDS instruction.

    Attributes:
        timed: the times.
        phases: lanes of each phase, by their first lane; None if the times do not decide.
        banks: number of banks; None if the times do not decide.
        cost: ticks per access of two lanes in one bank.
        scatter: difference of the repetitions of one pattern, in ticks per access.
        undecided: why an attribute is None, in words.
    """

    timed: Timed
    phases: tuple[tuple[int, ...], ...] | None = None
    banks: int | None = None
    cost: float = 0.0
    scatter: float = 0.0
    undecided: list[str] = field(default_factory=list)

    @property
    def row(self) -> PhaseTable:
        """The current row of the phase tables."""
        return phase_tables(self.timed.arch)[self.timed.probe.row]

    @property
    def decided(self) -> bool:
        """Whether phases and banks are decided."""
        return self.phases is not None and self.banks is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of lane sets that are these phases in such a wave."""
        found = _alike(self.phases or ())
        return tuple(name for name in LANE_SETS if _alike(lane_sets(name, self.timed.wave)) == found)

    @property
    def lanes(self) -> str | tuple[tuple[int, ...], ...]:
        """The phases by name, the current row's if it matches, or as lane sets."""
        return next((name for name in (self.row.lanes, *self.names) if name in self.names), self.phases or ())

    def table(self) -> PhaseTable:
        """The phases as `mfmasim.lds.conflicts` takes them."""
        return PhaseTable(
            self.lanes,
            self.banks or 0,
            "unknown",
            f"calibrate: {self.timed.where}",
            "not reviewed",
            wave=self.timed.wave,
        )

    def is_table(self, table: PhaseTable) -> bool:
        """Whether a row has these phases and banks."""
        if isinstance(table.lanes, tuple) and sum(map(len, table.lanes)) != self.timed.wave:
            return False
        return self.decided and table.banks == self.banks and _alike(table.sets(self.timed.wave)) == _alike(self.phases)

    @property
    def fits(self) -> bool:
        """Whether the current row equals the result."""
        return self.is_table(self.row)

    @property
    def sure(self) -> bool:
        """Whether the current row has a document or a measurement behind it, and no source contradicts it."""
        return self.row.confidence in ("vendor", "measured") and not self.row.alternatives

    @property
    def alternative(self) -> PhaseTable | None:
        """The contradicting source, if it states the result."""
        return next((table for table in self.row.alternatives if self.is_table(table)), None)

    def known(self) -> list[str]:
        """Equal rows of all architectures: those with their own source first, of these those of the same access."""
        own = self.timed.probe.row
        found = [
            ((table.confidence not in ("vendor", "measured"), access != own), f"{arch} {access} ({table.confidence})")
            for arch in ARCHITECTURES
            for access, table in phase_tables(arch).items()
            if (arch, access) != (self.timed.arch, own) and self.is_table(table)
        ]
        return [text for _, text in sorted(found, key=lambda item: item[0])]

    def lines(self) -> list[str]:
        """The row in the form of `Lds.phases`, after lane sets that have no name yet; to paste and review.

        Empty if the current row is equal, by a document or a measurement.
        """
        if not self.decided or (self.fits and self.sure):
            return []
        made, name = [], self.lanes
        if not isinstance(name, str):
            name = "NEW"
            shown = "".join(f"\n        {part}," for part in _period(self.phases or (), self.timed.wave))
            made = [f'"{name}": ({shown}\n    ),']
        trust = "simulated, no evidence" if self.timed.simulated else "not reviewed"
        said = f"calibrate: {self.timed.where}; {trust}"
        row = (self.timed.probe.row, name, self.banks, "unknown", said, "")
        return [*made, f"({', '.join(map(_quoted, row))}),"]


def _quoted(value: object) -> str:
    return '"' + value.replace('"', "'") + '"' if isinstance(value, str) else repr(value)


def _alike(sets: Iterable[Iterable[int]] | None) -> frozenset[frozenset[int]]:
    """Phases in any order."""
    return frozenset(frozenset(part) for part in sets or ())


def _period(phases: tuple[tuple[int, ...], ...], wave: int) -> tuple[tuple[int, ...], ...]:
    """The phases of the first lanes, which the other lanes repeat, in the form of `mfmasim.lds.LANE_SETS`."""
    for lanes in (8, 16, 32):
        first = tuple(part for part in phases if max(part) < lanes)
        again = (tuple(lane + start for lane in part) for start in range(0, wave, lanes) for part in first)
        if _alike(again) == _alike(phases):
            return first
    return phases


def fit_phases(timed: Timed) -> PhaseFit:
    """Find phases and banks.

    Two lanes conflict where an access takes longer with both in one bank than with each in its own. The additional
    ticks must form two clusters, around zero and around one level, with each pair of lanes in one of them; and lanes
    that conflict must form sets. Otherwise phases are undecided, and `PhaseFit.undecided` has the reason.
    """
    result = PhaseFit(timed)
    best = timed.pairs.min(axis=0)
    more = best[1] - best[0]
    scatter = 0.0
    if len(timed.pairs) > 1:
        halves = [timed.pairs[start::2, 0].min(axis=0) for start in (0, 1)]
        scatter = float(np.quantile(np.abs(halves[0] - halves[1]), HIGH))
    highest = float(np.quantile(more, HIGH))
    level = float(np.median(more[more > highest / 2])) if highest > 0 else 0.0
    result.cost, result.scatter = level / timed.accesses, scatter / timed.accesses
    if level <= max(2 * scatter, timed.accesses / 16):
        result.undecided.append(
            "no two lanes take longer in one bank: phases of one lane each, or a clock that does not show it"
            + ("; try --crowded" if timed.probe.reads else "")
            if scatter <= timed.accesses / 16
            else f"the clock scatters by {scatter:,.0f} ticks, two lanes in one bank cost {level:,.0f}"
        )
        return result
    _find_phases(result, more / level)
    _find_banks(result, level)
    return result


def doubtful(pairs: NDArray[np.int64]) -> NDArray[np.intp]:
    """Pairs of lanes whose repetitions contradict each other, or lie between conflict and none: measure them again.

    Args:
        pairs: ticks, (repetitions, 2, pairs), as `Timed.pairs`.
    """
    halves = [pairs[start::2].min(axis=0) for start in (0, 1)] if len(pairs) > 1 else [pairs.min(axis=0)]
    more = np.stack([half[1] - half[0] for half in halves]).astype(float)
    highest = float(np.quantile(more, HIGH))
    if highest <= 0:
        return np.zeros(0, np.intp)
    share = more / float(np.median(more[more > highest / 2]))
    between = (share > LOW) & (share < 1 - LOW)
    return np.flatnonzero(between.any(axis=0) | ((share >= 0.5) != (share[0] >= 0.5)).any(axis=0))


def _find_phases(result: PhaseFit, share: NDArray[np.float64]) -> None:
    """Phases from the additional ticks of every pair, as shares of the level."""
    wave = result.timed.wave
    lanes = list(combinations(range(wave), 2))
    between = [lanes[n] for n in np.flatnonzero((share > LOW) & (share < 1 - LOW))]
    if between:
        result.undecided.append(f"phases: {len(between)} pairs conflict only in part, such as lanes {_both(between)}")
        return
    conflict = np.eye(wave, dtype=bool)
    for (first, second), met in zip(lanes, share >= 1 - LOW, strict=True):
        conflict[first, second] = conflict[second, first] = met
    wrong = [(i, j) for i, j in lanes if conflict[i, j] != bool((conflict[i] == conflict[j]).all())]
    if wrong:
        result.undecided.append(
            f"phases: no sets of lanes: {len(wrong)} pairs conflict with different lanes, such as {_both(wrong)}"
        )
        return
    found = {tuple(np.flatnonzero(row).tolist()) for row in conflict}
    result.phases = tuple(sorted(found))


def _both(pairs: list[tuple[int, int]]) -> str:
    return f"{pairs[0][0]} and {pairs[0][1]}"


def _find_banks(result: PhaseFit, level: float) -> None:
    """Banks from the distances at which two lanes conflict."""
    timed = result.timed
    best = timed.sweep.min(axis=0)
    more = (best - best.min(axis=1, keepdims=True)) / level
    dwords, width = np.arange(1, best.shape[1] + 1) * (timed.probe.unit // 4), timed.probe.dwords
    fitting = {
        banks
        for banks in BANKS
        if (((dwords % banks < width) | (dwords % banks > banks - width)) == (more > 0.5)).all()
    }
    if len(fitting) == 1:
        result.banks = fitting.pop()
        return
    met = [dwords[row > 0.5].tolist() for row in more]
    shown = "; ".join(f"{', '.join(map(str, some[:6]))}{', ...' if len(some) > 6 else ''}" or "none" for some in met)
    result.undecided.append(f"banks: lanes conflict at distances of {shown} dwords, which no number of banks explains")
