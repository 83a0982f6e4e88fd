"""Memory as it was before a launch, against a copy of all of it."""

import numpy as np
import pytest

from mfmasim.machine.state.memory import PAGE, Memory
from mfmasim.machine.state.memory_snapshot import Before, Earlier

SIZES = (3 * PAGE, 7, 40 * PAGE + 12)


@pytest.fixture
def memory():
    made = Memory()
    for number, size in enumerate(SIZES):
        made.reserve(f"buffer {number}", size, offset=4 * number)
    made.seal()
    made.arena[:] = np.random.default_rng(3).integers(0, 256, made.size, dtype=np.uint8)
    return made


def drawn(rng, memory, size):
    """Addresses of four waves of eight lanes, some of them outside every buffer, and the lanes that take part."""
    region = memory.regions[rng.integers(len(memory.regions))]
    addresses = region.address + rng.integers(-2, region.size, (4, 8)) // size * size
    return addresses.astype(np.uint64), rng.random((4, 8)) < 0.8


def test_a_second_run_reads_what_the_first_one_read(memory):
    rng = np.random.default_rng(8)
    copy = Memory.over(memory.base, memory.arena.copy(), memory.regions)
    memory.before = Before(memory)
    accesses = [(*drawn(rng, memory, size), size) for size in rng.choice([1, 2, 4, 16], 60).tolist()]
    told = []
    for turn in (memory, Earlier(memory.before), Earlier(memory.before)):
        read = []
        for number, (addresses, mask, size) in enumerate(accesses):
            words, _ = (
                turn.load_small(addresses, size, mask) if size < 4 else turn.load_dwords(addresses, size // 4, mask)
            )
            read.append(np.where(mask, np.array(words), 0))
            changed = [np.full((4, 8), 0x01010101 * number, np.uint32)] * max(size // 4, 1)
            turn.store(addresses, changed, size, rng.random((4, 8)) < 0 if number % 3 else mask)
        told.append(read)
    for read in told[1:]:
        for first, again in zip(told[0], read, strict=True):
            assert np.array_equal(first, again)
    assert not np.array_equal(memory.arena, copy.arena)
    for region in memory.regions:
        assert np.array_equal(Earlier(memory.before).view(region), copy.view(region))
    assert np.array_equal(turn.view(memory.regions[0]), memory.view(memory.regions[0]))


def test_only_what_is_accessed_is_copied(memory):
    memory.before = Before(memory)
    address = np.array([[memory.regions[2].address + 5 * PAGE]], np.uint64)
    memory.store(address, [np.array([[1]], np.uint32)], 4)
    earlier = Earlier(memory.before)
    earlier.load_dwords(address, 1)
    assert np.count_nonzero(earlier.arena.reshape(-1, PAGE).any(axis=1)) == 1
