"""Conversions, one lane at a time, in fractions: formats by their definition, one rounding.

Source: CDNA3 ISA manual, 7.2, CDNA4 ISA manual, 7.3, and the opcodes' texts. Formats and the rounding of the small ones
come from the slow model of the formats room; what a manual leaves open is decided there, in the rows.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from mfmasim import formats
from mfmasim.formats.conversions import conversions
from tests.slow import formats as exact
from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.floats import F16, F32, F64
from tests.slow.machine.vector_execution import sdwa_result, selected
from tests.slow.machine.vop3p import BF16, _converted, _raw, half_of

M32 = 0xFFFFFFFF
RDNA = {"gfx1170", "gfx1200", "gfx1201"}
"""What was measured on gfx1201 is assumed of the others."""
FORMS = {"f32": F32, "f16": F16, "bf16": BF16}
SMALL = {
    "gfx942": {"fp8": "e4m3fnuz", "bf8": "e5m2fnuz"},
    "gfx1170": {"fp8": "e4m3fn", "bf8": "e5m2"},
    "gfx1200": {"fp8": "e4m3fn", "bf8": "e5m2"},
    "gfx1201": {"fp8": "e4m3fn", "bf8": "e5m2"},
    "gfx950": {"fp8": "e4m3fn", "bf8": "e5m2", "fp6": "e2m3fn", "bf6": "e3m2fn", "fp4": "e2m1fn"},
}


def small(kind):
    """The small format that the executing architecture calls fp8, bf8, fp6, bf6 or fp4."""
    return formats.format(SMALL[more.NOW.arch][kind])


def overflow():
    """What becomes of values beyond a small format."""
    if not more.NOW.mode >> 23 & 1:
        return "infinity_or_nan"
    return "saturate_finite" if more.NOW.arch in RDNA else "saturate"


def number(bits, form):
    """Bits of a wide format as a sign and a magnitude."""
    sign = bool(fl.sign_of(bits, form))
    if fl.is_nan(bits, form):
        return exact.Number(sign, "nan")
    return exact.Number(sign, "inf" if fl.is_inf(bits, form) else abs(fl.value(bits, form)))


def times(value, power):
    """A number times a power of two; None as power makes it NaN."""
    if power is None:
        return exact.Number(value.negative, "nan")
    if isinstance(value.magnitude, str):
        return value
    return exact.Number(value.negative, value.magnitude * Fraction(2) ** power)


def narrowed(bits, form, kind, power=0):
    """A wide number times a power of two in a small format."""
    return exact.encode(small(kind), times(number(bits, form), power), overflow=overflow())


def widened(code, kind, target, power=0):
    """A small number times a power of two in a wide format; NaN is the one without payload."""
    value = times(exact.decode(small(kind), code), power)
    form = FORMS[target]
    if value.magnitude == "nan":
        return fl.default_nan(form) | fl.zero(int(value.negative), form)
    if value.magnitude == "inf":
        return fl.infinity(int(value.negative), form)
    out = fl.rounded(-value.magnitude if value.negative else value.magnitude, form, int(value.negative))
    return out - 1 if target == "f16" and more.NOW.mode >> 23 & 1 and fl.is_inf(out, form) else out


def narrowed_randomly(bits, form, row, random, power=0, limit=None):
    """The stochastic adder: the significand lined up with the result's last place, random bits added below, cut."""
    value = times(number(bits, form), power)
    limit = limit or overflow()
    if isinstance(value.magnitude, str) or value.magnitude == 0:
        return exact.encode(row, value, overflow=limit)
    top = value.magnitude.numerator.bit_length() - value.magnitude.denominator.bit_length()
    if Fraction(2) ** top > value.magnitude:
        top -= 1
    # Whole units of the source's last place, or of a coarser one where the result is denormal.
    place = max(top, row.min_exponent)
    units = math.floor(value.magnitude / Fraction(2) ** (place - form[1]))
    extra = form[1] - row.mantissa_bits
    total = units + (random >> (32 - extra)) >> extra
    size = total * Fraction(2) ** (place - row.mantissa_bits)
    if size > Fraction(row.max):
        size = Fraction(2) ** 200
    return exact.encode(row, exact.Number(value.negative, size), "nearest_even", limit)


def lfsr(value):
    """V_PRNG: one step of the shift register."""
    return (value << 1 & M32) ^ (197 if value >> 31 else 0)


