"""What a Run button executes: the doctests of a page in one namespace, or commands of the command line."""

import contextlib
import doctest
import io
import json
import shlex
import traceback
from typing import Any

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NAMES: dict[str, Any] = {"__name__": "__main__"}


def example_output(example: doctest.Example) -> str:
    """What one statement prints, or the last line of its error."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(example.source, "<page>", "single"), NAMES)  # noqa: S102 (running it is the purpose)
        except Exception as error:  # noqa: BLE001 (whatever the snippet raises is its output)
            return printed.getvalue() + "".join(traceback.format_exception_only(error))
    return printed.getvalue()


def run_doctest(text: str) -> dict[str, Any]:
    """Run the statements of a block; `same` says whether they print what stands on the page."""
    shown: list[str] = []
    same = True
    for example in doctest.DocTestParser().get_examples(text):
        found = example_output(example)
        expected = example.exc_msg if example.exc_msg is not None else example.want
        same &= doctest.OutputChecker().check_output(expected, found, FLAGS)
        shown += [found]
    return {"text": "".join(shown), "same": same}


def run_commands(text: str) -> dict[str, Any]:
    """Run each line that is a command of mfmasim."""
    from mfmasim.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if words:
                print(f"$ {shlex.join(words)}")
                main(words[1:])
    return {"text": printed.getvalue()}


def answer(kind: str, text: str) -> str:
    """The result of a block as JSON: its text, and for doctests whether it is the page's."""
    return json.dumps(run_doctest(text) if kind == "doctest" else run_commands(text))
