"""Grid maps: which workgroup computes which tile of the output, on which XCD, and which part of K."""

from __future__ import annotations

from mfmasim.grids.caches import ASSUMED, Caches, Reuse, Work, traffic
from mfmasim.grids.maps import MAPS, Grid, Map, banded, remap_xcd, shares
from mfmasim.grids.orders import Found, Order, orders, search
from mfmasim.grids.proof import Layout, Rectangles, grid_map, layout, rectangle_claim, rectangles, refuted
from mfmasim.grids.reuse import best_maps, reuse, stream_reuse
from mfmasim.grids.splits import Split, k_per_split, published_split, split
from mfmasim.grids.streams import Segment, segments, stream_workspace
from mfmasim.grids.works import WORKS, attention, gemm, grouped, stream

__all__ = [
    "ASSUMED",
    "MAPS",
    "WORKS",
    "Caches",
    "Found",
    "Grid",
    "Layout",
    "Map",
    "Order",
    "Rectangles",
    "Reuse",
    "Segment",
    "Split",
    "Work",
    "attention",
    "banded",
    "best_maps",
    "gemm",
    "grid_map",
    "grouped",
    "k_per_split",
    "layout",
    "orders",
    "published_split",
    "rectangle_claim",
    "rectangles",
    "refuted",
    "remap_xcd",
    "reuse",
    "search",
    "segments",
    "shares",
    "split",
    "stream",
    "stream_reuse",
    "stream_workspace",
    "traffic",
]
