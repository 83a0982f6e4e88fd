"""Contents of the results of vector operations: moved bytes, and expressions of one element.

An operation that is not a move gives an expression: its name, modifiers and operands. The operation is followed if it
reads one element (of the sums, or of C at the same place), constants, and arguments that are plain data.
The arithmetic is not checked: the expression has to be the same for every element of the output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.isa.operands import VCC
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.prove.contents import MADE, Byte, common_part, dword, either, factor_of, held, interned
from mfmasim.prove.effects import plain
from mfmasim.prove.polynomial import Polynomial, TooLarge, constant, of
from mfmasim.prove.words import known

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mfmasim.isa import Instruction, Operand
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.prove.state import State

__all__ = ["expression", "results"]

COPIES = {"v_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32", "v_mov_b64"}
PAIRED = {"v_cvt_pk_bf16_f32", "v_cvt_pk_f16_f32", "v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"}
"""The low half of the result depends on the first source alone, the high half on the second."""
PACKED = {"v_pk_mul_f32", "v_pk_add_f32", "v_pk_fma_f32"}
"""Two operations of dwords."""
DWORDS = {"f32", "u32", "i32", "b32", "sign32", "mode"}
"""Types of sources and results of an expression."""
ZERO = constant(0)
LOST_DWORD: tuple[Byte, ...] = (None,) * 4
Dword = tuple[Byte, ...]


def results(state: State, ins: Instruction, data: Collection[Symbol]) -> dict[tuple[str, int], Dword]:
    """Contents that a vector operation writes to its destinations; a destination that is missing is unknown.

    Args:
        state: before it.
        ins: the operation.
        data: symbols of scalar arguments that are neither sizes nor places.

    Returns:
        Bytes by register: file and number; a lane mask has ``mask`` and its first register.
    """
    if not _reads_contents(state, ins):
        return {}
    try:
        if ins.halves:
            return {place: new for half in ins.halves for place, new in _one(state, half, data).items()}
        return _one(state, ins, data)
    except TooLarge:
        return {}


def _reads_contents(state: State, ins: Instruction) -> bool:
    """Whether any source has a content: an operation on constants alone has a word as its result, not a content."""
    held = state.c
    for part in ins.halves or (ins,):
        for operand in part.src:
            if operand.kind in ("v", "a"):
                numbers = range(operand.index, operand.index + operand.count)
                if any((operand.kind, number, byte) in held for number in numbers for byte in range(4)):
                    return True
            elif operand.kind == "s" and ("mask", operand.index, 0) in held:
                return True
    return ("mask", VCC, 0) in held


def _one(state: State, ins: Instruction, data: Collection[Symbol]) -> dict[tuple[str, int], Dword]:
    if ins.encoding in ("SDWA", "DPP", "DPP8") or ins.opcode.lane or not ins.dst or "mbcnt" in ins.name:
        return {}
    target = ins.dst[0]
    if ins.opcode.compare and not ins.name.endswith("64"):
        made = _made(state, ins, [(o, 0) for o in ins.src[:2]], data)
        return {} if made is None or target.kind != "s" else {("mask", target.index): (made, None, None, None)}
    if target.kind not in ("v", "a"):
        return {}
    if ins.name in COPIES and not _modified(ins):
        return {(target.kind, target.index + k): dword(state, ins.src[0], k) for k in range(target.count)}
    place = (target.kind, target.index)
    if ins.name in PACKED:
        return _packed(state, ins, data)
    if target.count != 1:
        return {}
    moved = None if _modified(ins) else _moved(state, ins)
    if moved is not None:
        return {place: moved}
    if ins.name in PAIRED:
        low, high = (_made(state, ins, [(operand, 0)], data) for operand in ins.src[:2])
        return {place: (*_bytes(low, 2), *_bytes(high, 2))}
    operation = OPERATIONS.get(ins.name)
    if (
        operation is None
        or operation.unit != "vector"
        or operation.shaped
        or operation.results[:1] not in (("f32",), ("u32",), ("i32",), ("b32",))
    ):
        return {}
    if ins.name == "v_cndmask_b32":
        return {place: _chosen(state, ins, data)}
    if any(kind not in DWORDS for kind in operation.sources) or len(operation.results) != 1:
        return {}
    return {place: _bytes(_made(state, ins, [(o, 0) for o in ins.src], data), 4)}


def _modified(ins: Instruction) -> bool:
    return not plain(ins)


def _bytes(value: Byte, count: int) -> Dword:
    return tuple(None if value is None else value + k for k in range(count))


# Moves of bytes.


def _moved(state: State, ins: Instruction) -> Dword | None:
    """The bytes of a result that consists of moved bytes; None for other operations."""
    name = ins.name
    sources = [dword(state, operand) for operand in ins.src]
    amounts = [known(state.operand(operand)) for operand in ins.src]
    numbers = [_number(amount) for amount in amounts]
    if not any(_followed(source) for source in sources):
        return None
    if name in ("v_lshlrev_b32", "v_lshrrev_b32"):
        amount = numbers[0]
        if amount is None or amount % 8:
            return None
        return _shifted(sources[1], (amount & 31) // 8, left=name == "v_lshlrev_b32")
    if name == "v_perm_b32":
        return _permuted(sources[0], sources[1], numbers[2])
    if name in ("v_alignbyte_b32", "v_alignbit_b32"):
        amount = numbers[2]
        if amount is None or (name == "v_alignbit_b32" and amount % 8):
            return None
        first = (amount & 3) if name == "v_alignbyte_b32" else (amount & 31) // 8
        return (*sources[1], *sources[0])[first : first + 4]
    if name == "v_and_b32":
        for value, mask in ((sources[1], numbers[0]), (sources[0], numbers[1])):
            found = _masked(value, mask)
            if found is not None:
                return found
        return None
    if name == "v_bfi_b32" and numbers[0] is not None:
        ones, zeros = _masked(sources[1], numbers[0]), _masked(sources[2], ~numbers[0] & 0xFFFFFFFF)
        return None if ones is None or zeros is None else _joined(ones, zeros)
    if name in ("v_or_b32", "v_or3_b32"):
        return _joined(*sources)
    if name == "v_lshl_or_b32" and numbers[1] is not None and numbers[1] % 8 == 0:
        return _joined(_shifted(sources[0], (numbers[1] & 31) // 8, left=True), sources[2])
    if name == "v_and_or_b32":
        for value, mask in ((sources[1], numbers[0]), (sources[0], numbers[1])):
            found = _masked(value, mask)
            if found is not None:
                return _joined(found, sources[2])
    return None


def _number(value: Any) -> int | None:
    """A constant that is equal in all lanes."""
    if value is None:
        return None
    first = np.asarray(value).flat[0]
    return int(first) if np.all(value == first) else None


def _followed(value: Dword) -> bool:
    return any(byte is not None and not byte.is_constant for byte in value)


def _shifted(value: Dword, count: int, *, left: bool) -> Dword:
    return (*(ZERO,) * count, *value[: 4 - count]) if left else (*value[count:], *(ZERO,) * count)


def _permuted(high: Dword, low: Dword, selector: int | None) -> Dword | None:
    if selector is None:
        return None
    every = (*low, *high)
    chosen = [selector >> 8 * k & 0xFF for k in range(4)]
    if any(8 <= one < 12 for one in chosen):  # signs
        return None
    return tuple(every[one] if one < 8 else constant(0 if one == 12 else 0xFF) for one in chosen)


def _masked(value: Dword, mask: int | None) -> Dword | None:
    if mask is None or any((mask >> 8 * k & 0xFF) not in (0, 0xFF) for k in range(4)):
        return None
    return tuple(value[k] if mask >> 8 * k & 0xFF else ZERO for k in range(4))


def _joined(*values: Dword) -> Dword | None:
    """OR of dwords, where at most one dword has a byte other than 0 at each place; None otherwise."""
    found: list[Byte] = []
    for parts in zip(*values, strict=True):
        left = [byte for byte in parts if byte is None or byte.terms]
        if len(left) > 1:
            return None
        found.append(left[0] if left else ZERO)
    return tuple(found)


# Expressions.


def expression(value: Polynomial) -> tuple[int, int] | None:
    """Number of a byte's expression (0: the sum or element itself), and the byte's place in it, for all lanes."""
    made, byte = factor_of(value, MADE), value.constant
    if not made.is_constant or not isinstance(made.constant, int) or not isinstance(byte, int):
        return None
    return made.constant, byte


def _made(
    state: State, ins: Instruction, reads: Sequence[tuple[Operand, int]], data: Collection[Symbol], *more: Byte
) -> Byte:
    """Byte 0 of an expression of dwords; None where the expression has more than one element."""
    keys: list[Any] = []
    elements: list[Polynomial] = []
    for operand, k in reads:
        if operand.count > 1 and ins.name not in PACKED:
            return None
        found = _read(state, operand, k, data)
        if found is None:
            return None
        keys.append((found[0], operand.neg, operand.abs))
        elements += found[1]
    for value in more:
        one = None if value is None else expression(value)
        if one is None or value is None:
            return None
        keys.append(("mask", one))
        elements.append(value)
    part = common_part(elements) if elements else None
    if part is None:
        return None
    modifiers = tuple(sorted((name, value) for name, value in ins.modifiers.items() if value))
    if ins.modifiers.get("op_sel") or any(o.half for o in (*ins.src, *ins.dst)):
        return None
    return part + of(MADE).scaled(interned((ins.name, modifiers, tuple(keys))))


def _read(state: State, operand: Operand, k: int, data: Collection[Symbol]) -> tuple[object, list[Polynomial]] | None:
    """The operand of an expression for a dword of a source, and the elements in the dword."""
    if operand.kind == "s" and ("mask", operand.index, 0) in state.c:
        return None
    content = dword(state, operand, k)
    if any(byte is None for byte in content):
        word = state.operand(operand, k)
        if word is None or word.under is not None or not word.value.uniform or not word.value.symbols <= set(data):
            return None
        return ("scalar", word.part, word.value.key), []
    pattern: list[object] = []
    elements = []
    for byte in content:
        assert byte is not None
        if byte.is_constant:
            if not isinstance(byte.constant, int):
                return None
            pattern.append(byte.constant)
            continue
        found = expression(byte)
        if found is None:
            return None
        pattern.append(("byte", *found, _kind(byte)))
        elements.append(byte)
    return ("dword", *pattern), elements


def _kind(value: Polynomial) -> str:
    return next((s.name for s in value.symbols if s.name in ("RESULT", "OWN")), "")


def _packed(state: State, ins: Instruction, data: Collection[Symbol]) -> dict[tuple[str, int], Dword]:
    """Two operations of dwords; OP_SEL and OP_SEL_HI say which dword of a source each reads."""
    if any(ins.modifiers.get(name) for name in ("clamp", "neg_lo", "neg_hi")):
        return {}
    target, found = ins.dst[0], {}
    low, high = ins.modifiers.get("op_sel", 0), ins.modifiers.get("op_sel_hi", 0)
    for k, chosen in enumerate((low, high)):
        reads = [(o, chosen >> n & 1 if o.kind != "const" else 0) for n, o in enumerate(ins.src)]
        plain = _made_packed(state, ins, reads, data)
        found[target.kind, target.index + k] = _bytes(plain, 4)
    return found


def _made_packed(
    state: State, ins: Instruction, reads: Sequence[tuple[Operand, int]], data: Collection[Symbol]
) -> Byte:
    from dataclasses import replace

    kept = {n: v for n, v in ins.modifiers.items() if n not in ("op_sel", "op_sel_hi")}
    return _made(state, replace(ins, modifiers=kept), reads, data)


def _chosen(state: State, ins: Instruction, data: Collection[Symbol]) -> Dword:
    """V_CNDMASK_B32: a selection by a known lane mask, or by a compare of the same element."""
    no, yes = (dword(state, operand) for operand in ins.src[:2])
    mask_at = ins.src[2].index if len(ins.src) > 2 and ins.src[2].kind == "s" else VCC
    if _modified(ins):
        return LOST_DWORD
    tested = held(state, ("mask", mask_at, 0))
    if tested is not None:
        return _bytes(_made(state, ins, [(o, 0) for o in ins.src[:2]], data, tested), 4)
    mask = state.mask(mask_at)
    if mask.literals:
        return LOST_DWORD
    out: list[Byte] = []
    for a, b in zip(no, yes, strict=True):
        if a is None or b is None:
            all_on = mask.on.all() or not mask.on.any()
            out.append((b if mask.on.all() else a) if all_on else None)
        else:
            out.append(either(mask.on, b, a))
    return tuple(out)
