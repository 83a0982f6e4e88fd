"""Bytes of device memory that the host wrote through a pointer."""

import numpy as np
import pytest

from mfmasim.hiprt.written import PART, Written
from mfmasim.machine.state.memory import POISON_BYTE, Region


@pytest.mark.parametrize("size", [16, PART])
def test_what_holds_no_poison_was_written_by_the_host(size):
    """A dword at a time; the rest stays undefined, and in the end nothing is."""
    base = 1 << 20
    written, content = Written(base, 2 * PART), np.full(size, POISON_BYTE, np.uint8)
    region = Region("a", base + 64, size)
    written.forget(region.address, size)
    assert written.undefined(region, content)
    content[4:8] = [1, 0, POISON_BYTE, POISON_BYTE]
    assert written.undefined(region, content)
    assert np.flatnonzero(written.bits[64 : 64 + size] == 0).tolist() == [4, 5, 6, 7]
    content[:] = 0
    assert not written.undefined(region, content)
    written.forget(region.address, size)
    assert written.undefined(region, np.full(size, POISON_BYTE, np.uint8))


def test_a_large_allocation_is_not_searched():
    """Its pages would be read at every launch."""
    written = Written(0, 2 * PART)
    written.forget(0, PART + 4)
    assert written.undefined(Region("a", 0, PART + 4), np.zeros(PART + 4, np.uint8))
