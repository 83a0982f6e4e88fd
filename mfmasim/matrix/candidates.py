"""Candidate accumulation models for rows that are assumed, to find which outputs depend on the assumption.

A candidate changes every assumed row of the steps ``aligned`` that an architecture's matrix instructions have; other
rows stay. None of them is evidence for hardware: `mfmasim.matrix.models` says what is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mfmasim.errors import unknown
from mfmasim.matrix.models import MODELS, ROUTES, Model

if TYPE_CHECKING:
    from mfmasim.architectures import Arch

GROUPS = (16, 32, 64)
"""Products of a step."""
BITS = (14, 16, 18, 22, 24)
"""Bits below the largest exponent of a step at which terms are cut."""


@dataclass(frozen=True)
class Candidate:
    """One way in which sums may be rounded."""

    name: str
    group: int
    """Products of a step, fewer where a step would cross a block of scales."""
    bits: int | None
    """Bits at which products, their sum and C are cut toward zero or down; None: the step is exact, rounded once."""

    @property
    def about(self) -> str:
        """The candidate in words."""
        how = "summed exactly" if self.bits is None else f"cut {self.bits} bits below the largest exponent"
        return f"{self.group} products at a time, {how}, rounded to f32"

    def applied(self, row: Model) -> Model | None:
        """The row changed by this candidate; None if it does not apply to the row."""
        if row.fidelity != "assumed" or row.algorithm != "aligned":
            return None
        group = min(self.group, BLOCK) if row.scale_point else self.group
        if self.bits is None:
            if row.scale_point:
                return None
            kept = {name: getattr(row, name) for name in ("nan_rules", "nan_factor", "nan_invalid", "clamp")}
            return Model(row.name, "exact", group, "assumed", self.about, row.source, **kept)
        bits = self.bits
        plain = replace(row, group=group, partial_sums=1, drop_addend_below=None, final_bits=None, evidence=self.about)
        return replace(plain, product_bits=bits, partial_bits=bits, sum_bits=bits, addend_bits=bits)


BLOCK = 16
"""Fewest elements that share a scale: a step may not cross them."""

CANDIDATES = {
    one.name: one
    for one in (
        *(Candidate(f"exact{group}", group, None) for group in GROUPS),
        *(Candidate(f"cut{bits}by{group}", group, bits) for bits in BITS for group in GROUPS),
    )
}
"""By name: ``exact32``, ``cut24by16``."""


def candidate(name: str) -> Candidate:
    """A candidate by name.

    Raises:
        MfmasimError: there is no such candidate.
    """
    if name not in CANDIDATES:
        raise unknown("model", name, CANDIDATES)
    return CANDIDATES[name]


def changed(arch: Arch, name: str) -> dict[str, Model]:
    """Rows of an architecture that a candidate changes, by name; empty without assumed rows.

    Raises:
        MfmasimError: there is no such candidate.

    >>> from mfmasim.architectures import arch
    >>> sorted(changed(arch("gfx1250"), "exact32"))
    ['cdna5_16bit', 'cdna5_fp8', 'cdna5_sparse_16bit', 'cdna5_sparse_fp8']
    >>> changed(arch("gfx942"), "cut14by16").keys()
    dict_keys(['cdna3_sparse_16bit', 'cdna3_sparse_fp8'])
    """
    found = candidate(name)
    used = dict.fromkeys(route.model for route in ROUTES if arch.family in route.families)
    rows = ((model, found.applied(MODELS[model])) for model in used)
    return {model: row for model, row in rows if row is not None}
