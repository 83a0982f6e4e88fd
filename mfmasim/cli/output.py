"""Tables for the terminal, as CSV, JSON or Markdown: one function for every verb that prints rows."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mfmasim.errors import MfmasimError
from mfmasim.files import write_text
from mfmasim.visible import LAYOUT, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from mfmasim.devices.report import Report

FORMATS = ("terminal", "csv", "json", "markdown")
"""Formats of a table."""


def write(name: str, text: str) -> None:
    """Write a report.

    Args:
        name: of the file; ``-`` is standard output.
        text: all of it.

    Raises:
        MfmasimError: the file cannot be written.
    """
    if name == "-":
        if sys.__stdout__ is None:
            raise MfmasimError("-: cannot be written: standard output is closed")
        print(text, end="")
        return
    write_text(Path(name), text)


def output_file(name: str) -> str:
    """Type of an option whose value is a file that the verb writes, whole or not at all; ``-`` is standard output."""
    return name


def output_beside(name: str) -> str:
    """Type of an option like `output_file`, but the file's folder has to exist."""
    return name


def output_folder(name: str) -> str:
    """Type of an option whose value is a folder that the verb writes files into, each whole or not at all."""
    return name


OUTPUTS = output_file, output_beside, output_folder
"""Types of options that name what a verb writes: known from the parser, so that every one is tried before the work."""


def add_formats(parser: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    """Add ``--format`` and its short form ``--json``."""
    parser.add_argument("--format", choices=formats, default="terminal", help="output format (default: terminal)")
    parser.add_argument("--json", action="store_true", help="the same as --format json")


def wanted_format(args: argparse.Namespace) -> str:
    """Output format selected by the arguments of `add_formats`."""
    return "json" if args.json else str(args.format)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], form: str, title: str = "") -> str:
    """Render rows.

    Args:
        columns: names of the columns.
        rows: values; None is an empty cell (null in JSON).
        form: one of `FORMATS`.
        title: heading on the terminal and in Markdown.

    Returns:
        The text, ending in a newline. CSV consists of a header line and the rows only.

    >>> print(table(["lane", "vgpr"], [[3, None]], "csv"), end="")
    lane,vgpr
    3,
    """
    found = [list(row) for row in rows]
    if form == "json":
        return json.dumps([dict(zip(columns, row, strict=True)) for row in found], indent=1) + "\n"
    cells = [["" if value is None else str(value) for value in row] for row in found]
    if form == "csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([list(columns), *cells])
        return text.getvalue()
    if form == "markdown":
        rule = ["---"] * len(columns)
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (columns, rule, *cells)]
        return (f"## {title}\n\n" if title else "") + "\n".join(lines) + "\n"
    return _terminal(columns, cells, title)


def counters(report: Report) -> str:
    """Performance counters of a launch, for the terminal."""
    from mfmasim.devices.counters import not_counted, table_of

    if report.program is None:
        return ""
    rows = [[name, f"{value:,}", *more] for name, value, *more in table_of(report.program, report.counters)]
    shown = table(("counter", "value", "counts", "equal to captures of"), rows, "terminal", "Performance counters")
    left = not_counted(report.program, report.lds)
    return f"{shown}{left}\n" if left else shown


PIPE = 100
"""Width of a table in a pipe, unless its words are longer: names stay whole there, so that they can be searched."""


def _terminal(columns: Sequence[str], cells: list[list[str]], title: str) -> str:
    """A table that fits the terminal, with cells folded where it has to be; in a pipe only between words."""
    import shutil
    from textwrap import fill

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lists = [list(column) for column in zip(columns, *cells, strict=True)]
    frame = 3 * len(lists) + 2
    needed = sum(max(map(len, column)) for column in lists) + frame
    seen = sys.stdout.isatty()
    words = [0 if seen else max(len(word) for cell in column for word in cell.split() or [""]) for column in lists]
    room = shutil.get_terminal_size().columns if seen else max(PIPE, sum(words) + frame)
    width = max(40, min(needed, room))
    made = Table()
    for (name, *column), least in zip(lists, words, strict=True):
        numbers = bool(column) and all(cell.isdigit() or not cell for cell in column)
        justify: Literal["right", "left"] = "right" if numbers else "left"
        made.add_column(Text(name), justify=justify, overflow="fold", min_width=least)
    for row in cells:
        made.add_row(*(Text(visible(cell, LAYOUT)) for cell in row))
    text = io.StringIO()
    Console(file=text, width=width, force_terminal=False).print(made)
    head = fill(visible(title, LAYOUT), max(40, room if seen else PIPE)) + "\n" if title else ""
    return head + text.getvalue()
