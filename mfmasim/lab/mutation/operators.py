"""Mutation operators on compiled code: each changes one instruction, or one field of the kernel descriptor.

A row has the programmer's mistake of an operator. Operators marked `order` do not change any value that the simulator
delivers, and only remove order; the other operators change results, so that a mutant with equal results on a
case's data can be recognised by running it.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from mfmasim.isa import decode
from mfmasim.isa.counters import waited, waiting_for
from mfmasim.isa.patching import field, with_fields, with_operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mfmasim.isa import Instruction, Opcode
    from mfmasim.kernels import Kernel

ZERO = 128
"""Source code of the inline constant 0 (ISA manuals, operands)."""
NARROWER = {"dwordx4": "dwordx3", "dwordx3": "dwordx2", "dwordx2": "dword", "b128": "b96", "b96": "b64", "b64": "b32"}
INVERTED = {
    "s_cbranch_scc0": "s_cbranch_scc1",
    "s_cbranch_vccz": "s_cbranch_vccnz",
    "s_cbranch_execz": "s_cbranch_execnz",
}
INVERTED |= {there: here for here, there in INVERTED.items()}
OFF_BY_ONE = {"_lt_": "_le_", "_le_": "_lt_", "_gt_": "_ge_", "_ge_": "_gt_"}
UNGUARDED = {"s_and_saveexec_b64": "s_or_saveexec_b64", "s_and_saveexec_b32": "s_or_saveexec_b32"}
# Element types of matrix instructions that another instruction of the same shape takes in their place.
OTHER_TYPE = {"fp8_fp8": "bf8_bf8", "bf8_bf8": "fp8_fp8", "fp8_bf8": "fp8_fp8", "bf8_fp8": "fp8_fp8",
              "_f16": "_bf16", "_bf16": "_f16"}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """Bytes that replace an instruction, their text, and the weakened counter, if there is one."""

    code: bytes
    text: str
    counter: str = ""


@dataclass(frozen=True)
class Operator:
    """One kind of fault."""

    kind: str
    about: str
    """The programmer's mistake that it represents."""
    changes: Callable[[Kernel, Instruction], Iterator[Change]]
    order: bool = False
    """Whether it removes order, without changing the values that the simulator delivers."""


