"""The outcome of a mutant: caught, equivalent, without effect on the case's data, or survived."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mfmasim.fidelity import Trust

if TYPE_CHECKING:
    from mfmasim.verify.result import Result

SAME_BYTES = "the same bytes on all data of this case"
"""Why nothing reports a mutant that changes no buffer."""


class Changed(Protocol):
    """A mutant, of compiled code or of a source."""

    @property
    def kind(self) -> str:
        """The operator that made it."""

    @property
    def place(self) -> str:
        """Its place as text."""

    @property
    def change(self) -> str:
        """The text before and after the change."""


def same_bytes(before: Result, after: Result | None) -> str:
    """The remark on a mutant that changes no buffer: its bank conflicts, if it changes them.

    Args:
        before: result of the unchanged kernel.
        after: result of the mutant; None if the machine refused it.
    """
    extra = [result.lds.get("extra_passes", 0) for result in (before, after) if result is not None]
    if len(set(extra)) < 2:
        return SAME_BYTES
    return (
        f"{SAME_BYTES}; it changes bank conflicts: {extra[0]:,} extra passes before, {extra[1]:,} with it (a claim of "
        f"'LDS degree' would catch it)"
    )


def within_tolerance(after: Result | None) -> str:
    """A note on a mutant that changes outputs, all within the tolerance that the case declares."""
    if after is None or after.margin is None or after.margin > 1:
        return ""
    return f"outputs differ within their tolerance, by {after.margin:.2g} of it at most"


@dataclass(frozen=True)
class Outcome:
    """Outcome of running a mutant."""

    mutant: Changed
    case: str
    arch: str
    caught: tuple[str, ...]
    """Checks that reported an error; ``refused`` when the machine, ``compiler`` when the compiler does not take it."""
    equivalent: str = ""
    """Why no check can report it."""
    note: str = ""
    """For a survivor: the order that it removes."""
    same: str = ""
    """Why no check reports it on the data of this case, though it may matter on other data."""
    trust: Trust = field(default_factory=Trust)
    """The fidelity of the unchanged kernel's run."""

    at: str = ""
    """The size at which it was caught, if it differs from the case's own."""

    @property
    def survived(self) -> bool:
        """Whether it should have been caught and was not."""
        return not self.caught and not self.equivalent and not self.same

    def __str__(self) -> str:
        """The checks that caught it, or why none did."""
        if self.caught:
            return ", ".join(self.caught) + (f" at {self.at}" if self.at else "")
        if self.equivalent:
            return f"equivalent: {self.equivalent}"
        return self.same or f"NOTHING ({self.note or 'no reason known'})"

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        mutant = {"kind": self.mutant.kind, "place": self.mutant.place, "change": self.mutant.change}
        rest = {name: getattr(self, name) for name in ("case", "arch", "equivalent", "note", "same", "survived", "at")}
        return {"mutant": mutant, "caught": list(self.caught), "fidelity": self.trust.record(), **rest}
