"""The data behind the picture of a fragment, and the picture's form."""

import xml.etree.ElementTree as ET

import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.figures.fragment import fragment_html, fragment_svg, matrix_cells, register_cells

CASES = [
    ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8", {}, "A"),
    ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8", {}, "D"),
    ("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", {"b": "fp6"}, "B"),
    ("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", {}, "scale_B"),
    ("gfx90a", "v_mfma_f64_4x4x4f64", {}, "D"),
    ("gfx942", "v_smfmac_i32_16x16x64_i8", {}, "index"),
    ("gfx1100", "v_wmma_f16_16x16x16_f16", {"wave": 64}, "A"),
    ("gfx1200", "v_wmma_i32_16x16x16_iu4", {"wave": 64}, "B"),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[3]}")
def fragment(request):
    arch, name, formats, operand = request.param
    return mfmasim.instruction(arch, name, **formats).operands[operand]


def test_every_element_has_one_cell_in_the_matrix_and_one_per_copy_in_the_registers(fragment):
    places = {}
    for cell in matrix_cells(fragment):
        for number, element in enumerate(cell.elements):
            assert element not in places
            places[element] = [(lane, cell.vgpr, cell.low + number * fragment.width) for lane in cell.lanes]
    assert len(places) == fragment.blocks * fragment.rows * fragment.cols
    for element, found in places.items():
        assert found == fragment.locate(*element)
    count = 0
    for cell in register_cells(fragment):
        assert len(cell.lanes) == 1
        assert cell.high - cell.low + 1 == len(cell.elements) * fragment.width
        for number, element in enumerate(cell.elements):
            bit = cell.low + number * fragment.width
            assert (cell.lanes[0], cell.vgpr, bit) in fragment.locate(*element)
            count += 1
    assert count == len(fragment.table())


def test_picture_is_self_contained_and_names_everything(fragment):
    text = fragment_svg(fragment)
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    boxes = [group for group in root.iter(f"{space}g") if "data-lane" in group.attrib]
    assert len(boxes) == len(matrix_cells(fragment)) + len(register_cells(fragment))
    titles = [box.find(f"{space}title").text for box in boxes]
    assert all(title.startswith(f"{fragment.name}[") for title in titles)
    assert fragment.layout.formula in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert fragment._repr_svg_() == text
    assert text in fragment._repr_html_()
    width, height = float(root.get("width")), float(root.get("height"))
    for shape in root.iter(f"{space}rect"):
        if "x" in shape.attrib:
            assert float(shape.get("x")) + float(shape.get("width")) <= width
            assert float(shape.get("y")) + float(shape.get("height")) <= height


def test_words_of_a_cell():
    op = mfmasim.instruction("gfx950", "v_mfma_f32_16x16x128_f8f6f4", a="fp6", b="fp4")
    first, second = register_cells(op.A)[:2]
    assert (first.place, first.name("A", blocks=False)) == ("L0 v[0:1][35:0]", "A[0, 0..5]")
    assert (second.place, second.name("A", blocks=False)) == ("L0 v[1:2][33:4]", "A[0, 6..10]")
    blocks = mfmasim.instruction("gfx942", "v_mfma_f32_4x4x4_16b_f16")
    assert register_cells(blocks.B)[0].name("B", blocks=True) == "B[0, 0..1, 0]"
    double = mfmasim.instruction("gfx942", "v_mfma_f64_16x16x4_f64")
    assert matrix_cells(double.D)[5].place == "L5 v[0:1]"


def test_an_instruction_draws_a_table_of_itself():
    op = mfmasim.instruction("gfx1200", "v_swmmac_f32_16x16x32_fp8_bf8")
    root = ET.fromstring(op._repr_html_())
    rows = {row.find("th").text: row.find("td").text for row in root.iter("tr")}
    assert rows["A"] == "e4m3fn"
    assert rows["A registers"] == "16x16 e4m3fn in 2 VGPRs"
    assert rows["C registers"] == "16x16 f32 in 8 VGPRs (the registers of D)"
    assert rows["index sets in the register"] == "2"


def test_a_place_can_be_marked_and_a_page_holds_the_picture():
    fragment = mfmasim.instruction("gfx1100", "v_wmma_f32_16x16x16_f16").A
    plain, marked = fragment_svg(fragment), fragment_svg(fragment, mark=(17, 2))
    assert plain.count("#ff595e") == 0
    assert marked.count("#ff595e") == 2  # the row of the matrix that has a copy in lane 17, and the register
    page = fragment_html(fragment, view="matrix")
    assert page.startswith("<!doctype html>")
    assert "onmouseenter" in page
    with pytest.raises(MfmasimError, match="unknown view 'circle'"):
        fragment_svg(fragment, view="circle")
