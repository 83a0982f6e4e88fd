"""Reuse of strips by workgroups that run together: counted again with sets, and the search for a map."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim import MfmasimError, grids
from mfmasim.cli import main
from mfmasim.testing import grid_layouts


def slow(found, units):
    """Sets of strips, workgroup by workgroup."""
    xcds = found.grid.xcds
    reads, of_xcds, of_rounds = 0, {}, {}
    for number, (row, col) in enumerate(found.tiles.tolist()):
        turn = number // (xcds * units)
        for strip in (("A", row), ("B", col)):
            reads += 1
            of_xcds.setdefault((turn, number % xcds), set()).add(strip)
            of_rounds.setdefault(turn, set()).add(strip)
    return grids.Reuse(reads, sum(map(len, of_xcds.values())), sum(map(len, of_rounds.values())))


@given(grid_layouts(), st.integers(1, 9))
def test_reuse_is_what_sets_count(found, units):
    assert grids.reuse(found, units=units) == slow(found, units)


def slow_stream(rows, cols, depth, workgroups, xcds, chunk):
    """Step by step: each workgroup's list of tiles and steps, in the order in which it computes them."""
    todo = {w: [] for w in range(workgroups)}
    for part in grids.segments(rows * cols, depth, workgroups)[::-1]:
        todo[part.workgroup] += [(part.tile, step) for step in range(part.first, part.last)]
    block, die = xcds * chunk, {}
    for number in range(workgroups):  # the number-th workgroup of the hardware
        local, inside = number // xcds, number < workgroups // block * block
        mine = local // chunk * block + number % xcds * chunk + local % chunk if inside else number
        die[mine] = number % xcds
    reads, of_dies, of_all = 0, set(), set()
    for w, steps in todo.items():
        for time, (tile, step) in enumerate(steps):
            for strip in (("A", tile // cols, step), ("B", tile % cols, step)):
                reads += 1
                of_dies.add((time, die[w], strip))
                of_all.add((time, strip))
    return grids.Reuse(reads, len(of_dies), len(of_all))


@given(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.integers(1, 30), st.integers(1, 4), st.integers(1, 3)
)
def test_reuse_of_a_stream_is_what_sets_count(rows, cols, depth, workgroups, xcds, chunk):
    found = grids.stream_reuse(rows, cols, depth, workgroups, xcds=xcds, chunk=chunk)
    assert found == slow_stream(rows, cols, depth, workgroups, xcds, chunk)


def test_streams_share_less_than_whole_tiles():
    """16 x 16 tiles: 256 workgroups have a tile each, 240 meet at fewer steps, unless neighbours are on one XCD."""
    whole, cut = (grids.stream_reuse(16, 16, 32, n) for n in (256, 240))
    assert whole.l2 == grids.reuse(grids.layout("row", 16, 16)).l2
    dealt = grids.stream_reuse(16, 16, 32, 240, chunk=30)
    assert [round(100 * one.l2) for one in (whole, cut, dealt)] == [72, 36, 67]
    assert dealt.from_memory == cut.from_memory
    with pytest.raises(MfmasimError, match="chunk 0"):
        grids.stream_reuse(2, 2, 2, 2, chunk=0)


def test_one_xcd_with_one_unit_reuses_nothing():
    found = grids.reuse(grids.layout("row", 5, 7, xcds=1), units=1)
    assert (found.l2, found.llc) == (0, 0)


def test_the_published_map_beside_rows():
    """With the printed window and chunk square grids read as much as by rows, where an XCD has every eighth column."""
    for side, counted in ((16, (512, 144, 32)), (32, (2048, 384, 160)), (64, (8192, 1536, 1088))):
        assert [grids.reuse(grids.layout(name, side, side)) for name in ("row", "xcd_grouped")] == [
            grids.Reuse(*counted)
        ] * 2
    best, least = grids.best_maps(64, 64)[0]
    assert (best.name, least) == ("xcd_grouped", grids.Reuse(8192, 1536, 512))


def test_the_search_finds_the_least_of_all_it_tries():
    found = grids.best_maps(32, 32, sizes=(2, 4, 8))
    least = [(reuse.from_llc, reuse.from_memory) for _, reuse in found]
    assert least == sorted(least)
    assert len({one.tiles.tobytes() for one, _ in found}) == len(found)
    for one, counted in found:
        assert one.permutation
        assert counted == slow(one, 32)
    with pytest.raises(MfmasimError, match="xcd_divided"):
        grids.best_maps(4, 4, names=("xcd_divided",))
    with pytest.raises(MfmasimError, match="units=0"):
        grids.reuse(grids.layout("row", 2, 2), units=0)


def test_command_line(capsys):
    assert main(["lds", "grid", "xcd_grouped", "--rows", "32", "--cols", "32", "--reuse"]) == 0
    assert "L2" in capsys.readouterr().out
    assert main(["lds", "grid", "--rows", "32", "--cols", "32", "--search"]) == 0
    assert "window" in capsys.readouterr().out
