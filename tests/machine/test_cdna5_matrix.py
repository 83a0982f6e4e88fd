"""WMMA of CDNA5 in kernels against the instruction executed on the registers' values alone: modifiers and scalars."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from tests.machine import harness

FRAME = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_mul_u32_u24_e32 v2, {pitch}, v1
  s_mov_b32 s20, {scalar}
  s_mov_b32 s21, 0x12345678
  s_wait_kmcnt 0x0
{loads}
  s_wait_loadcnt 0x0
  {line}
{stores}
  s_endpgm
"""
FP4 = "matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4"
E5M3 = "matrix_a_scale_fmt:MATRIX_SCALE_FMT_E5M3 matrix_b_scale_fmt:MATRIX_SCALE_FMT_E5M3"
ROWS = "matrix_a_scale:MATRIX_SCALE_ROW1 matrix_b_scale:MATRIX_SCALE_ROW1"
BF8_BF6 = "matrix_a_fmt:MATRIX_FMT_BF8 matrix_b_fmt:MATRIX_FMT_BF6"
BOTH = {"scale_a_format": 1, "scale_b_format": 1}
SCALARS = {"scale_A": ("s20", 0x7C), "scale_B": ("0", 0x7F)}
SMALL = "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[40:47]"
# Mnemonic, formats, operands that are no registers, modifiers in LLVM's syntax, and as `execute` takes them.
CASES = (
    ("v_wmma_f32_16x16x4_f32", (), {}, "neg_lo:[1,0,1] neg_hi:[0,0,1]", {"neg": 5, "neg_hi": 4}),
    ("v_wmma_f32_16x16x32_f16", (), {}, "neg_lo:[0,1,0] neg_hi:[0,1,0]", {"neg": 2, "neg_hi": 2}),
    ("v_wmma_bf16f32_16x16x32_bf16", (), {}, "neg_lo:[0,0,1]", {"neg": 4}),
    ("v_wmma_f16_16x16x64_fp8_bf8", (), {}, "matrix_a_reuse neg_hi:[0,0,1]", {"neg_hi": 4}),
    ("v_wmma_i32_16x16x64_iu8", (), {}, "neg_lo:[1,1,0] clamp", {"neg": 3, "clamp": True}),
    ("v_swmmac_bf16_16x16x64_bf16", (), {}, "matrix_b_reuse neg_lo:[1,0,0]", {"neg": 1}),
    ("v_swmmac_bf16f32_16x16x64_bf16", (), {}, "", {}),
    ("v_swmmac_f16_16x16x128_bf8_fp8", (), {}, "", {}),
    ("v_swmmac_i32_16x16x128_iu8", (), {}, "neg_lo:[0,1,0] clamp", {"neg": 2, "clamp": True}),
    ("v_wmma_f32_16x16x128_f8f6f4", ("e5m2", "e3m2fn"), {}, BF8_BF6, {}),
    ("v_wmma_scale_f32_16x16x128_f8f6f4", (), {}, f"{ROWS} matrix_a_reuse", {"scale_a_row": 1, "scale_b_row": 1}),
    ("v_wmma_scale16_f32_16x16x128_f8f6f4", ("e2m1fn",) * 2, {}, f"{FP4} {E5M3}", BOTH),
    ("v_wmma_scale_f32_16x16x128_f8f6f4", (), SCALARS, "", {}),
    ("v_wmma_scale16_f32_32x16x128_f4", (), SCALARS | {"scale_A": ("s[20:21]", 0x7C)}, "neg_lo:[0,0,1]", {"neg": 4}),
)


