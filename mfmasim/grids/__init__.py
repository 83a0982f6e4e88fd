"""Grid maps: which workgroup computes which tile of the output, and on which XCD."""

from __future__ import annotations

from mfmasim.grids.maps import MAPS, Grid, Map, remap_xcd
from mfmasim.grids.proof import Layout, Rectangles, grid_map, layout, rectangle_claim, rectangles, refuted

__all__ = [
    "MAPS",
    "Grid",
    "Layout",
    "Map",
    "Rectangles",
    "grid_map",
    "layout",
    "rectangle_claim",
    "rectangles",
    "refuted",
    "remap_xcd",
]
