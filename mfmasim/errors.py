"""Errors caused by input, in one line: the value, the allowed values, the nearest match."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar

from mfmasim.visible import LAYOUT, visible

_LONGEST_VALUE = 200
MOST = 20
"""Names that an error lists."""
ALIKE = 3
"""Names with one beginning among which the nearest may still be meant."""


class MfmasimError(Exception):
    """Bad input or an unsupported request. The text is one line; the command line exits with 2."""

    kind: ClassVar[str] = "argument"
    """What went wrong, for programs; the text is for people, and nothing reads it."""

    def __init__(self, text: object = "") -> None:
        """Keep the text, with what would steer a terminal spelled out."""
        super().__init__(visible(str(text), LAYOUT))


class SizeError(MfmasimError):
    """A grid, a block, a cluster or LDS that the device does not run."""

    kind = "size"


class NotCodeObjectError(MfmasimError):
    """The bytes are something else than a code object that a device loads."""

    kind = "not-code-object"


class DamagedError(MfmasimError):
    """A code object, or a bundle of them, that is truncated or contradicts itself."""

    kind = "damaged"


class TargetError(MfmasimError):
    """Well-formed code, but none for the architecture that was asked for, or for one that is not supported."""

    kind = "target"


class UnsupportedError(MfmasimError):
    """Well-formed, and beyond what is implemented: an instruction, a relocation, a service of the host, ..."""

    kind = "unsupported"


class ExhaustedError(MfmasimError):
    """The host has not the memory that a launch takes."""

    kind = "memory"


class DeviceError(MfmasimError):
    """A GPU, its runtime or its process failed."""

    kind = "device"


class FaultError(DeviceError):
    """The kernel ended the process that holds the GPU."""

    kind = "fault"


class TimeOutError(DeviceError):
    """A launch did not end in time."""

    kind = "time-out"


def decimal(text: str, most: int = 2**31 - 1) -> int:
    """The number that a text of decimal digits stands for; -1 for any other text, and for one above `most`.

    `str.isdigit` accepts digits that `int` refuses, and `int` refuses more than 4,300 digits.

    >>> decimal("31"), decimal("²"), decimal("-1"), decimal("9" * 5000)
    (31, -1, -1, -1)
    """
    whole = text.isascii() and text.isdigit() and len(text.lstrip("0")) <= len(str(most))
    return int(text) if whole and int(text) <= most else -1


def one_line(error: BaseException) -> str:
    """The type and the text of an error of others, in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"


def unknown(kind: str, value: object, allowed: Iterable[str], where: str = "") -> MfmasimError:
    """Build the error for a name that is not in a set of names.

    Args:
        kind: kind of the name, such as ``"architecture"``.
        value: the given name.
        allowed: all allowed names.
        where: the context, such as ``"on gfx942"``.

    Returns:
        The error, to be raised by the caller. It contains the nearest match, and all names if there are few.
    """
    names = [str(name) for name in allowed]
    shown = repr(str(value)[:_LONGEST_VALUE]) + ("..." if len(str(value)) > _LONGEST_VALUE else "")
    text = f"unknown {kind} {shown}" + (f" {where}" if where else "")
    near = difflib.get_close_matches(str(value)[:_LONGEST_VALUE], names, n=1, cutoff=0.5)
    begin = [name for name in names if len(str(value)) > 2 and name.startswith(str(value))]
    if len(begin) > ALIKE and len(names) <= MOST:  # none of them is nearer than the others
        near = []
    if near:
        text += f"; did you mean {near[0]!r}?"
    if not names:
        text += "; there is none"
    elif len(names) <= MOST:
        text += ("" if near else ";") + f" allowed: {', '.join(names)}"
    elif not near:
        text += f"; {len(names)} are known, for example {', '.join(names[:3])}"
    return MfmasimError(text)