def executed(op, line, registers, scalar=0xABCDEF7C):
    """D's registers after the line; the operands lie one after the other from v8, D behind them."""
    total = sum(len(values) for values in registers.values())
    first, firsts, loads = 8, {}, []
    for name, values in registers.items():
        firsts[name] = first
        loads += [
            f"  global_load_b32 v{first + k}, v2, s[4:5] offset:{4 * (first - 8 + k)}" for k in range(len(values))
        ]
        first += len(values)
    spans = {
        name: f"v{firsts[name]}" if len(values) == 1 else f"v[{firsts[name]}:{firsts[name] + len(values) - 1}]"
        for name, values in registers.items()
    }
    wide = len(registers["D"])
    stores = [f"  global_store_b32 v2, v{firsts['D'] + k}, s[6:7] offset:{4 * k}" for k in range(wide)]
    body = FRAME.format(
        pitch=4 * total, scalar=scalar, loads="\n".join(loads), line=line(spans), stores="\n".join(stores)
    )
    data = np.ascontiguousarray(np.concatenate(list(registers.values())).T)
    out = np.zeros((32, total), np.uint32)
    arrays, report = harness.fast(harness.kernel(body, "gfx1250"), 1, 32, [data, out], checks="none")
    assert report.fidelity
    return arrays[1][:, :wide].T


@pytest.mark.parametrize(("name", "formats", "scalars", "modifiers", "keywords"), CASES)
def test_equal_to_the_instruction_alone(name, formats, scalars, modifiers, keywords):
    op = mfmasim.instruction("gfx1250", name, *formats)
    rng = np.random.default_rng(5)
    sizes = {"A": op.A.vgprs, "B": op.B.vgprs}
    sizes |= {} if op.sparse else {"C": op.C.vgprs}
    if op.row.scaled:
        sizes |= {key: op.operands[key].vgprs for key in ("scale_A", "scale_B")}
    sizes["D"] = op.C.vgprs if op.sparse else op.D.vgprs
    sizes |= {"index": op.index.vgprs} if op.sparse else {}
    registers = {key: rng.integers(0, 1 << 32, (size, 32), dtype=np.uint32) for key, size in sizes.items()}
    if op.d != "i32":  # no NaN, scales near 1
        mask = 0x3B3B3B3B if op.A.width < 16 else 0xBFFFBFFF
        registers |= {key: registers[key] & np.uint32(mask) for key in "AB"}
        registers |= {key: registers[key] & np.uint32(0xBFFFBFFF) for key in "CD" if key in registers}
        scales = [key for key in registers if key.startswith("scale")]
        registers |= {key: registers[key] & np.uint32(0x03030303) | np.uint32(0x7C7C7C7C) for key in scales}

    def line(spans):
        third = spans["index" if op.sparse else "C"]
        scales = "".join(
            f", {scalars.get(key, [spans.get(key)])[0]}" for key in ("scale_A", "scale_B") if op.row.scaled
        )
        return f"{name} {spans['D']}, {spans['A']}, {spans['B']}, {third}{scales} {modifiers}"

    found = executed(op, line, registers)
    given = {"index": registers.get("index")} if op.sparse else {}
    for key, argument in (("scale_A", "scale_a"), ("scale_B", "scale_b")):
        if op.row.scaled:
            byte = scalars.get(key, (None, None))[1]
            given[argument] = registers[key] if byte is None else np.full_like(registers[key], byte * 0x01010101)
    wanted = op.execute(registers["A"], registers["B"], registers["D" if op.sparse else "C"], **given, **keywords)
    assert (found[: op.D.vgprs] == wanted).all()
    assert (found[op.D.vgprs :] == registers["D"][op.D.vgprs :]).all()  # half of D's registers, where C is wider
    assert len(np.unique(wanted)) > 20


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("v_swmmac_f32_16x16x64_f16 v[0:7], v[8:15], v[16:31], v32 index_key:1", "op_sel=1 is not legal"),
        ("v_wmma_scale_f32_32x16x128_f4 v[0:15], v[16:31], v[32:39], v[0:15], v48, v49 " + ROWS, "scale_a_row=1 is"),
        (SMALL + ", v48, v49 matrix_a_scale_fmt:MATRIX_SCALE_FMT_E4M3", "only FP4 takes e4m3fn"),
        (SMALL + ", 1, 2", "neither a register nor"),
        ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]", "VOP3P has no opcode 0x40"),
    ],
)
def test_what_the_manual_leaves_undefined_is_refused(line, text):
    kernel = harness.kernel(f"  {line}\n  s_endpgm\n", "gfx1250")
    assert kernel.unsupported
    with pytest.raises(MfmasimError, match=text):
        harness.fast(kernel, 1, 32, [np.zeros(4, np.uint32), np.zeros(4, np.uint32)], checks="none")
