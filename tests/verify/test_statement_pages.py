"""Statements of the published texts, each verdict the known one, and the pages made from them."""

import importlib.util
import re
from collections import Counter
from functools import cache

import pytest

from mfmasim.cli import main
from mfmasim.lab.reports.statements import VERDICTS, Weighed, text_of, weigh
from mfmasim.resources import folder
from mfmasim.verify.texts import sources

DOCS = folder("hipkernels").parent / "docs"
LEAST = {
    "000": {"confirmed": 65, "consistent": 37, "refuted": 2},
    "001": {"confirmed": 35, "refuted": 2},
    "002": {"confirmed": 45, "consistent": 59, "refuted": 11},
    "003": {"confirmed": 37, "consistent": 6, "refuted": 1},
    "004": {"confirmed": 140, "refuted": 3},
}
"""Statements with each verdict, at least; of those that are refuted, exactly."""
SOURCES = {one.number: one for one in sources()}
NUMBERS = [pytest.param(name, marks=() if name == "004" else pytest.mark.long) for name in LEAST]


@cache
def weighed(number):
    return weigh(text_of(SOURCES[number].families[0]))


@cache
def maker():
    spec = importlib.util.spec_from_file_location("make_texts", DOCS / "make_texts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(number):
    return (DOCS / "texts" / f"{SOURCES[number].page}.md").read_text(encoding="utf-8")


def decided(page):
    """A page without what was found for undecided statements, which may differ from compiler to compiler."""
    return re.sub(r"\| [^|]* \| undecided \|", "| - | undecided |", page)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_verdict_is_the_known_one(number):
    lines = weighed(number)
    assert [line.row for line in lines if not line.as_known] == []
    count = Counter(line.verdict for line in lines)
    assert {word: min(count[word], least) for word, least in LEAST[number].items()} == LEAST[number]
    assert count["refuted"] == LEAST[number]["refuted"]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_page_is_what_its_commands_print(number):
    old = stored(number)
    page = maker().page(SOURCES[number], maker().COMPANIONS[number], weighed(number), old)
    assert decided(old) == decided(page), "run python -m docs.make_texts"


@pytest.mark.long
def test_commands_on_a_page_that_take_long():
    run = 0
    for number, companion in maker().COMPANIONS.items():
        commands = [one for part in companion.parts.values() for one in part.commands]
        for command, keep in commands:
            if command.startswith(maker().LONG):
                assert "\n".join(maker().run(command, keep, "")) in stored(number), "run python -m docs.make_texts"
                run += 1
    assert run == 2


def test_every_text_has_its_page_and_its_line_of_the_index():
    assert set(SOURCES) == set(LEAST) == set(maker().COMPANIONS) == set(maker().ORDER)
    assert {path.stem for path in (DOCS / "texts").glob("*.md")} == {one.page for one in sources()}
    index = (DOCS / "statements.md").read_text(encoding="utf-8")
    assert index == maker().index(maker().counts_of_pages()), "run python -m docs.make_texts"
    for one in sources():
        head = stored(one.number).partition("\n## ")[0]
        assert [x for x in (one.title, one.authors, one.date, one.address, one.licence) if f"{x}" not in head] == []
        assert f"texts/{one.page}.md" in index
        assert one.authors in index
    assert [word for word in VERDICTS if f"* **{word}**" not in index] == []


@pytest.mark.parametrize("number", LEAST)
def test_pages_follow_the_headings_of_the_text(number):
    """Every section with statements is there once, in the text's order, with its command, and every row."""
    text = text_of(SOURCES[number].families[0])
    headings = re.findall("^## (.+)$", stored(number), re.MULTILINE)
    places = {one.place for one in text.statements} | set(maker().COMPANIONS[number].parts)
    wanted = [maker().escaped(heading) for heading in text.sections if heading in places]
    assert [heading for heading in headings if heading != "Speed"] == wanted
    assert len(re.findall(r"^\| (?:“| \|)", stored(number), re.MULTILINE)) == len(text.statements)


@pytest.mark.parametrize("number", LEAST)
def test_stored_rows_are_those_of_the_statements(number):
    """Words, claim, figure, known verdict and note; what was found is compared where the statements are judged."""
    lines = [line.split(" | ") for line in stored(number).splitlines() if line.startswith(("| “", "|  |"))]
    found = {(tuple(cells[:3]), *cells[-2:]) for cells in (["".join(cells[:1]), *cells[1:]] for cells in lines)}
    left = []
    for one in text_of(SOURCES[number].families[0]).statements:
        (line,) = [row for row in maker().table([Weighed(one, one.said)]) if row.startswith(("| “", "|  |"))]
        cells = line.split(" | ")
        if (tuple(cells[:3]), one.known, cells[-1]) not in found:
            left.append((tuple(cells[:3]), one.known, cells[-1]))
    assert left == [], "run python -m docs.make_texts"


def test_verdicts_of_a_refuted_sentence_say_what_would_be_right():
    refuted = [one for of in sources() for one in text_of(of.families[0]).statements if one.known == "refuted"]
    assert len(refuted) == sum(least["refuted"] for least in LEAST.values())
    assert [one.text for one in refuted if not one.words or len(one.about) < 20] == []


def test_sections_are_chosen_by_a_part_of_their_heading(capsys):
    assert main(["report", "text:004", "--claims", "--section", "compiler intrinsics"]) == 0
    out = capsys.readouterr().out
    assert "Amanzhol Salykov" in out
    assert out.splitlines()[-1] == "3 confirmed, 0 refuted, 0 undecided"
    assert main(["report", "text:004", "--claims", "--section", "compilers"]) == 2
    assert "section with statements" in capsys.readouterr().err
    assert main(["report", "intro", "--section", "compilers"]) == 2
    assert "--claims" in capsys.readouterr().err
    assert main(["verify", "text:005"]) == 2
    assert "text:004" in capsys.readouterr().err
