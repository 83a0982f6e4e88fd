"""Floating point under MODE, one lane at a time, in Python fractions; hooked into the interpreter's table of vectors.

The interpreter puts the wave's MODE register into `NOW` before each instruction. Source: CDNA3 and CDNA4 ISA manuals,
3.5 (MODE), 6.4 (denormals and rounding) and the opcodes of chapter 12.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from tests.slow.machine import floats as fl
from tests.slow.machine.floats import F16, F32, F64
from tests.slow.machine.vector_alu import FORMS, VECTOR

PLAIN = 0x3F0
"""Nearest even, all denormals, DX10_CLAMP and IEEE: what the harness' kernels start with."""


class NOW:
    """The mode of the wave that executes."""

    mode = PLAIN
    arch = ""
    omod_always = False
    """OMOD works whatever MODE says (gfx12)."""
    multiplied = False
    """OMOD takes the result of the operation that executes."""
    plus_zero = False
    """Clamp makes -0 positive (gfx11, gfx12)."""
    rdna = False
    """An invalid fused operation gives the negative default NaN first; V_DIV_FIXUP_F16 overflows (gfx11, gfx12)."""
    function_tables = False
    """V_RCP, V_RSQ, V_SQRT, V_LOG and V_EXP in f32 come from tables (gfx11, gfx12.0); see `tabulated`."""
    quiets = True
    """Sums and products quiet a signalling NaN in this mode (gfx11: in IEEE mode)."""
    first_nan = False
    """Of two NaNs V_MIN and V_MAX give the first (gfx11), not the second."""


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


def is_tiny(number, form, mode):
    """Whether a number lies below the smallest normal one after rounding to the format's precision alone."""
    bias = (1 << (form[0] - 1)) - 1
    lifted = nearest_or_directed(number * Fraction(2) ** bias, form, mode)  # the smallest normal number becomes 2
    return fl.exponent_of(lifted, form) <= bias


def finite_result(number, form, sign_of_zero=0):
    """An exact number rounded, bounded and flushed as MODE says."""
    if number and not keeps(form, 1) and is_tiny(number, form, rounding(form)):
        return fl.zero(int(number < 0), form)
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


def _invalid(a, b, c, form):
    """Whether a * b + c is invalid: zero times infinity whatever c is, or an infinite product against an infinity."""
    if fl.is_nan(a, form) or fl.is_nan(b, form) or not (fl.is_inf(a, form) or fl.is_inf(b, form)):
        return False
    if fl.is_zero(a, form) or fl.is_zero(b, form):
        return True
    return fl.is_inf(c, form) and fl.sign_of(a, form) ^ fl.sign_of(b, form) != fl.sign_of(c, form)


def fused(a, b, c, form, sources=None):
    """a * b + c with one rounding."""
    a, b, c = (entering(bits, form) for bits in (a, b, c))
    nan = first_nan(sources or (a, b, c), form)
    if NOW.rdna and sources is None and _invalid(a, b, c, form):
        return fl.default_nan(form) | fl.zero(1, form)
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
    nan = first_nan((a, b), form)
    if nan is not None:
        return nan
    if fl.is_inf(a, form) or fl.is_inf(b, form):
        return fl.multiply(a, b, form)
    sign = fl.sign_of(a, form) ^ fl.sign_of(b, form)
    return finite_result(fl.value(a, form) * fl.value(b, form), form, sign)


def first_nan(sources, form):
    """The first NaN of the sources, quiet where the mode makes it so."""
    return next((fl.quiet(x, form) if NOW.quiets else x for x in sources if fl.is_nan(x, form)), None)


def minus(bits, form):
    """The other sign; a NaN passes with the sign it has."""
    return bits if fl.is_nan(bits, form) else fl.negated(bits, form)


def clamped(bits, form):
    """The CLAMP modifier: into [0, 1]; a NaN to 0 under DX10_CLAMP, else it stays."""
    if fl.is_nan(bits, form) and not NOW.mode >> 8 & 1:
        return bits
    return 0 if NOW.plus_zero and fl.is_zero(bits, form) else fl.clamped(bits, form)


