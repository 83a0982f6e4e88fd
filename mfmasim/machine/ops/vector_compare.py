"""Vector compares: one table over conditions and types. Source: CDNA3 ISA manual, VOPC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.registry import vector

if TYPE_CHECKING:
    from collections.abc import Callable

    U = Any  # an array of the type that the signature names

INTEGER: dict[str, Callable[[U, U], U]] = {
    "lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater, "ne": np.not_equal, "ge": np.greater_equal,
}  # fmt: skip
# Ordered conditions are false when a source is a NaN; the n-forms are their complements, so they are then true.
FLOAT: dict[str, Callable[[U, U], U]] = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
}

for _kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
    for _word, _body in INTEGER.items():
        vector(f"v_cmp_{_word}_{_kind}", f"{_kind} {_kind} -> mask")(_body)
for _kind in ("f16", "f32", "f64"):
    for _word, _body in FLOAT.items():
        vector(f"v_cmp_{_word}_{_kind}", f"{_kind} {_kind} -> mask")(_body)