def sequence(value, count):
    """A random operand and its successors."""
    out = [value]
    while len(out) < count:
        out.append(lfsr(out[-1]))
    return out


# One source, one result: rows of the interpreter's vector table.


def _integer(bits, form, low, high, whole=math.trunc):
    if fl.is_nan(bits, form):
        return 0
    if fl.is_inf(bits, form):
        return low if fl.sign_of(bits, form) else high
    return min(max(whole(fl.value(bits, form)), low), high)


def _floor(bits, add=0):
    """V_CVT_FLOOR and V_CVT_NEAREST; RDNA4 saturates a NaN by its sign and flushes sources."""
    if more.NOW.arch in {"gfx1200", "gfx1201"}:
        bits = more.entering(bits, F32)
        bits = fl.infinity(fl.sign_of(bits, F32), F32) if fl.is_nan(bits, F32) else bits
    return _integer(bits, F32, *I32, lambda x: math.floor(x + add))


def _normal(bits, form, low, high):
    if fl.is_nan(bits, form):
        return 0
    value = Fraction(-1 if fl.sign_of(bits, form) else 1) if fl.is_inf(bits, form) else fl.value(bits, form)
    return round(min(max(value, Fraction(-1 if low else 0)), Fraction(1)) * high)


def _single(bits):
    """V_CVT_F32_F64 keeps denormals, but for OMOD what is tiny is a zero."""
    special = fl.is_nan(bits, F64) or fl.is_inf(bits, F64) or not fl.value(bits, F64)
    if more.NOW.multiplied and not special and more.is_tiny(fl.value(bits, F64), F32, more.rounding(F64)):
        return 0
    return _converted(bits, F64, F32, more.rounding(F64))


I32, U32, I16, U16 = (-(1 << 31), (1 << 31) - 1), (0, M32), (-(1 << 15), (1 << 15) - 1), (0, 0xFFFF)
LIMITS = {"i32": I32, "u32": U32, "i16": I16, "u16": U16}
for _name, _signature, _function in (
    ("v_cvt_f16_f32", "f32 -> f16", lambda a: half_of(a, more.rounding(F16))),
    ("v_cvt_f32_f16", "f16 -> f32", lambda a: _converted(more.entering(a, F16), F16, F32, 0)),
    ("v_cvt_f32_bf16", "f16 -> f32", lambda a: a << 16),
    ("v_cvt_f32_f64", "f64 -> f32", _single),
    ("v_cvt_f64_f32", "f32 -> f64", lambda a: _converted(a, F32, F64, 0)),
    ("v_cvt_f32_i32", "i32 -> f32", lambda a: more.finite_result(Fraction(a), F32)),
    ("v_cvt_f32_u32", "u32 -> f32", lambda a: more.finite_result(Fraction(a), F32)),
    ("v_cvt_f16_i16", "i16 -> f16", lambda a: more.finite_result(Fraction(a), F16)),
    ("v_cvt_f16_u16", "u16 -> f16", lambda a: more.finite_result(Fraction(a), F16)),
    ("v_cvt_rpi_i32_f32", "f32 -> i32", lambda a: _floor(a, Fraction(1, 2))),
    ("v_cvt_flr_i32_f32", "f32 -> i32", _floor),
    ("v_cvt_norm_i16_f16", "f16 -> i16", lambda a: _normal(a, F16, *I16)),
    ("v_cvt_norm_u16_f16", "f16 -> u16", lambda a: _normal(a, F16, *U16)),
    ("v_cvt_off_f32_i4", "u32 -> f32", lambda a: fl.rounded(Fraction((a & 15) - (a << 1 & 16), 16), F32)),
    *((f"v_cvt_f32_{kind}", "u32 -> f32", lambda a, k=kind: widened(a & 255, k, "f32")) for kind in ("fp8", "bf8")),
    *(
        (f"v_cvt_{to}_{kind}", f"{kind} -> {to}", lambda a, f=form, limits=LIMITS[to]: _integer(a, f, *limits))
        for kind, form, width in (("f32", F32, 32), ("f64", F64, 32), ("f16", F16, 16))
        for to in (f"i{width}", f"u{width}")
    ),
):
    more.row(_name, _signature, _function)
for _kind in ("fp8", "bf8"):
    more.row(
        f"v_cvt_pk_f32_{_kind}",
        "u16 -> u64",
        lambda a, k=_kind: widened(a & 255, k, "f32") | widened(a >> 8 & 255, k, "f32") << 32,
    )


