"""A wave that is outside every buffer again and again ends, as a GPU ends at the first memory fault."""

import numpy as np
import pytest

import mfmasim
from mfmasim import MfmasimError, Quota
from mfmasim.devices import early
from mfmasim.machine.launch.quota import FAULTS
from tests.machine import harness

LOOP = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32_e32 v2, 2, v0
  s_mul_i32 s4, s2, {far}
  v_add_u32_e32 v2, s4, v2
  s_cmp_eq_u32 s2, 0
  s_cselect_b32 s5, 3, {turns}
.Lloop:
  global_load_dword v3, v2, s[8:9]
  s_waitcnt vmcnt(0)
  s_sub_u32 s5, s5, 1
  s_cmp_lg_u32 s5, 0
  s_cbranch_scc1 .Lloop
  s_lshl_b32 s2, s2, 8
  v_lshl_add_u32 v2, v0, 2, s2
  global_store_dword v2, v0, s[10:11]
  s_endpgm
"""
"""Workgroup W reads W * far bytes behind the lane's place, workgroup 0 in 3 turns."""


def launch(turns, far=1 << 24, **options):
    kernel = harness.kernel(LOOP.format(turns=turns, far=far), "gfx942", "pp")
    out = np.zeros(128, np.uint32)
    return mfmasim.device("sim").launch(kernel, 2, 64, [np.zeros(128, np.uint32), out], **options), out


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_loop_whose_counter_wraps_ends(checks):
    report, out = launch(0, checks=checks)
    stop = report.findings[0]
    assert (stop.id, stop.severity, stop.workgroup, stop.wave) == ("faults-repeated", "error", (1, 0, 0), 0)
    assert stop.instruction == "global_load_dword"
    assert report.stopped.startswith(f"a wave was outside every buffer more than {FAULTS:,} times; stopped at 0x")
    assert report.counts["global_load_dword"] == FAULTS + 1 + 3
    assert out[1] == 1, "the other workgroup goes on"
    assert not out[64:].any()


def test_the_rest_of_the_grid_goes_on_and_the_limit_is_a_quota():
    report, out = launch(20, quota=Quota(faults=10))
    assert [one.id for one in report.findings if one.severity == "error"] == [
        "faults-repeated",
        "bounds-outside-buffer",
    ]
    assert out[1] == 1
    assert not out[64:].any()
    for quota in (Quota(faults=20), Quota(faults=None)):
        report, out = launch(20, quota=quota)
        assert (report.stopped, out[65]) == ("", 1)
    with pytest.raises(MfmasimError, match="faults=0"):
        Quota(faults=0)


def test_a_loop_inside_its_buffers_is_not_counted():
    report, out = launch(5000, far=256)
    assert report.ok
    assert out[65] == 1


def test_the_first_error_is_printed_while_a_long_launch_runs(monkeypatch):
    said = []
    launch(5, observers=[early.EarlyErrors(said.append)])
    assert said == [], "it ends at once"
    monkeypatch.setattr(early, "SECONDS", 0)
    launch(5, observers=[early.EarlyErrors(said.append)])
    (line,) = said
    assert line.startswith("error bounds-outside-buffer test at 0x")
    assert "(global_load_dword v3, v2, s[8:9], workgroup (1, 0, 0), wave 0, lane 0): read of 4 bytes outside" in line
    assert line.endswith("the launch goes on")
