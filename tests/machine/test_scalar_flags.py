"""SCC of scalar operations whose flag says whether the result is other than zero: random data rarely make it zero."""

import numpy as np
import pytest

from mfmasim.machine.ops.scalar_alu import s_add_i32
from tests.machine import harness

pytestmark = pytest.mark.oracle

ZERO = (
    "s_not_b{bits} {to}, -1", "s_wqm_b{bits} {to}, 0", "s_and_b{bits} {to}, {x}, 0", "s_or_b{bits} {to}, 0, 0",
    "s_xor_b{bits} {to}, {x}, {x}", "s_nand_b{bits} {to}, -1, -1", "s_nor_b{bits} {to}, {x}, -1",
    "s_xnor_b{bits} {to}, 0, -1", "s_andn2_b{bits} {to}, {x}, {x}", "s_orn2_b{bits} {to}, 0, -1",
    "s_lshl_b{bits} {to}, 0, 3", "s_lshr_b{bits} {to}, 1, 1", "s_ashr_i{bits} {to}, 1, 1",
    "s_bfe_u{bits} {to}, 15, 0x80004", "s_bfe_i{bits} {to}, 15, 0x80004",
)  # fmt: skip
ZERO_OF_32 = (
    "s_bcnt1_i32_b32 {to}, 0", "s_bcnt1_i32_b64 {to}, 0", "s_bcnt0_i32_b32 {to}, -1", "s_bcnt0_i32_b64 {to}, -1",
    "s_quadmask_b32 {to}, 0", "s_abs_i32 {to}, 0", "s_absdiff_i32 {to}, {x}, {x}",
)  # fmt: skip
LINES = [(text, bits) for bits in (32, 64) for text in ZERO] + [(text, 32) for text in ZERO_OF_32]
REGISTERS = {32: ("s8", "s10"), 64: ("s[8:9]", "s[10:11]")}


def flags(lines):
    """For each line: the low dword of its result, the high one (0 for 32 bits), and SCC, which was 1 before."""
    body = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32_e32 v0, 0\n  s_mov_b64 s[10:11], 0x1234567\n"
    for number, (text, bits) in enumerate(lines):
        to, x = REGISTERS[bits]
        body += f"""
  s_mov_b64 s[8:9], 0
  s_cmp_eq_u32 0, 0
  {text.format(bits=bits, to=to, x=x)}
  s_cselect_b32 s12, 1, 0
  v_mov_b32_e32 v2, s8
  v_mov_b32_e32 v3, s9
  v_mov_b32_e32 v4, s12
  s_waitcnt lgkmcnt(0)
  global_store_dwordx3 v0, v[2:4], s[4:5] offset:{12 * number}
"""
    out = np.full((len(lines), 3), 99, np.uint32)
    arrays, _ = harness.fast(harness.kernel(body + "  s_endpgm\n", "gfx942", "p"), 1, 64, [out], checks="none")
    return arrays[0].tolist()


def test_a_result_of_zero_clears_the_flag():
    found = flags(LINES)
    assert {
        text.format(bits=bits, to="", x=""): row for (text, bits), row in zip(LINES, found, strict=True) if any(row)
    } == {}
    assert len(found) == 37


def test_any_bit_of_the_result_sets_it():
    """The lowest and the highest one."""
    lines = [(text, bits) for bits in (32, 64) for text in ("s_not_b{bits} {to}, -2", "s_lshl_b{bits} {to}, 1, 31")]
    lines.append(("s_lshl_b64 {to}, 1, 63", 64))
    assert [row[2] for row in flags(lines)] == [1] * 5


def test_overflow_of_one_wave_and_of_many():
    """A sum leaves the range, or just stays in it; one wave takes another way than many."""
    edges = [0, 1, -1, 5, -5, 2**31 - 1, 2**31 - 2, -(2**31), 1 - 2**31]
    pairs = [(a, b) for a in edges for b in edges]
    wanted = [not -(2**31) <= a + b < 2**31 for a, b in pairs]
    first, second = np.array(pairs, np.int32).T
    with np.errstate(over="ignore"):
        sums, many = s_add_i32(first, second)
        ones = [s_add_i32(first[i : i + 1], second[i : i + 1]) for i in range(len(pairs))]
    assert many.tolist() == wanted
    assert [flag.tolist() for _, flag in ones] == [[flag] for flag in wanted]
    assert [int(value[0]) for value, _ in ones] == sums.tolist()
    assert sums.tolist() == [(a + b + 2**31) % 2**32 - 2**31 for a, b in pairs]
