"""Statements of the texts about gemm_fp8, its schedules, casts and Matrix Cores, and the sections made from them."""

import importlib.util
import re
from collections import Counter
from functools import cache

import pytest

from mfmasim.lab.reports.statements import text_of, weigh
from mfmasim.resources import folder
from tests.oracles import SHARED, SHARED_HOW, require
from tests.verify.test_statements import decided

DOCS = folder("hipkernels").parent / "docs"
LEAST = {"gemm_fp8": (66, 2), "gemm_fp8/scheduled": (25, 4), "cast": (43, 2), "intro": (115, 3)}
"""Statements that are confirmed, at least, and those that are refuted."""
TEXTS = {"gemm_fp8": "000", "gemm_fp8/scheduled": "001", "wmma": "002", "cast": "003", "intro": "004"}
"""Start of the name of each family's text."""
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
    assert count["confirmed"] >= LEAST[family][0]
    assert count["refuted"] == LEAST[family][1]
    assert all(line.statement.about for line in lines if line.verdict != "confirmed")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_page_is_what_its_commands_print(family, maker):
    (spec,) = [page for page in maker.SECTIONS if page.family == family]
    page = maker.page(spec, weighed(family))
    assert decided(maker.section(spec.title)) == decided(page), "run python -m docs.make_statements"


def test_every_text_has_its_page(maker):
    assert {page.family for page in maker.SECTIONS} == set(LEAST)
    titles = re.findall("^## (.+)$", (DOCS / "statements.md").read_text(), re.MULTILINE)
    assert titles == ["wmma_ops", *(page.title for page in maker.SECTIONS)]


@pytest.mark.oracle
@pytest.mark.parametrize("family", TEXTS)
def test_quoted_words_stand_in_the_text(family):
    texts = list((SHARED / "seeds").glob(f"{TEXTS[family]}_*.txt"))
    require("the published texts", texts, SHARED_HOW)
    (text,) = [" ".join(path.read_text(encoding="utf-8").split()) for path in texts]
    quoted = [one for one in text_of(family).statements if one.words]
    assert [(one.place, one.words) for one in quoted if " ".join(one.words.split()) not in text] == []
    assert len(quoted) >= 30
