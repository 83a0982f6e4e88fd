"""hipkernels/cast, through transposed reads of the LDS: right kernels, bank conflicts, wrong kernels."""

import pytest

from mfmasim.verify import verify_case
from tests.hipkernels.cast.family import caught, passes, right, runs, wrong


@pytest.mark.parametrize(("case", "arch"), right("transposed_read", lambda *_: True))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", wrong("transposed_read", {"read_rows_in_order_of_lanes"}))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught("transposed_read", name)


@pytest.mark.parametrize(("title", "degree"), [("transposed_read_map", 1), ("transposed_read_unpadded", 8)])
def test_what_the_padding_is_good_for(title, degree):
    """As far as phases of transposed reads are known: `assumed` to be those of a plain read."""
    case = next(case for case, _ in runs("transposed_read") if case.title == title)
    assert verify_case(case, "gfx950").lds["worst_degree"] == degree
