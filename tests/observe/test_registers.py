"""registers: modes of S_SET_VGPR_MSB that differ between paths, and registers beyond the allocation."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

pytestmark = pytest.mark.oracle

GOOD = """
  s_cmp_lg_u32 s2, 7
  s_cbranch_scc1 .Lother
  s_set_vgpr_msb 0x40
  v_mov_b32_e32 v1, 1
  s_set_vgpr_msb 0x4000
.Lother:
  v_mov_b32_e32 v2, 2
  s_set_vgpr_msb 1
  v_mov_b32_e32 v2, v1
  s_endpgm
"""
STALE = GOOD.replace("  s_set_vgpr_msb 0x4000\n", "")


def findings(body, vgprs=1024):
    """What the check finds in a kernel of one wave."""
    text = harness.source(body, "gfx1250").replace("next_free_vgpr 1024", f"next_free_vgpr {vgprs}")
    program = mfmasim.load(harness.assemble(text, "gfx1250"))["test"]
    _, report = harness.fast(program, 1, 32, [np.zeros(4, np.uint32)] * 2, checks="registers")
    return report.findings


def test_a_mode_that_is_cleared_before_paths_join():
    assert not findings(GOOD)


def test_a_mode_that_is_left_set_on_one_path():
    """The path that leaves it is not executed: S2 is not 7 in the only workgroup."""
    (found,) = findings(STALE.replace("s_cbranch_scc1", "s_cbranch_scc0"))
    assert (found.id, found.severity) == ("registers-two-modes", "warning")
    assert "v_mov_b32_e32 v2, 2 is reached in 2 modes of s_set_vgpr_msb and accesses v2 (0x0) or v258 (0x40)" in (
        found.message
    )


def test_registers_that_the_kernel_does_not_have():
    """On a path that is not executed, where the machine would stop."""
    wrong = GOOD.replace("0x40\n", "0xc0\n")
    assert not findings(wrong)
    assert not findings(wrong.replace("s_cbranch_scc1 .Lother", "s_branch .Lother"), vgprs=272)
    found = findings(wrong, vgprs=272)
    assert [(one.id, one.severity) for one in found] == [("registers-outside", "error")]
    assert "v769 in mode 0xc0 of v_mov_b32_e32 v1 /*v769*/, 1: the kernel allocates 272" in found[0].message


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 12, 8), 0", []),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 12, 2), 1", []),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 14, 2), 1", ["registers-two-modes"]),
        ("s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 1", ["registers-two-modes"]),
        ("s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 12, 8), s2", []),
    ],
)
def test_setreg_sets_the_mode_too(line, wanted):
    """On both paths alike, or as a register has it, which is not known."""
    body = STALE.replace(".Lother:\n", f".Lother:\n  {line}\n").replace("s_cbranch_scc1", "s_cbranch_scc0")
    assert [found.id for found in findings(body)] == wanted


def test_architectures_without_the_mode_have_nothing_to_find():
    program = harness.kernel("  v_mov_b32_e32 v2, 2\n  s_endpgm", "gfx1201")
    assert not harness.fast(program, 1, 32, [np.zeros(4, np.uint32)] * 2, checks="registers")[1].findings
