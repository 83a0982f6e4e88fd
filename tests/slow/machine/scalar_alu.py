"""Scalar operations, one value at a time: name -> function of exact integers that returns (result, SCC).

Result None writes nothing, SCC None leaves the flag. Sources arrive as unsigned integers of the operand's width.
Source: CDNA3 ISA manual, chapter 12 (SOP2, SOPK, SOP1, SOPC), read apart from the machine.
"""

from __future__ import annotations

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def signed(bits, size=32):
    """Two's complement value of an unsigned number."""
    bits &= (1 << size) - 1
    return bits - (1 << size) if bits >> (size - 1) else bits


def _nonzero(result, size=32):
    result &= (1 << size) - 1
    return result, int(result != 0)


def _overflow(exact):
    """SCC of the signed additions: the result does not fit 32 bits."""
    return exact & M32, int(not -(1 << 31) <= exact < 1 << 31)


def _bfe_u(value, control, size):
    offset, count = control & (size - 1), control >> 16 & 0x7F
    return _nonzero(value >> offset & ((1 << count) - 1), size)


def _bfe_i(value, control, size):
    offset, count = control & (size - 1), control >> 16 & 0x7F
    if count == 0:
        return 0, 0
    field = signed(value, size) >> offset & ((1 << min(count, size)) - 1)
    return _nonzero(signed(field, min(count, size)), size)


def _leading(value):
    return 32 - value.bit_length() if value else M32


def _trailing(value, size):
    return (value & -value).bit_length() - 1 if value & ((1 << size) - 1) else M32


def _sign_bits(value, size):
    """Leading bits equal to the sign; -1 when all are."""
    text = f"{value:0{size}b}"
    return len(text) - len(text.lstrip(text[0])) if len(set(text)) > 1 else M32


def _quad(value, size):
    """S_QUADMASK: one bit a group of four; S_WQM spreads it back over the group."""
    return [int(value >> i & 15 != 0) for i in range(0, size, 4)]


def _quadmask(value, size):
    return _nonzero(sum(bit << i for i, bit in enumerate(_quad(value, size))), size)


def _wqm(value, size):
    return _nonzero(sum(15 * bit << 4 * i for i, bit in enumerate(_quad(value, size))), size)


def _pack(low, high):
    return low & 0xFFFF | (high & 0xFFFF) << 16, None


def _absolute(a):
    return _nonzero(abs(signed(a)))


def _replicate(value):
    return sum(3 * (value >> i & 1) << 2 * i for i in range(32)), None


TWO = {
    # name: function of (S0, S1, SCC) that returns (D, SCC)
    "s_add_u32": lambda a, b, c: ((a + b) & M32, a + b >> 32),
    "s_sub_u32": lambda a, b, c: ((a - b) & M32, int(b > a)),
    "s_add_i32": lambda a, b, c: _overflow(signed(a) + signed(b)),
    "s_sub_i32": lambda a, b, c: _overflow(signed(a) - signed(b)),
    "s_addc_u32": lambda a, b, c: ((a + b + c) & M32, a + b + c >> 32),
    "s_subb_u32": lambda a, b, c: ((a - b - c) & M32, int(b + c > a)),
    "s_min_i32": lambda a, b, c: (a, 1) if signed(a) < signed(b) else (b, 0),
    "s_min_u32": lambda a, b, c: (a, 1) if a < b else (b, 0),
    "s_max_i32": lambda a, b, c: (a, 1) if signed(a) >= signed(b) else (b, 0),
    "s_max_u32": lambda a, b, c: (a, 1) if a >= b else (b, 0),
    "s_cselect_b32": lambda a, b, c: (a if c else b, None),
    "s_cselect_b64": lambda a, b, c: (a if c else b, None),
    "s_mul_i32": lambda a, b, c: (a * b & M32, None),
    "s_mul_hi_u32": lambda a, b, c: (a * b >> 32, None),
    "s_mul_hi_i32": lambda a, b, c: (signed(a) * signed(b) >> 32 & M32, None),
    "s_lshl_b32": lambda a, b, c: _nonzero(a << (b & 31)),
    "s_lshr_b32": lambda a, b, c: _nonzero(a >> (b & 31)),
    "s_ashr_i32": lambda a, b, c: _nonzero(signed(a) >> (b & 31)),
    "s_lshl_b64": lambda a, b, c: _nonzero(a << (b & 63), 64),
    "s_lshr_b64": lambda a, b, c: _nonzero(a >> (b & 63), 64),
    "s_ashr_i64": lambda a, b, c: _nonzero(signed(a, 64) >> (b & 63), 64),
    "s_bfm_b32": lambda a, b, c: (((1 << (a & 31)) - 1) << (b & 31) & M32, None),
    "s_bfm_b64": lambda a, b, c: (((1 << (a & 63)) - 1) << (b & 63) & M64, None),
    "s_bfe_u32": lambda a, b, c: _bfe_u(a, b, 32),
    "s_bfe_i32": lambda a, b, c: _bfe_i(a, b, 32),
    "s_bfe_u64": lambda a, b, c: _bfe_u(a, b, 64),
    "s_bfe_i64": lambda a, b, c: _bfe_i(a, b, 64),
    "s_absdiff_i32": lambda a, b, c: _nonzero(abs(signed((signed(a) - signed(b)) & M32))),
    "s_pack_ll_b32_b16": lambda a, b, c: _pack(a, b),
    "s_pack_lh_b32_b16": lambda a, b, c: _pack(a, b >> 16),
    "s_pack_hh_b32_b16": lambda a, b, c: _pack(a >> 16, b >> 16),
}

