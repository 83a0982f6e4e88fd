"""Accesses of the LDS whose places are kept, against the ones that work them out each time."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.isa import Operand
from mfmasim.machine.ops import lds_places, spaces
from mfmasim.machine.ops.spaces import Part, lds_address
from mfmasim.machine.state.wave_selection import selection
from mfmasim.machine.state.waves import Group, Waves

GROUPS, PER, BYTES = 3, 2, 252
LIMIT = 248
"""Bytes of the allocation: the last dword of a row does not belong to it."""


@pytest.fixture
def machine():
    """LDS of three workgroups with random bytes; faults are counted."""
    faults = []
    return SimpleNamespace(
        lds=np.random.default_rng(1).integers(0, 256, (GROUPS, BYTES), np.uint8),
        arch=arch("gfx942"),
        faults=faults,
        launch=SimpleNamespace(lds_bytes=LIMIT),
        notify=SimpleNamespace(accesses=[], fault=lambda *_: faults.append(1)),
    )


@pytest.fixture
def group():
    waves = Waves(arch("gfx942"), GROUPS * PER, 64, 4, 0)
    waves.workgroup = np.repeat(np.arange(GROUPS), PER)
    return Group(waves)


REGISTER = Operand("v", 1)


def usual(machine, group, base, offset, size):
    """The places of a register that holds some addresses."""
    group.vgprs[1] = base
    return lds_places.usual(machine, group, REGISTER, offset, size)


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
        places = usual(machine, group, base, offset, size)
        highest = int(base.max()) + offset + size
        wanted = name in ("near", "alike") and offset % 4 == 0 and highest <= LIMIT
        assert (places is not None) == wanted
        if places is None:
            continue
        taken += 1
        for found, word in zip(
            lds_places.read(machine.lds, places, offset, size),
            slow_read(machine, group, base, offset, size),
            strict=True,
        ):
            np.testing.assert_array_equal(found, word)
        words = [rng.integers(0, 1 << 32, (rng.choice([1, GROUPS * PER]), 64), np.uint32) for _ in range(size // 4)]
        before = machine.lds.copy()
        lds_places.write(machine.lds, places, offset, words)
        after, machine.lds = machine.lds, before
        spaces.store(machine, group, None, Part("lds", lds_address(base, offset), None), words, size)
        np.testing.assert_array_equal(machine.lds, after)
    assert not machine.faults
    assert taken == (5 if name in ("near", "alike") else 0)


def test_only_all_lanes_and_whole_registers(machine, group):
    base = np.zeros((1, 64), np.uint32)
    assert usual(machine, group, base, 0, 4) is not None
    assert lds_places.usual(machine, group, Operand("s", 1), 0, 4) is None
    group.mask = np.ones((1, 64), np.bool_)
    assert usual(machine, group, base, 0, 4) is None


def test_of_some_waves_as_registers_change(machine, group):
    """Groups write the register, in place or not, and read it: the places are those of its present addresses."""
    random, waves, again = np.random.default_rng(4), group.waves, 0
    parts = [[0, 1], [2, 3, 4, 5], [0, 2, 4], [1, 2, 4, 5]]
    groups = [group, *(Group(waves, np.array(part), alone=True) for part in parts)]
    usual(machine, group, np.zeros((1, 64), np.uint32), 0, 4)
    for _ in range(2000):
        one = groups[random.integers(len(groups))]
        if one.all:
            waves.own.clear()
        if not random.integers(3):
            shape = random.choice([1, one.count]), 64
            one.write_v("v", 1, random.integers(0, 50, shape, np.uint32) * np.uint32(4))
            continue
        places = lds_places.usual(machine, one, REGISTER, 0, 4)
        base = one.v("v", 1)
        rows = waves.workgroup[one.indices()][:, None] * (BYTES // 4)
        np.testing.assert_array_equal(places.index, rows + base // 4)
        np.testing.assert_array_equal(places.base, base)
        again += lds_places.usual(machine, one, REGISTER, 4, 8) is places
    assert again > 1000
    assert waves.changed.count > 100
    assert len(waves.places) == len(groups)


def test_kept_by_register_and_bounded(machine, group):
    """Another array in a register, or another LDS, is not mistaken for what is kept."""
    waves = Waves(arch("gfx942"), GROUPS * PER, 64, 5 * lds_places.KEPT, 0)
    waves.workgroup = group.waves.workgroup
    group = Group(waves)
    for number in range(5 * lds_places.KEPT):
        waves.v[number] = np.full((1, 64), 4 * (number % 50), np.uint32)
        places = lds_places.usual(machine, group, Operand("v", number), 0, 4)
        assert places is lds_places.usual(machine, group, Operand("v", number), 4, 8)
        assert (places.index[:, 0] - group.workgroup * (BYTES // 4)).tolist() == [number % 50] * GROUPS * PER
    assert len(waves.places) <= lds_places.KEPT
    waves.v[number] = np.zeros((1, 64), np.uint32)
    assert lds_places.usual(machine, group, Operand("v", number), 0, 4).index[0, 0] == 0
    machine.lds = np.zeros((GROUPS, 2 * BYTES), np.uint8)
    places = lds_places.usual(machine, group, Operand("v", number), 0, 4)
    assert places.index[:, 0].tolist() == [0, 0, 126, 126, 252, 252]
    for key, known in waves.places.items():  # of a group that is gone, and whose waves stood at the same address
        waves.places[key] = replace(known, selection=selection(np.array([0]), 6), index=places.index + 1)
    assert lds_places.usual(machine, group, Operand("v", number), 0, 4).index[5, 0] == 252
