"""Waves that stay together where a branch only skips a block for some of them: barriers apart, in another order."""

from __future__ import annotations

import pytest

from mfmasim.architectures import arch as find_arch
from mfmasim.prove.contract import contract_of
from mfmasim.prove.execution import Execution
from mfmasim.prove.lds_races import races
from mfmasim.verify.runner import informed
from tests.prove.hostile import Hostile
from tests.prove.hostile_kernels import WAVE

APART = (
    WAVE + "v_xor_b32 v8, 0x100, v1\n s_cmp_eq_u32 s6, 1\n s_cbranch_scc0 late\n s_barrier\nlate:\n"
    "ds_write_b32 v1, v3\n s_waitcnt lgkmcnt(0)\n {between} ds_read_b32 v9, v8\n s_waitcnt lgkmcnt(0)\n"
    "s_cmp_eq_u32 s6, 0\n s_cbranch_scc0 end\n s_barrier\nend:\n"
)
"""Wave 1 is a barrier behind wave 0, and both read what the other one writes."""


@pytest.mark.parametrize(("between", "racy", "turned"), [("", False, True), ("s_barrier\n", True, False)])
def test_waves_that_are_a_barrier_apart_stay_together(between: str, racy: bool, turned: bool) -> None:
    """Without a barrier wave 0 reads before wave 1 writes, although its instruction stands behind."""
    one = Hostile("apart", "lds races", {}, APART.format(between=between), block=128, lds=512)
    arch, kernel = find_arch(one.arch), one.kernel()
    contract = contract_of(informed(informed(one.case(), arch=one.arch), wave=64), arch)
    paths = Execution(kernel, contract).run()
    assert [path.waves.tolist() for path in paths] == [[0, 1]]
    problems, order = races(paths, arch, 512, lambda: None)
    assert (bool(problems), bool(order)) == (racy, turned)
