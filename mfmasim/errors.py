"""Errors a user can cause, told in one line: the value, what is allowed, the nearest match."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MfmasimError", "unknown"]


class MfmasimError(Exception):
    """Bad input or an unsupported request; its text is one clear line, and the command line exits with 2."""


def unknown(kind: str, value: object, allowed: Iterable[str], where: str = "") -> MfmasimError:
    """Build the error for a name that is not in a set of names.

    Args:
        kind: what was asked for, such as ``"architecture"``.
        value: the name that was given.
        allowed: every name that would have done.
        where: the context, such as ``"on gfx942"``.

    Returns:
        The error, to be raised by the caller. It names the nearest match, and the whole set while that is short.
    """
    names = [str(name) for name in allowed]
    text = f"unknown {kind} {str(value)!r}" + (f" {where}" if where else "")
    near = difflib.get_close_matches(str(value), names, n=1, cutoff=0.5)
    if near:
        text += f"; did you mean {near[0]!r}?"
    if len(names) <= 20:
        text += ("" if near else ";") + f" allowed: {', '.join(names)}"
    elif not near:
        text += f"; {len(names)} are known, for example {', '.join(names[:3])}"
    return MfmasimError(text)
