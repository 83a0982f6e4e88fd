"""Accesses of the LDS whose places are kept, against the ones that work them out each time."""

from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.machine.ops import lds_places, spaces
from mfmasim.machine.ops.spaces import Part, lds_address
from mfmasim.machine.state import Group, Waves

GROUPS, PER, BYTES = 3, 2, 252
LIMIT = 248
"""Bytes of the allocation: the last dword of a row does not belong to it."""


@pytest.fixture
def machine():
    """LDS of three workgroups with random bytes; faults are counted."""
    faults = []
    return SimpleNamespace(
        lds=np.random.default_rng(1).integers(0, 256, (GROUPS, BYTES), np.uint8), arch=arch("gfx942"), faults=faults,
        launch=SimpleNamespace(lds_bytes=LIMIT),
        notify=SimpleNamespace(accesses=[], fault=lambda *_: faults.append(1)),
    )  # fmt: skip


@pytest.fixture
def group():
    waves = Waves(arch("gfx942"), GROUPS * PER, 64, 4, 0)
    waves.workgroup = np.repeat(np.arange(GROUPS), PER)
    return Group(waves)


def slow_read(machine, group, base, offset, size):
    return spaces.load(machine, group, None, Part("lds", lds_address(base, offset), group.mask), size)


def bases(rng):
    """Addresses of lanes: within reach of small offsets, the same in all waves, unaligned, and folded negative ones."""
    near = rng.integers(0, 40, (GROUPS * PER, 64), np.uint32) * np.uint32(4)
    unaligned = near.copy()
    unaligned[3, 7] += 2
    negative = near.copy()
    negative[5, 63] = np.uint32(2**32 - 4)
    far = near.copy()
    far[0, 0] = LIMIT
    return {"near": near, "alike": near[:1], "unaligned": unaligned, "negative": negative, "far": far}


@pytest.mark.parametrize("size", [4, 8, 12, 16])
@pytest.mark.parametrize("name", bases(np.random.default_rng(0)))
def test_reads_and_writes(machine, group, name, size):
    """Offsets up to the end of the allocation and beyond."""
    rng = np.random.default_rng(2)
    base = bases(rng)[name]
    taken = 0
    for offset in (0, 4, 6, 60, 88 - size, 92 - size, 96 - size, 200):
        index = lds_places.usual(machine, group, base, offset, size)
        highest = int(base.max()) + offset + size
        wanted = name in ("near", "alike") and offset % 4 == 0 and highest <= LIMIT
        assert (index is not None) == wanted
        if index is None:
            continue
        taken += 1
        for found, word in zip(
            lds_places.read(machine.lds, index, offset, size),
            slow_read(machine, group, base, offset, size),
            strict=True,
        ):
            np.testing.assert_array_equal(found, word)
        words = [rng.integers(0, 1 << 32, (rng.choice([1, GROUPS * PER]), 64), np.uint32) for _ in range(size // 4)]
        before = machine.lds.copy()
        lds_places.write(machine.lds, index, offset, words)
        after, machine.lds = machine.lds, before
        spaces.store(machine, group, None, Part("lds", lds_address(base, offset), None), words, size)
        np.testing.assert_array_equal(machine.lds, after)
    assert not machine.faults
    assert taken == (5 if name in ("near", "alike") else 0)


def test_only_all_lanes_of_all_waves(machine, group):
    base = np.zeros((1, 64), np.uint32)
    assert lds_places.usual(machine, group, base, 0, 4) is not None
    assert lds_places.usual(machine, Group(group.waves, np.array([0, 1])), base, 0, 4) is None
    group.mask = np.ones((1, 64), np.bool_)
    assert lds_places.usual(machine, group, base, 0, 4) is None


def test_kept_by_the_array_and_bounded(machine, group):
    """The same array is looked up; an array that takes the place of a freed one, or another LDS, is not mistaken."""
    for number in range(5 * lds_places.KEPT):
        base = np.full((1, 64), 4 * number, np.uint32)
        index = lds_places.usual(machine, group, base, 0, 4)
        assert index is lds_places.usual(machine, group, base, 4, 8)
        assert (index[:, 0] - group.workgroup * (BYTES // 4)).tolist() == [number] * GROUPS * PER
        del base
    assert len(group.waves.places) <= lds_places.KEPT
    base = np.zeros((1, 64), np.uint32)
    group.waves.places[id(base)] = lds_places.Places(base + np.uint32(4), BYTES, 4, np.ones((6, 64), np.int64))
    assert lds_places.usual(machine, group, base, 0, 4)[0, 0] == 0
    machine.lds = np.zeros((GROUPS, 2 * BYTES), np.uint8)
    assert lds_places.usual(machine, group, base, 0, 4)[:, 0].tolist() == [0, 0, 126, 126, 252, 252]
