"""Test helpers, for mfmasim and for users. hypothesis is imported only when it is used.

Names are imported on first use: pytest imports this package for the plugin in every project.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfmasim.testing.bits import assert_same_bits
    from mfmasim.testing.drawn_arrays import (
        CuteLayout,
        ModifiedInstruction,
        cute_layouts,
        grid_layouts,
        lds_accesses,
        lds_swizzles,
        matrix_instructions,
        sparse_changes,
    )
    from mfmasim.testing.drawn_codes import CODE_KINDS, Code, cancellation_pairs, code_arrays, codes
    from mfmasim.testing.drawn_trials import smallest, trials

__all__ = [
    "CODE_KINDS", "Code", "CuteLayout", "ModifiedInstruction", "assert_same_bits", "cancellation_pairs", "code_arrays",
    "codes", "cute_layouts", "grid_layouts", "lds_accesses", "lds_swizzles", "matrix_instructions", "smallest",
    "sparse_changes", "trials",
]  # fmt: skip

_MODULES = {
    "bits": ("assert_same_bits",),
    "drawn_arrays": (
        "CuteLayout",
        "ModifiedInstruction",
        "cute_layouts",
        "grid_layouts",
        "lds_accesses",
        "lds_swizzles",
        "matrix_instructions",
        "sparse_changes",
    ),
    "drawn_codes": ("CODE_KINDS", "Code", "cancellation_pairs", "code_arrays", "codes"),
    "drawn_trials": ("smallest", "trials"),
}
"""Names by the module that defines them; no module has the name of a function, which its import would hide."""


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(f"mfmasim.testing.{module}"), name)
            return value
    msg = f"module 'mfmasim.testing' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
