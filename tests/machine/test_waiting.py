"""Waves that wait for others in a loop: the others get their turn, also across workgroups and barriers."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

pytestmark = pytest.mark.oracle

# Workgroup 0 waits, at low addresses, until the flag that is argument 1 shows the number of the other workgroups.
WAIT = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_mov_b32_e32 v10, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lother
.Lwait:
  global_load_dword v11, v10, s[10:11] {coherent}
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s20, v11
  s_cmp_lg_u32 s20, {goal}
  s_cbranch_scc1 .Lwait
  v_mov_b32_e32 v12, 42
  global_store_dword v10, v12, s[8:9]
  s_endpgm
.Lother:
{barrier}
  v_and_b32_e32 v1, 0x3ff, v0
  v_cmp_eq_u32_e32 vcc, 0, v1
  s_and_saveexec_b64 s[22:23], vcc
  v_mov_b32_e32 v12, 1
  global_atomic_add v10, v12, s[10:11]
  s_endpgm
"""


@pytest.mark.parametrize("barrier", ["", "  s_barrier"])
@pytest.mark.parametrize("arch", harness.ARCHITECTURES)
def test_a_workgroup_waits_for_others(arch, barrier):
    coherent = "glc" if arch == "gfx908" else "sc1"
    program = harness.kernel(WAIT.format(goal=3, barrier=barrier, coherent=coherent), arch, "pp")
    out, flag = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    report = mfmasim.device("sim").launch(program, grid=4, block=128, args=[out, flag], budget=200_000)
    assert not report.stopped, report.stopped
    assert report.ok
    assert (out[0], flag[0]) == (42, 3)
    # The same in every run.
    again = mfmasim.device("sim").launch(program, grid=4, block=128, args=[out, flag * 0], budget=200_000)
    assert again.counts == report.counts


def test_no_other_workgroup_arrives():
    """A wait for what never happens is stopped, and says who waits where."""
    program = harness.kernel(WAIT.format(goal=9, barrier="  s_barrier", coherent="sc1"), "gfx942", "pp")
    report = mfmasim.device("sim").launch(
        program, grid=4, block=128, args=[np.zeros(1, np.uint32), np.zeros(1, np.uint32)], budget=50_000
    )
    assert report.findings[0].check == "endless"
    assert report.findings[0].workgroup == (0, 0, 0)
