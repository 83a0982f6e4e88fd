"""Every number and every listing of the published texts is judged, or is named as what is not a claim.

What `extract.py` took from the texts is in the repository; where the texts are at hand, it is compared with them.
"""

import csv
import re

import pytest

from mfmasim.lab.reports.statements import text_of
from mfmasim.resources import folder
from mfmasim.verify.texts import sources
from tests.oracles import SHARED, SHARED_HOW, require
from tests.seeds import extract

TEXTS = [one.number for one in sources()]
FAMILY = {one.number: one.families[0] for one in sources()}


def rows(name):
    with (extract.FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def excused(number):
    """Sections and numbers that are no claims; * stands for all numbers of a section."""
    return {
        (row["section"], token)
        for row in rows("not_claims")
        if row["text"] == number
        for token in row["numbers"].split()
    }


@pytest.mark.parametrize("number", TEXTS)
def test_every_number_is_judged_or_named_as_no_claim(number):
    text = text_of(FAMILY[number])
    judged = {(one.place, token) for one in text.statements for token in extract.NUMBER.findall(one.words)}
    named, found = excused(number), [(row["section"], row["number"]) for row in rows(number)]
    left = [key for key in found if key not in judged | named and (key[0], "*") not in named]
    assert left == []
    assert len(found) >= 50
    # What is named and not there would hide a number of another edition.
    assert {key for key in named if key[1] != "*"} <= set(found)
    assert {section for section, _ in named} <= {extract.OPENING, *text.sections}


@pytest.mark.parametrize("number", TEXTS)
def test_most_numbers_are_judged(number):
    """The list of what is no claim does not swallow a text."""
    text = text_of(FAMILY[number])
    judged = {(one.place, token) for one in text.statements for token in extract.NUMBER.findall(one.words)}
    found = {(row["section"], row["number"]) for row in rows(number)}
    assert len(judged & found) >= 0.6 * len(found)


def test_every_listing_is_judged():
    """By a row whose words stand in it, or by a test that cuts it out."""
    found = rows("listings")
    assert [(row["text"], row["name"]) for row in found] == [(text, name) for text, name, *_ in extract.LISTINGS]
    root = folder("hipkernels").parent
    for row in found:
        claims = {one.text for one in text_of(FAMILY[row["text"]]).statements if one.place == row["section"]}
        judge = row["judged"]
        assert judge in claims or (root / judge).is_file() or judge == "commands of a profiler", row
    assert sum(row["judged"].endswith(".py") for row in found) <= 15


@pytest.mark.oracle
@pytest.mark.parametrize("number", TEXTS)
def test_what_is_extracted_is_in_the_text(number):
    require("the published texts", list((SHARED / "seeds").glob(f"{number}_*.txt")), SHARED_HOW)
    found = {(row["section"], row["number"]): int(row["count"]) for row in rows(number)}
    assert found == extract.numbers(number), "run python -m tests.seeds.extract"
    assert [tuple(row.values()) for row in rows("listings") if row["text"] == number] == extract.hashed(number)


CODE = re.compile(r"^\s*(#\w+ |//|__\w+__ )|[;{]\s*(//.*)?$")
"""A line of code, by its beginning or its end."""


@pytest.mark.oracle
@pytest.mark.parametrize("number", TEXTS)
def test_no_line_of_code_is_outside_the_listings(number):
    require("the published texts", list((SHARED / "seeds").glob(f"{number}_*.txt")), SHARED_HOW)
    lines = extract.sections(number)
    inside = {n for _, _, places in extract.listings(number) for n in places}
    words = " ".join(extract.flat(one.words) for one in text_of(FAMILY[number]).statements)
    left = [
        line
        for n, (section, line) in enumerate(lines)
        if n not in inside and CODE.search(line) and (section, "*") not in excused(number)
    ]
    assert [line for line in left if extract.flat(line) not in words and line.strip("/. ")] == []


@pytest.mark.oracle
@pytest.mark.parametrize("number", TEXTS)
def test_quoted_words_stand_below_the_heading_that_is_named(number):
    require("the published texts", list((SHARED / "seeds").glob(f"{number}_*.txt")), SHARED_HOW)
    text, below = text_of(FAMILY[number]), {}
    for section, line in extract.sections(number):
        below[section] = f"{below.get(section, '')} {line}"
    plain = {section: extract.flat(lines) for section, lines in below.items()}
    quoted = [one for one in text.statements if one.words]
    wrong = [(one.place, one.words) for one in quoted if extract.flat(one.words) not in plain[one.place]]
    assert wrong == []
    assert len(quoted) >= 30
