"""Split-K: the length and number of slices, and the memory for their partial sums.

A kernel sums K in steps (16 for RDNA's WMMA), so a slice that is not a multiple of a step overlaps the next slice,
whose first elements are then summed twice. Source of the published rule: wmma_ops, ``split_k::compute_config``
(wmma_xor_swizzle.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import MfmasimError

SHORTEST = 256
"""Shortest slice, unless K itself is shorter."""
MOST = 32
"""Largest number of slices."""
WAVES = 4
"""Target number of workgroups per compute unit."""


@dataclass(frozen=True)
class Split:
    """A division of K."""

    k: int
    slices: int
    """Layers of the grid."""
    k_per_split: int
    """Length of every slice; the last one may be shorter."""
    workspace: int
    """Bytes of the partial sums in f32; 0 for a single slice, which writes C directly."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """K of each slice; 0 for a slice that begins beyond the end."""
        return tuple(max(0, min(self.k_per_split, self.k - s * self.k_per_split)) for s in range(self.slices))

    def counted_twice(self, step: int = 16) -> int:
        """Elements of K that a kernel with whole steps multiplies in two slices."""
        ends = [(s + 1) * self.k_per_split for s in range(self.slices - 1)]
        return sum(min(-end % step, self.k - end) for end in ends if end < self.k)


def k_per_split(k: int, slices: int, step: int = 16) -> int:
    """The shortest multiple of a step such that the given number of slices covers K.

    Args:
        k: length of the sums.
        slices: requested number of slices; fewer are used if K has fewer steps, or if the last would be empty.
        step: K of one step of the kernel.

    Raises:
        MfmasimError: a number below 1.
    """
    for name, value in (("k", k), ("slices", slices), ("step", step)):
        if value < 1:
            raise MfmasimError(f"{name} {value} of a split: 1 or more is expected")
    steps = -(-k // step)
    return -(-steps // slices) * step


def split(m: int, n: int, k: int, *, tile: tuple[int, int] = (128, 64), units: int = 40, step: int = 16) -> Split:
    """Divide K so that every compute unit has work: four workgroups each, but no slice below 256 of K.

    Args:
        m: rows of C.
        n: columns of C.
        k: length of the sums.
        tile: rows and columns of C that a workgroup computes.
        units: compute units.
        step: K of one step of the kernel.

    Returns:
        The division. Every slice except the last is a multiple of the step, and none is empty.

    Raises:
        MfmasimError: a size below 1.
    """
    wanted = min(_wanted(m, n, tile, units), max(1, k // SHORTEST))
    length = k_per_split(k, wanted, step)
    return _made(m, n, k, -(-k // length), length)


def published_split(m: int, n: int, k: int, *, tile: tuple[int, int] = (128, 64), units: int = 40) -> Split:
    """Divide K by the rule of wmma_ops, which rounds the number of slices up to a power of two after the bound of 256.

    A slice can therefore be shorter than 256, and need not be a multiple of 16.

    Args:
        m: rows of C.
        n: columns of C.
        k: length of the sums.
        tile: rows and columns of C that a workgroup computes.
        units: compute units.
    """
    wanted = min(_wanted(m, n, tile, units), max(1, k // SHORTEST))
    slices = 1 << (wanted - 1).bit_length()
    return _made(m, n, k, slices, -(-k // slices))


def _wanted(m: int, n: int, tile: tuple[int, int], units: int) -> int:
    tiles = -(-m // tile[0]) * -(-n // tile[1])
    return min(MOST, max(1, -(-WAVES * units // tiles)))


def _made(m: int, n: int, k: int, slices: int, length: int) -> Split:
    return Split(k, slices, length, 4 * m * n * slices if slices > 1 else 0)
