"""Outputs that are not exact: bounds on the error of each element, and the comparison within them.

An element is right if its bits are, if it lies within `ulp` units in the last place, or if ::

    |actual - expected| <= absolute + relative * |expected|

as `numpy.testing.assert_allclose` and `torch.testing.assert_close` have it. A tolerance that is not given is 0, so that
what a case allows is what it says. Infinities have to be equal, NaNs at the same places.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError, unknown

DEFAULTS = {"f16": (1e-3, 1e-5), "bf16": (1.6e-2, 1e-5), "f32": (1.3e-6, 1e-5), "f64": (1e-7, 1e-7)}
"""Relative and absolute tolerance by format: those of PyTorch 2 (``torch.testing.assert_close``, "rtol", "atol")."""

BOUNDS = ("absolute", "relative", "ulp", "close")


@dataclass(frozen=True)
class Tolerance:
    """How far an output may be from what is expected."""

    absolute: float = 0.0
    relative: float = 0.0
    ulp: int = 0

    @classmethod
    def of(cls, noun: str, fmt: str, **given: Any) -> Tolerance:
        """Check what a case declares.

        Args:
            noun: the output as messages name it.
            fmt: its number format.
            given: ``absolute``, ``relative`` and ``ulp``; ``close``, whether what is not given is PyTorch's.

        Raises:
            MfmasimError: one of them is not a number of 0 or more, or PyTorch has none for the format.
        """
        for name in given:
            if name not in BOUNDS:
                raise unknown("argument", name, BOUNDS, f"of {noun}")
        ulp, close = given.get("ulp", 0), given.get("close", False)
        if not isinstance(ulp, int) or ulp < 0:
            raise MfmasimError(f"ulp {ulp!r}: a number of units, 0 or more, is expected")
        if close and fmt not in DEFAULTS:
            raise MfmasimError(
                f"close=True of {noun} of {fmt}: PyTorch has tolerances for {', '.join(DEFAULTS)}; give absolute= and "
                "relative="
            )
        usual = DEFAULTS[fmt] if close else (0.0, 0.0)
        found = []
        for name, default in (("absolute", usual[1]), ("relative", usual[0])):
            value = given.get(name)
            number = default if value is None else value
            if (
                isinstance(number, bool)
                or not isinstance(number, int | float)
                or not (isfinite(number) and number >= 0)
            ):
                raise MfmasimError(f"{name} {value!r} of {noun}: a number of 0 or more is expected, such as 1e-3")
            found.append(float(number))
        return cls(found[0], found[1], ulp)

    @property
    def exact(self) -> bool:
        """Whether nothing may differ."""
        return not (self.absolute or self.relative or self.ulp)

    @property
    def real(self) -> bool:
        """Whether errors are bounded in numbers, so that an expected value need not have the output's format."""
        return bool(self.absolute or self.relative)

    def __str__(self) -> str:
        """In words, as results and messages have it; empty if exact."""
        parts = [(f"{self.ulp} ulp", self.ulp), (f"absolute {self.absolute:g}", self.absolute)]
        parts += [(f"relative {self.relative:g}", self.relative)]
        return ", ".join(text for text, given in parts if given)


@dataclass(frozen=True)
class Bounded:
    """Errors of an output beside their bounds."""

    error: NDArray[np.float64]
    """|actual - expected|; infinite where only one of them is finite."""
    bound: NDArray[np.float64]
    wrong: NDArray[np.bool_]

    @property
    def share(self) -> NDArray[np.float64]:
        """Each error as a fraction of its bound; infinite where none is allowed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.error > 0, self.error / self.bound, 0.0)

    @property
    def worst(self) -> tuple[int, ...]:
        """Where the error is the largest fraction of its bound, among those that are wrong if any is."""
        share = np.where(self.wrong, self.share, -1.0) if self.wrong.any() else self.share
        return tuple(int(i) for i in np.unravel_index(int(share.argmax()), share.shape))

    def words(self) -> str:
        """The worst error beside its bound."""
        place = self.worst
        error, bound, share = float(self.error[place]), float(self.bound[place]), float(self.share[place])
        times = f", {share:.3g} times" if bound and isfinite(share) else ""
        return f"error {error:.3g}, at most {bound:.3g} is allowed{times}"


def bound_of(tolerance: Tolerance, expected: NDArray[Any], given: object) -> NDArray[np.float64]:
    """Bounds of the error of each element.

    Args:
        tolerance: what the output declares.
        expected: float64.
        given: the bound that the reference returned, broadcast to the output; None if it returned none.

    Raises:
        MfmasimError: the reference's bound has another shape, or is not a number of 0 or more.
    """
    with np.errstate(invalid="ignore"):
        declared = tolerance.absolute + tolerance.relative * np.where(np.isfinite(expected), np.abs(expected), 0)
    if given is None:
        return np.asarray(declared, np.float64)
    try:
        bound = np.broadcast_to(np.asarray(given, np.float64), expected.shape)
    except (TypeError, ValueError):
        shape = getattr(given, "shape", type(given).__name__)
        raise MfmasimError(
            f"the bound that the reference returns is {shape}: a number, or an array {expected.shape}, is expected"
        ) from None
    if not (bound >= 0).all():
        raise MfmasimError("the bound that the reference returns has a negative number or a NaN: 0 or more is expected")
    return np.maximum(bound, declared)


def bounded(
    actual: NDArray[Any], expected: NDArray[Any], bound: NDArray[np.float64], right: NDArray[np.bool_]
) -> Bounded:
    """Compare within bounds.

    Args:
        actual: values of the kernel, float64.
        expected: what they should be, of the same shape.
        bound: largest error of each.
        right: elements that are right whatever their error, such as those with the same bits.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(actual - expected)
    finite = np.isfinite(actual) & np.isfinite(expected)
    same = right | (actual == expected)
    error = np.where(same, np.where(finite, error, 0.0), np.where(finite, error, np.inf))
    return Bounded(error, bound, ~(same | (finite & (error <= bound))))
