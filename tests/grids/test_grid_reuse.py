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
