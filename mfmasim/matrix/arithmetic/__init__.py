"""Matrix arithmetic in batches, bit for bit by the rows of `mfmasim.matrix.models`."""

from __future__ import annotations

from mfmasim.matrix.arithmetic.dispatch import multiply, multiply_exactly

__all__ = ["multiply", "multiply_exactly"]
