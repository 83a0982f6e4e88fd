"""Patterns by which a user's statements name instructions: regular expressions for whole mnemonics."""

from __future__ import annotations

import re

from mfmasim.errors import MfmasimError


def check_pattern(pattern: str, where: str) -> None:
    """Refuse a text that is not a regular expression.

    Raises:
        MfmasimError: it is not one; `where` names its place.
    """
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        raise MfmasimError(f"{where} {pattern!r}: {error}") from None


def matches(pattern: str, mnemonic: str) -> bool:
    """Whether a pattern is for a mnemonic."""
    return re.fullmatch(pattern, mnemonic) is not None
