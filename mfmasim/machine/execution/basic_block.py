"""Blocks: consecutive instructions with one entry, decoded and bound once; a block outside the code ends a launch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.isa.high_registers import fields_of_mode, raised
from mfmasim.kernels import NotCodeError, PerKernel
from mfmasim.machine.binding.approximation import approximated
from mfmasim.machine.binding.bind import bind, operation_of
from mfmasim.machine.events.interface import Machine
from mfmasim.machine.events.stepping import stepped
from mfmasim.machine.events.watching import watched
from mfmasim.machine.execution.late_delivery import Late, forces
from mfmasim.machine.opcodes.register_allocation import allocated
from mfmasim.machine.ops.matrix_pairs import paired
from mfmasim.machine.ops.register_index import GPR_IDX_EN, indexed
from mfmasim.machine.ops.vector_skip import VSKIP, sets_vector_mode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness import Definedness
    from mfmasim.machine.definedness.absent import AbsentLanes
    from mfmasim.machine.events.interface import Bound

LONGEST = 256
"""Most instructions of a block."""


class Binder(Machine, Protocol):
    """The part of the machine on which the binding of blocks depends."""

    joins: set[int]
    """Targets of the branches seen so far."""

    @property
    def definedness(self) -> Definedness | None:
        """The part that follows undefined bits; None if no observer needs it."""

    @property
    def absent(self) -> AbsentLanes | None:
        """The part that follows values of absent lanes; None if no observer needs it, or no lane reads another."""

    @property
    def late(self) -> Late | None:
        """The schedule that delivers loads late; None if loads complete at once."""

    @property
    def steps(self) -> bool:
        """Whether an observer receives individual instructions."""


@dataclass
class Block:
    """Consecutive instructions with one entry; the last one may change the program counter."""

    first: int
    size: int
    """Number of executed instructions."""
    body: list[Bound]
    after: NDArray[np.int64]
    """Address behind the block, (1,)."""
    instructions: list[Instruction]
    """Those that are executed: where VSKIP is set, without vector instructions. Where MODE extends the numbers of
    VGPRs, with the registers that they access."""
    mode: int = 0
    """The bits of MODE for which it was bound (`Arch.vector_mode`)."""
    watched: bool = False
    """Whether an observer receives values of its instructions."""
    runs: int = 0
    """Wave executions, for the counts."""


def build(machine: Binder, pc: int, mode: int) -> Block:
    """Decode and bind the block that starts at an address.

    Args:
        machine: the machine, for operations that need more than registers.
        pc: address in the code object.
        mode: the bits of MODE that affect its vector instructions (`Arch.vector_mode`).

    Raises:
        MfmasimError: the bytes at `pc` are not an instruction, or an instruction of the block is not
            executed by the machine.
    """
    decoded = _memoised(machine, pc, mode)
    instructions, last, ending = decoded.instructions, decoded.last, decoded.ending
    if last is not None and last.target is not None:
        machine.joins.add(last.target)
    indexing = bool(mode & GPR_IDX_EN)
    bound = [
        _bound(ins, fields, machine, indexing=indexing)
        for ins, fields in zip(instructions, decoded.selected, strict=True)
    ]
    if step := machine.launch.approximation:
        bound = [approximated(ins, run, step) for ins, run in zip(instructions, bound, strict=True)]
    looked_at = False
    if machine.value_observers and not indexing:
        plain, bound = bound, [watched(machine, ins, run) for ins, run in zip(instructions, bound, strict=True)]
        looked_at = any(one is not other for one, other in zip(plain, bound, strict=True))
    if machine.late is not None:
        bound = [machine.late.wrapped(ins, run) for ins, run in zip(instructions, bound, strict=True)]
    if not (indexing or step or machine.late is not None or machine.steps or machine.matrix_hooks):
        bound = paired(instructions, bound, machine)
    if machine.steps:
        bound = [stepped(machine, ins, run) for ins, run in zip(instructions, bound, strict=True)]
    if ending:
        where = last.pc if last is not None else pc
        bound.append(lambda g: machine.stop("fetch", ending, where, g))
    after = np.array([last.pc + last.size if last else pc])
    return Block(pc, len(instructions), bound, after, instructions, mode, looked_at)


class Decoded(NamedTuple):
    """A block before it is bound."""

    instructions: list[Instruction]
    """Executed instructions, with the registers that they access."""
    selected: list[int]
    """For each instruction, the mode that selected its registers."""
    last: Instruction | None
    """The last instruction, even if it is not executed."""
    ending: str
    """Why execution cannot continue after them, or an empty text."""


DECODED: PerKernel[dict[tuple[object, ...], Decoded]] = PerKernel(lambda _: {})
"""Decoded blocks, by address and everything on which their end depends."""
BOUND: PerKernel[dict[tuple[int, int], Bound | None]] = PerKernel(lambda _: {})
"""Bound instructions, by address and the mode that selects registers; None for one that depends on the machine."""
ENDS: PerKernel[dict[int, str]] = PerKernel(
    lambda kernel: {i.entry + i.size: i.name for i in kernel.code.object.kernels.values() if i.size}
)
"""Names of kernels by the address behind their last instruction."""


def _memoised(machine: Binder, pc: int, mode: int) -> Decoded:
    """`_selected`, memoised for the kernel's further launches."""
    memo = DECODED.of(machine.kernel)
    key = pc, mode, frozenset(machine.joins), machine.late is None
    found = memo.get(key)
    if found is None:
        found = memo[key] = _selected(machine, pc, mode)
    return found


