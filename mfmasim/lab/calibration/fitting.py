"""Fitting accumulation models to a device's results: a search over the parameters of `mfmasim.matrix.models`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.lab.calibration.nan_fitting import constant, is_nan, nan_bits, origins
from mfmasim.lab.calibration.probe_data import FITTED
from mfmasim.matrix.arithmetic import multiply
from mfmasim.matrix.models import PARAMETERS, Model
from mfmasim.matrix.request import Formats, Operands

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.lab.calibration.probes import Observed

ROUNDINGS = ("floor", "truncate", "nearest_even")
FLUSHES = ("", "positive", "signed")
SPACE: dict[str, tuple[Any, ...]] = {
    "group": (1, 2, 4, 8, 16, 32, 64, 128),
    "partial_sums": (1, 2),
    "input_mantissa_bits": (7, 8, 9, 10),
    "flush_inputs": FLUSHES,
    "flush_addend": FLUSHES,
    "flush_output": FLUSHES,
    "product_overflow": (False, True),
    "product_bits": tuple(range(20, 33)),
    "product_rounding": ROUNDINGS,
    "partial_bits": tuple(range(20, 33)),
    "partial_rounding": ROUNDINGS,
    "addend_bits": tuple(range(20, 37)),
    "addend_rounding": ROUNDINGS,
    "drop_addend_below": (None, *range(20, 36)),
    "sum_bits": tuple(range(22, 37)),
    "sum_rounding": ROUNDINGS,
    "final_bits": (None, *range(22, 37)),
    "final_rounding": ROUNDINGS,
    "pair": (1, 2, 4, 8),
    "addend_lead_floor": (-1024, -149, -126, -24, -16, -15, -14, -13, -10),
}
"""Values that are tried, parameter by parameter."""
FIRST = ("input_mantissa_bits", "flush_inputs")
"""Parameters that affect every factor are determined first."""
BLOCKS = (
    ("group", "partial_sums"),
    ("flush_addend", "flush_output"),
    ("product_overflow",),
    ("product_bits", "product_rounding"),
    ("partial_bits", "partial_rounding"),
    ("addend_bits", "addend_rounding"),
    ("drop_addend_below", "addend_rounding"),
    ("sum_bits", "sum_rounding"),
    ("final_bits", "final_rounding"),
)
"""Parameters that hide each other, and are varied together."""
STUCK = (("sum_bits", "final_bits"), ("sum_bits", "addend_rounding", "sum_rounding", "final_rounding"))
"""Parameters that are varied together only if no other change improves the fit."""
STANDING_IN = (("final_bits", "sum_bits"), ("final_rounding", "sum_rounding"), ("final_rounding", "sum_bits"))
"""Pairs of parameters that can have the same effect."""
STARTS = 4
"""Pairs of group and partial sums from which the other parameters are searched."""
OTHERS = (("exact", (1, 2, 4)), ("flush_pairwise", (2, 4)))
"""Algorithms, with their groups, that are tried if a chain of fused multiply-adds does not fit."""


@dataclass
class Fit:
    """The best model for a probe."""

    observed: Observed
    model: Model
    matches: int
    elements: int
    also: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    """Parameters for which other values fit as well, with all these values: the probes do not decide them."""
    tried: int = 0

    @property
    def exact(self) -> bool:
        """Whether every element equals the device's."""
        return self.matches == self.elements

    @cached_property
    def differs(self) -> dict[str, tuple[Any, Any]]:
        """Parameters in which the fit differs from the instruction's row: the row's value, and the value that fits.

        If two parameters are interchangeable (`also` has the row's value of each), the found parameter stays.
        """
        row = self.observed.op.model
        pairs = {f.name: (getattr(row, f.name), getattr(self.model, f.name)) for f in fields(row)}
        found = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        return {name: pair for name, pair in found.items() if pair[0] not in self.also.get(name, ())} or found

    def row(self) -> str:
        """The model as a row of `mfmasim.matrix.models`, to paste."""
        default = {f.name: f.default for f in fields(Model)}
        names = ("name", "algorithm", "group", "fidelity", "evidence", "source")
        words = [repr(getattr(self.model, name)) for name in names]
        words += [
            f"{f.name}={getattr(self.model, f.name)!r}"
            for f in fields(Model)
            if f.name not in names and getattr(self.model, f.name) != default[f.name]
        ]
        return f"Model({', '.join(words)})"

    def nans(self) -> dict[str, list[int]]:
        """Bits of the NaNs that each kind of special input gave, sorted."""
        return nan_bits(self.observed)

    def nan_origins(self) -> dict[str, str]:
        """Origin of the NaNs, in words."""
        return origins(self.observed)


