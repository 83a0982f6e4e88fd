"""The search for sizes at which a kernel's loops have three turns and its branches go the other way.

Sizes come from the case's own contract (`mfmasim.lab.agreement.domain`), and each is judged by a launch without checks
(`mfmasim.lab.covering.looking`), without assumptions about the dependences of a loop or a branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mfmasim.devices.ways import GRAPHS, Seen, Ways
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement.domain import Domain
from mfmasim.lab.covering.looking import Look, look
from mfmasim.verify.contract import named_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mfmasim.kernels import Kernel
    from mfmasim.verify.cases import Case

    Goal = tuple[str, int, int]
    """``turns``, a loop and a number; or ``way``, a branch and whether it is taken."""

TURNS = 3
"""A loop that turned so often has had a first, a middle and a last turn."""
LAUNCHES = 6
"""Cost limit of all looks, in launches of the case's own size."""
FEWEST_STEPS = 4000
"""Cost limit that is always allowed: less than half a second."""
MULTIPLES = (3, 6, 12)
"""Multiples of a size whose next values do not add turns to a loop."""
LARGER, FEWEST_WORK = 16, 300_000
"""Most wave-instructions of a look: a multiple of the case's own launch, and a number that is always allowed."""


def missing(kernel: Kernel, seen: Seen) -> set[Goal]:
    """Paths that launches have not shown: second and third turns of loops, and the other ways of executed branches.

    Args:
        kernel: the kernel.
        seen: the paths that they have shown.
    """
    goals: set[Goal] = set()
    for head in GRAPHS.of(kernel):
        goals |= {("turns", head, turns) for turns in range(seen.turns.get(head, 0) + 1, TURNS + 1)}
    return goals | {("way", pc, int(way)) for pc, ways in seen.ways.items() for way in (False, True) if way not in ways}


def shown(seen: Seen) -> set[Goal]:
    """Paths that launches have shown, the complement of `missing`."""
    goals: set[Goal] = {
        ("turns", head, n) for head, turns in seen.turns.items() for n in range(1, min(turns, TURNS) + 1)
    }
    return goals | {("way", pc, int(way)) for pc, ways in seen.ways.items() for way in ways}


