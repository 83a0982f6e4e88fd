"""What pictures say: no text leaves its picture, colours have a legend, values are exact."""

import re
from fractions import Fraction
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import mfmasim
from mfmasim import lds
from mfmasim.cli import main
from mfmasim.figures.format_table import format_svg
from mfmasim.figures.fragment import VIEWS, fragment_svg
from mfmasim.figures.lds import punch_card_svg
from mfmasim.figures.svg import text_width
from mfmasim.formats import FORMATS
from mfmasim.formats.explain import exact_text

OPERANDS = [
    ("gfx942", "v_mfma_f32_4x4x4_16b_f16", "A"),
    ("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", "scale_A"),
    ("gfx1151", "v_wmma_f32_16x16x16_f16", "D"),
    ("gfx942", "v_smfmac_f32_16x16x32_f16", "index"),
]


def texts(picture):
    """Right edge and content of every text that is not inside a cell, and the picture's width."""
    root = ET.fromstring(picture)
    found = []

    def walk(node, left):
        if move := re.match(r"translate\(([\d.]+),", node.get("transform", "")):
            left += float(move[1])
        for child in node:
            if child.tag.endswith("}text") and child.get("text-anchor") is None:
                right = left + float(child.get("x")) + text_width(child.text or "", child.get("class", ""))
                found.append((right, child.text))
            walk(child, left)

    walk(root, 0.0)
    return found, float(root.get("width"))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("arch", "name", "operand"), OPERANDS)
def test_no_text_leaves_a_fragment(arch, name, operand, view):
    found, width = texts(fragment_svg(mfmasim.instruction(arch, name).operands[operand], view))
    assert len(found) >= 5
    assert [text for right, text in found if right > width] == []
    assert "paler: odd registers" in [text for _, text in found]


@pytest.mark.parametrize(("stride", "passes"), [(4, 1), (128, 8)])
def test_punch_cards_have_a_legend(stride, passes):
    found, width = texts(punch_card_svg(lds.conflicts("gfx942", "ds_read_b32", np.arange(64) * stride)))
    said = [text for _, text in found]
    assert sum(text.startswith("pass ") for text in said) == passes
    assert [text for right, text in found if right > width] == []


@pytest.mark.parametrize("name", [name for name, fmt in FORMATS.items() if fmt.bits <= 8])
def test_values_are_exact(name):
    fmt = FORMATS[name]
    labels = re.findall(r'data-code="(\d+)" data-kind="(\w+)">.*?class="small"[^>]*>([^<]+)<', format_svg(fmt))
    assert len(labels) == 1 << fmt.bits
    for code, kind, label in labels:
        if kind not in ("nan", "inf"):
            factor, _, power = label.replace("2^", "×2^" if "×" not in label else "2^").partition("×2^")
            sign = -1 if label.startswith("-") else 1
            digits = factor.strip("-") or "1"
            value = sign * Fraction(digits) * (Fraction(2) ** int(power) if power else 1)
            assert value == Fraction(float(fmt.decode([int(code)])[0])), label


def test_a_page_of_a_format(capsys):
    assert main(["show", "e2m1fn", "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert format_svg("e2m1fn") in page
    assert "<tr><th>largest</th><td>6.0</td></tr>" in page


def test_exact_text_of_a_sum():
    assert exact_text(-0.1, 30) == "-3602879701896397×2^-55"
