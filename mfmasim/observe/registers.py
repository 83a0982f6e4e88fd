"""registers: VGPRs that instructions access where MODE extends the numbers in their fields, on every path of the code.

The check follows S_SET_VGPR_MSB along all branches. It reports an instruction that is reached in two
modes that select different registers, and registers that the kernel does not have. Architectures without such a mode
have no findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.isa.high_registers import MODE_BITS, after, raised
from mfmasim.kernels import PerKernel
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

OUTSIDE = Kind(
    "registers-outside",
    "error",
    "A register above those that the kernel has",
    "The mode that S_SET_VGPR_MSB set makes the instruction name a register beyond the kernel's allocation: a source "
    "then is v0, and a result is dropped.",
    "s_set_vgpr_msb 0x40; v_mov_b32 v1, 0  // v257, of a kernel with 256 registers",
    "Clear the mode before the instruction, or allocate more registers (.amdhsa_next_free_vgpr).",
    place="code",
)
TWO_MODES = Kind(
    "registers-two-modes",
    "warning",
    "An instruction accesses other registers on another path",
    "Branches reach the instruction in modes of S_SET_VGPR_MSB that select different registers for its operands.",
    "s_cbranch_scc1 L; s_set_vgpr_msb 0x40; L: v_mov_b32 v1, 0  // v1 or v257",
    "Set the mode behind the label, or before the branch on both paths, as compilers do.",
    place="code",
)
Modes = frozenset[int]
"""Modes in which an instruction is reached, as the low byte of S_SET_VGPR_MSB."""


FOUND: PerKernel[list[list[Finding]]] = PerKernel(lambda _: [])
"""Memo of the findings."""


class Registers(Check):
    """Follows the mode along every path of the code, once for a kernel."""

    name = "registers"
    about = "registers above v255: modes that differ between paths, and registers that the kernel does not have"
    kinds = (OUTSIDE, TWO_MODES)

    def __init__(self, launch: Launch, option: str = "") -> None:
        """Find the registers."""
        super().__init__(launch, option)
        self._findings: list[Finding] = []
        if self.kernel.arch.vector_mode & MODE_BITS:
            found = FOUND.of(self.kernel)
            if not found:
                found.append(list(self._found(_reached(self.kernel))))
            self._findings = found[0]

    def _found(self, reached: dict[int, Modes]) -> Iterator[Finding]:
        limit = self.kernel.info.descriptor.vgpr_count
        said: Modes = frozenset()
        for pc, modes in sorted(reached.items()):
            instruction = self.kernel.code.instruction_at(pc, self.kernel.wave)
            chosen = {mode: _vectors(raised(instruction, mode)) for mode in sorted(modes)}
            for mode, registers in chosen.items():
                beyond = [first + count - 1 for first, count in registers if first + count > limit]
                if beyond:
                    message = (
                        f"v{max(beyond)} in mode {mode:#x} of {raised(instruction, mode).text.strip()}: the kernel "
                        f"allocates {limit}"
                    )
                    yield self.finding(OUTSIDE, message, pc, register=f"v{max(beyond)}", instruction=instruction.name)
                    break
            if len(set(chosen.values())) > 1 and modes != said:
                said = modes  # one finding for all instructions that follow in these modes
                names = " or ".join(
                    f"{', '.join(f'v{first}' for first, _ in chosen[mode])} ({mode:#x})" for mode in chosen
                )
                yield self.finding(
                    TWO_MODES,
                    f"{instruction.text.strip()} is reached in {len(modes)} modes of s_set_vgpr_msb and "
                    f"accesses {names}",
                    pc,
                    instruction=instruction.name,
                )

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return self._findings

    def merge(self, other: Self) -> None:
        """Nothing to add: the findings do not depend on the waves."""


def _vectors(instruction: Instruction) -> tuple[tuple[int, int], ...]:
    """First VGPR and count of each vector operand."""
    return tuple((o.index, o.count) for o in (*instruction.dst, *instruction.src) if o.kind == "v")


def _reached(kernel: Kernel) -> dict[int, Modes]:
    """The modes of every reachable address; a path ends where MODE or the PC is set from a register."""
    code, wave = kernel.code, kernel.wave
    inside = {instruction.pc for instruction in kernel.decodable}
    reached: dict[int, Modes] = {}
    pending = [(kernel.info.entry, frozenset({0}))]
    while pending:
        pc, modes = pending.pop()
        if pc not in inside:
            continue
        before = reached.get(pc)
        joined = modes if before is None else before | modes
        if joined == before:
            continue
        reached[pc] = joined
        instruction = code.instruction_at(pc, wave)
        behind = after(instruction, joined)
        if behind is None:
            continue
        if instruction.opcode.goes_on:
            pending.append((pc + instruction.size, behind))
        if instruction.target is not None:
            pending.append((instruction.target, behind))
    return reached
