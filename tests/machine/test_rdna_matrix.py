"""WMMA and SWMMAC in kernels against the same instruction executed on the registers' values alone."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from tests.machine import harness
from tests.machine.rdna_frame import lanes_of

FRAME = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_mul_u32_u24_e32 v2, {pitch}, v1
{loads}
  {line}
{stores}
  s_endpgm
"""
# Architecture, mnemonic, modifiers in LLVM's syntax, and as `execute` takes them.
CASES = (
    ("gfx1151", "v_wmma_f32_16x16x16_f16", "", {}),
    ("gfx1100", "v_wmma_f32_16x16x16_bf16", "", {}),
    ("gfx1151", "v_wmma_f16_16x16x16_f16", "op_sel:[0,0,1]", {"op_sel": 4}),
    ("gfx1151", "v_wmma_i32_16x16x16_iu8", "neg_lo:[1,0,0] clamp", {"neg": 1, "clamp": True}),
    ("gfx1151", "v_wmma_i32_16x16x16_iu4", "neg_lo:[1,1,0]", {"neg": 3}),
    ("gfx1201", "v_wmma_f32_16x16x16_f16", "neg_lo:[0,1,0] neg_hi:[1,0,0]", {"neg": 2, "neg_hi": 1}),
    ("gfx1200", "v_wmma_bf16_16x16x16_bf16", "", {}),
    ("gfx1201", "v_wmma_f32_16x16x16_fp8_bf8", "", {}),
    ("gfx1201", "v_wmma_i32_16x16x32_iu4", "neg_lo:[0,1,0]", {"neg": 2}),
    ("gfx1201", "v_swmmac_f32_16x16x32_f16", "index_key:1", {"op_sel": 1}),
    ("gfx1170", "v_wmma_f32_16x16x16_fp8_bf8", "", {}),
    ("gfx1172", "v_swmmac_f32_16x16x32_f16", "index_key:1", {"op_sel": 1}),
)


def _range(first, count):
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize(
    ("arch", "name", "modifiers", "keywords"), CASES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_equal_to_the_instruction_alone(arch, name, modifiers, keywords, lanes):
    """Equal bits, the untouched halves of D included; the listeners hear of each."""
    target = f"{arch}:{lanes}"
    op = mfmasim.instruction(arch, name, wave=lanes_of(target))
    sizes = [op.A.vgprs, op.B.vgprs, op.index.vgprs if op.sparse else op.C.vgprs, op.D.vgprs]
    firsts, total = [16, 32, 48, 64], sum(sizes)
    slots = np.cumsum([0, *sizes])
    loads = [
        f"  global_load_b32 v{first + k}, v2, s[4:5] offset:{4 * (slot + k)}"
        for first, slot, size in zip(firsts, slots, sizes, strict=False)
        for k in range(size)
    ]
    a, b, third, d = (_range(first, size) for first, size in zip(firsts, sizes, strict=True))
    line = f"{name} {d}, {a}, {b}, {third} {modifiers}"
    stores = [f"  global_store_b32 v2, v{64 + k}, s[6:7] offset:{4 * k}" for k in range(sizes[3])]
    body = FRAME.format(pitch=4 * total, loads="\n".join(loads), line=line, stores="\n".join(stores))
    data = np.random.default_rng(5).integers(0, 1 << 32, (lanes, total), dtype=np.uint32)
    out = np.zeros((lanes, total), np.uint32)
    arrays, report = harness.fast(harness.kernel(body, target), 1, lanes, [data, out], checks="none")
    registers = [data[:, slot : slot + size].T for slot, size in zip(slots, sizes, strict=False)]
    if op.sparse:
        expected = op.execute(registers[0], registers[1], registers[3], index=registers[2], **keywords)
    else:
        expected = op.execute(*registers[:3], d_regs=registers[3], **keywords)
    assert (expected == arrays[1][:, : sizes[3]].T).all()
    assert report.fidelity
