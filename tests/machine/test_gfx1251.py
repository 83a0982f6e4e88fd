"""gfx1251: its F64 WMMA and packed 64-bit operations, which LLVM 22 lacks, by the bytes of LLVM's later tests."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.isa import decode
from tests.machine import harness

# Instruction in hexadecimal digits, as LLVM's gfx1251_asm_wmma_w32.s and gfx1251_asm_vop3p.s have it, and its text.
BYTES = [
    ("08405bcc0009221c", "v_wmma_f64_16x16x4_f64 v[8:23], v[0:3], v[4:7], v[8:23]"),
    ("08405bcc0009ca1b", "v_wmma_f64_16x16x4_f64 v[8:23], v[0:3], v[4:7], 1.0"),
    ("08405bcc0009ca9b", "v_wmma_f64_16x16x4_f64 v[8:23], v[0:3], v[4:7], 1.0 neg_lo:[0,0,1]"),
    ("08405bcc0009223c", "v_wmma_f64_16x16x4_f64 v[8:23], v[0:3], v[4:7], v[8:23] neg_lo:[1,0,0]"),
    ("08405bcc0009225c", "v_wmma_f64_16x16x4_f64 v[8:23], v[0:3], v[4:7], v[8:23] neg_lo:[0,1,0]"),
    ("08445bcc0009221c", "v_wmma_f64_16x16x4_f64 v[8:23], v[0:3], v[4:7], v[8:23] neg_hi:[0,0,1]"),
    ("04404bcc0819021a", "v_pk_add_f64 v[4:7], v[8:11], v[12:15]"),
    ("04414bcc0819023a", "v_pk_add_f64 v[4:7], v[8:11], v[12:15] neg_lo:[1,0] neg_hi:[1,0]"),
    ("04c04bcc0819021a", "v_pk_add_f64 v[4:7], v[8:11], v[12:15] clamp"),
    ("04404bcc0818001a", "v_pk_add_f64 v[4:7], s[8:11], s[12:15]"),
    ("04404bcc08e5011a", "v_pk_add_f64 v[4:7], v[8:11], 1.0"),
    ("04404bcc08f9001a", "v_pk_add_f64 v[4:7], v[8:11], null"),
    ("04403ccc08ff011a00405940", "v_pk_mul_f64 v[4:7], v[8:11], 0x40594000"),
    ("04453bcc081942bc", "v_pk_fma_f64 v[4:7], v[8:11], v[12:15], v[16:19] neg_lo:[1,0,1] neg_hi:[1,0,1]"),
    ("04403bcc0821fe1b66465940", "v_pk_fma_f64 v[4:7], v[8:11], v[16:19], 0x40594666"),
]
KERNEL = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_mul_u32_u24_e32 v30, {bytes}, v0
  s_wait_kmcnt 0x0
{loads}
  s_wait_loadcnt 0x0
{words}
  v_nop
  v_nop
  v_nop
  v_nop
  v_nop
  v_nop
  v_nop
  v_nop
  v_nop
{stores}
  s_endpgm
"""


def run(code, data, first, count):
    """Registers v[first:first+count-1], as (lanes, count), after an instruction on v0 and up, (lanes, registers)."""
    registers = data.shape[1]
    offsets = range(0, registers, 4)
    words = [code[i : i + 4] for i in range(0, len(code), 4)]
    text = KERNEL.format(
        bytes=4 * registers,
        loads="\n".join(f"  global_load_b128 v[{k}:{k + 3}], v30, s[4:5] offset:{4 * k}" for k in offsets),
        words="\n".join(f"  .long {int.from_bytes(word, 'little'):#x}" for word in words),
        stores="\n".join(
            f"  global_store_b128 v30, v[{first + k}:{first + k + 3}], s[6:7] offset:{4 * k}"
            for k in range(0, count, 4)
        ),
    )
    program = harness.kernel(text, "gfx1251")
    (_, out), report = harness.fast(program, 1, len(data), [data, np.zeros_like(data)], checks="all")
    assert not report.findings, [finding.message for finding in report.findings]
    return out[:, :count]


def test_texts_are_those_of_llvms_tests():
    assert [decode(bytes.fromhex(code), "gfx1251").text for code, _ in BYTES] == [text for _, text in BYTES]
    # AMD's simulator has the matrix instruction with a clear bit 14.
    assert decode(bytes.fromhex("08005bcc0009221c"), "gfx1251").text == BYTES[0][1]


