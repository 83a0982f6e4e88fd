"""Claims: counts that a text states about a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import unknown
from mfmasim.verify.patterns import check_pattern

RELATIONS = ("=", "<", ">", "<=", ">=")
"""Relations of the count to the claimed count."""


@dataclass(frozen=True)
class Claim:
    """One count that a text states about a kernel."""

    text: str
    """The statement in words."""
    what: str
    """One of `mfmasim.lab.reports.claims.QUANTITIES`, or a regular expression for whole mnemonics."""
    count: float
    """Instructions of a wave in a turn of the main loop, or each time that a line of `where` is executed."""
    where: str = ""
    """Text in the source lines whose instructions are counted; empty for the main loop."""
    holds: bool = True
    """Whether it is known to be true; a wrong claim of a text is declared with False."""
    relation: str = "="
    """Relation of the found count to `count`, one of `RELATIONS`."""

    def __post_init__(self) -> None:
        """Refuse a claim that cannot be judged."""
        if self.relation not in RELATIONS:
            raise unknown("relation", self.relation, RELATIONS, f"of claim {self.text!r}")
        check_pattern(self.what, f"claim {self.text!r}: pattern")
