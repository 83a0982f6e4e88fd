"""Clusters of workgroups: numbering, places, and what a launch refuses."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mfmasim.devices.hip import refuse
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.clusters import Clusters
from mfmasim.machine.launch.limits import check_cluster


@pytest.mark.parametrize(
    ("grid", "size"), [((3, 2, 2), (1, 1, 1)), ((4, 6, 2), (2, 3, 1)), ((4, 4, 4), (2, 2, 2)), ((8, 1, 1), (8, 1, 1))]
)
def test_every_workgroup_has_one_number(grid: tuple[int, int, int], size: tuple[int, int, int]) -> None:
    clusters = Clusters(grid, size)
    numbers = np.arange(np.prod(grid))
    places = list(zip(*(part.tolist() for part in clusters.places(numbers)), strict=True))
    assert sorted(places) == sorted(product(*(range(n) for n in grid)))
    assert [clusters.number(place) for place in places] == numbers.tolist()
    assert [clusters.place(int(n)) for n in numbers] == places
    for first in range(0, len(numbers), clusters.workgroups):  # consecutive numbers are one box of the grid
        box = np.array(places[first : first + clusters.workgroups])
        assert (box.max(axis=0) - box.min(axis=0) + 1).tolist() == list(size)
    if size == (1, 1, 1):  # in the order of x, y, z
        assert places == sorted(places, key=lambda place: place[::-1])


def test_the_register_of_a_cluster() -> None:
    words = Clusters((4, 4, 2), (2, 2, 2)).registers(np.arange(8)).tolist()
    assert [word & 0xFFF for word in words] == [0x000, 0x001, 0x010, 0x011, 0x100, 0x101, 0x110, 0x111]
    assert {word >> 12 for word in words} == {0x7111}


def kernel(most: int, own: tuple[int, int, int] | None = None) -> Any:
    arch = SimpleNamespace(max_cluster=most, name="some")
    return SimpleNamespace(name="k", arch=arch, info=SimpleNamespace(metadata=SimpleNamespace(cluster_dims=own)))


def test_what_a_launch_takes() -> None:
    assert check_cluster(kernel(1), (3, 1, 1), None) == (1, 1, 1)
    assert check_cluster(kernel(16), (4, 2, 1), (2, 2)) == (2, 2, 1)
    assert check_cluster(kernel(16, (2, 1, 1)), (4, 2, 1), None) == (2, 1, 1)
    for made, grid, given, expected in [
        (kernel(1), (2, 1, 1), (2, 1, 1), "some has no clusters"),
        (kernel(16), (32, 1, 1), 32, "at most 16 workgroups form a cluster"),
        (kernel(16), (3, 1, 1), 2, "3 workgroups in x are no multiple of the cluster's 2"),
        (kernel(16, (2, 1, 1)), (4, 1, 1), 4, r"compiled for clusters of \(2, 1, 1\)"),
        (kernel(16), (4, 1, 1), "a", "one to three integers"),
    ]:
        with pytest.raises(MfmasimError, match=expected):
            check_cluster(made, grid, given)


def test_a_gpu_takes_the_clusters_of_the_kernel() -> None:
    refuse("hip", "all", {"cluster": None})
    with pytest.raises(MfmasimError, match="cluster 2: hip launches kernels with the clusters they were compiled for"):
        refuse("hip", "all", {"cluster": 2})
