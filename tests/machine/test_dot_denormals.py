"""Denormal f16 factors of V_DOT2 and V_FMA_MIX, as a GPU was seen to take them: -2^-24 times 2^-14.

Source: LLVM, pull request 205101, comment of its author of 2026-08-03 (gfx90a and gfx950, three settings of MODE).
"""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

LINES = {
    "v_dot2c_f32_f16": "v_dot2c_f32_f16 v3, v4, v5",
    "v_dot2_f32_f16": "v_dot2_f32_f16 v3, v4, v5, v3",
    "v_fma_mix_f32": "v_fma_mix_f32 v3, v4, v5, v3 op_sel_hi:[1,1,0]",
}
IEEE, OTHER, FLUSH = (1, 0xF), (0, 0xF), (1, 0x0)
"""MODE.IEEE and MODE.FP_DENORM."""
ZERO, PRODUCT = 0, 0xAC800000
SEEN = {
    ("gfx90a", "v_dot2c_f32_f16"): (ZERO, ZERO, ZERO),
    ("gfx90a", "v_dot2_f32_f16"): (ZERO, ZERO, ZERO),
    ("gfx90a", "v_fma_mix_f32"): (PRODUCT, PRODUCT, ZERO),
    ("gfx950", "v_dot2c_f32_f16"): (PRODUCT, PRODUCT, PRODUCT),
    ("gfx950", "v_dot2_f32_f16"): (PRODUCT, PRODUCT, PRODUCT),
    ("gfx950", "v_fma_mix_f32"): (PRODUCT, PRODUCT, ZERO),
}


@pytest.mark.parametrize(("arch", "name"), SEEN)
def test_denormal_factors_are_taken_as_on_hardware(arch, name):
    found = []
    for ieee, denormals in (IEEE, OTHER, FLUSH):
        body = f"""
          s_load_dwordx2 s[8:9], s[0:1], 0x0
          v_and_b32 v0, 63, v0
          v_lshlrev_b32 v2, 2, v0
          s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), {denormals}
          s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), {ieee}
          v_mov_b32 v3, 0
          v_mov_b32 v4, 0x8001
          v_mov_b32 v5, 0x0400
          {LINES[name]}
          s_waitcnt lgkmcnt(0)
          global_store_dword v2, v3, s[8:9]
          s_endpgm"""
        out = np.ones(64, np.uint32)
        mfmasim.device("sim").launch(harness.kernel(body, arch, "p"), 1, 64, [out])
        assert len(set(out.tolist())) == 1
        found.append(int(out[0]))
    assert tuple(found) == SEEN[arch, name]
