"""Exact evaluation of an expression, and one rounding at the end.

A matrix is held as Python integers times one power of two. A product of matrices is computed by splitting both into
limbs so narrow that float64 sums their products exactly; the limbs are then combined as integers. Where an
infinity or a NaN is an operand, float64 arithmetic determines the special result: it overflows nowhere else, since
products of the formats up to f32 lie far inside its range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch
from mfmasim.errors import MfmasimError
from mfmasim.formats import Format
from mfmasim.formats import format as find_format
from mfmasim.verify.expression import Expression, MatMul, Scaled, Sparse, Sum, Times
from mfmasim.verify.roles import Tensor, format_of


@dataclass(frozen=True)
class Exact:
    """Exact values: ``integers * 2**exponent``; where ``special`` is not 0 it is the value (Inf or NaN)."""

    integers: NDArray[Any]
    """int64 where at most 62 bits are needed, else Python integers."""
    exponent: int
    special: NDArray[np.float64]


def every_step_exact(expression: Expression, codes: Mapping[str, NDArray[Any]], arch: Arch, bits: int) -> bool:
    """Whether each product and sum of the expression fits a significand of `bits` bits, so that no kernel rounds.

    In a product of matrices every partial sum has to fit, in whatever order a kernel adds.

    Args:
        expression: what is computed.
        codes: raw codes of each matrix, by name.
        arch: decides the formats.
        bits: of the significand.
    """
    parts = list(expression.parts())
    products = [part for part in parts if isinstance(part, MatMul)]
    others = [part for part in parts if isinstance(part, Times | Sum)]
    return all(_partial_sums_fit(part, codes, arch, bits) for part in products) and all(
        _fits(evaluate(part, codes, arch), bits) for part in others
    )


def _partial_sums_fit(product: MatMul, codes: Mapping[str, NDArray[Any]], arch: Arch, bits: int) -> bool:
    """All terms are multiples of one power of two, and their magnitudes together are not beyond 2^bits of it."""
    return bool((np.ldexp(magnitude(product, codes, arch), -_unit(product, codes, arch)) <= 2.0**bits).all())


def without_subnormals(
    tensors: Sequence[Tensor], codes: Mapping[str, NDArray[Any]], arch: Arch
) -> dict[str, NDArray[Any]]:
    """Codes of matrices with subnormal factors flushed to zeros of their sign.

    Args:
        tensors: the matrices.
        codes: raw codes of each, by name.
        arch: decides the formats.
    """
    out = dict(codes)
    for tensor in tensors:
        fmt = format_of(tensor, arch)
        if tensor.role in ("A", "B") and fmt.sign_bit and not fmt.integer and not tensor.read:
            raw = codes[tensor.name]
            small = (raw & raw.dtype.type(fmt.mask & ~fmt.sign_bit)) < 1 << fmt.mantissa_bits
            out[tensor.name] = np.where(small, raw & raw.dtype.type(fmt.sign_bit), raw)
    return out


def exact_in_any_order(expression: Expression, codes: Mapping[str, NDArray[Any]], arch: Arch, bits: int) -> bool:
    """Whether a significand of `bits` bits holds every partial sum, so that no order of summation rounds.

    Args:
        expression: what is computed.
        codes: raw codes of each matrix, by name.
        arch: decides the formats.
        bits: of the significand; more than 24 count as 24.
    """
    parts = [part for part in expression.parts() if isinstance(part, MatMul | Times | Sum)]
    units = [_unit(part, codes, arch) for part in parts]
    sizes = [float(magnitude(part, codes, arch).max(initial=0)) for part in parts]
    return all(unit >= LEAST and size <= 2.0 ** (min(bits, 24) + unit) for unit, size in zip(units, sizes, strict=True))


LEAST = -14
"""Exponent of the smallest unit of terms that `exact_in_any_order` looks at: no denormal of f16, let alone f32."""


def _unit(expression: Expression, codes: Mapping[str, NDArray[Any]], arch: Arch) -> int:
    """Exponent of a power of two that all terms are multiples of."""
    if isinstance(expression, Sum):
        return min(_unit(expression.left, codes, arch), _unit(expression.right, codes, arch))
    if isinstance(expression, MatMul):
        return _unit(expression.left, codes, arch) + _unit(expression.right, codes, arch)
    if isinstance(expression, Times):
        return _lowest(np.array([_as_passed(expression, arch)])) + _unit(expression.matrix, codes, arch)
    return _lowest(_values(expression, codes, arch))


def _lowest(values: NDArray[np.float64]) -> int:
    """Exponent of the lowest bit that is set in any of the values."""
    mantissa, exponent = np.frexp(values[np.isfinite(values) & (values != 0)])
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return int((exponent - 53 + np.bitwise_count((whole & -whole) - 1)).min(initial=1))


def _fits(value: Exact, bits: int) -> bool:
    numbers = _narrow(value.integers)
    if numbers is not None:
        odd = np.abs(numbers) >> np.bitwise_count((numbers & -numbers) - 1).astype(np.int64)
        return bool((odd[numbers != 0] < 2 ** min(bits, 62)).all())
    sizes = (abs(int(number)) for number in value.integers.reshape(-1))
    return all((size // (size & -size)).bit_length() <= bits for size in sizes if size)


def evaluate(expression: Expression, codes: Mapping[str, NDArray[Any]], arch: Arch) -> Exact:
    """Evaluate an expression exactly.

    Args:
        expression: what to compute.
        codes: raw codes of each tensor, by name.
        arch: decides the formats.

    Returns:
        The exact values.
    """
    if isinstance(expression, Sum):
        return _add(evaluate(expression.left, codes, arch), evaluate(expression.right, codes, arch))
    if isinstance(expression, Times):
        return _times(_as_passed(expression, arch), evaluate(expression.matrix, codes, arch))
    if isinstance(expression, MatMul):
        return _multiply(*_factors(expression, codes, arch))
    return _from_floats(_values(expression, codes, arch))


def magnitude(expression: Expression, codes: Mapping[str, NDArray[Any]], arch: Arch) -> NDArray[np.float64]:
    """Sum of the absolute values of all terms, the yardstick of an error bound (float64, (M, N)).

    A subnormal factor counts as the smallest normal number: matrix instructions align products by their exponents and
    do not normalise subnormals before (mfmasim/matrix/arithmetic), so that a sum with one loses as many bits.

    Args:
        expression: what is computed.
        codes: raw codes of each matrix, by name.
        arch: decides the formats.
    """
    if isinstance(expression, Sum):
        return magnitude(expression.left, codes, arch) + magnitude(expression.right, codes, arch)
    if isinstance(expression, Times):
        with np.errstate(invalid="ignore"):  # 0 times an infinity
            return abs(_as_passed(expression, arch)) * magnitude(expression.matrix, codes, arch)
    if isinstance(expression, MatMul):
        with np.errstate(invalid="ignore"):  # 0 times an infinity: NaN has no bound
            left, right, kept = _factors(expression, codes, arch, aligned=True)
            return _product(np.abs(left), np.abs(right), kept)
    return np.abs(_values(expression, codes, arch))


def _factors(
    product: MatMul, codes: Mapping[str, NDArray[Any]], arch: Arch, *, aligned: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_] | None]:
    """Values of both factors, and of a sparse left one the elements that are kept: the others are not multiplied."""
    left, right = (_values(side, codes, arch, aligned=aligned) for side in (product.left, product.right))
    if not isinstance(product.left, Sparse):
        return left, right, None
    return left, right, _placed(product.left, np.ones(product.left.matrix.shape, np.bool_), codes)


def _placed(whole: Sparse, kept: NDArray[Any], codes: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Kept elements at their places in the whole matrix; of two at one place, their sum."""
    assert isinstance(whole.index, Tensor)
    out: NDArray[Any] = np.zeros(whole.shape, kept.dtype)
    places = np.arange(kept.shape[1]) // 2 * 4 + codes[whole.index.name]
    np.add.at(out, (np.arange(len(out))[:, None], places), kept)
    return out