ELEMENTARY = r"v_(s_)?(rcp|rsq|sqrt|exp|log|sin|cos|rcp_iflag)_f(16|32|64)|v_(exp|log)_legacy_f32"
NEVER_DENORMAL = r"v_(s_)?(rcp|rsq|sqrt|exp|log|sin|cos|rcp_iflag)_f32|v_(fma|fmac)_dx9_zero_f32|v_(exp|log)_legacy_f32"


def multiplies(kind, ins):
    """Whether OMOD acts: ignored in IEEE mode and with denormal results, but not on gfx12."""
    form = FORMS.get(kind)
    denormals = form and keeps(form, 1) and not (kind == "f32" and re.fullmatch(NEVER_DENORMAL, ins.name))
    return bool(ins.modifiers.get("omod") and form and (NOW.omod_always or not (NOW.mode >> 9 & 1 or denormals)))


def before_multiplier(function, kind, ins):
    """The operation as OMOD has it: without denormal results."""
    if not multiplies(kind, ins):
        return function
    inner = without_denormals(function, 0x20 if kind == "f32" else 0x80)

    def run(*sources):
        NOW.multiplied = True
        out = inner(*sources)
        NOW.multiplied = False
        return out

    return run


def output_scaled(bits, kind, ins):
    """The OMOD modifier of a result that is rounded: zeros and denormals are +0, then the exponent moves.

    Below the smallest normal number it leaves a zero of its sign; beyond the largest FP_ROUND and FP16_OVFL decide,
    of elementary functions FP16_OVFL alone.
    """
    if not multiplies(kind, ins):
        return bits
    form = FORMS[kind]
    if fl.is_nan(bits, form):
        return fl.quiet(bits, form) if NOW.quiets else bits
    if fl.is_inf(bits, form):
        return bits
    if fl.is_zero(flushed(bits, form), form):
        return 0
    top = (1 << form[0]) - 1
    exponent = fl.exponent_of(bits, form) + (0, 1, 2, -1)[ins.modifiers["omod"]]
    sign = fl.sign_of(bits, form)
    if exponent <= 0:
        return fl.zero(sign, form)
    if exponent >= top:
        toward = 0 if re.fullmatch(ELEMENTARY, ins.name) else rounding(form)
        inward = toward in (3, 1 if sign else 2) or (form == F16 and NOW.mode >> 23 & 1)
        return fl.infinity(sign, form) - int(inward)
    return fl.zero(sign, form) | exponent << form[1] | fl.fraction_of(bits, form)


def without_denormals(function, field=0xC0):
    """An operation that flushes denormals whatever the mode says in a field of FP_DENORM."""

    def run(*sources):
        mode = NOW.mode
        NOW.mode = mode & ~field
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
row(
    "v_mad_f16 v_mad_legacy_f16 v_mac_f16 v_madak_f16 v_madmk_f16",
    "f16 f16 f16 -> f16",
    without_denormals(lambda a, b, c: add(multiply(a, b, F16), c, F16)),
)
row("v_mul_legacy_f32", "f32 f32 -> f32", _legacy)
row(
    "v_mad_f32 v_mac_f32 v_madak_f32 v_madmk_f32",
    "f32 f32 f32 -> f32",
    without_denormals(lambda a, b, c: add(multiply(a, b, F32), c, F32), 0x30),
)
row("v_mad_legacy_f32", "f32 f32 f32 -> f32", without_denormals(lambda a, b, c: add(_legacy(a, b), c, F32), 0x30))


# Minimum, maximum, median.


def larger(a, b, form):
    """V_MAX."""
    return _preferred(a, b, form, fl.larger)


def smaller(a, b, form):
    """V_MIN."""
    return _preferred(a, b, form, fl.smaller)


def _preferred(a, b, form, in_ieee_mode):
    a, b = entering(a, form), entering(b, form)
    signalling = NOW.mode >> 9 & 1 and any(fl.is_signalling(bits, form) for bits in (a, b))
    if NOW.first_nan and fl.is_nan(b, form) and not signalling:
        return a
    if not NOW.mode >> 9 & 1:
        # Without IEEE a signalling NaN is a NaN like any other: the other source comes out.
        if fl.is_nan(a, form):
            return b
        if fl.is_nan(b, form):
            return a
    return in_ieee_mode(a, b, form)


