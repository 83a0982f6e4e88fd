"""Modifiers of matrix instructions on registers, and the errors of bad input."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError


def f32(values):
    return np.asarray(values, np.float32).view(np.uint32)


def small(rng, shape):
    """Small integers as f32 bits: their products and sums are exact."""
    return f32(rng.integers(-4, 5, shape))


def test_cbsz_broadcasts_a_block_of_a():
    # CDNA3 ISA manual 7.1.5.1: CBSZ=1, ABID=1 of 32x32x1_2B multiplies both blocks of B by block 1 of A.
    op = mfmasim.instruction("gfx942", "v_mfma_f32_32x32x1_2b_f32")
    rng = np.random.default_rng(1)
    a, b, c = (small(rng, op.operands[name].shape) for name in "ABC")
    expected = c.view(np.float32) + a.view(np.float32)[[1, 1]] @ b.view(np.float32)
    assert np.array_equal(op.multiply(a, b, c, cbsz=1, abid=1).view(np.float32), expected)
    d = op.execute(op.A.pack(a), op.B.pack(b), op.C.pack(c), cbsz=1, abid=1)
    assert np.array_equal(op.D.unpack(d).view(np.float32), expected)


@pytest.mark.parametrize(("cbsz", "abid"), [(1, 1), (2, 3), (3, 5), (4, 9)])
def test_cbsz_works_in_aligned_groups_of_blocks(cbsz, abid):
    op = mfmasim.instruction("gfx90a", "v_mfma_f32_4x4x1f32")
    rng = np.random.default_rng(cbsz)
    a, b, c = (small(rng, op.operands[name].shape) for name in "ABC")
    source = [block // 2**cbsz * 2**cbsz + abid for block in range(16)]
    assert np.array_equal(op.multiply(a, b, c, cbsz=cbsz, abid=abid), op.multiply(a[source], b, c))


@pytest.mark.parametrize("blgp", range(8))
def test_blgp_permutes_the_lanes_of_b(blgp):
    lanes = np.arange(64)
    permuted = {
        1: lanes % 32,
        2: lanes % 32 + 32,
        3: (lanes + 16) % 64,
        4: lanes % 16,
        5: lanes % 16 + 16,
        6: lanes % 16 + 32,
        7: lanes % 16 + 48,
    }.get(blgp, lanes)
    for name in ("v_mfma_f32_32x32x2_f32", "v_mfma_f32_16x16x4_4b_f16"):
        op = mfmasim.instruction("gfx942", name)
        rng = np.random.default_rng(blgp)
        a, b = (rng.integers(0, 2**32, (op.operands[x].vgprs, 64), np.uint32) for x in "AB")
        c = op.C.pack(small(rng, op.C.shape))
        expected = op.execute(a, b[:, permuted], c)
        assert np.array_equal(op.execute(a, b, c, blgp=blgp), expected)
        logical = op.multiply(op.A.unpack(a), op.B.unpack(b), op.C.unpack(c), blgp=blgp)
        assert np.array_equal(op.D.pack(logical), expected)


@pytest.mark.parametrize("blgp", range(8))
def test_blgp_negates_f64(blgp):
    op = mfmasim.instruction("gfx942", "v_mfma_f64_16x16x4_f64")
    rng = np.random.default_rng(blgp)
    a, b, c = (rng.integers(-9, 9, op.operands[name].shape).astype(float) for name in "ABC")
    signs = [-1 if blgp >> bit & 1 else 1 for bit in range(3)]
    expected = (signs[0] * a) @ (signs[1] * b) + signs[2] * c
    given = [matrix.view(np.uint64) for matrix in (a, b, c)]
    assert np.array_equal(op.multiply(*given, blgp=blgp).view(float), expected)
    packed = [op.operands[name].pack(matrix) for name, matrix in zip("ABC", given, strict=True)]
    assert np.array_equal(op.D.unpack(op.execute(*packed, blgp=blgp)).view(float), expected)


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1200"])
@pytest.mark.parametrize(("neg", "neg_hi"), [(1, 0), (0, 1), (2, 1), (3, 3), (4, 0), (0, 4), (4, 4), (7, 7)])
def test_neg_of_halves_and_of_c(arch, neg, neg_hi):
    op = mfmasim.instruction(arch, "v_wmma_f32_16x16x16_f16")
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    c = rng.integers(-9, 9, (16, 16)).astype(np.float32)
    # An even k lies in a low half in every layout of 16-bit elements.
    flips = [1 - 2 * np.where(np.arange(16) % 2, neg_hi >> bit & 1, neg >> bit & 1) for bit in (0, 1)]
    moved_c = np.abs(c) if neg_hi & 4 else c
    moved_c = -moved_c if neg & 4 else moved_c
    moved_a, moved_b = (a * flips[0]).astype(np.float16), (b * flips[1][:, None]).astype(np.float16)
    # -0 keeps its sign: a sign bit is flipped, whatever the number
    moved_a[a == 0], moved_b[b == 0] = (
        np.copysign(0, np.broadcast_to(flips[0], (16, 16)))[a == 0],
        (np.copysign(0, np.broadcast_to(flips[1][:, None], (16, 16)))[b == 0]),
    )
    packed = [op.A.pack(a.view(np.uint16)), op.B.pack(b.view(np.uint16)), op.C.pack(c.view(np.uint32))]
    d = op.D.unpack(op.execute(*packed, neg=neg, neg_hi=neg_hi))
    assert np.array_equal(d, op.multiply(moved_a.view(np.uint16), moved_b.view(np.uint16), moved_c.view(np.uint32)))
    assert np.allclose(d.view(np.float32), moved_a.astype(float) @ moved_b.astype(float) + moved_c, atol=1e-4)


@pytest.mark.parametrize("neg", range(4))
def test_neg_is_the_sign_of_integers(neg):
    for arch, name in (("gfx1100", "v_wmma_i32_16x16x16_iu8"), ("gfx1200", "v_wmma_i32_16x16x32_iu4")):
        op = mfmasim.instruction(arch, name)
        width = op.A.width
        rng = np.random.default_rng(neg)
        a, b = (rng.integers(0, 1 << width, op.operands[x].shape, np.uint8) for x in "AB")
        values = [
            np.where(bit and codes >> (width - 1), codes.astype(int) - (1 << width), codes)
            for codes, bit in ((a, neg & 1), (b, neg & 2))
        ]
        c = np.zeros((16, 16), np.uint32)
        d = op.execute(op.A.pack(a), op.B.pack(b), op.C.pack(c), neg=neg)
        assert np.array_equal(op.D.unpack(d).view(np.int32), values[0] @ values[1])
        formats = [f"{'i' if neg & bit else 'u'}{width}" for bit in (1, 2)]
        signed = mfmasim.instruction(arch, name, *formats)
        assert np.array_equal(signed.multiply(a, b, c).view(np.int32), values[0] @ values[1])


def test_8_bit_floats_take_the_signs_of_c_alone():
    """RDNA4 ISA manual, WMMA: NEG_HI of C is its magnitude, NEG its negation after that; A and B have neither."""
    op = mfmasim.instruction("gfx1201", "v_wmma_f32_16x16x16_fp8_fp8")
    a, b = np.zeros(op.A.shape, op.A.dtype), np.zeros(op.B.shape, op.B.dtype)
    c = np.where(np.arange(256).reshape(16, 16) % 2, -1.5, 1.5).astype(np.float32)
    for neg, neg_hi, expected in ((0, 0, c), (4, 0, -c), (0, 4, np.abs(c)), (4, 4, -np.abs(c))):
        given = op.A.pack(a), op.B.pack(b), op.C.pack(c.view(np.uint32))
        found = op.D.unpack(op.execute(*given, neg=neg, neg_hi=neg_hi)).view(np.float32)
        assert np.array_equal(found, expected), (neg, neg_hi)
    for field in ("neg", "neg_hi"):
        for value in (1, 2, 3, 5, 6, 7):
            with pytest.raises(MfmasimError, match=f"{field}={value} is not legal .* it takes 0 or 4"):
                op.execute(*given, **{field: value})


@pytest.mark.parametrize("op_sel", [0, 4])
def test_op_sel_chooses_the_half_and_keeps_the_other(op_sel):
    op = mfmasim.instruction("gfx1100", "v_wmma_f16_16x16x16_f16")
    rng = np.random.default_rng(9)
    a, b, c = (rng.integers(-3, 4, (16, 16)).astype(np.float16) for _ in range(3))
    before = rng.integers(0, 2**32, (8, 32), np.uint32)
    c_regs = op.operand("C", op_sel=op_sel).pack(c.view(np.uint16)) | before & ~op.operand("C", op_sel=op_sel).mask
    given = op.A.pack(a.view(np.uint16)), op.B.pack(b.view(np.uint16)), c_regs
    d = op.execute(*given, op_sel=op_sel, d_regs=before)
    shift = 16 if op_sel else 0
    assert np.array_equal(d >> np.uint32(16 - shift) & 0xFFFF, before >> np.uint32(16 - shift) & 0xFFFF)
    found = op.operand("D", op_sel=op_sel).unpack(d)
    assert np.array_equal(found, op.multiply(*(matrix.view(np.uint16) for matrix in (a, b, c))))
    assert np.allclose(found.view(np.float16), a.astype(float) @ b + c, atol=0.1)
    assert not (op.execute(*given, op_sel=op_sel) >> np.uint32(16 - shift) & 0xFFFF).any()


def test_index_sets():
    for arch, name, field, sets in (
        ("gfx942", "v_smfmac_f32_16x16x32_f16", "abid", 4),
        ("gfx942", "v_smfmac_i32_32x32x32_i8", "abid", 2),
        ("gfx950", "v_smfmac_f32_32x32x32_bf16", "abid", 2),
        ("gfx950", "v_smfmac_i32_16x16x128_i8", "abid", 1),
        ("gfx1200", "v_swmmac_f32_16x16x32_f16", "op_sel", 2),
        ("gfx1200", "v_swmmac_i32_16x16x64_iu4", "op_sel", 1),
    ):
        op = mfmasim.instruction(arch, name)
        assert op.index_sets == sets
        rng = np.random.default_rng(sets)
        a, b = (rng.integers(0, 1 << 6, op.operands[x].shape, np.uint8).astype(op.A.dtype) % 8 for x in "AB")
        c = np.zeros(op.C.shape, op.C.dtype)
        choices = np.array([[0, 1], [1, 2], [0, 3], [2, 3]], np.uint8)
        words, wanted = np.zeros((1, op.wave), np.uint32), []
        for number in range(sets):
            index = choices[rng.integers(0, 4, (op.m, op.k // 4))].reshape(op.index.shape)
            words |= op.operand("index", **{field: number}).pack(index)
            wanted.append(op.multiply(a, b, c, index=index))
        regs = op.A.pack(a), op.B.pack(b), op.C.pack(c)
        for number in range(sets):
            d = op.execute(*regs, index=words, **{field: number})
            assert np.array_equal(op.D.unpack(d), wanted[number])
        if field == "abid":  # CBSZ other than 0 takes the first set, whatever ABID says
            assert np.array_equal(op.D.unpack(op.execute(*regs, index=words, cbsz=1, abid=sets - 1)), wanted[0])


@pytest.mark.trap("T51")
def test_f8f6f4_ignores_surplus_registers_and_checks_its_codes():
    op = mfmasim.instruction("gfx950", "v_mfma_scale_f32_32x32x64_f8f6f4", a="fp6", b="fp4")
    assert (op.a, op.b, op.A.vgprs, op.B.vgprs, op.cycles, op.passes) == ("e2m3fn", "e2m1fn", 6, 4, 32, 8)
    rng = np.random.default_rng(4)
    a, b = (rng.integers(0, 2**32, (8, 64), np.uint32) for _ in range(2))
    c = np.zeros((16, 64), np.uint32)
    scales = rng.integers(0x79797979, 0x85858585, (2, 1, 64), np.uint32)
    d = op.execute(a[:6], b[:4], c, *scales)
    assert np.array_equal(op.execute(a, b, c, *scales, cbsz=2, blgp=4), d)
    with pytest.raises(MfmasimError, match=r"cbsz=1 of .* names another format than e2m3fn"):
        op.execute(a, b, c, *scales, cbsz=1)
    # A scale of 2^0 in every byte is no scale, and one that is missing counts as 2^0.
    neutral = np.full((1, 64), 0x7F7F7F7F, np.uint32)
    plain = mfmasim.instruction("gfx950", "v_mfma_f32_32x32x64_f8f6f4", a="fp6", b="fp4")
    assert np.array_equal(op.execute(a, b, c, neutral, neutral), plain.execute(a, b, c))
    assert np.array_equal(op.execute(a, b, c, scales[0]), op.execute(a, b, c, scales[0], neutral))


@pytest.mark.parametrize("byte", range(4))
def test_scale_bytes(byte):
    op = mfmasim.instruction("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4")
    one = np.full(op.A.shape, 0x38, np.uint8)
    scale_a = np.array([[120 + i // 4 + g for g in range(4)] for i in range(16)], np.uint8)
    scale_b = np.array([[125 + j // 8 + 2 * g for g in range(4)] for j in range(16)], np.uint8)
    word_a = op.operand("scale_A", scale_a_byte=byte).pack(scale_a)
    word_b = op.operand("scale_B", scale_b_byte=3 - byte).pack(scale_b)
    d = op.execute(
        op.A.pack(one),
        op.B.pack(one.T),
        op.C.pack(np.zeros((16, 16), np.uint32)),
        word_a,
        word_b,
        scale_a_byte=byte,
        scale_b_byte=3 - byte,
    )
    expected = 32 * np.exp2(scale_a[:, None, :] - 127.0 + (scale_b[None] - 127.0)).sum(axis=-1)
    assert np.array_equal(op.D.unpack(d).view(np.float32), expected.astype(np.float32))


BAD = [
    ("wave", lambda: mfmasim.instruction("gfx942", "v_mfma_f32_32x32x2_f32", wave=32), "gfx942 has no wave of 32"),
    ("format", lambda: mfmasim.instruction("gfx950", "v_mfma_f32_16x16x128_f8f6f4", a="e4m3fnuz"), "'e4m3fn'"),
    ("fixed", lambda: mfmasim.instruction("gfx942", "v_mfma_f32_32x32x2_f32", a="f16"), "unknown format 'f16' for a"),
    ("shape", lambda: OP.A.pack(np.zeros((2, 32), np.uint32)), r"\(\.\.\., 32, 2\) = \(\.\.\., i, k\), not \(2, 32\)"),
    ("float", lambda: OP.A.pack(np.zeros((32, 2), np.float32)), r"not float32; use \.view\(np\.uint32\)"),
    ("registers", lambda: OP.A.unpack(np.zeros((1, 32), np.uint32)), r"\(\.\.\., 1, 64\), not \(1, 32\)"),
    ("dtype", lambda: OP.A.unpack(np.zeros((1, 64), np.int32)), "must be uint32, not int32"),
    ("row", lambda: OP.A.locate(32, 0), r"row 32 of A of .* is not within 0\.\.31"),
    ("lane", lambda: OP.A.element(64, 0), r"lane 64 of A of .* is not within 0\.\.63"),
    ("cbsz", lambda: OP.operand("A", cbsz=1), "cbsz=1 is not legal for v_mfma_f32_32x32x2_f32: it takes 0"),
    ("abid", lambda: BLOCKS.operand("A", cbsz=1, abid=2), "abid=2 is not legal .* it takes 0 or 1 with cbsz=1"),
    ("blgp", lambda: OP.operand("B", blgp=8), "blgp=8 is not legal .* it takes 0 to 7"),
    ("operand", lambda: OP.operand("E"), "no operand 'E'; it has A, B, C, D"),
    ("scale", lambda: OP.multiply(*ZERO, scale_a=np.zeros((32, 1), np.uint8)), "takes no scale_a"),
    ("index", lambda: OP.multiply(*ZERO, index=np.zeros((32, 1), np.uint8)), "takes no index"),
    ("code", lambda: FP4.A.pack(np.full((32, 64), 16, np.uint8)), "holds 4-bit codes, but 0x10 was given"),
    ("shared", lambda: OP.operand("B", blgp=1).pack(ZERO[1]), "can be read, not packed"),
    ("neg_c", lambda: FP8.operand("A", neg=1), "neg=1 is not legal for v_wmma_f32_16x16x16_fp8_fp8: it takes 0 or 4"),
    ("batch", lambda: OP.multiply(*BATCHES), r"do not fit together: \(2,\), \(3,\), \(\)"),
    ("needed", lambda: SPARSE.execute(*REGS), "needs index: which two of every four k"),
    ("any_c", lambda: INTEGERS.operand("A", neg=8), "neg=8 is not legal for v_wmma_i32_16x16x16_iu8: it takes 0 to 7"),
    ("signed", lambda: INTEGERS_4.operand("A", neg=7), "neg=7 is not legal .* it takes 0 to 3"),
    ("neg", lambda: SPARSE.execute(*REGS, index=np.zeros((1, 32), np.uint32), neg=4), "neg=4 is not legal"),
]
OP = mfmasim.instruction("gfx942", "v_mfma_f32_32x32x2_f32")
BLOCKS = mfmasim.instruction("gfx942", "v_mfma_f32_32x32x1_2b_f32")
FP4 = mfmasim.instruction("gfx950", "v_mfma_f32_32x32x64_f8f6f4", a="fp4", b="fp4")
SPARSE = mfmasim.instruction("gfx1200", "v_swmmac_f32_16x16x32_f16")
ZERO = [np.zeros(OP.operands[name].shape, np.uint32) for name in "ABC"]
FP8 = mfmasim.instruction("gfx1200", "v_wmma_f32_16x16x16_fp8_fp8")
INTEGERS = mfmasim.instruction("gfx1100", "v_wmma_i32_16x16x16_iu8")
INTEGERS_4 = mfmasim.instruction("gfx1200", "v_wmma_i32_16x16x16_iu8")
BATCHES = [np.stack([ZERO[0]] * 2), np.stack([ZERO[1]] * 3), ZERO[2]]
REGS = [np.zeros((SPARSE.operands[name].vgprs, 32), np.uint32) for name in "ABC"]


@pytest.mark.parametrize(("call", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_told_in_one_line(call, message):
    with pytest.raises(MfmasimError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.trap("T49")
@pytest.mark.parametrize("formats", ["f8f8", "f4f4"])
def test_the_scaled_instruction_of_every_format_is_f8f6f4(formats):
    with pytest.raises(MfmasimError, match="v_mfma_scale_f32_32x32x64_f8f6f4"):
        mfmasim.instruction("gfx950", f"v_mfma_scale_f32_32x32x64_{formats}")


def test_the_sign_of_an_integer_c_is_not_read():
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (16, 16)).astype(np.int8), rng.integers(-128, 128, (16, 16)).astype(np.int8)
    c = rng.integers(-1000, 1000, (16, 16)).astype(np.int32)
    registers = (
        INTEGERS.A.pack(a.view(np.uint8)),
        INTEGERS.B.pack(b.view(np.uint8)),
        INTEGERS.C.pack(c.view(np.uint32)),
    )
    d = INTEGERS.D.unpack(INTEGERS.execute(*registers, neg=7))
    assert (d.view(np.int32) == a.astype(int) @ b.astype(int) + c).all()
