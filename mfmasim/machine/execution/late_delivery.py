"""Late delivery: a load reads memory and writes its registers at the last moment that the wait counters allow.

A correct kernel waits for the data that it uses, and a workgroup's waves meet at a barrier between one wave's access
and another's, so that its results are equal. A load that is still in flight when another wave overwrites its source
returns the new bytes; registers that are read too early hold the old values.

The order is kept for loads of one kind (`mfmasim.isa.counters`), and for a wave's loads before its own later stores and
atomic operations of the same memory (the LDS, or all other memory), which executes them in order. Waves that would have
to complete a load run after all other waves.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.counters import raised, waited
from mfmasim.machine.state.waves import Group, Waves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.isa.counters import Raised
    from mfmasim.machine.events.interface import Bound, Machine


def deferred(instruction: Instruction) -> bool:
    """Whether an instruction is a load, whose delivery may be late."""
    return instruction.opcode.access == "load"


def writes(instruction: Instruction) -> bool:
    """Whether an instruction changes memory."""
    return instruction.opcode.access in ("store", "atomic")


def _one_memory(load: Instruction, store: Instruction) -> bool:
    """Whether both access the LDS, or both other memory; FLAT may access either."""
    on_chip = [one.space in ("lds", "gds") for one in (load, store)]
    return on_chip[0] == on_chip[1] or "flat" in (load.space, store.space)


def forces(instruction: Instruction) -> bool:
    """Whether an instruction may require that loads of its wave are complete."""
    opcode = instruction.opcode
    return bool(opcode.wait) or opcode.flow == "end" or writes(instruction)


@dataclass
class Flight:
    """A memory instruction that waves have issued; all flags are (waves,)."""

    instruction: Instruction
    rows: tuple[Raised, ...]
    flying: dict[str, NDArray[np.bool_]]
    """By counter, the waves in which it still counts."""
    waiting: NDArray[np.bool_]
    """Waves in which it is a load that has not been delivered."""
    run: Bound | None = None
    issued: Waves | None = field(default=None, repr=False)
    """Registers when it was issued."""

    @property
    def over(self) -> bool:
        """Whether it is complete in every wave."""
        return not self.waiting.any() and not any(mask.any() for mask in self.flying.values())


def _active(g: Group) -> NDArray[np.bool_]:
    """The waves of a group in which a lane is active."""
    out = np.zeros(g.waves.count, np.bool_)
    out[g.indices()] = np.broadcast_to(g.active.any(axis=-1), (g.count,))
    return out


class Late:
    """The schedule ``late``."""

    def __init__(self) -> None:
        """Nothing in flight."""
        self.flights: list[Flight] = []
        self.machine: Machine
        self.per = 1

    def attach(self, machine: Machine) -> None:
        """Serve a machine."""
        self.machine = machine

    def begin(self) -> None:
        """A batch of workgroups begins."""
        self.flights.clear()

    def batches(self, starts: Sequence[int], size: int, per: int) -> list[int]:
        """In the order of the workgroups.

        Args:
            starts: first workgroups of the batches.
            size: workgroups of a batch.
            per: waves of a workgroup.
        """
        del size
        self.per = per
        return list(starts)

    def choose(self, running: NDArray[np.int64], first: int) -> NDArray[np.int64]:
        """All waves that need not complete a load; if there are none, one wave of each workgroup.

        Args:
            running: the waves that may run.
            first: number of the batch's first wave.
        """
        waves = self.machine.waves
        held = np.zeros(waves.count, np.bool_)
        for flight in self.flights:
            held |= flight.waiting
        if not held.any():
            return running
        pcs = np.broadcast_to(waves.pc, (waves.count,))[running]
        code, lanes = self.machine.kernel.code, self.machine.kernel.wave
        there = {pc: code.instruction_at(pc, lanes) for pc in np.unique(pcs).tolist()}
        free = running[~(held[running] & np.isin(pcs, [pc for pc, ins in there.items() if forces(ins)]))]
        if len(free):
            return free
        # A wave that writes before others complete their loads reveals more than a wave that completes its own loads.
        writing = running[np.isin(pcs, [pc for pc, ins in there.items() if writes(ins)])]
        blocked = writing if len(writing) else running
        own = (blocked + first) % self.per
        chosen: NDArray[np.int64] = blocked[own == own.min()]
        return chosen

    def wrapped(self, instruction: Instruction, run: Bound) -> Bound:
        """A bound instruction that completes, or begins, loads.

        Args:
            instruction: the instruction.
            run: the bound instruction.
        """
        arch = self.machine.arch
        waits = waited(arch, instruction)
        opcode = instruction.opcode
        rows = raised(arch, opcode, bool(instruction.dst), instruction.space)
        if not (waits or rows or forces(instruction)):
            return run
        orders = writes(instruction)
        late = deferred(instruction) and bool(rows)

        def step(g: Group) -> None:
            chosen = np.zeros(g.waves.count, np.bool_)
            chosen[g.indices()] = True
            for counter, value in waits:
                self.settle(counter, value, chosen)
            if waits:
                self.complete(chosen)
            if orders:
                self.complete(chosen & _active(g), before=instruction)
            if late:
                self.issue(g, instruction, run, rows, chosen)
            else:
                run(g)
                if rows:
                    flying = {row.counter: chosen.copy() for row in rows}
                    self.flights.append(Flight(instruction, rows, flying, np.zeros_like(chosen)))
            for row in rows:
                self.settle(row.counter, row.limit, chosen)
            if rows:
                self.complete(chosen)
            g.refresh()

        return step

    def issue(
        self, g: Group, instruction: Instruction, run: Bound, rows: tuple[Raised, ...], chosen: NDArray[np.bool_]
    ) -> None:
        """Begin a load: keep the registers that it reads.

        Args:
            g: the waves.
            instruction: the load.
            run: the bound load.
            rows: counters that it increments.
            chosen: the waves as flags.
        """
        kept = copy.copy(g.waves)
        kept.v, kept.a, kept.s = list(kept.v), list(kept.a), list(kept.s)
        kept.own, kept.lane_masks = {}, {}
        flying = {row.counter: chosen.copy() for row in rows}
        self.flights.append(Flight(instruction, rows, flying, chosen.copy(), run, kept))

    def settle(self, counter: str, value: int, chosen: NDArray[np.bool_]) -> None:
        """A counter falls to a value in some waves: deliver the loads that must be complete.

        Args:
            counter: its name.
            value: its value after the wait.
            chosen: the waves.
        """
        later: dict[str, NDArray[np.int64]] = {}
        for flight in reversed(self.flights):
            flying = flight.flying.get(counter)
            if flying is None:
                continue
            here = flying & chosen
            order = next(row.order for row in flight.rows if row.counter == counter)
            rank = (
                later.setdefault(order, np.zeros(len(chosen), np.int64)) if order else np.zeros(len(chosen), np.int64)
            )
            rank[here] += 1
            flying[here & (rank > value)] = False

    def complete(self, chosen: NDArray[np.bool_], *, before: Instruction | None = None) -> None:
        """Deliver loads of some waves in the order of their issue.

        Args:
            chosen: the waves.
            before: a store, before which all loads of its memory are delivered; None delivers loads that no longer
                count.
        """
        for flight in self.flights:
            due = flight.waiting & chosen
            if before is None or not _one_memory(flight.instruction, before):
                for flying in flight.flying.values():
                    due &= ~flying
            if due.any():
                self.deliver(flight, due)
        self.flights = [flight for flight in self.flights if not flight.over]

    def deliver(self, flight: Flight, due: NDArray[np.bool_]) -> None:
        """Execute a load with the registers of its issue; its results go to the current registers.

        Args:
            flight: the load.
            due: mask of the waves.
        """
        flight.waiting &= ~due
        now, then = self.machine.waves, flight.issued
        assert then is not None
        assert flight.run is not None
        numbers = np.flatnonzero(due)
        then = copy.copy(then)
        then.v, then.a, then.s, then.own, then.lane_masks = list(then.v), list(then.a), list(then.s), {}, {}
        instruction = flight.instruction
        targets = [(o.kind, o.index + k) for o in instruction.dst for k in range(o.count) if o.kind in ("v", "a", "s")]
        sources = {(o.kind, o.index + k) for o in instruction.src for k in range(o.count)}
        files = {"v": (then.v, now.v), "a": (then.a, now.a), "s": (then.s, now.s)}
        for kind, index in targets:  # lanes and halves that the load does not write keep their current values
            if (kind, index) not in sources:
                files[kind][0][index] = files[kind][1][index]
        old = Group(then, numbers)
        mask = old.mask
        flight.run(old)
        new = Group(now, numbers)
        for kind, index in targets:
            if kind == "s":
                new.write_s(index, old.s(index))
                continue
            value = old.v(kind, index)
            if mask is not None and (kind, index) in sources:
                value = np.where(mask, value, new.v(kind, index))
            new.write_all_lanes(kind, index, np.array(np.broadcast_to(value, (len(numbers), new.lanes))))
