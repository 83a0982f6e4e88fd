"""Late delivery of loads: what correct kernels do not see, and what wrong ones show."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

# Two waves put their numbers into LDS, read each other's, and overwrite them: without a wait before the second barrier
# the read may come after the overwriting.
EXCHANGE = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_xor_b32_e32 v3, 0x100, v2
  v_add_u32_e32 v4, 1000, v1
  ds_write_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v5, v3
  {before}
  s_barrier
  {overwrite}
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v5, s[8:9]
  s_endpgm
"""
OTHERS = np.arange(128, dtype=np.uint32) ^ 64


def run(body, schedule, *, lds=512, block=128, given=(), arch="gfx942"):
    program = harness.kernel(body, arch, "pp", lds=lds)
    out = np.zeros(block, np.uint32)
    second = np.array(given, np.uint32) if len(given) else np.zeros(block, np.uint32)
    report = mfmasim.device("sim").launch(program, 1, block, [out, second], checks="none", schedule=schedule)
    assert not report.stopped
    return out


@pytest.mark.parametrize("overwrite", ["ds_write_b32 v2, v4", "ds_add_u32 v2, v4"])
def test_an_lds_read_without_a_wait_before_the_barrier(overwrite):
    racy = EXCHANGE.format(before="", overwrite=overwrite)
    right = EXCHANGE.format(before="s_waitcnt lgkmcnt(0)", overwrite=overwrite)
    assert (run(racy, "usual") == OTHERS).all()
    assert (run(right, "late") == OTHERS).all()
    wrong = run(racy, "late") != OTHERS
    assert wrong.any()


ONLY = """v_cmp_{}_u32_e32 vcc, 64, v1
  s_and_saveexec_b64 s[12:13], vcc
  ds_write_b32 v2, v4
  s_mov_b64 exec, s[12:13]"""


@pytest.mark.parametrize(("reader", "condition"), [(0, "le"), (1, "gt")])
def test_one_wave_reads_what_only_the_other_overwrites(reader, condition):
    """Whichever of the two it is: a wave that writes goes before one that completes its loads."""
    body = EXCHANGE.format(before="", overwrite=ONLY.format(condition))
    assert (run(body, "usual") == OTHERS).all()
    wrong = run(body, "late") != OTHERS
    assert wrong[64 * reader : 64 * reader + 64].all()


GLOBAL = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_mov_b32_e32 v5, 7
  v_mov_b32_e32 v6, 7
  s_waitcnt lgkmcnt(0)
  {body}
  s_waitcnt vmcnt(0)
  global_store_dword v2, v7, s[8:9]
  s_endpgm
"""
GIVEN = np.arange(64, dtype=np.uint32) * 3 + 1


@pytest.mark.parametrize(
    ("body", "usual", "late"),
    [
        pytest.param(
            "global_load_dword v5, v2, s[10:11]\n v_mov_b32_e32 v7, v5", GIVEN, 7, id="a register read before the wait"
        ),
        pytest.param(
            "global_load_dword v5, v2, s[10:11]\n s_waitcnt vmcnt(0)\n v_mov_b32_e32 v7, v5", GIVEN, GIVEN, id="after"
        ),
        pytest.param(
            "global_load_dword v7, v2, s[10:11]\n global_store_dword v2, v6, s[10:11]",
            GIVEN,
            GIVEN,
            id="a wave's own store stays behind its load",
        ),
        pytest.param(
            "global_load_dword v5, v2, s[10:11]\n ds_write_b32 v2, v5\n ds_read_b32 v7, v2\n s_waitcnt lgkmcnt(0)",
            GIVEN,
            7,
            id="a store to the LDS does not wait for it",
        ),
        pytest.param(
            "global_load_dword v5, v2, s[10:11]\n s_waitcnt vmcnt(0)\n ds_write_b32 v2, v5\n ds_read_b32 v7, v2\n"
            " s_waitcnt lgkmcnt(0)",
            GIVEN,
            GIVEN,
            id="it is waited for",
        ),
        pytest.param(
            "ds_write_b32 v2, v1\n ds_read_b32 v7, v2\n ds_write_b32 v2, v6\n s_waitcnt lgkmcnt(0)",
            np.arange(64),
            np.arange(64),
            id="the LDS keeps a wave's order",
        ),
        pytest.param(
            "global_load_dword v5, v2, s[10:11]\n global_load_dword v6, v2, s[10:11]\n s_waitcnt vmcnt(1)\n"
            " v_add_u32_e32 v7, v5, v6",
            2 * GIVEN,
            GIVEN + 7,
            id="of two loads the first is there",
        ),
        pytest.param(
            "global_load_dword v7, v2, s[10:11]\n v_mov_b32_e32 v2, 0\n s_waitcnt vmcnt(0)\n"
            " v_lshlrev_b32_e32 v2, 2, v1",
            GIVEN,
            GIVEN,
            id="the address is that of the issue",
        ),
        pytest.param(
            "v_mov_b32_e32 v7, 9\n v_cmp_gt_u32_e32 vcc, 32, v1\n s_and_saveexec_b64 s[12:13], vcc\n"
            " global_load_dword v7, v2, s[10:11]\n s_mov_b64 exec, s[12:13]\n s_waitcnt vmcnt(0)",
            np.where(np.arange(64) < 32, GIVEN, 9),
            np.where(np.arange(64) < 32, GIVEN, 9),
            id="the lanes are those of the issue",
        ),
    ],
)
def test_global_loads(body, usual, late):
    text = GLOBAL.format(body=body)
    assert (run(text, "usual", block=64, given=GIVEN) == usual).all()
    assert (run(text, "late", block=64, given=GIVEN) == late).all()


def test_checks_follow_the_usual_order():
    """The findings of a late launch are those of the usual one; the outputs are the late ones."""
    program = harness.kernel(EXCHANGE.format(before="", overwrite="ds_write_b32 v2, v4"), "gfx942", "pp", lds=512)
    reports = {}
    for schedule in ("usual", "late"):
        out = np.zeros(128, np.uint32)
        report = mfmasim.device("sim").launch(program, 1, 128, [out, out], checks="races", schedule=schedule)
        reports[schedule] = [(finding.id, finding.pc) for finding in report.findings], (out != OTHERS).any()
    assert reports["usual"][0] == reports["late"][0] != []
    assert (reports["usual"][1], reports["late"][1]) == (False, True)
