"""Fitting accumulation models to what a device computed: a search over the parameters of `mfmasim.matrix.models`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic import multiply
from mfmasim.matrix.models import Model
from mfmasim.verify.probes import OUTLIERS, TRIALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.verify.probes import Observed

__all__ = ["Fit", "fit"]

ROUNDINGS = ("floor", "truncate", "nearest_even")
SPACE: dict[str, tuple[Any, ...]] = {
    "group": (2, 4, 8, 16, 32, 64, 128),
    "partial_sums": (1, 2),
    "product_bits": tuple(range(20, 33)),
    "product_rounding": ROUNDINGS,
    "partial_bits": tuple(range(20, 33)),
    "partial_rounding": ROUNDINGS,
    "addend_bits": tuple(range(20, 37)),
    "addend_rounding": ROUNDINGS,
    "drop_addend_below": (None, *range(20, 36)),
    "sum_bits": tuple(range(22, 41)),
    "sum_rounding": ROUNDINGS,
    "final_bits": (None, *range(22, 37)),
    "final_rounding": ROUNDINGS,
}
"""Values that are tried, parameter by parameter."""
BLOCKS = (
    ("group", "partial_sums"),
    ("product_bits", "product_rounding"),
    ("partial_bits", "partial_rounding"),
    ("addend_bits", "addend_rounding"),
    ("drop_addend_below", "addend_rounding"),
    ("sum_bits", "sum_rounding"),
    ("final_bits", "final_rounding"),
)
"""Parameters that hide each other, and are varied together."""
STARTS = 4
"""Pairs of group and partial sums from which the others are searched."""


@dataclass
class Fit:
    """The best model for a probe."""

    observed: Observed
    model: Model
    matches: int
    elements: int
    also: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    """Parameters for which other values fit as well, with all that do: the probes do not decide them."""
    tried: int = 0

    @property
    def exact(self) -> bool:
        """Whether every element is the device's."""
        return self.matches == self.elements

    @cached_property
    def differs(self) -> dict[str, tuple[Any, Any]]:
        """Parameters in which the fit differs from the instruction's row: what the row says, and what fits."""
        row = self.observed.op.model
        found = {f.name: (getattr(row, f.name), getattr(self.model, f.name)) for f in fields(row)}
        return {
            name: pair for name, pair in found.items() if pair[0] != pair[1] and pair[0] not in self.also.get(name, ())
        }

    def row(self) -> str:
        """The model as a row of `mfmasim.matrix.models`, to paste."""
        default = {f.name: f.default for f in fields(Model)}
        names = ("name", "algorithm", "group", "fidelity", "evidence", "source")
        told = [repr(getattr(self.model, name)) for name in names]
        told += [f"{f.name}={getattr(self.model, f.name)!r}" for f in fields(Model)
                 if f.name not in names and getattr(self.model, f.name) != default[f.name]]  # fmt: skip
        return f"Model({', '.join(told)})"

    def nans(self) -> dict[str, list[int]]:
        """Bits of the NaNs that each kind of special input gave, sorted."""
        found = {}
        for number, name in enumerate(OUTLIERS):
            d = self.observed.d[TRIALS + number].reshape(-1)
            bits = np.unique(d[(d & 0x7FFFFFFF) > 0x7F800000])
            found[name] = [int(word) for word in bits]
        return found


def fit(observed: Observed, *, told: Callable[[str], None] | None = None) -> Fit:
    """Search for the model that gives what a device gave.

    Args:
        observed: the probe.
        told: is told of progress, a line at a time.

    Returns:
        The best fit; `Fit.exact` says whether it is one. The instruction's own row is tried first.
    """
    search = _Search(observed)
    row = observed.op.model
    best = row
    if search.score(row) < search.elements and row.algorithm == "aligned":
        best = search.run(row, told or (lambda line: None))  # noqa: ARG005
    result = Fit(observed, best, search.score(best), search.elements)
    if result.exact and best.algorithm == "aligned":
        for name, values in SPACE.items():
            fits = tuple(v for v in search.allowed(name, values, best)
                         if search.score(replace(best, **{name: v})) == result.elements)  # fmt: skip
            if len(fits) > 1:
                result.also[name] = fits
    result.tried = search.tried
    return result


class _Search:
    """Scores models against what was observed, each once."""

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.tried = 0
        self._scores: dict[tuple[Any, ...], int] = {}

    @property
    def elements(self) -> int:
        """Elements of the ordinary tiles."""
        return int(self.observed.d[:TRIALS].size)

    def allowed(self, name: str, values: tuple[Any, ...], model: Model) -> tuple[Any, ...]:
        """Values that mean something for this instruction."""
        if name == "group":
            # Block scales belong to 32 elements, which no sum may straddle.
            return tuple(
                value for value in values if value <= (32 if self.observed.probe.scaled else self.observed.op.k)
            )
        if name in ("partial_bits", "partial_rounding") and model.partial_sums == 1:
            return (getattr(model, name),)
        if name == "final_rounding" and model.final_bits is None:
            return (model.final_rounding,)
        return values

    def score(self, model: Model) -> int:
        """Elements that a model gives as the device did."""
        key = (model.algorithm, *(getattr(model, name) for name in SPACE))
        if key not in self._scores:
            seen, tiles = self.observed, slice(0, TRIALS)
            scales: dict[str, Any] = {}
            if seen.scale_a is not None and seen.scale_b is not None:
                scales = {"scale_a": seen.scale_a[tiles], "scale_b": np.swapaxes(seen.scale_b[tiles], -1, -2)}
            op = seen.op
            ours = multiply(model, op.a, op.b, op.d, seen.a[tiles], seen.b[tiles], seen.c[tiles], **scales)
            self._scores[key] = int((ours == seen.d[tiles]).sum())
            self.tried += 1
        return self._scores[key]

    def run(self, row: Model, told: Callable[[str], None]) -> Model:
        """From the best pairs of group and partial sums, one block after the other until nothing gets better."""
        best = row
        for start in self._choices(row, BLOCKS[0])[:STARTS]:
            model = self._climb(start)
            told(f"group {start.group}, partial sums {start.partial_sums}: {self.score(model)} of {self.elements}")
            if self.score(model) > self.score(best):
                best = model
            if self.score(best) == self.elements:
                break
        if best.partial_sums == 1:  # what the search tried on the way means nothing then
            best = replace(best, partial_bits=row.partial_bits, partial_rounding=row.partial_rounding)
        return best if best.final_bits is not None else replace(best, final_rounding=row.final_rounding)

    def _choices(self, model: Model, block: tuple[str, ...]) -> list[Model]:
        """The model with every combination of a block's values, the best first."""
        made = [model]
        for name in block:
            made = [replace(one, **{name: v}) for one in made for v in self.allowed(name, SPACE[name], one)]
        return sorted(made, key=lambda one: -self.score(one))

    def _climb(self, model: Model) -> Model:
        while True:
            before = self.score(model)
            for block in BLOCKS:
                best = self._choices(model, block)[0]
                if self.score(best) > self.score(model):
                    model = best
            if self.score(model) in (before, self.elements):
                return model
