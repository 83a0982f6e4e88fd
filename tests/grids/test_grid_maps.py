"""Grid maps: device code against twins, permutation for every grid up to 40 x 40, and what was published of them."""

import numpy as np
import pytest

from mfmasim import MfmasimError, device, grids
from mfmasim.cli import main
from mfmasim.figures.grid import steps_svg, steps_text, tiles_svg, tiles_text
from mfmasim.grids import MAPS, Grid
from mfmasim.resources import folder
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.prebuilt import code_for

((_, CASES),) = find("grid_maps")
RUNS = select(CASES, "gfx950")
RIGHT = [name for name, row in MAPS.items() if row.right]
WRONG = [name for name, row in MAPS.items() if not row.right]
MOST = 40
USES_XCDS = ("xcd", "xcd_grouped", "shares", "shares_grouped", "xcd_divided", "xcd_forgotten")


def every_grid(sizes):
    """(ids, rows, cols) of every workgroup of every grid with these numbers of rows and columns."""
    parts = [np.stack(np.broadcast_arrays(np.arange(r * c), r, c)) for r in sizes for c in sizes]
    return np.concatenate(parts, axis=1).astype(np.int32)


def ask(name, asked, xcds, window=4, chunk=8, arch="gfx950"):
    """Run the device code: row and column for each workgroup."""
    n = asked.shape[1]
    row, col = np.full((2, n), -1, np.int32)
    args = [*map(np.ascontiguousarray, asked), row, col, *map(np.int32, (n, xcds, window, chunk))]
    code = code_for(folder("hipkernels") / "grid_maps" / "maps.hip", arch)
    report = device("sim").launch(code[f"ask_{name}"], -(-n // 256), 256, args, checks="bounds")
    assert report.ok, report.findings
    return row, col


def bad_grids(asked, row, col):
    """Grids whose tiles are not each given to one workgroup."""
    _, rows, cols = asked.astype(np.int64)
    bad = (row < 0) | (col < 0) | (row >= rows) | (col >= cols)
    number = rows * 64 + cols  # of the grid
    tile = number * 4096 + row.astype(np.int64) * cols + col
    _, inverse, times = np.unique(tile, return_inverse=True, return_counts=True)
    bad |= times[inverse] != 1
    return np.unique(number[bad]), len(np.unique(number))


def prove(name, sizes, xcds, window=4, chunk=8, arch="gfx950"):
    asked = every_grid(sizes)
    row, col = ask(name, asked, xcds, window, chunk, arch)
    ids, rows, cols = asked.astype(np.int64)
    twin = MAPS[name].place(ids, Grid(rows, cols, xcds, window, chunk))
    assert np.array_equal(np.stack([row, col]), np.stack(twin))
    return bad_grids(asked, row, col)


@pytest.mark.parametrize(("case", "arch"), RUNS, ids=[case.title for case, _ in RUNS])
def test_device_code_is_its_twin(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", result.findings
    assert result.outputs["elements"] >= 70


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("xcds", [1, 3, 8])
def test_right_maps_are_permutations(name, xcds):
    bad, total = prove(name, [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 40], xcds)
    assert (len(bad), total) == (0, 144)


@pytest.mark.parametrize("name", MAPS)
def test_twins_are_proved_or_refuted_for_every_grid(name):
    """All grids at once; where one at a time says the same of the smaller ones, for several numbers of XCDs."""
    bad = grids.refuted(name, MOST)
    assert MAPS[name].right == (not bad)
    for xcds, window, chunk in [(8, 4, 8), (1, 4, 8), (3, 2, 5)]:
        more = {"xcds": xcds, "window": window, "chunk": chunk}
        slow = [(r, c) for r in range(1, 9) for c in range(1, 9) if not grids.layout(name, r, c, **more).permutation]
        assert grids.refuted(name, 8, **more) == slow
        assert MAPS[name].right == (not grids.refuted(name, MOST, **more)) or (name, xcds) == ("xcd_divided", 1)


# Checklist T34, of wmma_ops: chunked column-major, chiplet swizzle, L2-aware.
@pytest.mark.trap("T34")
def test_wmma_maps_on_rdna_are_refuted_by_as_many_grids_as_is_known():
    bad, total = prove("chunked_clamped", range(1, 20), 1, arch="gfx1151")
    assert (len(bad), total) == (327, 361)
    known = {number // 64 * 100 + number % 64 for number in bad.tolist()}
    assert {100 * r + c for r, c in grids.refuted("chunked_clamped", 19, xcds=1)} == known
    for name in ("hilbert", "column", "snake", "grouped"):
        assert prove(name, [1, 5, 16, 17, 40], 1, arch="gfx1151")[0].size == 0


@pytest.mark.long
@pytest.mark.parametrize("name", RIGHT)
def test_right_maps_are_permutations_for_every_grid(name):
    proved = 0
    for xcds in range(1, 9) if name in USES_XCDS else (1,):
        for window, chunk in [(4, 8), (3, 5)]:
            bad, total = prove(name, range(1, MOST + 1), xcds, window, chunk)
            assert not len(bad)
            proved += total
    assert proved == MOST**2 * 2 * (8 if name in USES_XCDS else 1)


# Wrong ones, with the figures of checklist T20 and T34: grids (1..19)^2 of the clamped map, single grids of the others.
def test_squares_moved_to_the_edge_compute_tiles_twice():
    bad, total = prove("chunked_clamped", range(1, 20), 1)
    assert (len(bad), total) == (327, 361)
    whole = {rows * 64 + cols for rows in (4, 8, 12, 16) for cols in (4, 8, 12, 16)}
    assert not whole & set(bad.tolist())


@pytest.mark.parametrize(
    ("name", "grid", "more", "covered"),
    [
        ("xcd_forgotten", (16, 16), {"window": 8, "chunk": 32, "xcds": 8}, 32),
        ("xcd_forgotten", (6, 5), {"window": 4, "xcds": 1}, 26),
        ("super_clamped", (5, 5), {}, 19),
        ("xcd_divided", (2, 2), {}, 1),
    ],
)
def test_wrong_maps_cover_as_little_as_is_known(name, grid, more, covered):
    found = grids.layout(name, *grid, **more)
    assert found.covered == covered < grid[0] * grid[1]
    assert not found.permutation


@pytest.mark.trap("T20")
def test_the_divided_map_is_right_only_where_xcds_divide_the_tiles():
    right = [n for n in range(2, 200) if grids.layout("xcd_divided", 1, n).permutation]
    assert right == [n for n in range(2, 200) if n % 8 == 0]


@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_map_fails_somewhere(name):
    bad, _ = prove(name, [2, 5, 9, 16], 8)
    assert len(bad)


def test_the_example_of_the_post():
    """Figure 8: 3 XCDs, bands of 2 rows, chunks of 4 on a grid of 4 x 6."""
    found = grids.layout("xcd_grouped", 4, 6, xcds=3, window=2, chunk=4)
    mine = found.tiles[np.arange(24) % 3 == 0].tolist()
    assert mine == [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [3, 0], [2, 1], [3, 1]]


def test_the_example_of_the_post_is_in_order_of_the_numbers_of_a_die():
    """The remap alone: XCD x has the numbers x * chunk and following."""
    number = grids.remap_xcd(np.arange(24), Grid(4, 6, 3, 2, 4))
    assert number[0::3].tolist() == [0, 1, 2, 3, 12, 13, 14, 15]
    assert sorted(number.tolist()) == list(range(24))


@pytest.mark.trap("T19")
@pytest.mark.parametrize(
    ("rows", "cols", "chunk", "kept", "chunks"),
    [(16, 16, 8, 32, 32), (16, 16, 6, 0, 40), (16, 17, 8, 30, 32), (5, 7, 8, 0, 0)],
)
def test_rectangles_as_counted_before(rows, cols, chunk, kept, chunks):
    """The post claims a rectangle for every chunk; checklist T19 counts them."""
    found = grids.rectangles(rows, cols, chunk=chunk)
    assert (found.kept, found.chunks) == (kept, chunks)
    assert found.claim == grids.rectangle_claim(rows, cols, chunk=chunk) == (kept == chunks > 0)


def test_the_rectangle_predicate_is_exact():
    verdicts = []
    for rows in range(1, 14):
        for cols in range(1, 14):
            for more in (
                {"xcds": 2, "window": 2, "chunk": 4},
                {"xcds": 3, "window": 3, "chunk": 6},
                {"chunk": 8},
                {"xcds": 2, "window": 4, "chunk": 6},
            ):
                claim = grids.rectangle_claim(rows, cols, **more)
                assert claim == grids.rectangles(rows, cols, **more).claim, (rows, cols, more)
                verdicts.append(claim)
    assert 40 < sum(verdicts) < len(verdicts) - 40


def test_hilbert_goes_from_neighbour_to_neighbour():
    for side in (2, 4, 8, 16, 32):
        tiles = grids.layout("hilbert", side, side).tiles
        assert (np.abs(np.diff(tiles, axis=0)).sum(axis=1) == 1).all()


def test_grouping_reads_less():
    plain, grouped = (grids.layout(name, 16, 17).panels for name in ("row", "xcd_grouped"))
    assert grouped < plain


def test_picture_shows_every_tile():
    found = grids.layout("xcd_grouped", 4, 6, xcds=3, window=2, chunk=4)
    picture = tiles_svg(found)
    assert picture.count('data-times="1"') == 24
    for row in range(4):
        for col in range(6):
            assert f'data-row="{row}" data-col="{col}" data-xcd="{found.xcds[row, col]}"' in picture
    assert tiles_text(found).splitlines()[2:] == ["001122", "001122", "001122", "001122"]
    wrong = tiles_svg(grids.layout("super_clamped", 5, 5))
    assert wrong.count('data-times="0"') == 6
    assert "NOT a permutation: 19 of 25" in wrong


def test_the_picture_of_a_stream_shows_every_step_of_every_tile():
    parts = grids.segments(4, 5, 3)
    picture = steps_svg(parts)
    assert picture.count("data-tile=") == 20
    for part in parts:
        for step in range(part.first, part.last):
            assert f'data-tile="{part.tile}" data-step="{step}" data-workgroup="{part.workgroup}"' in picture
    assert steps_text(parts).splitlines()[1:] == ["00000", "01111", "11122", "22222"]


def test_the_command_divides_k(capsys):
    assert main(["lds", "grid", "--rows", "2", "--cols", "2", "--depth", "5", "--workgroups", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "4 tiles in 6 parts, 4 of which are only a part of their tile's K"
    words = ["lds", "grid", "--rows", "1", "--cols", "1", "--depth", "2", "--workgroups", "2", "--format", "csv"]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["0,0,0,1", "1,0,1,2"]
    assert main(["lds", "grid", "--workgroups", "0"]) == 2
    assert "--workgroups 0: a whole number from 1 to 1,048,576 is expected" in capsys.readouterr().err


def test_command_line(capsys):
    assert main(["lds", "grid", "xcd_grouped", "--rows", "16", "--cols", "17"]) == 0
    assert "30 of 32 chunks are rectangles of 4 rows" in capsys.readouterr().out
    assert main(["lds", "grid", "xcd_divided", "--rows", "2", "--cols", "2", "--format", "csv"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == ["0,0,0,0", "1,1,0,0", "2,2,0,0", "3,3,0,0"]
    assert main(["lds", "grid", "--json"]) == 0
    assert '"map": "hilbert"' in capsys.readouterr().out
    assert main(["lds", "grid", "hilbret"]) == 2
    assert "hilbert" in capsys.readouterr().err
    assert main(["lds", "grid", "row", "--rows", "0"]) == 2
    assert main(["lds", "grid", "row", "--rows", "100000"]) == 2
    assert main(["lds", "grid", "hilbert", "--every", "41"]) == 0
    assert main(["lds", "grid", "chunked_clamped", "--every", "19"]) == 1
    out = capsys.readouterr().out
    assert "a permutation on all 1681 grids" in out
    assert "327 of 361 grids" in out
    assert main(["lds", "grid", "super_clamped", "--every", "3", "--format", "csv"]) == 1
    assert capsys.readouterr().out.startswith("rows,cols\n1,2\n")
    assert main(["lds", "grid", "row", "--every", "65"]) == 2


def test_bad_numbers_are_refused():
    with pytest.raises(MfmasimError, match="window=0"):
        grids.layout("row", 2, 2, window=0)
    with pytest.raises(MfmasimError, match="chunk=-1"):
        grids.rectangle_claim(2, 2, chunk=-1)
