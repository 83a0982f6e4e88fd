"""replays: registers that are overwritten while an access may be replayed, with the missing wait; right code."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

ON = "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1\n"
BEGIN = """
  s_load_b64 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_mov_b32_e32 v3, 0
  s_wait_kmcnt 0x0
"""
END = "  s_wait_loadcnt 0x0\n  s_wait_storecnt 0x0\n  s_wait_kmcnt 0x0\n  s_endpgm\n"
STORE, TWO = "global_store_b32 v2, v3, s[8:9]\n", "global_store_b32 v4, v3, s[8:9]\n"
OVER = "v_mov_b32_e32 v2, 0\n"
# Body: the register that is overwritten and the wait that is missing before that; none where the code is right.
BODIES = {
    "an address": (STORE + OVER, ("v2", "s_wait_xcnt 0 is")),
    "data": (STORE + "v_mov_b32_e32 v3, 1\n", ("v3", "s_wait_xcnt 0 is")),
    "a base": (STORE + "s_mov_b32 s8, 0\n", ("s8", "s_wait_xcnt 0 is")),
    "by one half of a pair": (STORE + "v_dual_mov_b32 v5, v0 :: v_dual_mov_b32 v2, v1\n", ("v2", "s_wait_xcnt 0 is")),
    "with a younger access": ("v_mov_b32_e32 v4, v2\n" + STORE + TWO + OVER, ("v2", "s_wait_xcnt 1 or less is")),
    "the younger": ("v_mov_b32_e32 v4, v2\n" + TWO + STORE + "s_wait_xcnt 0x1\n" + OVER, ("v2", "s_wait_xcnt 0 is")),
    "of a scalar load": ("s_load_b32 s10, s[8:9], 0x0\n s_mov_b32 s8, 0\n", ("s8", "s_wait_xcnt 0 is")),
    "in each turn": (
        "s_mov_b32 s11, 2\n.Lturn:\n" + STORE + OVER + "s_sub_co_u32 s11, s11, 1\n s_cbranch_scc0 .Lturn\n",
        ("v2", "s_wait_xcnt 0 is"),
    ),
    "waited for": (STORE + "s_wait_xcnt 0x0\n" + OVER, None),
    "an older one, waited for": ("v_mov_b32_e32 v4, v2\n" + STORE + TWO + "s_wait_xcnt 0x1\n" + OVER, None),
    "stored": (STORE + "s_wait_storecnt 0x0\n" + OVER, None),
    "loaded": ("global_load_b32 v4, v2, s[8:9]\n s_wait_loadcnt 0x0\n" + OVER, None),
    "loaded before what is in flight": (
        STORE + "global_load_b32 v4, v2, s[8:9]\n s_wait_loadcnt 0x0\n" + OVER, None,
    ),
    "older than what a later load overwrites": (
        "v_mov_b32_e32 v4, v2\n" + TWO + STORE + "global_load_b32 v2, v2, s[8:9]\n v_mov_b32_e32 v4, 0\n", None,
    ),
    "younger than what a later load overwrites": (
        "v_mov_b32_e32 v4, v2\n" + STORE + TWO + "global_load_b32 v2, v2, s[8:9]\n v_mov_b32_e32 v4, 0\n",
        ("v4", "s_wait_xcnt 1 or less is"),
    ),
    "scratch": ("scratch_store_b32 v2, v3, off\n" + OVER, None),
    "by a later load": (STORE + "global_load_b32 v2, v2, s[8:9]\n", None),
    "its own address": ("global_load_b32 v2, v2, s[8:9]\n", None),
    "behind a barrier": (STORE + "s_barrier_signal -1\n s_barrier_wait -1\n" + OVER, None),
    "behind a branch": (STORE + "s_branch .Lnext\n.Lnext:\n" + OVER, None),
    "behind the other kind": (STORE + "s_load_b32 s10, s[8:9], 0x0\n" + OVER, None),
    "the result": ("global_load_b32 v4, v2, s[8:9]\n s_wait_loadcnt 0x0\n v_mov_b32_e32 v4, 0\n", None),
    "an LDS address": ("ds_load_b32 v4, v2\n s_wait_dscnt 0x0\n ds_store_b32 v2, v4\n" + OVER, None),
    "an asynchronous copy": ("global_load_async_to_lds_b32 v2, v3, s[8:9]\n" + OVER + "s_wait_asynccnt 0x0\n", None),
}  # fmt: skip


def reported(body, head=ON):
    kernel = harness.kernel(head + BEGIN + body + END, "gfx1250", "p", lds=256)
    out = np.zeros(32, np.uint32)
    return mfmasim.device("sim").launch(kernel, 1, 32, [out], checks="replays").findings


@pytest.mark.parametrize("name", BODIES)
def test_programs(name):
    body, wanted = BODIES[name]
    findings = reported(body)
    assert bool(findings) == (wanted is not None), [one.message for one in findings]
    if wanted:
        (finding,) = findings
        assert (finding.id, finding.severity, finding.register) == ("replays-overwritten", "warning", wanted[0])
        assert wanted[1] in finding.message
        assert (finding.workgroup, finding.wave) == ((0, 0, 0), 0)


def test_without_the_mode_nothing_is_replayed():
    assert not reported(STORE + OVER, head="")
    assert not reported(STORE + OVER, head=ON + "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 0\n")
    assert reported(STORE + OVER, head=ON + "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 4, 2), 0\n")


def test_other_architectures_have_no_such_counter():
    body = "s_load_b64 s[8:9], s[0:1], 0x0\n v_mov_b32 v2, 0\n s_waitcnt lgkmcnt(0)\n"
    kernel = harness.kernel(body + STORE + OVER + "s_endpgm\n", "gfx1100", "p")
    assert not mfmasim.device("sim").launch(kernel, 1, 32, [np.zeros(32, np.uint32)], checks="replays").findings
