"""Instructions of a kernel that the machine cannot execute, found by binding them without a launch."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

from mfmasim.errors import MfmasimError
from mfmasim.isa import Instruction
from mfmasim.isa.opcode import undecoded
from mfmasim.kernels import Kernel
from mfmasim.machine import ops  # noqa: F401  (fills the table of operations)
from mfmasim.machine.binding.bind import bind
from mfmasim.machine.events.interface import Machine
from mfmasim.machine.events.outcome import Outcome
from mfmasim.machine.launch.clusters import Clusters
from mfmasim.machine.opcodes.register_allocation import allocated


def refusals(kernel: Kernel) -> tuple[tuple[Instruction, str], ...]:
    """The instructions of a kernel that a launch would refuse when a wave reaches them, and why.

    A dword that does not decode, and that execution reaches from the instruction before it, is among them as ``.long``.
    If the kernel calls functions, the code of the whole file is examined.

    Args:
        kernel: of a loaded code object.

    Returns:
        Instruction and reason, in the order of addresses.
    """
    one = Clusters((1, 1, 1))
    launch = SimpleNamespace(image_base=0, waves_per_workgroup=1, gds=kernel.shares, clusters=one, hostcall=None)
    bare = SimpleNamespace(
        arch=kernel.arch,
        kernel=kernel,
        launch=launch,
        outcome=Outcome(),
        memory=None,
        notify=None,
        content="values",
        matrix_hooks=[],
    )
    known: dict[bytes, str] = {}
    found = []
    for instruction in _with_gaps(kernel):
        why = known.get(instruction.raw)
        if why is None:
            why = known[instruction.raw] = _refusal(instruction, kernel, bare)
        if why:
            found.append((instruction, why))
    return tuple(found)


def _refusal(instruction: Instruction, kernel: Kernel, bare: object) -> str:
    """Why an instruction cannot run; empty if it can."""
    try:
        if not instruction.encoding:
            kernel.code.instruction_at(instruction.pc, kernel.wave)
        bind(allocated(instruction, kernel), cast("Machine", bare))
    except MfmasimError as error:
        return str(error)
    return ""


def _with_gaps(kernel: Kernel) -> Iterator[Instruction]:
    """The kernel's instructions, with dwords that do not decode although execution reaches them."""
    start, end = kernel.info.entry, kernel.info.entry + kernel.info.size
    reached = start
    for instruction in kernel.reachable:
        if start <= reached < end and reached < instruction.pc:
            yield _data(kernel, reached)
        yield instruction
        reached = instruction.pc + instruction.size if instruction.opcode.goes_on else end
    if start <= reached < end:
        yield _data(kernel, reached)


def _data(kernel: Kernel, pc: int) -> Instruction:
    """A dword that does not decode."""
    raw = bytes(kernel.code.object.read_bytes(pc, 4))
    return Instruction(pc, 4, raw, undecoded(), "", arch=kernel.arch.name)
