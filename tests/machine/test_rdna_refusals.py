"""What the machine does not execute on gfx11 and gfx12 stops with its text, address and bytes."""

from __future__ import annotations

import re

import pytest

from mfmasim.errors import MfmasimError
from tests.machine import harness
from tests.machine.rdna_frame import ALL, results

REFUSED = (
    ("gfx1151", "buffer_load_format_x v10, v4, s[20:23], 0 idxen", "unsupported instruction"),
    ("gfx1151", "buffer_load_b32 v[10:11], v4, s[20:23], 0 offen tfe", "status dword"),
    ("gfx1151", "ds_append v10", "unsupported instruction"),
    ("gfx1151", "ds_gws_barrier v1 gds", "unsupported instruction"),
    ("gfx1151", "s_sendmsg_rtn_b32 s20, sendmsg(MSG_RTN_GET_TBA)", "message 0x85"),
    ("gfx1201", "s_getreg_b32 s20, hwreg(HW_REG_IB_STS)", "ALL of IB_STS, which the simulator does not know"),
    ("gfx1201", "s_barrier_signal m0", "named barrier"),
    ("gfx1201", "global_load_tr_b64 v[10:11], v[4:5], off", "mapping is not public"),
    ("gfx1151", "image_load v[0:3], v0, s[0:7] dmask:0xf dim:SQ_RSRC_IMG_1D", "MIMG instructions are not decoded"),
)


@pytest.mark.parametrize(("arch", "line", "why"), REFUSED)
def test_refused_with_address_and_bytes(arch, line, why):
    """Nothing is skipped and nothing is guessed."""
    with pytest.raises(MfmasimError) as caught:
        results(f"  {line}\n", arch)
    text = str(caught.value)
    assert why in text
    assert " at 0x" in text
    assert "\n" not in text
    assert "(bytes " in text or "cannot decode f0000f00" in text


# What no compute kernel of HIP needs, by reason; everything else of the tables is executed.
OUT_OF_SCOPE = {
    "typed buffers, which need texture formats": r"t?buffer_(load|store)_(d16_(hi_)?)?format_.*",
    "ray tracing": r"ds_bvh_.*",
    "global wave sync and ordered counts": r"ds_(gws_.*|ordered_count|(add|sub)_gs_reg_rtn)|"
    r"global_atomic_ordered_add_b64",
    "counters whose base in M0 is not described alike": r"ds_(append|consume)",
    "trap handlers, debuggers, halts and other shader types": r"s_(rfe_b64|sethalt|setkill|sendmsghalt|code_end|"
    r"endpgm_(saved|ordered_ps_done)|cbranch_cdbg.*|ttracedata_imm|atc_probe.*)",
    "wave64 loops over halves of EXEC": r"s_subvector_loop_.*",
    "dynamic registers, blocks of registers, named barriers": r"s_alloc_vgpr|(global|scratch)_(load|store)_block|"
    r"s_barrier_(init|join|leave)",
}


@pytest.mark.parametrize("arch", ALL)
def test_everything_else_is_executed(arch):
    """An operation of the decoder's tables is executed, or stands above with a reason."""
    names = set(harness.rows(arch))
    left = {name for name in names if name not in harness.OPERATIONS}
    unexplained = {name for name in left if not any(re.fullmatch(row, name) for row in OUT_OF_SCOPE.values())}
    assert not unexplained
    assert len(names) - len(left) >= 970
