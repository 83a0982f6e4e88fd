"""Pictures of LDS: the data that are drawn, and that the drawing holds all of them."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from mfmasim import lds
from mfmasim.errors import MfmasimError
from mfmasim.figures import lds as pictures

LANE = np.arange(64)
UNSWIZZLED = LANE % 16 * 128 + LANE // 16 * 16
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def found():
    return lds.conflicts("gfx950", "ds_read_b128", UNSWIZZLED)


def test_punches_are_all_lanes_and_banks(found):
    held = pictures.punches(found)
    assert len(held) == 64 * 4
    for punch in held:
        byte = int(UNSWIZZLED[punch.lane])
        assert byte // 4 <= punch.dword < byte // 4 + 4
        assert punch.bank == punch.dword % 64
    for number, phase in enumerate(found.phases):
        mine = [punch for punch in held if punch.phase == number]
        assert {punch.lane for punch in mine} == set(phase.lanes)
        assert max(punch.order for punch in mine) + 1 == phase.degree


def test_punch_card_draws_each_punch(found):
    root = ET.fromstring(pictures.punch_card_svg(found))
    cells = [group for group in root.iter(f"{SVG}g") if "data-lane" in group.attrib]
    drawn = sorted((int(cell.get("data-lane")), int(cell.get("data-bank"))) for cell in cells)
    assert drawn == sorted((punch.lane, punch.bank) for punch in pictures.punches(found))
    assert "12 extra passes" in ET.tostring(root, "unicode")
    assert found._repr_svg_() == pictures.punch_card_svg(found)
    assert pictures.punch_card_html(found).startswith("<!doctype html>")


def test_punch_card_on_the_terminal(found):
    lines = pictures.punch_card_text(found).splitlines()
    assert len(lines) == 5
    card = lines[1].split("|")[1]
    assert card == "4" * 8 + "." * 24 + "4" * 8 + "." * 24
    assert lines[1].endswith("lanes 0-3,12-15,20-27")


def test_more_than_nine_of_one_bank():
    text = pictures.punch_card_text(lds.conflicts("gfx942", "ds_read_b32", LANE * 128))
    assert "|+..." in text


def test_a_batch_shows_its_first():
    batch = lds.conflicts("gfx950", "ds_read_b128", np.stack([UNSWIZZLED, UNSWIZZLED + 16]))
    assert batch._repr_svg_() == batch[0]._repr_svg_()
    with pytest.raises(MfmasimError, match="batch"):
        pictures.punches(batch)


@pytest.mark.parametrize("name", ["cdna4_gemm", "ck_tile_32x64", "wmma_ops_padding"])
def test_tile_cells_are_places_of_the_swizzle(name):
    swizzle = lds.swizzle(name)
    cells = pictures.tile_cells(swizzle, 32, 16)
    assert len(cells) == swizzle.rows * swizzle.row_bytes // 16
    assert len({(cell.line, cell.bank) for cell in cells}) == len(cells)
    for cell in cells:
        assert cell.line * 128 + cell.bank * 4 == int(swizzle.place(cell.row, cell.column))
    root = ET.fromstring(pictures.swizzle_svg(swizzle, before=lds.linear(swizzle.rows, swizzle.row_bytes)))
    assert len([group for group in root.iter(f"{SVG}g") if "data-row" in group.attrib]) == 2 * len(cells)


@pytest.mark.parametrize("rows", [16, 64])
def test_two_tiles_fit_on_a_screen(rows):
    root = ET.fromstring(pictures.swizzle_svg(lds.row_xor(rows, 256), 64, before=lds.linear(rows, 256)))
    said = [text.text for text in root.iter(f"{SVG}text")]
    assert float(root.get("width")) < 1280
    assert "bytes 0..15" in said
    assert "bytes 112..127 of the row and every 128 bytes on" in said


def test_a_page_of_a_tile():
    assert pictures.swizzle_html(lds.swizzle("row_and_7")).startswith("<!doctype html>")


def test_torn_chunks_are_refused():
    with pytest.raises(MfmasimError, match="keep blocks of 16 bytes"):
        pictures.tile_cells(lds.row_xor(16, 128, chunk=8))
    assert "<svg" in lds.row_xor(16, 128, chunk=8)._repr_svg_()
