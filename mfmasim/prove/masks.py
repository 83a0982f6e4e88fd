"""Lane masks: lanes that are known to be active or inactive, and conditions that decide the other lanes.

A mask is a set of lanes, and a conjunction of literals. A literal is a condition with a sign; a condition is an
inequality of each lane, or an opaque fact with an identity. A mask that no such conjunction describes is a new
opaque condition, which is equal to itself wherever it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.polynomial import tightened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.prove.polynomial import Polynomial, Symbol

__all__ = ["Condition", "Literal", "Mask"]

_serial = count()


@dataclass(frozen=True)
class Condition:
    """A condition of each lane (or wave): ``value >= 0``, ``value == 0``, or unknown."""

    kind: str
    """``ge``, ``eq``, or ``opaque``."""
    key: tuple[object, ...]
    value: Polynomial | None = field(default=None, compare=False)
    uniform: bool = field(default=False, compare=False)
    """Whether all waves and lanes have the same result."""
    reads: frozenset[Symbol] | None = field(default=None, compare=False)
    """Symbols that decide the condition; None if they are unknown."""

    @classmethod
    def of(cls, kind: str, value: Polynomial) -> Condition:
        """An inequality, or an equation."""
        return cls(kind, (kind, *value.key), value, value.uniform, frozenset(value.symbols))

    @classmethod
    def opaque(
        cls, key: tuple[object, ...] = (), *, uniform: bool = False, reads: frozenset[Symbol] | None = None
    ) -> Condition:
        """An opaque condition.

        Args:
            key: conditions with equal keys are equal; without a key the condition is new.
            uniform: whether all waves and lanes have the same result.
            reads: symbols that decide the condition, if they are known.
        """
        return cls("opaque", key or (next(_serial),), None, uniform, reads)

    @property
    def common(self) -> bool:
        """Whether the condition has the same result in all waves of a workgroup."""
        return self.uniform if self.value is None else not any(symbol.varies for symbol in self.value.symbols)

    def chosen(self, waves: NDArray[np.intp]) -> Condition:
        """The lanes of some of the waves."""
        if self.value is None or self.uniform:
            return self
        return Condition.of(self.kind, self.value.mapped(lambda c: c[waves] if c.shape[0] > 1 else c))

    def facts(self, *, holds: bool) -> list[Polynomial]:
        """Polynomials that are not negative if the condition holds, or if it does not hold."""
        if self.value is None:
            return []
        if self.kind == "ge":
            return [tightened(self.value if holds else -self.value - 1)]
        return [tightened(self.value), tightened(-self.value)] if holds else []


Literal = tuple[Condition, bool]


@dataclass(frozen=True, eq=False)
class Mask:
    """The lanes of `on` for which all literals hold."""

    on: NDArray[np.bool_]
    """(waves, lanes)."""
    literals: frozenset[Literal] = frozenset()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mask) and self.literals == other.literals and bool((self.on == other.on).all())

    __hash__ = None  # type: ignore[assignment]

    @property
    def known(self) -> bool:
        """Whether the mask has no literals."""
        return not self.literals or not self.on.any()

    @property
    def some(self) -> NDArray[np.bool_]:
        """Whether each wave has an active lane, for a known mask: (waves, 1)."""
        if self.literals:
            return np.zeros((len(self.on), 1), np.bool_)
        return np.asarray(self.on.any(axis=1))[:, None]

    def within(self, other: Mask) -> bool:
        """Whether the mask is certainly a subset of another mask."""
        return other.literals <= self.literals and not (self.on & ~other.on).any()

    def both(self, other: Mask) -> Mask:
        """Lanes of both masks."""
        literals = self.literals | other.literals
        opposite = any((condition, not holds) in literals for condition, holds in literals)
        return Mask(self.on & other.on & (not opposite), literals)

    def without(self, other: Mask) -> Mask:
        """Lanes of this mask that the other mask does not have."""
        if other.known:
            off = other.on if not other.literals else np.zeros_like(other.on)
            return Mask(self.on & ~off, self.literals)
        extra = other.literals - self.literals
        if not (self.on & ~other.on).any() and len(extra) == 1:
            ((condition, holds),) = extra
            return self.both(Mask(other.on, frozenset({(condition, not holds)})))
        return Mask(self.on, self.literals | {(Condition.opaque(), True)})

    def either(self, other: Mask) -> Mask:
        """Lanes of at least one mask."""
        a, b = (Mask(m.on, frozenset()) if not m.on.any() else m for m in (self, other))
        if not a.on.any() and not a.literals:
            return b
        if not b.on.any() and not b.literals:
            return a
        if a.within(b):
            return b
        if b.within(a):
            return a
        if a.literals == b.literals:
            return Mask(a.on | b.on, a.literals)
        if (a.on == b.on).all():
            ours, theirs = a.literals - b.literals, b.literals - a.literals
            if len(ours) == len(theirs) == 1:
                ((one, holds),), ((two, also),) = ours, theirs
                if one == two and holds != also:
                    return Mask(a.on, a.literals & b.literals)
        return Mask(a.on | b.on, (a.literals & b.literals) | {(Condition.opaque(), True)})

    def one_of(self, other: Mask) -> Mask:
        """Lanes of exactly one mask."""
        if other.within(self):
            return self.without(other)
        if self.within(other):
            return other.without(self)
        if self.known and other.known:
            return Mask((self.on if not self.literals else self.on & False) ^ other.on, frozenset())
        return Mask(self.on | other.on, frozenset({(Condition.opaque(), True)}))

    def facts(self) -> list[Polynomial]:
        """Polynomials that are not negative in the mask's lanes."""
        return [fact for condition, holds in self.literals for fact in condition.facts(holds=holds)]

    def chosen(self, waves: NDArray[np.intp]) -> Mask:
        """The lanes of some of the waves."""
        picked = frozenset((condition.chosen(waves), holds) for condition, holds in self.literals)
        return Mask(self.on[waves] if self.on.shape[0] > 1 else self.on, picked)
