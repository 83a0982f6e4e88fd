"""From the operands of an instruction, as its operation's signature names them, to readers and writers."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import NUMBERS, scalar_reader, scalar_writer, vector_reader, vector_writer
from mfmasim.machine.events.interface import Reader, Writer
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import Operation
from mfmasim.machine.state.waves import Group

SIXTEEN = ("u16", "i16", "f16", "b16")
# Modifiers that the generic vector binding understands; any other that is set stops the launch.
UNDERSTOOD = {"op_sel", "op_sel_hi", "neg_lo", "neg_hi", "clamp", "omod", "byte_sel"}
UNDERSTOOD |= {"scale_sel"}  # conversions with a scale in another lane
UNDERSTOOD |= {"wait_exp"}  # EXPCNT counts what graphics delivers
UNDERSTOOD |= {"dst_sel", "dst_unused", "src0_sel", "src1_sel"}  # SDWA
UNDERSTOOD |= {"dpp_ctrl", "row_mask", "bank_mask", "bound_ctrl", "dpp8", "fi"}  # DPP


def vector_operands(instruction: Instruction, operation: Operation) -> tuple[list[Reader], list[Writer]]:
    """Readers of the sources and writers of the results of a vector operation.

    Raises:
        MfmasimError: an operand or modifier that the machine does not execute.
    """
    modifiers = instruction.modifiers
    for name, value in modifiers.items():
        if value and name not in UNDERSTOOD:
            raise unsupported(instruction, f"modifier {name}:{value}")
    halves = 0 if operation.shaped else modifiers.get("op_sel", 0)
    kinds = [kind for kind in operation.sources if kind != "mode"]
    if not operation.shaped:  # a shift of v_alignbit_b32 may stand in a half of its register
        kinds = ["u16" if x.half and kind == "u32" else kind for x, kind in zip(instruction.src, kinds, strict=True)]
    if halves and not any(kind in SIXTEEN for kind in (*kinds, *operation.results)):
        raise unsupported(instruction, f"op_sel {halves:#x}")
    # A uniform source needs no axes if another source has them: NumPy computes with it faster.
    bare = (
        not operation.shaped
        and NUMBERS.issuperset({*kinds} - {"mask"})
        and any(x.kind in ("v", "a") and kind != "mask" for x, kind in zip(instruction.src, kinds, strict=True))
    )
    readers = [
        # A destination that is also a source has the half that is written.
        vector_reader(
            operand,
            kind,
            instruction,
            high=bool(halves >> (3 if operand.half and not operand.printed else i) & 1),
            bare=bare,
        )
        for i, (operand, kind) in enumerate(zip(instruction.src, kinds, strict=True))
    ]
    results = operation.results * len(instruction.dst) if operation.results == ("mask",) else operation.results
    writers = [
        # A shaped operation selects the halves of its sources itself; that of a 16-bit result is selected here.
        vector_writer(
            operand, kind, instruction, high=bool(modifiers.get("op_sel", 0) >> 3 & 1), keeps_high=operation.keeps_high
        )
        for operand, kind in zip(instruction.dst, results, strict=True)
    ]
    return readers, writers


def scalar_operands(instruction: Instruction, operation: Operation) -> tuple[list[Reader], list[Writer]]:
    """Readers of the sources and writers of the results of a scalar operation, SCC included."""
    readers: list[Reader] = []
    operands = iter(instruction.src)
    for kind in operation.sources:
        if kind == "scc":
            readers.append(lambda g: g.scc)
        elif kind != "mode":
            readers.append(scalar_reader(next(operands), kind, instruction))
    targets = iter(instruction.dst)
    writers: list[Writer] = [
        _write_scc if kind == "scc" else scalar_writer(next(targets), kind, instruction) for kind in operation.results
    ]
    return readers, writers


def _write_scc(g: Group, value: NDArray[Any]) -> None:
    if g.all and value.ndim:
        g.waves.scc = value
    else:
        g.scc = value
