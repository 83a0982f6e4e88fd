"""Make docs/command-line.md and docs/mfmasim.1 from the verbs' parsers: ``python -m docs.make_command_line``."""

# ruff: noqa: SLF001 (argparse has no public way to read a parser)

import argparse
import os
import re

from docs import DOCS
from mfmasim import __version__
from mfmasim.cli import VERBS, build
from mfmasim.cli.entry import parser_of
from mfmasim.cli.examples import EXAMPLES, with_examples
from mfmasim.cli.verbs import GROUPS, ROUTES

PAGE = DOCS / "command-line.md"
MANUAL = DOCS / "mfmasim.1"
COLUMNS = 100
HEAD = """\
# The command line

Which options does a verb have?

`mfmasim` alone prints the verbs in their groups, `mfmasim help VERB` the help of one of them. Exit codes: 0 everything
passed, 1 findings, 2 bad input, 130 interrupted. `docs/make_command_line.py` makes this page and the manual page, `man
mfmasim`, from the parsers.

The options `--arch --case --source --set -D -I --flag --compiler` mean the same on every verb that takes a case:
{cases}. `--source FILE` puts a changed copy in the place of the case's source; `--set` changes a parameter of the cases
that have it.

`eval "$(mfmasim completion bash)"` lets Tab complete verbs, options, families and files.
"""
MANUAL_HEAD = r"""'\" t
.TH MFMASIM 1 "" "mfmasim {version}" "User Commands"
.SH NAME
mfmasim \- run AMD GPU code objects bit for bit, and prove their fragments and outputs
.SH SYNOPSIS
.B mfmasim
.I VERB
\&...
.br
.B mfmasim help
.RI [ VERB ]
.SH DESCRIPTION
mfmasim loads the code object that an AMD GPU would run, executes it lane by lane in NumPy, and proves matrix fragments,
LDS accesses and outputs. It needs no GPU.
.SH EXIT STATUS
0 everything passed, 1 findings, 2 bad input, 130 interrupted.
"""


def parsers():
    """Spelling and parser of every verb, and of those within it."""
    for verb in VERBS:
        yield from _within(parser_of(build([verb]), verb))
    for words, (module, _) in ROUTES.items():
        whole = build([module])
        yield with_examples(parser_of(whole, module), f"mfmasim {' '.join(words)}")


def _within(parser):
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in dict.fromkeys(action.choices.values()):
                yield from _within(below)


def helped(parser):
    """The help of a verb, as a terminal of `COLUMNS` columns shows it."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(COLUMNS + 2)
    try:
        return parser.format_help().rstrip()
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)


def page():
    """The page."""
    with_cases = [name for name in VERBS if "--case" in parser_of(build([name]), name)._option_string_actions]
    parts = [HEAD.format(cases=", ".join(f"`{name}`" for name in with_cases))]
    parts += [f"## {one.prog}\n\n```text\n{helped(one)}\n```\n" for one in sorted(parsers(), key=_place)]
    return "\n".join(parts)


def _place(parser):
    words = parser.prog.split()[1:]
    return VERBS.index(words[0])


def manual():
    """The manual page."""
    parts = [MANUAL_HEAD.format(version=__version__)]
    for group, verbs in GROUPS.items():
        parts.append(f".SH {group.upper()}\n")
        for parser in (one for one in parsers() if one.prog.split()[1] in verbs):
            parts.append(f".SS {_roff(parser.prog)}\n{_roff(parser.description or '')}\n")
            parts += [_option(parser, action) for action in parser._actions if action.help != argparse.SUPPRESS]
            words = parser.prog.partition(" ")[2]
            if words in EXAMPLES:
                shown = "\n".join(
                    _roff(text if "mfmasim " in text else f"mfmasim {text}") for text, _ in EXAMPLES[words]
                )
                parts.append(f".PP\nExamples:\n.nf\n{shown}\n.fi\n")
    return "".join(parts)


def _option(parser, action):
    if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
        return ""
    formatter = parser._get_formatter()
    value = action.metavar or action.dest.upper()
    value = " ".join(value) if isinstance(value, tuple) else value
    names = ", ".join(rf"\fB{_roff(name)}\fR" for name in action.option_strings)
    takes = "" if action.nargs == 0 else rf"\fI{_roff(value)}\fR"
    about = formatter._expand_help(action) if action.help else ""
    return f".TP\n{' '.join(filter(None, (names, takes)))}\n{_roff(about)}\n"


def _roff(text):
    """Text as troff reads it."""
    escaped = re.sub(r"\s+", " ", text.replace("\\", r"\e")).replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped)


if __name__ == "__main__":
    PAGE.write_text(page())
    MANUAL.write_text(manual())
