"""From the repository to a built site: every page is staged into one folder, then Zensical builds it strictly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

from docs.website.commands import command_pages
from docs.website.course import course_pages
from docs.website.facts import fact_pages, format_table
from docs.website.llms import llms
from docs.website.markdown import headings, linked, prepared
from docs.website.moved import write_moved
from docs.website.notebooks import notebook_pages
from docs.website.python_api import api_pages
from docs.website.runtime import write_runtime
from docs.website.search import place_script, rewrite
from mfmasim.errors import MfmasimError
from mfmasim.schemas import names
from mfmasim.verify.texts import sources

__all__ = ["CONFIG", "OUT", "ROOT", "build", "configuration", "generated", "hand_written", "render", "stage"]

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "website"
CONFIG = ROOT / "docs" / "website" / "mkdocs.yml"
ASSETS = ROOT / "docs" / "website" / "assets"

ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "golden/README.md": "golden-data.md",
    "hipkernels/README.md": "hipkernels.md",
    "hipkernels/conformance/README.md": "conformance.md",
}
"""Pages that stand beside what they describe, by path in the repository."""

EXPLORER = "explorer-page/index.html"
LINKS = (
    f"[Open the explorer]({EXPLORER}){{ .md-button .md-button--primary }} "
    f"[Solve a puzzle]({EXPLORER}#puzzles){{ .md-button }}"
)
"""To the explorer itself."""
EXAMPLE = "docs/example"
BARE = "---\nhide: [navigation, toc]\n---\n\n"
"""Head of a page without the lists beside it."""
WIDE = (
    *("zoo.md", "instructions.md", "hazards.md", "traps.md", "prove.md", "cost.md", "architectures.md"),
    *("gemm-kernels.md", "gfx1250.md", "formats.md", "listings.md"),
    *(f"texts/{one.page}.md" for one in sources()),
)
"""Pages with wide tables, which take the whole width of a window."""
SITE_URL = "MFMASIM_SITE_URL"
"""Environment variable: the address of the site, where it is another one than the project's."""
SKILL = "mfmasim/learn/skill.md"
SHOWN = {".toml": "toml", ".hip": "cpp", ".py": "python"}


def hand_written() -> dict[str, str]:
    """Paths in the site of the pages that people write, by path in the repository."""
    pages = {f"docs/{path.name}": path.name for path in sorted((ROOT / "docs").glob("*.md"))}
    texts = {f"docs/texts/{path.name}": f"texts/{path.name}" for path in sorted((ROOT / "docs" / "texts").glob("*.md"))}
    return pages | texts | ELSEWHERE


def _example() -> str:
    """The example project as one page: its files, as they are."""
    parts = ["# An example project\n\nA kernel, its tests and a `pyproject.toml`: `docs/example` in a checkout.\n"]
    parts += [
        f"## {path.name}\n\n```{SHOWN[path.suffix]}\n{path.read_text().rstrip()}\n```\n"
        for path in sorted((ROOT / EXAMPLE).iterdir())
        if path.suffix in SHOWN
    ]
    return "\n".join(parts)


def generated() -> dict[str, str]:
    """Pages that are made from the code, by path in the site."""
    return command_pages() | api_pages() | fact_pages() | course_pages() | notebook_pages() | {"example.md": _example()}


def project_urls() -> dict[str, str]:
    """The project's addresses, by their names in `pyproject.toml`."""
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"])


def configuration(pages: dict[str, str]) -> dict[str, Any]:
    """The configuration of the site: `mkdocs.yml`, in which a folder stands for all pages in it.

    Returns:
        What Zensical reads.

    Raises:
        MfmasimError: a page is missing in the navigation, or named there and not made.
    """
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text())
    named: list[str] = []

    def opened(entry: Any) -> list[Any]:
        if isinstance(entry, dict):
            ((title, below),) = entry.items()
            if isinstance(below, list):
                return [{title: [one for part in below for one in opened(part)]}]
            if below.endswith("/"):
                return [{title: [one for page in pages if page.startswith(below) for one in opened(page)]}]
            named.append(below)
            return [entry]
        named.append(entry)
        return [entry]

    urls = project_urls()
    config["site_url"] = os.environ.get(SITE_URL) or urls["Documentation"]
    # As a link of the footer: `repo_url` would ask the repository's host for numbers of stars on every page.
    config["extra"] = {
        "social": [{"icon": "fontawesome/brands/git-alt", "link": urls["Repository"], "name": "Repository"}]
    }
    config["nav"] = [one for entry in config["nav"] for one in opened(entry)]
    if wrong := sorted(set(named) ^ set(pages)):
        raise MfmasimError(f"{CONFIG.name}: nav and pages differ: {', '.join(wrong)}")
    if twice := sorted({name for name in named if named.count(name) > 1}):
        raise MfmasimError(f"{CONFIG.name}: nav names a page twice: {', '.join(twice)}")
    return config


