"""Results of approximate operations above and below the nearest one, by the manual's bound."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from tests.machine import harness

LOAD = "s_load_dwordx2 s[2:3], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n v_lshlrev_b32 v1, 3, v0"
STORE = "s_nop 4\n global_store_dwordx2 v1, v[6:7], s[2:3]\n s_endpgm"


def words(body, side, block=64):
    """The two dwords that lane 0 leaves in v6 and v7."""
    kernel = harness.kernel(f"{LOAD}\n v_mov_b32 v6, 0\n v_mov_b32 v7, 0\n {body}\n {STORE}", "gfx942", "p")
    out = np.zeros((64, 2), np.uint32)
    mfmasim.device("sim").launch(kernel, grid=1, block=block, args=[out], approximations=side)
    return [int(word) for word in out[0]], out


@pytest.mark.parametrize(
    ("body", "units", "place"),
    [
        ("v_rcp_f32 v6, 0x40400000", 1, 0),
        ("v_exp_f32 v6, 0.5", 1, 0),
        ("v_rsq_f16 v6, 0x4200", 1, 0),
        ("v_mov_b32 v4, 0\n v_mov_b32 v5, 0x40080000\n v_rcp_f64 v[6:7], v[4:5]", 1 << 29, 0),
        ("v_rcp_f32 v6, 0", 0, 0),
        ("v_rcp_f32 v6, 0x7f800000", 0, 0),
        ("v_mul_f32 v6, 0.5, 0.5", 0, 0),
    ],
)
def test_results_move_by_the_bound_and_nothing_else_does(body, units, place):
    (nearest, _), (above, _), (below, _) = (words(body, side) for side in ("nearest", "above", "below"))
    whole = [low | high << 32 for low, high in (nearest, above, below)]
    assert (whole[1] - whole[0], whole[0] - whole[2]) == (units, units)


def test_lanes_that_are_masked_keep_their_value():
    body = "v_cmpx_gt_u32 s[20:21], 5, v0\n s_nop 4\n v_rcp_f32 v6, 0x40400000\n s_mov_b64 exec, -1"
    _, out = words(body, "above")
    assert (out[:5, 0] == np.float32(1 / 3).view(np.uint32) + 1).all()
    assert not out[5:].any()


def test_an_unknown_side_is_refused():
    with pytest.raises(MfmasimError, match="did you mean 'above'"):
        words("s_nop 0", "abov")
