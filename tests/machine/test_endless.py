"""Endless loops are recognised; loops that end, however long they last, are not taken for one."""

import numpy as np
import pytest

import mfmasim
from mfmasim.machine.execution.endless_loops import FIRST
from mfmasim.machine.state.memory import Memory
from tests.machine import harness

pytestmark = pytest.mark.oracle

HEAD = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_mov_b32_e32 v10, 0
  s_mov_b32 s20, 1
  s_mov_b32 s21, 0
  s_waitcnt lgkmcnt(0)
"""
TAIL = """
  v_mov_b32_e32 v12, 42
  global_store_dword v10, v12, s[8:9]
  s_endpgm
"""
# Loops that never end, and what is reported.
ENDLESS = {
    "branch to itself": "1: s_branch 1b",
    "a flag that stays": "1: global_load_dword v11, v10, s[10:11]\n s_waitcnt vmcnt(0)\n v_readfirstlane_b32 s22, v11\n"
    " s_cmp_lg_u32 s22, 7\n s_cbranch_scc1 1b",
    "twelve states": "1: s_add_u32 s21, s21, 1\n s_cmp_eq_u32 s21, 12\n s_cselect_b32 s21, 0, s21\n"
    " s_cmp_lg_u32 s21, 99\n s_cbranch_scc1 1b",
    "barriers on the way": "1: s_barrier\n s_branch 1b",
    "one wave, while the other waits": "v_readfirstlane_b32 s22, v0\n s_cmp_lg_u32 s22, 0\n s_cbranch_scc1 2f\n"
    "1: s_branch 1b\n2: s_barrier",
    "a register rotates": "1: v_mov_b32_dpp v13, v14 row_ror:1 row_mask:0xf bank_mask:0xf\n v_mov_b32_e32 v14, v13\n"
    " s_branch 1b",
}
# Loops that end after more blocks than registers are taken after, and in which much repeats.
ENDING = {
    "a counter": "1: s_add_u32 s21, s21, 1\n s_cmp_lg_u32 s21, 3000\n s_cbranch_scc1 1b",
    "a counter in one lane": "v_mov_b32_e32 v14, 0\n v_mov_b32_e32 v16, 0x7d0\n"
    " v_and_b32_e32 v15, 63, v0\n v_cmp_eq_u32_e32 vcc, 63, v15\n"
    "1: v_cndmask_b32_e64 v15, 0, 1, vcc\n v_add_u32_e32 v14, v14, v15\n v_cmp_lt_u32_e64 s[24:25], v16, v14\n"
    " s_cmp_eq_u64 s[24:25], 0\n s_cbranch_scc1 1b",
    "a counter in memory": "1: v_mov_b32_e32 v11, 1\n global_atomic_add v11, v10, v11, s[10:11] sc0\n"
    " s_waitcnt vmcnt(0)\n v_readfirstlane_b32 s22, v11\n v_mov_b32_e32 v11, 0\n s_cmp_lt_u32 s22, 700\n"
    " s_mov_b32 s22, 0\n s_cbranch_scc1 1b",
    "a clock": "1: s_memtime s[22:23]\n s_waitcnt lgkmcnt(0)\n s_cmp_lt_u32 s22, 30000\n s_mov_b64 s[22:23], 0\n"
    " s_cbranch_scc1 1b",
    "a wave that waits for a slow one": "v_readfirstlane_b32 s22, v0\n s_cmp_lg_u32 s22, 0\n s_cbranch_scc1 2f\n"
    "1: global_load_dword v11, v10, s[10:11] sc1\n s_waitcnt vmcnt(0)\n v_readfirstlane_b32 s22, v11\n"
    " s_cmp_lg_u32 s22, 5\n s_cbranch_scc1 1b\n s_branch 4f\n"
    "2: s_add_u32 s21, s21, 1\n s_cmp_lg_u32 s21, 3000\n s_cbranch_scc1 2b\n v_mov_b32_e32 v11, 5\n"
    " global_store_dword v10, v11, s[10:11]\n4: s_nop 0",
}


def launch(body, **options):
    kernel = harness.kernel(HEAD + body + TAIL, "gfx942", "pp")
    out, flag = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=128, args=[out, flag], checks="none", **options)
    return report, int(out[0])


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_is_recognised_soon(name):
    report, out = launch(ENDLESS[name])
    assert [finding.id for finding in report.findings] == ["endless-loop"]
    assert "repeat the same instructions on the same registers" in report.stopped
    assert out == 0
    assert report.counts.total() < 40 * FIRST


@pytest.mark.parametrize("name", ENDING)
def test_a_loop_that_ends_is_not_stopped(name):
    report, out = launch(ENDING[name])
    assert not report.stopped
    assert out == 42


def test_without_the_watch_the_budget_ends_it(monkeypatch):
    """The judge: a machine that runs on. What was recognised as endless is still in its loop much later."""
    monkeypatch.setattr("mfmasim.machine.execution.endless_loops.FIRST", 1 << 60)
    for body in ENDLESS.values():
        report, _ = launch(body, budget=20_000)
        assert [finding.id for finding in report.findings] == ["budget-exhausted"]


def test_a_loop_that_waits_for_a_later_batch_is_not_called_endless():
    """Workgroup 0 waits for workgroup 1, which does not run beside it here: only the budget ends that."""
    kernel = harness.kernel(
        HEAD + "s_cmp_lg_u32 s2, 0\n s_cbranch_scc1 2f\n" + ENDLESS["a flag that stays"] + "\n2: s_nop 0" + TAIL,
        "gfx942",
        "pp",
    )
    args = [np.zeros(1, np.uint32), np.zeros(1, np.uint32)]
    run = mfmasim.device("sim").launch
    report = run(kernel, grid=2, block=64, args=args, checks="none", budget=20_000, max_waves=1)
    assert [finding.id for finding in report.findings] == ["budget-exhausted"]


class Others:
    """Another process, which writes the flag while this one waits the third time, or gives up."""

    def __init__(self, memory, why=""):
        self.memory, self.why, self.waits, self.entered = memory, why, 0, 0

    def __enter__(self):
        self.entered += 1

    def __exit__(self, *exception):
        pass

    def wait(self):
        self.waits += 1
        if self.waits < 3:
            return ""
        flag = [region for region in self.memory.regions if region.size == 4][-1]
        self.memory.view(flag)[0] = 7
        return self.why


@pytest.mark.parametrize("why", ["", "the other has ended"])
def test_a_launch_waits_for_other_processes_that_write_its_memory(monkeypatch, why):
    """What it executes while it waits spends nothing of its budget; accesses of more than a dword are whole."""
    others, seal = [], Memory.seal

    def shared(memory):
        seal(memory)
        memory.between = Others(memory, why)
        others.append(memory.between)

    monkeypatch.setattr(Memory, "seal", shared)
    report, out = launch(ENDLESS["a flag that stays"], budget=20 * FIRST)
    assert others[0].waits == 3
    assert others[0].entered
    assert out == (0 if why else 42)
    assert bool(report.stopped) == bool(why)
    assert f"write no memory; {why}" in report.stopped if why else report.ok
    assert report.counts.total() > 2 * 2 * FIRST
