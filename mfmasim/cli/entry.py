"""The program `mfmasim`: finds the verb and runs it. Exit codes: 0 all pass, 1 findings, 2 bad input."""

from __future__ import annotations

import _thread
import argparse
import errno
import gc
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mfmasim.cli.examples import with_examples
from mfmasim.cli.output import OUTPUTS, output_beside, output_folder
from mfmasim.cli.verbs import MODULES, MOVED, ROUTES, VERBS, first_screen, joined, module_of
from mfmasim.errors import MfmasimError, one_line, unknown
from mfmasim.files import prepare
from mfmasim.visible import visible_output

__all__ = ["VERBS", "build", "main"]

COLLECT_AFTER = 5000
"""New objects until Python looks for cycles; Python's own value is 700 or 2,000."""
_LONGEST_WORD = 400


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with exit code 2."""

    asks = False

    def error(self, message: str) -> None:  # type: ignore[override]
        # A number that an option refuses is behind the option, as written.
        message = re.sub(r"^argument (--[\w-]+)\S*: (?=.*: a (?:whole )?number )", r"\1 ", message)
        raise MfmasimError(f"{self.prog}: {message}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse; optional words are also found behind options, unlike in Python before 3.12.7."""
        found, left = super().parse_known_args(args, namespace)
        if self.asks or not left or any(word.startswith("-") for word in left):
            return found, left
        self.asks = True  # parse_known_intermixed_args calls this method
        try:
            return self.parse_known_intermixed_args(args)
        except TypeError:  # the verb takes all other words unchanged
            return found, left
        finally:
            self.asks = False


