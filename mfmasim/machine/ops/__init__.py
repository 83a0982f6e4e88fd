"""Operations by family; importing this package fills the table."""

from __future__ import annotations

from mfmasim.machine.ops import (
    clock,
    control,
    global_memory,
    lane,
    lane_exchange,
    lds,
    matrix,
    packed_integer,
    register_index,
    scalar_alu,
    scalar_bits,
    scalar_memory,
    scalar_mode,
    vector_compare,
    vector_float,
    vector_integer,
    vector_integer16,
    vector_move,
    vector_sad,
)

__all__ = [
    "clock",
    "control",
    "global_memory",
    "lane",
    "lane_exchange",
    "lds",
    "matrix",
    "packed_integer",
    "register_index",
    "scalar_alu",
    "scalar_bits",
    "scalar_memory",
    "scalar_mode",
    "vector_compare",
    "vector_float",
    "vector_integer",
    "vector_integer16",
    "vector_move",
    "vector_sad",
]
