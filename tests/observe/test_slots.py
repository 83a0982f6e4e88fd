"""Lines of slots: the run of K that both operands agree on is the one that the search finds."""

import numpy as np
import pytest

from mfmasim.observe.fragments.slots import agreed, canonical_k, counts_up


@pytest.mark.parametrize("seed", range(20))
def test_an_agreed_run_is_what_the_search_gives(seed):
    rng = np.random.default_rng(seed)
    size, first = int(rng.integers(1, 40)), int(rng.integers(0, 500))
    run = np.arange(first, first + size)
    held = []
    for lines in rng.integers(1, 9, 2):
        slots = np.repeat(run[:, None], lines, axis=1)
        empty = rng.random(slots.shape) < 0.3
        empty[:, 0] = False  # one slot of each K holds an element, so that the line agrees on it
        held.append(np.where(empty, -1, slots))
    for slots in held:
        found = agreed(slots)
        assert found is not None
        assert counts_up(found)
        assert (found == run).all()
    assert (canonical_k(*held) == run).all()


def test_a_run_that_one_operand_holds_alone_is_found():
    """The other one holds no element at all."""
    run = np.array([[19], [18], [17], [16]])
    empty = np.full((4, 1), -1)
    assert canonical_k(run, empty).tolist() == canonical_k(empty, run).tolist() == [16, 17, 18, 19]


def test_a_permuted_run_does_not_count_up():
    run = np.array([[4], [6], [5], [7]])
    assert not counts_up(agreed(run))
    assert canonical_k(run, run).tolist() == [4, 5, 6, 7]
