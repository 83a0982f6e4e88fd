"""The formats that ml_dtypes and NumPy have too, by our names: an alias of a row is its name in ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from mfmasim.formats import FORMATS

ML_DTYPES = {"f16": np.float16} | {
    fmt.name: getattr(ml_dtypes, alias)
    for fmt in FORMATS.values()
    for alias in fmt.aliases
    if "float" in alias and hasattr(ml_dtypes, alias)
}
assert len(ML_DTYPES) >= 10
