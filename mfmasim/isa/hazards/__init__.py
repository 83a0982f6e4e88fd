"""Hazards: pairs of instructions that software has to separate by wait states, as rows by architecture."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

from mfmasim.architectures import Arch
from mfmasim.errors import unknown
from mfmasim.isa.hazards import cdna, cdna5, matrix, rdna
from mfmasim.isa.hazards.row import Row, Shipped
from mfmasim.isa.hazards.shipped import SHIPPED
from mfmasim.isa.hazards.traits import ROLES, Register, Traits, named

__all__ = ["ROLES", "Register", "Row", "Shipped", "Traits", "named", "rows"]

_TABLES: dict[str, tuple[Row, ...]] = {
    "CDNA1": (*cdna.CDNA1, *matrix.CDNA1),
    "CDNA2": (*cdna.CDNA2, *matrix.CDNA2),
    "CDNA3": (*cdna.CDNA3, *matrix.CDNA3),
    "CDNA4": (*cdna.CDNA4, *matrix.CDNA4),
    "CDNA5": cdna5.CDNA5,
    "RDNA3": rdna.RDNA3,
    "RDNA4": rdna.RDNA4,
}


@cache
def rows(arch: Arch) -> tuple[Row, ...]:
    """The rows that hold on an architecture, with the evidence for each.

    Raises:
        MfmasimError: no table covers the encoding of its instructions.
    """
    if arch.encoding not in _TABLES:
        raise unknown("encoding with rules of wait states", arch.encoding, _TABLES, f"for {arch.name}")
    libraries = SHIPPED.get(arch.encoding, {}).values()
    objects = sum(count for count, _ in libraries)
    found = []
    for row in _TABLES[arch.encoding]:
        if row.on and not getattr(arch, row.on):
            continue
        fewest: Counter[int] = Counter()
        for _, broken in libraries:
            fewest.update(broken.get((row.first, row.second, row.link), {}))
        found.append(replace(row, shipped=Shipped(objects, fewest)))
    return tuple(found)
