"""Clusters of workgroups: their place in the grid, and the order in which workgroups are numbered.

Sources: CDNA5 ISA manual, 2.3 (at most 16 workgroups, a cluster of one is none) and the table of trap temporaries 3.5;
LLVM's AMDGPU usage guide, kernel metadata ``.cluster_dims``. HIP: a grid is a whole number of clusters in each
dimension.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import I64

Dim3 = tuple[int, int, int]
ONE: Dim3 = (1, 1, 1)
IDENTIFIERS = 15
"""Numbers of a cluster that IB_STS2 can hold; 0 is none."""


@dataclass(frozen=True)
class Clusters:
    """A grid of workgroups in clusters; workgroups of one cluster have consecutive numbers."""

    grid: Dim3
    size: Dim3 = ONE
    """Workgroups of a cluster in x, y, z."""

    @property
    def workgroups(self) -> int:
        """Workgroups of a cluster."""
        return math.prod(self.size)

    @property
    def counts(self) -> Dim3:
        """Clusters in x, y, z."""
        x, y, z = (total // size for total, size in zip(self.grid, self.size, strict=True))
        return x, y, z

    def cluster(self, numbers: I64) -> tuple[I64, I64, I64]:
        """Place of the clusters of workgroups in the grid, counted in clusters."""
        linear, counts = numbers // self.workgroups, self.counts
        return linear % counts[0], linear // counts[0] % counts[1], linear // (counts[0] * counts[1])

    def within(self, numbers: I64) -> tuple[I64, I64, I64]:
        """Place of workgroups in their clusters."""
        linear, size = numbers % self.workgroups, self.size
        return linear % size[0], linear // size[0] % size[1], linear // (size[0] * size[1])

    def places(self, numbers: I64) -> tuple[I64, I64, I64]:
        """Place of workgroups in the grid."""
        own, inside = self.cluster(numbers), self.within(numbers)
        x, y, z = (a * size + b for a, size, b in zip(own, self.size, inside, strict=True))
        return x, y, z

    def place(self, number: int) -> Dim3:
        """Place of one workgroup in the grid."""
        x, y, z = (int(part) for part in self.places(np.int64(number)))  # type: ignore[arg-type]
        return x, y, z

    def number(self, place: Dim3) -> int:
        """Number of the workgroup at a place in the grid."""
        own = [at // size for at, size in zip(place, self.size, strict=True)]
        inside = [at % size for at, size in zip(place, self.size, strict=True)]
        cluster = own[0] + self.counts[0] * (own[1] + self.counts[1] * own[2])
        return cluster * self.workgroups + inside[0] + self.size[0] * (inside[1] + self.size[1] * inside[2])

    def registers(self, numbers: I64) -> NDArray[np.uint32]:
        """The trap temporary with the place of workgroups in their cluster, and the cluster's size."""
        x, y, z = self.within(numbers)
        sizes = sum((size - 1) << 12 + 4 * k for k, size in enumerate(self.size)) | (self.workgroups - 1) << 24
        return (x | y << 4 | z << 8 | sizes).astype(np.uint32)
