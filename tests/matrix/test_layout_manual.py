"""Lane layouts against the printed tables of the ISA manuals, transcribed here, and against their worked examples."""

import itertools

import pytest

import mfmasim

# CDNA4 ISA manual 7.1.5.1, 7.5.1 and 7.5.1.3: first k of each register, for the four groups of 16 lanes.
#   (instruction, operand): k per register, first k by register and group
TABLES = {
    ("v_mfma_f32_16x16x32_bf16", "AB"): (2, [[0, 8, 16, 24], [2, 10, 18, 26], [4, 12, 20, 28], [6, 14, 22, 30]]),
    ("v_mfma_f32_16x16x32_f16", "AB"): (2, [[0, 8, 16, 24], [2, 10, 18, 26], [4, 12, 20, 28], [6, 14, 22, 30]]),
    ("v_mfma_i32_16x16x64_i8", "AB"): (4, [[0, 16, 32, 48], [4, 20, 36, 52], [8, 24, 40, 56], [12, 28, 44, 60]]),
    ("v_mfma_i32_32x32x32_i8", "AB"): (4, [[0, 0, 16, 16], [4, 4, 20, 20], [8, 8, 24, 24], [12, 12, 28, 28]]),
    ("v_smfmac_f32_16x16x32_f16", "B"): (2, [[0, 8, 16, 24], [2, 10, 18, 26], [4, 12, 20, 28], [6, 14, 22, 30]]),
    ("v_smfmac_f32_32x32x16_bf16", "B"): (2, [[0, 0, 8, 8], [2, 2, 10, 10], [4, 4, 12, 12], [6, 6, 14, 14]]),
    ("v_smfmac_i32_16x16x64_i8", "B"): (4, [[0, 16, 32, 48], [4, 20, 36, 52], [8, 24, 40, 56], [12, 28, 44, 60]]),
    ("v_smfmac_f32_32x32x32_fp8_bf8", "B"): (4, [[0, 0, 16, 16], [4, 4, 20, 20], [8, 8, 24, 24], [12, 12, 28, 28]]),
    ("v_smfmac_f32_16x16x64_f16", "B"): (
        2,
        [
            [0, 8, 16, 24], [2, 10, 18, 26], [4, 12, 20, 28], [6, 14, 22, 30],
            [32, 40, 48, 56], [34, 42, 50, 58], [36, 44, 52, 60], [38, 46, 54, 62],
        ],
    ),
    ("v_smfmac_f32_32x32x32_bf16", "B"): (
        2,
        [
            [0, 0, 8, 8], [2, 2, 10, 10], [4, 4, 12, 12], [6, 6, 14, 14],
            [16, 16, 24, 24], [18, 18, 26, 26], [20, 20, 28, 28], [22, 22, 30, 30],
        ],
    ),
    ("v_smfmac_i32_16x16x128_i8", "B"): (
        4,
        [
            [0, 16, 32, 48], [4, 20, 36, 52], [8, 24, 40, 56], [12, 28, 44, 60],
            [64, 80, 96, 112], [68, 84, 100, 116], [72, 88, 104, 120], [76, 92, 108, 124],
        ],
    ),
    ("v_smfmac_f32_32x32x64_fp8_fp8", "B"): (
        4,
        [
            [0, 0, 16, 16], [4, 4, 20, 20], [8, 8, 24, 24], [12, 12, 28, 28],
            [32, 32, 48, 48], [36, 36, 52, 52], [40, 40, 56, 56], [44, 44, 60, 60],
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "operands"), TABLES)
def test_cdna4_tables(name, operands):
    op = mfmasim.instruction("gfx950", name)
    per_register, table = TABLES[name, operands]
    width = 32 // per_register
    assert operands
    for operand in operands:
        fragment = op.operands[operand]
        assert fragment.vgprs == len(table)
        for register, group, part in itertools.product(range(len(table)), range(4), range(per_register)):
            k = table[register][group] + part
            for lane in range(16 * group, 16 * group + 16):
                found = fragment.element(lane, register, part * width)
                outer = lane % op.m
                assert found == ((outer, k, 0) if operand == "A" else (k, outer, 0))


def test_cdna4_fp4_formula():
    # CDNA4 ISA manual 7.1.5.1: 32x32x64 FP4, item k % 32 of lane i + 32 (k/32)
    op = mfmasim.instruction("gfx950", "v_mfma_f32_32x32x64_f8f6f4", a="fp4", b="fp4")
    for i, k in itertools.product(range(32), range(64)):
        assert op.A.locate(i, k) == [(i + 32 * (k // 32), k % 32 // 8, 4 * (k % 8))]


def test_cdna4_sparse_index_tables():
    # 16-bit forms: two sets of 16 bits, 8-bit forms: one of 32; two bits for each element of A in register order.
    op = mfmasim.instruction("gfx950", "v_smfmac_f32_16x16x64_bf16")
    assert (op.A.vgprs, op.index_sets) == (4, 2)
    for part, abid in itertools.product(range(8), range(2)):
        held = op.A.element(37, part // 2, 16 * (part % 2))
        assert op.operand("index", abid=abid).element(37, 0, 16 * abid + 2 * part) == held
    op = mfmasim.instruction("gfx950", "v_smfmac_i32_32x32x64_i8")
    assert (op.A.vgprs, op.index_sets) == (4, 1)
    for part in range(16):
        assert op.index.element(63, 0, 2 * part) == op.A.element(63, part // 4, 8 * (part % 4))
        assert op.operand("index", abid=1).locate(31, part) == op.index.locate(31, part)


@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_general_formulas_of_mfma(arch):
    """CDNA3 ISA manual 7.1.4, written out once more: K_L for the inputs, H, B_I, M_I and G for the outputs."""
    count = 0
    for name in mfmasim.instructions(arch):
        op = mfmasim.instruction(arch, name)
        if op.kind != "mfma" or "f8f6f4" in name:
            continue
        m, n, blocks = op.m, op.n, op.blocks
        k_l = op.k // (64 // (m * blocks))
        height = 1 if op.d == "f64" else 4
        b_i = -(-64 // (n * m // height))
        m_i = 64 // b_i // n
        groups = m // (height * m_i)
        for b, i, k in itertools.product(range(blocks), range(m), range(op.k)):
            item, lane = k % k_l, i + m * (b + blocks * (k // k_l))
            bit = item * op.A.width
            assert op.A.locate(i, k, b) == [(lane, bit // 32, bit % 32)]
            assert op.B.locate(k, i, b) == [(lane, bit // 32, bit % 32)]
            count += 2
        for b, i, j in itertools.product(range(blocks), range(m), range(n)):
            item = i % height + height * (i // (height * m_i) + groups * (b // b_i))
            lane = j + n * (b % b_i + b_i * (i // height % m_i))
            bit = item * op.D.width
            assert op.D.locate(i, j, b) == [(lane, bit // 32, bit % 32)]
            assert op.C.locate(i, j, b) == [(lane, bit // 32, bit % 32)]
            count += 1
    assert count > 20000


@pytest.mark.parametrize(
    ("arch", "old", "new", "expected"),
    [
        # CDNA3 ISA manual 7.1.3: 32x32x1_2B, lane l holds A[l/32, l%32, 0]; 16x16x4 f64, D[0, 4r+l/16, l%16]
        ("gfx942", "v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32", ("A", 45, 0, (13, 0, 1))),
        ("gfx90a", "v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64", ("D", 17, 2, (5, 1, 0))),
        ("gfx942", "v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16", ("A", 9, 1, (1, 2, 2))),
    ],
)
def test_worked_examples_under_both_spellings(arch, old, new, expected):
    operand, lane, vgpr, element = expected
    op = mfmasim.instruction(arch, old)
    assert op is mfmasim.instruction(arch, new)
    assert op is mfmasim.instruction(arch, new.upper())
    assert op.operands[operand].element(lane, vgpr) == element


@pytest.mark.trap("T46")
@pytest.mark.parametrize("name", ["v_mfma_scale_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4"])
def test_scales_follow_the_block_of_k_not_the_lane_of_the_data(name):
    op = mfmasim.instruction("gfx950", name)
    for i, group in itertools.product(range(op.m), range(op.k // 32)):
        for byte in range(4):
            a = op.operand("scale_A", scale_a_byte=byte)
            b = op.operand("scale_B", scale_b_byte=byte)
            assert a.locate(i, group) == b.locate(i, group) == [(i + op.m * group, 0, 8 * byte)]
    # An FP8 lane holds two runs of 16 k, so half of its elements are scaled by another lane's byte.
    own = [op.A.locate(0, k)[0].lane == op.scale_A.locate(0, k // 32)[0].lane for k in range(op.k)]
    assert sum(own) < op.k
    four = mfmasim.instruction("gfx950", name, a="fp4", b="fp4")
    assert all(four.A.locate(0, k)[0].lane == four.scale_A.locate(0, k // 32)[0].lane for k in range(op.k))


def test_rdna3_replicates_and_alternates():
    # RDNA3 ISA manual 7.9: lanes 0 to 15 of A and B again in every further 16 lanes.
    for wave in (32, 64):
        op = mfmasim.instruction("gfx1100", "v_wmma_f16_16x16x16_f16", wave=wave)
        assert [place.lane for place in op.A.locate(5, 3)] == list(range(5, wave, 16))
        rows = wave // 16
        for i, j in itertools.product(range(16), range(16)):
            assert op.D.locate(i, j) == [(j + 16 * (i % rows), i // rows, 0)]
            assert op.operand("D", op_sel=4).locate(i, j) == [(j + 16 * (i % rows), i // rows, 16)]


def test_rdna4_output_formulas():
    # RDNA4 ISA manual 7.12.2
    for i, j in itertools.product(range(16), range(16)):
        for wave, lane32, rows in ((32, i // 8 * 16 + j, 8), (64, i // 4 % 2 * 32 + i // 8 * 16 + j, 4)):
            wide = mfmasim.instruction("gfx1200", "v_wmma_f32_16x16x16_f16", wave=wave)
            half = mfmasim.instruction("gfx1200", "v_wmma_f16_16x16x16_f16", wave=wave)
            assert wide.D.locate(i, j) == [(lane32, i % rows, 0)]
            assert half.D.locate(i, j) == [(lane32, i % rows // 2, 16 * (i % 2))]


# RDNA4 ISA manual 7.12.2, table of A and B: bits of k from the least significant, in lane, register and position.
RDNA4_BITS = [
    # instruction, wave, bits of k in the lane above bit 3, in the register, in the position
    ("v_wmma_i32_16x16x32_iu4", 32, [4], [3], [0, 1, 2]),
    ("v_wmma_i32_16x16x32_iu4", 64, [4, 3], [], [0, 1, 2]),
    ("v_wmma_f32_16x16x16_f16", 32, [2], [1, 3], [0]),
    ("v_wmma_f32_16x16x16_bf16", 64, [2, 3], [1], [0]),
    ("v_wmma_i32_16x16x16_iu8", 32, [3], [2], [0, 1]),
    ("v_wmma_f32_16x16x16_fp8_bf8", 64, [3, 2], [], [0, 1]),
    ("v_wmma_i32_16x16x16_iu4", 32, [3], [], [0, 1, 2]),
    ("v_wmma_i32_16x16x16_iu4", 64, [3], [], [0, 1, 2]),
]


@pytest.mark.parametrize(("name", "wave", "lane_bits", "register_bits", "position_bits"), RDNA4_BITS)
def test_rdna4_input_table(name, wave, lane_bits, register_bits, position_bits):
    op = mfmasim.instruction("gfx1201", name, wave=wave)

    def pick(k, bits):
        return sum((k >> bit & 1) << place for place, bit in enumerate(bits))

    assert op.k >= 16
    for i, k in itertools.product(range(16), range(op.k)):
        place = (i + 16 * pick(k, lane_bits), pick(k, register_bits), pick(k, position_bits) * op.A.width)
        assert op.A.locate(i, k) == [place]
        assert op.B.locate(k, i) == [place]


@pytest.mark.trap("T27")
def test_an_eighth_of_c_lies_alike_on_gfx11_and_gfx12():
    """The map of one generation, its transpose, and the map of the other."""
    eleven, twelve = (mfmasim.instruction(arch, "v_wmma_f32_16x16x16_f16").D for arch in ("gfx1151", "gfx1201"))
    places = list(itertools.product(range(16), range(16)))
    alike = [eleven.locate(i, j) == twelve.locate(i, j) for i, j in places]
    assert sum(alike) / len(places) == 0.125
    assert all(eleven.locate(i, j)[0].lane % 16 == j for i, j in places)
    assert all((eleven.locate(i, j)[0].lane < 16) == (i % 2 == 0) for i, j in places), "even rows, of C alone"
