"""Parts of arrays of all waves, against indices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim.machine.state.wave_selection import Runs, runs_of, selection


@given(st.data(), st.integers(1, 24))
def test_reads_and_writes_are_those_by_numbers(data, count):
    """Any waves of a batch; the part that is read is a copy."""
    numbers = np.array(sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1))))
    chosen = selection(numbers, count)
    assert chosen.numbers().tolist() == numbers.tolist()
    values = np.arange(count * 3).reshape(count, 3)
    part = chosen.read(values)
    np.testing.assert_array_equal(part, values[numbers])
    assert not np.shares_memory(part, values)
    np.testing.assert_array_equal(chosen.read(values[:, 0]), values[numbers, 0])
    for new in (part + 100, part[:1] + 200):
        expected = values.copy()
        expected[numbers] = new
        chosen.write(values, new)
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([3, 4, 5], runs_of(3, 3, 3, 1)),
        ([0, 1, 4, 5, 8, 9], runs_of(0, 2, 4, 3)),
        ([6, 7, 10, 11], runs_of(6, 2, 4, 2)),
        ([1, 5, 9], runs_of(1, 1, 4, 3)),
    ],
)
def test_waves_at_the_same_places_of_workgroups_are_runs(numbers, found):
    assert selection(np.array(numbers), 12) == found


@given(st.sets(st.integers(0, 15), min_size=1), st.sets(st.integers(0, 15), min_size=1))
def test_apart_means_no_common_wave(some, others):
    one, other = (selection(np.array(sorted(numbers)), 16) for numbers in (some, others))
    if one.apart(other):
        assert not some & others
    elif isinstance(one, Runs) and isinstance(other, Runs):
        assert some & others
