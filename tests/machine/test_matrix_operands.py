"""Operands of matrix instructions in kernels that are not plain registers: inline constants, and MODE."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

pytestmark = pytest.mark.oracle

BODY = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 4, v0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[4:7], v1, s[4:5]
  s_waitcnt vmcnt(0)
  {before}
  s_nop 7
  {line}
  s_nop 15
  s_nop 15
  v_lshlrev_b32_e32 v1, 5, v0
  global_store_dwordx4 v1, v[8:11], s[6:7]
  global_store_dwordx4 v1, v[12:15], s[6:7] offset:16
  s_endpgm
"""


def left_by(line, data, before="s_nop 0"):
    """Dwords v8 to v15 of 64 lanes, which have `data` in v4 to v7."""
    out = np.zeros((64, 8), np.uint32)
    kernel = harness.kernel(BODY.format(line=line, before=before), "gfx942", "pp")
    arrays, _ = harness.fast(kernel, 1, 64, [data.view(np.uint32).reshape(64, 4), out], checks="none")
    return arrays[1]


@pytest.mark.parametrize("constant", [0.5, -2.0, 4.0])
def test_a_constant_of_64_bits_is_added_to_every_element(constant):
    """Both dwords of each element: the constant's own halves."""
    data = np.random.default_rng(1).integers(-8, 8, (64, 2)).astype(np.float64)
    plain, added = (
        left_by(f"v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], {c}", data).view(np.float64) for c in (0, constant)
    )
    assert plain.any()
    assert (added == plain + constant).all()


@pytest.mark.parametrize(("mode", "kept"), [(0, False), (3, True)])
def test_mode_decides_whether_denormal_sources_count(mode, kept):
    """FP_DENORM of f32 in MODE reaches the arithmetic."""
    data = np.zeros((64, 4), np.float32)
    data[:, 0], data[:, 1] = 2.0**-130, 2.0**100  # a denormal times a large number
    found = left_by(
        "v_mfma_f32_4x4x1_16b_f32 v[8:11], v4, v5, 0", data, f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), {mode}"
    )
    expected = np.float32(2.0**-30 if kept else 0)
    assert (found[:, :4].view(np.float32) == expected).all()
    op = mfmasim.instruction("gfx942", "v_mfma_f32_4x4x1_16b_f32")
    zero = np.zeros((4, 64), np.uint32)
    alone = op.execute(*(data[:, k : k + 1].T.view(np.uint32) for k in range(2)), zero, denormals=kept)
    assert (alone.view(np.float32) == expected).all()
