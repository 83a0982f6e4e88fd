"""hipkernels/conformance/hazards: right kernels pass every check; `hazards` alone finds each missing wait state."""

import pytest

from mfmasim.verify import find, select, verify_case
from mfmasim.verify.mutation.mutants import mutants_of, run_mutant

((_, CASES),) = find("hazards")
RUNS = select(CASES, None)
MUTANTS = {mutant.name: (mutant, case) for mutant, case in mutants_of("hazards")}


@pytest.mark.parametrize(("case", "arch"), RUNS, ids=[f"{case.title}-{arch}" for case, arch in RUNS])
def test_right_kernels_pass(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", [f.message for f in result.findings if f.severity == "error"]


@pytest.mark.parametrize("name", MUTANTS)
def test_each_wait_state_too_few_is_told(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])
    assert len([f for f in verdict.result.findings if f.check == "hazards"]) == (not mutant.equivalent)
