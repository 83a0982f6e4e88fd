"""IEEE 754 in Python integers and fractions: one exact value, one rounding to nearest even, denormals kept.

A number format is (exponent bits, fraction bits). Every function takes and returns raw bits. NaNs: a signalling NaN is
quieted, the first NaN among the operands is the result (CDNA3 ISA manual, 3.4.2: IEEE mode quiets and propagates).
"""

from __future__ import annotations

from fractions import Fraction

F16, F32, F64 = (5, 10), (8, 23), (11, 52)


def width(form):
    """Bits of a format."""
    return 1 + form[0] + form[1]


def sign_of(bits, form):
    """1 for a negative number or zero."""
    return bits >> (width(form) - 1) & 1


def exponent_of(bits, form):
    """The exponent field."""
    return bits >> form[1] & ((1 << form[0]) - 1)


def fraction_of(bits, form):
    """The fraction field."""
    return bits & ((1 << form[1]) - 1)


def is_nan(bits, form):
    """Whether the bits are a NaN of either kind."""
    return exponent_of(bits, form) == (1 << form[0]) - 1 and fraction_of(bits, form) != 0


def is_signalling(bits, form):
    """Whether the bits are a signalling NaN."""
    return is_nan(bits, form) and not bits >> (form[1] - 1) & 1


def is_inf(bits, form):
    """Whether the bits are an infinity."""
    return exponent_of(bits, form) == (1 << form[0]) - 1 and fraction_of(bits, form) == 0


def is_zero(bits, form):
    """Whether the bits are a zero of either sign."""
    return exponent_of(bits, form) == 0 and fraction_of(bits, form) == 0


def quiet(bits, form):
    """The NaN with its quiet bit set."""
    return bits | 1 << (form[1] - 1)


def default_nan(form):
    """The NaN of an invalid operation."""
    return ((1 << (form[0] + 1)) - 1) << (form[1] - 1)


def infinity(sign, form):
    """An infinity."""
    return sign << (width(form) - 1) | ((1 << form[0]) - 1) << form[1]


def zero(sign, form):
    """A zero."""
    return sign << (width(form) - 1)


def value(bits, form):
    """The exact value of finite bits."""
    exponent, fraction = exponent_of(bits, form), fraction_of(bits, form)
    bias = (1 << (form[0] - 1)) - 1
    significand = fraction if exponent == 0 else fraction | 1 << form[1]
    power = max(exponent, 1) - bias - form[1]
    result = Fraction(significand) * (Fraction(2) ** power)
    return -result if sign_of(bits, form) else result


def nearest(number):
    """The nearest integer of a fraction that is not negative, ties to even."""
    whole, rest = divmod(number.numerator, number.denominator)
    double = 2 * rest
    if double > number.denominator or (double == number.denominator and whole & 1):
        whole += 1
    return whole


def rounded(number, form, sign_of_zero=0):
    """The bits nearest to an exact number, ties to even; overflow becomes an infinity."""
    if number == 0:
        return zero(sign_of_zero, form)
    sign, size = (1, -number) if number < 0 else (0, number)
    bias = (1 << (form[0] - 1)) - 1
    # The power of two at or below the number.
    power = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** power > size:
        power -= 1
    power = max(power, 1 - bias)
    significand = nearest(size / Fraction(2) ** (power - form[1]))
    if significand >> (form[1] + 1):
        significand >>= 1
        power += 1
    if power > bias:
        return infinity(sign, form)
    exponent = power + bias if significand >> form[1] else 0
    return sign << (width(form) - 1) | exponent << form[1] | significand & ((1 << form[1]) - 1)


def first_nan(operands, form):
    """The first NaN among the operands, quieted, or None."""
    return next((quiet(bits, form) for bits in operands if is_nan(bits, form)), None)


def add(a, b, form):
    """a + b."""
    nan = first_nan((a, b), form)
    if nan is not None:
        return nan
    if is_inf(a, form) or is_inf(b, form):
        if is_inf(a, form) and is_inf(b, form) and a != b:
            return default_nan(form)
        return a if is_inf(a, form) else b
    both_negative = sign_of(a, form) & sign_of(b, form)
    return rounded(value(a, form) + value(b, form), form, both_negative)


def negated(a, form):
    """The bits with their sign turned."""
    return a ^ 1 << (width(form) - 1)


def multiply(a, b, form):
    """a * b."""
    nan = first_nan((a, b), form)
    if nan is not None:
        return nan
    sign = sign_of(a, form) ^ sign_of(b, form)
    if is_inf(a, form) or is_inf(b, form):
        return default_nan(form) if is_zero(a, form) or is_zero(b, form) else infinity(sign, form)
    return rounded(value(a, form) * value(b, form), form, sign)


def fused(a, b, c, form):
    """a * b + c with one rounding."""
    nan = first_nan((a, b, c), form)
    if nan is not None:
        return nan
    sign = sign_of(a, form) ^ sign_of(b, form)
    if is_inf(a, form) or is_inf(b, form):
        if is_zero(a, form) or is_zero(b, form) or (is_inf(c, form) and sign != sign_of(c, form)):
            return default_nan(form)
        return infinity(sign, form)
    if is_inf(c, form):
        return c
    exact = value(a, form) * value(b, form) + value(c, form)
    zero_product = is_zero(a, form) or is_zero(b, form)
    negative_zero = sign & sign_of(c, form) if zero_product or exact == 0 else 0
    return rounded(exact, form, negative_zero)


def order(a, b, form):
    """-1, 0, 1 for less, equal, greater; None when a NaN makes them unordered."""
    if is_nan(a, form) or is_nan(b, form):
        return None
    x, y = (float_key(bits, form) for bits in (a, b))
    return (x > y) - (x < y)


def float_key(bits, form):
    """A key that orders finite numbers and infinities; both zeros are equal."""
    size = bits & ((1 << (width(form) - 1)) - 1)
    return -size if sign_of(bits, form) else size


def clamped(bits, form):
    """The CLAMP modifier: into [0, 1], a NaN to 0 (DX10_CLAMP is set in every HSA kernel).

    -0 is not below 0 and stays, as LLVM folds the modifier on constants; the manual does not say.
    """
    one = ((1 << (form[0] - 1)) - 1) << form[1]
    if is_zero(bits, form):
        return bits
    if is_nan(bits, form) or sign_of(bits, form):
        return 0
    return min(bits, one)


def larger(a, b, form):
    """V_MAX in IEEE mode: a signalling NaN wins quieted, else the number wins over a NaN; +0 is above -0."""
    return _select(a, b, form, 1)


def smaller(a, b, form):
    """V_MIN in IEEE mode; -0 is below +0."""
    return _select(a, b, form, -1)


def _select(a, b, form, wanted):
    for bits in (a, b):
        if is_signalling(bits, form):
            return quiet(bits, form)
    if is_nan(a, form):
        return b
    if is_nan(b, form):
        return a
    found = order(a, b, form)
    if found == 0:
        # Equal numbers differ at most in the sign of zero.
        return a if (sign_of(a, form) == 0) == (wanted == 1) else b
    return a if found == wanted else b
