"""The clamp modifier of integer operations: the exact result, saturated to the range of its type.

Source: CDNA3 ISA manual, 6.5 (for integer operations clamp gives the largest or smallest representable value).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.opcodes.registry import Body, Operation

TYPES: dict[str, Any] = {
    "u64": np.uint64, "i64": np.int64, "u32": np.uint32, "i32": np.int32, "u16": np.uint16, "i16": np.int16,
}  # fmt: skip


def saturated(operation: Operation) -> Body:
    """The body of an operation with clamp: the same body on int64 sources, where no result overflows.

    Sources of 64 bits are Python's integers.

    The first result saturates; a carry is unchanged.
    """
    body, carries = operation.body, len(operation.results) > 1
    whole = TYPES[operation.results[0]]
    low, high = int(np.iinfo(whole).min), int(np.iinfo(whole).max)
    wide: Any = object if np.dtype(whole).itemsize == 8 else np.int64

    def run(*sources: NDArray[Any]) -> Any:
        exact = body(*[np.asarray(source).astype(wide) for source in sources])
        value = np.clip(exact[0] if carries else exact, low, high).astype(whole)
        return (value, *body(*sources)[1:]) if carries else value

    return run
