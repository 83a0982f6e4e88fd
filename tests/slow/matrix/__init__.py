"""The slow, obvious model of all matrix arithmetic: Python integers, one output element at a time.

It judges the fast NumPy model (`mfmasim.matrix.arithmetic`) and shares nothing with it but the rows of
`mfmasim.matrix.models`. It is never optimised.

* `dot`: one output element, as an instruction computes it.
* `multiply`: matrices, by calling `dot` for each element (NumPy arrays are containers only).
* `exact`, `exact_sum`: the same element without any intermediate rounding, for error bounds.
"""

from __future__ import annotations

from tests.slow.matrix.dot import dot
from tests.slow.matrix.exact import exact, exact_sum
from tests.slow.matrix.matrices import multiply

__all__ = ["dot", "exact", "exact_sum", "multiply"]
