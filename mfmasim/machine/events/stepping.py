"""Stepping: observers see every instruction before and after it is executed. Without observers it costs nothing.

The blocks of a launch are unchanged, so that waves reconverge, and loads and stores follow each other, exactly as
without observers; only each bound instruction is wrapped. An observer overrides ``before_step``, ``after_step`` or
both, each called with a `Step`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.events.fragment_values import FragmentValues, matrix_operands
from mfmasim.machine.state.waves import EXEC, VCC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import Place
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.state.waves import Group


class Step:
    """One instruction and the waves before or after its execution. Arrays are copies; registers are bits.

    Attributes:
        instruction: the instruction.
        machine: the machine, for observers that need more than this class.
    """

    def __init__(self, machine: Machine, instruction: Instruction, group: Group) -> None:
        """The state of `group` before or after `instruction`."""
        self.machine, self.instruction, self._group = machine, instruction, group

    def __repr__(self) -> str:
        """Address, text, source line and number of waves."""
        return f"<{self.instruction.pc:#x} {self.instruction.text.strip()} {self.source} waves {len(self.waves)}>"

    @property
    def pc(self) -> int:
        """Address of the instruction in the code object."""
        return self.instruction.pc

    @cached_property
    def source(self) -> str:
        """``file:line``, or empty."""
        return self.machine.kernel.source_at(self.instruction.pc)

    @cached_property
    def waves(self) -> NDArray[np.int64]:
        """Number of each wave in the launch: workgroup number times waves per workgroup, plus wave of the workgroup."""
        return self.machine.first_workgroup * self.machine.launch.waves_per_workgroup + self._group.indices()

    def place(self, wave: int = 0, lane: int | None = None) -> Place:
        """Place in the grid of the wave in row `wave` of the arrays."""
        return self.machine.place(self._group.indices(), wave, lane)

    def _full(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.array(np.broadcast_to(values, (self._group.count, *values.shape[1:])))

    def v(self, index: int) -> NDArray[np.uint32]:
        """A VGPR, (waves, lanes); in a unified file AGPRs are VGPRs, too."""
        return self._vector("v", index)

    def a(self, index: int) -> NDArray[np.uint32]:
        """An AGPR, (waves, lanes)."""
        return self._vector("a", index)

    def _vector(self, kind: str, index: int) -> NDArray[np.uint32]:
        waves, first = self._group.waves, 0
        file = waves.v if kind == "v" else waves.a
        if kind == "a" and waves.accum_offset:
            file, first = waves.v, waves.accum_offset
        count = max(len(file) - first, 0)
        if not 0 <= index < count:
            raise MfmasimError(f"{kind}{index}: the kernel allocates {count} such registers, from {kind}0 up")
        return np.array(self._group.spread(self._group.v("v" if first else kind, first + index)))

    def s(self, code: int) -> NDArray[np.uint32]:
        """A scalar register by its hardware code (0 to 101 SGPRs, 106 VCC, 124 M0, 126 EXEC; low halves), (waves,)."""
        if not 0 <= code < len(self._group.waves.s):
            raise MfmasimError(f"s{code}: scalar registers have codes 0 to {len(self._group.waves.s) - 1}")
        return self._full(self._group.s(code))

    @property
    def vcc(self) -> NDArray[np.uint64]:
        """VCC, (waves,)."""
        return self._pair(VCC)

    @property
    def exec(self) -> NDArray[np.uint64]:
        """EXEC, (waves,); bit 0 is lane 0."""
        return self._pair(EXEC)

    def _pair(self, code: int) -> NDArray[np.uint64]:
        low = self.s(code).astype(np.uint64)
        return low if self._group.lanes == 32 else low | self.s(code + 1).astype(np.uint64) << np.uint64(32)

    @property
    def active(self) -> NDArray[np.bool_]:
        """EXEC as booleans, (waves, lanes)."""
        return np.array(self._group.spread(self._group.active))

    @property
    def scc(self) -> NDArray[np.bool_]:
        """SCC, (waves,)."""
        return self._full(self._group.scc)

    @property
    def mode(self) -> NDArray[np.uint32]:
        """MODE, (waves,)."""
        return self._full(self._group.mode)

    @property
    def lds(self) -> NDArray[np.uint8]:
        """LDS of each wave's workgroup, (waves, bytes)."""
        return np.array(self.machine.lds[self._group.workgroup])

    def buffer(self, name: str) -> NDArray[np.uint8]:
        """Current bytes of a buffer, by its argument's name or number.

        Raises:
            MfmasimError: no argument that is a buffer has that name.
        """
        launch = self.machine.launch
        names = {region.name: region for region, _ in launch.buffers}
        for given, region in names.items():
            if str(name) in (given, *given.replace("(", "").replace(")", "").split()[1:]):
                return np.array(launch.memory.view(region))
        raise unknown("buffer", name, names)

    @property
    def operands(self) -> tuple[str, ...]:
        """Operands of a matrix instruction (A, B, C, D, scales, index); empty for any other one."""
        return tuple(matrix_operands(self.instruction, self.machine.arch, self.machine.kernel.wave))

    def fragment(self, name: str, wave: int = 0) -> FragmentValues:
        """Values of an operand of a matrix instruction, place by place.

        Args:
            name: one of `operands`. D's registers hold the result only after the instruction.
            wave: row of the arrays.

        Raises:
            MfmasimError: the instruction is not a matrix instruction, or has no such operand.
        """
        found = matrix_operands(self.instruction, self.machine.arch, self.machine.kernel.wave)
        if not found:
            raise MfmasimError(f"{self.instruction.text.strip()} at {self.pc:#x} is not a matrix instruction")
        if name not in found:
            raise unknown("operand", name, found, f"of {self.instruction.name}")
        if not 0 <= wave < self._group.count:
            raise MfmasimError(f"wave {wave}: waves 0 to {self._group.count - 1} execute {self.instruction.name}")
        fragment, operand = found[name]
        if operand.kind not in ("v", "a"):
            raise MfmasimError(f"operand {name} of {self.instruction.text.strip()} is a constant, not in registers")
        registers = [self._vector(operand.kind, operand.index + k)[wave] for k in range(fragment.vgprs)]
        return FragmentValues(fragment, *operand.written, np.stack(registers))

    def end(self, reason: str = "ended by the debugger") -> None:
        """End the launch here, without further execution. Buffers keep the bytes written so far."""
        self.machine.stop("debugger", reason, self.pc, self._group)


def stepped(machine: Machine, instruction: Instruction, run: Bound) -> Bound:
    """The bound instruction wrapped in the hooks of observers.

    Once an observer has ended the launch, the rest of the block is not executed and not counted.

    Args:
        machine: the machine that executes it.
        instruction: the instruction.
        run: the bound instruction.
    """
    before, after = machine.before_hooks, machine.after_hooks

    def step(group: Group) -> None:
        seen = Step(machine, instruction, group)
        for hook in before if not machine.over else ():
            hook(seen)
        if machine.over:
            machine.skipped[instruction.pc] += group.count
            return
        run(group)
        for hook in after:
            hook(seen)

    return step
