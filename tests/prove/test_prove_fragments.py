"""Fragments for all sizes: elements are followed; what differs at some sizes only is not proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mfmasim.lab.mutation.mutants import compile_mutant
from mfmasim.prove import prove_case
from mfmasim.verify import Mutant, find, verify_case
from tests.prove.fragment_faults import FAULTS, OF_GUARDS, OF_HALVES, OF_SCALES

EVERY = (*FAULTS, *OF_SCALES, *OF_GUARDS, *OF_HALVES)
QUICK = {"a scale that is 0 for the fifth workgroup"}


def judged(fault: Mutant) -> None:
    families = ((OF_SCALES, "gemm_mx"), (OF_GUARDS, "wmma"), (OF_HALVES, "gemm_fp8/scheduled"), (FAULTS, "gemm_fp8"))
    family = next(name for faults, name in families if fault in faults)
    arch = "gfx1201" if fault in OF_GUARDS else "gfx950"
    case = next(case for _, cases in find(family) for case in cases if case.title == fault.case)
    kernel = compile_mutant(fault, case, arch)[case.kernel_name()]
    proof = prove_case(case, arch, kernel=kernel, replays=False, seconds=30)
    (fragments,) = [one for one in proof.obligations if one.kind == "fragments"]
    assert fragments.verdict == "unknown", fault.name
    assert fragments.reasons
    plain = replace(case, checks="bounds", mapping=None, data=("integers",))
    wrong = verify_case(replace(plain.with_parameters(fault.parameters)), arch, kernel=kernel)
    right = verify_case(plain, arch, kernel=kernel)
    assert any(finding.check == "outputs" for finding in wrong.findings), f"{fault.name} shows at no size"
    assert not any(finding.severity == "error" for finding in right.findings), f"{fault.name} shows at every size"


def test_there_are_enough_faults() -> None:
    names = {fault.name for fault in EVERY}
    assert len(names) == len(EVERY) >= 39
    assert names >= QUICK


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.name in QUICK], ids=lambda fault: fault.name)
def test_a_fault_of_some_sizes_is_not_proved(fault: Mutant) -> None:
    judged(fault)


@pytest.mark.long
@pytest.mark.parametrize("fault", [f for f in EVERY if f.name not in QUICK], ids=lambda fault: fault.name)
def test_no_fault_of_some_sizes_is_proved(fault: Mutant) -> None:
    judged(fault)
