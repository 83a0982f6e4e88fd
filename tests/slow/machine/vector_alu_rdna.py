"""Vector operations that RDNA3, RDNA3.5 and RDNA4 have beyond gfx9's, one lane at a time.

Source: RDNA3, RDNA3.5 and RDNA4 ISA manuals, chapter 7 and the opcodes of VOP1, VOP2, VOP3, VOP3P.
"""

from __future__ import annotations

import math

from tests.slow.machine import float_mode as more
from tests.slow.machine import floats as fl
from tests.slow.machine.conversions import I16, U16, _integer, _signed
from tests.slow.machine.float_mode import EXTRA, entering, row, without_denormals
from tests.slow.machine.floats import F32, Fraction
from tests.slow.machine.minimum import NUMBER, PROPAGATING
from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.vector_alu import FORMS, VECTOR
from tests.slow.machine.vector_execution import vector
from tests.slow.machine.vop3p import PACKED, _halfwise, _raw

M16, M32 = (1 << 16) - 1, (1 << 32) - 1


_MIN, _MAX = NUMBER["min_num"], NUMBER["max_num"]


def _median(a, b, c, form):
    a, b, c = (entering(bits, form) for bits in (a, b, c))
    if any(fl.is_nan(bits, form) for bits in (a, b, c)):
        return _MIN(_MIN(a, b, form), c, form)
    top = _MAX(_MAX(a, b, form), c, form)
    if top == a:  # -0 is below +0
        return _MAX(b, c, form)
    return _MAX(a, c, form) if top == b else _MAX(a, b, form)


for _kind, _form in FORMS.items():
    _two, _three = f"{_kind} {_kind} -> {_kind}", f"{_kind} {_kind} {_kind} -> {_kind}"
    for _word, _function in (NUMBER | PROPAGATING).items():
        row(f"v_{_word}_{_kind}", _two, lambda a, b, f=_form, g=_function: g(a, b, f))
        _short = _word.removesuffix("_num")
        _third = f"v_{_short}3_num_{_kind}" if _word in NUMBER else f"v_{_word}3_{_kind}"
        row(_third, _three, lambda a, b, c, f=_form, g=_function: g(g(a, b, f), c, f))
    row(f"v_med3_num_{_kind}", _three, lambda a, b, c, f=_form: _median(a, b, c, f))
    for _name, _first, _then in (
        ("minmax_num", _MIN, _MAX),
        ("maxmin_num", _MAX, _MIN),
        ("minmax", more.smaller, more.larger),
        ("maxmin", more.larger, more.smaller),
        ("minimummaximum", PROPAGATING["minimum"], PROPAGATING["maximum"]),
        ("maximumminimum", PROPAGATING["maximum"], PROPAGATING["minimum"]),
    ):
        row(f"v_{_name}_{_kind}", _three, lambda a, b, c, f=_form, g=_first, h=_then: h(g(a, b, f), c, f))
for _word, _function in (NUMBER | PROPAGATING).items():
    PACKED[f"v_pk_{_word}_f16"] = EXTRA[f"v_pk_{_word}_f16"] = _halfwise(_function, 2)
for _kind in ("i32", "u32"):
    row(f"v_maxmin_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}", lambda a, b, c: min(max(a, b), c))
    row(f"v_minmax_{_kind}", f"{_kind} {_kind} {_kind} -> {_kind}", lambda a, b, c: max(min(a, b), c))


# 16 bits.

for _names, _signature, _function in (
    ("v_mov_b16", "u16 -> u16", lambda a: a),
    ("v_not_b16", "u16 -> u16", lambda a: ~a),
    ("v_and_b16", "u16 u16 -> u16", lambda a, b: a & b),
    ("v_or_b16", "u16 u16 -> u16", lambda a, b: a | b),
    ("v_xor_b16", "u16 u16 -> u16", lambda a, b: a ^ b),
    ("v_cndmask_b16", "u16 u16 m -> u16", lambda a, b, c: b if c else a),
    ("v_cvt_i32_i16", "i16 -> i32", lambda a: a),
    ("v_cvt_u32_u16", "u16 -> u32", lambda a: a),
):
    row(_names, _signature, _function)


# Products with DirectX 9's zero, cube maps, light.


def _fma_dx9(a, b, c):
    if any(fl.is_zero(entering(bits, F32), F32) for bits in (a, b)):
        return more.add(0, c, F32)
    return more.fused(a, b, c, F32)


row("v_fma_dx9_zero_f32 v_fmac_dx9_zero_f32", "f32 f32 f32 -> f32", without_denormals(_fma_dx9, 0x30))


def _size(bits):
    return bits & 0x7FFFFFFF


def _face(x, y, z):
    """(axis, negative): the face of a cube that a direction meets."""

    def reaches(a, b):
        return fl.order(_size(a), _size(b), F32) in (0, 1)

    if reaches(z, x) and reaches(z, y):
        return 2, fl.order(z, 0, F32) == -1
    if reaches(y, x):
        return 1, fl.order(y, 0, F32) == -1
    return 0, fl.order(x, 0, F32) == -1


