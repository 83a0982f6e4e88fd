"""Statements of the texts about gemm_fp8, its schedules, casts and Matrix Cores, and the pages made from them."""

import importlib.util
from collections import Counter
from functools import cache

import pytest

from mfmasim.lab.reports.statements import text_of, weigh
from mfmasim.resources import folder

DOCS = folder("hipkernels").parent / "docs"
LEAST = {"gemm_fp8": (50, 3), "gemm_fp8/scheduled": (18, 7), "cast": (20, 5), "intro": (55, 7)}
"""Statements that are confirmed and refuted, at least."""
FAMILIES = [pytest.param(name, marks=() if name == "intro" else pytest.mark.long) for name in LEAST]


@cache
def weighed(family):
    return weigh(text_of(family))


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("make_statements", DOCS / "make_statements.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("family", FAMILIES)
def test_every_verdict_is_the_known_one(family):
    lines = weighed(family)
    assert [line.row for line in lines if not line.as_known] == []
    count = Counter(line.verdict for line in lines)
    assert (count["confirmed"], count["refuted"]) >= LEAST[family]
    assert all(line.statement.about for line in lines if line.verdict != "confirmed")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_page_is_what_its_commands_print(family, maker):
    (spec,) = [page for page in maker.PAGES if page.family == family]
    assert (DOCS / spec.file).read_text() == maker.page(spec, weighed(family)), "run docs/make_statements.py"


def test_every_text_has_its_page(maker):
    assert {page.family for page in maker.PAGES} == set(LEAST)
    assert all((DOCS / page.file).is_file() for page in maker.PAGES)
