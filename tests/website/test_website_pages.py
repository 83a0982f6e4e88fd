"""Pages of the site before they are built: links, marks, navigation, and references that cover the code."""

import re
import subprocess
import sys
import tomllib
from xml.etree import ElementTree as ET

import pytest

from docs.website import build as building
from docs.website.build import ROOT, configuration, generated, hand_written, render
from docs.website.commands import command_pages
from docs.website.course import course_pages
from docs.website.facts import fact_pages, format_table
from docs.website.markdown import docstring, headings, linked, prepared
from docs.website.notebooks import notebook_pages
from docs.website.pictures import DRAWN, FIGURES, FOLDER, draw
from docs.website.python_api import INTERNAL, PACKAGES, api_pages, public_names
from docs.website.runtime import PACKAGES as PACKAGED
from mfmasim.architectures import ARCHITECTURES
from mfmasim.cli import VERBS, build
from mfmasim.errors import MfmasimError
from mfmasim.figures.svg import text_width
from mfmasim.formats import ROWS
from mfmasim.learn import exercises


def test_links_between_files_become_links_between_pages():
    pages = {"docs/a.md": "a.md", "golden/README.md": "golden-data.md", "docs/pictures/x.png": "pictures/x.png"}
    text = "[g](../golden/README.md#top) `[a](b.md)` [w](https://x) [h](#h)\n```\n[c](d.md)\n```\n![p](pictures/x.png)"
    titles = {"docs/a.md": "About A"}
    assert linked(text, "docs/a.md", "a.md", pages, titles) == text.replace("../golden/README.md#", "golden-data.md#")
    for text, expected in {
        "[a](../docs/a.md)": "[a](../a.md)",
        "[docs/a.md](../docs/a.md#x)": "[About A](../a.md#x)",
        "[A[1, 2] of\na](../docs/a.md)": "[A[1, 2] of\na](../a.md)",
    }.items():
        assert linked(text, "golden/README.md", "deep/golden.md", pages, titles) == expected
    with pytest.raises(
        MfmasimError, match=r"^docs/a.md: the link b.md leads to docs/b.md, which is no page of the site$"
    ):
        linked("[b](b.md)", "docs/a.md", "a.md", pages, titles)


@pytest.mark.parametrize(
    ("block", "marked"),
    [
        ("```python\n>>> 1\n1\n```", "``` { .pycon .run }\n>>> 1\n1\n```"),
        (
            "```sh\nmfmasim show e4m3fn 0x40  # a code\n```",
            "``` { .sh .run .commands }\nmfmasim show e4m3fn 0x40  # a code\n```",
        ),
        ("```python\n>>> open('f')\n```", "``` { .pycon }\n>>> open('f')\n```"),
        ("```python\nx = 1\n```", None),
        ("```sh\nmfmasim verify intro\n```", None),  # needs time, files or a compiler
        ("```sh\nmfmasim show a b --format svg > x.svg\n```", None),
        ("```sh\nmfmasim explorer --open\n```", None),
        ("```sh\nmfmasim lds gfx950 \\\n    ds_read_b128\n```", None),
        ("```\nmfmasim list\n```", None),
    ],
)
def test_what_a_browser_can_run_is_marked(block, marked):
    assert prepared(block) == (marked or block)


def test_numbers_of_tables_stay_with_their_units():
    row = "| a loop | 0.011 s; first 1.38 s | `1 s` | 243 times as fast | 5 steps | 0.5 GiB |\n"
    found = row.replace("011 s", "011&nbsp;s").replace("38 s", "38&nbsp;s").replace("3 t", "3&nbsp;t")
    assert prepared(row) == found.replace("5 G", "5&nbsp;G")
    for text in ("It takes 1 s.\n", "```\n| 1 s |\n```\n"):
        assert prepared(text) == text


def test_doctests_without_a_fence_get_one():
    assert prepared("Text:\n\n>>> 1 + 1\n2\n\nMore.\n") == "Text:\n\n``` { .pycon .run }\n>>> 1 + 1\n2\n```\n\nMore.\n"
    assert docstring(">>> 1 + 1\n2") == "```pycon\n>>> 1 + 1\n2\n```\n"
    assert docstring("A case::\n\n    x = 1\n") == "A case:\n\n    x = 1\n"


def test_every_page_is_reached_by_the_navigation():
    pages = dict.fromkeys([*hand_written().values(), *generated()], "")
    configuration(pages)
    with pytest.raises(MfmasimError, match=r"nav and pages differ: lost\.md"):
        configuration(pages | {"lost.md": ""})
    with pytest.raises(MfmasimError, match=r"nav and pages differ: start\.md"):
        configuration({page: "" for page in pages if page != "start.md"})


