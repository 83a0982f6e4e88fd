"""What the machine does not execute on gfx11 and gfx12 stops with its text, address and bytes."""

from __future__ import annotations

import pytest
from rdna_frame import results

from mfmasim.errors import MfmasimError

REFUSED = (
    ("gfx1151", "buffer_load_format_x v10, v4, s[20:23], 0 idxen", "unsupported instruction"),
    ("gfx1151", "buffer_load_b32 v[10:11], v4, s[20:23], 0 offen tfe", "status dword"),
    ("gfx1151", "ds_append v10", "unsupported instruction"),
    ("gfx1151", "ds_gws_barrier v1 gds", "unsupported instruction"),
    ("gfx1151", "s_sendmsg_rtn_b32 s20, sendmsg(MSG_RTN_GET_TBA)", "message 0x85"),
    ("gfx1201", "s_getreg_b32 s20, hwreg(HW_REG_WAVE_STATUS)", "hardware register 2"),
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
