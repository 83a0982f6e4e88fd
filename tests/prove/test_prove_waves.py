"""Waves that stay together where a branch only skips a block for some of them: barriers apart, in another order."""

from __future__ import annotations

import pytest

from mfmasim.architectures import arch as find_arch
from mfmasim.prove import prove_case
from mfmasim.prove.contract import contract_of
from mfmasim.prove.execution import Execution
from mfmasim.prove.lds_races import races
from mfmasim.verify.runner import set_parameters
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
    contract = contract_of(set_parameters(set_parameters(one.case(), arch=one.arch), wave=64), arch)
    paths = Execution(kernel, contract).run()
    assert [path.waves.tolist() for path in paths] == [[0, 1]]
    problems, order = races(paths, arch, 512, lambda: None)
    assert (bool(problems), bool(order)) == (racy, turned)


@pytest.mark.parametrize(("length", "proved"), [(127, True), (126, False)])
def test_halves_of_registers_are_computed_by_the_machine(length: int, proved: bool) -> None:
    """Address 8 v0: an SDWA sum of the halves of (3 v0 - v0), of which the upper one is 0."""
    body = (
        "v_mul_lo_u16 v5, v0, 3\n v_sub_u16 v6, v5, v0\n"
        "v_add_u32_sdwa v7, v6, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1\n"
        "v_lshlrev_b32 v4, 2, v7\n global_store_dword v4, v3, s[10:11]\n"
    )
    one = Hostile("halves", "bounds", {}, body, written=lambda n, k: length)
    proof = prove_case(one.case(), one.arch, kernel=one.kernel(), replays=False)
    assert (proof.obligations[0].kind, proof.obligations[0].verdict == "proved") == ("bounds", proved)
