"""Names of the array types: what a signature says of an array is its dtype; its shape is in the docstring."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Of any dtype."""
U = NDArray[Any]
"""Operand or result of an operation, of the dtype that its signature names: (waves,) or (waves, lanes)."""
Flags = NDArray[np.bool_]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
