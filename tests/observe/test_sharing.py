"""What is shared between waves, against a plain model: sets of waves for each dword."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.observe.ordering.sharing import PART, Sharing

BASE, DWORDS = 0x1000, 40
LOAD = SimpleNamespace(pc=0, dst=(), modifiers={}, opcode=SimpleNamespace(scalar=False, atomic=""))


def drawn(rng, size):
    """Accesses of a few waves with four lanes: kind, wave numbers, offsets, active lanes."""
    for _ in range(int(rng.integers(1, 12))):
        waves = rng.choice(9, int(rng.integers(1, 4)), replace=False)
        offsets = rng.integers(0, (DWORDS * 4 - size) // size, (len(waves), 4)) * size
        yield str(rng.choice(["read", "write", "atomic"])), waves, offsets, rng.random(offsets.shape) < 0.8


def told(sharing, kind, waves, offsets, active, size):
    """Record one access."""
    addresses = (offsets + BASE).astype(np.uint64)
    sharing.add(
        SimpleNamespace(
            instruction=LOAD, kind=kind, addresses=addresses, active=active, size=size, waves=len(waves), numbers=waves
        )
    )


def shared(accesses, size):
    """Dwords that one wave changes and another one touches; atomic operations alone need no order."""
    users = defaultdict(lambda: defaultdict(set))
    for kind, waves, offsets, active in accesses:
        for row, lane in np.argwhere(active):
            for byte in range(size):
                users[int(offsets[row, lane] + byte) // 4][kind].add(int(waves[row]))
    found = set()
    for dword, by in users.items():
        everyone = by["read"] | by["write"] | by["atomic"]
        if (by["write"] and len(everyone) > 1) or (by["atomic"] and by["read"] and len(by["atomic"] | by["read"]) > 1):
            found.add(dword)
    return sorted(found)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_the_same_as_sets_of_waves(size):
    rng, count = np.random.default_rng(size), 0
    for _ in range(60):
        sharing, accesses = Sharing(BASE, DWORDS * 4), list(drawn(rng, size))
        for access in accesses:
            told(sharing, *access, size)
        expected = shared(accesses, size)
        assert sharing.shared().tolist() == expected
        first, last = sorted(int(x) for x in rng.integers(0, DWORDS * 4, 2))
        sharing.leave_out([(first, last)])
        assert sharing.shared().tolist() == [d for d in expected if not first // 4 <= d < -(-last // 4)]
        count += len(expected)
    assert count > 100


def test_what_lies_far_apart_is_found():
    places = [0, PART - 1, PART, 7 * PART - 1, 9 * PART]
    sharing = Sharing(BASE, 4 * (9 * PART + 1))
    offsets = np.array([places, places]) * 4
    told(sharing, "write", np.array([0, 1]), offsets[:, ::2], np.array([[True] * 3, [False, True, False]]), 4)
    told(sharing, "atomic", np.array([2]), offsets[:1], np.array([[True] * 5]), 4)
    assert sharing.writer.touched().tolist() == places[::2]
    assert sharing.changer.touched().tolist() == places
    assert sharing.shared().tolist() == places[::2]
