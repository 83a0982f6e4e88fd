"""Vector operations, one lane at a time: name -> (kinds of the sources, kinds of the results, function).

Kinds: ``u32 i32 u16 i16 u64 i64 u24 i24`` integers, read with their sign; ``f16 f32 f64`` raw bits of a float;
``m`` a bit of a lane mask. A function returns exact integers: the interpreter wraps them, or saturates them when the
instruction has the clamp modifier. Source: CDNA3 and CDNA4 ISA manuals, chapter 12 (VOP1, VOP2, VOP3, VOPC).
"""

from __future__ import annotations

import operator

from tests.slow.machine import floats as fl
from tests.slow.machine.floats import F16, F32, F64

FORMS = {"f16": F16, "f32": F32, "f64": F64}

VECTOR = {}
"""name: (source kinds, result kinds, function of the sources that returns a result or a tuple of them)"""


def _row(names, signature, function):
    sources, _, results = signature.partition("->")
    for name in names.split():
        VECTOR[name] = (tuple(sources.split()), tuple(results.split()), function)


def _bfe_u(value, offset, count):
    return value >> (offset & 31) & ((1 << (count & 31)) - 1)


def _bfe_i(value, offset, count):
    count &= 31
    field = value >> (offset & 31) & ((1 << count) - 1)
    return field - (1 << count) if count and field >> (count - 1) else field


def _permute(high, low, selectors):
    data = (high << 32 | low).to_bytes(8, "little")
    out = 0
    for i in range(4):
        selector = selectors >> 8 * i & 0xFF
        if selector >= 13:
            byte = 0xFF
        elif selector == 12:
            byte = 0
        elif selector >= 8:
            byte = 0xFF * (data[2 * (selector - 8) + 1] >> 7)
        else:
            byte = data[selector]
        out |= byte << 8 * i
    return out


def _leading(value):
    return 32 - value.bit_length() if value else -1


def _trailing(value):
    return (value & -value).bit_length() - 1 if value else -1


def _sign_bits(value):
    text = f"{value & 0xFFFFFFFF:032b}"
    return len(text) - len(text.lstrip(text[0])) if len(set(text)) > 1 else -1


def _carry_out(exact):
    return exact, int(exact >= 1 << 32)


def _borrow_out(exact):
    return exact, int(exact < 0)


def _wide(exact):
    """V_MAD_U64_U32, V_MAD_I64_I32: the mask gets bit 64 of the 65-bit sum, for signed factors its sign."""
    return exact, exact >> 64 & 1


def _median(a, b, c):
    return sorted((a, b, c))[1]


def _lshl_add_u64(a, count, c):
    # Counts above 4 are not supported and shift by nothing.
    count &= 7
    return (a << (count if count <= 4 else 0)) + c


def _sad_u8(a, b, c):
    return sum(abs((a >> i & 255) - (b >> i & 255)) for i in (0, 8, 16, 24)) + c


def _ubyte(which):
    return lambda a: fl.rounded(fl.Fraction(a >> 8 * which & 255), F32)


