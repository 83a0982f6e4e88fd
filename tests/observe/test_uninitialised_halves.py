"""uninitialised: each half of a register of RDNA is written, moved and used by itself."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

LOW, HIGH, WHOLE = ("global_store_b16 v2, v4, s[8:9]", "global_store_d16_hi_b16 v2, v4, s[8:9]",
                    "global_store_b32 v2, v4, s[8:9]")  # fmt: skip
ONE = "v_mov_b16_e32 v5.l, 0x3c00"
# Lines, of which v0 and v2 alone are set before, and words of the finding, if there is one.
BODIES = {
    "the half that was written": (["v_mov_b16_e32 v4.l, 7", LOW], ""),
    "the other half": (["v_mov_b16_e32 v4.l, 7", HIGH], "v4 (bits 0xffff0000) is stored"),
    "both": (["v_mov_b16_e32 v4.h, 7", WHOLE], "v4 (bits 0xffff) is stored"),
    "both, one after the other": (["v_mov_b16_e32 v4.h, 7", "v_mov_b16_e32 v4.l, 8", WHOLE], ""),
    "moved across": ([ONE, "v_mov_b16_e32 v4.h, v5.l", HIGH], ""),
    "the wrong source": ([ONE, "v_mov_b16_e32 v4.h, v5.h", HIGH], "v4 (bits 0xffff0000) is stored"),
    "a sum of halves": ([ONE, "v_add_f16_e32 v4.l, v5.l, v5.l", LOW], ""),
    "a sum with the other half": ([ONE, "v_add_f16_e32 v4.l, v5.l, v5.h", LOW], "comes from v5"),
    "a sum in VOP3": ([ONE, "v_add_f16_e64 v4.h, |v5.l|, v5.l", HIGH], ""),
    "a sum in VOP3 with the other half": ([ONE, "v_add_f16_e64 v4.h, |v5.l|, v5.h", HIGH], "comes from v5"),
    "the half that is read back": (["v_mov_b16_e32 v4.h, 0x3c00", ONE, "v_fmac_f16_e32 v4.h, v5.l, v5.l", HIGH], ""),
    "a half that is not": ([ONE, "v_fmac_f16_e32 v4.h, v5.l, v5.l", HIGH], "v4 (bits 0xffff0000) is stored"),
    "an exchange": ([ONE, "v_swap_b16 v4.h, v5.l", HIGH], ""),
    "what an exchange left": ([ONE, "v_swap_b16 v5.h, v5.l", "v_mov_b16_e32 v4.l, v5.l", LOW], "comes from v5"),
    "a choice of halves": ([ONE, "v_cndmask_b16 v4.l, v5.l, v5.l, vcc_lo", LOW], ""),
    "a choice by EXEC": ([ONE, "v_cndmask_b16 v4.l, v5.h, v5.l, exec_lo", LOW], ""),
    "a bit of the other half": ([ONE, "v_and_b16 v4.l, v5.l, v5.h", LOW], "(bits 0x3c00) is stored"),
    "a conversion": ([ONE, "v_cvt_f32_f16_e32 v4, v5.l", WHOLE], ""),
    "a conversion of the other half": ([ONE, "v_cvt_f32_f16_e32 v4, v5.h", WHOLE], "comes from v5"),
    "packed": ([ONE, "v_pack_b32_f16 v4, v5.l, v5.l", WHOLE], ""),
    "packed with the other half": ([ONE, "v_pack_b32_f16 v4, v5.l, v5.h", WHOLE], "v4 (bits 0xffff0000) is stored"),
    "a comparison": ([ONE, "v_cmp_lt_f16_e32 vcc_lo, v5.l, v5.l", "s_cbranch_vccnz .Lend", ".Lend:"], ""),
    "a comparison of the other half": (
        [ONE, "v_cmp_lt_f16_e32 vcc_lo, v5.l, v5.h", "s_cbranch_vccnz .Lend", ".Lend:"],
        "decides a branch",
    ),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_halves(name, arch):
    lines, words = BODIES[name]
    wait = "s_wait_kmcnt 0" if arch.startswith("gfx12") else "s_waitcnt lgkmcnt(0)"
    head = ["s_load_b64 s[8:9], s[0:1], 0x0", "v_and_b32_e32 v0, 31, v0", "v_lshlrev_b32_e32 v2, 2, v0", wait]
    if "vcc" not in " ".join(lines[-2:]):
        head.append("s_mov_b32 vcc_lo, 5")
    kernel = harness.kernel("\n".join([*head, *lines, "s_endpgm"]), arch, "p")
    args = [np.zeros(64, np.uint32)]
    findings = mfmasim.device("sim").launch(kernel, grid=1, block=32, args=args, checks="uninitialised").findings
    assert len(findings) == bool(words), [finding.message for finding in findings]
    for finding in findings:
        assert words in finding.message
