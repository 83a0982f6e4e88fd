"""Inputs of the golden cases: raw codes drawn from a seed, one function per data class.

Randomness is the raw 64-bit stream of PCG64, which NumPy keeps stable; its distributions it does not, so they are
made here from integers. The same seed gives the same codes on every version and platform.

| class    | what it is for |
|----------|----------------|
| integers | small integers and scales near 1: every partial sum is exact in f32, so any order gives the same bits |
| normal   | roughly normal values: the everyday case |
| bits     | uniform codes, so NaN, Inf and subnormals come as often as the format has them |
| cancel   | pairs of k whose products cancel fully or almost: what is left shows each rounding below |
| range    | exponents over the format's whole range: shows alignment, floors and drops |
| special  | zeros, subnormals and extremes of both signs, now and then Inf and NaN |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from golden.reference.formats import FORMATS, Format, decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from golden.reference.formats import Codes

    Integers = NDArray[np.int64]

BLOCK = 32


class Draws:
    """A reproducible source of integers."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, limit: int, shape: tuple[int, ...]) -> Integers:
        """Integers 0 <= x < limit, int64; limit is far below 2**64, so the remainder's bias does not matter."""
        raw = self._bits.random_raw(int(np.prod(shape)))
        return np.asarray(raw % np.uint64(limit), np.int64).reshape(shape)

    def between(self, low: int, high: int, shape: tuple[int, ...]) -> Integers:
        """Integers low <= x <= high."""
        return np.asarray(low + self.below(high - low + 1, shape))

    def normal(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Roughly standard normal float64 values: twelve uniform 16-bit integers added up, exactly."""
        total = self.below(1 << 16, (12, *shape)).sum(axis=0) - 6 * ((1 << 16) - 1)
        return np.asarray(total / float(1 << 16), np.float64)

    def chance(self, one_in: int, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """True once in `one_in` on average."""
        return np.asarray(self.below(one_in, shape) == 0)


@dataclass(frozen=True)
class Inputs:
    """Codes of one case: a (M, K), b (K, N), scales (M, K/32, 4) and (K/32, N, 4) or None."""

    a: Codes
    b: Codes
    scale_a: Codes | None
    scale_b: Codes | None


def draw(
    data: str, seed: int, formats: tuple[str, str], shape: tuple[int, int, int], block: int | None, opsel: int | None
) -> Inputs:
    """The inputs of one entry.

    Args:
        data: A data class.
        seed: Any non-negative integer.
        formats: Formats of A and B.
        shape: M, N, K.
        block: Elements of K per scale, or None for no scales.
        opsel: Which byte of each scale word is the scale; the three others are decoys that differ from it and from
            one another.

    Raises:
        ValueError: No such data class.
    """
    if data not in CLASSES:
        raise ValueError(f"unknown data class {data!r}; known: {', '.join(CLASSES)}")
    draws = Draws(seed)
    fmt_a, fmt_b = (FORMATS[name] for name in formats)
    m, n, k = shape
    recipe = CLASSES[data]
    a, b = recipe.elements(draws, fmt_a, fmt_b, shape, block is not None)
    if block is None or opsel is None:
        return Inputs(a, b, None, None)
    scale_a = recipe.scales(draws, (m, k // block))
    scale_b = recipe.scales(draws, (n, k // block)).T
    return Inputs(a, b, _scale_words(draws, scale_a, opsel), _scale_words(draws, scale_b, opsel))


# --- Codes of one format -----------------------------------------------------------------------------------------


def nearest(values: NDArray[np.float64], fmt: Format) -> Codes:
    """Finite codes nearest to float64 values (on a tie the smaller value: inputs need no rounding rule)."""
    if fmt.name == "f32":
        return values.astype(np.float32).view(np.uint32)
    codes, known = _finite(fmt)
    above = np.clip(np.searchsorted(known, values), 1, len(known) - 1)
    index = np.where(values - known[above - 1] <= known[above] - values, above - 1, above)
    return codes[index].astype(fmt.dtype)


@cache
def _finite(fmt: Format) -> tuple[Integers, NDArray[np.float64]]:
    """Finite codes but minus zero, and their values, in ascending order."""
    codes = np.array([c for c in range(1 << fmt.bits) if decode(c, fmt).kind == "finite" and c != fmt.sign_bit])
    known = np.array([_value(int(c), fmt) for c in codes])
    order = np.argsort(known)
    return codes[order], known[order]


def compose(sign: Integers, field: Integers, fraction: Integers, fmt: Format) -> Codes:
    """Codes from sign, exponent field and fraction; what is not finite becomes its nearest finite neighbour."""
    code = (field << fmt.fraction_bits) | fraction | (sign * fmt.sign_bit)
    if fmt.specials == "ieee":
        top = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
        code = np.where((code & top) == top, code - (1 << fmt.fraction_bits), code)
    elif fmt.specials == "top_nan":
        code = np.where((code & (fmt.sign_bit - 1)) == fmt.sign_bit - 1, code - 1, code)
    elif fmt.specials == "fnuz":
        code = np.where(code == fmt.sign_bit, 0, code)
    return code.astype(fmt.dtype)


def negate(codes: Codes, fmt: Format) -> Codes:
    """Flip the sign; a zero stays as it is, because FNUZ formats have one zero only."""
    zero = (codes & (fmt.sign_bit - 1)) == 0
    return np.where(zero, codes, codes ^ fmt.dtype(fmt.sign_bit))


def any_finite(draws: Draws, fmt: Format, shape: tuple[int, ...], low: int, high: int) -> Codes:
    """Finite codes with the exponent field uniform over [low, high], clipped to the format's fields."""
    top = (1 << fmt.exponent_bits) - 1
    field = draws.between(max(low, 0), min(high, top), shape)
    return compose(draws.below(2, shape), field, draws.below(1 << fmt.fraction_bits, shape), fmt)


# --- Data classes ------------------------------------------------------------------------------------------------

Pair = tuple["Codes", "Codes"]
Shape = tuple[int, int, int]


def _integers(draws: Draws, fmt_a: Format, fmt_b: Format, shape: Shape, scaled: bool) -> Pair:
    # With scales of 2**-3 to 2**3 on both sides, 64 products of at most 4 * 4 span 22 bits: exact in f32.
    # Without scales, 16 products of at most 100 * 100 span 18 bits. A format of f fraction bits holds every integer
    # up to 2 << f.
    limit = 4 if scaled else min(100, 2 << min(fmt_a.fraction_bits, fmt_b.fraction_bits))
    m, n, k = shape
    return (
        nearest(draws.between(-limit, limit, (m, k)).astype(float), fmt_a),
        nearest(draws.between(-limit, limit, (k, n)).astype(float), fmt_b),
    )


def _normal(draws: Draws, fmt_a: Format, fmt_b: Format, shape: Shape, scaled: bool) -> Pair:
    m, n, k = shape
    spread = 2.0 if scaled else 1.0
    return nearest(spread * draws.normal((m, k)), fmt_a), nearest(spread * draws.normal((k, n)), fmt_b)


def _bits(draws: Draws, fmt_a: Format, fmt_b: Format, shape: Shape, scaled: bool) -> Pair:  # noqa: ARG001
    m, n, k = shape
    return (
        draws.below(1 << fmt_a.bits, (m, k)).astype(fmt_a.dtype),
        draws.below(1 << fmt_b.bits, (k, n)).astype(fmt_b.dtype),
    )


def _cancel(draws: Draws, fmt_a: Format, fmt_b: Format, shape: Shape, scaled: bool) -> Pair:  # noqa: ARG001
    m, n, k = shape
    a = any_finite(draws, fmt_a, (m, k), fmt_a.bias - 6, fmt_a.bias + 6)
    b = any_finite(draws, fmt_b, (k, n), fmt_b.bias - 6, fmt_b.bias + 6)
    for start in range(0, k, BLOCK):
        size = min(BLOCK, k - start)
        order = start + np.argsort(draws.below(1 << 62, (size,)))
        first, second = order[0::2], order[1::2]
        a[:, second] = negate(a[:, first], fmt_a)
        # One pair in two cancels exactly. The other's B differs in its last bit (minus zero is spared: NaN in FNUZ).
        nudge: Codes = draws.below(2, (len(first), n)).astype(fmt_b.dtype)
        partner = b[first, :]
        b[second, :] = np.where((partner & (fmt_b.sign_bit - 1)) <= 1, partner, partner ^ nudge)
    return a, b


def _range(draws: Draws, fmt_a: Format, fmt_b: Format, shape: Shape, scaled: bool) -> Pair:  # noqa: ARG001
    m, n, k = shape
    # Products of f32 run from below its subnormals to just beyond its largest value; the others' fit it whole.
    return (
        any_finite(draws, fmt_a, (m, k), fmt_a.bias - 78, fmt_a.bias + 64),
        any_finite(draws, fmt_b, (k, n), fmt_b.bias - 78, fmt_b.bias + 64),
    )


def _special(draws: Draws, fmt_a: Format, fmt_b: Format, shape: Shape, scaled: bool) -> Pair:  # noqa: ARG001
    m, n, k = shape
    return _special_codes(draws, fmt_a, (m, k), k), _special_codes(draws, fmt_b, (k, n), k)


def _special_codes(draws: Draws, fmt: Format, shape: tuple[int, int], k: int) -> Codes:
    one = fmt.bias << fmt.fraction_bits
    hidden = 1 << fmt.fraction_bits
    # Zero, subnormal extremes, the least normal, 1, the code after 1, and the largest; each with both signs.
    magnitudes = np.array([0, 1, hidden - 1, hidden, one, one + 1, fmt.sign_bit - 1])
    chosen = magnitudes[draws.below(len(magnitudes), shape)]
    field, fraction = chosen >> fmt.fraction_bits, chosen & (hidden - 1)
    codes = compose(draws.below(2, shape), field, fraction, fmt)
    wild = [c for c in _extremes(fmt) if decode(c, fmt).kind != "finite"]
    if not wild:
        return codes
    # A dot product has 2 K factors: about two in five results meet one that is not finite.
    picked = np.array(wild, fmt.dtype)[draws.below(len(wild), shape)]
    return np.where(draws.chance(4 * k, shape), picked, codes)


def _extremes(fmt: Format) -> list[int]:
    """Codes at which a format may keep Inf (four times, to outweigh NaN) and NaN."""
    top = ((1 << fmt.exponent_bits) - 1) << fmt.fraction_bits
    return [*([top, top | fmt.sign_bit] * 4), fmt.sign_bit - 1, 2 * fmt.sign_bit - 1, fmt.sign_bit]


def _near_one(spread: int) -> Callable[[Draws, tuple[int, int]], Integers]:
    def scales(draws: Draws, shape: tuple[int, int]) -> Integers:
        """Scales of 2**-spread to 2**spread; neighbouring blocks of a row or column never share one."""
        width = 2 * spread + 1
        steps = draws.between(1, width - 1, shape)
        steps[:, 0] = draws.below(width, (shape[0],))
        return 127 - spread + np.cumsum(steps, axis=1) % width

    return scales


def _any_scale(draws: Draws, shape: tuple[int, int]) -> Integers:
    return draws.below(256, shape)


def _special_scale(draws: Draws, shape: tuple[int, int]) -> Integers:
    common = np.array([0, 1, 2, 126, 127, 128, 253, 254])[draws.below(8, shape)]
    return np.where(draws.chance(24, shape), 255, common)


def _scale_words(draws: Draws, scale: Integers, opsel: int) -> Codes:
    """Four bytes per scale, the real one at `opsel`, the others random and all four different."""
    # Distinct offsets from the real byte: three different numbers out of 1..255, the k-th skipping those before it.
    first = draws.between(1, 255, scale.shape)
    second = draws.between(1, 254, scale.shape)
    second += second >= first
    third = draws.between(1, 253, scale.shape)
    low, high = np.minimum(first, second), np.maximum(first, second)
    third += third >= low
    third += third >= high
    words = np.empty((*scale.shape, 4), np.uint8)
    others = iter((first, second, third))
    for byte in range(4):
        words[..., byte] = scale if byte == opsel else (scale + next(others)) % 256
    return words


def _value(code: int, fmt: Format) -> float:
    number = decode(code, fmt)
    return (-1.0) ** number.sign * number.significand * 2.0**number.exponent


@dataclass(frozen=True)
class Recipe:
    """How a data class draws A and B, and its scales."""

    elements: Callable[[Draws, Format, Format, Shape, bool], Pair]
    scales: Callable[[Draws, tuple[int, int]], Integers]


CLASSES = {
    "integers": Recipe(_integers, _near_one(3)),
    "normal": Recipe(_normal, _near_one(8)),
    "bits": Recipe(_bits, _any_scale),
    "cancel": Recipe(_cancel, _near_one(8)),
    "range": Recipe(_range, _near_one(15)),
    "special": Recipe(_special, _special_scale),
}
