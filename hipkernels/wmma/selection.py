"""Kernel selection of an adaptive product: rules as rows; the first that holds decides.

The rules are those of the published library's host code (wmma_ops, wmma_tile_selection.hpp at commit 5523ca2); its
README describes others, `described`. The published code does not check the chosen kernel's contract; `choose` does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Way:
    """A kernel that an adaptive product may select."""

    tile: tuple[int, int]
    """Rows and columns of C of a workgroup."""
    threads: int
    source: str
    kernel: str
    k: int
    """Divisor of K; that of N is 8."""
    any_shape: tuple[str, str]
    """Source and kernel for other shapes."""


WAYS = {
    "64x64": Way((64, 64), 128, "tiles.hip", "tile_64x64", 16, ("any_shape.hip", "any_64x64")),
    "128x64": Way((128, 64), 256, "tiles.hip", "tile_128x64", 16, ("any_shape.hip", "any_128x64")),
    "256x64": Way((256, 64), 512, "tiles.hip", "tile_256x64", 16, ("any_variants.hip", "any_256x64")),
    "128x128": Way((128, 128), 512, "tiles.hip", "tile_128x128", 16, ("any_variants.hip", "any_128x128")),
    "k_unrolled": Way((128, 64), 256, "variants.hip", "k_unrolled", 32, ("any_shape.hip", "any_k_unrolled")),
}

RULES = (
    ("64x64", lambda m, n, _: max(m, n) < 512),
    ("64x64", lambda m, n, _: m > 4 * n and m >= 4096),
    ("256x64", lambda m, n, _: n >= 8192 and m >= 2048),
    ("k_unrolled", lambda m, n, k: 768 <= max(m, n) <= 1536 and k >= 512),
    ("128x64", lambda *_: True),
)
"""Name of the way and its condition over M, N, K. No rule takes 128x128."""

DESCRIBED = (
    ("64x64", lambda m, n, _: max(m, n) < 512),
    ("k_unrolled", lambda m, n, k: max(m, n) <= 2048 and 768 <= k <= 1536),
    ("128x64", lambda *_: True),
)
"""What the README says: small below 512; up to 2048 unrolled "when beneficial", which it says of K from 768 to 1536."""


def first_of(rules: tuple[tuple[str, Callable[..., Any]], ...], m: int, n: int, k: int) -> str:
    """Name of the way of the first rule that holds."""
    return next(name for name, holds in rules if holds(m, n, k))


def published(m: int, n: int, k: int) -> str:
    """Selection of the published code, whether or not the kernel supports the shape."""
    return first_of(RULES, m, n, k)


def described(m: int, n: int, k: int) -> str:
    """Selection according to the README."""
    return first_of(DESCRIBED, m, n, k)


def choose(m: int, n: int, k: int) -> tuple[str, str, str, bool]:
    """Selection here: as published, except the standard tile where K does not fit the unrolled kernel.

    Returns:
        Name of the way, source and kernel, and whether the kernel loads 16 bytes at a time. Where the shape forbids
        that, it is the one for any shape.
    """
    name = published(m, n, k)
    if k % 16 == 0 and k % WAYS[name].k:
        name = "128x64"
    way = WAYS[name]
    whole = n % 8 == 0 and k % way.k == 0
    return name, *((way.source, way.kernel) if whole else way.any_shape), whole
