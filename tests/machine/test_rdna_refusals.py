"""What the machine does not execute on gfx11 and gfx12 stops with its text, address and bytes."""

from __future__ import annotations

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.machine.opcodes.refusal import excluded
from tests.machine import harness
from tests.machine.rdna_frame import ALL, results

REFUSED = (
    ("gfx1151", "buffer_load_b32 v[10:11], v4, s[20:23], 0 offen tfe", "status dword"),
    ("gfx1151", "ds_load_addtid_b32 v10 gds", "global data share"),
    ("gfx1151", "ds_gws_barrier v1 gds", "unsupported instruction"),
    ("gfx1151", "s_sendmsg_rtn_b32 s20, sendmsg(MSG_RTN_GET_TBA)", "message 0x85"),
    ("gfx1201", "s_getreg_b32 s20, hwreg(HW_REG_IB_STS)", "ALL of IB_STS, which the simulator does not know"),
    ("gfx1201", "s_barrier_signal m0", "named barrier"),
    ("gfx1201", "global_load_tr_b64 v[10:11], v[4:5], off", "mapping is not public"),
    ("gfx1250", "v_cvt_pk_fp8_f32 v1, v2, v3 clamp", "E5M3"),
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


@pytest.mark.parametrize("arch", ALL)
def test_everything_else_is_executed(arch):
    """An operation of the decoder's tables is executed, or listed with a reason."""
    names = set(harness.rows(arch))
    left = {name for name in names if name not in harness.OPERATIONS}
    assert not [name for name in left if excluded(name) is None]
    assert len(names) - len(left) >= 970
