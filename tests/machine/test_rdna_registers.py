"""gfx11 and gfx12: first state, NULL and M0, lane masks of 32 bits, EXEC, clocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine.rdna_frame import ALL, BOTH, lanes_of, results


@pytest.mark.parametrize("arch", [*ALL, "gfx1151:64", "gfx1201:64"])
def test_workgroup_and_work_item_ids(arch):
    """Workgroup x in s2 or ttmp9; work-item ids in ten bits each of v0."""
    out = results(
        "  v_mov_b32_e32 v10, s8\n  v_mov_b32_e32 v11, v0\n  v_mov_b32_e32 v12, exec_lo", arch, items=40, groups=3
    )
    item = np.arange(120)
    assert (out[:, 0] == item // 40).all()
    assert (out[:, 1] == item % 40).all()
    last = (1 << 8) - 1 if lanes_of(arch) == 32 else 0xFFFFFFFF
    assert (out[:, 2] == np.where(item % 40 < 32, 0xFFFFFFFF, last)).all()


@pytest.mark.parametrize("arch", BOTH)
def test_null_reads_zero_and_drops_writes(arch):
    """The pair at NULL is no M0."""
    body = """
  s_mov_b32 m0, 0x1234
  s_mov_b64 null, -1
  s_mov_b32 null, 7
  s_add_u32 s10, null, 5
  v_mov_b32_e32 v10, s10
  v_mov_b32_e32 v11, m0
  s_or_b64 s[12:13], null, 0
  v_mov_b32_e32 v12, s13
  v_add_co_u32 v13, null, v4, v5
"""
    data = np.tile(np.array([[0xFFFFFFFF, 2, 0, 0]], np.uint32), (64, 1))
    out = results(body, arch, data)
    assert (out == [5, 0x1234, 0, 1]).all()


@pytest.mark.parametrize("arch", BOTH)
def test_lane_masks_are_as_wide_as_the_wave(arch):
    """A compare of wave32 leaves the next register and VCC_HI alone; VCCZ looks at as many bits as there are lanes."""
    body = """
  s_mov_b32 s21, 0x55
  s_mov_b32 vcc_hi, 0x77
  v_cmp_lt_u32_e64 s[20:21], v4, 9
  v_cmp_lt_u32_e32 vcc, 100, v4
  v_mov_b32_e32 v10, s20
  v_mov_b32_e32 v11, s21
  v_mov_b32_e32 v12, vcc_hi
  s_cbranch_vccz .Lempty
  v_mov_b32_e32 v13, 1
.Lempty:
"""
    if lanes_of(arch) == 32:
        body = body.replace("s[20:21], v4", "s20, v4").replace("vcc, 100", "vcc_lo, 100")
    data = np.zeros((64, 4), np.uint32)
    data[:, 0] = np.arange(64)
    out = results(body, arch, data)
    first = [0x1FF, 0x55, 0x77, 0] if lanes_of(arch) == 32 else [0x1FF, 0, 0, 0]
    second = [0, 0x55, 0x77, 0] if lanes_of(arch) == 32 else first
    assert (out[:32] == first).all()
    assert (out[32:] == second).all()


@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_saveexec_and_cmpx_of_32_bits(arch):
    """Saveexec writes one register; v_cmpx writes EXEC only; wrexec returns the new mask."""
    body = """
  s_mov_b32 s20, 0xffff00ff
  s_mov_b32 s23, 0x99
  s_mov_b32 vcc_lo, 0x5a5a
  s_and_saveexec_b32 s22, s20
  v_mov_b32_e32 v10, 1
  v_cmpx_gt_u32_e32 40, v4
  v_mov_b32_e32 v11, 2
  s_mov_b32 s24, exec_lo
  s_and_not0_wrexec_b32 s25, 0xf0
  s_mov_b32 exec_lo, s22
  v_mov_b32_e32 v12, s24
  v_mov_b32_e32 v13, vcc_lo
"""
    data = np.zeros((32, 4), np.uint32)
    data[:, 0] = np.arange(32) * 3
    out = results(body, arch, data, items=32)
    lane = np.arange(32)
    on = (0xFFFF00FF >> lane & 1) == 1
    left = on & (lane * 3 < 40)
    assert (out[:, 0] == on).all()
    assert (out[:, 1] == 2 * left).all()
    assert (out[:, 2] == sum(1 << int(i) for i in np.flatnonzero(left))).all()
    assert (out[:, 3] == 0x5A5A).all()


@pytest.mark.parametrize("arch", BOTH)
def test_clocks_grow(arch):
    """SHADER_CYCLES and the message that asks for the time."""
    register = "HW_REG_SHADER_CYCLES" if arch.startswith("gfx11") else "HW_REG_SHADER_CYCLES_LO"
    body = f"""
  s_getreg_b32 s20, hwreg({register}, 0, 20)
  s_sendmsg_rtn_b64 s[22:23], sendmsg(MSG_RTN_GET_REALTIME)
  s_nop 0
  s_getreg_b32 s21, hwreg({register}, 0, 20)
  s_sendmsg_rtn_b64 s[24:25], sendmsg(MSG_RTN_GET_REALTIME)
  v_mov_b32_e32 v10, s20
  v_mov_b32_e32 v11, s21
  v_mov_b32_e32 v12, s22
  v_mov_b32_e32 v13, s24
"""
    out = results(body, arch)
    assert (out[:, 1] > out[:, 0]).all()
    assert (out[:, 3] > out[:, 2]).all()


@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_mode_fields(arch):
    """S_ROUND_MODE and S_DENORM_MODE write MODE; gfx12 has no DX10_CLAMP and IEEE to write."""
    name = "HW_REG_MODE" if arch.startswith("gfx11") else "HW_REG_WAVE_MODE"
    body = f"""
  s_round_mode 0x9
  s_denorm_mode 0x5
  s_setreg_imm32_b32 hwreg({name}, 8, 2), 3
  s_getreg_b32 s20, hwreg({name}, 0, 10)
  v_mov_b32_e32 v10, s20
"""
    expected = 0x359 if arch.startswith("gfx11") else 0x59
    assert (results(body, arch)[:, 0] == expected).all()
