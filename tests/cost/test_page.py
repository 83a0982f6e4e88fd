"""docs/cost.md is what docs/make_cost.py computes."""

import importlib.util
import re

import pytest

from mfmasim.resources import folder


@pytest.fixture(scope="module")
def maker():
    path = folder("hipkernels").parent / "docs" / "make_cost.py"
    spec = importlib.util.spec_from_file_location("make_cost", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures(table):
    """Numbers of a Markdown table, row by row."""
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    return [[float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.?\d*", row)] for row in rows]


def near(found, stated):
    """Whether figures agree but for what another compiler changes."""
    return len(found) == len(stated) and all(
        len(a) == len(b) and all(abs(x - y) <= 0.25 * max(abs(x), abs(y), 4) for x, y in zip(a, b, strict=True))
        for a, b in zip(found, stated, strict=True)
    )


def test_tables_of_rows_are_on_the_page(maker):
    page = maker.PAGE.read_text()
    assert maker.peaks_table() in page
    assert maker.rates_table() in page
    for block in re.split(r"@[A-Z0-9]+@", maker.TEXT):
        assert block.strip() in page


def test_captures_are_on_the_page(maker):
    page = maker.PAGE.read_text()
    assert maker.captures_table() in page
    assert maker.counters_table() in page
    assert f"counted here are equal: {maker.equal_counters()}." in page
    assert maker.PICTURE.read_text() == maker.captures_picture()


@pytest.mark.long
def test_rows_without_captures_are_on_the_page(maker):
    assert maker.left_out_table() in maker.PAGE.read_text()


def test_peaks_of_rows_are_the_published_ones(maker):
    pairs = [re.findall(r"\| ([\d,.]+) (?=\|)", row) for row in maker.peaks_table().splitlines()[2:]]
    assert len(pairs) == len(maker.PEAKS) > 0
    assert [own for own, _ in pairs] == [published for _, published in pairs]


def test_reads_of_the_lds_are_on_the_page(maker):
    table = maker.lds_table()
    stated = maker.PAGE.read_text().partition("| stride in bytes")[2].partition("\n\n")[0]
    assert near(figures(table), figures("| stride in bytes" + stated))


@pytest.mark.long
@pytest.mark.parametrize("number", [0, 1])
def test_ladders_are_on_the_page(maker, number):
    tables = maker.PAGE.read_text().split("| published | kernel here")[1:]
    stated = "| published | kernel here" + tables[number].partition("\n\nRank")[0]
    found = maker.ladder_table(maker.LADDERS[number])
    assert near(figures(found), figures(stated)), "python -m docs.make_cost"
    assert re.search(r"(\d+) of \1 bounds are below", found)
    assert float(re.search(r"published: (0\.\d+);", found)[1]) > (0.85, 0.5)[number]


@pytest.mark.long
def test_schedules_are_on_the_page(maker):
    stated = "| schedule" + maker.PAGE.read_text().partition("| schedule")[2].partition("\n\n")[0]
    found = maker.schedules_table()
    assert near([row[:5] for row in figures(found)], [row[:5] for row in figures(stated)]), "python -m docs.make_cost"
