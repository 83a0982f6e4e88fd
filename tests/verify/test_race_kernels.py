"""hipkernels/races: what right kernels must not be blamed for, and what every wrong one has to be caught by."""

import pytest

from mfmasim.verify import find, select, verify_case
from mfmasim.verify.mutants import mutants_of, run_mutant

((_, CASES),) = find("races")
RUNS = select(CASES, None)
MUTANTS = {mutant.name: (mutant, case) for mutant, case in mutants_of("races")}


@pytest.mark.parametrize(("case", "arch"), RUNS, ids=[f"{case.title}-{arch}" for case, arch in RUNS])
def test_right_kernels_pass(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", [f.message for f in result.findings if f.severity == "error"]


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])


def test_there_are_enough_of_both():
    kernels = {case.kernel_name() for case in CASES}
    wrong = [mutant for mutant, _ in MUTANTS.values() if not mutant.equivalent]
    assert len(kernels) >= 20
    assert len(wrong) >= 50
    assert {arch for _, arch in RUNS} == {"gfx942", "gfx950", "gfx1151", "gfx1201"}
    alone = [mutant for mutant in wrong if "outputs" not in mutant.caught]
    assert len(alone) > len(wrong) // 2, "most compute right values here, and only the order is wrong"
