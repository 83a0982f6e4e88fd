"""Fault injection: calls that fail as with faulty hardware or drivers, to test error handling in programs.

``MFMASIM_HIPRT_FAULTS`` is a list, separated by commas, of ``CALL[#N]=ERROR[@sync|@forever]``: the Nth call of that
name (every call without ``#N``) returns the error. With ``@sync`` the call succeeds without effect, and the next call
that synchronises with the device returns the error, as after a failing kernel. With ``@forever`` the device is lost:
every later call returns the error until the process ends.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from mfmasim.errors import MfmasimError, unknown
from mfmasim.hiprt.tables.errors import CODES, ERRORS
from mfmasim.hiprt.tables.names import NAMES

__all__ = ["Fault", "Faults", "parse"]

FORM = re.compile(r"(?P<call>\w+)(?:#(?P<number>\d{1,12}))?=(?P<error>\w{1,60})(?:@(?P<when>\w+))?", re.ASCII)
SUCCESS = CODES["hipSuccess"]
ERROR_NAMES = tuple(name for name, code in CODES.items() if code != SUCCESS)
TIMES = ("now", "sync", "forever")


@dataclass(frozen=True)
class Fault:
    """One fault."""

    call: str
    number: int
    """Number of the call of that name, from 1; 0 for every call."""
    code: int
    when: str
    """One of `TIMES`."""


def parse(text: str) -> list[Fault]:
    """Read a list of faults.

    Raises:
        MfmasimError: an entry is malformed, or has an unknown call, error or time.
    """
    return [_parse(entry.strip()) for entry in text.split(",") if entry.strip()]


def _parse(entry: str) -> Fault:
    found = FORM.fullmatch(entry)
    if found is None:
        raise MfmasimError(f"fault {entry!r}: CALL[#N]=ERROR[@sync|@forever] is expected, such as hipMalloc#2=2")
    call, error, when = found["call"], found["error"], found["when"] or "now"
    if call not in NAMES:
        raise unknown("call", call, NAMES, f"in fault {entry!r}")
    code = int(error) if error.isdigit() else CODES.get(error, -1)
    if code not in ERRORS:
        raise unknown("error", error, ERROR_NAMES, f"in fault {entry!r}")
    if code == SUCCESS:
        raise MfmasimError(f"fault {entry!r}: {error} is no error; one is expected, such as hipErrorOutOfMemory or 2")
    if found["number"] is not None and not int(found["number"]):
        raise MfmasimError(f"fault {entry!r}: calls are counted from 1; without #N every call fails")
    if when not in TIMES:
        raise unknown("time", when, TIMES[1:], f"in fault {entry!r}")
    return Fault(call, int(found["number"] or 0), code, when)


class Faults:
    """Counts calls and selects those that fail."""

    def __init__(self, faults: list[Fault]) -> None:
        """Count from zero, for `faults`."""
        self._faults = faults
        self._calls: Counter[str] = Counter()

    def of(self, name: str) -> Fault | None:
        """Count a call; its fault, if it has one."""
        if not self._faults:
            return None
        self._calls[name] += 1
        numbers = (0, self._calls[name])
        return next((fault for fault in self._faults if fault.call == name and fault.number in numbers), None)
