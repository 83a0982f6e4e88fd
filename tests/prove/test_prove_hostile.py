"""Soundness: what an execution of a wrong kernel violates at a size is not proved of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mfmasim.prove import prove_case, prove_kernel
from mfmasim.prove.replay import CHECKS, of_kind
from mfmasim.verify import verify_case
from tests.prove import hostile_kernels, stale_faults, tile_faults
from tests.prove.hostile import Hostile

FAULTS = (*hostile_kernels.FAULTS, *tile_faults.FAULTS, *stale_faults.FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_an_execution_violates_is_not_proved(fault: Hostile) -> None:
    case, kernel = fault.case(), fault.kernel()
    proof = prove_case(case, fault.arch, kernel=kernel, replays=False)
    proved = {one.kind for one in proof.obligations if one.verdict == "proved"}
    bad = replace(case.with_parameters(fault.bad), checks=CHECKS, mapping=None, data=("integers",))
    result = verify_case(bad, fault.arch, kernel=kernel, budget=20_000)
    violated = {of_kind(finding) for finding in result.findings}
    assert fault.violates in violated, [finding.message for finding in result.findings]
    assert not violated & proved, [(one.kind, one.verdict) for one in proof.obligations]
    alone = prove_kernel(kernel, (fault.block,), case.make(fault.bad).shared_bytes)
    assert not violated & {one.kind for one in alone.obligations if one.verdict == "proved"}, alone.obligations