def stage(out: Path, pyodide: str | None = None) -> Path:
    """Write every page, and the configuration, into a folder that Zensical builds.

    Args:
        out: the folder; what it holds is replaced.
        pyodide: a folder with a Pyodide distribution, its address, or None for a site without Run buttons.

    Returns:
        The configuration's path.
    """
    shutil.rmtree(out, ignore_errors=True)
    sources = {source: (ROOT / source).read_text(encoding="utf-8") for source in hand_written()}
    titles = {source: next(headings(text), source) for source, text in sources.items()}
    moves = hand_written() | {EXAMPLE: "example.md"} | _files()
    texts = {
        page: prepared(linked(sources[source], source, page, moves, titles)) for source, page in hand_written().items()
    }
    texts["index.md"] = _home(texts["index.md"])
    texts["explorer.md"] = texts["explorer.md"].replace("\n\n", f"\n\n{LINKS}\n\n", 1)
    texts["formats.md"] += format_table()
    texts |= {page: prepared(text) for page, text in generated().items()}
    for page in (one for one in WIDE if one in texts):
        texts[page] = f"{BARE}{texts[page]}"
    for page, text in texts.items():
        if not next(headings(text.removeprefix(BARE)), None):
            raise MfmasimError(f"{page}: a page begins with a title")
        path = out / "pages" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for source, place in _files().items():
        path = out / "pages" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, path)
    (out / "pages" / "llms.txt").write_text(llms(configuration(texts), texts), encoding="utf-8")
    shutil.copytree(ASSETS, out / "pages" / "assets")
    _write_explorer(out / "pages" / "explorer-page")
    write_runtime(out / "pages" / "assets", pyodide)
    write_moved(out / "pages" / "assets")
    config = out / "mkdocs.yml"
    config.write_text(yaml.safe_dump(configuration(texts), sort_keys=False))
    return config


def _files() -> dict[str, str]:
    """Paths in the site of files that pages show or link to, by path in the repository."""
    pictures = {
        f"docs/pictures/{path.name}": f"pictures/{path.name}" for path in (ROOT / "docs" / "pictures").iterdir()
    }
    schemas = {f"mfmasim/schemas/{name}.json": f"schemas/{name}.json" for name in names()}
    return pictures | schemas | {"docs/templates/gitlab.yml": "gitlab.yml", SKILL: "skill.md"}


def _home(text: str) -> str:
    """The first page: the explorer itself where the repository has its picture, across the whole width."""
    live = f'<iframe class="explorer" src="{EXPLORER}" title="The explorer" loading="lazy"></iframe>'
    return BARE + re.sub(r"!\[The explorer[^)]*\)", f"{LINKS}\n\n{live}", text)


def _write_explorer(folder: Path) -> None:
    from mfmasim.explorer import explorer_page

    folder.mkdir()
    (folder / "index.html").write_text(explorer_page(), encoding="utf-8")


def _issues(printed: str) -> str:
    """What stopped a build: one line for each issue, or all that was printed."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed)
    found = re.findall(r"^Warning: (.+)\n.*\[ (\S+) \]$", plain, re.MULTILINE)
    return "\n".join(f"{place}: {message}" for message, place in found) or plain


def render(config: Path) -> None:
    """Build what a configuration names, strictly.

    Raises:
        MfmasimError: the build warned; the message has a line for each warning.
    """
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", str(config)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MfmasimError(f"the site was not built:\n{_issues(done.stdout + done.stderr)}")


def build(out: Path, pyodide: str | None = None) -> Path:
    """Stage the pages and build the site.

    Args:
        out: the folder that is filled; the site is in `site` below it.
        pyodide: as in `stage`.

    Returns:
        The site's folder.

    Raises:
        MfmasimError: the build warned.
    """
    render(stage(out, pyodide))
    rewrite(out / "site" / "search.json")
    place_script(out / "site")
    return out / "site"
