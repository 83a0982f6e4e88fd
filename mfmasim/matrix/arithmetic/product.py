"""How a matrix product is computed, without its operands: its model, formats, modes, and K of one instruction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mfmasim.formats import FORMATS
from mfmasim.matrix.arithmetic.factors import Factors, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from mfmasim.matrix.models import Model
    from mfmasim.matrix.request import Formats, Modes


@dataclass(frozen=True)
class Product:
    """Parameters that all tiles of a product share."""

    model: Model
    formats: Formats
    modes: Modes
    k: int
    """K of one instruction, in kept elements: no step crosses a multiple of it."""

    @cached_property
    def clamp(self) -> bool:
        """Whether a finite overflow gives the largest finite number."""
        return (self.modes.clamp or self.modes.fp16_ovfl) and self.model.clamp == "max"

    @cached_property
    def flush_inputs(self) -> str:
        """Flushing of subnormal factors, as in `Model.flush_inputs`."""
        flushed_by_mode = self.model.mode_denormals and not self.modes.denormals
        return self.model.flush_inputs or ("signed" if flushed_by_mode else "")

    @cached_property
    def fraction_bits(self) -> int:
        """Fraction bits of the formats of A and B together: a product has at most two more."""
        return FORMATS[self.formats.a].mantissa_bits + FORMATS[self.formats.b].mantissa_bits

    @cached_property
    def carriers(self) -> tuple[np.dtype[Any], ...] | None:
        """Types of A, B and C where `mfmasim.matrix.arithmetic.small_batches` may compute; codes fill theirs."""
        model, formats = self.model, self.formats
        rows = FORMATS[formats.a], FORMATS[formats.b]
        if model.algorithm != "aligned" or model.nan_rules != "ieee" or self.clamp or self.k % model.group:
            return None
        if any(row.bits != 8 * row.carrier.itemsize for row in rows) or not formats.d == formats.addend == "f32":
            return None
        if rows[0].bits == rows[1].bits == 8:
            # Grids of products of about one are not coarser than the least product, and there are no infinities.
            least = 2 - sum(row.bias for row in rows) - self.fraction_bits
            fits = least + model.product_bits >= 0 and all(row.inf_code is None for row in rows)
        else:
            kept = min(rows[0].mantissa_bits, model.input_mantissa_bits or 23)
            fits = rows[0] is rows[1] and kept < 12 and model.partial_sums == 1 and model.drop_addend_below is None
        return (*(row.carrier for row in rows), FORMATS["f32"].carrier) if fits else None

    def factors(self, operand: str, codes: NDArray[Any], *, lasting: bool = False) -> Factors:
        """Decode codes of ``a`` or ``b``.

        Args:
            operand: ``a`` or ``b``.
            codes: its codes.
            lasting: whether the factors outlive the next call for the same operand.
        """
        name = self.formats.a if operand == "a" else self.formats.b
        place = "" if lasting else operand
        return decode(name, codes, self.model.input_mantissa_bits, self.flush_inputs, place=place)

    def steps(self, k: int) -> Iterator[slice]:
        """Slices of k that are summed together: at most `Model.group` long, never across instructions."""
        for base in range(0, k, self.k):
            top = min(base + self.k, k)
            for start in range(base, top, self.model.group):
                yield slice(start, min(start + self.model.group, top))
