"""Dot products of floats on gfx11 and gfx12: one step of the matrix unit, in fractions.

Source: the models that AMD published with captures of gfx1100 and gfx1201 (ROCm/rocm-systems, rocjitsu: gfx11_dot2.h,
gfx12_dot.h, dot_packed16.h), as retold in the project's notes on arithmetic. The manuals' text says less, and of bf16
results (to nearest even) something that the captures refute.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.conversions import small
from tests.slow.machine.float_mode import EXTRA
from tests.slow.machine.floats import F16, F32
from tests.slow.machine.vop3p import BF16, _picked, _raw

M16, M32 = (1 << 16) - 1, (1 << 32) - 1
BAD_FACTOR, INVALID = 0xFFC00A3D, 0xFFC00000
FAR = -100_000


def _lead(number):
    """Exponent of the leading bit; far below everything for zero."""
    if number == 0:
        return FAR
    size = abs(number)
    power = size.numerator.bit_length() - size.denominator.bit_length()
    return power if Fraction(2) ** power <= size else power - 1


def _exponent(bits, form):
    """The exponent as the encoding has it: a denormal has that of the smallest normal number."""
    return max(fl.exponent_of(bits, form), 1) - ((1 << (form[0] - 1)) - 1)


def _cut(number, grid):
    return math.floor(number / Fraction(2) ** grid)


def _special(pairs, forms, c, invalid=INVALID):
    """What NaNs and infinities give, else None; `invalid` for 0 * Inf and infinities of both signs."""
    products = []
    for pair in pairs:
        if any(fl.is_nan(bits, form) for bits, form in zip(pair, forms, strict=True)):
            return BAD_FACTOR
    for pair in pairs:
        infinite = [fl.is_inf(bits, form) for bits, form in zip(pair, forms, strict=True)]
        empty = [fl.value(bits, form) == 0 for bits, form, inf in zip(pair, forms, infinite, strict=True) if not inf]
        if any(infinite):
            if any(empty):
                return invalid
            products.append(fl.sign_of(pair[0], forms[0]) ^ fl.sign_of(pair[1], forms[1]))
    if len(set(products)) > 1:
        return invalid
    if fl.is_nan(c, F32):
        return fl.quiet(c, F32)
    if fl.is_inf(c, F32):
        products.append(fl.sign_of(c, F32))
    if products:
        return invalid if len(set(products)) > 1 else fl.infinity(products[0], F32)
    return None


def _rounded(number, form, *, flush=False):
    """To nearest even; gfx11 flushes what is below the normal numbers after rounding to full width."""
    if not flush:
        # What is too small for a denormal is +0, as every other zero of these operations.
        out = fl.rounded(number, form)
        return 0 if fl.is_zero(out, form) else out
    lead = _lead(number)
    size = Fraction(fl.nearest(abs(number) / Fraction(2) ** (lead - 23))) * Fraction(2) ** (lead - 23)
    if _lead(size) < -126:
        return 0
    return fl.rounded(-size if number < 0 else size, F32)


def _gfx11(pairs, forms, c, least, form):
    factors = [[_factor(bits, kind) for bits, kind in zip(pair, forms, strict=True)] for pair in pairs]
    products = [a * b for a, b in factors]
    negative = [fl.sign_of(a, forms[0]) ^ fl.sign_of(b, forms[1]) for a, b in pairs]
    addend, sign = fl.value(more.flushed(c, F32) if form != F16 else c, F32), fl.sign_of(c, F32)
    if addend == 0 and not any(products):
        return 0
    exponents = [
        _exponent(a, forms[0]) + _exponent(b, forms[1])
        for (a, b), product in zip(pairs, products, strict=True)
        if product
    ]
    leads = [max(least, _lead(addend)) if least is not None else _lead(addend), *map(_lead, products)]
    grid = max(max(exponents, default=FAR) - 24, max(leads) - 26)
    total = 0
    for number, minus in zip([addend, *products], [sign, *negative], strict=True):
        units = _cut(abs(number), grid)
        total += units if minus == sign else -units - 1
    number = Fraction(total) * Fraction(2) ** grid * (-1 if sign else 1)
    return 0 if total == 0 else _rounded(number, form, flush=form == F32)


def _factor(bits, form):
    """bf16 knows no denormals here."""
    return fl.value(more.flushed(bits, form) if form == BF16 else bits, form)


def _gfx12(pairs, forms, c, least, form):
    products = [fl.value(a, forms[0]) * fl.value(b, forms[1]) for a, b in pairs]
    addend = fl.value(c, F32)
    exponents = [
        _exponent(a, forms[0]) + _exponent(b, forms[1])
        for (a, b), product in zip(pairs, products, strict=True)
        if product
    ]
    first = max(exponents, default=FAR) - 24
    grid = max(first, max(-126 if least is None else least, _lead(addend)) - 26)
    pair = sum(_cut(product, first) for product in products) * Fraction(2) ** first if exponents else Fraction(0)
    own = _cut(addend, grid)
    if grid > -126 and addend < 0 and abs(addend) < Fraction(2) ** grid:
        own = 0
    total = _cut(pair, grid) + own
    return 0 if total == 0 else _rounded(Fraction(total) * Fraction(2) ** grid, form)


def _step(wave, pairs, forms, c, form=F32):
    """One step in f32, or rounded straight to f16 when `form` says so."""
    flushed = [
        tuple(
            more.flushed(x, f) if f == BF16 and not wave.facts.four_products else x
            for x, f in zip(pair, forms, strict=True)
        )
        for pair in pairs
    ]
    found = _special(flushed, forms, c)
    if found is not None:
        return found, True
    model = _gfx12 if wave.facts.four_products else _gfx11
    return model(flushed, forms, c, -14 if form == F16 else None, form), False


def _wide(form, old):
    """V_DOT2_F32_*, V_DOT2ACC_F32_*; the clamp modifier does not count (7.2.3.1)."""

    def run(wave, ins):
        if not wave.facts.rdna3:
            old(wave, ins)
            return
        out = {}
        for lane in wave.active():
            pairs = [tuple(_picked(ins, wave, lane, i, part, 16) for i in range(2)) for part in range(2)]
            out[lane] = _step(wave, pairs, (form, form), _raw(wave, ins.src[2], lane))[0]
        for lane, bits in out.items():
            wave.v[ins.dst[0].index][lane] = bits

    return run


for _kind, _form in (("f16", F16), ("bf16", BF16)):
    for _word in ("dot2", "dot2c"):
        EXTRA[f"v_{_word}_f32_{_kind}"] = _wide(_form, EXTRA[f"v_{_word}_f32_{_kind}"])


def _narrow(form):
    """V_DOT2_F16_F16, V_DOT2_BF16_BF16: bf16 is the upper half of the f32 result, cut off."""

    def run(wave, ins):
        select = ins.modifiers.get("op_sel", 0)
        out = {}
        for lane in wave.active():
            a, b, c = (
                _raw(wave, source, lane) & ~(source.abs * 0x80008000) ^ source.neg * 0x80008000
                for source in ins.src[:3]
            )
            c = c >> 16 * (select >> 2 & 1) & M16
            pairs = [(a >> place & M16, b >> place & M16) for place in (0, 16)]
            out[lane] = _half(wave, pairs, form, c)
        to, shift = wave.v[ins.dst[0].index], 16 * (select >> 3 & 1)
        for lane, bits in out.items():
            to[lane] = to[lane] & ~(M16 << shift) & M32 | bits << shift

    return run


def _half(wave, pairs, form, c):
    if form == BF16:
        out, special = _step(wave, pairs, (form, form), c << 16)
        return 0xFFFD if special and out == BAD_FACTOR else out >> 16
    wide = _widened(c)
    out, special = _step(wave, pairs, (form, form), wide, F16)
    if special:
        if out == BAD_FACTOR:
            return 0xFE3D
        return out >> 16 & 0x8000 | (0x7C00 if fl.is_inf(out, F32) else 0x7E00 | out >> 13 & 0x3FF)
    if fl.is_inf(out, F16) and more.NOW.mode >> 23 & 1:
        out -= 1
    return out


def _widened(bits):
    """An f16 as f32, exactly; a NaN keeps its payload."""
    sign = fl.sign_of(bits, F16)
    if fl.is_nan(bits, F16):
        return sign << 31 | 0x7F800000 | fl.fraction_of(bits, F16) << 13
    return fl.infinity(sign, F32) if fl.is_inf(bits, F16) else fl.rounded(fl.value(bits, F16), F32, sign)


EXTRA |= {"v_dot2_f16_f16": _narrow(F16), "v_dot2_bf16_bf16": _narrow(BF16)}


def _bytes(first, second):
    """V_DOT4_F32_*: NEG and ABS act on the addend only (7.7)."""

    def run(wave, ins):
        for lane in wave.active():
            a, b, c = (_raw(wave, ins.src[i], lane) for i in range(3))
            if ins.modifiers["neg_hi"] >> 2 & 1:
                c &= 0x7FFFFFFF
            c ^= (ins.modifiers["neg_lo"] >> 2 & 1) << 31
            pairs = [_as_bf16((a >> place & 255, first), (b >> place & 255, second)) for place in range(0, 32, 8)]
            wave.v[ins.dst[0].index][lane] = _step_of_bytes(wave, pairs, c)

    return run


def _as_bf16(*codes):
    """Small floats as (f16 bits, exponent of their encoding)."""
    out = []
    for code, kind in codes:
        row = small(kind)
        form = (row.bits - 1 - row.mantissa_bits, row.mantissa_bits)
        value = row.decode(code)
        bits = 0x7E00 if math.isnan(value) else fl.infinity(int(value < 0), F16) if math.isinf(value) else None
        if bits is None:
            bits = fl.rounded(Fraction(float(value)), F16, code >> 7)
        out.append((bits, _exponent(code, form)))
    return out


def _step_of_bytes(wave, pairs, c):
    """Four products on one grid."""
    plain = [tuple(bits for bits, _ in pair) for pair in pairs]
    found = _special(plain, (F16, F16), c, BAD_FACTOR)
    if found is not None:
        return found
    products = [fl.value(a, F16) * fl.value(b, F16) for a, b in plain]
    exponents = [pair[0][1] + pair[1][1] for pair, product in zip(pairs, products, strict=True) if product]
    addend = fl.value(c, F32)
    grid = max(max(exponents, default=FAR) - 24, max(-126, _lead(addend)) - 26)
    own = _cut(addend, grid)
    if grid > -126 and addend < 0 and abs(addend) < Fraction(2) ** grid:
        own = 0
    first = max(exponents, default=FAR) - 24
    four = sum(_cut(product, first) for product in products) * Fraction(2) ** first if exponents else Fraction(0)
    total = _cut(four, grid) + own
    return 0 if total == 0 else fl.rounded(Fraction(total) * Fraction(2) ** grid, F32)


EXTRA |= {
    f"v_dot4_f32_{a}_{b}": _bytes(a, b) for a, b in (("fp8", "bf8"), ("bf8", "fp8"), ("fp8", "fp8"), ("bf8", "bf8"))
}
