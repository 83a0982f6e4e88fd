"""VSKIP: vector instructions that are not issued, in waves that differ, against the slow interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import harness
from tests.machine.control_programs import IDS, STORE, compare

pytestmark = pytest.mark.oracle

VECTORS = """
  v_add_u32_e32 v4, 0x100, v4
  v_cmp_gt_u32_e32 vcc, 40, v3
  v_readfirstlane_b32 s22, v3
  v_lshlrev_b32_e32 v6, 2, v3
  v_and_b32_e32 v6, 0x1fc, v6
  ds_write_b32 v6, v4
  global_load_dword v7, v2, s[8:9]
  v_fma_f32 v8, v9, v10, v8
  s_add_u32 s21, s21, 1
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add_u32_e32 v4, v4, v7
  s_cmp_lg_u32 s21, 3
"""
START = """
  s_mov_b32 s21, 2
  s_mov_b32 s22, 77
  s_mov_b64 vcc, 0x155
""" + "".join(f"  v_mov_b32_e32 v{k}, 1.0\n" for k in range(4, 16))
END = """
  v_add_u32_e32 v4, s21, v4
  v_add_u32_e32 v4, s22, v4
  v_addc_co_u32_e32 v4, vcc, v4, v8, vcc
"""
"""What the scalar registers, VCC and v8 hold goes into the output."""


@pytest.mark.parametrize(
    "choose",
    [
        "s_setvskip 1, 0",
        "s_setvskip 0, 0",
        "s_setvskip s2, 0",  # workgroups differ
        "s_setvskip 0x5a, s2",
        "s_setvskip s20, 6",  # waves of a workgroup differ
        "s_setvskip s20, 0xc6",  # bits beyond 4 of the place do not count
        "s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s2",
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 24, 8), 0x10",
    ],
)
def test_skipped_against_slow(choose):
    """Registers, VCC, SGPRs, LDS and memory as if the vector instructions were not there."""
    body = f"""
  v_readfirstlane_b32 s20, v1
{START}
  {choose}
  s_nop 1
{VECTORS}
  s_setvskip 0, 0
  s_nop 1
{END}
"""
    out, _ = compare(body, block=128, grid=4, lds=512, data=np.arange(512) % 97)
    assert len(np.unique(out)) >= (2 if choose.endswith(("1, 0", "0x10")) else 50)


def test_mode_is_read_back():
    """S_GETREG sees VSKIP, and the float mode stays."""
    body = """
  s_setvskip s2, 0
  s_nop 1
  s_getreg_b32 s20, hwreg(HW_REG_MODE)
  s_setvskip 0, 0
  v_mov_b32_e32 v4, s20
"""
    out, _ = compare(body, block=64, grid=4)
    assert set(out.tolist()) == {0x3F0, 0x3F0 | 1 << 28}


def test_a_loop_that_skips_every_other_round():
    """Waves take turns: each round skips those whose number has the bit of the round."""
    body = """
  s_mov_b32 s21, 0
  v_mov_b32_e32 v4, v3
.Lagain:
  s_setvskip s2, s21
  v_mad_u32_u24 v4, v4, 3, 1
  s_setvskip 0, 0
  v_add_u32_e32 v4, 5, v4
  s_add_u32 s21, s21, 1
  s_cmp_lt_u32 s21, 4
  s_cbranch_scc1 .Lagain
"""
    out, _ = compare(body, block=64, grid=16)
    expected = np.arange(16 * 64, dtype=np.uint64)
    for k in range(4):
        step = np.where(np.arange(16 * 64) // 64 >> k & 1, expected, 3 * expected + 1)
        expected = step + 5
    assert (out == expected).all()


def _run(body, *, checks="all", grid=2):
    program = harness.kernel(IDS.format(block=64) + body + STORE, "gfx942", "pp")
    return harness.fast(program, grid, 64, [np.arange(64 * grid, dtype=np.uint32)] * 2, checks=checks), program


def test_what_is_skipped_is_not_counted():
    """Neither among the executed instructions nor by the wait counters."""
    skip = """
  global_load_dword v4, v2, s[8:9]
  s_setvskip {0}, 0
  s_nop 1
  global_load_dword v5, v2, s[8:9]
  s_setvskip 0, 0
  s_nop 1
  s_waitcnt vmcnt(1)
  v_add_u32_e32 v4, 1, v4
"""
    (_, report), _ = _run(skip.format(0))
    assert not [finding for finding in report.findings if finding.severity == "error"]
    assert report.counts["global_load_dword"] == 6
    (_, report), _ = _run(skip.format(1))
    assert [finding.id for finding in report.findings] == ["waits-read-in-flight"]
    assert report.counts["global_load_dword"] == 4


def test_an_undefined_selector_is_reported():
    """What decides over skipping has to be defined."""
    (_, report), _ = _run("  s_setvskip s40, 0\n  s_nop 1\n  v_mov_b32_e32 v4, 1\n  s_setvskip 0, 0\n")
    assert any("decides whether vector instructions are skipped" in finding.message for finding in report.findings)


@pytest.mark.parametrize(
    ("states", "line", "second"),
    [
        ("s_nop 0", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0", "v_mov_b32_e32 v4, 1"),
        ("s_nop 0", "s_setvskip 0, 0", "s_getreg_b32 s20, hwreg(HW_REG_MODE)"),
    ],
)
def test_wait_states(states, line, second):
    """Two are required behind a change of VSKIP (CDNA3 ISA manual, 4.5)."""
    for present, expected in ((states, True), ("s_nop 1", False)):
        (_, report), _ = _run(f"  v_mov_b32_e32 v4, 1\n  {line}\n  {present}\n  {second}\n")
        assert ("hazards-wait-states" in [finding.id for finding in report.findings]) == expected
