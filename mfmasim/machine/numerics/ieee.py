"""Arithmetic of IEEE 754 on arrays of float16, float32 and float64, as MODE says.

In the mode that HIP compilers set, NumPy's operations are the instruction's. Denormals that MODE flushes become zeros
before and after; a rounding other than to nearest even goes through integers, element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import Array
from mfmasim.machine.numerics import exact
from mfmasim.machine.numerics.float_formats import BY_SIZE, F64, Form
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.numerics.lane_masks import every, some


def entering(values: Array, form: Form, mode: FloatMode) -> Array:
    """Sources of the operation: denormals are flushed if MODE requires it.

    Args:
        values: sources, floats.
        form: the format.
        mode: the MODE register.
    """
    return values if mode.plain or mode.denormals(form.width) & 1 else form.flushed(values)


def leaving(out: Array, form: Form, mode: FloatMode, *sources: Array) -> Array:
    """The written result: NaN rule, FP16_OVFL, denormals flushed if MODE requires it.

    Args:
        out: the result before these rules, floats.
        form: the format.
        mode: the MODE register.
        *sources: of the operation, in order.
    """
    true: Any = False
    if mode.fp16_ovfl and form.width == 16:
        for source in sources:
            true = true | np.isinf(source)
    return limited(form.settled(out, *sources, quiet=mode.quiets), form, mode, true)


def leaving_fused(out: Array, form: Form, mode: FloatMode, a: Array, b: Array, c: Array) -> Array:
    """`leaving` of a * b + c, with the rule for an invalid operation that has a NaN source, too.

    Args:
        out: the result before these rules, floats.
        form: the format.
        mode: the MODE register.
        a: the first factor.
        b: the second factor.
        c: the addend.
    """
    left = leaving(out, form, mode, a, b, c)
    if not mode.rules.fused_invalid_first or not np.isnan(left).any():
        return left
    infinite = (np.isinf(a) & ~np.isnan(b)) | (np.isinf(b) & ~np.isnan(a))
    opposite = np.isinf(c) & (np.signbit(a) ^ np.signbit(b) != np.signbit(c))
    invalid = infinite & ((a == 0) | (b == 0) | opposite)
    default = form.word(form.sign | form.infinity | form.quiet)
    settled: Array = np.where(invalid, default, form.bits(left)).view(form.real)
    return settled


def limited(out: Array, form: Form, mode: FloatMode, true: Any) -> Array:
    """The part of `leaving` after the NaN rule; `true` are the results whose infinity is not an overflow.

    Args:
        out: the result, floats.
        form: the format.
        mode: the MODE register.
        true: results whose infinity is not an overflow.
    """
    if form.width == 16 and mode.fp16_ovfl:
        largest = np.copysign(form.real(65504), out)
        out = np.where(np.isinf(out) & ~true, largest, out)
    if not mode.plain and not mode.denormals(form.width) & 2:
        out = form.flushed(out)
    return out


def _finite(*sources: Array) -> NDArray[np.bool_]:
    where: NDArray[np.bool_] = np.isfinite(sources[0])
    for source in sources[1:]:
        where = where & np.isfinite(source)
    return where


def _otherwise(
    function: Callable[..., int], out: Array, form: Form, mode: FloatMode, where: Array, *sources: Array
) -> Array:
    """Recompute finite sources by integers: for another rounding, or if a tiny result became a normal number.

    Args:
        function: of `exact`.
        out: the result with rounding to nearest even and denormals.
        form: the format.
        mode: the MODE register.
        where: the finite sources.
        *sources: bits or integers.
    """
    rounding, flush = mode.rounding(form.width), not mode.denormals(form.width) & 2
    if not rounding:
        if not flush:
            return out
        where = where & (np.abs(out) == form.smallest)
    return exact.elementwise(lambda *row: function(*row, form, rounding, flush), form, where, out, *sources)


def _fused_again(out: Array, form: Form, mode: FloatMode, a: Array, b: Array, c: Array) -> Array:
    """`_otherwise` of a * b + c."""
    bits = [form.bits(source) for source in (a, b, c)]
    return _otherwise(exact.fma, out, form, mode, _finite(a, b, c), *bits)


def _one(form: Form, like: Array) -> Array:
    return np.full(np.shape(like), 1, form.real)


def add(a: Array, b: Array, mode: FloatMode) -> Array:
    """The sum a + b.

    Args:
        a: the first source.
        b: the second source.
        mode: the MODE register.
    """
    form = BY_SIZE[a.dtype.itemsize]
    if mode.plain:
        out = a + b
        # The usual case: no NaN, and no other rule applies.
        if not mode.fp16_ovfl and every(np.equal(out, out)):
            return out
        return leaving(out, form, mode, a, b)
    a, b = entering(a, form, mode), entering(b, form, mode)
    out = a + b
    if mode.rounding(form.width):  # a tiny sum is exact
        out = _fused_again(out, form, mode, a, _one(form, a), b)
    return leaving(out, form, mode, a, b)


def multiply(a: Array, b: Array, mode: FloatMode) -> Array:
    """The product a * b.

    Args:
        a: the first source.
        b: the second source.
        mode: the MODE register.
    """
    form = BY_SIZE[a.dtype.itemsize]
    if mode.plain:
        out = a * b
        if not mode.fp16_ovfl and every(np.equal(out, out)):
            return out
        return leaving(out, form, mode, a, b)
    a, b = entering(a, form, mode), entering(b, form, mode)
    # Adding a zero of the product's sign leaves the product, its sign included.
    zero = np.copysign(form.real(0), np.copysign(form.real(1), a) * np.copysign(form.real(1), b))
    out = _fused_again(a * b, form, mode, a, b, zero)
    return leaving(out, form, mode, a, b)


def fused(a: Array, b: Array, c: Array, mode: FloatMode) -> Array:
    """The sum a * b + c with one rounding.

    Args:
        a: the first factor.
        b: the second factor.
        c: the addend.
        mode: the MODE register.
    """
    form = BY_SIZE[a.dtype.itemsize]
    if mode.plain:
        if form is F64:
            return leaving_fused(_fused64(a, b, c), form, mode, a, b, c)
        out, usual = _fused_small(a, b, c)
        return out if usual and not mode.fp16_ovfl else leaving_fused(out, form, mode, a, b, c)
    a, b, c = (entering(x, form, mode) for x in (a, b, c))
    out = _fused64(a, b, c) if form is F64 else _fused_small(a, b, c)[0]
    out = _fused_again(out, form, mode, a, b, c)
    return leaving_fused(out, form, mode, a, b, c)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Sum and its error, exact (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _odd(total: Array, error: Array) -> Array:
    """A sum with its error, rounded to odd: the last bit is set when it was inexact."""
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    # Towards the exact value's side; from an even last bit both neighbours are odd.
    odd = np.where((error < 0) != (total < 0), bits - 1, bits + 1)
    return np.where(inexact, odd, bits).view(np.float64)


def sum_to_odd(a: Array, b: Array) -> Array:
    """The sum of two float64 rounded to odd, to be rounded once more to a format of at most 51 bits."""
    return _odd(*_two_sum(a, b))


WIDE = np.dtype(np.float64)
# For float16 and float32: by how much the bits of a float64 that are below the last place of the result are shifted to
# the top, half of that place when they are there, smallest normal. Arrays without axes: quicker operands than scalars.
BELOW = {
    2: (np.array(22, np.uint64), np.array(1 << 63, np.uint64), np.array(2.0**-14)),
    4: (np.array(35, np.uint64), np.array(1 << 63, np.uint64), np.array(2.0**-126, np.float32)),
}


CACHED = 1 << 14
"""Elements whose intermediate float64 values stay in the caches."""


def _in_parts(a: Array, b: Array, c: Array) -> tuple[Array, bool]:
    """`_fused_small` of large arrays, some rows at a time."""
    shape = np.broadcast_shapes(a.shape, b.shape, c.shape)
    out, usual = np.empty(shape, a.dtype), True
    step = max(1, CACHED // math.prod(shape[1:]))
    for first in range(0, shape[0], step):
        rows = slice(first, first + step)
        part = [x[rows] if x.ndim and len(x) > 1 else x for x in (a, b, c)]
        out[rows], numbers = _fused_small(*part)
        usual &= numbers
    return out, usual


def _holds(out: Array, other: Array) -> bool:
    """Whether the result of both has the shape of the first one, which is an array."""
    if other.shape == out.shape or not other.ndim:
        return out.ndim > 0
    return len(other) == 1 and other.shape[1:] == out.shape[1:]


def _fused_small(a: Array, b: Array, c: Array) -> tuple[Array, bool]:
    """float16 and float32: their product is exact in float64, and the sum nearly so.

    Rounding the float64 sum again goes wrong only from the middle between two results, or where the result is
    denormal. There the sum is first rounded to odd, and two bits more than the result are enough (Boldo and
    Melquiond): 53 against 24 or 11.

    Returns:
        The results, and whether all are known to be numbers other than zero.
    """
    if a.size + b.size + c.size > CACHED and max(a.size, b.size, c.size) > CACHED:
        return _in_parts(a, b, c)
    if not a.ndim:
        a, b = b, a
    x, y, z = a.astype(WIDE), b.astype(WIDE), c.astype(WIDE)
    total: Array = np.multiply(x, y, x if _holds(x, y) else None)
    total = np.add(total, z, total if _holds(total, z) else None)
    up, middle, normal = BELOW[a.dtype.itemsize]
    out: Array = total.astype(a.dtype)
    # The result shows as much as the sum, in half the bytes; NumPy compares float16 slowly. A NaN compares as false.
    usual = np.abs(out if a.dtype.itemsize == 4 else total) > normal
    below = total.view(np.uint64)
    usual &= np.left_shift(below, up, below if below.ndim else None) != middle  # the sum is no longer needed
    if every(usual):
        return out, True
    return _settled_sums(a, b, c, out), False


def _settled_sums(a: Array, b: Array, c: Array, out: Array) -> Array:
    """Sums of float16 or float32 again, where rounding twice may have gone wrong."""
    total: Array = a.astype(WIDE) * b.astype(WIDE) + c.astype(WIDE)
    up, middle, normal = BELOW[out.dtype.itemsize]
    doubtful = (np.abs(total) < normal) & (total != 0) | (total.view(np.uint64) << up == middle)
    if some(doubtful):
        _, *sources = np.broadcast_arrays(out, a, b, c)
        x, y, z = (source[doubtful].astype(WIDE) for source in sources)
        out[doubtful] = sum_to_odd(x * y, z).astype(out.dtype)
    return out


SPLIT = np.float64(2**27 + 1)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Product and its error, exact within the range that `_fused64` keeps to (Dekker)."""
    product = a * b
    high_a, high_b = SPLIT * a, SPLIT * b
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def _fused64(a: Array, b: Array, c: Array) -> Array:
    """float64: the method of Boldo and Melquiond ("Emulation of FMA and correctly rounded sums", 2008).

    It holds while nothing overflows or becomes denormal on the way; elements outside that range go through integers.
    """
    high, low = _two_product(a, b)
    middle, rest = _two_sum(c, low)
    top, bottom = _two_sum(high, middle)
    out = top + _odd(*_two_sum(bottom, rest))
    sizes = [np.abs(x) for x in (a, b, c)]
    safe = (sizes[2] == 0) | ((sizes[2] > 2.0**-400) & (sizes[2] < 2.0**900))
    for size in sizes[:2]:
        safe = safe & (size > 2.0**-200) & (size < 2.0**400)
    finite = _finite(a, b, c)
    # NaN and infinity have no exact part; a finite product may not overflow before an infinite c.
    special = np.where(_finite(a, b), c, a * b + c)
    out = np.where(finite, out, special)
    bits = [F64.bits(x) for x in (a, b, c)]
    # An exact zero has the sign that IEEE gives it, which the parts above do not keep.
    again = finite & (~safe | (out == 0))
    return exact.elementwise(lambda x, y, z: exact.fma(x, y, z, F64, 0), F64, again, out, *bits)


