"""Plots of pages are what docs/make_plots.py draws from the tables of the same pages."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs.make_plots import PICTURES, PLOTS, bars, number, table

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize("name", PLOTS)
def test_plots_show_what_the_tables_have(name):
    assert (PICTURES / name).read_text() == PLOTS[name](), "run python -m docs.make_plots"
    assert any(f"(pictures/{name})" in page.read_text() for page in DOCS.glob("*.md"))


def test_a_bar_is_as_long_as_its_number():
    """Widths of bars and texts beside them, without and with a logarithmic axis."""
    rows = [("a", [10.0, 100.0]), ("b", [None, 1000.0])]
    for log, lengths in ((False, [2.9, 29.0, 290.0]), (True, [1.0, 145.0, 290.0])):
        root = ET.fromstring(bars("T", "below", rows, ("one", "two"), unit=" s", log=log))
        cells = [node for node in root.iter() if node.get("class") == "cell" and node.get("width") != "14"]
        assert [float(node.get("width")) for node in cells] == lengths
        texts = [node.text for node in root.iter() if node.tag.endswith("}text")]
        assert [text for text in texts if text.endswith(" s")] == ["10 s", "100 s", "1000 s"]


def test_tables_are_found_by_their_heads():
    assert table("attention.md", "| gfx942 | gfx950 |", after="What bounds the main loop is the softmax")[0] == {
        "": "vector unit",
        "gfx942": "4,649",
        "gfx950": "2,626",
    }
    assert number("12 MB") == 12.0
    assert number("–") is None
    with pytest.raises(ValueError, match="substring not found"):
        table("attention.md", "no such head")
