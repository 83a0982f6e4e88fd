"""Ids of findings: one table, used by everything that makes findings, and the page made from it."""

import ast
import importlib.util
import json
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from mfmasim.cli import main
from mfmasim.devices.kinds import STOPS
from mfmasim.errors import MfmasimError
from mfmasim.observe import SEVERITIES, Finding
from mfmasim.observe.finding import PLACES
from mfmasim.observe.registry import CHECKS
from mfmasim.verify.kinds import KINDS, kind

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mfmasim"


@cache
def trees():
    """The package's modules by path, without its tables."""
    return {path: ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py") if "tables" not in path.parts}


def literals(node):
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def test_rows():
    checks = [row.check for row in KINDS.values()]
    for row in KINDS.values():
        assert row.id.startswith(f"{row.check}-")
        assert row.severity in SEVERITIES
        assert row.place in PLACES
        assert all((row.title, row.about, row.example, row.fix))
    assert len({row.title for row in KINDS.values()}) == len(KINDS)
    assert sum(a != b for a, b in pairwise(checks)) + 1 == len(set(checks)), "ordered by check"
    for name, check in CHECKS.items():
        assert name == check.name
        assert check.about
        assert {row.check for row in check.kinds} == {name}
    assert all(row is KINDS[row.id] and row.check == check for check, row in STOPS.items())


def test_every_finding_made_anywhere_names_its_kind():
    """Each call of Finding gives an id of the table, the id of a kind, or a variable that its helpers fill from it."""
    made, used, constants = 0, {row.id for row in STOPS.values()}, []
    for path, tree in trees().items():
        words = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        defined = {
            node.value.args[0].value: node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and getattr(getattr(node.value, "func", None), "id", "") == "Kind"
        }
        constants += defined.items()
        if path.name != "kinds.py":
            used |= {word for word in words if word in KINDS} - set(defined)
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"):
                continue
            made += 1
            given = next((k.value for k in node.keywords if k.arg == "id"), None) or (node.args[3:4] or [None])[0]
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            assert given is not None, f"{where}: a finding without an id"
            assert literals(given) <= set(KINDS) | {""}, where
    uses = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
    used |= {row for row, name in constants if uses[name] > 1}  # the tuple of kinds is one use
    assert made >= 15
    assert used == set(KINDS), "a kind that nothing makes"


def test_every_stop_of_the_machine_has_a_kind():
    checks = set()
    for path, tree in trees().items():
        if "machine" in path.parts:
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "stop":
                    checks |= {a.value for a in node.args[:1] if isinstance(a, ast.Constant) and a.value}
    assert {c for c in checks if isinstance(c, str)} == set(STOPS)


NOT_NAMED = {
    "alignment-atomic", "alignment-scalar", "bounds-gds", "numerics-denormal", "numerics-not-finite",
    "uninitialised-atomic",
}  # fmt: skip
"""Kinds that tests find by a word of their message or a part of the id."""
NO_MUTANTS = {"atomics", "conflicts", "numerics", "operands", "partitions", "registers", "replays", "spills", "strides"}
"""Checks that report speed, ranges, warnings or what only assembly can do: tests of their own have the kernels."""


def test_every_check_has_a_test_and_a_mutant():
    """Of each kind the id stands in a test or in a table of what mutants must report; of each check in a mutant."""
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__))
    mutants = "".join(path.read_text() for path in (ROOT / "hipkernels").rglob("mutants.py"))
    reported = "".join(path.read_text() for path in (ROOT / "hipkernels").rglob("reported.json"))
    ids = {row.id for check in CHECKS.values() for row in check.kinds}
    assert {each for each in ids if f'"{each}"' not in tests + reported} == NOT_NAMED
    assert {name for name in CHECKS if f'"{name}"' not in mutants and f'"{name}-' not in mutants} == NO_MUTANTS
    assert len(ids) > 40


def test_no_kind_has_a_placeholder():
    """The texts of the example in docs/adding.md explain nothing."""
    words = [(row.id, text) for row in KINDS.values() for text in (row.title, row.about, row.example, row.fix)]
    assert [each for each in words if each[1] in {"what", "an example", "the fix"} or len(each[1]) < 8] == []
    assert all(f'"{text}"' in (ROOT / "docs" / "adding.md").read_text() for text in ("what", "an example", "the fix"))


def test_a_finding_without_an_id_has_the_name_of_its_check():
    assert Finding("own", "info", "text").record()["id"] == "own"


def test_the_page_is_made_from_the_table():
    spec = importlib.util.spec_from_file_location("make_findings", ROOT / "docs" / "make_findings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run python -m docs.make_findings"


def test_the_page_of_cases_names_every_check_that_runs_by_default():
    table = (ROOT / "docs" / "case-reference.md").read_text().partition("| check | finds |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines() for name in row.strip("|").partition("|")[0].strip().split(", ")}
    missing = {name for name, check in CHECKS.items() if check.default} - named
    assert not missing, f"the table of checks in docs/case-reference.md lacks {missing}"


def test_explain(capsys):
    assert main(["explain", "waits-read-in-flight"]) == 0
    row = kind("waits-read-in-flight")
    text = capsys.readouterr().out
    assert all(part in text for part in (row.title, row.about, row.example, row.fix))
    assert main(["explain", "races"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [n for n in KINDS if "races-" in n]
    assert main(["explain", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == list(KINDS)
    assert main(["explain", "waits-read-in-fligt"]) == 2
    assert "did you mean 'waits-read-in-flight'" in capsys.readouterr().err


def test_an_unknown_id_is_refused():
    with pytest.raises(MfmasimError, match="did you mean 'bounds-lds'"):
        kind("bounds-ldss")