def test_every_document_is_a_page():
    documents = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")}
    assert documents <= hand_written().keys()
    assert len(documents) > 30
    for path in hand_written():
        title = next(headings((ROOT / path).read_text()))
        assert not title.endswith("."), path


def actions(parser):
    for action in parser._actions:
        yield action
        if hasattr(action, "_choices_actions"):
            for below in action.choices.values():
                yield from actions(below)


def test_the_reference_of_commands_has_every_verb_and_option():
    pages = command_pages()
    verbs = next(action for action in build()._actions if hasattr(action, "_choices_actions")).choices
    checked = 0
    for verb in VERBS:
        page = pages[f"cli/{verb}.md"]
        assert page.startswith(f"# mfmasim {verb}\n")
        assert f"({verb}.md)" in pages["cli/index.md"]
        for action in actions(verbs[verb]):
            for option in action.option_strings:
                assert option in {"-h", "--help"} or re.search(rf"`{option}[ `]", page), (verb, option)
                checked += 1
    assert checked > 200


def test_the_reference_of_python_has_every_public_name():
    pages = api_pages()
    exporting = {
        f"mfmasim.{path.parent.name}"
        for path in (ROOT / "mfmasim").glob("*/__init__.py")
        if "__all__" in path.read_text()
    }
    unlisted = exporting - {f"mfmasim.{name}" for name in INTERNAL} - PACKAGES.keys()
    assert not unlisted, "public or internal? docs/website/python_api.py lists both"
    for package in PACKAGES:
        page = pages[f"api/{package.rpartition('.')[2]}.md"]
        entries = {f"::: {package}.{name}\n": f"\n## {name}\n" for name in public_names(package)}
        assert [entry for entry, link in entries.items() if entry not in page and link not in page] == []


def test_tables_of_facts_have_every_row():
    pages = fact_pages()
    assert [name for name in ARCHITECTURES if f"## {name}\n" not in pages["architectures.md"]] == []
    assert [row.name for row in ROWS if f"| `{row.name}` | {row.bits} |" not in format_table()] == []


def test_every_exercise_is_a_page_without_its_solution():
    pages = course_pages()
    assert [page.removeprefix("learn/").removesuffix(".md") for page in pages] == [one.name for one in exercises()]
    for one, text in zip(exercises(), pages.values(), strict=True):
        assert text.startswith(f"# {one.number}. ")
        assert one.unsolved.strip() in text
        assert one.solution.strip() not in text


@pytest.mark.parametrize("name", [*FIGURES, *DRAWN])
def test_figures_are_what_the_commands_print(name):
    assert (FOLDER / name).read_text() == draw(name), "run python -m docs.website.pictures"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.name)
def test_no_text_of_a_picture_is_cut_off(path):
    """Texts of all pictures begin and end within their width; groups are only translated."""
    root = ET.parse(path).getroot()
    width, found = float(root.get("width")), 0
    todo = [(root, 0.0)]
    while todo:
        node, left = todo.pop()
        moved = re.match(r"translate\(([-\d.]+)", node.get("transform", ""))
        left += float(moved[1]) if moved else 0.0
        todo += [(child, left) for child in node]
        if node.tag.endswith("}text"):
            long = text_width(node.text or "", node.get("class", "")) * 0.9  # it counts the widest font
            start = left + float(node.get("x")) - long * {"middle": 0.5, "end": 1}.get(node.get("text-anchor"), 0)
            assert start >= -2, node.text
            assert start + long <= width + 2, node.text
            found += 1
    assert found > 5


def test_a_page_without_a_place_stops_the_build(tmp_path, monkeypatch, capsys):
    from docs.website.__main__ import main

    monkeypatch.setattr(building, "generated", lambda: {"lost.md": "# Lost\n"})
    monkeypatch.setattr(building, "OUT", tmp_path / "out")
    assert main([]) == 1
    assert "nav and pages differ" in capsys.readouterr().err


