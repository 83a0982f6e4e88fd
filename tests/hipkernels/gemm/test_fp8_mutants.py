"""hipkernels/gemm_fp8/mutants.py: every wrong kernel is caught by the checks it names, and by no other."""

import pytest

from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, mutants, one_of_each
from tests.tiers import tiers

MUTANTS = mutants("gemm_fp8")
QUICK = one_of_each(MUTANTS)
"""The first mutant of each source and set of checks."""


@pytest.mark.parametrize("name", tiers(MUTANTS, QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    mutant, case = MUTANTS[name]
    verdict = caught(mutant, case)
    if mutant.edits:
        original = code_for(case.source, verdict.arch, None, case.flags)
        assert verdict.result.code["sha256"] != original.sha256, "the edit changes nothing"


def test_there_are_enough_of_both():
    wrong = [mutant for mutant, _ in MUTANTS.values() if not mutant.equivalent]
    assert len(wrong) >= 60
    assert {check for mutant in wrong for check in mutant.caught} >= {"outputs", "mapping", "races", "waits", "bounds"}
    assert all(mutant.caught for mutant in wrong)
    assert all(not mutant.caught for mutant, _ in MUTANTS.values() if mutant.equivalent)
    assert len(MUTANTS) - len(wrong) >= 6
