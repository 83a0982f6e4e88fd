"""Bytes that are private to a workgroup or a work-item: rows that are shorter than an access."""

import numpy as np
import pytest

from mfmasim.machine.state import private_memory


@pytest.mark.parametrize(("bytes_", "size"), [(0, 4), (4, 8), (12, 16), (12, 12)])
def test_a_row_shorter_than_an_access_gives_zeros(bytes_, size):
    """A load of 16 bytes from an LDS of 12: no lane is inside, and none reads, in the last row as in the first."""
    rows = np.full((2, bytes_), 0x5A, np.uint8)
    row = np.array([[0], [1]])
    address = np.zeros((2, 3), np.int64)
    inside = np.full((2, 3), size <= bytes_)
    words = private_memory.read(rows, row, address, size, inside)
    assert len(words) == size // 4
    wanted = 0x5A5A5A5A if size <= bytes_ else 0
    assert all(word.shape == (2, 3) and (word == wanted).all() for word in words)
