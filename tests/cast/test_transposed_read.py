"""hipkernels/cast, through transposed reads of the LDS: right kernels, bank conflicts, wrong kernels."""

import pytest

from mfmasim.verify import find, select, verify_case
from mfmasim.verify.mutants import mutants_of, run_mutant

((_, CASES),) = find("cast")
RUNS = select([case for case in CASES if case.source.name == "transposed_read.hip"], None)
MUTANTS = {m.name: (m, case) for m, case in mutants_of("cast") if case.source.name == "transposed_read.hip"}
QUICK = {"read_rows_in_order_of_lanes"}


@pytest.mark.parametrize(("case", "arch"), RUNS, ids=[f"{case.title}-{arch}" for case, arch in RUNS])
def test_right_kernels_pass(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", [f.message for f in result.findings if f.severity == "error"]
    assert all(f.severity == "info" for f in result.findings)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.long) for n in MUTANTS])
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])


@pytest.mark.parametrize(("title", "degree"), [("transposed_read_map", 1), ("transposed_read_unpadded", 8)])
def test_what_the_padding_is_good_for(title, degree):
    """As far as phases of transposed reads are known: `assumed` to be those of a plain read."""
    result = verify_case(next(case for case in CASES if case.title == title), "gfx950")
    assert result.lds["worst_degree"] == degree
