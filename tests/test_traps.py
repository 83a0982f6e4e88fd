"""docs/traps.md: every trap has one row, and one test that is marked with its number, or a decision."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "traps.md").read_text()
LETTERS = {14: "bc", 21: "abcd", 44: "bc"}
"""Traps of several parts; 14 and 44 have a part without a letter."""
NUMBERS = [f"T{n}{letter}" for n in range(1, 54) for letter in ([""] if n != 21 else []) + list(LETTERS.get(n, ""))]
ROW = re.compile(r"^\| (T\w+) \| ([^|]+) \| (?:`(tests/[\w/]+\.py)` (test_\w+)|decision: ([^|]+)) \|$", re.MULTILINE)


def marked():
    """Number, file and test of every mark."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text()
        if "mark.trap(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            for mark in getattr(node, "decorator_list", ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.trap":
                    for number in mark.args:
                        yield number.value, path.relative_to(ROOT).as_posix(), node.name


def test_every_trap_has_its_row():
    rows = ROW.findall(PAGE)
    assert [row[0] for row in rows] == NUMBERS
    assert PAGE.count("\n| T") == len(rows), "a row that cannot be read"
    assert len({n for number in NUMBERS for n in re.findall(r"\d+", number)}) == 53


def test_every_trap_has_one_test_or_a_decision():
    rows = ROW.findall(PAGE)
    listed = [(number, path, test) for number, _, path, test, _ in rows if test]
    assert sorted(listed) == sorted(marked())
    decided = [number for number, *_, decision in rows if decision]
    assert decided == ["T5", "T6", "T14c", "T21d"], "what a test can show needs no decision"