# VOP3: several sources, op_sel, parts of the destination.


def _signed(bits, operand, form):
    if operand.abs:
        bits &= ~(1 << (fl.width(form) - 1))
    return bits ^ operand.neg << (fl.width(form) - 1)


def _halves(function, form, clamps=lambda wave: True):
    """Two sources to the two halves of a dword, of which SDWA writes the part that DST_SEL names."""

    def run(wave, ins):
        sdwa = ins.encoding == "SDWA"
        for lane in wave.active():
            out = 0
            for part in range(2):
                bits = _raw(wave, ins.src[part], lane)
                if sdwa:
                    bits = selected(bits, ins.src[part])
                if form == F16:
                    bits = bits >> 16 * (ins.modifiers["op_sel"] >> part & 1) & 0xFFFF
                bits = bits & M32 if form is None else _signed(bits, ins.src[part], form)
                out |= (function(bits, bool(ins.modifiers.get("clamp")) and clamps(wave)) & 0xFFFF) << 16 * part
            if sdwa:
                old = wave.v[ins.dst[0].index][lane]
                out = sdwa_result(out, old, ins.modifiers["dst_sel"], ins.modifiers["dst_unused"])
            wave.v[ins.dst[0].index][lane] = out

    return run


def _half(mode):
    def run(bits, clamp):
        out = half_of(bits, mode)
        return more.clamped(out, F16) if clamp else out

    return run


def _saturated(kind):
    low, high = LIMITS[kind]
    return lambda bits, clamp: min(max(bits - (1 << 32) if low and bits >> 31 else bits, low), high)


def _placed(old, value, shift, size):
    mask = (1 << size) - 1 << shift
    return old & ~mask & M32 | value << shift & mask


def _into_place(function):
    """A function of (wave, ins, lane) that gives value, shift and size for the destination."""

    def run(wave, ins):
        out = {lane: function(wave, ins, lane) for lane in wave.active()}
        to = wave.v[ins.dst[0].index]
        for lane, (value, shift, size) in out.items():
            to[lane] = _placed(to[lane], value, shift, size)

    return run


def _sel(ins):
    return ins.modifiers.get("op_sel", 0)


def _source(wave, ins, index, lane, form=F32):
    return _signed(_raw(wave, ins.src[index], lane) & ((1 << fl.width(form)) - 1), ins.src[index], form)


def _negative(wave, bits, code):
    return code | 0x80 if wave.facts.negative_nan and fl.is_nan(bits, F32) else code


def _pack_two(kind):
    def run(wave, ins, lane):
        low, high = (
            _negative(wave, bits, narrowed(bits, F32, kind)) for bits in (_source(wave, ins, i, lane) for i in range(2))
        )
        return low | high << 8, 16 * (_sel(ins) >> 3), 16

    return _into_place(run)


def _one_randomly(kind):
    def run(wave, ins, lane):
        bits, random = _source(wave, ins, 0, lane), _raw(wave, ins.src[1], lane)
        if kind in FORMS:
            limit = "saturate_finite" if kind == "f16" and more.NOW.mode >> 23 & 1 else "infinity_or_nan"
            return narrowed_randomly(bits, F32, formats.format(kind), random, 0, limit), 16 * (_sel(ins) >> 3), 16
        byte = ins.modifiers["byte_sel"] if "byte_sel" in ins.modifiers else _sel(ins) >> 2
        return _negative(wave, bits, narrowed_randomly(bits, F32, small(kind), random)), 8 * byte, 8

    return _into_place(run)


def _power(wave, ins, lane, sign):
    """The scale: the exponent field of the last printed source."""
    last = [x for x in ins.src if x.printed][-1]
    field = _raw(wave, last, lane) >> 23 & 255
    return None if field == 255 else sign * (field - 127)


def _wide_source(bits, form):
    return more.entering(bits, F32) if form == F32 else bits


def _scaled(name):
    """The function of a v_cvt_scalef32 instruction, by the words of its name."""
    words = name.removeprefix("v_cvt_scalef32_").split("_")
    random = words[0] == "sr"
    words = words[1:] if random else words
    count = {"pk": 2, "pk32": 32, "2xpk16": 32}.get(words[0], 1)
    target, source = words[-2:]
    if source in FORMS:
        return _scaled_narrow(target, FORMS[source], count, random, words[0] == "2xpk16")
    return _scaled_wide(target, source, count)


