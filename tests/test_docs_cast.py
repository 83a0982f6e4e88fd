"""The terminal of README.md: what it shows is what the commands print."""

import re
from xml.etree import ElementTree as ET

from docs import make_cast
from mfmasim.toolchain import find_compiler
from tests.oracles import require

ROOT = make_cast.DOCS.parent


def lines(svg):
    """The lines of the picture, with registers and numbers of lines as another compiler may choose them."""
    texts = ("".join(one.itertext()) for one in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))
    return [re.sub(r"v\d+\[", "v[", text) for text in texts]


def test_the_picture_is_what_the_commands_print():
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    # The run that fails, alone: the other one is a second compilation.
    shown = lines(make_cast.PICTURE.read_text())
    found = lines(make_cast.drawn(make_cast.session(make_cast.COMMANDS[:1])))
    assert found == shown[: len(found)], "python -m docs.make_cast"
    assert len(found) > 8


def test_failures_are_red_passes_are_green_and_all_stands_there_without_motion():
    text = make_cast.PICTURE.read_text()
    red, green = (re.findall(rf'<tspan[^>]*fill="{make_cast.COLOURS[code]}"[^>]*>(\w+)', text) for code in ("31", "32"))
    assert "FAIL" in red
    assert green[0] == "PASS"
    assert "PASS" not in red
    assert "prefers-reduced-motion:reduce){.l{animation:none}" in text
    assert not re.search(r"<script|href=|url\(", text)


def test_the_commands_of_ci_and_the_pages_that_readme_names():
    text = (ROOT / "README.md").read_text()
    commands = re.findall(r"^(?:python3 -m venv|\.venv/bin/).*", text.partition("## Install and test")[2], re.MULTILINE)
    assert commands == [
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/mfmasim verify intro",
        '.venv/bin/pip install -e ".[test]" && .venv/bin/pytest -n auto',
    ]
    rows = [line for line in text.partition("## Ten pages")[2].splitlines() if line.startswith("| [")]
    assert len(rows) == 10
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!https:)([^)]+)\)", text)]
    assert "docs/prove.md" in links
    assert all((ROOT / link).exists() for link in links)
    assert "docs/pictures/cast.svg" in links
