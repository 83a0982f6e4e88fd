"""Whether the launch or constants of the code decide a loop's number of turns.

A slice backwards from the branches that leave the loop, through the definitions of the compared values: those within
the loop, and the nearest one before it. Only a remark depends on the slice, so code is followed in the order of
addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.devices.ways import GRAPHS
from mfmasim.kernels import PerKernel
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.observe.flights import accessed

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.observe.flights import Register

VCC, EXEC = 106, 126
"""Numbers of the registers among the scalar ones."""
STEPS = 400
"""Most definitions that are followed; beyond, the launch counts as deciding."""


def _sets_scc(instruction: Instruction) -> bool:
    operation = OPERATIONS.get(instruction.name)
    return operation is not None and "scc" in operation.results


class _Definitions:
    """Instructions of a kernel that write each register, in the order of their addresses."""

    def __init__(self, kernel: Kernel) -> None:
        self.code = sorted(kernel.decodable, key=lambda ins: ins.pc)
        self.writers: dict[Register, list[Instruction]] = {}
        self.reads: dict[int, frozenset[Register]] = {}
        for ins in self.code:
            read, written = accessed(ins)
            self.reads[ins.pc] = read
            for register in written:
                self.writers.setdefault(register, []).append(ins)

    def scc(self, pc: int) -> Instruction | None:
        """The definition of SCC for an instruction."""
        before = [ins for ins in self.code if ins.pc < pc and _sets_scc(ins)]
        return before[-1] if before else None

    def found(self, register: Register, pc: int, loop: range) -> list[Instruction]:
        """Possible definitions of a register that an instruction reads; empty if the launch wrote it.

        The last definition before the instruction counts; at the head of a loop also those of the previous turn.
        """
        writers = self.writers.get(register, [])
        before = [ins for ins in writers if ins.pc < pc]
        if pc not in loop or (before and before[-1].pc in loop):
            return before[-1:]
        return before[-1:] and [before[-1], *(ins for ins in writers if ins.pc in loop)]


KNOWN: PerKernel[_Definitions] = PerKernel(_Definitions)


def decided_by_launch(kernel: Kernel, head: int) -> bool:
    """Whether arguments, memory or the place of a wave decide the number of a loop's turns.

    Args:
        kernel: the kernel.
        head: address of the loop's first instruction.
    """
    known, tails = KNOWN.of(kernel), GRAPHS.of(kernel)[head]
    loop = range(head, max(tails) + 1)
    leaving = [
        ins for ins in known.code if ins.pc in loop and ins.opcode.flow == "conditional" and ins.target is not None
    ]
    exits = [ins for ins in leaving if ins.target not in loop or ins.pc + ins.size not in loop]
    open_: list[tuple[Register, int]] = []
    for branch in exits:
        if branch.opcode.condition == "scc":
            tested = known.scc(branch.pc)
            if tested is None:
                return True
            open_ += [(register, tested.pc) for register in known.reads[tested.pc]]
        else:
            number = {"vcc": VCC, "exec": EXEC}.get(branch.opcode.condition)
            if number is None:
                return True
            open_ += [(("s", number), branch.pc)]
    return not exits or _reaches_the_launch(known, open_, loop)


def _reaches_the_launch(known: _Definitions, open_: list[tuple[Register, int]], loop: range) -> bool:
    """Whether values of registers come from memory, or from the start of the wave."""
    done: set[tuple[Register, int]] = set()
    while open_:
        place = open_.pop()
        if place in done:
            continue
        done.add(place)
        if len(done) > STEPS:
            return True
        register, pc = place
        is_exec = register[0] == "s" and register[1] in (EXEC, EXEC + 1)
        if is_exec and pc not in loop:
            continue  # the number of lanes alone decides no number of turns
        writers = known.found(register, pc, loop)
        if not writers and not is_exec:
            return True
        for ins in writers:
            if ins.opcode.memory:
                return True
            open_ += [(one, ins.pc) for one in known.reads[ins.pc]]
    return False
