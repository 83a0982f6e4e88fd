"""K in slices and in streams: nothing is left out, nothing counted twice; and where the published rule goes wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim.errors import MfmasimError
from mfmasim.grids import k_per_split, published_split, segments, split, stream_workspace

SIZES = st.integers(1, 5000)


@pytest.mark.trap("T35")
@pytest.mark.parametrize(
    ("m", "n", "k", "slices", "length", "twice", "right"),
    [
        (16, 4096, 1300, 4, 325, 11 + 6 + 1, (3, 448)),
        (16, 4096, 4100, 4, 1025, 15 + 14 + 13, (3, 1376)),
        (16, 4096, 1290, 4, 323, 13 + 10 + 7, (3, 432)),
        (128, 128, 2816, 16, 176, 0, (11, 256)),  # 11 slices of 256 become 16
    ],
)
def test_where_the_published_rule_goes_wrong(m, n, k, slices, length, twice, right):
    theirs = published_split(m, n, k)
    assert (theirs.slices, theirs.k_per_split, theirs.counted_twice()) == (slices, length, twice)
    assert length % 16 or length < 256
    ours = split(m, n, k)
    assert (ours.slices, ours.k_per_split) == right
    assert ours.counted_twice() == 0


def test_the_example_of_the_text():
    assert [rule(16, 4096, 4096).slices for rule in (published_split, split)] == [4, 3]
    assert published_split(16, 4096, 4096).workspace == 4 * 16 * 4096 * 4
    assert split(16, 4096, 4096).lengths == (1376, 1376, 1344)


@given(SIZES, SIZES, st.integers(1, 20000))
def test_slices_hold_all_of_k_in_whole_steps_and_none_is_empty(m, n, k):
    made = split(m, n, k)
    assert sum(made.lengths) == k
    assert min(made.lengths) > 0
    assert made.counted_twice() == 0
    assert made.slices == 1 or made.k_per_split >= 256
    assert made.workspace == (4 * m * n * made.slices if made.slices > 1 else 0)
    assert sum(published_split(m, n, k).lengths) == k


@given(SIZES, st.integers(1, 100), st.sampled_from([1, 16, 32, 64]))
def test_the_shortest_multiple_of_a_step(k, slices, step):
    length = k_per_split(k, slices, step)
    assert length % step == 0
    assert length * slices >= k > (length - step) * slices


def test_more_slices_than_steps_leave_some_without_work():
    assert k_per_split(48, 5) == 16  # three slices
    assert k_per_split(80, 4) == 32  # and these are three, too
    with pytest.raises(MfmasimError, match="slices 0"):
        k_per_split(48, 0)


@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 200))
def test_streams_meet_every_step_once_in_the_order_of_k(tiles, depth, workgroups):
    found = segments(tiles, depth, workgroups)
    assert [(s.tile, k) for s in found for k in range(s.first, s.last)] == [
        (tile, k) for tile in range(tiles) for k in range(depth)
    ]
    assert [s.workgroup for s in found] == sorted(s.workgroup for s in found)
    steps = [sum(s.last - s.first for s in found if s.workgroup == w) for w in range(workgroups)]
    assert max(steps) - min(steps) <= 1
    slots = [s.slot for s in found if s.slot is not None]
    assert len(set(slots)) == len(slots)
    assert all(s.slot // 2 == s.workgroup for s in found if s.slot is not None)
    assert all((s.slot is None) == (s.last - s.first == depth) for s in found)


def test_a_stream_of_one_workgroup_for_each_tile_needs_no_workspace_and_refuses_none():
    assert {s.slot for s in segments(6, 5, 6)} == {None}
    assert len(segments(1, 3, 100)) == 3  # 97 are idle
    assert stream_workspace(40) == 2 * 40 * 16384
    with pytest.raises(MfmasimError, match="workgroups 0"):
        segments(1, 1, 0)
