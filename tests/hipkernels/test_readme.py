"""hipkernels/README.md: what it names exists, and its commands print what stands there."""

import re
import shlex

import pytest

from mfmasim.cli import main
from mfmasim.resources import folder
from mfmasim.verify import families, find, select

ROOT = folder("hipkernels")
PAGES = {page: page.read_text() for page in (ROOT / "README.md", ROOT / "conformance" / "README.md")}
RUNS = re.findall(r"^\$ mfmasim verify (.+)\n(.+)$", PAGES[ROOT / "README.md"], re.MULTILINE)


def rows(text):
    """The first cells of every row of a page's tables, without their heads."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `"):
            yield cells


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_family_and_file_that_the_tables_name_exists(page):
    named = list(rows(PAGES[page]))
    assert len(named) >= 7
    for name, *more in named:
        (start,) = re.findall(r"`(.+?)`", name)
        assert (page.parent / start).is_dir(), start
        for file in re.findall(r"`([\w/]+\.(?:hip|h|py|json))`", " ".join(more)):
            assert (page.parent / file).is_file() or (page.parent / start / file).is_file(), file


def test_the_two_pages_name_every_family():
    listed = {re.findall(r"`(.+?)`", name)[0] for text in PAGES.values() for name, *_ in rows(text)}
    assert {name.partition("/")[0] for name in families()} <= listed


@pytest.mark.parametrize(("command", "line"), RUNS, ids=[command.split()[0] for command, _ in RUNS])
def test_every_command_of_the_ladder_selects_as_many_cases_as_it_says(command, line):
    family, _, arch, *case = shlex.split(command)
    runs = [run for _, cases in find(family) for run in select(cases, arch, case[1] if case else None)]
    assert line.startswith(f"{len(runs)} pass; ")


@pytest.mark.parametrize(
    ("command", "line"),
    [pytest.param(*run, id=run[0].split()[0], marks=() if not n else pytest.mark.long) for n, run in enumerate(RUNS)],
)
def test_the_commands_print_what_the_page_says(command, line, capsys):
    assert main(["verify", *shlex.split(command)]) == 0
    assert line in capsys.readouterr().out
