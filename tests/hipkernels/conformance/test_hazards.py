"""hipkernels/conformance/hazards: right kernels pass every check; `hazards` alone finds each missing wait state."""

import pytest

from mfmasim.verify import find, select
from tests.hipkernels.family import caught, mutants, passes, titled

((_, CASES),) = find("hazards")
RUNS = select(CASES, None)
MUTANTS = mutants("hazards")


@pytest.mark.parametrize(("case", "arch"), titled(RUNS))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", MUTANTS)
def test_each_wait_state_too_few_is_reported(name):
    mutant, case = MUTANTS[name]
    verdict = caught(mutant, case)
    assert len([f for f in verdict.result.findings if f.check == "hazards"]) == (not mutant.equivalent)