def nops(size: int) -> bytes:
    """S_NOP 0, `size` bytes of it: SOPP's opcode 0 on every architecture (ISA manuals, SOPP)."""
    return b"\x00\x00\x80\xbf" * (size // 4)


def is_lds(opcode: Opcode) -> bool:
    """Whether an opcode only reads or writes the LDS."""
    return opcode.space == "lds" and opcode.access in ("load", "store")


def is_lds_write(opcode: Opcode) -> bool:
    """Whether an opcode writes the LDS."""
    return is_lds(opcode) and opcode.access == "store"


def is_load(opcode: Opcode) -> bool:
    """Whether an opcode loads from memory that a host can access."""
    return opcode.unit == "VMEM" and opcode.space != "scratch" and opcode.access == "load"


def is_store(opcode: Opcode) -> bool:
    """Whether an opcode stores to memory that a host can access."""
    return opcode.unit == "VMEM" and opcode.space != "scratch" and opcode.access == "store"


def _loads_at_once(ins: Instruction) -> bool:
    """Whether an instruction loads from one address of memory that a host can access, or of the LDS."""
    lds = is_lds(ins.opcode) and ins.opcode.access == "load" and "offset0" not in ins.modifiers
    return lds or is_load(ins.opcode)


def _may_compare(ins: Instruction) -> bool:
    """Whether it may be a comparison; scalar ones set SCC as other operations do, and only their names say it."""
    return ins.opcode.compare or ins.opcode.unit == "SALU"


def _removed(chosen: Callable[[Instruction], object]) -> Callable[[Kernel, Instruction], Iterator[Change]]:
    def changes(kernel: Kernel, ins: Instruction) -> Iterator[Change]:  # noqa: ARG001
        if chosen(ins) and not ins.halves:
            yield Change(nops(ins.size), ins.text)

    return changes


def _renamed(
    table: dict[str, str], chosen: Callable[[Instruction], object]
) -> Callable[[Kernel, Instruction], Iterator[Change]]:
    """Another operation of the same encoding: the first entry whose text occurs in the name is replaced."""

    def changes(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
        for old, new in table.items():
            name = ins.opcode.renamed(old, new) if chosen(ins) else ""
            code = with_operation(ins, name, kernel.wave) if name else None
            if code is not None:
                yield Change(code, f"{ins.text} as {name}")
                return

    return changes


def _waits_removed(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
    if ins.opcode.flow != "end" and waited(kernel.arch, ins):
        yield Change(nops(4), ins.text)


def _waits_weakened(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
    for counter, value in waited(kernel.arch, ins) if ins.opcode.flow != "end" else ():
        bits = waiting_for(kernel.arch, ins, counter, value + 1)
        if bits is not None:
            code = bits.to_bytes(2, "little") + ins.raw[2:]
            yield Change(code, f"{ins.text}, {counter} {value + 1}", counter)


def _lds_shifted(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
    if not is_lds(ins.opcode) or ins.encoding != "DS":
        return
    if "offset" in ins.modifiers:
        offset = int(ins.modifiers["offset"]) + 4
        code = with_fields(ins, {"offset0": offset & 0xFF, "offset1": offset >> 8}, kernel.wave)
        text = f"{ins.text}, offset {offset}"
    else:
        offset = int(ins.modifiers["offset0"]) + 1
        code = with_fields(ins, {"offset0": offset}, kernel.wave)
        text = f"{ins.text}, offset0 {offset}"
    if code is not None:
        yield Change(code, text)


def _offset_shifted(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
    """The offset shifted by 4 bytes, in the other direction at the end of the field."""
    if not (is_load(ins.opcode) or is_store(ins.opcode)) or "offset" not in ins.modifiers:
        return
    now = field(ins, "offset")
    for step in (4, -4):
        code = None if now is None else with_fields(ins, {"offset": now + step}, kernel.wave)
        # The field may be signed: one step beyond its largest value is its smallest.
        if code is not None and decode(code, ins.arch, wave=kernel.wave).modifiers["offset"] == (
            ins.modifiers["offset"] + step
        ):
            yield Change(code, f"{ins.text}, offset {step:+d}")
            return


def _exchanged(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
    if not ins.opcode.matrix or len({(o.count, o.type) for o in ins.src[:2]}) > 1:
        return
    a, b, acc = field(ins, "src0"), field(ins, "src1"), field(ins, "acc")
    if a is None or b is None:
        return
    values = {"src0": b, "src1": a} | ({} if acc is None else {"acc": (acc & 1) << 1 | acc >> 1})
    code = with_fields(ins, values, kernel.wave)
    if code is not None:
        yield Change(code, ins.text)


def _accumulator_dropped(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
    if ins.opcode.matrix in ("mfma", "wmma"):
        code = with_fields(ins, {"src2": ZERO}, kernel.wave)
        if code is not None:
            yield Change(code, ins.text)


def _shift_changed(kernel: Kernel, ins: Instruction) -> Iterator[Change]:
    """V_LSHLREV by a constant: the scale of an index."""
    if ins.opcode.kind != "shift_left" or ins.src[0].kind != "const" or ins.encoding in ("SDWA", "DPP", "DPP8"):
        return
    code = field(ins, "src0")
    if code is not None and 128 <= code < 192:  # inline 0 to 63
        changed = with_fields(ins, {"src0": code + 1}, kernel.wave)
        if changed is not None:
            yield Change(changed, f"{ins.text}, by {code - 127}")


OPERATORS = (
    Operator("wait removed", "a wait is forgotten", _waits_removed, order=True),
    Operator("wait weakened", "a wait lets one operation more be in flight", _waits_weakened, order=True),
    Operator("barrier removed", "a barrier is forgotten", _removed(attrgetter("opcode.barrier")), order=True),
    Operator("LDS offset shifted", "an LDS access is one dword off", _lds_shifted),
    Operator("LDS write removed", "a part of a tile is never filled", _removed(lambda ins: is_lds_write(ins.opcode))),
    Operator("store removed", "a part of the output is never written", _removed(lambda ins: is_store(ins.opcode))),
    Operator("offset shifted", "a load or store is one dword off", _offset_shifted),
    Operator("load narrowed", "a load fetches a dword less", _renamed(NARROWER, _loads_at_once)),
    Operator("operands exchanged", "A and B of a matrix instruction the wrong way round", _exchanged),
    Operator("accumulator dropped", "a matrix instruction starts from 0", _accumulator_dropped),
    Operator(
        "type changed", "another element type of the same width", _renamed(OTHER_TYPE, attrgetter("opcode.matrix"))
    ),
    Operator("branch inverted", "a condition the wrong way round", _renamed(INVERTED, attrgetter("opcode.condition"))),
    Operator("guard removed", "an `if` that is always taken", _renamed(UNGUARDED, attrgetter("opcode.saves_exec"))),
    Operator("comparison off by one", "< for <=", _renamed(OFF_BY_ONE, _may_compare)),
    Operator(
        "or for exclusive-or", "a swizzle that is none", _renamed({"v_xor_b32": "v_or_b32"}, attrgetter("opcode.unit"))
    ),
    Operator("shift changed", "an index scaled by twice its size", _shift_changed),
)
"""The operators, in the order in which mutants are tried."""