def fit(observed: Observed, *, progress: Callable[[str], None] | None = None) -> Fit:
    """Search for the model with a device's results.

    Args:
        observed: the probe.
        progress: receives lines of text as the search goes on.

    Returns:
        The best fit; `Fit.exact` says whether it is exact. The instruction's own row is tried first. The NaN of the
        model is the device's, if the device has only one NaN.
    """
    search = _Search(observed)
    row = observed.op.model
    best = row
    if search.score(row) < search.elements:
        say = progress or (lambda line: None)  # noqa: ARG005
        best = search.nearby(row)
        say(f"one parameter changed: {search.score(best)} of {search.elements}")
        if search.score(best) < search.elements:
            best = search.run(row, say) if row.algorithm == "aligned" else search.chains(row, say)
    result = Fit(observed, best, search.score(best), search.elements)
    if result.exact:
        result.also = search.undecided(best)
    nan = constant(observed)
    if nan is not None:
        result.model = replace(best, nan_factor=nan, nan_invalid=nan)
    result.tried = search.tried
    return result


class _Search:
    """Scores models against the observed elements, each once."""

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.tried = 0
        self._scores: dict[tuple[Any, ...], int] = {}

    @property
    def elements(self) -> int:
        """Elements of the tiles that models are fitted to."""
        return int(self.observed.d[:FITTED].size)

    def allowed(self, name: str, model: Model) -> tuple[Any, ...]:
        """Values of a parameter that are meaningful for this instruction and model."""
        values, now = SPACE[name], (getattr(model, name),)
        if name != "group" and name not in PARAMETERS[model.algorithm]:
            return now
        if name == "group":
            # No sum may straddle the elements that share a scale.
            most = self.observed.op.row.scale_block if self.observed.scale_a is not None else self.observed.op.k
            stepped = model.algorithm in ("aligned", "exact", "dot2", "dot4")
            return tuple(value for value in values if value <= most) if stepped else now
        if name in ("partial_bits", "partial_rounding") and model.partial_sums == 1:
            return now
        if name == "final_rounding" and model.final_bits is None:
            return now
        if name == "input_mantissa_bits" and model.input_mantissa_bits is None:
            return now
        return values

    def score(self, model: Model) -> int:
        """Number of elements in which a model equals the device; NaNs count as equal."""
        key = (model.algorithm, *(getattr(model, name) for name in SPACE))
        if key not in self._scores:
            seen, tiles = self.observed, slice(0, FITTED)
            given = Operands(seen.a, seen.b, seen.c, seen.scale_a, seen.scale_b, seen.index).tiles(tiles)
            op = seen.op
            formats = Formats(op.a, op.b, op.d, op.c, block=op.row.scale_block or 32)
            ours = multiply(model, formats, given)
            same = (ours == seen.d[tiles]) | (is_nan(ours, op.d) & is_nan(seen.d[tiles], op.d))
            self._scores[key] = int(same.sum())
            self.tried += 1
        return self._scores[key]

    def nearby(self, row: Model) -> Model:
        """The best model that differs from a row in one parameter."""
        return max((self.choices(row, (name,))[0] for name in SPACE), key=self.score)

    def run(self, row: Model, progress: Callable[[str], None]) -> Model:
        """From the best pairs of group and partial sums, one block after the other until the score stops improving."""
        best = row
        for start in self.choices(self.choices(row, FIRST)[0], BLOCKS[0])[:STARTS]:
            model = self._climb(start)
            progress(f"group {start.group}, partial sums {start.partial_sums}: {self.score(model)} of {self.elements}")
            if self.score(model) > self.score(best):
                best = model
            if self.score(best) == self.elements:
                break
        if best.partial_sums == 1:  # intermediate results of the search are not conclusive then
            best = replace(best, partial_bits=row.partial_bits, partial_rounding=row.partial_rounding)
        return best if best.final_bits is not None else replace(best, final_rounding=row.final_rounding)

    def chains(self, row: Model, progress: Callable[[str], None]) -> Model:
        """A chain of fused multiply-adds that flushes; else sums of a few products, exact or rounded one by one."""
        found = self.choices(row, ("flush_inputs", "flush_addend", "flush_output"))
        progress(f"{row.algorithm}: {self.score(found[0])} of {self.elements}")
        if self.score(found[0]) == self.elements:
            return found[0]
        for algorithm, groups in OTHERS:
            for group in groups:
                try:
                    plain = Model(
                        row.name,
                        algorithm,
                        group,
                        row.fidelity,
                        row.evidence,
                        row.source,
                        nan_rules=row.nan_rules,
                        nan_factor=row.nan_factor,
                        nan_invalid=row.nan_invalid,
                    )
                    found += self.choices(plain, ("flush_inputs", "flush_addend", "flush_output"))
                except MfmasimError:
                    continue
                progress(f"{algorithm}, group {group}: {self.score(found[-1])} of {self.elements}")
        return max(found, key=self.score)

    def undecided(self, best: Model) -> dict[str, tuple[Any, ...]]:
        """Further values that fit with the other parameters unchanged; the two of flushing C and D vary together.

        The last truncation may lose the bits instead of the sum: if one of two such parameters has several
        fitting values, the other one is varied with the first two and the last of them.
        """
        also: dict[str, tuple[Any, ...]] = {}

        def vary(model: Model, names: tuple[str, ...]) -> None:
            fits = [one for one in self.choices(model, names, ranked=False) if self.score(one) == self.elements]
            for name in names:
                found = {getattr(one, name) for one in fits} | set(also.get(name, ()))
                if len(found) > 1:
                    also[name] = tuple(value for value in SPACE[name] if value in found)

        for names in (*((name,) for name in SPACE if name not in BLOCKS[1]), BLOCKS[1]):
            vary(best, names)
        for several, other in (*STANDING_IN, *(pair[::-1] for pair in STANDING_IN)):
            for value in {*also.get(several, ())[:2], *also.get(several, ())[-1:]}:
                vary(replace(best, **{several: value}), (other,))
        return also

    def choices(self, model: Model, block: tuple[str, ...], *, ranked: bool = True) -> list[Model]:
        """The model with every combination of a block's values, the best first."""
        made = []
        for values in product(*(self.allowed(name, model) for name in block)):
            try:
                one = replace(model, **dict(zip(block, values, strict=True)))
            except MfmasimError:  # the algorithm does not have this value
                continue
            made += [one] if one.partial_sums == 1 or one.group % 2 == 0 else []
        return sorted(made, key=lambda one: -self.score(one)) if ranked else made

    def _climb(self, model: Model) -> Model:
        """Repeatedly change the block with the largest gain; a block with a smaller gain may only imitate it."""
        while True:
            best = model
            for block in (*BLOCKS, *STUCK):
                if block in STUCK and best is not model:
                    continue
                best = max(best, self.choices(model, block)[0], key=self.score)
                if self.score(best) == self.elements:
                    return best
            if best is model:
                return model
            model = best
