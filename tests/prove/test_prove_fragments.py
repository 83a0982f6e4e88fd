"""Fragments for all sizes: elements are followed; what differs at some sizes only is not proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mfmasim.lab.mutation.mutants import compile_mutant
from mfmasim.prove import prove_case
from mfmasim.verify import Mutant, find, verify_case
from tests.prove.fragment_faults import FAULTS, OF_SCALES

ARCH = "gfx950"
QUICK = {"a scale that is 0 for the fifth workgroup"}


def judged(fault: Mutant) -> None:
    family = "gemm_mx" if fault in OF_SCALES else "gemm_fp8"
    case = next(case for _, cases in find(family) for case in cases if case.title == fault.case)
    kernel = compile_mutant(fault, case, ARCH)[case.kernel_name()]
    proof = prove_case(case, ARCH, kernel=kernel, replays=False, seconds=30)
    (fragments,) = [one for one in proof.obligations if one.kind == "fragments"]
    assert fragments.verdict == "unknown", fault.name
    assert fragments.reasons
    plain = replace(case, checks="bounds", mapping=None, data=("integers",))
    wrong = verify_case(replace(plain.with_parameters(fault.parameters)), ARCH, kernel=kernel)
    right = verify_case(plain, ARCH, kernel=kernel)
    assert any(finding.check == "outputs" for finding in wrong.findings), f"{fault.name} shows at no size"
    assert not any(finding.severity == "error" for finding in right.findings), f"{fault.name} shows at every size"


def test_there_are_enough_faults() -> None:
    names = {fault.name for fault in (*FAULTS, *OF_SCALES)}
    assert len(names) == len(FAULTS) + len(OF_SCALES) >= 32
    assert names >= QUICK


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.name in QUICK], ids=lambda fault: fault.name)
def test_a_fault_of_some_sizes_is_not_proved(fault: Mutant) -> None:
    judged(fault)


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", [f for f in (*FAULTS, *OF_SCALES) if f.name not in QUICK], ids=lambda fault: fault.name
)
def test_no_fault_of_some_sizes_is_proved(fault: Mutant) -> None:
    judged(fault)
