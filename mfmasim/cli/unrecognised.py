"""Errors for words that a verb does not take: the verbs with the option, or the nearest option."""

from __future__ import annotations

import argparse
import difflib
from typing import TYPE_CHECKING, NoReturn

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTEAD = {
    ("verify", "--checks"): "verify runs all checks, or those that a case names by checks= (docs/case-reference.md)"
}
"""What a verb does in place of an option that others have."""


def refuse(words: Sequence[str], verb: str, whole: argparse.ArgumentParser) -> NoReturn:
    """Refuse words that a verb does not take.

    Args:
        words: the unrecognised words.
        verb: the verb's module.
        whole: the parser with all verbs.

    Raises:
        MfmasimError: always.
    """
    option = next((word.partition("=")[0] for word in words if word.startswith("--")), "")
    options = _options(whole) if option else {}
    having = [name for name, known in options.items() if option in known]
    parts = [f"unrecognized arguments: {' '.join(words)}"]
    if (verb, option) in INSTEAD:
        parts.append(INSTEAD[verb, option])
    if having:
        parts.append(f"{option} is an option of {', '.join(having)}")
    elif near := difflib.get_close_matches(option, options.get(verb, ()), n=1):
        parts.append(f"did you mean {near[0]}?")
    raise MfmasimError("; ".join(parts))


def _options(whole: argparse.ArgumentParser) -> dict[str, list[str]]:
    """Long options by verb."""
    parsers = next(one.choices for one in whole._actions if isinstance(one, argparse._SubParsersAction))  # noqa: SLF001
    return {
        name: [word for word in parser._option_string_actions if word.startswith("--")]  # noqa: SLF001
        for name, parser in parsers.items()
    }
