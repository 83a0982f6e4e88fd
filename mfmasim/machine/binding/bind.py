"""Binding: an instruction becomes, once, a function of a group of waves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.fidelity import LEVELS
from mfmasim.machine.binding.dpp import is_dpp, narrowed
from mfmasim.machine.binding.dual import bind_dual
from mfmasim.machine.binding.gds import through_gds
from mfmasim.machine.binding.lds_source import with_source
from mfmasim.machine.binding.modifiers import output_modifiers
from mfmasim.machine.binding.saturate import saturated
from mfmasim.machine.binding.signatures import scalar_operands, vector_operands
from mfmasim.machine.opcodes.refusal import unknown_operation, unsupported
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.machine.state.waves import TTMP0, TTMPS

if TYPE_CHECKING:
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.binding.modifiers import OutputModifiers
    from mfmasim.machine.events.interface import Bound, Machine, Reader, Writer
    from mfmasim.machine.numerics.float_mode import FloatMode
    from mfmasim.machine.opcodes.registry import Body, Operation
    from mfmasim.machine.state.waves import Group


def operation_of(instruction: Instruction) -> Operation:
    """The operation of an instruction; for a dual instruction, that of the half with the lower fidelity.

    Raises:
        MfmasimError: the machine has no such operation; names it, its address and bytes.
    """
    if instruction.halves:
        return max(map(operation_of, instruction.halves), key=lambda found: LEVELS.index(found.fidelity))
    found = OPERATIONS.get(instruction.name)
    if found is None:
        raise unknown_operation(instruction)
    return through_gds(found) if instruction.in_gds else found


def _privileged(operand: Operand) -> bool:
    """Whether an operand is a trap temporary."""
    return operand.kind == "s" and TTMP0 <= operand.index < TTMP0 + TTMPS


def bind(instruction: Instruction, machine: Machine) -> Bound:
    """Bind an instruction to its operands.

    Args:
        instruction: the decoded instruction.
        machine: memory, architecture and observers, for direct operations.

    Returns:
        A function that executes it for a group of waves.
    """
    operation = operation_of(instruction)
    if instruction.dst and all(_privileged(operand) for operand in instruction.dst):
        # A program cannot write trap temporaries, and such an instruction does not set SCC (RDNA4 ISA manual, 3.3.2).
        if instruction.opcode.memory or instruction.opcode.flow or "exec" in operation.results:
            raise unsupported(instruction, "trap temporary as destination")
        return lambda g: None  # noqa: ARG005
    if instruction.halves:
        if machine.kernel.wave != 32:
            raise unsupported(instruction, "dual instruction in a wave of 64 lanes")
        return bind_dual([(half, operation_of(half)) for half in instruction.halves], machine.arch)
    if operation.unit == "direct":
        bound: Bound = operation.body(instruction, machine)
        return narrowed(instruction, bound) if is_dpp(instruction) else bound
    if len(instruction.src) != len([s for s in operation.sources if s not in ("scc", "mode")]):
        raise unsupported(
            instruction, f"{len(instruction.src)} sources where {operation.name} has {len(operation.sources)}"
        )
    if operation.unit == "scalar":
        return _bind_scalar(instruction, operation, machine)
    if operation.saturates and instruction.modifiers.get("clamp"):
        operation = replace(operation, body=saturated(operation))
        instruction = replace(instruction, modifiers={**instruction.modifiers, "clamp": 0})
    step = with_source(instruction, machine, _bind_vector(instruction, operation, machine))
    return narrowed(instruction, step) if is_dpp(instruction) else step


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
    if not alike and len(writers) == len(readers) == 2:
        return _two_of_two(body, readers, writers)

    def run(g: Group) -> None:
        out = body(*[read(g) for read in readers])
        for put, value in zip(writers, [out] * len(writers) if alike else out, strict=True):
            put(g, value)

    return run


def _two_of_two(body: Body, readers: list[Reader], writers: list[Writer]) -> Bound:
    """An operation with two sources and two results, without lists."""
    (first, second), (put_first, put_second) = readers, writers

    def run(g: Group) -> None:
        value, other = body(first(g), second(g))
        put_first(g, value)
        put_second(g, other)

    return run


def _bind_with_mode(
    body: Body, takes_mode: bool, finish: OutputModifiers | None, readers: list[Reader], writers: list[Writer]
) -> Bound:
    """An operation that obeys MODE, with the output modifiers on its first result."""

    def step(g: Group, mode: FloatMode) -> None:
        sources = [read(g) for read in readers]
        inner = mode if finish is None else finish.before(mode)
        out = body(*sources, inner) if takes_mode else body(*sources)
        results = list(out) if isinstance(out, tuple) else [out] * len(writers)
        if finish is not None:
            results[0] = finish(results[0], mode)
        for put, value in zip(writers, results, strict=True):
            put(g, value)

    if finish is not None or len(writers) != 1 or not takes_mode or len(readers) not in (2, 3):
        return lambda g: g.by_mode(step)
    # A faster version of the usual operations, without lists, for waves with equal MODE.
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
    if len(writers) == len(readers) == 2:
        return _two_of_two(body, readers, writers)

    def run(g: Group) -> None:
        for put, value in zip(writers, body(*[read(g) for read in readers]), strict=True):
            put(g, value)

    return run