def reciprocal_root(a: Array) -> Array:
    """1 / sqrt(a) of float64: the host's value, corrected by a step of second order whose error term is exact.

    The result is correctly rounded except where 1 / sqrt(a) lies within 2**-100 of the middle of two numbers.
    """
    part, power = np.frexp(a)
    odd = power & 1
    part, power = np.ldexp(part, odd), power - odd
    out = 1 / np.sqrt(part)
    # part * out**2 - 1, from exact products.
    high, low = _two_product(out, out)
    top, bottom = _two_product(part, high)
    error = (top - 1) + (bottom + part * low)
    fine = np.isfinite(a) & (a > 0)
    return np.where(fine, np.ldexp(out - out * (error / 2 * (1 - 0.75 * error)), -(power // 2)), 1 / np.sqrt(a))


def scale(a: Array, power: Array, mode: FloatMode) -> Array:
    """The product a * 2**power; `power` is int32.

    Args:
        a: the number.
        power: of two, int32.
        mode: the MODE register.
    """
    form = BY_SIZE[a.dtype.itemsize]
    a = entering(a, form, mode)
    bounded = np.clip(power, -4400, 4400)
    if form.width == 16:
        # In float32 nothing that float16 can hold is lost; beyond, both give zero or infinity.
        out = np.ldexp(a.astype(np.float32), np.clip(bounded, -100, 100)).astype(np.float16)
    else:
        out = np.ldexp(a, bounded)
    if not mode.plain:
        powers = np.broadcast_to(bounded.astype(np.int64), np.shape(out))
        out = _otherwise(exact.scaled, out, form, mode, np.isfinite(a), form.bits(a), powers)
    return leaving(out, form, mode, a)
