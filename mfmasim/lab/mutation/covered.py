"""Mutants at further sizes of a case: a second turn may show a fault that the first turn does not."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from mfmasim.devices.ways import Seen
from mfmasim.errors import MfmasimError
from mfmasim.lab.covering.covering import Covering, covering_of, verify_at, words
from mfmasim.lab.covering.unseen import said

if TYPE_CHECKING:
    from mfmasim.devices.ways import Ways
    from mfmasim.kernels import Kernel
    from mfmasim.verify.cases import Case

BUDGET = 200_000
"""Instructions that a wave of a mutant may execute."""


class Sizes:
    """Further sizes at which mutants of a case are verified; the search runs when the first mutant needs it."""

    def __init__(self, case: Case, kernel: Kernel, own: Ways, *, covers: bool = True) -> None:
        """Keep the paths of the unchanged kernel.

        Args:
            case: the case.
            kernel: its kernel, unchanged.
            own: paths of its launches.
            covers: whether there are such sizes at all.
        """
        self.case, self.kernel, self.own, self.covers = case, kernel, own, covers

    @cached_property
    def _covering(self) -> Covering:
        return covering_of(self.case, self.kernel, self.own)

    @cached_property
    def _passing(self) -> list[str]:
        """Sizes at which the unchanged kernel passes: a failure there is due to the mutant."""
        found = []
        for one in self._covering.runs:
            try:
                right = verify_at(self.case, one.parameters, self.kernel, budget=BUDGET).status == "pass"
            except MfmasimError:
                continue
            found += [words(self.case, one.parameters)] if right else []
        return found

    def caught(self, mutant: Kernel) -> tuple[tuple[str, ...], str]:
        """Checks that report an error of a mutant at one of the sizes, and the size.

        Args:
            mutant: its kernel.
        """
        for one in self._covering.runs if self.covers else ():
            at = words(self.case, one.parameters)
            if at not in self._passing:
                continue
            try:
                result = verify_at(self.case, one.parameters, mutant, budget=BUDGET)
            except MfmasimError:
                return ("refused",), at
            errors = {finding.check for finding in result.findings if finding.severity == "error"}
            if errors:
                return tuple(sorted(errors)), at
        return (), ""

    @cached_property
    def unseen(self) -> str:
        """Paths that no size of the case shows, in words: why a mutant may survive."""
        if not self.covers:
            return ""
        seen = Seen()
        for one in (self._covering.search.seen, *(run.seen for run in self._covering.runs)):
            seen.add(one)
        return "; ".join(said(self._covering.search, self.kernel, seen, self._covering.left_out, words))
