"""Comparing outputs: bit for bit, NaN positions exactly, or within a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe import Finding
from mfmasim.verify.causes import saturated
from mfmasim.verify.tolerance import bound_of, bounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.formats import Format
    from mfmasim.verify.cases import Case
    from mfmasim.verify.result import Result
    from mfmasim.verify.tolerance import Bounded, Tolerance

FLAVOUR_FACTORS = (0.25, 0.5, 2.0, 4.0)
FLAVOURS = "FP8 of OCP is read as FNUZ or FNUZ as OCP (a factor of 2 for each operand)"
NEARLY = float(np.log2(1.05))
"""Largest difference of the logarithms of a ratio and of the common factor: 5 %."""
FAR = 1 << 24
"""Number of units in the last place from which on it is not informative: an f32 has 24 bits."""
SMALLEST = 2.0**-126
"""The smallest normal number of f32 and bf16."""


@dataclass(frozen=True)
class Causes:
    """Possible causes of an output whose numbers are all too large by one power of two."""

    flavours: bool = True
    """Whether an operand may be FP8 of the other flavour: FNUZ is the hardware's, or that of an argument."""
    scales: bool = True
    """Whether the architecture has block scales."""

    def of(self, factor: float) -> str:
        """The causes of a factor as a clause; empty if there is none.

        >>> Causes(flavours=False).of(4.0)
        ', as when a block scale is off by two'
        """
        if factor not in FLAVOUR_FACTORS:
            return ""
        found = [FLAVOURS] * self.flavours
        found += [f"a block scale is off by {'two' if factor in (0.25, 4.0) else 'one'}"] * self.scales
        return f", as when {', or '.join(found)}" if found else ""


@dataclass(frozen=True)
class Comparison:
    """Result of comparing one output: the elements that differ, and the largest distance in units of the last place."""

    wrong: NDArray[np.bool_]
    max_ulp: int
    """Distance of the codes; of integers, that of the numbers."""
    fmt: Format | None = None
    """Format of the elements; None for integers."""
    bounded: Bounded | None = None
    """Errors with their bounds, if an output may differ."""

    @property
    def mismatches(self) -> int:
        """Elements that differ."""
        return int(self.wrong.sum())

    @property
    def place(self) -> tuple[int, ...]:
        """The element for a finding: the one with the largest ratio of error to bound, else the first that differs."""
        return tuple(int(i) for i in np.argwhere(self.wrong)[0]) if self.bounded is None else self.bounded.worst

    def worst(self, actual: NDArray[Any], expected: NDArray[Any], causes: Causes | None = None) -> str:
        """The largest error in words: the difference of integers; for floats in units of the last place, too.

        Args:
            actual: codes or integers of the kernel.
            expected: the expected codes or integers.
            causes: possible causes of numbers that are all too large; None for every cause.
        """
        if self.bounded is not None:
            return f"the worst: {self.bounded.words()}"
        if self.fmt is None or self.fmt.integer:
            return f"the worst by {self.max_ulp:,}"
        bits = np.dtype(f"u{actual.dtype.itemsize}")
        have = self.fmt.decode(np.ascontiguousarray(actual).view(bits)[self.wrong])
        want = self.fmt.decode(np.ascontiguousarray(expected).view(bits)[self.wrong])
        finite = np.isfinite(have) & np.isfinite(want)
        if not finite.any():
            return "none of them a number in both" if have.size > 1 else "not a number in both"
        size = np.abs(want[finite])
        with np.errstate(over="ignore"):  # of numbers of f64: "inf" is said
            error = np.abs(have[finite] - want[finite])
            relative = float((error[size > 0] / size[size > 0]).max(initial=0.0))
        errors = [f"absolute {float(error.max()):.3g}"] + [f"relative {relative:.3g}"] * bool(size.any())
        alike = ""
        if factor := common_factor(have[finite], want[finite]):
            alike = f"; nearly all are {factor:g} times what they should be"
            alike += (causes or Causes()).of(factor)
        furthest = f"the worst by {self.max_ulp:,} ulp" if self.max_ulp <= FAR else "the worst far off"
        return f"{furthest}, error at most {', '.join(errors)}{alike}"


def common_factor(have: NDArray[np.float64], want: NDArray[np.float64]) -> float:
    """The power of two by which nearly all of eight or more numbers are too large; 0 if there is none, or if it is 1.

    A factor that is no normal number in f64 does not count.

    Args:
        have: finite numbers.
        want: what they should be.
    """
    both = (have != 0) & (want != 0)
    if both.sum() < 8:
        return 0.0
    # Logarithms: a ratio of numbers of f64 may overflow, or underflow to 0.
    times = np.log2(np.abs(have[both])) - np.log2(np.abs(want[both]))
    power = int(np.round(np.median(times)))
    near = (np.abs(times - power) < NEARLY) & (np.signbit(have[both]) == np.signbit(want[both]))
    return float(np.ldexp(1.0, power)) if 0 < abs(power) < 1023 and near.mean() > 0.9 else 0.0


