"""``llms.txt``: what the site has, for programs that read: each page, its address, the question that it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from docs.website.markdown import headings

__all__ = ["llms"]

HEAD = """\
# mfmasim

> Loads the code object that an AMD GPU would run, executes it lane by lane and bit for bit in NumPy, and proves matrix
> fragments, LDS accesses and outputs. No GPU is needed.

A program that writes kernels begins with the [skill](skill.md), or with the server `mfmasim mcp`.
"""


def llms(configuration: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """The file.

    Args:
        configuration: of the site, whose navigation gives sections and their order.
        texts: pages by path.
    """
    parts = [HEAD]
    for section in configuration["nav"]:
        for title, entries in section.items():
            rows = [
                f"- [{next(headings(texts[page]))}]({_address(page)}){_question(texts[page])}"
                for page in _pages(entries)
            ]
            parts.append("\n".join([f"## {title}\n", *rows, ""]))
    return "\n".join(parts)


def _pages(entries: Any) -> Iterator[str]:
    if isinstance(entries, str):
        yield entries
    elif isinstance(entries, Mapping):
        for entry in entries.values():
            yield from _pages(entry)
    else:
        for entry in entries:
            yield from _pages(entry)


def _address(page: str) -> str:
    return re.sub(r"\.md$", ".html", page)


def _question(text: str) -> str:
    """The first paragraph behind a page's title, if it is plain text of one or two lines."""
    found = re.search(r"^# .*\n+((?![#|`<\[!>-]).+(?:\n.+)?)\n\n", text, re.MULTILINE)
    return f": {' '.join(found[1].split())}" if found else ""