def _cube(pick):
    def run(x, y, z):
        axis, negative = _face(*(more.flushed(bits, F32) for bits in (x, y, z)))
        return pick(axis, negative, *(fl.quiet(bits, F32) if fl.is_nan(bits, F32) else bits for bits in (x, y, z)))

    return run


def _cube_s(axis, negative, x, y, z):
    return (z if negative else fl.negated(z, F32), x, fl.negated(x, F32) if negative else x)[axis]


def _cube_t(axis, negative, x, y, z):
    return fl.negated(y, F32) if axis != 1 else fl.negated(z, F32) if negative else z


def _major(axis, negative, x, y, z):
    part = more.flushed((x, y, z)[axis], F32)
    return 0 if fl.is_zero(part, F32) else without_denormals(lambda a: more.multiply(a, _TWO, F32), 0x30)(part)


_TWO = fl.rounded(Fraction(2), F32)
for _name, _pick in (
    ("id", lambda axis, negative, x, y, z: fl.rounded(Fraction(2 * axis + negative), F32)),
    ("sc", _cube_s),
    ("tc", _cube_t),
    ("ma", _major),
):
    row(f"v_cube{_name}_f32", "f32 f32 f32 -> f32", _cube(_pick))

LEAST = 0xFF7FFFFF


def _mullit(a, b, c):
    """V_MULLIT: S0 * S1 with zeros that win, unless S1 is as low as can be or S2 is no positive number."""
    if fl.is_nan(b, F32) or fl.order(b, LEAST, F32) in (-1, 0) or fl.is_nan(c, F32) or fl.order(c, 0, F32) in (-1, 0):
        return LEAST
    return VECTOR["v_mul_legacy_f32"][2](a, b)


row("v_mullit_f32", "f32 f32 f32 -> f32", _mullit)


def _nearest_byte(a):
    """A number from 0 to 255, rounded as MODE says; NaN is 0."""
    a = entering(a, F32)
    if fl.is_nan(a, F32):
        return 0
    if fl.is_inf(a, F32):
        return 0 if fl.sign_of(a, F32) else 255
    whole = (round, math.ceil, math.floor, math.trunc)[more.rounding(F32)]
    return max(0, min(255, whole(fl.value(a, F32))))


def _into_byte(a, select, old):
    shift = 8 * (select & 3)
    return old & ~(255 << shift) & M32 | _nearest_byte(a) << shift


row("v_cvt_pk_u8_f32", "f32 u32 u32 -> u32", _into_byte)
row("v_cvt_pkaccum_u8_f32", "f32 u32 u32 -> u32", _into_byte)


def _pair_of_integers(limits):
    def run(wave, ins):
        for lane in wave.active():
            parts = [_signed(_raw(wave, ins.src[i], lane) & M32, ins.src[i], F32) for i in range(2)]
            low, high = (_integer(bits, F32, *limits) & M16 for bits in parts)
            wave.v[ins.dst[0].index][lane] = low | high << 16

    return run


def _byte(kind):
    """V_CVT_F32_FP8, V_CVT_F32_BF8 of gfx12: BYTE_SEL picks a byte of the source; DPP moves lanes."""
    plain = VECTOR[f"v_cvt_f32_{kind}"][2]

    def run(wave, ins):
        shift = 8 * ins.modifiers.get("byte_sel", 0)
        vector(wave, ins, ("u32",), ("f32",), lambda a: plain(a >> shift))

    return run


for _kind in ("fp8", "bf8"):
    EXTRA[f"v_cvt_f32_{_kind}"] = _byte(_kind)
EXTRA |= {"v_cvt_pk_i16_f32": _pair_of_integers(I16), "v_cvt_pk_u16_f32": _pair_of_integers(U16)}


# Dot products.


def _dot_integers(bits):
    """V_DOT4_I32_IU8, V_DOT8_I32_IU4: NEG says which source is signed; the sum wraps."""

    def run(wave, ins):
        for lane in wave.active():
            total = _raw(wave, ins.src[2], lane)
            sources = [_raw(wave, ins.src[i], lane) for i in range(2)]
            for place in range(0, 32, bits):
                parts = [bits_ >> place & (1 << bits) - 1 for bits_ in sources]
                total += (signed(parts[0], bits) if ins.modifiers["neg_lo"] & 1 else parts[0]) * (
                    signed(parts[1], bits) if ins.modifiers["neg_lo"] & 2 else parts[1]
                )
            if ins.modifiers.get("clamp"):
                exact = total - (1 << 32 if _raw(wave, ins.src[2], lane) >> 31 else 0)
                total = min(max(exact, -(1 << 31)), (1 << 31) - 1)
            wave.v[ins.dst[0].index][lane] = total & M32

    return run


EXTRA |= {"v_dot4_i32_iu8": _dot_integers(8), "v_dot8_i32_iu4": _dot_integers(4)}