def _selected(machine: Binder, pc: int, mode: int) -> Decoded:
    """The block at an address, with the registers that its instructions access."""
    instructions, ending = _decode(machine, pc)
    last = instructions[-1] if instructions else None
    if mode & VSKIP:
        instructions = [ins for ins in instructions if ins.opcode.scalar]
    fields, selected = fields_of_mode(mode), []
    for ins in instructions:
        selected.append(fields)
        if ins.opcode.kind == "msb":
            fields = ins.src[0].bits & 0xFF
    pairs = zip(instructions, selected, strict=True)
    return Decoded([allocated(raised(ins, chosen), machine.kernel) for ins, chosen in pairs], selected, last, ending)


def _bound(instruction: Instruction, fields: int, machine: Binder, *, indexing: bool) -> Bound:
    """A bound instruction, with undefined bits followed if a check requires it.

    Args:
        instruction: the instruction.
        fields: the mode that selected its registers.
        machine: the machine, for operations that need more than registers.
        indexing: whether M0 is added to the numbers of its registers.
    """
    follows, absent = machine.definedness, machine.absent
    keeping = partial(_bind, fields)
    if absent is not None and not indexing:
        alone = keeping(instruction, machine)
        return absent.around(instruction, alone, alone if follows is None else follows.wrap(instruction, alone))
    if follows is None:
        return indexed(instruction, machine, bind) if indexing else keeping(instruction, machine)
    bind_one = bind if indexing else keeping

    def both(ins: Instruction, machine: Machine) -> Bound:
        run: Bound = follows.wrap(ins, bind_one(ins, machine))
        return run

    if not indexing:
        return both(instruction, machine)
    step: Bound = follows.indexed(instruction, indexed(instruction, machine, both))
    return step


def _bind(fields: int, instruction: Instruction, machine: Machine) -> Bound:
    """`bind`; instructions on registers alone need no machine, and are memoised for the kernel's further launches."""
    memo = BOUND.of(machine.kernel)
    key = instruction.pc, fields
    found = memo.get(key)
    if found is None:
        found = bind(instruction, machine)
        if key not in memo:
            memo[key] = None if operation_of(instruction).unit == "direct" else found
    return found


def _decode(machine: Binder, pc: int) -> tuple[list[Instruction], str]:
    """Instructions from an address on, and why execution cannot continue behind them, or an empty text.

    Bytes that cannot be decoded matter only when a wave reaches them.
    """
    code = machine.kernel.code
    ends = ENDS.of(machine.kernel)
    instructions: list[Instruction] = []
    address = pc
    while True:
        try:
            ins = code.instruction_at(address, machine.kernel.wave)
        except NotCodeError as error:
            return instructions, str(error) if not instructions else _past(machine.kernel.name)
        except MfmasimError:
            if instructions:
                return instructions, ""
            raise
        instructions.append(ins)
        address += ins.size
        if ins.opcode.ends_block or sets_vector_mode(ins, machine.arch):
            return instructions, ""
        if address in ends:
            return instructions, _past(ends[address])
        if machine.late is not None and forces(code.instruction_at(address, machine.kernel.wave)):
            return instructions, ""  # other waves may go first
        # A branch target ends a block: waves that took the branch and waves that did not reconverge there.
        if address in machine.joins or len(instructions) >= LONGEST:
            return instructions, ""


def _past(name: str) -> str:
    return f"execution runs past the end of {name}: no s_endpgm ends it"
