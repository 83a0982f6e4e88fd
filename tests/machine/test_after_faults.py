"""Loads outside of every buffer in memory whose pages are mapped whole: 0, and whether the pages were left."""

import numpy as np
import pytest

from mfmasim.machine.state.memory import PAGE, POISON_DWORD, Memory


@pytest.mark.parametrize(
    ("past", "beyond"), [(0, False), (PAGE - 264 - 4, False), (PAGE - 264, True), (PAGE - 264 - 2, True), (-268, True)]
)
@pytest.mark.parametrize("mapped", [False, True])
def test_what_a_load_outside_gives(past, beyond, mapped):
    """A buffer of 264 bytes: the rest of its page, what crosses its end, the next page, and before the buffer."""
    memory = Memory()
    region = memory.reserve("a", 264)
    memory.seal()
    memory.view(region)[:] = 7
    memory.mapped = mapped
    addresses = np.array([region.address, region.address + region.size + past], np.uint64)
    for read in (lambda: memory.load_dwords(addresses, 1), lambda: ([memory.load_small(addresses, 2)[0]], None)):
        (word,), _ = read()
        width = 4 if word[0] == 0x07070707 else 2
        assert int(word[0]) == 0x07070707 & ((1 << 8 * width) - 1)
        assert int(word[1]) == (0 if mapped else POISON_DWORD & ((1 << 8 * width) - 1))
        if width == 4:
            assert memory.beyond == (mapped and beyond)


def test_a_store_outside_is_dropped_and_counts_alike():
    """In the page, and in the next."""
    memory = Memory()
    region = memory.reserve("a", 8)
    memory.seal()
    memory.mapped = True
    for past, beyond in ((0, False), (PAGE, True)):
        address = np.array([region.address + region.size + past], np.uint64)
        assert memory.store(address, [np.array([5], np.uint32)], 4) is not None
        assert memory.beyond == beyond
    assert not memory.arena.any()
