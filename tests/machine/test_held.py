"""Registers that a group keeps for further matrix instructions are those that it would read now."""

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.isa import Operand
from mfmasim.machine.state import register_memo
from mfmasim.machine.state.waves import Group, Waves

WAVES, REGISTERS, STEPS = 6, 8, 4000


def groups(waves):
    """All waves, and parts of them: one run, the same waves of every workgroup, and others."""
    parts = [0, 1], [2, 3, 4, 5], [0, 3], [1, 2, 4, 5], [1, 3, 4]
    return [Group(waves), *(Group(waves, np.array(part), alone=True) for part in parts)]


def test_kept_registers_are_the_present_ones():
    """Groups write some lanes, all lanes or one row for all waves, in place or not, and read runs of registers."""
    random = np.random.default_rng(11)
    waves = Waves(arch("gfx942"), WAVES, 64, REGISTERS, 0)
    every = groups(waves)
    again = 0
    for _ in range(STEPS):
        group = every[random.integers(len(every))]
        if group.all:
            waves.own.clear()
        first = int(random.integers(REGISTERS - 2))
        if random.integers(3):
            before = group.held(Operand("v", first, 3))
            again += group.held(Operand("v", first, 3)) is before
            np.testing.assert_array_equal(before.rows, group.rows(Operand("v", first, 3)))
            continue
        value = random.integers(0, 1 << 32, (random.choice([1, group.count]), 64), np.uint32)
        group.mask = None if random.integers(2) else random.integers(0, 2, (group.count, 64)).astype(bool)
        (group.write_v if random.integers(2) else group.write_all_lanes)("v", first, value)
    assert again > STEPS // 2
    assert waves.changed.count > 100


@pytest.mark.parametrize("most", [0, 5000])
def test_what_is_kept_is_bounded(most, monkeypatch):
    monkeypatch.setattr(register_memo, "BYTES", most)
    waves = Waves(arch("gfx942"), WAVES, 64, REGISTERS, 0)
    group = groups(waves)[0]
    for register in range(REGISTERS):
        group.write_v("v", register, np.full((WAVES, 64), register, np.uint32))
    for first in (0, 1, 2, 0, 0):
        found = group.held(Operand("v", first, 3))
        assert found.rows.nbytes == WAVES * 3 * 64 * 4
        np.testing.assert_array_equal(found.rows[0, :, 0], [first, first + 1, first + 2])
    assert (group.held(Operand("v", 0, 3)) is found) == (most > found.rows.nbytes)
    assert sum(each.rows.nbytes for each in waves.kept._found.values()) <= most
