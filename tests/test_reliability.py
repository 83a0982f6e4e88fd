"""docs/reliability.md: every test that it names exists, and its tables are those of the code."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reliability.md"


def test_every_named_test_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE.read_text())
    assert len(set(named)) >= 35
    for file, name in named:
        tree = ast.parse((ROOT / file).read_text())
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, (file, name)


def test_every_promise_names_a_test():
    rows = re.findall(r"^\| \*\*.*$", PAGE.read_text(), re.MULTILINE)
    assert len(rows) >= 14
    assert all("::test_" in row for row in rows)


@pytest.mark.parametrize(("page", "rows"), [("reliability", 60), ("scaling", 18)])
def test_the_tables_are_those_of_the_code(page, rows):
    spec = importlib.util.spec_from_file_location(f"make_{page}", ROOT / "docs" / f"make_{page}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), f"run python -m docs.make_{page}"
    assert module.PAGE.read_text().count("\n| ") > rows
