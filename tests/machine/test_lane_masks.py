"""Lane masks in scalar registers: a mask that is read has the bits of its words, whichever instruction wrote them."""

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.machine.state.waves import EXEC, Group, Waves

WAVES, FIRST, CODES = 5, 8, 4


def unpacked(waves, code):
    """Booleans (waves, lanes) of the registers from `code` on."""
    words = [np.broadcast_to(waves.s[code + part], (WAVES,)) for part in range(waves.lanes // 32)]
    return np.stack([words[lane // 32] >> np.uint32(lane % 32) & 1 for lane in range(waves.lanes)], axis=1) != 0


@pytest.mark.parametrize(("name", "lanes"), [("gfx942", 64), ("gfx1201", 32)])
def test_a_mask_is_what_the_words_say(name, lanes):
    """Masks and single words are written by all waves or some, under EXEC or not, and copied between registers."""
    random, waves = np.random.default_rng(lanes), Waves(arch(name), WAVES, lanes, 1, 0)
    groups = [Group(waves), Group(waves), Group(waves, np.array([0, 1]), alone=True)]
    groups.append(Group(waves, np.array([1, 2, 4]), alone=True))
    known = 0
    for _ in range(3000):
        group, code = groups[random.integers(len(groups))], FIRST + int(random.integers(CODES))
        if group.all:
            waves.own.clear()
        group.mask = None if random.integers(2) else random.integers(0, 2, (group.count, lanes)).astype(np.bool_)
        what = random.integers(5)
        if what == 0:
            group.write_s(code, random.integers(0, 1 << 32, random.choice([1, group.count]), np.uint32))
        elif what == 1:
            group.write_s(code, group.s(FIRST + int(random.integers(CODES))))
        elif what == 2:
            mask = random.integers(0, 2, (random.choice([1, group.count]), random.choice([1, lanes]))).astype(np.bool_)
            group.write_mask(code, mask)
            active = True if group.mask is None else group.mask
            expected = np.broadcast_to(mask & active, (group.count, lanes))
            assert np.array_equal(unpacked(waves, code)[group.indices()], expected)
        else:
            found = group.lane_mask(code)
            known += code in waves.lane_masks and found is waves.lane_masks[code][1]
            wanted = unpacked(waves, code)[group.indices()]
            assert np.array_equal(np.broadcast_to(found, wanted.shape), wanted)
    assert known > 50


@pytest.mark.parametrize(("name", "lanes"), [("gfx942", 64), ("gfx1201", 32)])
def test_a_mask_in_exec_is_obeyed(name, lanes):
    waves = Waves(arch(name), WAVES, lanes, 1, 0)
    group = Group(waves)
    mask = np.random.default_rng(1).integers(0, 2, (WAVES, lanes)).astype(np.bool_)
    group.write_mask(EXEC, mask)
    assert np.array_equal(group.mask, mask)
    assert np.array_equal(unpacked(waves, EXEC), mask)
