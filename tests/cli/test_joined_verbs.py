"""Verbs that other installed packages add by entry points of the group `mfmasim.verbs`."""

import sys

import pytest

from mfmasim.cli import main
from mfmasim.cli.verbs import joined

VERB = """
def add(subparsers):
    parser = subparsers.add_parser("tiles", help="count tiles")
    parser.add_argument("count", type=int)

def run(args):
    print(f"{args.count} tiles")
    return 1
"""
MODULES = {
    "tiles": VERB,
    "broken": "raise RuntimeError('no\\nlicence')",
    "empty": "def add(subparsers): ...",
    "misnamed": VERB,
    "verify": VERB,
}


@pytest.fixture(autouse=True)
def _package(tmp_path, monkeypatch):
    """A distribution in a folder, as pip leaves it."""
    about = tmp_path / "tile_tools-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tile-tools\nVersion: 1.0\n")
    entries = "".join(f"{name} = tile_tools_{name}\n" for name in MODULES)
    (about / "entry_points.txt").write_text(f"[mfmasim.verbs]\n{entries}")
    for name, text in MODULES.items():
        (tmp_path / f"tile_tools_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    joined.cache_clear()
    yield
    joined.cache_clear()
    for name in MODULES:
        sys.modules.pop(f"tile_tools_{name}", None)


def test_a_verb_of_another_package_runs(capsys):
    assert main(["tiles", "3"]) == 1
    assert capsys.readouterr().out == "3 tiles\n"
    assert main(["tiles", "x"]) == 2
    assert "mfmasim tiles: argument count" in capsys.readouterr().err
    assert main(["tiles", "3", "--fast"]) == 2
    assert "--fast" in capsys.readouterr().err


def test_it_is_named_on_the_first_screen_and_beside_what_is_misspelt(capsys):
    assert main([]) == 0
    assert "verbs of other packages: broken, empty, misnamed, tiles" in capsys.readouterr().out
    assert main(["tile", "3"]) == 2
    assert "tiles" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("broken", "verb 'broken' of tile-tools: tile_tools_broken cannot be imported: RuntimeError: no licence"),
        ("empty", "verb 'empty' of tile-tools: tile_tools_empty has no function 'run'"),
        ("misnamed", "verb 'misnamed': its module registers no parser of that name"),
    ],
)
def test_a_module_that_is_wrong_is_one_line(verb, expected, capsys):
    assert main([verb, "3"]) == 2
    assert capsys.readouterr().err == f"mfmasim: {expected}\n"


def test_a_verb_of_mfmasim_is_never_replaced(capsys):
    assert main(["verify", "--list"]) == 0
    assert "intro" in capsys.readouterr().out
