"""hipkernels/conformance/isa/wmma: wrong fragments, scales and indices of CDNA5 are caught by the checks they name."""

import pytest

from mfmasim.toolchain import find_compiler
from tests.hipkernels.family import caught, mutants
from tests.oracles import require

MUTANTS = mutants("isa/wmma")
QUICK = {"scales_of_the_next_column_uniform", "index_in_the_lane_of_its_elements"}


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in MUTANTS]
)
def test_wrong_fragments_are_caught(name):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    caught(*MUTANTS[name])


def test_there_are_many():
    assert len(MUTANTS) >= 14
    assert set(MUTANTS) >= QUICK
