"""Following undefined bits: the wrapper of each bound instruction of a checked launch.

The effect of an instruction on undefined bits is determined once, at its binding (`Plan`); if nothing that it accesses
is undefined, its execution costs one AND more. All effects are computed before the instruction runs, from the state
before it; atomics are examined afterwards, by the places that they accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mfmasim.isa import Instruction
from mfmasim.kernels import PerKernel
from mfmasim.machine.binding.bind import operation_of
from mfmasim.machine.binding.gds import by_first_lane, one_lane
from mfmasim.machine.definedness.access import AccessPlan, access_plan
from mfmasim.machine.definedness.flow import Flow, Registers, registers_of
from mfmasim.machine.definedness.keys import EXECS, SCC, SGPR, keys_of, set_of
from mfmasim.machine.definedness.shadow_state import ShadowState
from mfmasim.machine.events.interface import Bound
from mfmasim.machine.ops.fork import ENTRY, stack_pointer
from mfmasim.machine.ops.register_index import ENABLES, INDEX
from mfmasim.machine.ops.relative import parts_of
from mfmasim.machine.state.waves import VCC, Group

REGISTERS: PerKernel[dict[tuple[int, tuple[int, ...]], Registers]] = PerKernel(lambda _: {})
"""Source and destination registers, by an instruction's address and registers."""