def _median(a, b, c, form):
    a, b, c = (entering(bits, form) for bits in (a, b, c))
    if any(fl.is_nan(bits, form) for bits in (a, b, c)):
        return smaller(smaller(a, b, form), c, form)
    top = larger(larger(a, b, form), c, form)
    if fl.order(top, a, form) == 0:
        return larger(b, c, form)
    if fl.order(top, b, form) == 0:
        return larger(a, c, form)
    return larger(a, b, form)


def _propagated(a, b, form, function):
    """V_MINIMUM, V_MAXIMUM: a signalling NaN comes first, then a quiet one, or the first NaN; IEEE is forced on."""
    for test in (fl.is_nan,) if NOW.first_nan else (fl.is_signalling, fl.is_nan):
        for bits in (a, b):
            if test(bits, form):
                return fl.quiet(bits, form)
    return function(a, b, form)


for _kind, _form in FORMS.items():
    _two, _three = f"{_kind} {_kind} -> {_kind}", f"{_kind} {_kind} {_kind} -> {_kind}"
    row(f"v_max_{_kind}", _two, lambda a, b, f=_form: larger(a, b, f))
    row(f"v_min_{_kind}", _two, lambda a, b, f=_form: smaller(a, b, f))
    row(f"v_max3_{_kind}", _three, lambda a, b, c, f=_form: larger(larger(a, b, f), c, f))
    row(f"v_min3_{_kind}", _three, lambda a, b, c, f=_form: smaller(smaller(a, b, f), c, f))
    row(f"v_med3_{_kind}", _three, lambda a, b, c, f=_form: _median(a, b, c, f))
for _word, _function in (("minimum", smaller), ("maximum", larger)):
    row(
        f"v_{_word}3_f32",
        "f32 f32 f32 -> f32",
        lambda a, b, c, g=_function: _propagated(_propagated(a, b, F32, g), c, F32, g),
    )

for _name, (_sources, _results, _test) in list(VECTOR.items()):
    if _name.startswith("v_cmp") and "_class_" not in _name and _sources[0] in FORMS:
        _form = FORMS[_sources[0]]
        VECTOR[_name] = (_sources, _results, lambda a, b, f=_form, t=_test: t(entering(a, f), entering(b, f)))


# Integers, parts and scales of floats.


def _to_integer(bits, form, function):
    """V_FLOOR, V_CEIL, V_TRUNC, V_RNDNE."""
    bits = entering(bits, form)
    if fl.is_nan(bits, form):
        return fl.quiet(bits, form)
    if fl.is_inf(bits, form):
        return bits
    return fl.rounded(Fraction(function(fl.value(bits, form))), form, fl.sign_of(bits, form))


def _fract(bits, form):
    bits = entering(bits, form)
    if fl.is_nan(bits, form):
        return fl.quiet(bits, form)
    if fl.is_inf(bits, form):
        return fl.default_nan(form)
    number = fl.value(bits, form)
    # x - floor(x) is a sum: an exact zero is negative only when rounding down.
    out = finite_result(number - math.floor(number), form, int(rounding(form) == 2))
    one = fl.rounded(Fraction(1), form)
    return one - 1 if out == one else out


def _frexp(bits, form):
    """(significand in [1/2, 1) or None, exponent)."""
    bits = entering(bits, form)
    if fl.is_nan(bits, form) or fl.is_inf(bits, form) or fl.is_zero(bits, form):
        return None, 0
    number, exponent = abs(fl.value(bits, form)), 0
    while number >= 1:
        number, exponent = number / 2, exponent + 1
    while number < Fraction(1, 2):
        number, exponent = number * 2, exponent - 1
    return (-number if fl.sign_of(bits, form) else number), exponent


def _mantissa(bits, form):
    number, _ = _frexp(bits, form)
    bits = entering(bits, form)
    if number is None:
        return fl.quiet(bits, form) if fl.is_nan(bits, form) else bits
    return fl.rounded(number, form)


def scaled(bits, power, form):
    """V_LDEXP: bits * 2**power with one rounding."""
    bits = entering(bits, form)
    if fl.is_nan(bits, form):
        return first_nan((bits,), form)
    if fl.is_inf(bits, form):
        return bits
    power = max(min(power, 5000), -5000)
    return finite_result(fl.value(bits, form) * Fraction(2) ** power, form, fl.sign_of(bits, form))


