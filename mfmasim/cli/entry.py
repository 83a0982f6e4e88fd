"""The program `mfmasim`: finds the verb and runs it. Exit codes: 0 all pass, 1 findings, 2 bad input."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, one_line, unknown
from mfmasim.visible import visible_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["VERBS", "build", "main"]

VERBS = (
    "list",
    "show",
    "where",
    "format",
    "lds",
    "swizzle",
    "grid",
    "explorer",
    "learn",
    "run",
    "unsupported",
    "verify",
    "report",
    "cost",
    "explain",
    "mutate",
    "explore",
    "golden",
    "calibrate",
    "kit",
    "hipcc",
    "hiprt",
    "triton",
    "bench",
    "doctor",
)
"""Verbs, in the order of the help; each is a module of this package with `add` and `run`."""

COLLECT_AFTER = 5000
"""New objects until Python looks for cycles; Python's own value is 700 or 2,000."""
_LONGEST_WORD = 400
DESCRIPTION = """\
Run the code object an AMD GPU would run, bit for bit, and prove its matrix fragments and outputs.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with exit code 2."""

    asks = False

    def error(self, message: str) -> None:  # type: ignore[override]
        raise MfmasimError(f"{self.prog}: {message}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse; words that may be left out are found behind options too, which Python before 3.12.7 does not do."""
        found, left = super().parse_known_args(args, namespace)
        if self.asks or not left or any(word.startswith("-") for word in left):
            return found, left
        self.asks = True  # parse_known_intermixed_args calls this method
        try:
            return self.parse_known_intermixed_args(args)
        except TypeError:  # the verb takes all the rest as it is
            return found, left
        finally:
            self.asks = False


def build(verbs: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """Build the parser with the given verbs."""
    parser = _Parser(prog="mfmasim", description=DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", parser_class=_Parser)
    for verb in verbs:
        importlib.import_module(f"mfmasim.cli.{verb}").add(subparsers)
    return parser


def _shortened(text: str) -> str:
    """An error without the middle of what is too long for a line, such as a given value."""
    return re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda word: f"{word[0][:100]}...{word[0][-20:]}", text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: arguments, without the program's name.

    Returns:
        The exit code.
    """
    with visible_output(), _rarely_collecting():
        return _main(list(sys.argv[1:] if argv is None else argv))


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Look for cycles of objects less often: imports and bound instructions make many objects, nearly all to stay."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _main(arguments: list[str]) -> int:
    try:
        # Only the module of the requested verb is imported, so that every command starts fast.
        first = next((a for a in arguments if not a.startswith("-")), None)
        if first is not None and first not in VERBS:
            raise unknown("verb", first, VERBS)  # noqa: TRY301
        args = build([first] if first else VERBS).parse_args(arguments)
        if args.version:
            from mfmasim import __version__

            print(__version__)
            return 0
        if args.verb is None:
            build().print_help()
            return 0
        return int(importlib.import_module(f"mfmasim.cli.{args.verb}").run(args))
    except MfmasimError as error:
        text = _shortened(str(error))
        print(f"mfmasim: {text}" if not text.startswith("mfmasim") else text, file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader (a pager, head) closed the pipe: exit quietly, without Python's message at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("mfmasim: interrupted", file=sys.stderr)
        return 130
    except (OSError, MemoryError) as error:
        print(f"mfmasim: {_shortened(str(error)) or type(error).__name__}", file=sys.stderr)
        return 2
    except Exception as error:
        if os.environ.get("MFMASIM_TRACEBACK") == "1":
            raise
        text = _shortened(one_line(error))
        print(f"mfmasim: internal error: {text} (set MFMASIM_TRACEBACK=1 for the traceback)", file=sys.stderr)
        return 2
