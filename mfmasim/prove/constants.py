"""Operations whose sources are constants of each lane: the machine's own functions compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.prove.words import Word, bits, known

if TYPE_CHECKING:
    from collections.abc import Sequence

    Words = Sequence["Word | None"]

__all__ = ["PLAIN", "computed", "truth_table"]

MASK = 0xFFFFFFFF
PLAIN = {"u32": np.uint32, "i32": np.int32, "b32": np.uint32}
"""Types of dwords in the signatures of operations."""


def computed(name: str, sources: Words) -> list[Word | None] | None:
    """Results of an operation whose sources are constants, by the machine's own function.

    Args:
        name: mnemonic without suffix.
        sources: its sources in the manual's order.

    Returns:
        The results, a flag as 0 or 1; None where a source is not constant, or the operation is not one of dwords.
    """
    operation = OPERATIONS.get(name)
    values = [known(word) for word in sources]
    if operation is None or operation.shaped or operation.unit == "direct" or any(v is None for v in values):
        return None
    if len(operation.sources) != len(values) or any(kind not in PLAIN for kind in operation.sources):
        return None
    if any(kind not in PLAIN and kind != "scc" for kind in operation.results):
        return None
    arrays = [
        np.atleast_2d(np.asarray(value, np.int64)).astype(np.uint32).view(PLAIN[kind])
        for value, kind in zip(values, operation.sources, strict=True)
    ]
    found = operation.body(*arrays)
    results = found if isinstance(found, tuple) else (found,)
    return [bits(np.asarray(one).astype(np.int64) & MASK) for one in results]


def truth_table(sources: Words, table: int) -> list[Word | None] | None:
    """V_BITOP3_B32 of constants: bit ``4 a + 2 b + c`` of the table for each bit of the sources."""
    a, b, c = (known(word) for word in sources)
    if a is None or b is None or c is None:
        return None
    total: Any = 0
    for row in range(8):
        if table >> row & 1:
            total = total | ((a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c) & MASK)
    return [bits(total)]
