"""Runs of bytes, against sets of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mfmasim.machine.state.touched_bytes import Runs, Touched

FLAGS = st.lists(st.sampled_from([0, 0, 1, 1, 1]), max_size=24)


def runs(flags, each):
    """Runs of units of so many bytes."""
    return Runs.of(np.array(flags, np.uint8), each)


def bytes_of(found):
    return [byte for start, end in zip(found.starts, found.ends, strict=True) for byte in range(start, end)]


@given(FLAGS, st.sampled_from([1, 4]))
def test_runs_are_the_bytes_that_are_set(flags, each):
    found, expected = runs(flags, each), np.flatnonzero(np.repeat(flags, each)).tolist()
    assert bytes_of(found) == expected
    assert (found.starts[1:] > found.ends[:-1]).all()  # none touches the next
    data = np.arange(len(flags) * each, dtype=np.uint8)
    taken = found.take(data)
    assert taken.tolist() == expected
    found.put(data, taken + np.uint8(100))
    assert [int(byte) for byte in np.flatnonzero(data != np.arange(len(data)))] == expected


@given(FLAGS, FLAGS)
def test_the_first_common_byte(some, others):
    one, other = runs(some, 1), runs(others, 4)
    both = set(bytes_of(one)) & set(bytes_of(other))
    assert one.common(other) == other.common(one) == min(both, default=None)


@given(st.lists(st.tuples(FLAGS, st.sampled_from([1, 2, 4, 16])), max_size=4), st.integers(0, 99), st.integers(0, 99))
def test_runs_together(several, first, size):
    found = Runs.together([runs(*each) for each in several])
    expected = sorted({byte for each in several for byte in bytes_of(runs(*each))})
    assert bytes_of(found) == expected
    assert (found.starts[1:] > found.ends[:-1]).all()
    assert found.within(first, first + size) == len([byte for byte in expected if first <= byte < first + size])


@given(st.data(), st.sampled_from([1, 2, 4, 8, 12, 16]), st.sampled_from([1, 2, 4, 16]), st.sampled_from([96, 100]))
def test_bytes_of_accesses_are_flagged(data, size, step, memory):
    """Accesses of any width and alignment, some lanes masked off."""
    places = st.integers(0, (memory - size) // step)
    offsets = step * np.array(data.draw(st.lists(places, min_size=1, max_size=8)), np.int64)[None, :]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=offsets.size, max_size=offsets.size)))[None, :]
    touched = Touched(memory)
    touched.note(offsets, size, mask, None, "stored")
    touched.note(offsets[:, :1], 1, None, None, "atomic")
    expected = {int(offset) + byte for offset in offsets[mask] for byte in range(size)} | {int(offsets[0, 0])}
    assert bytes_of(touched.written) == sorted(expected)
    assert not touched.read.total
