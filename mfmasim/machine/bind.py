"""Binding: an instruction becomes, once, a function of a group of waves."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.operands import (
    scalar_reader,
    scalar_writer,
    unsupported,
    vector_reader,
    vector_writer,
)
from mfmasim.machine.registry import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.registry import Operation
    from mfmasim.machine.state import Group

__all__ = ["bind", "operation_of"]

# Modifiers that the generic vector binding understands; any other that is set stops the launch.
UNDERSTOOD = {
    "op_sel",
    "op_sel_hi",
    "neg_lo",
    "neg_hi",
    "clamp",
    "omod",
    "dst_sel",
    "dst_unused",
    "src0_sel",
    "src1_sel",
}
# Result scale of the output modifier (CDNA3 ISA manual, OMOD).
OMOD = {0: 1.0, 1: 2.0, 2: 4.0, 3: 0.5}


def operation_of(instruction: Instruction) -> Operation:
    """The operation an instruction performs.

    Raises:
        MfmasimError: the machine has no such operation; names it, its address and bytes, and the nearest one it has.
    """
    found = OPERATIONS.get(instruction.name)
    if found is None:
        near = difflib.get_close_matches(instruction.name, OPERATIONS, n=1)
        raise MfmasimError(
            f"unsupported instruction {instruction.name} at {instruction.pc:#x} (bytes {instruction.raw.hex()})"
            + (f"; nearest that is supported: {near[0]}" if near else "")
        )
    return found


def bind(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    """Bind an instruction to its operands.

    Args:
        instruction: the decoded instruction.
        machine: what direct operations need beyond registers (memory, architecture, observers).

    Returns:
        A function that executes it for a group of waves.
    """
    operation = operation_of(instruction)
    if operation.unit == "direct":
        bound: Callable[[Group], None] = operation.body(instruction, machine)
        return bound
    if len(instruction.src) != len([s for s in operation.sources if s != "scc"]):
        raise unsupported(
            instruction, f"{len(instruction.src)} sources where {operation.name} has {len(operation.sources)}"
        )
    return _bind_vector(instruction, operation) if operation.unit == "vector" else _bind_scalar(instruction, operation)


def _bind_vector(instruction: Instruction, operation: Operation) -> Callable[[Group], None]:
    modifiers = instruction.modifiers
    for name, value in modifiers.items():
        if value and name not in UNDERSTOOD:
            raise unsupported(instruction, f"modifier {name}:{value}")
    halves = modifiers.get("op_sel", 0)
    if halves and not any(kind in ("u16", "i16", "f16", "b16") for kind in operation.sources + operation.results):
        raise unsupported(instruction, f"op_sel {halves:#x}")
    readers = [
        vector_reader(operand, kind, instruction, high=bool(halves >> i & 1))
        for i, (operand, kind) in enumerate(zip(instruction.src, operation.sources, strict=True))
    ]
    writers = [
        vector_writer(operand, kind, instruction)
        for operand, kind in zip(instruction.dst, operation.results, strict=True)
    ]
    if halves >> len(readers) & 1:
        raise unsupported(instruction, "op_sel of the destination")
    body = _after(instruction, operation)
    if len(writers) == 1:
        write = writers[0]
        if len(readers) == 2:
            first, second = readers
            return lambda g: write(g, body(first(g), second(g)))
        return lambda g: write(g, body(*[read(g) for read in readers]))

    def run(g: Group) -> None:
        for put, value in zip(writers, body(*[read(g) for read in readers]), strict=True):
            put(g, value)

    return run


def _after(instruction: Instruction, operation: Operation) -> Callable[..., Any]:
    """The body followed by the output modifiers omod and clamp, which only floating-point results have here."""
    body = operation.body
    omod, clamp = instruction.modifiers.get("omod", 0), instruction.modifiers.get("clamp", 0)
    if not omod and not clamp:
        return body
    kind = operation.results[0]
    if kind not in ("f16", "f32", "f64"):
        raise unsupported(instruction, "clamp or omod on an integer result")
    real: Any = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]
    factor, zero, one = real(OMOD[omod]), real(0), real(1)

    def modified(*sources: NDArray[Any]) -> NDArray[Any]:
        out = body(*sources) * factor
        if clamp:
            # A NaN clamps to 0 under DX10_CLAMP, which compilers set.
            out = np.where(np.isnan(out), zero, np.clip(out, zero, one)).astype(real)
        return np.asarray(out)

    return modified


def _bind_scalar(instruction: Instruction, operation: Operation) -> Callable[[Group], None]:
    readers: list[Callable[[Group], NDArray[Any]]] = []
    operands = iter(instruction.src)
    for kind in operation.sources:
        if kind == "scc":
            readers.append(lambda g: g.scc)
        else:
            readers.append(scalar_reader(next(operands), kind, instruction))
    writers: list[Callable[[Group, NDArray[Any]], None]] = []
    targets = iter(instruction.dst)
    for kind in operation.results:
        writers.append(_write_scc if kind == "scc" else scalar_writer(next(targets), kind, instruction))
    body = operation.body
    if len(writers) == 1:
        write = writers[0]
        return lambda g: write(g, body(*[read(g) for read in readers]))

    def run(g: Group) -> None:
        for put, value in zip(writers, body(*[read(g) for read in readers]), strict=True):
            put(g, value)

    return run


def _write_scc(g: Group, value: NDArray[Any]) -> None:
    g.scc = value
