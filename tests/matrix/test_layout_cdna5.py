"""Fragments of CDNA5 against the manual's tables, Triton's layouts, and the traps they have."""

import ast
import itertools
import subprocess
import sys

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.matrix.request import F8F6F4
from tests.oracles import require
from tests.slow import wmma_cdna5 as slow
from tests.triton.needs import HAVE

ARCH = "gfx1250"


def operations():
    for name in mfmasim.instructions(ARCH):
        pairs = itertools.product(F8F6F4, F8F6F4) if "f8f6f4" in name else [(None, None)]
        for a, b in pairs:
            yield mfmasim.instruction(ARCH, name, a, b)


def expected(op, name):
    """(row, col) -> (lane, bit) of an operand, from the slow model."""
    small = op.row.a in {"f8f6f4", "f4"}
    if name in {"C", "D"}:
        width = op.operands[name].width
        size = 32 * 256 // 32 if width == 32 else 128
        return {
            (row + 16 * part, column): (column + 16 * half, bit + size * part)
            for (half, bit), row in slow.rows_of_c(width).items()
            for column in range(16)
            for part in range(op.m // 16)
        }
    if name == "index":
        return slow.index_of_halves() if op.A.width == 16 else slow.index_of_bytes()
    if name.startswith("scale"):
        block, lines = op.row.scale_block, op.m if name == "scale_A" else op.n
        return {(line, g): (line, 8 * g) for line in range(lines) for g in range(128 // block)}
    width, lines = op.operands[name].width, op.m if name == "A" else op.n
    table = (
        slow.kept(width, op.k) if op.sparse and name == "A" else slow.inputs(width, op.k, small=small, sparse=op.sparse)
    )
    whole = 16 * op.k * width // 32
    places = {
        (line + 16 * part, k): (line + 16 * half, bit + whole * part)
        for (half, bit), k in table.items()
        for line in range(16)
        for part in range(lines // 16)
    }
    return places if name == "A" else {(k, line): place for (line, k), place in places.items()}


def test_every_operand_is_where_the_manual_has_it():
    compared = 0
    for op in operations():
        for name, fragment in op.operands.items():
            found = {
                (int(one["row"]), int(one["col"])): (int(one["lane"]), int(one["vgpr"]) * 32 + int(one["bit"]))
                for one in fragment.table()
            }
            assert found == expected(op, name), (op, name)
            compared += len(found)
    assert compared > 200_000


def test_the_printed_rows_of_eight_bit_floats():
    table = slow.by_registers(slow.SMALL_BYTES, 8)
    assert {register: (table[0, 32 * register], table[1, 32 * register]) for register in slow.PRINTED} == slow.PRINTED


@pytest.mark.parametrize("name", ["v_wmma_scale_f32_16x16x128_f8f6f4", "v_wmma_scale16_f32_16x16x128_f8f6f4"])
def test_matrix_scale_chooses_the_lanes(name):
    op = mfmasim.instruction(ARCH, name)
    for row in range(2):
        a, b = op.operand("scale_A", scale_a_row=row), op.operand("scale_B", scale_b_row=row)
        for line, g in itertools.product(range(16), range(op.scale_A.cols)):
            assert a.locate(line, g) == b.locate(line, g) == [(line + 16 * row, g // 4, 8 * (g % 4))]
            assert a.element(line + 16 * row, g // 4, 8 * (g % 4)) == (line, g, 0)
        assert a.layout.formula.startswith("lane = 16 + " if row else "lane = i")
    assert op.operand("scale_A", scale_b_row=1) is op.scale_A


def test_scales_of_32_rows_fill_all_lanes():
    op = mfmasim.instruction(ARCH, "v_wmma_scale16_f32_32x16x128_f4")
    assert [op.scale_A.locate(i, 5)[0].lane for i in range(32)] == list(range(32))
    with pytest.raises(MfmasimError, match=r"scale_a_row=1 is not legal .*32 rows fill all lanes"):
        op.operand("scale_A", scale_a_row=1)
    assert op.operand("scale_B", scale_b_row=1).locate(3, 5) == [(19, 1, 8)]


def test_a_lane_brings_scales_for_elements_of_two_lanes():
    op = mfmasim.instruction(ARCH, "v_wmma_scale_f32_16x16x128_f8f6f4", "fp8", "fp4")
    lanes = {op.A.locate(3, k)[0].lane for k in range(32)}
    assert lanes == {3, 19}
    assert op.scale_A.locate(3, 0)[0].lane == 3
    assert {op.B.locate(k, 3)[0].lane for k in range(32)} == {3}


@pytest.mark.parametrize(
    ("a", "b", "codes", "legal"),
    [
        ("fp8", "fp6", (0, 0), True),
        ("fp8", "fp4", (0, 1), True),
        ("fp4", "fp6", (2, 0), True),
        ("fp4", "fp4", (1, 1), True),
        ("fp4", "fp4", (2, 2), True),
        ("fp4", "fp4", (0, 0), True),
        ("fp4", "fp4", (1, 2), False),
        ("fp4", "fp4", (0, 1), False),
        ("fp8", "fp4", (1, 1), False),
        ("fp8", "fp8", (0, 2), False),
        ("fp4", "fp4", (3, 3), False),
    ],
)
def test_pairs_of_scale_formats_are_those_of_the_manual(a, b, codes, legal):
    op = mfmasim.instruction(ARCH, "v_wmma_scale_f32_16x16x128_f8f6f4", a, b)
    modes = {"scale_a_format": codes[0], "scale_b_format": codes[1]}
    if legal:
        names = op.generation.scale_formats
        assert op.operand("scale_A", **modes).format == names[codes[0]]
        assert op.operand("scale_B", **modes).format == names[codes[1]]
    else:
        with pytest.raises(MfmasimError, match=r"FP4|two FP4|is not legal"):
            op.operand("scale_A", **modes)


def test_indices_choose_no_set():
    op = mfmasim.instruction(ARCH, "v_swmmac_f32_16x16x64_f16")
    assert (op.index_sets, op.index.vgprs) == (1, 1)
    with pytest.raises(MfmasimError, match="op_sel=1 is not legal"):
        op.operand("index", op_sel=1)
    assert mfmasim.instruction(ARCH, "v_swmmac_f32_16x16x128_fp8_bf8").index.vgprs == 2


def test_the_numbers_of_k_of_eight_bit_forms_are_a_convention():
    """Runs of 8 and of 16 pair the same elements of A and B: renumbered, both are one layout."""
    plain = mfmasim.instruction(ARCH, "v_wmma_f32_16x16x128_fp8_fp8")
    small = mfmasim.instruction(ARCH, "v_wmma_f32_16x16x128_f8f6f4", "fp8", "fp8")
    assert plain.A.layout != small.A.layout
    for name in "AB":
        assert np.array_equal(plain.contiguous(name).table(), small.contiguous(name).table())


PROGRAM = """
import json
from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon.language._layouts import DotOperandLayout
from triton.experimental.gluon.language.amd import AMDWMMALayout
context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
def bases(layout, shape):
    found = builder.to_linear_layout(layout._to_ir(builder), shape)
    return found.reg_bases, found.lane_bases
out = {"C": bases(AMDWMMALayout(3, False, [], None, [16, 16, 32]), [16, 16])}
for k, width in ((4, 2), (32, 8), (64, 8), (128, 8), (128, 16)):
    parent = AMDWMMALayout(3, True, [], None, [16, 16, k])
    out["A", k, width] = bases(DotOperandLayout(0, parent, width), [16, k])
    out["B", k, width] = bases(DotOperandLayout(1, parent, width), [k, 16])
parent = AMDWMMALayout(3, True, [], None, [16, 16, 64])
out["A", "fp4"] = bases(DotOperandLayout(0, parent, 16), [16, 64])
for block in (32, 16):
    for operand in (0, 1):
        found = gluon_ir.get_amd_wmma_scale_layout(operand, [16, 128 // block], 16, 16, True, block, [], [], [])
        out["scale", block, operand] = (found.reg_bases, found.lane_bases)
print(out)
"""


def items_of(fragment, transposed=False):
    """Coordinates of each item of lanes 0 to 31, in the order of bits: (lane, item, 2)."""
    table = np.sort(fragment.table(), order=["lane", "vgpr", "bit"])
    pairs = np.stack([table["row"], table["col"]], axis=-1).reshape(len(np.unique(table["lane"])), -1, 2)
    return pairs[..., ::-1] if transposed else pairs


def linear(bases, count, lanes=32):
    """The same of a linear layout: coordinates are the exclusive or of the bases of the bits that are set."""
    registers, lane_bases = bases
    out = np.zeros((lanes, count, 2), int)
    for lane, item in itertools.product(range(lanes), range(count)):
        for number, base in [*((item >> n & 1, b) for n, b in enumerate(registers))]:
            out[lane, item] ^= np.array(base) * number
        for n, base in enumerate(lane_bases):
            out[lane, item] ^= np.array(base) * (lane >> n & 1)
    return out


@pytest.mark.long
@pytest.mark.oracle
def test_layouts_are_tritons():
    """Dense forms, f8f6f4 of 8 and 4 bits, C and the scales are Triton's WMMA layouts, version 3."""
    require("triton", HAVE, "pip install --group oracles")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    theirs = ast.literal_eval(done.stdout.splitlines()[0])
    small, scaled = "v_wmma_f32_16x16x128_f8f6f4", "v_wmma_scale{}_f32_16x16x128_f8f6f4"
    names = {
        (4, 2): "v_wmma_f32_16x16x4_f32",
        (32, 8): "v_wmma_f32_16x16x32_f16",
        (64, 8): "v_wmma_f32_16x16x64_fp8_fp8",
        (128, 8): "v_wmma_f32_16x16x128_fp8_fp8",
        (128, 16): small,
    }
    for shape, name in names.items():
        op = mfmasim.instruction(ARCH, name)
        for operand in "AB":
            ours = items_of(op.operands[operand])
            assert np.array_equal(ours, linear(theirs[operand, *shape], ours.shape[1])), (name, operand)
    ours = items_of(mfmasim.instruction(ARCH, names[32, 8]).C)
    assert np.array_equal(ours, linear(theirs["C"], 8))
    # Triton's FP4 is two elements a byte.
    ours = items_of(mfmasim.instruction(ARCH, small, "fp4", "fp4").A)
    pairs = linear(theirs["A", "fp4"], 32)
    assert np.array_equal(ours[:, ::2], pairs * (1, 2))
    for (block, suffix), operand in itertools.product(((32, ""), (16, "16")), (0, 1)):
        fragment = mfmasim.instruction(ARCH, scaled.format(suffix)).operands["scale_AB"[:6] + "AB"[operand]]
        ours = items_of(fragment)
        assert np.array_equal(ours, linear(theirs["scale", block, operand], ours.shape[1], 16))