def _values(wave, ins, lane, form, count, alternating):
    """The numbers of the first source, or of the first two."""
    if alternating:
        pair = [_raw(wave, ins.src[i], lane) for i in range(2)]
        return [pair[k % 2] >> 32 * (k // 2) & M32 for k in range(count)]
    if form == F32 and count == 2 and ins.src[0].count == 1:
        return [_source(wave, ins, i, lane) for i in range(2)]
    size, raw = fl.width(form), _raw(wave, ins.src[0], lane)
    if count == 1 and form != F32:
        raw = _signed(raw >> 16 * (_sel(ins) & 1) & 0xFFFF, ins.src[0], form)
    elif count == 1:
        raw = _signed(raw, ins.src[0], form)
    return [raw >> size * k & ((1 << size) - 1) for k in range(count)]


def _scaled_narrow(kind, form, count, random, alternating):
    def run(wave, ins):
        results = {}
        for lane in wave.active():
            power = _power(wave, ins, lane, -1)
            values = [_wide_source(bits, form) for bits in _values(wave, ins, lane, form, count, alternating)]
            if random:
                noise = sequence(_raw(wave, ins.src[1], lane), count)
                codes = [narrowed_randomly(x, form, small(kind), r, power) for x, r in zip(values, noise, strict=True)]
            else:
                codes = [narrowed(x, form, kind, power) for x in values]
            size = small(kind).bits
            results[lane] = sum(code << size * k for k, code in enumerate(codes)), size * count
        for lane, (bits, size) in results.items():
            if count == 32:
                for k in range(6):
                    wave.v[ins.dst[0].index + k][lane] = bits >> 32 * k & M32
                continue
            to = wave.v[ins.dst[0].index]
            place = {16: _sel(ins) >> 3, 8: _sel(ins) >> 2}[size]
            to[lane] = _placed(to[lane], bits, size * place, size)

    return run


def _scaled_wide(target, kind, count):
    def run(wave, ins):
        results = {}
        size, wide = small(kind).bits, fl.width(FORMS[target])
        for lane in wave.active():
            start = size * count * (_sel(ins) & (1 if size * count == 16 else 3)) if count < 32 else 0
            raw = _raw(wave, ins.src[0], lane) >> start
            power = _power(wave, ins, lane, 1)
            codes = [raw >> size * k & ((1 << size) - 1) for k in range(count)]
            results[lane] = sum(widened(code, kind, target, power) << wide * k for k, code in enumerate(codes))
        for lane, bits in results.items():
            first = ins.dst[0].index
            if count == 1 and target == "f16":
                wave.v[first][lane] = _placed(wave.v[first][lane], bits, 16 * (_sel(ins) >> 3), 16)
                continue
            for k in range(max(1, wide * count // 32)):
                wave.v[first + k][lane] = bits >> 32 * k & M32

    return run


CONVERSIONS = {
    "v_cvt_pkrtz_f16_f32": _halves(_half(3), F32, lambda wave: not wave.facts.keeps_halves),
    "v_cvt_pk_f16_f32": _halves(_half(0), F32),
    "v_cvt_pk_bf16_f32": _halves(lambda bits, clamp: _converted(bits, F32, BF16, 0), F32),
    "v_cvt_pknorm_i16_f32": _halves(lambda bits, clamp: _normal(bits, F32, *I16), F32),
    "v_cvt_pknorm_u16_f32": _halves(lambda bits, clamp: _normal(bits, F32, *U16), F32),
    "v_cvt_pknorm_i16_f16": _halves(lambda bits, clamp: _normal(bits, F16, *I16), F16),
    "v_cvt_pknorm_u16_f16": _halves(lambda bits, clamp: _normal(bits, F16, *U16), F16),
    "v_cvt_pk_u16_u32": _halves(_saturated("u16"), None),
    "v_cvt_pk_i16_i32": _halves(_saturated("i16"), None),
    **{f"v_cvt_pk_{kind}_f32": _pack_two(kind) for kind in ("fp8", "bf8")},
    **{f"v_cvt_sr_{kind}_f32": _one_randomly(kind) for kind in ("fp8", "bf8", "f16", "bf16")},
    **{name: _scaled(name) for name in conversions("gfx950") if re.match("v_cvt_scalef32", name)},
}
more.EXTRA |= CONVERSIONS