class Definedness(ShadowState):
    """Follows undefined bits through one launch."""

    def wrap(self, instruction: Instruction, run: Bound) -> Bound:
        """The bound instruction, preceded by code that follows undefined bits.

        Args:
            instruction: the instruction.
            run: executes the instruction.
        """
        registers = REGISTERS.of(self.machine.kernel).get((instruction.pc, instruction.numbers))
        return self._registers(registers, instruction, run) if registers else self._first(instruction, run)

    def _first(self, instruction: Instruction, run: Bound) -> Bound:
        """`wrap` for an instruction that is not known to access registers alone."""
        opcode, rule = instruction.opcode, operation_of(instruction).undefined
        if opcode.kind == "fork":
            return self._fork(instruction, run)
        if opcode.kind == "halves":
            return self._halves(instruction, run)
        if opcode.barrier in ("whole", "wait"):
            return self._barrier(run)
        if opcode.flow == "conditional":
            return self._branch(instruction, run)
        if opcode.flow in ("jump", "call"):
            return self._used("jump", instruction, run)
        if opcode.memory:
            return self._access(access_plan(instruction, self), run)
        if opcode.kind == "skip":
            return self._used("skip", instruction, run)
        if rule.kind == "index":
            return self._index(instruction, rule.written, run)
        vectors, scalars = len(self.machine.waves.v), self.machine.arch.sgprs
        registers = self.kept(REGISTERS, instruction, lambda: registers_of(instruction, vectors, scalars))
        return self._registers(registers, instruction, run)

    def _registers(self, registers: Registers, instruction: Instruction, run: Bound) -> Bound:
        """`wrap` for an instruction that accesses registers alone."""
        planes, touched = self.planes, registers.touched
        if not registers.writes:
            return run
        flow: Flow | None = None

        def follow(g: Group) -> None:
            nonlocal flow
            flow = flow or Flow(instruction, run, self, registers)
            if flow.indexes:
                self.uses.registers("index", instruction, g, (SGPR + self.machine.arch.m0,))
            if flow.writes_exec:
                self.uses.settle(instruction, g)
            flow.follow(g)
            if flow.writes_exec:
                self.uses.mask(instruction, g, EXECS)

        def step(g: Group) -> None:
            if planes.dirty & touched:
                follow(g)
            run(g)

        return step

    def defined(self, instructions: Iterable[Instruction]) -> Callable[[], bool]:
        """Whether all bits of the registers that instructions read are defined, at the time of the call."""
        read = set_of(key for ins in instructions for operand in ins.src for key in keys_of(operand))
        return lambda: not self.planes.dirty & read

    def define(self, instructions: Iterable[Instruction]) -> Bound:
        """Mark the destinations of instructions under a full EXEC as defined in all bits."""
        keys = [key for ins in instructions for operand in ins.dst for key in keys_of(operand)]
        written = set_of(keys)

        def step(g: Group) -> None:
            if self.planes.dirty & written:
                self.planes.define(g, keys)

        return step

    def indexed(self, instruction: Instruction, run: Bound) -> Bound:
        """An instruction with VGPR indexing: each form that M0 selects is followed separately."""
        m0 = (SGPR + self.machine.arch.m0,)
        touched = set_of(m0)

        def step(g: Group) -> None:
            if self.planes.dirty & touched and instruction.encoding.startswith("V"):
                self.uses.registers("index", instruction, g, m0, int(INDEX | ENABLES))
            run(g)

        return step

    def _index(self, instruction: Instruction, written: int, run: Bound) -> Bound:
        """An index is written to M0; the other bits of M0 stay."""
        m0, keys = SGPR + self.machine.arch.m0, keys_of(instruction.src[0])
        touched, left = set_of([m0, *keys]), np.uint32(0xFFFFFFFF & ~written)

        def step(g: Group) -> None:
            if self.planes.dirty & touched:
                self.uses.registers("index", instruction, g, keys)
                self.planes.put(g, m0, self.planes.of(g, m0) & left, self.planes.origin(g, m0))
            run(g)

        return step

    def _barrier(self, run: Bound) -> Bound:
        def step(g: Group) -> None:
            self.plane.settle(self.planes)
            run(g)

        return step

    def _branch(self, instruction: Instruction, run: Bound) -> Bound:
        condition = instruction.opcode.condition
        if condition == "exec":
            return run
        keys = set_of([SCC] if condition == "scc" else [SGPR + VCC, SGPR + VCC + 1])

        def step(g: Group) -> None:
            if self.planes.dirty & keys:
                self.uses.branch(instruction, g)
            run(g)

        return step

    def _fork(self, instruction: Instruction, run: Bound) -> Bound:
        """Report uses of masks, addresses and pointers; the registers of the next path on the stack are written."""
        used = self._used("branch", instruction, run)
        touched = set_of(range(SGPR, SGPR + 8 * ENTRY))

        def step(g: Group) -> None:
            if self.planes.dirty & touched:
                for number, part in parts_of(g, stack_pointer(g)):
                    first = SGPR + ENTRY * number
                    self.planes.define(part, range(first, first + ENTRY))
            used(g)

        return step if len(instruction.src) > 1 else used

    def _halves(self, instruction: Instruction, run: Bound) -> Bound:
        """The register with half of EXEC is written at the beginning, and used at the end."""
        keys = keys_of(instruction.dst[0])
        touched = set_of(keys)
        begins = instruction.target is not None and instruction.target > instruction.pc

        def step(g: Group) -> None:
            if self.planes.dirty & touched:
                if not begins:
                    self.uses.registers("branch", instruction, g, keys)
                self.planes.define(g, keys)
            run(g)

        return step

    def _used(self, use: str, instruction: Instruction, run: Bound) -> Bound:
        keys = [key for operand in instruction.src for key in keys_of(operand)]
        targets = [key for operand in instruction.dst for key in keys_of(operand)]
        touched = set_of([*keys, *targets])

        def step(g: Group) -> None:
            if self.planes.dirty & touched:
                self.uses.registers(use, instruction, g, keys)
                self.planes.define(g, targets)
            run(g)

        return step

    def _access(self, plan: AccessPlan, run: Bound) -> Bound:
        before: Bound = plan.before
        after: Bound = plan.after
        if one_lane(plan.instruction, self.machine):
            before, after = by_first_lane(before), by_first_lane(after)
        planes, touched = self.planes, plan.touched
        if plan.listens:
            listeners = self.machine.notify.listeners(plan.instruction)

            def noted(g: Group) -> None:
                if not planes.dirty & touched:
                    run(g)
                    return
                before(g)
                listeners.append(plan.note)
                try:
                    run(g)
                finally:
                    listeners.remove(plan.note)
                after(g)

            return noted

        def step(g: Group) -> None:
            if planes.dirty & touched:
                before(g)
            run(g)

        return step
