"""V_PERMLANE16_SWAP and V_PERMLANE32_SWAP with BOUND_CTRL and FI, as HipKittens and AITER use them."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

SWAPS = [f"v_permlane{half}_swap_b32_e64 v3, v4 {rest}" for half in (16, 32) for rest in ("", "bound_ctrl:1", "fi:1")]


def swapped(line, exec_mask):
    """Both registers of each lane after the line."""
    body = f"""
      s_load_dwordx2 s[8:9], s[0:1], 0x0
      v_and_b32 v0, 63, v0
      v_lshlrev_b32 v2, 3, v0
      v_add_u32 v3, 100, v0
      v_add_u32 v4, 200, v0
      s_mov_b32 s10, {exec_mask & 0xFFFFFFFF:#x}
      s_mov_b32 s11, {exec_mask >> 32:#x}
      s_mov_b64 exec, s[10:11]
      s_nop 4
      {line}
      s_nop 4
      s_mov_b64 exec, -1
      v_mov_b32 v5, v4
      v_mov_b32 v4, v3
      s_waitcnt lgkmcnt(0)
      global_store_dwordx2 v2, v[4:5], s[8:9]
      s_endpgm"""
    out = np.zeros((64, 2), np.uint32)
    mfmasim.device("sim").launch(harness.kernel(body, "gfx950", "p"), 1, 64, [out], checks="bounds,uninitialised")
    return out


@pytest.mark.parametrize("line", SWAPS)
def test_lane_swaps(line):
    half, lane = 16 if "16" in line else 32, np.arange(64)
    upper = (lane & half) != 0
    partner = np.where(upper, lane - half, lane + half)
    given = np.stack([100 + lane, 200 + lane], -1)
    expected = np.stack([np.where(upper, 200 + partner, given[:, 0]), np.where(upper, given[:, 1], 100 + partner)], -1)
    assert np.array_equal(swapped(line, (1 << 64) - 1), expected)

    active = (0x123456789ABCDEF0 >> lane) & 1 != 0
    if "bound_ctrl" in line:
        moved = np.stack([upper, ~upper], -1)
        expected = np.where(moved & ~active[partner, None], 0, expected)
    assert np.array_equal(swapped(line, 0x123456789ABCDEF0), np.where(active[:, None], expected, given))
