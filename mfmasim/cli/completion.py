"""``mfmasim completion SHELL``: the script that completes verbs, options, families and files in a shell."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

FILES = ("FILE", "PATH", "CAPTURE")
FOLDERS = ("FOLDER", "DIR")
TARGETS = ("TARGET",)
"""Placeholders of the help by what is completed; TARGET is a family or a case file."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "completion",
        help="print the script that completes verbs, options, families and files in a shell",
        description="Print a script for a shell, in which Tab then completes verbs, options, families and files. It is "
        "made by shtab (pip install 'mfmasim[completion]'), and needs neither shtab nor mfmasim when it runs.",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell")


def run(args: argparse.Namespace) -> int:
    """Print the script; exit code 0.

    Raises:
        MfmasimError: shtab is not installed.
    """
    from mfmasim.errors import MfmasimError

    try:
        shtab: Any = import_module("shtab")
    except ImportError:
        raise MfmasimError(
            "completion needs shtab, which is not installed: pip install 'mfmasim[completion]'"
        ) from None
    from mfmasim.cli import build
    from mfmasim.verify import families

    whole = build()
    target = {"bash": "_mfmasim_target", "zsh": "_mfmasim_target", "tcsh": "f:*.py"}
    for action in _actions(whole):
        kind = action.metavar if isinstance(action.metavar, str) else ""
        found = {**dict.fromkeys(FILES, shtab.FILE), **dict.fromkeys(FOLDERS, shtab.DIRECTORY)}
        if kind in TARGETS or action.dest in ("files", "file"):
            action.complete = target if kind in TARGETS else shtab.FILE
        elif kind in found:
            action.complete = found[kind]
    names = " ".join([*families(), "all"])
    preamble = {
        "bash": f'_mfmasim_target() {{ compgen -W "{names}" -- "$1"; _shtab_compgen_files "$1"; }}',
        "zsh": f"_mfmasim_target() {{ _alternative 'families:family:({names})' 'files:case file:_files' }}",
    }
    print(shtab.complete(whole, shell=args.shell, preamble=preamble))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """All arguments of a parser, and of those within it."""
    for action in parser._actions:  # noqa: SLF001 (argparse has no public way to read a parser)
        yield action
        if isinstance(action.choices, dict):
            for below in action.choices.values():
                yield from _actions(below)
