"""Operations whose sources are constants of each lane: the machine's own functions compute them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.machine.binding.bind import bind
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.machine.state.waves import Group, Waves
from mfmasim.prove.words import Word, bits, known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State

    Words = Sequence["Word | None"]

__all__ = ["PLAIN", "computed", "computed_wide", "executed", "truth_table"]

MASK = 0xFFFFFFFF
PLAIN = {"u32": np.uint32, "i32": np.int32, "b32": np.uint32}
"""Types of dwords in the signatures of operations."""
INTEGERS = {*PLAIN, "u16", "i16", "b16"}
"""Types of sources and results that the machine computes for `executed`."""
LONG = {"u64": np.uint64, "i64": np.int64, "b64": np.uint64}
"""Types of two dwords in the signatures of operations."""
POISONS = (0x5A5AA5A5, 0xA5A55A5A)
"""Two contents for an unknown destination; they differ in every bit."""


def computed(name: str, sources: Words) -> list[Word | None] | None:
    """Results of an operation on constants, by the machine's own function.

    Args:
        name: mnemonic without suffix.
        sources: its sources in the manual's order.

    Returns:
        The results, a flag as 0 or 1; None where a source is not constant, or an operand is not a dword.
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
    if not _by_element(arrays, results):
        return None
    return [bits(np.asarray(one).astype(np.int64) & MASK) for one in results]


def computed_wide(state: State, ins: Instruction) -> list[list[Word | None]] | None:
    """Results of a scalar operation on constants with sources or results of two dwords.

    Args:
        state: before it.
        ins: the operation.

    Returns:
        The dwords of each result, SCC as a dword 0 or 1; None where a source is not constant.
    """
    operation = OPERATIONS.get(ins.name)
    if operation is None or operation.shaped or operation.unit != "scalar" or ins.opcode.saves_exec:
        return None
    kinds = operation.sources
    if len(kinds) != len(ins.src) or not {*kinds, *operation.results} <= {*PLAIN, *LONG, "scc"} or "scc" in kinds:
        return None
    arrays = []
    for operand, kind in zip(ins.src, kinds, strict=True):
        dwords = [known(state.operand(operand, k)) for k in range(2 if kind in LONG else 1)]
        if any(value is None for value in dwords):
            return None
        whole = np.zeros((1, 1), np.uint64)
        for k, value in enumerate(dwords):
            whole = whole | np.atleast_2d(np.asarray(value, np.uint64)) << np.uint64(32 * k)
        arrays.append(whole.view(LONG[kind]) if kind in LONG else whole.astype(np.uint32).view(PLAIN[kind]))
    found = operation.body(*arrays)
    results = found if isinstance(found, tuple) else (found,)
    if not _by_element(arrays, results):
        return None
    out: list[list[Word | None]] = []
    for one, kind in zip(results, operation.results, strict=True):
        value = np.atleast_2d(np.asarray(one))
        long = value.astype(LONG[kind]).view(np.uint64) if kind in LONG else value.astype(np.int64).view(np.uint64)
        halves = [(long >> np.uint64(32 * k)).astype(np.int64) & MASK for k in range(2 if kind in LONG else 1)]
        out.append([bits(half) for half in halves])
    return out


def _by_element(sources: Sequence[NDArray[Any]], results: Sequence[Any]) -> bool:
    """Whether the function computed each element separately; some functions assume one axis, of waves."""
    shape = np.broadcast_shapes((1, 1), *(array.shape for array in sources))
    return all(np.shape(one) == shape for one in results)


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


def executed(state: State, ins: Instruction) -> Word | None:
    """The result of a vector operation of integers whose sources are constants, halves and SDWA included.

    The machine executes the instruction. None where the instruction keeps a part of an unknown destination.

    Args:
        state: before it.
        ins: an instruction that does not read other lanes.
    """
    operation = OPERATIONS.get(ins.name)
    if operation is None or operation.unit != "vector" or len(ins.dst) != 1 or ins.dst[0].kind != "v":
        return None
    if not {*operation.sources, *operation.results} <= INTEGERS or ins.dst[0].count != 1:
        return None
    if any(operand.kind not in ("v", "s", "const") or operand.count != 1 for operand in ins.src):
        return None
    held = {(o.kind, o.index): known(state.operand(o)) for o in ins.src if o.kind != "const"}
    if any(value is None for value in held.values()):
        return None
    arch, target = find_arch(ins.arch), ins.dst[0]
    old = held.get(("v", target.index), known(state.operand(target)))
    found = []
    for poison in POISONS if old is None else (old,):
        waves = Waves(arch, len(state.waves), state.lanes, 1 + max([target.index, *(n for _, n in held)]), 0)
        for (kind, number), value in [*held.items(), (("v", target.index), poison)]:
            shape = (len(state.waves), state.lanes if kind == "v" else 1)
            array = np.broadcast_to(np.asarray(value, np.int64), shape).astype(np.uint32)
            if kind == "v":
                waves.v[number] = array
            else:
                waves.s[number] = array[:, 0]
        try:
            bind(ins, SimpleNamespace(arch=arch))(Group(waves))
        except MfmasimError:  # the machine refuses a modifier
            return None
        found.append(np.broadcast_to(waves.v[target.index], (len(state.waves), state.lanes)))
    return bits(found[0].astype(np.int64)) if (found[0] == found[-1]).all() else None
