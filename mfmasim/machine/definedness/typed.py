"""Rules by the types of operands: the parts of registers that an operation reads and writes.

The readers and writers are the machine's own, bound to registers that hold undefined bits instead of values; so
halves, parts, lanes of DPP and masks have the same meaning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.binding.dpp import is_dpp, narrowed
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.binding.signatures import scalar_operands, vector_operands
from mfmasim.machine.definedness.keys import SCC, keys_of
from mfmasim.machine.definedness.planes import register
from mfmasim.machine.state.waves import VCC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32, Array
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.definedness.planes import Planes
    from mfmasim.machine.opcodes.registry import Operation
    from mfmasim.machine.state.waves import Group

    Found = dict[int, U32]

WIDTHS = {"u16": 16, "i16": 16, "f16": 16, "b16": 16, "u64": 64, "i64": 64, "f64": 64, "b64": 64}
REGISTERS = ("v", "a", "s")
VCCZ_SOURCE, SCC_SOURCE = 251, 253


def plain(operand: Operand) -> Operand:
    """The operand without signs: the negation of a sign does not change its undefined bit."""
    if operand.kind in REGISTERS or (operand.kind == "special" and operand.index == SCC_SOURCE):
        return replace(operand, neg=False)
    if operand.kind == "special" and operand.index == VCCZ_SOURCE:
        return replace(operand, kind="s", index=VCC)
    return replace(operand, kind="const", bits=0, neg=False, abs=False)


class Typed:
    """An instruction of the vector or scalar unit, bound for undefined bits."""

    def __init__(self, instruction: Instruction, operation: Operation) -> None:
        """Bind it."""
        self.rule = operation.undefined
        self.sums = self.rule.kind == "sums" and not instruction.modifiers.get("clamp")
        """Whether undefined bits reach only the bits above them."""
        blank = replace(instruction, src=tuple(plain(operand) for operand in instruction.src))
        self.vector = operation.unit == "vector"
        bound = vector_operands if self.vector else scalar_operands
        self.readers, self.writers = bound(blank, operation)
        self.kinds = [kind for kind in operation.sources if kind != "mode"]
        self.results = list(operation.results)
        if len(self.results) < len(self.writers):
            self.results *= len(self.writers)
        self.step = narrowed(instruction, self._step) if is_dpp(instruction) else self._step

    def found(self, planes: Planes, group: Group, writes: Sequence[int], reads: Sequence[int]) -> Found:
        """Undefined bits of the results, in all waves.

        Args:
            planes: what is undefined before.
            group: the waves.
            writes: keys of the registers that are written.
            reads: keys of the registers that are read.
        """
        keys = dict.fromkeys([*reads, *writes])
        shadow = planes.with_values(group, planes.chosen(planes.undefined, keys), blank=True)
        if SCC not in planes.undefined:
            shadow.waves.scc = np.zeros(1, np.bool_)
        self.step(shadow)
        return {key: register(shadow.waves, key) for key in writes}

    def _step(self, shadow: Group) -> None:
        values = [_unsigned(read(shadow)) for read in self.readers]
        total: Any = np.zeros(1, np.uint64) if self.sums else np.zeros(1, np.bool_)
        if self.sums:
            total = self._sum(values)
        else:
            for value in values:
                total = total | _any(value)
            if not self.vector and total.ndim > 1:
                total = total.any(axis=1)
            if self.rule.quad and total.ndim > 1 and total.shape[1] > 1:
                total = np.repeat(total.reshape(len(total), -1, 4).any(axis=2), 4, axis=1)
        for write, kind in zip(self.writers, self.results, strict=True):
            write(shadow, _result(total, kind))

    def _sum(self, values: list[Array]) -> Array:
        total: Array = np.zeros(1, np.uint64)
        for place, (value, kind) in enumerate(zip(values, self.kinds, strict=True)):
            if kind in ("mask", "scc"):
                wide = np.where(value != 0, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0))
            elif place == self.rule.shifted:  # to the left: undefined bits stay at their place or above
                continue
            else:
                wide = value.astype(np.uint64)
                if place < 2:
                    wide = wide & np.uint64((1 << self.rule.factors) - 1)
            total = total | wide
        total = total | (~total + np.uint64(1))  # the lowest bit and all above it
        if self.rule.shifted is not None:
            total = np.where(values[self.rule.shifted] != 0, np.uint64(0xFFFFFFFFFFFFFFFF), total)
        return total


def _unsigned(value: Any) -> Any:
    if isinstance(value, tuple):
        return np.logical_or.reduce(np.broadcast_arrays(*[part != 0 for part in value]))
    return value.view(f"u{value.dtype.itemsize}") if value.dtype.kind in "if" else value


def _any(value: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a value has undefined bits; registers of an operand are on a leading axis."""
    some: NDArray[np.bool_] = value != 0
    return np.logical_or.reduce(some, axis=0) if some.ndim == 3 else some


def _result(total: Array, kind: str) -> Any:
    """Undefined bits of a result, in the type of its writer."""
    flags = total != 0
    if kind in ("mask", "scc"):
        return flags
    if total.dtype == np.bool_:
        total = np.where(flags, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0))
    if kind.startswith("b32x"):
        return [total.astype(np.uint32)] * int(kind[4:])
    if kind == "pair":
        return total.astype(np.uint32), total.astype(np.uint32)
    return total.astype({16: np.uint16, 64: np.uint64}.get(WIDTHS.get(kind, 32), np.uint32))


def source_origins(planes: Planes, group: Group, instruction: Instruction) -> U32:
    """Origin of each lane's sources: that of the first operand with an origin, (1 or waves, lanes or 1).

    Args:
        planes: what is undefined before.
        group: the waves.
        instruction: the reading instruction.
    """
    parts = instruction.halves or (instruction,)
    operands = [(part, operand) for part in parts for operand in part.src if operand.kind in REGISTERS]
    keys = [key for _, operand in operands for key in keys_of(operand)]
    shadow = planes.with_values(group, planes.chosen(planes.origins, keys), blank=True)
    out: U32 = np.zeros((1, 1), np.uint32)
    for part, operand in operands:
        bare = replace(operand, sel=6)
        for number in range(operand.count):
            word = read_dword(bare, number, part)(shadow)
            out = np.where(out == 0, word, out)
    return np.asarray(out, np.uint32)
