"""What tests do with a family of kernels: right ones pass, wrong ones are caught by the checks that they name."""

import pytest

from mfmasim.lab.mutation.mutants import mutants_of, run_mutant
from mfmasim.verify import verify_case


def errors(result):
    """Messages of the errors among the findings."""
    return [f.message for f in result.findings if f.severity == "error"]


def passes(case, arch, **options):
    """The result of a case that has to pass."""
    result = verify_case(case, arch, **options)
    assert result.status == "pass", (case.title, arch, case.parameters, errors(result))
    return result


def mutants(*families):
    """Wrong kernels by name: the mutant and the case it changes."""
    return {mutant.name: (mutant, case) for family in families for mutant, case in mutants_of(family)}


def caught(mutant, case):
    """The verdict of a wrong kernel, which exactly the checks that it names have to catch."""
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, (verdict.caught, errors(verdict.result))
    return verdict


def titled(runs, quick=None):
    """Cases and architectures as parameters of a test; `quick` of both says what belongs to the quick tier."""
    return [
        pytest.param(
            case, arch, id=f"{case.title}-{arch}", marks=() if quick is None or quick(case, arch) else pytest.mark.long
        )
        for case, arch in runs
    ]


def one_of_each(wrong):
    """The first mutant of each source and set of checks."""
    return {(case.source, mutant.caught): name for name, (mutant, case) in reversed(wrong.items())}.values()