def is_nan(codes: NDArray[Any], fmt: Format) -> NDArray[np.bool_]:
    """A mask of the codes that are NaN."""
    return np.isnan(fmt.decode(codes))


def ulp_distance(a: NDArray[Any], b: NDArray[Any], fmt: Format) -> NDArray[np.int64]:
    """Codes between two values, counted through zero; a NaN against anything else counts as the whole range.

    Args:
        a: codes.
        b: codes, same shape.
        fmt: their format.

    Returns:
        The distances; one that exceeds int64, as f64 allows, is int64's largest number.
    """
    most = np.uint64(np.iinfo(np.int64).max)

    def split(codes: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        wide = codes.astype(np.uint64)
        return wide & np.uint64(fmt.mask & ~fmt.sign_bit), (wide & np.uint64(fmt.sign_bit)) != 0

    (size_a, minus_a), (size_b, minus_b) = split(a), split(b)
    between = np.where(minus_a == minus_b, np.maximum(size_a, size_b) - np.minimum(size_a, size_b), size_a + size_b)
    nan_a, nan_b = is_nan(a, fmt), is_nan(b, fmt)
    distance = np.where(nan_a & nan_b, np.uint64(0), np.where(nan_a ^ nan_b, np.uint64(fmt.mask), between))
    return np.minimum(distance, most).astype(np.int64)


def bit_exact(actual: NDArray[Any], expected: NDArray[Any], fmt: Format, *, zeros: bool = True) -> Comparison:
    """Compare bit for bit.

    Args:
        actual: codes of the kernel.
        expected: codes of the reference.
        fmt: their format.
        zeros: whether the sign of a zero counts; an exact sum has none.

    Returns:
        The comparison. Two NaNs are equal whatever their payload: no public source says which one CDNA returns.
    """
    nan_a, nan_b = is_nan(actual, fmt), is_nan(expected, fmt)
    wrong = (actual != expected) & ~(nan_a & nan_b)
    if not zeros and fmt.sign_bit:
        magnitude = actual.dtype.type(fmt.mask & ~fmt.sign_bit)
        wrong &= ((actual | expected) & magnitude) != 0
    distance = ulp_distance(actual, expected, fmt)
    return Comparison(wrong, int(distance.max(initial=0)), fmt)


def within(
    actual: NDArray[Any],
    exact: NDArray[np.float64],
    magnitude: NDArray[np.float64],
    depth: int,
    fmt: Format,
    accumulator_bits: int = 24,
    *,
    flushed: bool = False,
) -> Comparison:
    """Compare with the exact, unrounded result within 2 K 2^-p sum|a||b| plus half a unit of the output's last place.

    p is the precision of the accumulator, 24 for f32 and 53 for f64. The factor 2 allows for truncation inside
    matrix instructions. Where these take subnormal sums for zeros, each step may lose as much as the smallest normal
    number, 2^-126. NaN and Inf must be at the same places.

    Args:
        actual: codes of the kernel.
        exact: exact results, float64 of the same shape.
        magnitude: sums of the absolute values of all terms, float64.
        depth: terms of a sum, K.
        fmt: format of the output.
        accumulator_bits: p.
        flushed: whether subnormal sums count as zeros.
    """
    rounded = fmt.encode(exact, overflow="infinity_or_nan")
    a, e = fmt.decode(actual), np.where(np.isfinite(fmt.decode(rounded)), exact, fmt.decode(rounded))
    finite = np.isfinite(e)
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.maximum(np.abs(e), np.where(np.isfinite(a), np.abs(a), 0)), fmt.smallest_normal)
        unit = np.ldexp(1.0, np.frexp(size)[1] - 1 - fmt.mantissa_bits)
        bound = 2 * depth * 2.0**-accumulator_bits * magnitude + unit / 2 + flushed * depth * SMALLEST
        wrong = np.where(finite, ~(np.abs(a - e) <= bound), ~((a == e) | (np.isnan(a) & np.isnan(e))))
    return Comparison(wrong, int(ulp_distance(actual, rounded, fmt).max(initial=0)), fmt)