def test_a_broken_link_is_one_line(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text("# Title\n\n[a](#nowhere) [b](none.md)\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text("site_name: x\ndocs_dir: pages\nsite_dir: site\n")
    with pytest.raises(MfmasimError) as caught:
        render(config)
    first, *issues = str(caught.value).splitlines()
    assert first == "the site was not built:"
    assert [issue.split(": ")[0] for issue in sorted(issues)] == ["index.md:3:19", "index.md:3:6"]


def test_tools_that_are_missing_are_named(monkeypatch, capsys):
    from docs.website import __main__ as command

    monkeypatch.setattr(command, "TOOLS", ("zensicle",))
    assert command.main([]) == 1
    assert capsys.readouterr().err == "not installed: zensicle (pip install '.[docs]')\n"


def test_a_distribution_without_packages_is_refused(tmp_path):
    from docs.website.runtime import write_runtime

    with pytest.raises(MfmasimError, match="no Pyodide distribution"):
        write_runtime(tmp_path, str(tmp_path / "none"))
    (tmp_path / "pyodide-lock.json").write_text('{"packages": {"numpy": {"file_name": "numpy.whl", "depends": []}}}')
    with pytest.raises(
        MfmasimError, match=r"lacks pyodide.mjs, .*numpy.whl \(the npm package has the interpreter alone"
    ):
        write_runtime(tmp_path, str(tmp_path))
    write_runtime(tmp_path, None)
    assert (tmp_path / "runtime.js").read_text() == "window.mfmasimRuntime = null;\n"


@pytest.mark.long
def test_the_browser_gets_every_package_that_snippets_import():
    code = (
        "import contextlib, io, sys\n"
        "from mfmasim.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['where', 'gfx942', 'v_mfma_f32_16x16x16_f16', '--operand', 'A', '--element', '5', '6'])\n"
        "    main(['verify', 'intro', '--case', 'f16_16x16x16', '--arch', 'gfx942', '--jobs', '1'])\n"
        "print(*{name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    imported = {name for name in done.stdout.split() if not name.startswith(("_", "cython"))}
    assert {"numpy", "ml_dtypes"} <= imported
    given = {name.replace("-", "_") for name in PACKAGED} | {
        "mfmasim",
        "elftools",
        "sitecustomize",
    }  # the last is Debian's own
    assert imported <= given


def test_snippets_run_as_on_the_page():
    code = (
        "import json, sys\n"
        f"exec(open({str(ROOT / 'docs' / 'website' / 'assets' / 'session.py')!r}).read())\n"
        "print(json.dumps([json.loads(answer(*ask)) for ask in json.loads(sys.stdin.read())]))\n"
    )
    asked = [
        ("doctest", ">>> x = 6\n>>> x * 7\n42\n"),
        ("doctest", ">>> x * 8\n42\n"),
        ("doctest", ">>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: division by zero\n"),
        ("commands", "mfmasim show e4m3fn 0x40  # a code\nmfmasim show e9m9\n"),
    ]
    import json

    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(asked), capture_output=True, text=True, check=True, cwd=ROOT
    )
    first, second, third, fourth = json.loads(done.stdout)
    assert first == {"text": "42\n", "same": True}
    assert second == {"text": "48\n", "same": False}
    assert third == {"text": "ZeroDivisionError: division by zero\n", "same": True}
    assert fourth["text"].startswith("$ mfmasim show e4m3fn 0x40\n")
    assert "e9m9" in fourth["text"].splitlines()[-1]


def test_notebooks_are_pages_without_answers():
    pages = notebook_pages()
    assert len(pages) == 5
    first = pages["notebooks/1_layouts_and_formats.md"]
    assert first.startswith(
        "# 1. Layouts and formats\n\nA notebook for Jupyter: `docs/notebooks/1_layouts_and_formats.ipynb`."
    )
    assert "guess = ..." in first
    assert first.count("```python") == first.count("```\n") >= 8


def test_the_reference_begins_with_what_everyone_needs():
    page = api_pages()["api/lds.md"]
    names = re.findall(r"^::: mfmasim\.lds\.(\w+)", page, re.MULTILINE)
    assert names[0] == "conflicts"
    assert names.index("find_swizzle") < names.index("Conflicts") < names.index("CONFIDENCES")
    assert sorted(names) == sorted(public_names("mfmasim.lds"))


def test_the_sites_addresses_are_the_projects_or_those_of_the_environment(monkeypatch):
    pages = dict.fromkeys([*hand_written().values(), *generated()], "")
    monkeypatch.delenv("MFMASIM_SITE_URL", raising=False)
    config = configuration(pages)
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert config["site_url"] == urls["Documentation"]
    assert [one["link"] for one in config["extra"]["social"]] == [urls["Repository"]]
    assert {"Issues", "Changelog"} <= set(urls)
    monkeypatch.setenv("MFMASIM_SITE_URL", "https://example.org/docs/")
    assert configuration(pages)["site_url"] == "https://example.org/docs/"


def test_the_list_for_programs_has_every_page(tmp_path, monkeypatch):
    """`llms.txt`: each page once, with an address that the site has and the question that it answers."""
    from docs.website.llms import llms

    pages = {
        "index.md": "# One\n\nWhat is it?\n\nText.\n",
        "two.md": "# Two\n\n```sh\nx\n```\n",
        "a/b.md": "# B\n\nIn\ntwo.\n\n",
    }
    nav = {"nav": [{"Start": ["index.md", {"Second": "two.md"}]}, {"All": [{"A": [{"B": "a/b.md"}]}]}]}
    text = llms(nav, pages)
    assert text.startswith("# mfmasim\n\n> ")
    assert (
        "## Start\n\n- [One](index.html): What is it?\n- [Two](two.html)\n\n## All\n\n- [B](a/b.html): In two.\n"
        in text
    )