@pytest.mark.parametrize("code", ["08405bcc0009221c", "04404bcc0819021a", "04407ecc0819421c"])
def test_gfx1250_has_none_of_them(code):
    with pytest.raises(MfmasimError, match="for gfx1250: VOP3P has no opcode"):
        decode(bytes.fromhex(code), "gfx1250")


def rounded(value, negative):
    """The nearest float of an exact number; `negative` is the sign of a zero."""
    return float(value) if value else (-0.0 if negative else 0.0)


def fused(a, b, c):
    """Product and sum, rounded once."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return rounded(exact, str(a * b)[0] == "-" and str(c)[0] == "-")


@pytest.mark.oracle
def test_the_matrix_instruction_is_a_chain_of_fused_operations():
    rng = np.random.default_rng(3)
    a, b, c = rng.normal(size=(16, 4)), rng.normal(size=(4, 16)), rng.normal(size=(16, 16))
    data = np.zeros((32, 24), np.uint32)
    wide = data.view(np.uint64).view(np.float64)
    for lane in range(32):
        line, upper = lane % 16, lane // 16
        wide[lane, 0:2] = a[line, 2 * upper : 2 * upper + 2]
        wide[lane, 2:4] = b[2 * upper : 2 * upper + 2, line]
        wide[lane, 4:12] = c[8 * upper : 8 * upper + 8, line]
    for code, sign in (("08405bcc0009221c", 1.0), ("08405bcc0009223c", -1.0)):
        found = np.ascontiguousarray(run(bytes.fromhex(code), data, 8, 16)).view(np.float64)
        expected = np.zeros((32, 8))
        for lane in range(32):
            for item in range(8):
                row, column = 8 * (lane // 16) + item, lane % 16
                total = c[row, column]
                for k in range(4):
                    total = fused(sign * a[row, k], b[k, column], total)
                expected[lane, item] = total
        assert (found.view(np.uint64) == expected.view(np.uint64)).all()
    op = mfmasim.instruction("gfx1251", "v_wmma_f64_16x16x4_f64")
    assert (op.fidelity, op.cycles) == ("assumed", 16)


FLOATS = {
    "04404bcc0819021a": lambda a, b, c: a + b,
    "04414bcc0819023a": lambda a, b, c: -a + b,
    "04403ccc0819021a": lambda a, b, c: a * b,
    "04404ecc0819021a": lambda a, b, c: max(a, b),
    "04404fcc0819021a": lambda a, b, c: min(a, b),
    "04403bcc0819421c": fused,
    "04453bcc081942bc": lambda a, b, c: fused(-a, b, -c),
    "04404bcc08e5011a": lambda a, b, c: a + 1.0,
    "04404bcc08f9001a": lambda a, b, c: a + 0.0,
    "04c04bcc0819021a": lambda a, b, c: min(max(a + b, 0.0), 1.0),
}
WHOLE = {"04404ccc0819021a": lambda a, b, c: a + b, "04404dcc0819021a": lambda a, b, c: a - b}


@pytest.mark.oracle
@pytest.mark.parametrize("code", [*FLOATS, *WHOLE, "04407ecc0819421c"])
def test_packed_operations_are_two_of_one_number(code):
    rng = np.random.default_rng(5)
    data = np.zeros((32, 20), np.uint32)
    wide = data.view(np.uint64)
    wide[:, 4:] = rng.normal(size=(32, 6)).view(np.uint64) if code in FLOATS else rng.integers(0, 1 << 63, (32, 6))
    if code not in (*FLOATS, *WHOLE):
        data[:, 12:14] = rng.integers(0, 5, (32, 2))  # a count for each number
    found = np.ascontiguousarray(run(bytes.fromhex(code), data, 4, 4)).view(np.uint64)
    for lane in range(32):
        for part in range(2):
            a, b, c = (int(wide[lane, first + part]) for first in (4, 6, 8))
            if code in FLOATS:
                numbers = wide[lane].view(np.float64)
                own = FLOATS[code](*(float(numbers[first + part]) for first in (4, 6, 8)))
                expected = int(np.float64(own).view(np.uint64))
            elif code in WHOLE:
                expected = WHOLE[code](a, b, c) % (1 << 64)
            else:
                expected = ((a << int(data[lane, 12 + part])) + c) % (1 << 64)
            assert int(found[lane, part]) == expected, (lane, part)
