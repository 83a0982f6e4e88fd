"""docs/first-kernel.md: its kernel, its case and its mistake give what the page shows."""

import re

import pytest

from docs.website.build import ROOT
from mfmasim.cli import main

TEXT = (ROOT / "docs" / "first-kernel.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with the files of the page."""
    for language, body in BLOCKS:
        if language in {"cpp", "python"}:
            (tmp_path / body.split()[1]).write_text(body)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(text):
    """The lines of the output on the page that contains a text."""
    (block,) = (body for language, body in BLOCKS if not language and text in body)
    return [line.strip() for line in block.splitlines()]


@pytest.mark.long
def test_the_page_is_what_happens(project, capsys):
    assert sorted(path.name for path in project.iterdir()) == ["tile.hip", "tile_case.py"]
    assert main(["verify", "tile_case.py"]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines()][:3] == printed("2 pass")

    kernel = project / "tile.hip"
    right, wrong = "b[k * 16 + row]", "b[row * 16 + k]"
    assert wrong in TEXT
    assert kernel.read_text().count(right) == 1
    kernel.write_text(kernel.read_text().replace(right, wrong))
    assert main(["verify", "tile_case.py", "--arch", "gfx942"]) == 1
    found = [line.strip() for line in capsys.readouterr().out.splitlines()]
    found = [re.sub(r"; [\d.]+ s, cases [\d.]+ s$|   [\d.]+ s$", "", line) for line in found]
    assert found == printed("FAIL mapping")  # the cause before its consequence


def test_the_id_of_the_finding_on_the_page_exists(capsys):
    (finding,) = re.findall(r"mfmasim explain ([\w-]+)", TEXT)
    assert main(["explain", finding]) == 0
    assert finding in capsys.readouterr().out
