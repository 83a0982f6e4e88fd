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

__all__ = ["ROLES", "Register", "Row", "Shipped", "Traits", "named", "rows", "table_of"]

_TABLES: dict[str, tuple[Row, ...]] = {
    "CDNA1": (*cdna.CDNA1, *matrix.CDNA1),
    "CDNA2": (*cdna.CDNA2, *matrix.CDNA2),
    "CDNA3": (*cdna.CDNA3, *matrix.CDNA3),
    "CDNA4": (*cdna.CDNA4, *matrix.CDNA4),
    **{f"CDNA5 {variant}": rows for variant, rows in cdna5.CDNA5.items()},
    "RDNA2": rdna.RDNA2,
    "RDNA3": rdna.RDNA3,
    "RDNA4": rdna.RDNA4,
}


def table_of(arch: Arch) -> str:
    """Name of an architecture's table: its encoding, and which chip or stepping it is where that matters."""
    return f"{arch.encoding} {arch.variant}".strip()


@cache
def rows(arch: Arch) -> tuple[Row, ...]:
    """The rows that hold on an architecture, with the evidence for each.

    Raises:
        MfmasimError: no table covers the encoding of its instructions.
    """
    table = table_of(arch)
    if table not in _TABLES:
        raise unknown("encoding with rules of wait states", table, _TABLES, f"for {arch.name}")
    libraries = SHIPPED.get(table, {}).values()
    objects = sum(count for count, _ in libraries)
    found = []
    for row in _TABLES[table]:
        if row.on and not getattr(arch, row.on):
            continue
        fewest: Counter[int] = Counter()
        for _, broken in libraries:
            fewest.update(broken.get((row.first, row.second, row.link), {}))
        found.append(replace(row, shipped=Shipped(objects, fewest)))
    return tuple(found)
