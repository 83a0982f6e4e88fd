"""Reciprocals, roots, exponentials, sines and division under MODE, in decimals and fractions with places to spare.

Source: CDNA3 ISA manual, VOP1 opcodes 32 to 42 and 61 to 74, VOP3 opcodes 478 to 483 and 519.
"""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction

from tests.slow.machine import floats as fl
from tests.slow.machine import tabulated
from tests.slow.machine.float_mode import (
    NOW,
    ONE,
    PI,
    entering,
    exact_zero,
    finite_result,
    flushed,
    fused,
    leaving,
    rounding,
    row,
    scaled,
)
from tests.slow.machine.floats import F16, F32, F64
from tests.slow.machine.vector_alu import FORMS

# Approximations: the value that is nearest to the exact one, worked out with decimal places to spare.

DIGITS = 60
getcontext().prec = DIGITS
DECIMAL_PI = Decimal(PI) / Decimal(ONE)


def _decimal(number):
    return Decimal(number.numerator) / Decimal(number.denominator)


def _sine(angle):
    """sin of a small Decimal, by its series."""
    total, term, k = Decimal(0), angle, 1
    while abs(term) > Decimal(10) ** -DIGITS:
        total += term
        term = -term * angle * angle / ((k + 1) * (k + 2))
        k += 2
    return total


def _turned(number):
    """sin(2 pi x) of a Fraction: by symmetry from the first eighth, zeros and ones exact."""
    part = number - math.floor(number)
    if part >= Fraction(1, 2):
        return -_turned(part - Fraction(1, 2))
    part = min(part, Fraction(1, 2) - part)
    if part <= Fraction(1, 8):
        return _sine(2 * DECIMAL_PI * _decimal(part))
    if part == Fraction(1, 4):
        return Decimal(1)
    other = _sine(2 * DECIMAL_PI * _decimal(Fraction(1, 4) - part))
    return (1 - other * other).sqrt()


def _power_of_two(number):
    if number > 2000 or number < -2000:
        return Decimal(2) ** (2000 if number > 0 else -2000)
    return Decimal(2) ** math.floor(number) * (_decimal(number - math.floor(number)) * Decimal(2).ln()).exp()


_EXACT = {
    "rcp": lambda x: Fraction(1) / x,
    "rsq": lambda x: 1 / _decimal(x).sqrt(),
    "sqrt": lambda x: _decimal(x).sqrt(),
    "exp": _power_of_two,
    "log": lambda x: _decimal(x).ln() / Decimal(2).ln(),
    "sin": _turned,
    "cos": lambda x: _turned(x + Fraction(1, 4)),
}


def _special(word, bits, form):
    """What zero, infinity and NaN give, and negative numbers where they have no result; None for the others."""
    sign, one = fl.sign_of(bits, form), fl.rounded(Fraction(1), form)
    invalid = fl.default_nan(form) | fl.zero(1, form)
    if fl.is_nan(bits, form):
        return fl.quiet(bits, form) if NOW.quiets else bits
    if fl.is_zero(bits, form):
        return {
            "rcp": fl.infinity(sign, form),
            "rsq": fl.infinity(sign, form),
            "sqrt": bits,
            "exp": one,
            "log": fl.infinity(1, form),
            "sin": bits,
            "cos": one,
        }[word]
    if fl.is_inf(bits, form):
        positive = {"rsq": 0, "sqrt": bits, "log": bits}
        return {"rcp": fl.zero(sign, form), "exp": 0 if sign else bits}.get(
            word, invalid if sign or word in ("sin", "cos") else positive.get(word)
        )
    return invalid if sign and word in ("rsq", "sqrt", "log") else None


def _approximate(word, bits, form):
    always = form == F32 and word not in ("sin", "cos")
    bits = flushed(bits, form) if always else entering(bits, form)
    out = _special(word, bits, form)
    if out is None and NOW.function_tables and word in ("sin", "cos"):
        wide = bits if form == F32 else fl.rounded(fl.value(bits, form), F32)
        out = tabulated.turned(wide, word == "cos")
        if form != F32:
            out = fl.rounded(fl.value(out, F32), form, fl.sign_of(out, F32))
    elif out is None and NOW.function_tables and form == F32 and word in tabulated.FUNCTIONS:
        out = tabulated.FUNCTIONS[word](bits)
    elif out is None:
        out = fl.rounded(Fraction(_EXACT[word](fl.value(bits, form))), form)
        if form == F16 and NOW.mode >> 23 & 1 and fl.is_inf(out, form):
            out -= 1
    elif NOW.function_tables and form == F16 and NOW.mode >> 23 & 1 and fl.is_inf(out, form):
        out -= not fl.is_inf(bits, form)
    return flushed(out, form) if always else leaving(out, form)


