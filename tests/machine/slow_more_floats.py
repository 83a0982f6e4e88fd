"""Floating point under MODE, one lane at a time, in Python fractions; hooked into the interpreter's table of vectors.

The interpreter puts the wave's MODE register into `NOW` before each instruction. Source: CDNA3 and CDNA4 ISA manuals,
3.5 (MODE), 6.4 (denormals and rounding) and the opcodes of chapter 12.
"""

from __future__ import annotations

from fractions import Fraction

import slow_floats as fl
from slow_floats import F16, F32, F64
from slow_vector import FORMS, VECTOR

PLAIN = 0x3F0
"""Nearest even, all denormals, DX10_CLAMP and IEEE: what the harness' kernels start with."""


class NOW:
    """The mode of the wave that executes."""

    mode = PLAIN


def row(names, signature, function):
    """Put an operation into the interpreter's table, or replace it."""
    sources, _, results = signature.partition("->")
    for name in names.split():
        VECTOR[name] = (tuple(sources.split()), tuple(results.split()), function)


def rounding(form):
    """FP_ROUND of a format."""
    return NOW.mode & 3 if form == F32 else NOW.mode >> 2 & 3


def keeps(form, output):
    """Whether FP_DENORM keeps denormal inputs (or results) of a format."""
    return NOW.mode >> (4 if form == F32 else 6) + output & 1


def is_denormal(bits, form):
    """Whether the bits are a denormal number."""
    return fl.exponent_of(bits, form) == 0 and fl.fraction_of(bits, form) != 0


def flushed(bits, form):
    """A denormal as zero of its sign."""
    return fl.zero(fl.sign_of(bits, form), form) if is_denormal(bits, form) else bits


def entering(bits, form):
    """A source as the mode shows it."""
    return bits if keeps(form, 0) else flushed(bits, form)


def leaving(bits, form):
    """A result as the mode writes it."""
    return bits if keeps(form, 1) else flushed(bits, form)


def nearest_or_directed(number, form, mode, sign_of_zero=0):
    """Bits of an exact number in one of the four rounding modes."""
    if number == 0:
        return fl.zero(sign_of_zero, form)
    near = fl.rounded(number, form)
    if mode == 0:
        return near
    # Walk from the nearest number to the neighbour on the wanted side: bits of one sign are ordered like sizes.
    sign = int(number < 0)
    size = near & ((1 << (fl.width(form) - 1)) - 1)
    top = fl.infinity(0, form)
    value = fl.value(size, form) if size != top else None
    above = value is None or value > abs(number)
    below = value is not None and value < abs(number)
    outward = (mode == 1 and not sign) or (mode == 2 and sign)
    if outward and below:
        size += 1
    if not outward and above:
        size -= 1
    return size | sign << (fl.width(form) - 1)


def finite_result(number, form, sign_of_zero=0):
    """An exact number rounded, bounded and flushed as MODE says."""
    bits = nearest_or_directed(number, form, rounding(form), sign_of_zero)
    if form == F16 and NOW.mode >> 23 & 1 and fl.is_inf(bits, form):
        bits -= 1
    return leaving(bits, form)


def exact_zero(form, first, second):
    """The sign of a sum that is exactly zero: that of both parts, else negative only when rounding down."""
    return first if first == second else int(rounding(form) == 2)


def add(a, b, form):
    """a + b."""
    return fused(a, fl.rounded(Fraction(1), form), b, form, (a, b))


def fused(a, b, c, form, sources=None):
    """a * b + c with one rounding."""
    a, b, c = (entering(bits, form) for bits in (a, b, c))
    nan = fl.first_nan(sources or (a, b, c), form)
    if nan is not None:
        return nan
    if any(fl.is_inf(bits, form) for bits in (a, b, c)):
        return fl.fused(a, b, c, form)
    number = fl.value(a, form) * fl.value(b, form) + fl.value(c, form)
    sign = fl.sign_of(a, form) ^ fl.sign_of(b, form)
    return finite_result(number, form, exact_zero(form, sign, fl.sign_of(c, form)))


def multiply(a, b, form):
    """a * b."""
    a, b = entering(a, form), entering(b, form)
    if any(fl.is_nan(bits, form) or fl.is_inf(bits, form) for bits in (a, b)):
        return fl.multiply(a, b, form)
    sign = fl.sign_of(a, form) ^ fl.sign_of(b, form)
    return finite_result(fl.value(a, form) * fl.value(b, form), form, sign)


