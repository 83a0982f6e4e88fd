"""hipkernels/cast/flat_ways.hip: the flat cast by another conversion and with other loads."""

import pytest

from tests.hipkernels.cast.family import caught, passes, right, wrong


@pytest.mark.parametrize(("case", "arch"), right("flat_ways", lambda i, *_: i % 4 == 0))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", wrong("flat_ways", {"scaled_conversion_divides", "loads_without_the_hint"}))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught("flat_ways", name)
