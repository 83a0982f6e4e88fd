"""Codes worked out, the verb `format`, and the picture: all of them say what `decode` says."""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pytest

from mfmasim import MfmasimError, formats
from mfmasim.cli import format as verb
from mfmasim.figures.format_table import COLOURS, field_cells, format_svg, value_cells
from tests.slow import formats as slow

NARROW = [fmt for fmt in formats.FORMATS.values() if fmt.bits <= 8]


@pytest.fixture
def call(capsys):
    parser = argparse.ArgumentParser()
    verb.add(parser.add_subparsers())

    def run(line):
        args = parser.parse_args(line.split())
        assert args.run(args) == 0
        return capsys.readouterr().out

    return run


def evaluate(formula):
    """Value of a formula as printed, by Fractions."""
    left = formula.split(" = ")[0]
    text = re.sub(r"(\d+)/(\d+)", r"Fraction(\1, \2)", left).replace("×", "*").replace("^", "**")
    text = re.sub(r"\b2\*\*\(", "Fraction(2)**(", text)
    return eval(text, {"Fraction": Fraction})


@pytest.mark.parametrize("fmt", [*NARROW, formats.format("f16")], ids=lambda fmt: fmt.name)
def test_the_formula_gives_the_value(fmt):
    worked = 0
    table = formats.value_table(fmt)[:: 1 if fmt.bits <= 8 else 31]
    for found in table:
        number = slow.decode(fmt, found.code)
        if isinstance(number.magnitude, str):
            assert found.kind == number.magnitude
        else:
            value = -number.magnitude if number.negative else number.magnitude
            assert evaluate(found.formula) == value
            assert float(found.formula.split(" = ")[-1]) == float(value)
            worked += 1
        assert found.bits.replace(" ", "") == f"{found.code:0{fmt.bits}b}"
    assert worked >= len(table) * 0.95 > 3


def test_wide_codes_are_worked_out_too():
    assert formats.explain(formats.format("f32"), 0x3FC00000).formula.endswith("= 1.5")
    assert formats.explain(formats.format("f64"), 1).kind == "subnormal"
    assert "13 bits are not read" in formats.explain(formats.format("xf32"), 0x3F800001).formula
    assert formats.explain(formats.format("i4"), 9).value == -7


@pytest.mark.parametrize("fmt", NARROW, ids=lambda fmt: fmt.name)
def test_csv_and_json_hold_every_code(call, fmt):
    rows = list(csv.DictReader(io.StringIO(call(f"format {fmt.name} --format csv"))))
    values = fmt.decode(np.arange(1 << fmt.bits))
    np.testing.assert_array_equal([float(row["value"]) for row in rows], values)
    assert [int(row["hex"], 0) for row in rows] == list(range(1 << fmt.bits))
    again = json.loads(call(f"format {fmt.name} --json"), parse_constant=pytest.fail)
    np.testing.assert_array_equal([float(row["value"]) for row in again], values)


def test_the_terminal_shows_limits_and_the_grid(call):
    text = call("format e4m3fnuz")
    assert "0x80" in text
    assert "CDNA3 ISA manual" in text
    assert text.count("-240") >= 2
    assert "values" not in call("format f32")
    assert len(json.loads(call("format --json"))) == len(formats.FORMATS)


def test_codes_and_numbers(call):
    assert "(-1)^0 × 2^(5 - 8) × (1 + 3/8) = 0.171875" in call("format e4m3fnuz 0x2b 0b11")
    rows = json.loads(call("format fp4 --json --encode 5.0 0.3 --rounding up"))
    assert [row["decoded"] for row in rows] == [6.0, 0.5]
    assert [(row["below"], row["above"]) for row in rows] == [(4.0, 6.0), (0.0, 0.5)]
    assert "nan" in call("format e4m3fn --encode 1e9 --overflow infinity_or_nan")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("format e4m3", "did you mean 'e4m3fn'"),
        ("format fp4 0x1f", "does not fit the 4 bits"),
        ("format fp4 three", "'three' is not a code"),
        ("format fp4 1 --encode 1", "cannot be combined"),
        ("format fp4 --encode 1 --overflow clip", "unknown overflow rule 'clip'"),
        ("format f16 --format svg", "at most 8 bits"),
        ("format --format svg", "the value table of a format"),
    ],
)
def test_bad_lines_are_explained(call, line, text):
    with pytest.raises(MfmasimError, match=text):
        call(line)


@pytest.mark.parametrize("fmt", NARROW, ids=lambda fmt: fmt.name)
def test_the_picture_holds_every_code_once(call, fmt):
    cells = list(value_cells(fmt))
    assert [16 * line + column for line, column, _ in cells] == list(range(1 << fmt.bits))
    assert [bit for bit, _ in field_cells(fmt)] == list(reversed(range(fmt.bits)))
    tree = ET.fromstring(call(f"format {fmt.name} --format svg"))
    drawn = [node for node in tree.iter() if "data-code" in node.attrib]
    assert [int(node.attrib["data-code"]) for node in drawn] == list(range(1 << fmt.bits))
    for node, (_, _, found) in zip(drawn, cells, strict=True):
        fill = next(child.attrib["fill"] for child in node if "fill" in child.attrib)
        assert fill == COLOURS[found.kind]
    assert format_svg(fmt.name) == format_svg(fmt)
