"""Counts of executed instructions, and the booleans of whole arrays, against the obvious ones."""

import numpy as np

from mfmasim.architectures import arch
from mfmasim.machine.numerics.lane_masks import every, some
from mfmasim.machine.state.waves import Group, Waves


def test_counts_of_all_and_of_some_waves():
    """The largest count is that of the group's waves; looking at the counts changes nothing."""
    random = np.random.default_rng(3)
    waves, expected = Waves(arch("gfx942"), 6, 64, 1, 0), np.zeros(6, np.int64)
    groups = [Group(waves), Group(waves, np.array([0, 1])), Group(waves, np.array([0, 2, 5]))]
    for _ in range(300):
        group, more = groups[random.integers(3)], int(random.integers(20))
        expected[group.indices()] += more
        # The largest of all waves, where the group is all of them.
        assert group.count_executed(more) == expected[group.indices()].max()
        if not random.integers(4):
            assert np.broadcast_to(group.executed, (group.count,)).tolist() == expected[group.indices()].tolist()
            assert np.broadcast_to(waves.executed, (6,)).tolist() == expected.tolist()


def test_every_and_some():
    for count in (0, 1, 63, 4096):
        for places in ([], [0], [count - 1], range(count)):
            mask = np.zeros((count, 2), np.bool_)
            for place in places:
                mask[place if count else slice(0), 1] = True
            assert some(mask[:, 1]) == mask[:, 1].any()
            assert some(~mask) == (~mask).any()
            assert every(mask[:, 1]) == mask[:, 1].all()
            assert every(~mask) == (~mask).all()
