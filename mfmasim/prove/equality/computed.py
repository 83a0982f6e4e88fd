"""Results that an instruction computes: expressions of the instruction and of all of its operands.

The head has everything else that the result may depend on: the operation, the architecture, modifiers,
constants, MODE. A part of the destination that stays is an operand too. Lanes are followed one by one: a lane reads its
own registers alone, or with DPP those of a known lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.binding.dpp import is_dpp
from mfmasim.machine.definedness.keys import SCC, VECTORS, keys_of
from mfmasim.prove.equality.places import SHIFTS
from mfmasim.prove.equality.pool import BYTES

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32, Flags
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.opcodes.registry import Operation
    from mfmasim.prove.equality.pool import Codes, Pool

SAME = {"v_fmac_f32": "v_fma_f32", "v_fmac_f16": "v_fma_f16", "v_fmac_f64": "v_fma_f64",
        "v_fmaak_f32": "v_fma_f32", "v_fmamk_f32": "v_fma_f32"}  # fmt: skip
"""Operations that differ in their encoding alone: in the place of the third operand or of a constant."""
LANES = ("dpp_ctrl", "row_mask", "bank_mask", "bound_ctrl", "fi", "dpp8")
"""Modifiers of DPP that select the lane that is read: the operands here are those of the selected lane."""
USUAL = {"dst_sel": 6}
"""Values of modifiers that have no effect; of all other modifiers this value is 0."""
PACKED = {"v_pk_add_f32": "v_add_f32", "v_pk_mul_f32": "v_mul_f32", "v_pk_fma_f32": "v_fma_f32"}
"""Packed operations on two F32, and the operation on one F32 that each half performs."""
COMMUTES = frozenset({"v_add_u32", "v_add_nc_u32", "v_mul_lo_u32", "v_and_b32", "v_or_b32", "v_xor_b32",
                      "v_mul_u32_u24", "v_max_u32", "v_min_u32", "v_max_i32", "v_min_i32", "s_and_b32", "s_or_b32",
                      "s_xor_b32", "s_mul_i32"})  # fmt: skip
"""Operations on integers whose two operands may be exchanged."""
PRODUCTS = frozenset({"v_add_f32", "v_mul_f32", "v_fma_f32"})
"""Operations on F32 whose first two operands may be exchanged unless both are NaNs: the result is the first NaN."""


def head_of(instruction: Instruction, operation: Operation, arch: str, mode: int) -> tuple[Hashable, ...]:
    """Everything that a result depends on except operands in registers.

    Args:
        instruction: the instruction.
        operation: the operation of the instruction.
        arch: the architecture.
        mode: MODE.
    """
    left_out = LANES if is_dpp(instruction) else ()
    given = instruction.modifiers.items()
    modifiers = tuple(
        sorted((name, value) for name, value in given if value != USUAL.get(name, 0) and name not in left_out)
    )
    shapes = tuple(_shape(operand) for operand in instruction.src)
    name = SAME.get(instruction.name, instruction.name)
    return name, arch, operation.results, modifiers, shapes, mode


def _shape(operand: Operand) -> Hashable:
    """An operand in the head: how the instruction reads it, and the value of a constant that is not a dword."""
    read = operand.type, operand.neg, operand.abs, operand.sext, operand.sel, operand.half
    return (
        read
        if _dword(operand) or operand.kind in ("v", "a", "s")
        else (*read, operand.kind, operand.index, operand.bits)
    )


def _dword(operand: Operand) -> bool:
    """Whether an operand is a constant of 32 bits, which is treated as an operand in a register."""
    return operand.kind == "const" and operand.type in ("f32", "u32", "i32", "b32")


def single(
    instruction: Instruction, head: tuple[Hashable, ...], operands: Codes, number: int
) -> tuple[tuple[Hashable, ...], Codes] | None:
    """One half of a packed operation on F32, as the operation on one F32; None for any other instruction.

    Args:
        instruction: the instruction.
        head: the result of `head_of`.
        operands: (values, operands), two of each source.
        number: number of the half.
    """
    name, modifiers = PACKED.get(instruction.name), instruction.modifiers
    registers = [operand.kind in ("v", "a", "s") and operand.count == 2 for operand in instruction.src]
    zeros = [operand.kind == "const" and not operand.bits for operand in instruction.src]
    if name is None or any(modifiers.get(one) for one in ("neg_lo", "neg_hi", "clamp", "omod")):
        return None
    if not {"op_sel", "op_sel_hi"} & modifiers.keys() or not all(map(any, zip(registers, zeros, strict=True))):
        return None
    chosen = modifiers.get("op_sel_hi" if number else "op_sel", 0)
    first = np.cumsum([0, *(2 * held for held in registers)])
    columns = [
        operands[:, first[place] + (chosen >> place & 1)] if held else np.full(len(operands), -1)
        for place, held in enumerate(registers)
    ]
    taken = np.stack(columns, axis=1)
    taken[:, :2] = ordered(taken[:, :2])
    shapes = (("f32", False, False, False, 6, False),) * len(columns)
    return (name, head[1], ("f32",), (), shapes, head[5]), taken


class Computed:
    """One execution of an instruction that computes, by a group of waves."""

    def __init__(
        self,
        instruction: Instruction,
        operation: Operation,
        codes: Mapping[int, Codes],
        masks: Mapping[int, Codes],
        kept: Sequence[int],
        shape: tuple[int, ...],
        lanes: NDArray[np.int64] | None = None,
    ) -> None:
        """Keep the operands.

        Args:
            instruction: the instruction.
            operation: the operation of the instruction.
            codes: codes of the bytes of every register that the instruction reads.
            masks: codes of lane masks by operand: the key of the lower register, or SCC.
            kept: destination registers that keep a part of their contents.
            shape: (waves, lanes) of a vector instruction, (waves,) of a scalar one.
            lanes: for DPP, the lane whose first source each lane reads, -1 where it reads 0; (waves, lanes).
        """
        self.instruction, self.operation, self.shape = instruction, operation, shape
        self._bytes, self._masks = codes, masks
        self.kept, self._lanes = kept, lanes
        self.ranks: list[int] = []
        """Which dword of its operand each column of `operands` is."""

    def operands(self, pool: Pool) -> Codes:
        """Codes of dwords and masks, (values, operands)."""
        columns: list[Any] = []
        self.ranks.clear()
        kinds = [kind for kind in self.operation.sources if kind not in ("mode", "scc")]
        for kind, operand in zip(kinds, self.instruction.src, strict=False):
            if kind == "mask" and operand.kind == "s":
                columns.append(self._masks[keys_of(operand)[0]])
                self.ranks.append(0)
            elif _dword(operand):
                columns.append(np.broadcast_to(np.int64(-1 - operand.bits), self.shape))
                self.ranks.append(0)
            else:
                held = [self._dword(pool, key) for key in keys_of(operand)]
                columns += map(self._exchanged, held) if operand is self.instruction.src[0] else held
                self.ranks += range(len(held))
        if "scc" in self.operation.sources:
            columns.append(self._masks[SCC])
        columns += [self._dword(pool, key) for key in self.kept]
        self.ranks += [0] * (len(columns) - len(self.ranks))
        found = np.stack([np.broadcast_to(one, self.shape).reshape(-1) for one in columns], axis=1)
        name = SAME.get(self.instruction.name, self.instruction.name)
        read = [_shape(operand) for operand in self.instruction.src[:2]]
        if len(set(read)) == 1 and not self.instruction.modifiers.get("op_sel"):
            if name in PRODUCTS and not any(operand.neg or operand.abs for operand in self.instruction.src):
                found[:, :2] = ordered(found[:, :2])
            if name in COMMUTES and found.shape[1] == 2:
                found = np.sort(found, axis=1)
        return found

    def _exchanged(self, codes: Codes) -> Codes:
        """The first source after the exchange of lanes by DPP."""
        if self._lanes is None:
            return codes
        taken = np.take_along_axis(np.broadcast_to(codes, self.shape), np.maximum(self._lanes, 0), axis=1)
        return np.where(self._lanes >= 0, taken, -1)

    def _dword(self, pool: Pool, key: int) -> Codes:
        codes = pool.dwords(self._bytes[key])
        return codes[:, None] if key >= VECTORS and len(self.shape) == 2 else codes


def ordered(pairs: Codes) -> Codes:
    """Pairs of F32 operands with a constant first, unless the constant is a NaN.

    Args:
        pairs: codes of dwords, (values, 2).
    """
    constant = (pairs < 0) & ((-1 - pairs) & 0x7FFFFFFF <= 0x7F800000)
    turned = constant[:, 1] & ~constant[:, 0]
    return np.where(turned[:, None], pairs[:, ::-1], pairs)


def results(
    pool: Pool,
    head: tuple[Hashable, ...],
    operands: Codes,
    words: Sequence[U32],
    active: Flags | None,
    ranks: Sequence[int] | None = None,
) -> list[Codes]:
    """Codes of the bytes of each dword of a result, (values, 4).

    Args:
        pool: of expressions.
        head: the result of `head_of`.
        operands: (values, operands).
        words: the dwords of the result, each (values,).
        active: values that the instruction writes; None means all.
        ranks: for an integer sum, the dword that each operand is: a dword does not depend on higher dwords.
    """
    out = []
    for number, word in enumerate(words):
        given = operands if ranks is None else operands[:, np.asarray(ranks) <= number]
        depends = (given >= 0).any(axis=1)
        if active is not None:
            depends &= active
        rows = np.flatnonzero(depends)
        codes = -1 - (word[:, None] >> SHIFTS & np.uint32(0xFF)).astype(np.int64)
        if len(rows):
            made = pool.made((*head, number), given[rows], word[rows])
            codes[rows] = made[:, None] * BYTES + np.arange(BYTES)
        out.append(codes)
    return out


def masks(pool: Pool, head: tuple[Hashable, ...], operands: Codes, bits: NDArray[np.bool_], active: Flags) -> Codes:
    """Numbers of the expressions of a lane mask, 0 for constant bits, (values,).

    Args:
        pool: of expressions.
        head: the result of `head_of`.
        operands: (values, operands).
        bits: the mask, (values,).
        active: values that the instruction computes.
    """
    rows = np.flatnonzero((operands >= 0).any(axis=1) & active)
    out = np.zeros(len(operands), np.int64)
    if len(rows):
        out[rows] = pool.made((*head, "mask"), operands[rows], bits[rows].astype(np.uint32))
    return out
