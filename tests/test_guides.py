"""docs/adding.md and CONTRIBUTING.md: every file, test and name that they send a contributor to exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDES = ("docs/adding.md", "docs/where.md", "docs/architecture.md", "CONTRIBUTING.md")
SOURCES = {path: path.read_text() for folder in ("tests", "mfmasim") for path in (ROOT / folder).rglob("*.py")}


def exists(path):
    """Whether a path of a guide exists; it may have capitals that stand for a name, as in gfxNNNN.py."""
    return bool(list(ROOT.glob(re.sub(r"NNNN|NUMBER_NAME|NAME", "*", path).rstrip("/"))))


@pytest.mark.parametrize("guide", GUIDES)
def test_paths_exist(guide):
    text = (ROOT / guide).read_text()
    paths = re.findall(r"`((?:mfmasim|tests|docs|hipkernels|golden|\.ci)/[\w./*]*)`", text)
    paths += [name.replace(".", "/") for name in re.findall(r"python -m ((?:tests|golden)[\w.]*)", text)]
    missing = [path for path in paths if not exists(path) and not exists(f"{path}.py")]
    assert not missing, missing
    links = re.findall(r"\]\((?!http)([\w./-]+)", text)
    assert all((ROOT / guide).parent.joinpath(link).exists() for link in links), links


@pytest.mark.parametrize("guide", GUIDES)
def test_tests_exist(guide):
    functions = set(re.findall(r"def (test_\w+)\(", "".join(SOURCES.values())))
    files = {path.name for path in SOURCES}
    named = re.findall(r"`(?:tests/[\w/]*/)?(test_\w+(?:\.py)?|test_\w+\*\.py)`", (ROOT / guide).read_text())
    missing = [name for name in named if name not in functions | files and not list(ROOT.glob(f"tests/**/{name}"))]
    assert not missing, missing
    assert named or guide != "docs/adding.md"
