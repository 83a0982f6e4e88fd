"""The steps of division: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP. Source: CDNA3 ISA manual, VOP3 opcodes 478 to 483, 519.

V_DIV_SCALE compares exponent fields and nothing else: AMD's simulator rocjitsu (ROCm/rocm-systems, ``division.h``) has
that rule and states that a gfx1100 and a gfx1201 give its results; the cases that tinygrad (test/amd/hw) recorded on
RDNA3 follow from it. The pseudo-code, the same in all manuals, tests for zeros, denormal operands and denormal
quotients instead; VCC would be 0 with a zero operand, where hardware compares the exponents all the same. A denormal
that MODE flushes is a zero in every test. CDNA has the same pseudo-code, the same macro in LLVM and no public capture:
`assumed`.

Some statements about the other two cannot be meant literally, since a division macro would then miss its quotient. They
are read so that it does not (fidelity ``assumed``; tests/machine/test_division.py divides):

- V_DIV_FMAS scales back by what V_DIV_SCALE scaled by, 2**64 (f64: 2**128), up when the approximate quotient S2 is
  above 1 and down otherwise; the manual has one factor of 2**32 (2**64);
- V_DIV_FIXUP finds an overflow in the exponent of the quotient S0, which is NaN or infinite then; the manual says S1.

Both readings give the digests of an RX 9070 over 16**3 boundary values (tests/silicon), and so does the overflow of
V_DIV_FIXUP_F16 there (`FloatRules.fixup_overflows`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.numerics import exact, ieee
from mfmasim.machine.numerics.float_formats import BY_SIZE, Form
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.opcodes.registry import vector

# Exponents between numerator and denominator that differ too much; a tiny numerator (the manuals: 23, 53); the scale;
# quotients that underflow whatever the approximation says.
FAR = {32: 96, 64: 768}
TINY = {32: 24, 64: 53}
SCALE = {32: 64, 64: 128}
UNDERFLOW = {32: -150, 64: -1075}
RULE = {"far": FAR, "tiny": TINY, "scale": SCALE}
"""Parameters of V_DIV_SCALE, by the width of the numbers."""


def _exponent(values: U, form: Form) -> U:
    """The exponent field."""
    return ((form.bits(values) & form.infinity) >> form.word(form.fraction)).astype(np.int64)


def div_scale(s0: U, s1: U, s2: U, mode: FloatMode, rule: Mapping[str, Mapping[int, int]] = RULE) -> tuple[U, U]:
    """S0 scaled for the division of S2 by S1, and whether the quotient has to be scaled back.

    Args:
        s0: S1 or S2.
        s1: the denominator.
        s2: the numerator.
        mode: rounding and denormals.
        rule: the limits, as `RULE`.
    """
    form = BY_SIZE[s0.dtype.itemsize]
    width = form.width
    s0, s1, s2 = (ieee.entering(s, form, mode) for s in np.broadcast_arrays(s0, s1, s2))
    below, above = _exponent(s1, form), _exponent(s2, form)
    apart, denominator = above - below, form.bits(s0) == form.bits(s1)
    large, small = apart >= rule["far"][width], apart <= -rule["far"][width]
    scale = np.int32(rule["scale"][width])
    power = np.select(
        # a quotient near the largest number, a denormal divisor, a denormal reciprocal, a tiny quotient or numerator
        [large, below == 0, below >= 2 * form.bias - 1, small, above <= rule["tiny"][width]],
        [scale * denominator, scale, -scale * (denominator | ~small), scale * ~denominator, scale],
        np.int32(0),
    )
    out = ieee.scale(s0, power.astype(np.int32), mode)
    invalid = np.full(np.shape(out), form.sign | form.infinity | form.quiet, form.word).view(form.real)
    return np.where((s1 == 0) | (s2 == 0), invalid, out), large | small


def div_fmas(s0: U, s1: U, s2: U, scaled: U, mode: FloatMode) -> U:
    """S0 * S1 + S2, scaled back where VCC says so, with one rounding."""
    form = BY_SIZE[s0.dtype.itemsize]
    keeping = mode.keeping_inputs
    out = ieee.fused(s0, s1, s2, keeping)
    if not np.any(scaled):
        return out
    power = np.where(_exponent(s2, form) > form.bias, SCALE[form.width], -SCALE[form.width])
    sources = np.broadcast_arrays(s0, s1, s2)
    where = scaled & np.isfinite(sources[0]) & np.isfinite(sources[1]) & np.isfinite(sources[2])
    rounding, flush = mode.rounding(form.width), not mode.denormals(form.width) & 2
    out = exact.elementwise(
        lambda a, b, c, n: exact.fma(a, b, c, form, rounding, flush, n),
        form,
        where,
        np.broadcast_to(out, where.shape),
        *[form.bits(source) for source in sources],
        np.broadcast_to(power, where.shape),
    )
    return ieee.leaving_fused(out, form, keeping, s0, s1, s2)


def div_fixup(s0: U, s1: U, s2: U, mode: FloatMode) -> U:
    """The quotient S0 of S2 by S1 with the correct sign and the special cases resolved."""
    form = BY_SIZE[s0.dtype.itemsize]
    s0, s1, s2 = (ieee.entering(s, form, mode) for s in np.broadcast_arrays(s0, s1, s2))
    b0, b1, b2 = (form.bits(s) for s in (s0, s1, s2))
    sign = (b1 ^ b2) & form.sign
    infinite1, infinite2 = np.isinf(s1), np.isinf(s2)
    zero1, zero2 = s1 == 0, s2 == 0
    invalid = form.sign | form.infinity | form.quiet
    conditions = [
        np.isnan(s2),
        np.isnan(s1),
        (zero1 & zero2) | (infinite1 & infinite2),
        zero1 | infinite2,
        infinite1 | zero2,
    ]
    values = [b2 | form.quiet, b1 | form.quiet, np.full(sign.shape, invalid), sign | form.infinity, sign]
    if form.width != 16:
        # Underflow gives zero and overflow infinity, as rounding to nearest would.
        conditions += [_exponent(s2, form) - _exponent(s1, form) < UNDERFLOW[form.width], ~np.isfinite(s0)]
        values += [sign, sign | form.infinity]
    elif mode.rules.fixup_overflows:
        conditions.append(~np.isfinite(s0))
        largest = form.word(form.infinity - 1)
        outward = np.where(sign != 0, mode.rounding(16) in (0, 2), mode.rounding(16) in (0, 1)) & (not mode.fp16_ovfl)
        values.append(sign | np.where(outward, form.infinity, largest))
    quotient = np.where(np.isnan(s0), b0 | form.quiet, b0 & ~form.sign | sign)
    out = np.select(conditions, values, quotient).view(form.real)
    return out if mode.plain or mode.denormals(form.width) & 2 else form.flushed(out)


for _kind in ("f32", "f64"):
    _three = f"{_kind} {_kind} {_kind}"
    vector(
        f"v_div_scale_{_kind}",
        f"{_three} mode -> {_kind} mask",
        "assumed",
        checked=lambda arch: arch.floats.division_checked,
    )(div_scale)
    vector(f"v_div_fmas_{_kind}", f"{_three} mask mode -> {_kind}", "assumed")(div_fmas)
    vector(f"v_div_fixup_{_kind}", f"{_three} mode -> {_kind}", "assumed")(div_fixup)
vector("v_div_fixup_f16", "f16 f16 f16 mode -> f16", keeps_high=True)(div_fixup)
vector("v_div_fixup_legacy_f16", "f16 f16 f16 mode -> f16")(div_fixup)
