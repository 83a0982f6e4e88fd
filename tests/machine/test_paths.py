"""Branches that keep a path for later: nested forks, undefined masks and jumps outside the code."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import harness
from tests.machine.control_programs import compare

pytestmark = pytest.mark.oracle

NESTED = """
  s_mov_b64 s[16:17], s[10:11]
  v_mov_b32_e32 v4, 0
  s_mov_b32 s40, 0
  s_mov_b64 s[44:45], exec
  v_and_b32_e32 v5, 1, v3
  v_cmp_eq_u32_e64 s[20:21], 0, v5
  v_and_b32_e32 v5, 6, v3
  v_cmp_eq_u32_e64 s[22:23], 0, v5
  s_cbranch_i_fork s[20:21], .Leven
  v_mov_b32_e32 v4, 1
  s_branch .Ljoin
.Leven:
  v_mov_b32_e32 v4, 2
  s_getreg_b32 s42, hwreg(HW_REG_MODE, 29, 3)
  s_cbranch_i_fork s[22:23], .Lfourth
  v_add_u32_e32 v4, 10, v4
  s_branch .Linner
.Lfourth:
  v_add_u32_e32 v4, 20, v4
.Linner:
  s_cbranch_join s42
  s_and_b64 exec, s[20:21], s[44:45]
.Ljoin:
  s_cbranch_join s40
  s_mov_b64 exec, s[44:45]
  s_mov_b64 s[10:11], s[16:17]
"""
"""Even lanes fork once more, with CSP as they found it; the stack is s[0:7]. A join leaves EXEC as the last path."""


def test_nested_forks():
    """Each lane takes its own way through both forks, whatever its wave's other lanes do."""
    data = np.concatenate([np.arange(96) * 5 % 8, np.full(96, 2), np.arange(96) // 33])
    out, _ = compare(NESTED, data=data, floor=3)
    assert (out == np.where(data % 2, 1, np.where(data & 6, 12, 22))).all()


def test_a_fork_on_an_undefined_mask_is_a_finding():
    """The mask decides a branch; what the fork puts on the stack is defined."""
    body = """
  s_mov_b32 s42, 0
  s_cbranch_i_fork s[40:41], .Lend
  s_nop 0
.Lend:
  s_cbranch_join s42
  s_endpgm
"""
    _, report = harness.fast(harness.kernel(body, "gfx942", ""), 1, 64, [], checks="uninitialised")
    found = {finding.register for finding in report.findings}
    assert found == {"s40", "s41"}


def test_a_fork_outside_the_code_stops():
    """As any other jump does."""
    body = """
  s_mov_b64 s[4:5], 0
  s_mov_b64 s[6:7], exec
  s_cbranch_g_fork s[6:7], s[4:5]
  s_endpgm
"""
    _, report = harness.fast(harness.kernel(body, "gfx942", ""), 1, 64, [], checks="bounds")
    assert any("jump to" in finding.message for finding in report.findings)
