"""Quotas of a launch, which the caller sets, and the meter that enforces them."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from mfmasim.errors import MfmasimError

INSTRUCTIONS = 10**12
"""Wave-instructions of a launch unless the caller says otherwise: some hours at least."""
FAULTS = 1_000
"""Accesses outside every buffer that one instruction of a wave makes unless the caller says otherwise.

A GPU ends the process at the first one (ROCr, "Memory access fault by GPU node"). The simulator goes on, so that one
launch shows further findings; a loop whose counter is wrong shows none after the first turn.
"""


@dataclass(frozen=True)
class Quota:
    """Limits of one launch; None is no limit."""

    instructions: int | None = INSTRUCTIONS
    """Wave-instructions of all waves together; beyond it the launch is stopped."""
    seconds: float | None = None
    """Time on this machine; beyond it the launch is stopped at any instruction."""
    bytes: int | None = None
    """Device memory: buffers, code object and the gaps between them; more is refused before anything runs."""
    rows: int | None = None
    """Findings, and lines that the kernel printed, in the report; the worst are kept, and a note counts the others."""
    faults: int | None = FAULTS
    """Executions of one instruction by one wave outside every buffer; beyond it the wave's workgroup ends."""

    def __post_init__(self) -> None:
        """Refuse numbers that are not positive, and counts that are not integers."""
        for one in fields(self):
            value = getattr(self, one.name)
            kind: Any = Real if one.name == "seconds" else Integral
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not value > 0):
                words = "number above 0" if kind is Real else "whole number of 1 or more"
                raise MfmasimError(f"Quota({one.name}={value!r}): a {words} is expected; None is no limit")


class Meter:
    """Counts the use of a quota by machines; the time is that of all machines of a launch together."""

    def __init__(self, quota: Quota, deadline: float | None = None) -> None:
        """Start to count.

        Args:
            quota: the limits.
            deadline: end of the time on this machine's monotonic clock; None means `quota.seconds` from now.
        """
        self.quota = quota
        self.spent = 0
        self.deadline = deadline
        if deadline is None and quota.seconds is not None:
            self.deadline = time.monotonic() + quota.seconds

    def __getstate__(self) -> tuple[Quota, float | None]:
        """State for a worker, whose clock may differ: the remaining time."""
        return self.quota, None if self.deadline is None else self.deadline - time.monotonic()

    def __setstate__(self, state: tuple[Quota, float | None]) -> None:
        """Count from zero, with the remaining time."""
        quota, left = state
        self.__init__(quota, None if left is None else time.monotonic() + left)  # type: ignore[misc]

    def fresh(self) -> Meter:
        """Another meter for the same time, which counts instructions from zero."""
        return Meter(self.quota, self.deadline)

    def spend(self, instructions: int) -> str:
        """Count wave-instructions; returns the exhausted quota in words, or an empty text."""
        self.spent += instructions
        limit = self.quota.instructions
        if limit is not None and self.spent > limit:
            return f"the launch executed more than {limit:,} wave-instructions"
        if self.deadline is not None and time.monotonic() > self.deadline:
            return f"the launch took more than {self.quota.seconds:g} seconds"
        return ""
