"""The options ``--trace`` and ``--coverage`` of ``mfmasim run``."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mfmasim.cli.needs import needed
from mfmasim.cli.numbers import whole
from mfmasim.cli.output import output_beside
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import TextIO

    from mfmasim.observe.tools.steps import Trace

LINES = 10_000
"""Lines of a trace that are shown."""


def add_tracing(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--trace", action="store_true", help="one line per instruction and wave: what it wrote")
    parser.add_argument("--trace-waves", metavar="LIST", help="waves of the launch to trace, such as 0,1 or 4-7")
    parser.add_argument("--trace-lines", metavar="A-B", help="source lines to trace, such as 31 or 31-40")
    parser.add_argument("--trace-limit", type=whole(), metavar="N", help=f"most lines shown (default {LINES})")
    parser.add_argument(
        "--trace-file", type=output_beside, metavar="FILE", help="write the trace to FILE instead of standard output"
    )
    parser.add_argument("--coverage", action="store_true", help="print the source with execution counts")


def span(text: str, what: str) -> tuple[int, int]:
    """Both ends of a range such as ``31-40``; both are 31 for ``31``.

    Raises:
        MfmasimError: the text is not a number or a range.
    """
    first, dash, last = text.partition("-")
    last = last if dash else first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 1 << 31):
        raise MfmasimError(f"{what} {text!r}: a number or a range is expected, such as 31 or 31-40")
    return int(first), int(last)


def numbers(text: str, what: str) -> range | list[int]:
    """Numbers from a list of numbers and ranges such as ``0,1,4-7``.

    Raises:
        MfmasimError: the text is not such a list, or has more than 2**20 numbers.
    """
    spans = [span(part, what) for part in text.split(",")]
    if len(spans) == 1:
        return range(spans[0][0], spans[0][1] + 1)
    if sum(last - first + 1 for first, last in spans) > 1 << 20:
        raise MfmasimError(f"{what} {text!r}: a list of more than a million waves; give a single range")
    return [n for first, last in spans for n in range(first, last + 1)]


@contextmanager
def tracing(args: argparse.Namespace) -> Iterator[list[Trace]]:
    """Observers for the given options; the trace is written while the kernel runs."""
    if not args.trace:
        needed(args, {f"--trace-{name}": f"trace_{name}" for name in ("waves", "lines", "file", "limit")}, "--trace")
        yield []
        return
    from mfmasim.observe.tools.steps import Trace

    limit = LINES if args.trace_limit is None else args.trace_limit
    waves = None if args.trace_waves is None else numbers(args.trace_waves, "--trace-waves")
    lines = None if args.trace_lines is None else span(args.trace_lines, "--trace-lines")
    with _target(args.trace_file) as out:
        trace = Trace(
            waves,
            lines,
            limit,
            lambda record: print(json.dumps(record.record()) if args.json else record.line(), file=out),
        )
        yield [trace]
        if trace.omitted and not args.json:
            print(f"… {trace.omitted:,} more wave-instructions are not shown (--trace-limit)", file=out)


@contextmanager
def _target(name: str | None) -> Iterator[TextIO]:
    if name is None:
        yield sys.stdout
        return
    import io
    from pathlib import Path

    from mfmasim.files import replacing

    with replacing(Path(name)) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", line_buffering=True)
        try:
            yield text
        finally:
            text.detach()
