"""Binding: an instruction becomes, once, a function of a group of waves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.fidelity import LEVELS
from mfmasim.machine.dpp import is_dpp, narrowed
from mfmasim.machine.dual import bind_dual
from mfmasim.machine.modifiers import output_modifiers
from mfmasim.machine.operands import (
    scalar_reader,
    scalar_writer,
    unsupported,
    vector_reader,
    vector_writer,
)
from mfmasim.machine.registry import OPERATIONS
from mfmasim.machine.saturate import saturated

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.float_mode import FloatMode
    from mfmasim.machine.interface import Bound, Machine, Reader, Writer
    from mfmasim.machine.registry import Operation
    from mfmasim.machine.state import Group


__all__ = ["bind", "operation_of", "scalar_operands", "vector_operands"]

SIXTEEN = ("u16", "i16", "f16", "b16")
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
    "dpp_ctrl",
    "row_mask",
    "bank_mask",
    "bound_ctrl",
    "dpp8",
    "fi",
    "byte_sel",
}


def operation_of(instruction: Instruction) -> Operation:
    """The operation an instruction performs; of a dual instruction the half that can be trusted less.

    Raises:
        MfmasimError: the machine has no such operation; names it, its address and bytes.
    """
    if instruction.halves:
        return max(map(operation_of, instruction.halves), key=lambda found: LEVELS.index(found.fidelity))
    found = OPERATIONS.get(instruction.name)
    if found is None:
        raise MfmasimError(
            f"unsupported instruction {instruction.text.strip()} at {instruction.pc:#x} "
            f"(bytes {instruction.raw.hex()}, {instruction.arch})"
        )
    return found


def bind(instruction: Instruction, machine: Machine) -> Bound:
    """Bind an instruction to its operands.

    Args:
        instruction: the decoded instruction.
        machine: what direct operations need beyond registers (memory, architecture, observers).

    Returns:
        A function that executes it for a group of waves.
    """
    operation = operation_of(instruction)
    if instruction.halves:
        if machine.kernel.wave != 32:
            raise unsupported(instruction, "dual instruction in a wave of 64 lanes")
        return bind_dual([(half, operation_of(half)) for half in instruction.halves], machine.arch)
    if operation.unit == "direct":
        bound: Bound = operation.body(instruction, machine)
        return bound
    if len(instruction.src) != len([s for s in operation.sources if s not in ("scc", "mode")]):
        raise unsupported(
            instruction, f"{len(instruction.src)} sources where {operation.name} has {len(operation.sources)}"
        )
    if operation.unit == "scalar":
        return _bind_scalar(instruction, operation, machine)
    if operation.saturates and instruction.modifiers.get("clamp"):
        operation = replace(operation, body=saturated(operation))
        instruction = replace(instruction, modifiers={**instruction.modifiers, "clamp": 0})
    step = _bind_vector(instruction, operation, machine)
    return narrowed(instruction, step) if is_dpp(instruction) else step


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
    readers = [
        # A destination that is read back is the half that is written.
        vector_reader(
            operand, kind, instruction, high=bool(halves >> (3 if operand.half and not operand.printed else i) & 1)
        )
        for i, (operand, kind) in enumerate(zip(instruction.src, kinds, strict=True))
    ]
    results = operation.results * len(instruction.dst) if operation.results == ("mask",) else operation.results
    writers = [
        # A shaped operation chooses the halves of its sources itself; that of a 16-bit result is chosen here.
        vector_writer(
            operand, kind, instruction, high=bool(modifiers.get("op_sel", 0) >> 3 & 1), keeps_high=operation.keeps_high
        )
        for operand, kind in zip(instruction.dst, results, strict=True)
    ]
    return readers, writers


def _bind_vector(instruction: Instruction, operation: Operation, machine: Machine) -> Bound:
    readers, writers = vector_operands(instruction, operation)
    body = operation.body(instruction, machine.arch) if operation.shaped else operation.body
    finish = output_modifiers(instruction, operation, machine.arch.floats)
    if finish is not None or "mode" in operation.sources:
        return _bind_with_mode(body, "mode" in operation.sources, finish, readers, writers)
    if len(writers) == 1:
        write = writers[0]
        if len(readers) == 1:
            (only,) = readers
            return lambda g: write(g, body(only(g)))
        if len(readers) == 2:
            first, second = readers
            return lambda g: write(g, body(first(g), second(g)))
        if len(readers) == 3:
            one, two, three = readers
            return lambda g: write(g, body(one(g), two(g), three(g)))
        return lambda g: write(g, body(*[read(g) for read in readers]))

    alike = len(operation.results) == 1

    def run(g: Group) -> None:
        out = body(*[read(g) for read in readers])
        for put, value in zip(writers, [out] * len(writers) if alike else out, strict=True):
            put(g, value)

    return run


def _bind_with_mode(
    body: Callable[..., Any],
    takes_mode: bool,
    finish: Callable[[NDArray[Any], FloatMode], NDArray[Any]] | None,
    readers: list[Callable[[Group], NDArray[Any]]],
    writers: list[Callable[[Group, NDArray[Any]], None]],
) -> Bound:
    """An operation that obeys MODE, with the output modifiers on its first result."""

    def step(g: Group, mode: FloatMode) -> None:
        sources = [read(g) for read in readers]
        out = body(*sources, mode) if takes_mode else body(*sources)
        results = list(out) if isinstance(out, tuple) else [out] * len(writers)
        if finish is not None:
            results[0] = finish(results[0], mode)
        for put, value in zip(writers, results, strict=True):
            put(g, value)

    if finish is not None or len(writers) != 1 or not takes_mode or len(readers) not in (2, 3):
        return lambda g: g.by_mode(step)
    # The usual operations once more without lists, for waves that agree in MODE.
    (write,) = writers
    first, second, *third = readers

    def two(g: Group) -> None:
        mode = g.waves.float_mode
        if mode is None:
            g.by_mode(step)
        else:
            write(g, body(first(g), second(g), mode))

    def three(g: Group) -> None:
        mode = g.waves.float_mode
        if mode is None:
            g.by_mode(step)
        else:
            write(g, body(first(g), second(g), third[0](g), mode))

    return three if third else two


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


def _bind_scalar(instruction: Instruction, operation: Operation, machine: Machine) -> Bound:
    readers, writers = scalar_operands(instruction, operation)
    body = operation.body(instruction, machine.arch) if operation.shaped else operation.body
    if "mode" in operation.sources:
        return _bind_with_mode(body, takes_mode=True, finish=None, readers=readers, writers=writers)
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


def _write_scc(g: Group, value: NDArray[Any]) -> None:
    g.scc = value
