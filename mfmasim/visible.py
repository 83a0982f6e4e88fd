"""Text from files for a terminal: what would steer the terminal, or cannot be seen, is spelled out.

Names in debug information, bundles, metadata and captures come from the file, and can be hostile.
"""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from rich.console import Console

LAYOUT = "\n\t"
"""Characters that lay out text of several lines."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_OR_LAYOUT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def visible(text: str, keep: str = "") -> str:
    r"""Spell out control, format and other unprintable characters.

    Args:
        text: any text.
        keep: characters that stay although they are not printable, such as `LAYOUT`.

    Returns:
        The text, such characters as Python would escape them.

    >>> visible("a\x1b[2Jb\u202ec\n"), visible("a\nb", LAYOUT)
    ('a\\x1b[2Jb\\u202ec\\n', 'a\nb')
    """
    if text.isascii():
        found = _CONTROL_OR_LAYOUT if keep == LAYOUT else _CONTROL
        if not found.search(text):
            return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode() for char in text
    )


FRAMES = str.maketrans("┏┓┗┛┡┩┢┪┳┻╇╈┠┨└┘┌┐├┤┬┴┼╋│┃─━", "+" * 24 + "||--")
"""Lines of tables in ASCII."""


class VisibleStream:
    """A text stream that writes what `visible` leaves, with lines and tabs; all else is the wrapped stream's.

    What its encoding cannot express is escaped, as Python would.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`."""
        self.rich_proxied_file = stream  # where rich writes its own colours; `console` cleans what it prints

    def write(self, text: str) -> int:
        """Write text; returns its length."""
        text = visible(text, LAYOUT)
        encoding = getattr(self.rich_proxied_file, "encoding", None)
        if encoding and not text.isascii() and not encoding.lower().startswith("utf"):
            text = text.translate(FRAMES).encode(encoding, "backslashreplace").decode(encoding)
        self.rich_proxied_file.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """Whatever else a stream has."""
        return getattr(self.rich_proxied_file, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Inside, whatever is printed goes through `visible`; a stream that the caller closed is an empty one."""
    before = sys.stdin, sys.stdout, sys.stderr
    _open_descriptors()
    with Path(os.devnull).open("w") as nowhere, Path(os.devnull).open() as empty:  # for streams that the caller closed
        sys.stdin = before[0] or empty
        sys.stdout, sys.stderr = (VisibleStream(stream or nowhere) for stream in before[1:])
        try:
            with _escaping(before[1]), _escaping(before[2]):  # what rich prints, too
                yield
        finally:
            sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def _escaping(stream: object) -> Iterator[None]:
    """Let a stream escape what its encoding cannot express."""
    if not isinstance(stream, io.TextIOWrapper) or stream.closed:
        yield
        return
    errors = stream.errors
    with suppress(OSError, ValueError):  # it is flushed, which may fail; that is reported where something is printed
        stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            stream.reconfigure(errors=errors)


def _open_descriptors() -> None:
    """Open the descriptors 0 to 2 where the caller closed them: a file that got one of them would be printed into."""
    with suppress(OSError):
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(number, True)
        os.close(number)


def console(*, soft_wrap: bool = False, stderr: bool = False) -> Console:
    """A console that prints strings as they are, without markup, and through `visible`.

    Args:
        soft_wrap: leave long lines to the terminal.
        stderr: print to standard error.
    """
    from rich.console import Console
    from rich.text import Text

    class Cleaning(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*(clean(one) for one in objects), **options)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # as all else that prints, where rich would end the program with findings' exit code

    def clean(one: object) -> Any:
        if isinstance(one, str):
            return visible(one, LAYOUT)
        if isinstance(one, Text) and one.plain != visible(one.plain, LAYOUT):
            return Text(visible(one.plain, LAYOUT))
        return one

    return Cleaning(highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap, stderr=stderr)


def fitting(line: str, console: Console) -> str:
    """A line as a terminal shows it: what does not fit goes on below, indented alike. A pipe gets whole lines.

    Args:
        line: one line; blanks at its start are its indentation.
        console: where it is printed.
    """
    indent = " " * (len(line) - len(line.lstrip()))
    if not console.is_terminal or not 2 * len(indent) < console.width < len(line):
        return line
    return fill(line.strip(), console.width, initial_indent=indent, subsequent_indent=indent)