def build(verbs: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """Build the parser with the given verbs."""
    parser = _Parser(prog="mfmasim")
    parser.add_argument("-V", "--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", parser_class=_Parser)
    for verb in verbs:
        module_of(verb).add(subparsers)
        if verb not in subparsers.choices:
            raise MfmasimError(f"verb {verb!r}: its module registers no parser of that name")
        with_examples(subparsers.choices[verb])
    return parser


def _shortened(text: str) -> str:
    """An error without the middle of a long part, such as a value, so that it fits a line."""
    return re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda word: f"{word[0][:100]}...{word[0][-20:]}", text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: arguments, without the program's name.

    Returns:
        The exit code.
    """
    with visible_output(), _rarely_collecting(), _interrupted_for_certain():
        return _main(list(sys.argv[1:] if argv is None else argv))


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Search for cycles of objects less often: imports and bound instructions make many objects that mostly stay."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _interrupted_for_certain() -> Iterator[None]:
    """Repeat an interruption that Python dropped, in a callback of its collector or of ctypes."""
    before = sys.unraisablehook

    def again() -> None:
        if hasattr(signal, "pthread_kill"):  # not on Windows; it ends a wait of the main thread, too
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            _thread.interrupt_main()

    def dropped(found: sys.UnraisableHookArgs) -> None:
        if issubclass(found.exc_type, KeyboardInterrupt):
            threading.Timer(0.01, again).start()
        else:
            before(found)

    sys.unraisablehook = dropped
    try:
        yield
    finally:
        sys.unraisablehook = before


def _found(arguments: list[str]) -> tuple[str, list[str], str]:
    """Module of the verb, the arguments behind it, and its spelling where that differs from the module's name.

    Raises:
        MfmasimError: there is no such verb.
    """
    place = next((number for number, word in enumerate(arguments) if not word.startswith("-")), None)
    if place is None:
        return "", arguments, ""
    word, before, rest = arguments[place], arguments[:place], arguments[place + 1 :]
    route = ROUTES.get((word, rest[0])) if rest else None
    if route is not None:
        module, given = route
        asks = {"-h", "--help"} & {*rest}
        return module, [*before, *(() if asks else given), *rest[1:]], f"{word} {rest[0]}"
    if word == "show" and _is_format(rest):
        return "format", [*before, *(rest[1:] if rest[0] == "formats" else rest)], "show"
    if word in MOVED:
        print(f"mfmasim: {word!r} is now {MOVED[word]!r}; the old spelling works for one release", file=sys.stderr)
        extra = ["--brief"] if word == "unsupported" and "--json" not in rest else []
        return MODULES.get(word, word), [*before, *extra, *rest], ""
    if word not in VERBS and word not in joined():
        raise unknown("verb", word, (*VERBS, *joined()))
    return word, [*before, *rest], ""


def _is_format(words: list[str]) -> bool:
    """Whether the words name a number format."""
    if not words or words[0].startswith(("-", "gfx", "mi", "MI")):
        return False
    if words[0] == "formats" or re.fullmatch(r"b?f\d+|[iu]\d+|e\d+m\d+\w*", words[0].lower()):
        return True
    from mfmasim.formats.rows import ROWS

    names = {name for row in ROWS for name in (row.name, *row.aliases)}
    return words[0].lower() in names | {"fp8", "bf8"}


def parser_of(parser: argparse.ArgumentParser, verb: str) -> argparse.ArgumentParser:
    """The parser of a verb within the whole."""
    actions = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))  # noqa: SLF001
    return next(iter(actions)).choices[verb]  # type: ignore[no-any-return]


def outputs(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options of a parser and of its subparsers that name output files."""
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each in action.choices.values():
                yield from outputs(each)
        elif action.type in OUTPUTS:
            yield action


def _prepared(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse output files that the verb could not write at its end."""
    for action in outputs(parser):
        given = getattr(args, action.dest, None)
        if given == "":
            raise MfmasimError(f"{action.option_strings[0]} '': a value is expected")
        if isinstance(given, str) and given != "-":
            if action.type is output_beside and not Path(given).parent.exists():
                raise MfmasimError(f"{action.option_strings[0]} {given}: {os.strerror(errno.ENOENT)}")
            prepare(Path(given), folder=action.type is output_folder)


def _run(verb: str, args: argparse.Namespace) -> int:
    """Run a verb, and flush its output: a closed pipe is detected here, not at Python's shutdown."""
    code = int(module_of(verb).run(args))
    if flush := getattr(sys.stdout, "flush", None):
        flush()
    return code


def _say(line: str) -> None:
    """Print a line to standard error; if that fails, the exit code has to suffice."""
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):  # full, or a pipe without a reader
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _main(arguments: list[str]) -> int:
    try:
        if arguments[:1] == ["help"]:  # help VERB is VERB --help
            arguments = [*arguments[1:], "--help"] if arguments[1:] else []
        if not arguments or arguments[0] in ("-h", "--help"):
            print(first_screen())
            return 0
        verb, rest, shown = _found(arguments)
        # Only the module of the requested verb is imported, so that every command starts fast.
        parser = build([verb] if verb else VERBS)
        if shown:
            with_examples(parser_of(parser, verb), f"mfmasim {shown}")
        args, left = parser.parse_known_args([verb, *rest] if verb else rest)
        if left:
            from mfmasim.cli.unrecognised import refuse

            refuse(left, verb, build())
        if args.version:
            from mfmasim import __version__

            print(__version__)
            return 0
        if args.verb is None:
            print(first_screen())
            return 0
        _prepared(parser, args)
        return _run(verb, args)
    except MfmasimError as error:
        text = _shortened(str(error))
        _say(f"mfmasim: {text}" if not text.startswith("mfmasim") else text)
        return 2
    except BrokenPipeError:
        # The reader (a pager, head) closed the pipe: exit quietly, without Python's message at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        _say("mfmasim: interrupted")
        return 130
    except (OSError, MemoryError) as error:
        bare = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
        _say(f"mfmasim: {_shortened(str(error)) or bare}")
        return 2
    except Exception as error:
        if os.environ.get("MFMASIM_TRACEBACK") == "1":
            raise
        text = _shortened(one_line(error))
        _say(f"mfmasim: internal error: {text} (set MFMASIM_TRACEBACK=1 for the traceback)")
        return 2
