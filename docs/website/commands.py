"""Reference of the command line: one page for each verb, made from its parser."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING

from docs.website.markdown import table
from mfmasim.cli import VERBS, build

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command_pages"]

WIDTH = 92


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, width=WIDTH)


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001 (argparse has no public way to read a parser)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def _text(text: str | None) -> str:
    return (text or "").replace("<", "&lt;").replace("*", r"\*")


def _name(action: argparse.Action) -> str:
    value = action.metavar or (None if action.choices is None else "{" + ",".join(map(str, action.choices)) + "}")
    shown = " ".join(value) if isinstance(value, tuple) else str(value or action.dest.upper())
    if not action.option_strings:
        return f"`{shown if action.metavar or action.choices else action.dest}`"
    takes = "" if action.nargs == 0 else f" {shown}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def _rows(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    formatter = parser._get_formatter()  # noqa: SLF001
    for action in parser._actions:  # noqa: SLF001
        if action.help == argparse.SUPPRESS or isinstance(
            action,
            argparse._HelpAction | argparse._SubParsersAction,  # noqa: SLF001
        ):
            continue
        about = formatter._expand_help(action) if action.help else ""  # noqa: SLF001
        yield _name(action), _text(about)


def _section(parser: argparse.ArgumentParser, level: int) -> str:
    parser.formatter_class = _formatter
    usage = textwrap.dedent(" " * len("usage: ") + parser.format_usage().removeprefix("usage: "))
    text = f"{'#' * level} {parser.prog}\n\n"
    if parser.description:
        text += f"{_text(parser.description).strip()}\n\n"
    text += f"```\n{usage}```\n\n"
    if rows := list(_rows(parser)):
        text += table(["argument", "meaning"], rows) + "\n"
    if parser.epilog:
        text += f"```\n{parser.epilog.strip()}\n```\n\n"
    return text + "".join(_section(below, level + 1) for below in _subparsers(parser).values())


def command_pages() -> dict[str, str]:
    """Pages by path: the list of verbs, and each verb."""
    verbs = _subparsers(build())
    helps = {
        choice.dest: choice.help or ""
        for action in build()._actions  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        for choice in action._choices_actions  # noqa: SLF001
    }
    index = (
        "# The command line\n\nEvery verb takes `--help`. Exit codes: 0 everything passed, 1 findings, 2 bad input, "
        "130 interrupted.\n\n"
        + table(["verb", "what it does"], ([f"[mfmasim {verb}]({verb}.md)", _text(helps.get(verb))] for verb in VERBS))
    )
    return {"cli/index.md": index} | {f"cli/{verb}.md": _section(verbs[verb], 1) for verb in VERBS}