@dataclass
class Search:
    """One search and its results."""

    case: Case
    kernel: Kernel
    own: Ways
    """Paths of the case's own launches."""
    launches: int = 1
    """Number of the case's own launches."""
    seen: Seen = field(default_factory=Seen)
    """Paths of these launches, and of those of the kernel's other cases."""
    looks: list[Look] = field(default_factory=list)
    hints: list[Look] = field(default_factory=list)
    """Looks at parameters outside the contract."""
    sizes: tuple[str, ...] = ()
    """Parameters whose values the contract decides."""
    beyond: list[Mapping[str, Any]] = field(default_factory=list)
    """Parameters whose launch is too large for a look."""
    ended: bool = False
    """Whether it stopped before it had tried everything."""
    _spent: int = 0

    def run(self, siblings: Sequence[Mapping[str, Any]] = ()) -> Search:
        """Look until no path is missing.

        Args:
            siblings: parameters of the kernel's other cases that are verified as well: their paths count as seen.
        """
        self.seen.add(self.own.seen)
        for parameters in siblings:
            if not missing(self.kernel, self.seen):
                break
            found = self._look(parameters)
            if found is not None:
                self.seen.add(found.seen)
        self._spent = 0
        if not missing(self.kernel, self.seen):
            return self
        domain = Domain(self.case, self.kernel.arch.name)
        self.sizes = tuple(self._inner_first(domain))
        for name in self.sizes:
            self._longer(domain, name)
        for some in self._beside(domain):
            for parameters in some:
                left = self._left("way") | self._left("turns")
                found = self._kept(parameters) if left else None
                if found is None or not left & shown(found.seen):
                    break  # those after it differ in the same parameters
        if self._left("turns"):
            self._guess(domain)
        return self

    def _inner_first(self, domain: Domain) -> list[str]:
        """The sizes, first those that leave the number of workgroups as it is: the loops within one turn by them."""

        def grid(parameters: Mapping[str, Any] | None) -> object:
            try:
                return None if parameters is None else domain.case.make(parameters).grid
            except MfmasimError:
                return None

        own, parameters = grid({}), self.case.parameters
        return sorted(domain.sizes, key=lambda name: grid(domain.near({name: int(parameters[name]) + 1})) != own)

    def _left(self, kind: str) -> set[Goal]:
        """Paths that neither the case's own launches nor looks have shown."""
        left = {goal for goal in missing(self.kernel, self.seen) if goal[0] == kind}
        return left.difference(*(shown(one.seen) for one in self.looks))

    def _longer(self, domain: Domain, name: str) -> None:
        """Larger values of one size, until the loops that it turns have turned often enough."""
        open_, own = self._left("turns"), int(self.case.parameters[name])
        value = own
        for _ in range(TURNS):
            parameters = domain.near({name: value + 1}) if open_ else None
            found = self._kept(parameters) if parameters else None
            if found is None or not self._matters(found):
                break
            if self._closed(open_, found):
                return
            value = int(found.parameters.get(name, value + 1))
        for factor in MULTIPLES if open_ else ():
            parameters = domain.near({name: factor * own})
            found = self._kept(parameters) if parameters else None
            if found is None or not self._matters(found) or self._closed(open_, found):
                return

    def _matters(self, found: Look) -> bool:
        """Whether a kernel took other paths than at the case's own size: larger values may add further paths."""
        own = self.own.seen
        return found.seen.ways != own.ways or found.seen.turns != own.turns

    def _gained(self, open_: set[Goal], found: Look) -> set[int]:
        """Loops that turned more often than in all launches of the case."""
        return {goal[1] for goal in open_ & shown(found.seen)}

    def _closed(self, open_: set[Goal], found: Look) -> bool:
        """Whether the loops that turned more often turned often enough."""
        gained, left = self._gained(open_, found), open_ - shown(found.seen)
        return bool(gained) and not any(goal[1] in gained for goal in left)

    def _beside(self, domain: Domain) -> Iterator[Sequence[Mapping[str, Any]]]:
        """Sizes next to the case's own, the smallest sizes, and other declared or usual values."""
        own = {name: int(self.case.parameters[name]) for name in self.sizes}
        steps = (
            ({name: value + 1 for name, value in own.items()}, False),
            ({name: value - 1 for name, value in own.items() if value > 1}, True),
            ({name: TURNS * value + 1 for name, value in own.items()}, False),
        )
        if own:
            yield [found for wanted, down in steps if wanted and (found := domain.near(wanted, down=down))]
            least = domain.near({}, least=True)
            yield [least] if least else []
            for name in self.sizes:
                others = named_values(self.case.needs, name)
                yield from ([found] for one in others if one != own[name] and (found := domain.near({name: one})))
        for name, kind in domain.kinds.items():
            if kind == "declared":
                yield from ([{name: one}] for one in domain.values(name, {}) if one != self.case.parameters[name])
        factors = [name for name, kind in domain.kinds.items() if kind == "factor" and self.case.parameters[name]]
        if factors:
            each = [{name: 0.0} for name in factors]
            together = dict.fromkeys(factors, 0.0)
            left = self._left("way")
            look = self._look(together) if left else None
            if look is not None and left & shown(look.seen):
                yield from ([one] for one in each)

    def _guess(self, domain: Domain) -> None:
        """Three times a number outside the contract, for a hint."""
        for name, value in self.case.parameters.items():
            if type(value) is not int or name in domain.kinds or name in ("arch", "wave") or value < 1:
                continue
            for factor in (TURNS, TURNS * TURNS):
                found = self._look({name: factor * value})
                if found is not None and self._gained(self._left("turns"), found):
                    self.hints.append(found)
                    break

    def _kept(self, parameters: Mapping[str, Any]) -> Look | None:
        """Add a look that may become a run."""
        known = next((one for one in self.looks if one.parameters == parameters), None)
        found = known or self._look(parameters)
        if found is not None and known is None:
            self.looks.append(found)
        return found

    def _look(self, parameters: Mapping[str, Any]) -> Look | None:
        """Look at parameters, unless the search has reached its cost limit."""
        if self._spent > max(LAUNCHES * self.own.steps // self.launches, FEWEST_STEPS):
            self.ended = True
            return None
        found = look(self.case, self.kernel, parameters, max(LARGER * self.own.work // self.launches, FEWEST_WORK))
        if found is None:
            return None
        self._spent += found.steps
        if not found.whole:
            self.beyond.append(parameters)
            return None
        return found

    def chosen(self, most: int) -> list[Look]:
        """The fewest and cheapest looks that show the paths of all looks.

        Args:
            most: looks at most.
        """
        left = missing(self.kernel, self.seen)
        found: list[Look] = []
        while len(found) < most:
            gains = [(len(left & shown(one.seen)), -one.steps, -number, one) for number, one in enumerate(self.looks)]
            best = max(gains, default=None, key=lambda gain: gain[:3])
            if best is None or not best[0]:
                break
            found.append(best[3])
            left -= shown(best[3].seen)
        return self._together([one for one in found if self._needed(one, found)])

    def _together(self, found: list[Look]) -> list[Look]:
        """One look in place of several that differ in different parameters, if it shows their paths."""
        parameters = {name: value for one in found for name, value in one.parameters.items()}
        if len(found) < 2 or len(parameters) < sum(len(one.parameters) for one in found):
            return found
        wanted = missing(self.kernel, self.seen) & set().union(*(shown(one.seen) for one in found))
        one = self._look(parameters)
        return [one] if one is not None and wanted <= shown(one.seen) else found

    def _needed(self, one: Look, found: Sequence[Look]) -> bool:
        """Whether a look shows a path that no other chosen look shows."""
        others = [shown(other.seen) for other in found if other is not one]
        return bool((missing(self.kernel, self.seen) & shown(one.seen)).difference(*others))
