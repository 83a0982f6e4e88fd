"""Fault injection: calls that fail as with faulty hardware or drivers, to test error handling in programs.

``MFMASIM_HIPRT_FAULTS`` is a list, separated by commas, of ``CALL[#N]=ERROR[@sync|@forever]`` or
``CALL[#N]@abort|@hang``: the Nth call of that name (every call without ``#N``) returns the error. With ``@sync`` the
call succeeds without effect, and the next call that synchronises with the device returns the error, as after a failing
kernel; from then on every call does. With ``@forever`` the device is lost: every later call returns the error until the
process ends. With ``@abort`` the process dies, as the runtime lets it after most memory faults. With ``@hang`` the call
succeeds, and its work never ends: queries return hipErrorNotReady, and calls that wait for the device block.

Calls are counted over all processes of a run of ``mfmasim hiprt``, so that a program that starts a process anew after a
fault does not meet the same fault again.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass

from mfmasim.errors import MfmasimError, unknown
from mfmasim.hiprt.tables.errors import CODES, ERRORS
from mfmasim.hiprt.tables.names import NAMES

FORM = re.compile(
    r"(?P<call>\w+)(?:#(?P<number>\d{1,12}))?=(?P<error>\w{1,60})(?:@(?P<when>\w+))?|(?P<bare>\w+)(?:#(?P<at>\d{1,12}))?@(?P<how>\w+)",
    re.ASCII,
)
SUCCESS = CODES["hipSuccess"]
ERROR_NAMES = tuple(name for name, code in CODES.items() if code != SUCCESS)
TIMES = ("now", "sync", "forever", "abort", "hang")
WITHOUT = ("abort", "hang")
"""Times without an error."""
COUNTS = "MFMASIM_HIPRT_COUNTS"
"""File with the numbers of calls of all processes of a run."""
UNWRITTEN = ".unwritten"
"""Suffix of a file next to the report's: it exists if a process could not write the report."""


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
        raise MfmasimError(
            f"fault {entry!r}: CALL[#N]=ERROR[@sync|@forever] or CALL[#N]@abort|@hang is expected, such as "
            "hipMalloc#2=2"
        )
    call, error, when = found["call"] or found["bare"], found["error"], found["when"] or found["how"] or "now"
    number = found["number"] or found["at"]
    if call not in NAMES:
        raise unknown("call", call, NAMES, f"in fault {entry!r}")
    if when not in TIMES:
        raise unknown("time", when, TIMES[1:], f"in fault {entry!r}")
    if error is None and when not in WITHOUT:
        raise MfmasimError(f"fault {entry!r}: @{when} needs an error, as in {call}=hipErrorLaunchFailure@{when}")
    error = error or "hipErrorLaunchFailure"
    code = int(error) if error.isdigit() else CODES.get(error, -1)
    if code not in ERRORS:
        raise unknown("error", error, ERROR_NAMES, f"in fault {entry!r}")
    if code == SUCCESS:
        raise MfmasimError(f"fault {entry!r}: {error} is no error; one is expected, such as hipErrorOutOfMemory or 2")
    if number is not None and not int(number):
        raise MfmasimError(f"fault {entry!r}: calls are counted from 1; without #N every call fails")
    return Fault(call, int(number or 0), code, when)


class Faults:
    """Counts calls and selects those that fail."""

    def __init__(self, faults: list[Fault], *, shared: bool = False) -> None:
        """Count the calls of `faults` from zero; if shared, together with other processes of the run."""
        self._faults = faults
        self._path = os.environ.get(COUNTS) if shared else None
        self._calls: Counter[str] = Counter()

    def of(self, name: str) -> Fault | None:
        """Count a call; its fault, if it has one."""
        if not self._faults:
            return None
        if not any(fault.call == name for fault in self._faults):
            return None
        numbers = (0, self._counted(name))
        return next((fault for fault in self._faults if fault.call == name and fault.number in numbers), None)

    def _counted(self, name: str) -> int:
        """Number of this call of that name; over all processes of the run if they share a file."""
        path = self._path
        if not path:
            self._calls[name] += 1
            return self._calls[name]
        import fcntl  # Linux, as this package

        with open(path, "a+") as file:  # noqa: PTH123  (opened to lock it)
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            number = file.read().split().count(name) + 1
            file.write(f"{name}\n")
            return number