def _inverse_tangent(n, one):
    """arctan(1/n) times `one`."""
    power = one // n
    total, k = 0, 1
    while power:
        total += power // k if k % 4 == 1 else -(power // k)
        power, k = power // (n * n), k + 2
    return total


ONE = 1 << 1400
# Gauss' formula for pi, times ONE.
PI = 4 * (12 * _inverse_tangent(18, ONE) + 8 * _inverse_tangent(57, ONE) - 5 * _inverse_tangent(239, ONE))
TWO_OVER_PI = f"{2 * ONE * (1 << 1201) // PI:01201b}"
"""The 1201 binary places of 2/pi, the first one (which is 1) first."""


def _trig_preop(bits, segment):
    """53 places of 2/pi as a number."""
    exponent = fl.exponent_of(bits, F64)
    shift = 53 * (segment & 31) + max(0, exponent - 1077)
    held = 1184 if NOW.arch in {"gfx1200", "gfx1201"} else 1201
    places = (TWO_OVER_PI[:held] + "0" * 3000)[shift : shift + 53]
    scale = -53 - shift + (128 if exponent >= 1968 else 0)
    return leaving(nearest_or_directed(int(places, 2) * Fraction(2) ** scale, F64, 3), F64)


for _kind, _form in FORMS.items():
    for _word, _function in (("floor", math.floor), ("ceil", math.ceil), ("trunc", math.trunc), ("rndne", round)):
        row(f"v_{_word}_{_kind}", f"{_kind} -> {_kind}", lambda a, f=_form, g=_function: _to_integer(a, f, g))
    row(f"v_fract_{_kind}", f"{_kind} -> {_kind}", lambda a, f=_form: _fract(a, f))
    row(f"v_frexp_mant_{_kind}", f"{_kind} -> {_kind}", lambda a, f=_form: _mantissa(a, f))
    _power = "i16" if _kind == "f16" else "i32"
    row(f"v_frexp_exp_{_power}_{_kind}", f"{_kind} -> {_power}", lambda a, f=_form: _frexp(a, f)[1])
    row(f"v_ldexp_{_kind}", f"{_kind} {_power} -> {_kind}", lambda a, n, f=_form: scaled(a, n, f))


def _packed(bits):
    """A half of V_PACK_B32_F16, whose NaN RDNA4 quiets."""
    return fl.quiet(bits, F16) if NOW.arch in {"gfx1200", "gfx1201"} and fl.is_nan(bits, F16) else bits


row("v_pack_b32_f16", "f16 f16 -> u32", lambda a, b: _packed(a) | _packed(b) << 16)
row("v_trig_preop_f64", "f64 u32 -> f64", _trig_preop)


# The hardware register MODE.

WRITABLE = (0xFF, 1 << 23)
"""Those of every generation: rounding, denormals, FP16_OVFL."""


def setreg(wave, ins):
    """S_SETREG: a field of MODE."""
    place = next(x.bits for x in ins.src if x.type == "hwreg")
    value = next(wave.scalar(x) for x in ins.src if x.type != "hwreg")
    offset, size = place >> 6 & 31, (place >> 11) + 1
    assert place & 63 == 1
    for bit in range(size):
        target = 1 << offset + bit
        further = 0x1F << 27 if wave.facts.vector_mode else 1 << 19 if wave.arch == "gfx1250" else 0
        clamp_and_ieee = 0x300 if wave.facts.ieee else 0
        exceptions = 0 if wave.facts.split_barrier else 0x7F << 12  # gfx12 has them in TRAP_CTRL
        if any(target & mask for mask in (*WRITABLE, clamp_and_ieee, exceptions, further)):
            wave.mode = wave.mode & ~target | (target if value >> bit & 1 else 0)


def getreg(wave, ins):
    """S_GETREG: a field of MODE."""
    place = ins.src[0].bits
    offset, size = place >> 6 & 31, (place >> 11) + 1
    wave.write_scalar(ins.dst[0], (wave.mode & 0xFFFFFFFF) >> offset & ((1 << size) - 1))


EXTRA = {"s_setreg_b32": setreg, "s_setreg_imm32_b32": setreg, "s_getreg_b32": getreg}
"""name: function of (wave, instruction) that executes it"""

__all__ = ["EXTRA", "F16", "F32", "F64", "NOW", "PLAIN", "row"]
