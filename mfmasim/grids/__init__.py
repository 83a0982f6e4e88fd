"""Grid maps: which workgroup computes which tile of the output, on which XCD, and which part of K."""

from __future__ import annotations

from mfmasim.grids.maps import MAPS, Grid, Map, remap_xcd
from mfmasim.grids.proof import Layout, Rectangles, grid_map, layout, rectangle_claim, rectangles, refuted
from mfmasim.grids.reuse import Reuse, best_maps, reuse, stream_reuse
from mfmasim.grids.splits import Split, k_per_split, published_split, split
from mfmasim.grids.streams import Segment, segments, stream_workspace

__all__ = [
    "MAPS",
    "Grid",
    "Layout",
    "Map",
    "Rectangles",
    "Reuse",
    "Segment",
    "Split",
    "best_maps",
    "grid_map",
    "k_per_split",
    "layout",
    "published_split",
    "rectangle_claim",
    "rectangles",
    "refuted",
    "remap_xcd",
    "reuse",
    "segments",
    "split",
    "stream_reuse",
    "stream_workspace",
]