def minus(bits, form):
    """The other sign; a NaN passes with the sign it has."""
    return bits if fl.is_nan(bits, form) else fl.negated(bits, form)


def clamped(bits, form):
    """The CLAMP modifier: into [0, 1]; a NaN to 0 under DX10_CLAMP, else it stays."""
    if fl.is_nan(bits, form) and not NOW.mode >> 8 & 1:
        return bits
    return fl.clamped(bits, form)


def output_scaled(bits, kind, ins):
    """The OMOD modifier: ignored in IEEE mode and with denormal results; it makes -0 positive and flushes denormals."""
    omod, form = ins.modifiers.get("omod", 0), FORMS.get(kind)
    if not omod or form is None or NOW.mode >> 9 & 1 or keeps(form, 1):
        return bits
    if fl.is_nan(bits, form) or fl.is_inf(bits, form):
        return bits
    number = fl.value(bits, form) * (0, 2, 4, Fraction(1, 2))[omod]
    out = flushed(fl.rounded(number, form), form)
    return 0 if fl.is_zero(out, form) else out


def without_denormals(function):
    """An operation that flushes denormals whatever the mode says."""

    def run(*sources):
        mode = NOW.mode
        NOW.mode = mode & ~0xC0
        out = function(*sources)
        NOW.mode = mode
        return out

    return run


def _legacy(a, b):
    if any(fl.is_zero(entering(bits, F32), F32) for bits in (a, b)):
        return 0
    return multiply(a, b, F32)


for _kind, _form in FORMS.items():
    _two, _three = f"{_kind} {_kind} -> {_kind}", f"{_kind} {_kind} {_kind} -> {_kind}"
    row(f"v_add_{_kind}", _two, lambda a, b, f=_form: add(a, b, f))
    row(f"v_sub_{_kind}", _two, lambda a, b, f=_form: add(a, minus(b, f), f))
    row(f"v_subrev_{_kind}", _two, lambda a, b, f=_form: add(minus(a, f), b, f))
    row(f"v_mul_{_kind}", _two, lambda a, b, f=_form: multiply(a, b, f))
    row(f"v_fma_{_kind} v_fmac_{_kind}", _three, lambda a, b, c, f=_form: fused(a, b, c, f))
    row(f"v_fmamk_{_kind} v_fmaak_{_kind}", _three, lambda a, b, c, f=_form: fused(a, b, c, f))
row("v_fma_legacy_f16", "f16 f16 f16 -> f16", lambda a, b, c: fused(a, b, c, F16))
row("v_mad_f16 v_mad_legacy_f16 v_mac_f16 v_madak_f16 v_madmk_f16", "f16 f16 f16 -> f16",
    without_denormals(lambda a, b, c: add(multiply(a, b, F16), c, F16)))  # fmt: skip
row("v_mul_legacy_f32", "f32 f32 -> f32", _legacy)


# The hardware register MODE.

WRITABLE = (0x3FF, 0x7F << 12, 1 << 23)


def setreg(wave, ins):
    """S_SETREG: a field of MODE."""
    place = next(x.bits for x in ins.src if x.type == "hwreg")
    value = next(wave.scalar(x) for x in ins.src if x.type != "hwreg")
    offset, size = place >> 6 & 31, (place >> 11) + 1
    assert place & 63 == 1
    for bit in range(size):
        target = 1 << offset + bit
        if any(target & mask for mask in WRITABLE):
            wave.mode = wave.mode & ~target | (target if value >> bit & 1 else 0)


def getreg(wave, ins):
    """S_GETREG: a field of MODE."""
    place = ins.src[0].bits
    offset, size = place >> 6 & 31, (place >> 11) + 1
    wave.write_scalar(ins.dst[0], (wave.mode & 0xFFFFFFFF) >> offset & ((1 << size) - 1))


EXTRA = {"s_setreg_b32": setreg, "s_setreg_imm32_b32": setreg, "s_getreg_b32": getreg}
"""name: function of (wave, instruction) that executes it"""

__all__ = ["EXTRA", "F16", "F32", "F64", "NOW", "PLAIN", "row"]
