"""gfx12's barriers of two halves: signal, wait, waves that end, and a wave that works in between."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine.rdna_frame import results

SPIN = """
  v_mov_b32_e32 v20, 0
  v_mov_b32_e32 v21, 0
  v_readfirstlane_b32 s20, v0
  s_and_b32 s20, s20, 0x3ff
  s_cmp_eq_u32 s20, 0
  s_cselect_b32 s21, 1, 0
  ds_store_b32 v20, v21
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_signal -1
  s_cmp_eq_u32 s21, 1
  s_cbranch_scc1 .Lwaits
.Lspins:
  ds_load_b32 v22, v20
  v_readfirstlane_b32 s22, v22
  s_cmp_eq_u32 s22, 0
  s_cbranch_scc1 .Lspins
  s_barrier_wait -1
  s_branch .Ldone
.Lwaits:
  s_barrier_wait -1
  v_mov_b32_e32 v21, 7
  ds_store_b32 v20, v21
.Ldone:
  ds_load_b32 v10, v20
"""


def test_a_wave_may_work_between_signal_and_wait():
    """One wave passes its wait while another, which has signalled, still spins on what the first writes afterwards."""
    assert (results(SPIN, "gfx1201", items=64, lds=16)[:, 0] == 7).all()


@pytest.mark.parametrize("arch", ["gfx1200", "gfx1201", "gfx1201:64"])
def test_values_cross_a_barrier(arch):
    """Every wave reads what the next one wrote before it signalled."""
    body = """
  v_and_b32_e32 v20, 0x3ff, v0
  v_lshlrev_b32_e32 v21, 2, v20
  ds_store_b32 v21, v4
  s_barrier_signal -1
  v_add_nc_u32_e32 v22, 64, v20
  v_and_b32_e32 v22, 0xff, v22
  v_lshlrev_b32_e32 v22, 2, v22
  s_barrier_wait -1
  ds_load_b32 v10, v22
"""
    data = np.zeros((512, 4), np.uint32)
    data[:, 0] = np.arange(512) * 17
    out = results(body, arch, data, items=256, groups=2, lds=1024)
    item = np.arange(512)
    assert (out[:, 0] == (item // 256 * 256 + (item % 256 + 64) % 256) * 17).all()


def test_a_wave_that_has_ended_is_not_waited_for():
    """The second wave stores and ends; the others pass without it."""
    body = """
  v_readfirstlane_b32 s20, v0
  s_and_b32 s20, s20, 0x3ff
  s_cmp_eq_u32 s20, 32
  s_cbranch_scc0 .Lstays
  v_mov_b32_e32 v10, 5
  global_store_b128 v2, v[10:13], s[6:7]
  s_endpgm
.Lstays:
  s_barrier_signal -1
  s_barrier_wait -1
  v_mov_b32_e32 v10, 3
"""
    out = results(body, "gfx1201", items=96)
    assert (out[:, 0] == np.where(np.arange(96) // 32 == 1, 5, 3)).all()


def test_one_wave_signals_first():
    """SCC is 1 in one wave of each workgroup and each round."""
    body = """
  s_barrier_signal_isfirst -1
  s_cselect_b32 s20, 1, 0
  s_barrier_wait -1
  s_barrier_signal_isfirst -1
  s_cselect_b32 s21, 1, 0
  s_barrier_wait -1
  v_mov_b32_e32 v10, s20
  v_mov_b32_e32 v11, s21
"""
    out = results(body, "gfx1201", items=128, groups=3)
    assert (out.reshape(3, 4, 32, 4)[:, :, 0, :2].sum(axis=1) == 1).all()


def test_the_state_counts_signals_and_members():
    """One wave of each workgroup spins until the two others have signalled; once the barrier is complete, none has."""
    body = """
  s_mov_b32 s22, 0
  v_readfirstlane_b32 s20, v0
  s_and_b32 s20, s20, 0x3ff
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc0 .Lmeet
.Lspins:
  s_get_barrier_state s22, -1
  s_wait_kmcnt 0x0
  s_bfe_u32 s23, s22, 0x70010
  s_cmp_eq_u32 s23, 2
  s_cbranch_scc0 .Lspins
.Lmeet:
  s_barrier_signal -1
  s_barrier_wait -1
  s_get_barrier_state s24, -1
  s_wait_kmcnt 0x0
  v_mov_b32_e32 v10, s22
  v_mov_b32_e32 v11, s24
"""
    out = results(body, "gfx1201", items=96, groups=3).reshape(3, 3, 32, 4)[:, :, 0]
    assert (out[:, :, 0] == [2 << 16 | 3 << 4 | 1, 0, 0]).all()
    assert (out[:, :, 1] == 3 << 4 | 1).all()


@pytest.mark.parametrize("items", [32, 96])
def test_the_state_of_workgroups_that_have_not_signalled(items):
    body = """
  s_get_barrier_state s22, -1
  s_wait_kmcnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
  v_mov_b32_e32 v10, s22
"""
    out = results(body, "gfx1201", items=items, groups=4)
    assert (out[:, 0] == items // 32 << 4 | 1).all()
