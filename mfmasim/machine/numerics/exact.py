"""Sums, products and scalings in Python integers, rounded once as MODE says: for what NumPy's floats cannot do.

A finite number is (signed significand, power of two). These functions take raw bits of one element; the array functions
of `mfmasim.machine.numerics.ieee` call them where the rounding is not to nearest even, or where a float64 fused
multiply-add may leave the range of the fast method. Source: IEEE 754-2019, 4.3 and 6.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.machine.numerics.float_formats import Form

    Number = tuple[int, int]

UP, DOWN = 1, 2


def _parts(bits: int, form: Form) -> Number:
    """Significand with its sign, and power of two, of finite bits."""
    exponent = bits >> form.fraction & (2 * form.bias + 1)
    significand = bits & ((1 << form.fraction) - 1)
    if exponent:
        significand |= 1 << form.fraction
    negative = bits >> (form.width - 1)
    return (-significand if negative else significand), max(exponent, 1) - form.bias - form.fraction


def rounded(significand: int, power: int, negative: bool, form: Form, rounding: int, flush: bool = False) -> int:
    """Bits of significand * 2**power (not negative) with a sign, rounded.

    A result is tiny, and flushed, if it is below the smallest normal number after rounding to the format's precision
    with an unbounded exponent. So do captures of V_MUL_F32 on gfx1100 and gfx1201 (AMD's rocjitsu,
    valu_fp_mode_test.cpp) and of V_CVT_F16_F32 with OMOD on gfx1201 (bjacob/goc, conversion16_hardware.h); of CDNA it
    is assumed.

    Args:
        significand: a natural number.
        power: of two.
        negative: the sign, also of a zero.
        form: the format of the result.
        rounding: 0 nearest even, 1 up, 2 down, 3 toward zero.
        flush: whether a tiny result is a zero of its sign.
    """
    sign = int(negative) << (form.width - 1)
    if not significand:
        return sign
    # The power of two of the result's last place.
    place, lowest = power + significand.bit_length() - 1 - form.fraction, 1 - form.bias - form.fraction
    place = place if flush else max(place, lowest)
    if place > power:
        shift = place - power
        digits, rest = significand >> shift, significand & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        away = rounding == (DOWN if negative else UP)
        if rest and (away or (rounding == 0 and (rest > half or (rest == half and digits & 1)))):
            digits += 1
    else:
        digits = significand << (power - place)
    if digits >> (form.fraction + 1):
        digits, place = digits >> 1, place + 1
    if place < lowest:
        return sign
    exponent = place + form.fraction + form.bias if digits >> form.fraction else 0
    if exponent > 2 * form.bias:
        infinite = rounding in (0, DOWN if negative else UP)
        return sign | (int(form.infinity) if infinite else int(form.infinity) - 1)
    return sign | exponent << form.fraction | digits & ((1 << form.fraction) - 1)


def fma(a: int, b: int, c: int, form: Form, rounding: int, flush: bool = False, scale: int = 0) -> int:
    """(a * b + c) * 2**scale of finite bits.

    Args:
        a: bits of the first factor.
        b: bits of the second factor.
        c: bits of the addend.
        form: the format.
        rounding: 0 nearest even, 1 up, 2 down, 3 toward zero.
        flush: whether a tiny result is a zero of its sign.
        scale: power of two of the scaling before rounding.
    """
    (x, p), (y, q), (z, r) = (_parts(bits, form) for bits in (a, b, c))
    product, power = x * y, p + q
    lowest = min(power, r)
    total = (product << (power - lowest)) + (z << (r - lowest))
    if total:
        return rounded(abs(total), lowest + scale, total < 0, form, rounding, flush)
    signs = (a ^ b) >> (form.width - 1), c >> (form.width - 1)
    # Zeros of one sign keep it; otherwise zero is positive except when rounding down.
    negative = signs[0] if signs[0] == signs[1] else rounding == DOWN
    return rounded(0, 0, bool(negative), form, rounding)


def scaled(a: int, power: int, form: Form, rounding: int, flush: bool = False) -> int:
    """The product a * 2**power of finite bits.

    Args:
        a: bits of the number.
        power: of two.
        form: the format.
        rounding: 0 nearest even, 1 up, 2 down, 3 toward zero.
        flush: whether a tiny result is a zero of its sign.
    """
    significand, exponent = _parts(a, form)
    # Beyond any format's range the value no longer matters.
    limit = 4 * form.bias
    power = min(max(power, -limit), limit)
    return rounded(abs(significand), exponent + power, bool(a >> (form.width - 1)), form, rounding, flush)


def elementwise(
    function: Callable[..., int], form: Form, where: NDArray[np.bool_], out: NDArray[Any], *sources: NDArray[Any]
) -> NDArray[Any]:
    """Replace elements of `out` by a function of the raw bits of the sources, one by one.

    Args:
        function: of the bits of one element of each source; gives the bits of the result.
        form: format of the result.
        where: elements to replace.
        out: the result so far, floats.
        *sources: bits, in shapes that broadcast.
    """
    if not where.any():
        return out
    shape = np.shape(out)
    flat = np.array(np.broadcast_to(out, shape)).reshape(-1)
    bits = flat.view(form.word)
    chosen = np.flatnonzero(np.broadcast_to(where, shape))
    columns = [np.broadcast_to(source, shape).reshape(-1)[chosen].tolist() for source in sources]
    bits[chosen] = np.array([function(*row) for row in zip(*columns, strict=True)], form.word)
    return flat.reshape(shape)
