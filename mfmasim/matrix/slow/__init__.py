"""The slow, obvious model of all matrix arithmetic: Python integers, one output element at a time.

It judges the fast NumPy model (`mfmasim.matrix.arithmetic`) and shares nothing with it but the rows of
`mfmasim.matrix.models`. It is never optimised.

* `dot`: one output element, as an instruction computes it.
* `multiply`: matrices, by calling `dot` for each element (NumPy arrays are containers only).
* `exact`, `exact_sum`: the same element without any intermediate rounding, for error bounds.
"""

from __future__ import annotations

from mfmasim.matrix.slow.dot import dot
from mfmasim.matrix.slow.exact import exact, exact_sum
from mfmasim.matrix.slow.matrices import multiply

__all__ = ["dot", "exact", "exact_sum", "multiply"]
