"""Operations by family; importing this package fills the table."""

from __future__ import annotations

from mfmasim.machine.ops import (
    control,
    global_memory,
    lane,
    lds,
    matrix,
    scalar_alu,
    scalar_memory,
    vector_compare,
    vector_float,
    vector_integer,
    vector_move,
)

__all__ = [
    "control",
    "global_memory",
    "lane",
    "lds",
    "matrix",
    "scalar_alu",
    "scalar_memory",
    "vector_compare",
    "vector_float",
    "vector_integer",
    "vector_move",
]
