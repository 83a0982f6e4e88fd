"""Launches of one kernel share followed paths and bound instructions; what they report stays their own."""

from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.isa.hazards.follow import Follower
from mfmasim.machine.ops import matrix as matrix_operations
from mfmasim.verify import find, select, verify_case
from tests.machine import harness

# A load that is read too early where the first argument's first dword is 1, a wait that is too strict elsewhere.
BODY = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_mov_b32_e32 v10, 0
  s_waitcnt lgkmcnt(0)
  s_load_dword s20, s[8:9], 0x0
  s_waitcnt lgkmcnt(0)
  global_load_dword v11, v10, s[10:11]
  global_load_dword v12, v10, s[10:11] offset:4
  s_cmp_eq_u32 s20, 1
  s_cbranch_scc1 .Learly
  s_waitcnt vmcnt(0)
.Learly:
  v_add_u32_e32 v11, 1, v11
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v11, v11, v12
  global_store_dword v10, v11, s[10:11]
  s_endpgm
"""


def findings(kernel, first):
    args = [np.array([first], np.uint32), np.zeros(2, np.uint32)]
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=args, checks="waits,hazards")
    return report.findings, report.counts, report.fidelity.by_operation


def new():
    """A kernel that nothing is known of: the harness keeps those that it made."""
    kernel = harness.kernel(BODY, "gfx942", "pp")
    kernel.memos.clear()
    return kernel


@pytest.mark.oracle
def test_each_launch_reports_what_a_new_kernel_would():
    alone = {first: findings(new(), first) for first in (0, 1)}
    assert {finding.id for finding in alone[0][0]} == {"waits-stricter"}
    assert {finding.id for finding in alone[1][0]} == {"waits-read-in-flight"}
    kernel = new()
    for first in (0, 0, 1, 1, 0, 1):
        assert findings(kernel, first) == alone[first]


@pytest.mark.oracle
def test_a_second_launch_follows_nothing_again(monkeypatch):
    steps = []
    step = Follower.step
    monkeypatch.setattr(Follower, "step", lambda self, *rest: steps.append(1) or step(self, *rest))
    kernel = new()
    findings(kernel, 0)
    once = len(steps)
    assert once > 10
    findings(kernel, 0)
    assert len(steps) == once


def test_the_mapping_check_computes_no_product(monkeypatch):
    products = []
    execute = matrix_operations.execute
    monkeypatch.setattr(matrix_operations, "execute", lambda *rest: products.append(1) or execute(*rest))
    ((_, cases),) = find("intro")
    ((case, arch),) = select(cases, "gfx942", "f32_32x32x2")
    with_mapping = verify_case(case, arch)
    count = len(products)
    products.clear()
    verify_case(replace(case, mapping=None), arch)
    assert with_mapping.mapping["slots_checked"] == 3200
    assert count == len(products) > 0
