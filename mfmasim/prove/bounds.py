"""Bounds: every access of every path lies within its argument, within the LDS, within the scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import TooLarge, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.prove.contract import Region
    from mfmasim.prove.polynomial import Polynomial
    from mfmasim.prove.trace import Access

__all__ = ["active", "outside", "region_of"]


def region_of(address: Polynomial, regions: Sequence[Region]) -> Region | None:
    """The array whose pointer an address begins with."""
    factors = [(r, address.terms.get((r.pointer,))) for r in regions]
    found = [r for r, factor in factors if isinstance(factor, int) and factor == 1]
    return found[0] if len(found) == 1 else None


def active(access: Access, value: Polynomial) -> tuple[Polynomial, list[Polynomial]]:
    """A polynomial and the facts of an access, for its active lanes, as one row."""
    shape = access.mask.on.shape
    lanes = access.mask.on

    def pick(c: np.ndarray) -> np.ndarray:
        return np.broadcast_to(c, np.broadcast_shapes(c.shape, shape))[
            np.broadcast_to(lanes, np.broadcast_shapes(c.shape, shape))
        ]

    facts = [fact.mapped(pick) for fact in (*access.facts, *access.mask.facts())]
    return value.mapped(pick), facts


def outside(access: Access, regions: Sequence[Region], lds: int, scratch: int) -> str:
    """Why an access is not proved to stay within its memory; empty where it is proved.

    Args:
        access: the access.
        regions: arrays of the launch.
        lds: bytes of the workgroup's LDS.
        scratch: bytes of a work-item's scratch.
    """
    if not access.mask.on.any():
        return ""
    try:
        if access.space != "global":
            return _within(access, lds if access.space == "lds" else scratch)
        return _global(access, regions)
    except TooLarge:
        return "the address has too many terms"


def _within(access: Access, size: int) -> str:
    if access.address is None:
        return access.why
    place, facts = active(access, access.address)
    if never_negative(place, facts) and never_negative(-place + (size - access.size), facts):
        return ""
    return f"{access.address} is not proved to lie within {size} bytes of the {access.space}"


def _global(access: Access, regions: Sequence[Region]) -> str:
    reach = access.reach
    if access.address is not None:
        region = region_of(access.address, regions)
        if region is None:
            return f"{access.address} begins with no argument's pointer"
        whole = access.address - of(region.pointer)
        offset, facts = active(access, whole)
        size = region.size
        inside = never_negative(offset, facts) and never_negative(size - offset - access.size, facts)
        if inside:
            return ""
        why = f"{whole} + {access.size} is not proved to lie within the {size} bytes of {region.name}"
        if reach is None:
            return why
    else:
        why = access.why
    if reach is None or reach.base is None or reach.records is None:
        return why
    region = region_of(reach.base, regions)
    if region is None:
        return why
    # The hardware drops every access beyond the resource, so that the offset does not matter.
    start, facts = active(access, reach.base - of(region.pointer))
    records, _ = active(access, reach.records)
    if never_negative(start, facts) and never_negative(region.size - start - records, facts):
        return ""
    return why
