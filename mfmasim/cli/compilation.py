"""Options of verbs that compile a source: definitions, folders, flags, the compiler; and its messages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from mfmasim.program import Code

MACROS = {"-D": "define", "-I": "include", "--flag": "flag"}
"""Options of `add_macros`, and where their values are."""
COMPILATION = {**MACROS, "--compiler": "compiler"}
"""Options of `add_compilation`, and where their values are."""


def add_compilation(parser: argparse.ArgumentParser) -> None:
    """Add the options, and ``--compiler``."""
    group = add_macros(parser)
    group.add_argument("--compiler", help="a compiler, or ziglang (default: the first one found)")


def add_macros(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options."""
    group = parser.add_argument_group("compilation of a source")
    group.add_argument("-D", action="append", default=[], metavar="NAME[=VALUE]", dest="define", help="define a macro")
    group.add_argument("-I", action="append", default=[], metavar="DIR", dest="include", help="folder for #include")
    group.add_argument(
        "--flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="a compiler flag, such as --flag=-O1 (may be repeated)",
    )
    return group


def macros(args: argparse.Namespace) -> tuple[str, ...]:
    """The options as flags of the compiler."""
    folders = (Path(folder).absolute() for folder in args.include)
    return (*(f"-D{text}" for text in args.define), *(f"-I{folder}" for folder in folders), *args.flag)


def compilation(args: argparse.Namespace) -> dict[str, Any]:
    """The options as arguments of `mfmasim.compile`."""
    flags = [f"-D{text}" for text in args.define] + args.flag
    return {"compiler": args.compiler, "flags": flags, "include": args.include}


def show_warnings(code: Code) -> None:
    """Print the compiler's warnings to standard error."""
    if code.warnings:
        print(code.warnings, file=sys.stderr)
