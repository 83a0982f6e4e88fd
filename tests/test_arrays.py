"""Arrays of zeros that are larger than the memory."""

import sys

import pytest

from mfmasim.arrays import MANY, zeros


@pytest.mark.parametrize("size", [5, MANY - 1, MANY, 1 << 40])
def test_zeros_take_no_memory_until_they_are_changed(size):
    if size > MANY and sys.platform != "linux":
        pytest.skip("the system keeps memory for all of them")
    made = zeros(size)
    made[-1] += 3
    assert (made.size, made.dtype.name, int(made[-1]), int(made[size // 2])) == (size, "uint8", 3, 0)