for _shift in (1, 2, 3, 4):
    TWO[f"s_lshl{_shift}_add_u32"] = lambda a, b, c, n=_shift: (((a << n) + b) & M32, int((a << n) + b > M32))

LOGIC = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn1": lambda a, b: ~a & b,
    "andn2": lambda a, b: a & ~b,
    "orn1": lambda a, b: ~a | b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}

for _name, _logic in LOGIC.items():
    for _size in (32, 64):
        TWO[f"s_{_name}_b{_size}"] = lambda a, b, c, f=_logic, n=_size: _nonzero(f(a, b), n)

ONE = {
    # name: function of (S0, SCC) that returns (D, SCC)
    "s_mov_b32": lambda a, c: (a, None),
    "s_mov_b64": lambda a, c: (a, None),
    "s_cmov_b32": lambda a, c: (a if c else None, None),
    "s_cmov_b64": lambda a, c: (a if c else None, None),
    "s_not_b32": lambda a, c: _nonzero(~a),
    "s_not_b64": lambda a, c: _nonzero(~a, 64),
    "s_wqm_b32": lambda a, c: _wqm(a, 32),
    "s_wqm_b64": lambda a, c: _wqm(a, 64),
    "s_quadmask_b32": lambda a, c: _quadmask(a, 32),
    "s_quadmask_b64": lambda a, c: _quadmask(a, 64),
    "s_brev_b32": lambda a, c: (int(f"{a:032b}"[::-1], 2), None),
    "s_brev_b64": lambda a, c: (int(f"{a:064b}"[::-1], 2), None),
    "s_bcnt0_i32_b32": lambda a, c: _nonzero(32 - (a).bit_count()),
    "s_bcnt0_i32_b64": lambda a, c: _nonzero(64 - (a).bit_count()),
    "s_bcnt1_i32_b32": lambda a, c: _nonzero((a).bit_count()),
    "s_bcnt1_i32_b64": lambda a, c: _nonzero((a).bit_count()),
    "s_ff0_i32_b32": lambda a, c: (_trailing(~a & M32, 32), None),
    "s_ff0_i32_b64": lambda a, c: (_trailing(~a & M64, 64), None),
    "s_ff1_i32_b32": lambda a, c: (_trailing(a, 32), None),
    "s_ff1_i32_b64": lambda a, c: (_trailing(a, 64), None),
    "s_flbit_i32_b32": lambda a, c: (_leading(a), None),
    "s_flbit_i32_b64": lambda a, c: (64 - a.bit_length() if a else M32, None),
    "s_flbit_i32": lambda a, c: (_sign_bits(a, 32), None),
    "s_flbit_i32_i64": lambda a, c: (_sign_bits(a, 64), None),
    "s_sext_i32_i8": lambda a, c: (signed(a, 8) & M32, None),
    "s_sext_i32_i16": lambda a, c: (signed(a, 16) & M32, None),
    "s_abs_i32": lambda a, c: _absolute(a),
    "s_bitreplicate_b64_b32": lambda a, c: _replicate(a),
}

COMPARE = {
    "eq": lambda a, b: a == b,
    "lg": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
}

FLAG = {}
"""name: function of (S0, S1) that gives SCC."""

for _name, _test in COMPARE.items():
    for _stem in ("cmp", "cmpk"):
        FLAG[f"s_{_stem}_{_name}_u32"] = lambda a, b, f=_test: f(a, b)
        FLAG[f"s_{_stem}_{_name}_i32"] = lambda a, b, f=_test: f(signed(a), signed(b))
for _name in ("eq", "lg"):
    FLAG[f"s_cmp_{_name}_u64"] = COMPARE[_name]
for _size in (32, 64):
    FLAG[f"s_bitcmp0_b{_size}"] = lambda a, b, n=_size: a >> (b & (n - 1)) & 1 == 0
    FLAG[f"s_bitcmp1_b{_size}"] = lambda a, b, n=_size: a >> (b & (n - 1)) & 1 == 1

# S_BITSET writes one bit of the destination; the others change it by the sign-extended SIMM16.
TIED = {
    # name: function of (immediate or S0, old D, SCC) that returns (D, SCC)
    "s_addk_i32": lambda k, d, c: _overflow(signed(d) + signed(k)),
    "s_mulk_i32": lambda k, d, c: (d * k & M32, None),
    "s_movk_i32": lambda k, d, c: (k, None),
    "s_cmovk_i32": lambda k, d, c: (k if c else None, None),
    "s_bitset0_b32": lambda k, d, c: (d & ~(1 << (k & 31)) & M32, None),
    "s_bitset1_b32": lambda k, d, c: (d | 1 << (k & 31), None),
    "s_bitset0_b64": lambda k, d, c: (d & ~(1 << (k & 63)) & M64, None),
    "s_bitset1_b64": lambda k, d, c: (d | 1 << (k & 63), None),
}

SAVEEXEC = {
    # name: function of (S0, EXEC) that gives the new EXEC
    f"s_{name}_saveexec_b64": logic
    for name, logic in LOGIC.items()
}
WREXEC = {"s_andn1_wrexec_b64": LOGIC["andn1"], "s_andn2_wrexec_b64": LOGIC["andn2"]}

NOTHING = {
    "s_nop", "s_waitcnt", "s_setprio", "s_sleep", "s_icache_inv", "s_incperflevel", "s_decperflevel", "s_ttracedata",
    "s_dcache_inv", "s_dcache_wb", "s_set_gpr_idx_off", "v_nop", "buffer_inv", "buffer_wbl2", "s_sethalt",
    "s_dcache_inv_vol", "s_dcache_wb_vol",
}  # fmt: skip
"""Waits, priorities and caches: no effect on a result in program order."""
