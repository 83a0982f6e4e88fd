"""Wrong WMMA kernels by numbers: how much of C is right in spite of the mistake, and what the finding says."""

from dataclasses import replace

import pytest

from mfmasim.lab.mutation.mutants import run_mutant
from tests.hipkernels.family import mutants

MUTANTS = mutants("wmma")
RIGHT = {
    "rows_of_gfx12": (1, 8),  # 32 of the 256 places of a fragment are those of both generations
    "rows_of_gfx11": (1, 8),
    "c_transposed": (1, 16),  # the diagonal
    "diagonal_broadcast": (8, 64),  # of eight lanes times eight registers
    "diagonal_broadcast_on_gfx12": (8, 64),
    "one_exchange_left_out": (1, 2),
    "writes_nothing": (0, 1),
    "symmetric_column_of_a_on_gfx11": (1, 1),
    "column_of_a_symmetric": (1, 1),
}
"""Part of C that is right."""


@pytest.mark.trap("T31")
@pytest.mark.parametrize("name", RIGHT)
def test_so_much_of_c_is_right(name):
    mutant, case = MUTANTS[name]
    if mutant.data != "symmetric":
        mutant = replace(mutant, data="normal", parameters={"M": 128, "N": 128, "K": 16})
    outputs = run_mutant(mutant, replace(case, mapping=None)).result.outputs
    right, of = RIGHT[name]
    assert (outputs["elements"] - outputs["mismatches"]) * of == outputs["elements"] * right


def findings_of(name, **changes):
    mutant, case = MUTANTS[name]
    found = run_mutant(replace(mutant, **changes), case).result.findings
    return [f for f in found if f.severity == "error"]


def test_slices_that_are_no_multiple_of_16_take_k_twice():
    found = findings_of("slices_of_28_one_by_one")
    (twice,) = [f for f in found if f.id == "mapping-wrong-sum"]
    assert twice.message == "K 28..31, 56..59, 84..87 multiplied more than once"
    # The last piece of A begins inside of it.
    assert any("of which 8 lie past the end of argument 0 (8960 bytes)" in f.message for f in found)


def test_what_meets_the_zeros_beyond_k_is_told_with_its_element():
    (found,) = findings_of("stale_finite_a_times_zero")
    assert (found.id, found.element, found.expected) == ("mapping-stale-padding", "A[0, 4]", "the constant 0")
    assert found.actual.startswith("A[0, ")
    assert "operand B is 0" in found.message


def test_both_operands_padded_with_zeros_are_right():
    """The same kernel without the mistake, on the same data."""
    mutant, case = MUTANTS["stale_finite_a_times_zero"]
    verdict = run_mutant(replace(mutant, edits=(), caught=()), case)
    assert verdict.caught == ()
    assert verdict.as_expected
