"""Findings depend neither on the order of waves, nor on how many are in flight, nor on which parts an executor runs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfmasim
from tests.machine import harness

pytestmark = pytest.mark.oracle

# v2: the lane's own place in the LDS, v3: that of the other wave, v5: in its workgroup's 512 bytes of memory, v6: in
# 512 bytes of all workgroups, whose values nothing uses (they depend on the order); s13: number of the wave, s2: of
# the workgroup.
BEGIN = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_xor_b32_e32 v3, 0x100, v2
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v10, v0
  s_mov_b32 m0, 0
  v_readfirstlane_b32 s13, v2
  s_lshr_b32 s13, s13, 8
  s_lshl_b32 s20, s2, 9
  v_add_u32_e32 v5, s20, v2
  v_add_u32_e32 v6, 0x600, v2
  s_waitcnt lgkmcnt(0)
"""
LINES = (
    "ds_write_b32 v2, v10", "ds_write_b32 v3, v10", "ds_read_b32 v4, v2", "ds_read_b32 v4, v3", "ds_write_b8 v2, v10",
    "ds_add_u32 v3, v10", "ds_read_b32 v4, v3 offset:1024", "s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)", "s_barrier",
    "v_add_u32_e32 v10, v10, v4", "global_store_dword v5, v10, s[8:9]", "global_store_dword v6, v10, s[8:9]",
    "global_load_dword v4, v5, s[8:9]", "global_load_dword v4, v5, s[8:9] offset:2048",
    "global_atomic_add v6, v10, s[8:9]", "global_load_dword v11, v6, s[8:9]",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\ns_getreg_b32 s21, hwreg(HW_REG_MODE)",
)  # fmt: skip
WHO = ("s_cmp_eq_u32 s13, 0", "s_cmp_eq_u32 s2, 1", "s_cmp_gt_u32 s2, 0")
SCHEDULES = ("forward", "reversed", "random:3", "random:8", "first:3", "last:0", "late")
lines = st.lists(st.sampled_from(LINES), min_size=1, max_size=5)
parts = st.one_of(
    st.tuples(st.just("straight"), lines), st.tuples(st.just("loop"), lines), st.tuples(st.sampled_from(WHO), lines)
)


def text_of(pieces):
    """The kernel: pieces that all waves execute once, thrice, or that only some execute."""
    out = [BEGIN]
    for number, (how, body) in enumerate(pieces):
        if how == "straight":
            out += body
        elif how == "loop":
            out += [f"s_mov_b32 s22, 3\n.L{number}:", *body, "s_sub_u32 s22, s22, 1\ns_cmp_lg_u32 s22, 0"]
            out += [f"s_cbranch_scc1 .L{number}"]
        else:
            out += [how, f"s_cbranch_scc1 .L{number}", *body, f".L{number}:"]
    return "\n".join([*out, "s_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v5, v4, s[8:9]\ns_endpgm\n"])


def found(kernel, **options):
    """Records of all findings."""
    out = np.zeros(512, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=3, block=128, args=[out], **options)
    return [finding.record() for finding in report.findings]


class Steps(mfmasim.machine.events.Observer):
    """Receives single instructions, so that the machine executes no block as a whole."""

    def after_step(self, step):
        """Nothing to do."""


@settings(max_examples=12, deadline=None)
@given(st.lists(parts, min_size=1, max_size=5), st.sampled_from(SCHEDULES), st.integers(2, 5))
def test_findings_are_the_same_in_every_order(pieces, schedule, waves):
    kernel = harness.kernel(text_of(pieces), "gfx942", "p", lds=2048)
    usual = found(kernel)
    assert found(kernel, schedule=schedule) == usual
    assert found(kernel, max_waves=waves) == usual
    assert found(kernel, max_waves=waves, schedule=schedule) == usual
    assert found(kernel, observers=[Steps()]) == usual
    with ThreadPoolExecutor(2) as executor:
        assert found(kernel, executor=executor, parts=waves) == usual


BARRIER_MISSING = [("loop", ["ds_write_b32 v2, v10", "s_waitcnt lgkmcnt(0)", "s_barrier", "ds_read_b32 v4, v3",
                             "s_waitcnt lgkmcnt(0)", "v_add_u32_e32 v10, v10, v4"])]  # fmt: skip


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_loop_without_its_second_barrier(schedule):
    """Executed one wave after the other, the reads and writes of its race would come in the other order."""
    kernel = harness.kernel(text_of(BARRIER_MISSING), "gfx942", "p", lds=2048)
    usual = found(kernel, checks="races")
    assert [finding["id"] for finding in usual] == ["races-no-barrier"]
    assert found(kernel, checks="races", schedule=schedule) == usual


ENDS = {
    "trap": ("s_trap 2", "trap-executed"),
    "budget": (".Lround:\nds_add_u32 v2, v10\ns_branch .Lround", "budget-exhausted"),
}
OUTSIDE = ["s_mov_b32 s23, 0x10000", "v_add_u32_e32 v12, s23, v5", "global_store_dword v12, v10, s[8:9]"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("at", WHO)
@pytest.mark.parametrize("waves", [None, 2, 4])
def test_a_workgroup_that_ends_early_hides_nothing_of_the_others(end, at, waves):
    """Some waves end early and with them their workgroups; the others write out of bounds all the same."""
    lines, kind = ENDS[end]
    text = "\n".join([BEGIN, at, "s_cbranch_scc0 .Lrest", lines, ".Lrest:", *OUTSIDE, "s_endpgm"])
    kernel = harness.kernel(text, "gfx942", "p", lds=2048)
    out = np.zeros(512, np.uint32)
    report = mfmasim.device("sim").launch(kernel, 3, 128, [out], checks="bounds", max_waves=waves, budget=2000)
    ended = {0: [(0, 0, 0), (1, 0, 0), (2, 0, 0)], 1: [(1, 0, 0)], 2: [(1, 0, 0), (2, 0, 0)]}[WHO.index(at)]
    assert report.findings[0].id == kind
    assert report.findings[0].workgroup == ended[0]
    assert f"{len(ended)} of 3 workgroups were stopped before their end" in report.notes
    outside = [finding.count for finding in report.findings if finding.id == "bounds-outside-buffer"]
    assert outside == ([128 * (3 - len(ended))] if len(ended) < 3 else [])


def test_what_a_launch_that_is_ended_has_not_executed():
    """A jump out of the code ends it: the notes count the workgroups that no check has seen."""
    kernel = harness.kernel("s_mov_b64 s[8:9], 0\ns_setpc_b64 s[8:9]", "gfx942", "p")
    report = mfmasim.device("sim").launch(kernel, 8, 64, [np.zeros(1, np.uint32)], max_waves=2)
    assert [finding.id for finding in report.findings] == ["fetch-no-code"]
    assert report.notes == ["2 of 8 workgroups were stopped before their end", "6 of 8 workgroups were not executed"]
