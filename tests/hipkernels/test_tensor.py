"""hipkernels/conformance/tensor: descriptors of every form against a reference in loops over bytes."""

import pytest

from mfmasim.verify import find, select
from tests.hipkernels.family import passes, titled

((_, CASES),) = find("tensor")
RUNS = select(CASES, None)
QUICK = ("five_dimensions", "padding_3", "gather", "assumed_gaps_of_iterations")


def test_every_assumption_of_the_page_has_a_case():
    names = {case.title for case, _ in RUNS if "assumed" in case.title}
    assert len(names) == 12  # six descriptors, each to and from the LDS


@pytest.mark.parametrize(
    ("case", "arch"), titled(RUNS, lambda case, _: any(f"={name}]" in case.title for name in QUICK))
)
def test_what_moves(case, arch):
    passes(case, arch)
