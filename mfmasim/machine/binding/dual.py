"""Dual instructions (VOPD): two operations, which both read their sources before either writes.

Source: RDNA3 ISA manual, 7.6; RDNA4 ISA manual, 7.8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.machine.binding.operands import vector_reader, vector_writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound
    from mfmasim.machine.numerics.float_mode import FloatMode
    from mfmasim.machine.opcodes.registry import Operation
    from mfmasim.machine.state.waves import Group

    Compute = Callable[[Group, FloatMode], NDArray[Any]]


def _compute(half: Instruction, operation: Operation, arch: Arch) -> Compute:
    """The function of one half from its sources to its result."""
    kinds = [kind for kind in operation.sources if kind != "mode"]
    readers = [vector_reader(operand, kind, half) for operand, kind in zip(half.src, kinds, strict=True)]
    body = operation.body(half, arch) if operation.shaped else operation.body
    if len(kinds) == len(operation.sources):
        return lambda g, mode: body(*[read(g) for read in readers])  # noqa: ARG005
    return lambda g, mode: body(*[read(g) for read in readers], mode)


def bind_dual(pairs: list[tuple[Instruction, Operation]], arch: Arch) -> Bound:
    """Bind the halves of a dual instruction.

    Args:
        pairs: each half with its operation.
        arch: the architecture.
    """
    computes = [_compute(half, operation, arch) for half, operation in pairs]
    writers = [vector_writer(half.dst[0], operation.results[0], half) for half, operation in pairs]

    def step(g: Group, mode: FloatMode) -> None:
        results = [compute(g, mode) for compute in computes]
        for write, result in zip(writers, results, strict=True):
            write(g, result)

    return lambda g: g.by_mode(step)