for _kind, _form in FORMS.items():
    for _word in _EXACT:
        if _kind != "f64" or _word in ("rcp", "rsq", "sqrt"):
            row(f"v_{_word}_{_kind}", f"{_kind} -> {_kind}", lambda a, f=_form, w=_word: _approximate(w, a, f))
row("v_rcp_iflag_f32", "f32 -> f32", lambda a: _approximate("rcp", a, F32))
row("v_exp_legacy_f32", "f32 -> f32", lambda a: _approximate("exp", a, F32))
row("v_log_legacy_f32", "f32 -> f32", lambda a: _approximate("log", a, F32))


# Division. The readings that differ from the manual's words are explained in tests/machine/test_division.py.


# V_DIV_SCALE: the rules of AMD's rocjitsu, which states that it compared them with a gfx1100 and a gfx1201.


def _div_scale(s0, s1, s2, form):
    s0, s1, s2 = (entering(bits, form) for bits in (s0, s1, s2))
    up, far, tiny, top = (64, 96, 24, 253) if form == F32 else (128, 768, 53, 2045)
    divisor, dividend = fl.exponent_of(s1, form), fl.exponent_of(s2, form)
    back = int(abs(dividend - divisor) >= far)
    if fl.is_zero(s1, form) or fl.is_zero(s2, form):
        return fl.default_nan(form) | fl.zero(1, form), back
    if dividend - divisor >= far:
        scale = up if s0 == s1 else 0
    elif divisor == 0:
        scale = up
    elif divisor >= top:
        scale = 0 if back and s0 != s1 else -up
    elif back:
        scale = 0 if s0 == s1 else up
    else:
        scale = up if dividend <= tiny else 0
    return scaled(s0, scale, form), back


def _div_fmas(a, b, c, back, form):
    mode = NOW.mode
    NOW.mode |= 0x50
    try:
        special = any(fl.is_nan(x, form) or fl.is_inf(x, form) for x in (a, b, c))
        if special or not back:
            return fused(a, b, c, form)
        number = fl.value(a, form) * fl.value(b, form) + fl.value(c, form)
        sign = exact_zero(form, fl.sign_of(a, form) ^ fl.sign_of(b, form), fl.sign_of(c, form))
        up = 64 if form == F32 else 128
        above = fl.exponent_of(c, form) > (1 << (form[0] - 1)) - 1
        return finite_result(number * Fraction(2) ** (up if above else -up), form, sign)
    finally:
        NOW.mode = mode


def _div_fixup(quotient, denominator, numerator, form):
    q, d, n = (entering(bits, form) for bits in (quotient, denominator, numerator))
    sign = fl.sign_of(d, form) ^ fl.sign_of(n, form)
    invalid = fl.default_nan(form) | fl.zero(1, form)
    for bits in (n, d):
        if fl.is_nan(bits, form):
            return fl.quiet(bits, form)
    if (fl.is_zero(d, form) and fl.is_zero(n, form)) or (fl.is_inf(d, form) and fl.is_inf(n, form)):
        return invalid
    if fl.is_zero(d, form) or fl.is_inf(n, form):
        return fl.infinity(sign, form)
    if fl.is_inf(d, form) or fl.is_zero(n, form):
        return fl.zero(sign, form)
    least = {F32: -150, F64: -1075}.get(form)
    if least is not None and fl.exponent_of(n, form) - fl.exponent_of(d, form) < least:
        return fl.zero(sign, form)
    if least is not None and (fl.is_nan(q, form) or fl.is_inf(q, form)):
        return fl.infinity(sign, form)
    if form == F16 and NOW.rdna and (fl.is_nan(q, form) or fl.is_inf(q, form)):
        inward = rounding(form) == 3 or rounding(form) == (1 if sign else 2)
        return fl.infinity(sign, form) - int(inward or NOW.mode >> 23 & 1)
    if fl.is_nan(q, form):
        return fl.quiet(q, form)
    size = q & ((1 << (fl.width(form) - 1)) - 1)
    return leaving(size | fl.zero(sign, form), form)


for _kind, _form in FORMS.items():
    _three = f"{_kind} {_kind} {_kind}"
    row(f"v_div_fixup_{_kind}", f"{_three} -> {_kind}", lambda a, b, c, f=_form: _div_fixup(a, b, c, f))
    if _kind != "f16":
        row(f"v_div_scale_{_kind}", f"{_three} -> {_kind} m", lambda a, b, c, f=_form: _div_scale(a, b, c, f))
        row(f"v_div_fmas_{_kind}", f"{_three} m -> {_kind}", lambda a, b, c, m, f=_form: _div_fmas(a, b, c, m, f))
row("v_div_fixup_legacy_f16", "f16 f16 f16 -> f16", lambda a, b, c: _div_fixup(a, b, c, F16))
