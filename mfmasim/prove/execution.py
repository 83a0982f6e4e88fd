"""All paths of all waves of a workgroup, by symbolic execution of the machine code."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.isa.barriers import of_workgroup
from mfmasim.isa.operands import EXEC, VCC
from mfmasim.machine.ops.scalar_mode import writable_mode, written_mode
from mfmasim.observe import flights
from mfmasim.prove.addresses import accessed
from mfmasim.prove.effects import ADDRESS, dropped, forgotten, registered, strange
from mfmasim.prove.elements import Elements
from mfmasim.prove.flow import Flow, flow_of
from mfmasim.prove.guards import meet, repeated, skipped
from mfmasim.prove.instructions import execute_alu
from mfmasim.prove.loops import Turn, through
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.paths import Fork, Split, Stopped, assume, decide
from mfmasim.prove.start import Segment, first_state, loaded
from mfmasim.prove.state import Carry
from mfmasim.prove.tensor import moved
from mfmasim.prove.trace import Access, Block, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.observe.flights import Flight
    from mfmasim.prove.contract import Contract
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.prove.state import State

__all__ = ["Execution"]

PATHS = 600
"""Most paths that have ended, and most states that wait."""


class Execution:
    """The symbolic execution of one kernel under one contract."""

    def __init__(self, kernel: Kernel, contract: Contract, *, seconds: float = 60.0) -> None:
        """Prepare; `seconds` is the CPU time that it may take."""
        self.kernel, self.contract, self.arch = kernel, contract, kernel.arch
        self.segment = Segment(kernel, contract)
        self.flow: Flow = flow_of(list(kernel.decodable), kernel.info.entry)
        self.deadline = time.process_time() + seconds
        self.early: dict[tuple[int, str], str] = {}
        """Registers of loads that an instruction accesses before a wait covers the load, by instruction."""
        self.turned: dict[int, str] = {}
        """LDS accesses that a barrier orders otherwise than the path does, between waves at different barriers."""
        self.turns: dict[tuple[int, int, int, int], Symbol] = {}
        """Numbers of periods of loops, by header, entry, length and turns before it."""
        self.loads = sum(bool(ins.opcode.counter and ins.dst) for ins in self.flow.code.values())
        """Number of instructions that write registers later."""
        self.matrix = {pc for pc, ins in self.flow.code.items() if ins.opcode.matrix}
        """Matrix instructions."""
        self.modes = {pc for pc, ins in self.flow.code.items() if _changes_mode(ins, self.arch)}
        """Instructions that change MODE for later arithmetic; expressions do not contain MODE."""
        self.elements: Elements | None = None
        if self.matrix and contract.parameters and not self.modes:
            self.elements = Elements(kernel, contract, self.segment.data)
        self.paths = 0
        self.steps = 0

    def run(self) -> list[State]:
        """All states at the end of the kernel.

        Raises:
            Stopped: a path cannot be followed to its end.
        """
        first = first_state(self.kernel, self.contract, self.segment)
        ends = self.explore([first]).left
        if not ends:
            raise Stopped("no path reaches the end")
        return ends

    def tick(self, pc: int | None = None) -> None:
        """Stop if the time is over.

        Raises:
            Stopped: the time is over.
        """
        if time.process_time() > self.deadline:
            raise Stopped("the time is over", pc)

    def explore(self, states: list[State], header: int | None = None, body: frozenset[int] | None = None) -> Turn:
        """Follow states to the end.

        Args:
            states: the first states.
            header: stop at this instruction, after at least one other.
            body: stop outside of these instructions.
        """
        turn, waiting = Turn(), [(state, True) for state in reversed(states)]
        while waiting:
            state, fresh = waiting.pop()
            while True:
                # Before the path enters or leaves a loop, so that a repeated body begins with the state of both ways.
                if (block := state.blocks.pop(state.pc, None)) is not None:
                    meet(state, block)
                if state.pc == header and not fresh:
                    turn.returned.append(state)
                    break
                if body is not None and state.pc not in body:
                    turn.left.append(state)
                    break
                if state.pc in self.flow.loops and state.pc != header:
                    waiting += [(one, False) for one in reversed(through(self, state))]
                    break
                try:
                    ended = self.step(state)
                except Fork as fork:
                    for holds in (True, False):
                        other = state.copy()
                        assume(other, fork.condition, holds=holds)
                        if isinstance(fork, _FlagFork):
                            other.scc = np.array([[holds]])
                        waiting.append((other, fresh))
                    break
                except Split as split:
                    waiting += [(state.chosen(part), fresh) for part in split.parts]
                    break
                fresh = False
                if ended:
                    self.paths += 1
                    turn.left.append(state)
                    break
            if self.paths + len(waiting) > PATHS:
                raise Stopped(f"more than {PATHS} paths", state.pc)
        return turn

    def step(self, state: State) -> bool:
        """Execute one instruction; whether it ends the program.

        Raises:
            Fork, Split: the instruction depends on a condition that is not decided; the state is unchanged.
            Stopped: the instruction is not followed.
        """
        ins = self.flow.code.get(state.pc)
        if ins is None:
            raise Stopped(f"{state.pc:#x} is no instruction of the kernel", state.pc)
        self.steps += 1
        if self.steps % 64 == 0:
            self.tick(state.pc)
        following = ins.pc + ins.size
        done: tuple[Access, ...] = ()
        opcode = ins.opcode
        if not (registered(ins) or opcode.wait):
            raise Stopped(f"{ins.text} is not followed: what it writes is not known", ins.pc)
        state.put.clear()
        flag = state.scc
        follow = self.elements
        new = follow.before(state, ins) if follow is not None else {}
        if opcode.flow:
            if opcode.flow == "end":
                state.trace.append(Step(ins))
                return True
            following = self._branch(state, ins)
        elif opcode.unit == "SMEM":
            done = self._scalar_memory(state, ins)
        elif opcode.unit in ("VMEM", "LDS") and not opcode.wait:
            done = self._memory(state, ins)
        elif opcode.barrier:
            if not of_workgroup(ins):
                raise Stopped(f"{ins.text}: barriers of others than the workgroup are not followed", ins.pc)
        elif not opcode.wait:
            execute_alu(state, ins)
        forgotten(state, ins, flag)
        why = ""
        if follow is not None:
            why, done = follow.after(state, ins, new, done)
        self._count(state, ins)
        if done or opcode.wait or opcode.barrier or opcode.matrix or opcode.counter:
            maybe, waves = state.executing()
            state.trace.append(Step(ins, done, why, maybe, waves))
        state.pc = following
        return False

    def _count(self, state: State, ins: Instruction) -> None:
        """Follow the wait counters, and record registers that the instruction accesses too early."""

        def early(flight: Flight, rank: int, register: tuple[str, int], read: bool) -> None:
            verb = "reads" if read else "writes"
            what = (
                f"{ins.text} {verb} {register[0]}{register[1]}, which {flight.name} at {flight.pc:#x} may still write"
            )
            self.early.setdefault((ins.pc, flight.counter), f"{what} ({flight.counter} has to be below {rank})")

        state.flights = flights.execute(self.arch, state.flights, ins, early)

    def _branch(self, state: State, ins: Instruction) -> int:
        following = ins.pc + ins.size
        if ins.target is None or ins.opcode.flow not in ("branch", "conditional"):
            raise Stopped(f"{ins.text} is not followed", ins.pc)
        if ins.opcode.flow == "branch":
            return ins.target
        if ins.opcode.condition == "exec" and not state.mask(EXEC).known:
            none, some = (ins.target, following)[:: -1 if ins.opcode.taken_if else 1]
            if self._block(state, some, none):
                return some
        taken = self._taken(state, ins)
        if taken.all() or not taken.any():
            return ins.target if taken.all() else following
        flags = np.broadcast_to(taken, (len(state.waves), 1))[:, 0]
        if ins.opcode.condition == "exec" and ins.opcode.taken_if and self._again(state, ins, flags):
            return ins.target
        for does, skips, on in ((following, ins.target, ~flags), (ins.target, following, flags)):
            if self._block(state, does, skips, on):
                return does
        raise Split([np.flatnonzero(flags), np.flatnonzero(~flags)])

    def _block(self, state: State, does: int, skips: int, on: NDArray[np.bool_] | None = None) -> bool:
        """Whether a branch only skips a block for some waves, so that all waves stay in one state.

        Waves that skip the block have no active lanes in it. Without active lanes a block writes only scalar registers.

        Args:
            state: changed if the result is true.
            does: address at which waves that execute the block go on.
            skips: address at which the other waves go on.
            on: waves that execute the block; None if conditions of lanes decide.
        """
        found = skipped(self.flow.code, does, skips, barriers=on is not None)
        if found is None:
            return False
        waves = None if on is None else tuple(state.waves[on].tolist())
        code, behind = found
        inside = state.exec if on is None else Mask(state.exec.on & on[:, None], state.exec.literals)
        outer = state.blocks.get(behind)
        state.blocks[behind] = Block(code, tuple(state.flights), state.exec, waves, inside, outer)
        state.exec = inside
        return True

    def _again(self, state: State, ins: Instruction, on: NDArray[np.bool_]) -> bool:
        """Whether waves without active lanes, which have left a loop over lanes, may stay in one state with the others.

        Args:
            state: changed if the result is true.
            ins: the branch back.
            on: waves with active lanes.
        """
        body = repeated(self.flow.code, ins)
        if body is None:
            return False
        behind = ins.pc + ins.size
        before = state.blocks.get(behind)
        flights, outer = tuple(state.flights), None if before is None else before.outer
        if before is not None and before.exec is not None:  # a block with the same end as the loop
            before, outer = None, before
        if before is not None:  # some waves left earlier: their operations in flight are counted separately
            flights = (*before.flights, *(replace(one, order="") for one in flights))
        state.blocks[behind] = Block(body, flights, None, tuple(state.waves[on].tolist()), outer=outer)
        return True

    def _taken(self, state: State, ins: Instruction) -> np.ndarray:
        """Whether each wave branches."""
        what, taken_if = ins.opcode.condition, ins.opcode.taken_if
        if what == "scc":
            flags = self._flag(state)
            return flags if taken_if else ~flags
        if what not in ("vcc", "exec"):
            raise Stopped(f"{ins.text} is not followed", ins.pc)
        mask = state.mask(EXEC if what == "exec" else VCC)
        some = mask.some if mask.known else np.array([[self._some(state, mask, what)]])
        return some if taken_if else ~some

    def _flag(self, state: State) -> np.ndarray:
        scc = state.scc
        if isinstance(scc, Carry):
            scc = scc.lanes
        if isinstance(scc, tuple):
            state.scc = scc = np.array([[decide(state, scc[0]) == scc[1]]])
        if isinstance(scc, np.ndarray):
            return scc
        condition = Condition.opaque()
        if len(state.waves) > 1:
            raise Split([np.array([place]) for place in range(len(state.waves))])
        raise _FlagFork(condition)

    def _some(self, state: State, mask: Mask, what: str) -> bool:
        """Whether a lane of a mask is active, where only conditions decide."""
        if all(condition.uniform for condition, _ in mask.literals):
            lanes = mask.on.any(axis=1)
            if lanes.all():
                return all(decide(state, condition) == holds for condition, holds in mask.literals)
        if len(state.waves) > 1:
            raise Split([np.array([place]) for place in range(len(state.waves))])
        key = ("some", mask.on.tobytes(), mask.literals)
        condition = Condition.opaque(key, uniform=all(c.common for c, _ in mask.literals))
        some = decide(state, condition)
        if not some:
            empty = Mask(mask.on & False)
            state.write_mask(EXEC if what == "exec" else VCC, empty)
        return some

    def _memory(self, state: State, ins: Instruction) -> tuple[Access, ...]:
        if ins.opcode.kind == "tensor":
            maybe, waves = state.executing()
            if maybe or ins.opcode.access != "load":
                raise Stopped(f"{ins.text} is not followed", ins.pc)
            return moved(state, ins, waves)
        done = tuple(accessed(state, ins, self.arch)) if ins.opcode.access not in ("", "cache", "prefetch") else ()
        if done and done[0].space == "scratch":
            return self._private(state, ins, done)
        if ins.space == "flat":
            _forget_scratch(state)
        dropped(state, ins)  # some of them write inactive lanes
        return done

    def _private(self, state: State, ins: Instruction, done: tuple[Access, ...]) -> tuple[Access, ...]:
        """Loads and stores of the scratch: spilled registers, a dword at a constant offset in each lane."""
        access = done[0]
        start = None if access.address is None else access.address.constant
        first = start // 4 if isinstance(start, int) and start % 4 == 0 and access.size % 4 == 0 else None
        if access.kind == "read":
            for operand in ins.dst:
                words = [None if first is None else state.vector("scratch", first + k) for k in range(operand.count)]
                state.write(operand, words)
        elif first is not None and access.kind == "write":
            data = ins.src[-1]
            for k in range(access.size // 4):
                state.write_vector("scratch", first + k, state.operand(data, k))
        else:
            _forget_scratch(state)
            for operand in ins.dst:
                state.write(operand, [])
        return done

    def _scalar_memory(self, state: State, ins: Instruction) -> tuple[Access, ...]:
        if ins.opcode.access in ("store", "atomic"):
            raise Stopped(f"{ins.text} is not followed", ins.pc)
        if not ins.dst:
            return ()
        target = ins.dst[0]
        done: tuple[Access, ...] = ()
        words: list[Any] = []
        if ins.opcode.access == "load":
            followed = ins.name.startswith("s_load_") and target.count and ins.name.split("_")[-1][:1] in "db"
            address = None
            if followed and not strange(ins, ADDRESS["SMEM"]):
                words, address = loaded(state, ins, self.segment, target.count)
            if address is None or not self.segment.holds(address, 4 * target.count):
                one = Mask(np.ones((len(state.waves), 1), np.bool_))
                why = "" if address is not None else f"the address of {ins.text} is not known"
                done = (
                    Access(ins, "global", "read", address, 4 * target.count, one, tuple(state.facts), state.waves, why),
                )
        state.write(target, words)
        return done


def _changes_mode(ins: Instruction, arch: Arch) -> bool:
    if ins.opcode.kind == "setreg":
        return bool(written_mode(ins) & writable_mode(arch))
    return ins.opcode.kind == "mode"


def _forget_scratch(state: State) -> None:
    for key in [key for key in state.v if key[0] == "scratch"]:
        del state.v[key]


class _FlagFork(Fork):
    """SCC is unknown: both values are tried."""
