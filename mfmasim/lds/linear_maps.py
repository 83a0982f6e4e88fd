"""Linear maps over GF(2) under which given pairs of accesses do not conflict: the search behind `find_swizzle`.

A map exclusive-ors an image into the byte offset for each set bit above `line`; targets lie below. Two accesses of one
phase at offsets a and b collide if (d ^ M(d)) has no bit among the bank's, with d = a ^ b, since M is linear. So a
phase is free of conflicts if, for each high part h of such a d, M(h) avoids certain values; as soon as the images of
the low k bits of h are chosen, everything they span is known, and a branch that fails is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

# Nodes of the tree up to which all maps are counted.
_COUNTED = 40_000


@dataclass(frozen=True)
class Collision:
    """Pairs of accesses that must not share banks.

    Attributes:
        mask: bits of the offset that choose the bank unit.
        differences: exclusive-or of the two linear offsets, without the bits inside a unit; distinct.
    """

    mask: int
    differences: NDArray[np.int64]


def collisions(
    offsets: NDArray[np.int64], active: NDArray[np.bool_], sets: Iterable[Sequence[int]], banks: int, unit: int
) -> Collision:
    """Differences of all pairs of lanes that share a phase.

    Args:
        offsets: linear byte offsets (accesses, lanes), aligned to the unit or within a dword.
        active: lanes that take part.
        sets: lanes of each phase.
        banks: banks of 4 bytes.
        unit: bytes that stay together in neighbouring banks.
    """
    found = [np.zeros(0, np.int64)]
    for part in sets:
        lanes = list(part)
        here, real = offsets[:, lanes] & -unit, active[:, lanes]
        pairs = here[:, :, None] ^ here[:, None, :]
        found.append(np.unique(pairs[real[:, :, None] & real[:, None, :]]))
    differences = np.unique(np.concatenate(found))
    return Collision((banks * 4 - 1) & -unit, differences[differences != 0])


class Space:
    """All maps from the bits `line`.. `top` - 1 of the offset into the bits `low`.. `line` - 1 that banks depend on."""

    def __init__(self, low: int, line: int, top: int, found: Sequence[Collision]) -> None:
        """Prepare the search.

        Args:
            low: lowest target bit: what is below stays together.
            line: first source bit.
            top: bits of an offset in the tile.
            found: pairs that must not conflict.
        """
        bank_bits = max((collision.mask.bit_length() for collision in found), default=low)
        self.low, self.line = low, line
        self.sources = max(0, top - line)
        self.targets = max(0, min(line, bank_bits) - low)
        self.impossible = False
        target_mask = ((1 << self.targets) - 1) << low
        # Values of M(h) that collide, as bits of one integer per h.
        self.forbidden: dict[int, int] = {}
        for collision in found:
            fixed = collision.mask & ~target_mask
            movable = collision.mask & target_mask
            together = collision.differences[collision.differences & fixed == 0]
            for difference in together.tolist():
                high = difference >> line
                values = self._values(movable >> low, (difference & movable) >> low)
                self.forbidden[high] = self.forbidden.get(high, 0) | values
        if self.forbidden.pop(0, 0) & 1:  # M(0) is 0 whatever is chosen
            self.impossible = True
        self.levels = [
            [high for high in self.forbidden if high >> bit == 1] for bit in range(self.sources)
        ]  # by highest bit
        self.idle = [bit for bit in range(self.sources) if not any(high >> bit & 1 for high in self.forbidden)]

    def _values(self, mask: int, value: int) -> int:
        """Set of the images that agree with `value` under `mask`."""
        return sum(1 << image for image in range(1 << self.targets) if image & mask == value)

    def _allowed(self, bit: int, spanned: Sequence[int]) -> Iterator[int]:
        """Images of a source bit without a collision, given the images that lower bits span."""
        blocked = [(self.forbidden[high], spanned[high ^ (1 << bit)]) for high in self.levels[bit]]
        for image in range(1 << self.targets):
            if not any(values >> (image ^ low) & 1 for values, low in blocked):
                yield image

    def count(self) -> int | None:
        """Number of conflict-free maps; None where there are too many to enumerate."""
        if self.impossible:
            return 0
        busy = [bit for bit in range(self.sources) if bit not in self.idle]
        if (1 << self.targets) ** max(0, len(busy) - 1) > _COUNTED:
            return None

        def below(bit: int, spanned: list[int]) -> int:
            if bit == self.sources:
                return 1
            if bit in self.idle:
                return below(bit + 1, spanned * 2) << self.targets
            last = all(later in self.idle for later in range(bit + 1, self.sources))
            images = self._allowed(bit, spanned)
            if last:
                return sum(1 for _ in images) << self.targets * (self.sources - bit - 1)
            return sum(below(bit + 1, spanned + [image ^ value for value in spanned]) for image in images)

        return below(0, [0])

    @property
    def size(self) -> int:
        """Number of all maps."""
        return 1 << self.sources * self.targets

    def cheapest(self, limit: int, most_terms: int = 4) -> list[tuple[int, ...]]:
        """Conflict-free maps, fewest terms first.

        A term moves bits by one distance, so the maps with n terms are those whose entries lie on n diagonals; each
        choice of diagonals is searched by itself. Bits that no collision depends on get no image.

        Args:
            limit: maps to find.
            most_terms: diagonals tried at most.

        Returns:
            Images of the source bits (as masks on the offset), at most `limit` maps.
        """
        if self.impossible:
            return []
        distances = range(self.line - (self.low + self.targets - 1), self.line + self.sources - self.low)
        found: dict[tuple[int, ...], None] = {}
        for terms in range(min(most_terms, len(distances)) + 1):
            for chosen in combinations(distances, terms):
                for images in self._on(chosen, limit):
                    found.setdefault(tuple(image << self.low for image in images))
                    if len(found) >= limit:
                        return list(found)
            if found:  # more terms cost more operations
                break
        return list(found)

    def _on(self, distances: Sequence[int], limit: int) -> Iterator[tuple[int, ...]]:
        """Maps whose entries all move by one of the distances, at most `limit`."""
        choices = []
        for bit in range(self.sources):
            images = [0]
            if bit not in self.idle:
                for distance in distances:
                    target = self.line + bit - distance - self.low
                    if 0 <= target < self.targets:
                        images += [image | 1 << target for image in images]
            choices.append(set(images))
        given = 0

        def down(bit: int, spanned: list[int], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            nonlocal given
            if given >= limit:
                return
            if bit == self.sources:
                given += 1
                yield chosen
                return
            for image in self._allowed(bit, spanned):
                if image in choices[bit]:
                    yield from down(bit + 1, spanned + [image ^ value for value in spanned], (*chosen, image))

        yield from down(0, [0], ())