def compare_codes(
    actual: NDArray[Any],
    expected: NDArray[Any],
    fmt: Format,
    tolerance: Tolerance,
    exact: NDArray[np.float64] | None = None,
    given: object = None,
    nan: str = "any",
) -> Comparison:
    """Compare codes of floating-point numbers, bit for bit or within the output's tolerance.

    Args:
        actual: codes of the kernel.
        expected: codes of the reference.
        fmt: their format.
        tolerance: declared tolerance of the output.
        exact: expected values before rounding, float64; None if the codes are exact.
        given: bounds of the errors by the reference; None if it returned none.
        nan: ``any``, a NaN equals any NaN; ``bits``, payload and sign count.

    Returns:
        The comparison. Values within `ulp` have the same sign and are finite or infinite alike.
    """
    wrong = actual != expected
    nan_a, nan_b = is_nan(actual, fmt), is_nan(expected, fmt)
    distance = ulp_distance(actual, expected, fmt)
    if nan == "any":
        wrong &= ~(nan_a & nan_b)
    if tolerance.ulp:
        alike = (actual ^ expected) & actual.dtype.type(fmt.sign_bit) == 0
        wrong &= ~((distance <= tolerance.ulp) & ~nan_a & ~nan_b & alike)
    furthest = int(distance.max(initial=0))
    if not tolerance.real and given is None:
        return Comparison(wrong, furthest, fmt)
    wanted = np.asarray(fmt.decode(expected), np.float64) if exact is None else exact
    found = bounded(fmt.decode(actual), wanted, bound_of(tolerance, wanted, given), ~wrong)
    return Comparison(found.wrong, furthest, fmt, found)


def shown_code(fmt: Format, code: np.integer[Any]) -> str:
    """A raw code in a finding: its bits and its value."""
    return f"{int(code):#0{2 * code.dtype.itemsize + 2}x} ({float(fmt.decode(code)):.9g})"


def shown_value(value: np.generic) -> str:
    """An element of a plain array in a finding: its bits, and its value if it differs from the bits."""
    bits = int(value.view(f"u{value.dtype.itemsize}"))
    text = f"{bits:#0{2 * value.dtype.itemsize + 2}x}"
    return text if value.dtype.kind == "u" else f"{text} ({value})"


def never_written(actual: NDArray[Any], before: NDArray[Any]) -> str:
    """A clause that most of the wrong elements are unchanged since before the launch; otherwise empty.

    Args:
        actual: wrong elements after the launch.
        before: the same elements before it; few random contents are equal by chance.
    """
    bits = np.dtype(f"u{actual.dtype.itemsize}")
    same = int((np.ascontiguousarray(actual).view(bits) == np.ascontiguousarray(before).view(bits)).sum())
    if 2 * same < actual.size:
        return ""
    which = "all" if same == actual.size else f"{same} of them"
    return f"; {which} hold what they held before the launch, as if nothing wrote them"


def differences(
    result: Result,
    case: Case,
    comparison: Comparison,
    name: str,
    actual: NDArray[Any],
    expected: NDArray[Any],
    shown: Callable[[Any], str],
    label: str = "",
    *,
    fp8: bool = False,
    before: NDArray[Any] | None = None,
    causes: Causes | None = None,
) -> list[Finding]:
    """Count the elements of an output.

    Args:
        result: receives the counts.
        case: the case.
        comparison: of `actual` with `expected`.
        name: of the output.
        actual: elements after the launch.
        expected: expected elements.
        shown: one element as text.
        label: the inputs in the message.
        fp8: whether any argument is FP8.
        before: contents of the output before the launch, unless they are expected.
        causes: possible causes of numbers that are all too large; None for every cause.

    Returns:
        The finding about elements that differ, if there are any, and findings about their common cause.
    """
    result.outputs["elements"] += actual.size
    result.outputs["mismatches"] += comparison.mismatches
    result.outputs["max_ulp"] = max(result.outputs["max_ulp"], comparison.max_ulp)
    if comparison.bounded is not None and comparison.wrong.size:
        result.margin = max(result.margin or 0.0, float(comparison.bounded.share[comparison.bounded.worst]))
    if not comparison.mismatches:
        return []
    place, worst = comparison.place, comparison.worst(actual, expected, causes)
    more = "" if comparison.bounded is None else " by more than their bound"
    text = f"{comparison.mismatches} of {actual.size} elements differ{more}{label}, {worst}"
    if before is not None:
        text += never_written(actual[comparison.wrong], before[comparison.wrong])
    where: dict[str, Any] = {"source": case.source.name, "element": f"{name}[{', '.join(map(str, place))}]"}
    where |= {"expected": shown(expected[place]), "actual": shown(actual[place]), "count": comparison.mismatches}
    found = [Finding("outputs", "error", text, "outputs-differ", result.kernel, **where)]
    fmt = comparison.fmt
    if fmt is not None and not fmt.integer:
        bits, wrong = np.dtype(f"u{actual.dtype.itemsize}"), comparison.wrong
        have, want = (fmt.decode(np.ascontiguousarray(one).view(bits)[wrong]) for one in (actual, expected))
        if text := saturated(have, want, fmt):
            found.append(Finding("outputs", "error", text, "outputs-saturated", result.kernel, **where))
        number = np.isfinite(have) & np.isfinite(want)
        if fp8 and common_factor(have[number], want[number]) in FLAVOUR_FACTORS:
            factor = common_factor(have[number], want[number])
            text = f"nearly all of {name} are {factor:g} times too large{(causes or Causes()).of(factor)}"
            found.append(Finding("outputs", "error", text, "outputs-fp8-flavour", result.kernel, **where))
    return found