def _product(
    left: NDArray[np.float64], right: NDArray[np.float64], kept: NDArray[np.bool_] | None
) -> NDArray[np.float64]:
    """``left @ right`` in float64, where an infinity or a NaN times an element that is not kept does not count."""
    if kept is None:
        plain: NDArray[np.float64] = left @ right
        return plain
    wild = ~np.isfinite(right).all(axis=1)
    total: NDArray[np.float64] = left[:, ~wild] @ right[~wild]
    for k in np.flatnonzero(wild):
        total += np.where(kept[:, k, None], left[:, k, None] * right[None, k], 0)
    return total


def _as_passed(expression: Times, arch: Arch) -> float:
    """The factor as a kernel's argument: a float is an f32, unless matrices are f64."""
    wide = any(isinstance(part, Tensor) and format_of(part, arch).name == "f64" for part in expression.parts())
    return expression.factor if wide else float(np.float32(expression.factor))


def _values(
    expression: Expression, codes: Mapping[str, NDArray[Any]], arch: Arch, *, aligned: bool = False
) -> NDArray[np.float64]:
    """Values of a tensor or a scaled tensor, both exact in float64; with `aligned` subnormals as in `magnitude`."""
    if isinstance(expression, Scaled):
        matrix, scale = _values(expression.matrix, codes, arch, aligned=aligned), _values(expression.scale, codes, arch)
        for axis in (0, 1):
            scale = np.repeat(scale, matrix.shape[axis] // scale.shape[axis], axis=axis)
        return matrix * scale
    if isinstance(expression, Sparse):
        return _placed(expression, _values(expression.matrix, codes, arch, aligned=aligned), codes)
    if isinstance(expression, Tensor):
        raw = codes[expression.name]
        if expression.role.startswith("scale"):
            raw = raw[..., expression.select]
        fmt = format_of(expression, arch)
        values = fmt.decode(raw)
        if expression.read:
            fmt = find_format(expression.read)
            values = fmt.decode(fmt.encode(values, overflow="infinity_or_nan"))
        if aligned and not fmt.integer:
            values = np.where((values != 0) & (np.abs(values) < fmt.smallest_normal), fmt.smallest_normal, values)
        return values
    raise MfmasimError(
        "a factor of a matrix product must be an argument, an argument times its scales, or sparse(argument, index)"
    )


def _from_floats(values: NDArray[np.float64]) -> Exact:
    special = np.where(np.isfinite(values), 0.0, values)
    finite = np.where(np.isfinite(values), values, 0.0)
    low, exponent = _lowest(finite), np.frexp(finite)[1]
    used = finite != 0
    if int(exponent[used].max(initial=low)) - low <= 62:
        return Exact(np.ldexp(finite, -low).astype(np.int64), low, special)
    whole = np.ldexp(finite, 53 - exponent).astype(np.int64).astype(object)
    shift = np.where(used, exponent - 53 - low, 0).astype(object)
    up, down = np.maximum(shift, 0), np.maximum(-shift, 0)
    return Exact(whole * (1 << up) >> down, low, special)


def _most(integers: NDArray[np.int64]) -> int:
    return int(np.abs(integers).max(initial=0))


def _scaled(integers: NDArray[Any], factor: int) -> NDArray[Any]:
    """Integers times a factor, in int64 as long as 62 bits hold them."""
    if factor == 1:
        return integers
    if integers.dtype != object and abs(factor) < 1 << 62 and _most(integers) * abs(factor) < 1 << 62:
        return integers * np.int64(factor)
    return integers.astype(object, copy=False) * factor


def _summed(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Sums of integers, in int64 as long as 62 bits hold them."""
    if object not in (left.dtype, right.dtype) and _most(left) + _most(right) >= 1 << 62:
        left = left.astype(object)
    total: NDArray[Any] = left + right
    return total


def _add(left: Exact, right: Exact) -> Exact:
    low = min(left.exponent, right.exponent)
    total = _summed(
        _scaled(left.integers, 1 << (left.exponent - low)), _scaled(right.integers, 1 << (right.exponent - low))
    )
    with np.errstate(invalid="ignore"):  # infinities of both signs make a NaN
        special = left.special + right.special
    return Exact(total, low, special)


def _times(factor: float, value: Exact) -> Exact:
    numerator, denominator = factor.as_integer_ratio()
    shift = denominator.bit_length() - 1
    with np.errstate(invalid="ignore"):
        special = np.where(value.special != 0, factor * value.special, 0.0)
    return Exact(_scaled(value.integers, numerator), value.exponent - shift, special)


def _multiply(left: NDArray[np.float64], right: NDArray[np.float64], kept: NDArray[np.bool_] | None = None) -> Exact:
    # K products of two limbs have to stay below 2^53.
    width = (53 - left.shape[1].bit_length()) // 2
    with np.errstate(invalid="ignore", over="ignore"):
        plain = _product(left, right, kept)
    special = np.where(np.isfinite(plain), 0.0, plain)
    a, low_a = _limbs(left, width)
    b, low_b = _limbs(right, width)
    total: NDArray[Any] = np.zeros(special.shape, np.int64)
    for place in range(len(a) + len(b) - 1):
        pairs = [(i, place - i) for i in range(len(a)) if 0 <= place - i < len(b)]
        for i, j in pairs:
            total = _summed(total, _scaled((a[i] @ b[j]).astype(np.int64), 1 << (width * place)))
    return Exact(total, low_a + low_b, special)


def _limbs(values: NDArray[np.float64], width: int) -> tuple[list[NDArray[np.float64]], int]:
    """Split into signed limbs of `width` bits, lowest first, and the exponent of the lowest one's unit."""
    finite = np.where(np.isfinite(values), values, 0.0)
    used = finite != 0
    if not used.any():
        return [finite], 0
    low, high = _lowest(finite), int(np.frexp(finite)[1][used].max())
    limbs = []
    for start in range(low, high, width):
        # Bits start .. start+width of the magnitude; scaling by a power of two is exact, as is the floor.
        above = np.floor(np.ldexp(np.abs(finite), -(start + width)))
        here = np.floor(np.ldexp(np.abs(finite) - np.ldexp(above, start + width), -start))
        limbs.append(np.copysign(here, finite))
    return limbs, low


def round_once(value: Exact, fmt: Format) -> NDArray[Any]:
    """Round exact values to nearest even in a format; codes, overflow gives Inf (or NaN without one)."""
    return fmt.encode(as_floats(value, fmt.bits), overflow="infinity_or_nan")


def as_floats(value: Exact, bits: int = 32) -> NDArray[np.float64]:
    """Exact values as float64 that round to every format of at most 32 bits as they do; for 64 bits, rounded once."""
    whole = _narrow(value.integers) if bits <= 32 else None
    parts = _halves(value.integers) if bits <= 32 and whole is None else None
    if whole is not None:
        numbers = _to_floats(whole, value.exponent)
    elif parts is not None:
        numbers = _joined(*parts, value)
    else:
        flat = [_to_float(int(n), value.exponent, bits) for n in value.integers.reshape(-1)]
        numbers = np.array(flat, np.float64).reshape(value.integers.shape)
    return np.where(value.special != 0, value.special, numbers)


def _halves(integers: NDArray[np.object_]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Magnitudes of at most 124 bits as their upper and lower 62 bits; None if one is larger."""
    size = np.abs(integers)
    high = _narrow(size >> 62)
    return None if high is None else (high, (size & ((1 << 62) - 1)).astype(np.int64))


def _joined(high: NDArray[np.int64], low: NDArray[np.int64], value: Exact) -> NDArray[np.float64]:
    """`_to_float` of many numbers of at most 124 bits."""
    bits = np.searchsorted(_POWERS, high.reshape(-1), side="right").reshape(high.shape)  # of the upper half
    kept = np.where(bits > 0, high << (62 - bits) | low >> bits, low)  # 62 bits from the first one on
    kept |= (low & ((np.int64(1) << bits) - 1)) != 0  # round to odd
    return np.copysign(_to_floats(kept, value.exponent + bits), np.where(value.integers < 0, -1.0, 1.0))


def _narrow(integers: NDArray[Any]) -> NDArray[np.int64] | None:
    """Integers of at most 62 bits as int64; None if one is larger."""
    try:
        whole = integers.astype(np.int64)
    except OverflowError:
        return None
    return whole if (np.abs(whole >> 1) < 1 << 61).all() else None


_BEYOND = 2 ** np.arange(53, 63, dtype=np.int64)
"""Numbers that have one bit more, two bits more, ... than a float64 holds."""


_POWERS = 2 ** np.arange(62, dtype=np.int64)


def _to_floats(whole: NDArray[np.int64], exponent: int | NDArray[np.int64]) -> NDArray[np.float64]:
    """`_to_float` of many numbers of at most 62 bits."""
    size = np.abs(whole)
    extra = np.searchsorted(_BEYOND, size.reshape(-1), side="right").reshape(size.shape)
    kept = size >> extra
    kept |= (kept << extra) != size
    with np.errstate(over="ignore", under="ignore"):
        return np.copysign(np.ldexp(kept.astype(np.float64), exponent + extra), whole)


def _to_float(number: int, exponent: int, bits: int) -> float:
    """A float64 that rounds to every format of at most 32 bits as the exact number does.

    Its last bit is set when anything was cut off (round to odd), so a second rounding to at most 24 bits is right.
    """
    if bits == 64:
        try:
            return float(Fraction(number) * Fraction(2) ** exponent)
        except OverflowError:
            return math.copysign(math.inf, number)
    size = abs(number)
    extra = size.bit_length() - 53
    if extra > 0:
        size = size >> extra | bool(size & ((1 << extra) - 1))
        exponent += extra
    try:
        return math.copysign(math.ldexp(size, exponent), number)
    except OverflowError:
        return math.copysign(math.inf, number)