for _names, _signature, _function in (
    ("v_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32", "u32 -> u32", lambda a: a),
    ("v_mov_b64", "u64 -> u64", lambda a: a),
    ("v_not_b32", "u32 -> u32", lambda a: ~a),
    ("v_bfrev_b32", "u32 -> u32", lambda a: int(f"{a:032b}"[::-1], 2)),
    ("v_ffbh_u32", "u32 -> i32", _leading),
    ("v_ffbl_b32", "u32 -> i32", _trailing),
    ("v_ffbh_i32", "i32 -> i32", _sign_bits),
    ("v_add_u32", "u32 u32 -> u32", lambda a, b: a + b),
    ("v_sub_u32", "u32 u32 -> u32", lambda a, b: a - b),
    ("v_subrev_u32", "u32 u32 -> u32", lambda a, b: b - a),
    ("v_add_co_u32", "u32 u32 -> u32 m", lambda a, b: _carry_out(a + b)),
    ("v_sub_co_u32", "u32 u32 -> u32 m", lambda a, b: _borrow_out(a - b)),
    ("v_subrev_co_u32", "u32 u32 -> u32 m", lambda a, b: _borrow_out(b - a)),
    ("v_addc_co_u32", "u32 u32 m -> u32 m", lambda a, b, c: _carry_out(a + b + c)),
    ("v_subb_co_u32", "u32 u32 m -> u32 m", lambda a, b, c: _borrow_out(a - b - c)),
    ("v_subbrev_co_u32", "u32 u32 m -> u32 m", lambda a, b, c: _borrow_out(b - a - c)),
    ("v_add_i32", "i32 i32 -> i32", lambda a, b: a + b),
    ("v_sub_i32", "i32 i32 -> i32", lambda a, b: a - b),
    ("v_add3_u32", "u32 u32 u32 -> u32", lambda a, b, c: a + b + c),
    ("v_add_lshl_u32", "u32 u32 u32 -> u32", lambda a, b, c: (a + b & 0xFFFFFFFF) << (c & 31) & 0xFFFFFFFF),
    ("v_lshl_add_u32", "u32 u32 u32 -> u32", lambda a, b, c: (a << (b & 31)) + c),
    ("v_lshl_or_b32", "u32 u32 u32 -> u32", lambda a, b, c: a << (b & 31) | c),
    ("v_and_or_b32", "u32 u32 u32 -> u32", lambda a, b, c: a & b | c),
    ("v_or3_b32", "u32 u32 u32 -> u32", lambda a, b, c: a | b | c),
    ("v_xor3_b32", "u32 u32 u32 -> u32", lambda a, b, c: a ^ b ^ c),
    ("v_xad_u32", "u32 u32 u32 -> u32", lambda a, b, c: (a ^ b) + c),
    ("v_lshl_add_u64", "u64 u32 u64 -> u64", _lshl_add_u64),
    ("v_and_b32", "u32 u32 -> u32", lambda a, b: a & b),
    ("v_or_b32", "u32 u32 -> u32", lambda a, b: a | b),
    ("v_xor_b32", "u32 u32 -> u32", lambda a, b: a ^ b),
    ("v_xnor_b32", "u32 u32 -> u32", lambda a, b: ~(a ^ b)),
    ("v_lshlrev_b32", "u32 u32 -> u32", lambda a, b: b << (a & 31)),
    ("v_lshrrev_b32", "u32 u32 -> u32", lambda a, b: b >> (a & 31)),
    ("v_ashrrev_i32", "u32 i32 -> i32", lambda a, b: b >> (a & 31)),
    ("v_lshlrev_b64", "u32 u64 -> u64", lambda a, b: b << (a & 63)),
    ("v_lshrrev_b64", "u32 u64 -> u64", lambda a, b: b >> (a & 63)),
    ("v_ashrrev_i64", "u32 i64 -> i64", lambda a, b: b >> (a & 63)),
    ("v_bfe_u32", "u32 u32 u32 -> u32", _bfe_u),
    ("v_bfe_i32", "i32 u32 u32 -> i32", _bfe_i),
    ("v_bfi_b32", "u32 u32 u32 -> u32", lambda a, b, c: a & b | ~a & c),
    ("v_bfm_b32", "u32 u32 -> u32", lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    ("v_bcnt_u32_b32", "u32 u32 -> u32", lambda a, b: (a).bit_count() + b),
    ("v_alignbit_b32", "u32 u32 u16 -> u32", lambda a, b, c: (a << 32 | b) >> (c & 31) & 0xFFFFFFFF),
    ("v_alignbyte_b32", "u32 u32 u16 -> u32", lambda a, b, c: (a << 32 | b) >> 8 * (c & 3) & 0xFFFFFFFF),
    ("v_perm_b32", "u32 u32 u32 -> u32", _permute),
    ("v_cndmask_b32", "u32 u32 m -> u32", lambda a, b, c: b if c else a),
    ("v_min_i32", "i32 i32 -> i32", min),
    ("v_max_i32", "i32 i32 -> i32", max),
    ("v_min_u32", "u32 u32 -> u32", min),
    ("v_max_u32", "u32 u32 -> u32", max),
    ("v_min3_i32", "i32 i32 i32 -> i32", min),
    ("v_max3_i32", "i32 i32 i32 -> i32", max),
    ("v_med3_i32", "i32 i32 i32 -> i32", _median),
    ("v_min3_u32", "u32 u32 u32 -> u32", min),
    ("v_max3_u32", "u32 u32 u32 -> u32", max),
    ("v_med3_u32", "u32 u32 u32 -> u32", _median),
    ("v_mul_lo_u32", "u32 u32 -> u32", lambda a, b: a * b & 0xFFFFFFFF),
    ("v_mul_hi_u32", "u32 u32 -> u32", lambda a, b: a * b >> 32),
    ("v_mul_hi_i32", "i32 i32 -> i32", lambda a, b: a * b >> 32),
    ("v_mul_u32_u24", "u24 u24 -> u32", lambda a, b: a * b),
    ("v_mul_i32_i24", "i24 i24 -> i32", lambda a, b: a * b),
    ("v_mul_hi_u32_u24", "u24 u24 -> u32", lambda a, b: a * b >> 32),
    ("v_mul_hi_i32_i24", "i24 i24 -> i32", lambda a, b: a * b >> 32),
    ("v_mad_u32_u24", "u24 u24 u32 -> u32", lambda a, b, c: a * b + c),
    ("v_mad_i32_i24", "i24 i24 i32 -> i32", lambda a, b, c: a * b + c),
    ("v_mad_u32_u16", "u16 u16 u32 -> u32", lambda a, b, c: a * b + c),
    ("v_mad_i32_i16", "i16 i16 i32 -> i32", lambda a, b, c: a * b + c),
    ("v_mad_u64_u32", "u32 u32 u64 -> u64 m", lambda a, b, c: _wide(a * b + c)),
    ("v_mad_i64_i32", "i32 i32 i64 -> i64 m", lambda a, b, c: _wide(a * b + c)),
    ("v_sad_u8", "u32 u32 u32 -> u32", _sad_u8),
    ("v_sad_u32", "u32 u32 u32 -> u32", lambda a, b, c: abs(a - b) + c),
    ("v_add_u16", "u16 u16 -> u16", lambda a, b: a + b),
    ("v_sub_u16", "u16 u16 -> u16", lambda a, b: a - b),
    ("v_subrev_u16", "u16 u16 -> u16", lambda a, b: b - a),
    ("v_add_i16", "i16 i16 -> i16", lambda a, b: a + b),
    ("v_sub_i16", "i16 i16 -> i16", lambda a, b: a - b),
    ("v_mul_lo_u16", "u16 u16 -> u16", lambda a, b: a * b & 0xFFFF),
    ("v_mad_u16 v_mad_legacy_u16", "u16 u16 u16 -> u16", lambda a, b, c: a * b + c),
    ("v_mad_i16 v_mad_legacy_i16", "i16 i16 i16 -> i16", lambda a, b, c: a * b + c),
    ("v_lshlrev_b16", "u16 u16 -> u16", lambda a, b: b << (a & 15)),
    ("v_lshrrev_b16", "u16 u16 -> u16", lambda a, b: b >> (a & 15)),
    ("v_ashrrev_i16", "u16 i16 -> i16", lambda a, b: b >> (a & 15)),
    ("v_min_u16", "u16 u16 -> u16", min),
    ("v_max_u16", "u16 u16 -> u16", max),
    ("v_min_i16", "i16 i16 -> i16", min),
    ("v_max_i16", "i16 i16 -> i16", max),
    *((f"v_cvt_f32_ubyte{i}", "u32 -> f32", _ubyte(i)) for i in range(4)),
    ("v_cvt_f32_u32", "u32 -> f32", lambda a: fl.rounded(fl.Fraction(a), F32)),
    ("v_cvt_f32_i32", "i32 -> f32", lambda a: fl.rounded(fl.Fraction(a), F32)),
    ("v_cvt_f64_u32", "u32 -> f64", lambda a: fl.rounded(fl.Fraction(a), F64)),
    ("v_cvt_f64_i32", "i32 -> f64", lambda a: fl.rounded(fl.Fraction(a), F64)),
):
    _row(_names, _signature, _function)

for _kind, _form in FORMS.items():
    _two, _three = f"{_kind} {_kind} -> {_kind}", f"{_kind} {_kind} {_kind} -> {_kind}"
    _row(f"v_add_{_kind}", _two, lambda a, b, f=_form: fl.add(a, b, f))
    _row(f"v_sub_{_kind}", _two, lambda a, b, f=_form: fl.add(a, _minus(b, f), f))
    _row(f"v_subrev_{_kind}", _two, lambda a, b, f=_form: fl.add(_minus(a, f), b, f))
    _row(f"v_mul_{_kind}", _two, lambda a, b, f=_form: fl.multiply(a, b, f))
    _row(f"v_fma_{_kind} v_fmac_{_kind}", _three, lambda a, b, c, f=_form: fl.fused(a, b, c, f))
    _row(f"v_fmamk_{_kind} v_fmaak_{_kind}", _three, lambda a, b, c, f=_form: fl.fused(a, b, c, f))
    _row(f"v_max_{_kind}", _two, lambda a, b, f=_form: fl.larger(a, b, f))
    _row(f"v_min_{_kind}", _two, lambda a, b, f=_form: fl.smaller(a, b, f))


def _minus(bits, form):
    """The other sign; a NaN passes with the sign it has."""
    return bits if fl.is_nan(bits, form) else fl.negated(bits, form)


_ORDERED = {
    "f": set(), "lt": {-1}, "eq": {0}, "le": {-1, 0}, "gt": {1}, "lg": {-1, 1}, "ge": {0, 1}, "o": {-1, 0, 1},
    "u": {None}, "nge": {-1, None}, "nlg": {0, None}, "ngt": {-1, 0, None}, "nle": {1, None}, "neq": {-1, 1, None},
    "nlt": {0, 1, None}, "tru": {-1, 0, 1, None},
}  # fmt: skip
"""Which outcomes of a comparison (less, equal, greater, unordered) a float condition accepts."""

_INTEGER = {
    "f": lambda a, b: False, "lt": operator.lt, "eq": operator.eq, "le": operator.le, "gt": operator.gt,
    "ne": operator.ne, "ge": operator.ge, "t": lambda a, b: True,
}  # fmt: skip


def _class(bits, selected, form):
    """V_CMP_CLASS: ten classes, from signalling NaN to +infinity."""
    negative = fl.sign_of(bits, form)
    if fl.is_nan(bits, form):
        found = 0 if fl.is_signalling(bits, form) else 1
    elif fl.is_inf(bits, form):
        found = 2 if negative else 9
    elif fl.is_zero(bits, form):
        found = 5 if negative else 6
    elif fl.exponent_of(bits, form) == 0:
        found = 4 if negative else 7
    else:
        found = 3 if negative else 8
    return selected >> found & 1


for _stem in ("v_cmp", "v_cmpx"):
    for _kind, _form in FORMS.items():
        for _name, _accepted in _ORDERED.items():
            _row(
                f"{_stem}_{_name}_{_kind}",
                f"{_kind} {_kind} -> m",
                lambda a, b, f=_form, s=_accepted: int(fl.order(a, b, f) in s),
            )
        _row(
            f"{_stem}_class_{_kind}",
            f"{_kind} {'u16' if _kind == 'f16' else 'u32'} -> m",
            lambda a, b, f=_form: _class(a, b, f),
        )
    for _kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
        for _name, _test in _INTEGER.items():
            _row(f"{_stem}_{_name}_{_kind}", f"{_kind} {_kind} -> m", lambda a, b, t=_test: int(t(a, b)))


def bitop3(a, b, c, table, size):
    """V_BITOP3: bit i of the truth table answers for the bits (S0, S1, S2) = i."""
    out = 0
    for bit in range(size):
        index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1
        out |= (table >> index & 1) << bit
    return out
