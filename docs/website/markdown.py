"""Changes to a page on its way from the repository to the site: links, doctests, marks of what a browser can run."""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["docstring", "headings", "linked", "prepared", "table"]

_CODE = re.compile(r"(^```.*?^```[^\n]*$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]\((?!https?:|mailto:|#)([^)\s#]+)(?=[#)])")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BARE = re.compile(r"^>>> .*\n(?:.+\n?)*", re.MULTILINE)

_BEYOND_A_BROWSER = re.compile(r"mfmasim\.compile\(|PoolExecutor|open\(|np\.load\(|mfmasim\.testing")
"""A compiler, processes, files of the checkout, hypothesis."""
_NUMBER_CELL = re.compile(r"(?<=\d) (?=(?:s|ms|µs|ns|%|[KMGT]i?B|[MGTP]FLOP/s|times|clocks)(?![\w/]))")
"""The space between a number and its unit, at which no line of a table is to break."""
BROWSER_VERBS = frozenset({"list", "show", "lds", "explain"})
"""Verbs that need neither a compiler nor a file of the user: they run in a browser too."""


def linked(text: str, source: str, page: str, pages: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """Replace links between files of the repository by links between pages of the site.

    Args:
        text: a page in Markdown.
        source: its path in the repository.
        page: its path in the site.
        pages: paths in the site by paths in the repository.
        titles: titles of pages by paths in the repository; they replace labels that are names of files.

    Returns:
        The page; code is left as it is.

    Raises:
        MfmasimError: a link leads to a file that is no page of the site.
    """

    def moved(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if target not in pages:
            raise MfmasimError(f"{source}: the link {match[2]} leads to {target}, which is no page of the site")
        label = titles.get(target, match[1]) if target.endswith(match[1]) else match[1]
        return f"[{label}]({posixpath.relpath(pages[target], posixpath.dirname(page) or '.')}"

    parts = _CODE.split(text)
    return "".join(part if n % 2 else _LINK.sub(moved, part) for n, part in enumerate(parts))


def _command_runs(line: str) -> bool:
    if line.endswith("\\"):  # continued on the next line
        return False
    words = shlex.split(line, comments=True)
    redirected = any(set(word) & set("|<>$") for word in words) or "--open" in words or "--out" in words
    return len(words) > 1 and words[0] == "mfmasim" and words[1] in BROWSER_VERBS and not redirected


def _marked(match: re.Match[str]) -> str:
    language, body = match[1], match[2]
    if body.startswith(">>>"):
        return f"``` {{ .pycon{'' if _BEYOND_A_BROWSER.search(body) else ' .run'} }}\n{body}```"
    if language == "sh" and all(_command_runs(line) for line in body.splitlines() if line.strip()):
        return f"``` {{ .sh .run .commands }}\n{body}```"
    return match[0]


def _fenced(text: str) -> str:
    """Fence doctests that stand as plain paragraphs."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if n % 2 else _BARE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", part)
        for n, part in enumerate(parts)
    )


def _kept_together(text: str) -> str:
    """Put no-break spaces between numbers and units in rows of tables; code is left as it is."""

    def row(match: re.Match[str]) -> str:
        parts = _CODE.split(match[0])
        return "".join(part if n % 2 else _NUMBER_CELL.sub("&nbsp;", part) for n, part in enumerate(parts))

    parts = re.split(r"(^```.*?^```[^\n]*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if n % 2 else re.sub(r"^\|.*$", row, part, flags=re.MULTILINE) for n, part in enumerate(parts))


def prepared(text: str) -> str:
    """Mark doctests and commands that a browser can run; keep numbers of tables together with their units."""
    return _FENCE.sub(_marked, _fenced(_kept_together(text)))


def docstring(text: str) -> str:
    """A docstring as Markdown; its doctests use names of its module, so none is marked."""
    return _fenced(re.sub(r"::(?=\n\n {4})", ":", text))


def headings(text: str) -> Iterator[str]:
    """The titles of a page, first its own."""
    outside = "".join(part for n, part in enumerate(_CODE.split(text)) if n % 2 == 0 or not part.startswith("```"))
    yield from re.findall(r"^#+ (.+)$", outside, re.MULTILINE)


def table(columns: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown; bars within cells are escaped."""
    head = list(columns)
    lines: list[Iterable[object]] = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |\n" for line in lines)
