"""bounds: lanes that a buffer resource masks do not hide lanes of the same instruction that stray."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

MASKED, STRAY = 9, 5
# Triton masks a lane by the offset 0x80000000, beyond num_records; all others are in range whatever they are.
BODY = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_mov_b32_e32 v3, 0x80000000
  v_mov_b32_e32 v5, 0x100000
  {wait}
  s_mov_b32 s10, 0x7ffffffe
  s_mov_b32 s11, {word3:#x}
  v_cmp_gt_u32_e32 vcc{half}, {masked}, v0
  v_cndmask_b32_e32 v2, v2, v3, vcc{half}
  v_cmp_lt_u32_e32 vcc{half}, {last}, v0
  v_cndmask_b32_e32 v2, v2, v5, vcc{half}
  {access}
  s_endpgm
"""
WORD3 = {"gfx942": 0x27000, "gfx1201": 0x31004000}


def reported(arch, access, masked, stray, grid=2):
    new = arch == "gfx1201"
    lanes = 32 if new else 64
    body = BODY.format(
        wait="s_wait_kmcnt 0x0" if new else "s_waitcnt lgkmcnt(0)",
        word3=WORD3[arch],
        half="_lo" if new else "",
        masked=masked,
        last=lanes - 1 - stray,
        access=access.format(offset="null" if new else "0"),
    )
    report = mfmasim.device("sim").launch(
        harness.kernel(body, arch, "p"), grid=grid, block=lanes, args=[np.zeros(1024, np.uint32)], checks="bounds"
    )
    return [(f.id, f.severity, f.count, f.lane) for f in report.findings], [f.message for f in report.findings]


@pytest.mark.parametrize(
    "access",
    [
        "buffer_load_dword v4, v2, s[8:11], {offset} offen",
        "buffer_store_dword v4, v2, s[8:11], {offset} offen",
        "buffer_atomic_add v4, v2, s[8:11], {offset} offen",
    ],
)
@pytest.mark.parametrize("arch", WORD3)
def test_both_are_counted(arch, access):
    first = (32 if arch == "gfx1201" else 64) - STRAY
    clipped = ("bounds-buffer-range", "info", 2 * MASKED, 0)
    outside = ("bounds-outside-buffer", "error", 2 * STRAY, first)
    found, messages = reported(arch, access, MASKED, STRAY)
    assert found == [clipped, outside]
    assert f"{2 * MASKED} lanes in all" in messages[0]
    assert f"{2 * STRAY} lanes in all" in messages[1]
    assert reported(arch, access, MASKED, 0)[0] == [clipped]
    assert reported(arch, access, 0, STRAY)[0] == [outside]
    assert reported(arch, access, 0, 0)[0] == []


def test_resources_of_workgroups_differ_in_their_address_alone():
    """The lanes out of range are then the same in all waves, and the addresses are not."""
    body = """
      s_load_dwordx2 s[8:9], s[0:1], 0x0
      v_lshlrev_b32_e32 v2, 2, v0
      s_lshl_b32 s4, s2, 8
      s_waitcnt lgkmcnt(0)
      s_add_u32 s8, s8, s4
      s_addc_u32 s9, s9, 0
      s_mov_b32 s10, 128
      s_mov_b32 s11, 0x27000
      buffer_load_dword v4, v2, s[8:11], 0 offen
      s_endpgm
    """
    kernel, words = harness.kernel(body, "gfx942", "p"), np.zeros(256, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=4, block=64, args=[words], checks="bounds")
    assert [(f.id, f.count, f.lane) for f in report.findings] == [("bounds-buffer-range", 4 * 32, 32)]
