"""HTML of plain rows, for the rich representations that notebooks show."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mfmasim.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["facts", "paragraph", "rows"]


def facts(title: str, pairs: Iterable[tuple[str, object]]) -> str:
    """A table of names and values; values that are empty are left out.

    Args:
        title: the heading.
        pairs: names and values.

    >>> facts("gfx942", [("family", "CDNA3"), ("remark", "")])
    '<table><caption>gfx942</caption><tr><th>family</th><td>CDNA3</td></tr></table>'
    """
    lines = "".join(f"<tr><th>{_cell(name)}</th><td>{_cell(value)}</td></tr>" for name, value in pairs if value != "")
    return f"<table><caption>{_cell(title)}</caption>{lines}</table>"


def rows(title: str, columns: Sequence[str], values: Iterable[Sequence[object]]) -> str:
    """A table with a heading for each column.

    Args:
        title: the heading of the table.
        columns: headings.
        values: rows.
    """
    head = "".join(f"<th>{_cell(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in values)
    return f"<table><caption>{_cell(title)}</caption><tr>{head}</tr>{body}</table>"


def paragraph(text: object) -> str:
    """A paragraph of plain text."""
    return f"<p>{_cell(text)}</p>"


def _cell(value: object) -> str:
    return escape(visible(str(value)))
