"""HTML of plain rows, for the rich representations that notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from mfmasim.visible import visible

LEFT = "style='text-align:left'"
"""Notebooks align cells to the right unless each says otherwise."""


def facts(title: str, pairs: Iterable[tuple[str, object]]) -> str:
    """A table of names and values; values that are empty are left out.

    Args:
        title: the heading.
        pairs: names and values.

    >>> facts("gfx942", [("family", "<CDNA3>"), ("remark", "")]).count("<tr>"), _cell("<CDNA3>")
    (1, '&lt;CDNA3&gt;')
    """
    lines = "".join(f"<tr>{_head(name)}{_data(value)}</tr>" for name, value in pairs if value != "")
    return f"<table><caption>{_cell(title)}</caption>{lines}</table>"


def rows(title: str, columns: Sequence[str], values: Iterable[Sequence[object]]) -> str:
    """A table with a heading for each column.

    Args:
        title: the heading of the table.
        columns: headings.
        values: rows.
    """
    head = "".join(map(_head, columns))
    body = "".join(f"<tr>{''.join(map(_data, row))}</tr>" for row in values)
    return f"<table><caption>{_cell(title)}</caption><tr>{head}</tr>{body}</table>"


def paragraph(text: object) -> str:
    """A paragraph of plain text."""
    return f"<p>{_cell(text)}</p>"


def _head(name: object) -> str:
    return f"<th {LEFT}>{_cell(name)}</th>"


def _data(value: object) -> str:
    return f"<td {LEFT}>{_cell(value)}</td>"


def _cell(value: object) -> str:
    return escape(visible(str(value)))
