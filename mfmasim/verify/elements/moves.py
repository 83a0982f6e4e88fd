"""The way of a value to a register: loads, LDS stores and moves, followed backwards through a workgroup's execution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events import AccessEvent, BlockEvent, Observer
from mfmasim.machine.launch.launch import Launch
from mfmasim.observe.flights import registers

LONGEST = 16
"""Steps of a way at most."""
DATA = ("vdst", "vdata", "data", "data0", "data1")
"""Fields of the data of loads and stores."""


@dataclass(frozen=True)
class Access:
    """The access of one instruction of one wave."""

    time: int
    """Number of the access in the launch."""
    space: str
    kind: str
    addresses: NDArray[np.int64]
    """Per lane."""
    active: NDArray[np.bool_] | None
    size: int
    part: int
    """Number of the access, for an instruction with two; else 0."""


@dataclass(frozen=True)
class Step:
    """One instruction on the way."""

    instruction: Instruction
    wave: int
    """Of the workgroup."""
    lane: int
    where: str
    """The accessed byte, such as ``LDS byte 1032``; empty for a move."""


class Moves(Observer):
    """Records what the waves of one workgroup execute and access."""

    name = "moves"

    def __init__(self, workgroup: tuple[int, int, int], first: int, waves: int) -> None:
        """Watch one workgroup.

        Args:
            workgroup: its place in the grid.
            first: number in the launch of its first wave.
            waves: of a workgroup.
        """
        self._workgroup, self._first, self._waves = workgroup, first, waves
        self.executed: dict[int, list[tuple[Instruction, list[Access]]]] = defaultdict(list)
        """Instructions in order with their accesses, by wave of the workgroup."""
        self._pending: dict[int, dict[int, list[Access]]] = defaultdict(lambda: defaultdict(list))
        self._time = 0
        self._launch: Launch | None = None

    def on_start(self, launch: Launch) -> None:
        """Record the addresses of buffers."""
        self._launch = launch

    def on_access(self, event: AccessEvent) -> None:
        """Record the accesses of the workgroup's waves."""
        self._time += 1
        numbers = np.asarray(event.numbers)
        for row in np.flatnonzero((numbers >= self._first) & (numbers < self._first + self._waves)).tolist():
            wave = int(numbers[row]) - self._first
            active = None if event.active is None else event.active[min(row, len(event.active) - 1)]
            addresses = event.addresses[min(row, len(event.addresses) - 1)].astype(np.int64)
            made = Access(self._time, event.space, event.kind, addresses, active, event.size, event.part)
            self._pending[wave][event.instruction.pc].append(made)

    def on_block(self, event: BlockEvent) -> None:
        """Add a block to the waves that executed it."""
        for index in range(len(event.waves)):
            place = event.place(index, None)
            if place.workgroup != self._workgroup:
                continue
            pending = self._pending[place.wave]
            for instruction in event.instructions:
                own = pending.pop(instruction.pc, [])  # an instruction occurs once in a block
                self.executed[place.wave].append((instruction, own))

    def matrix(self, wave: int, order: int) -> int:
        """Position of a wave's matrix instruction.

        Args:
            wave: of the workgroup.
            order: matrix instructions before it.
        """
        found = [at for at, (one, _) in enumerate(self.executed[wave]) if one.opcode.matrix]
        return found[order]

    def way(self, wave: int, position: int, register: tuple[str, int], lane: int, byte: int = 0) -> Iterator[Step]:
        """The instructions that brought a value into a register, the last first.

        The way ends at a load from global memory, or at an instruction that computes the value from several registers.

        Args:
            wave: of the workgroup.
            position: of the instruction that reads the register.
            register: file and number.
            lane: of the register.
            byte: of the register.
        """
        for _ in range(LONGEST):
            at = next((n for n in range(position - 1, -1, -1) if register in _written(self.executed[wave][n][0])), None)
            if at is None:
                return
            instruction, accesses = self.executed[wave][at]
            reads = [one for one in accesses if one.kind != "write"]
            written = list(registers(instruction.dst))
            if not reads or register not in written:
                yield Step(instruction, wave, lane, "")
                read = {r for r in registers(instruction.src) if r[0] in "va"}
                if instruction.opcode.access == "load" or len(read) != 1:
                    return
                register, position = read.pop(), at
                continue
            each = max(1, len(written) // len(reads))  # two reads fill half of the registers each
            part, number = divmod(written.index(register), each)
            load = reads[min(part, len(reads) - 1)]
            address = int(load.addresses[lane]) + min(4 * number + byte, max(load.size - 1, 0))
            yield Step(instruction, wave, lane, self._where(load.space, address))
            stored = self._stored(address, load.time) if load.space == "lds" else None
            if stored is None:
                return
            wave, position, lane, access = stored
            instruction = self.executed[wave][position][0]
            offset = address - int(access.addresses[lane])
            sources = [one for one in self.executed[wave][position][1] if one.space == "global"]
            begins = f"LDS byte {address}"
            if sources:  # straight from memory, in pieces where the buffer is swizzled
                source = sources[min(offset // max(sources[0].size, 1), len(sources) - 1)]
                within = offset if len(sources) == 1 else offset % source.size
                begins += f", from {self._where('global', int(source.addresses[lane]) + within)}"
            yield Step(instruction, wave, lane, begins)
            operands = [operand for operand in instruction.src if operand.field in DATA]
            if sources or not operands:
                return
            data = list(registers([operands[min(access.part, len(operands) - 1)]]))
            register, byte = data[min(offset // 4, len(data) - 1)], offset % 4

    def _stored(self, address: int, before: int) -> tuple[int, int, int, Access] | None:
        """Wave, position, lane and access that stored an LDS byte last before a time."""
        best: tuple[int, int, int, Access] | None = None
        for wave, executed in self.executed.items():
            for position, (_, accesses) in enumerate(executed):
                for one in accesses:
                    if one.space != "lds" or one.kind == "read" or one.time >= before:
                        continue
                    inside = (one.addresses <= address) & (address < one.addresses + one.size)
                    inside &= True if one.active is None else one.active
                    if inside.any() and (best is None or one.time > best[3].time):
                        best = wave, position, int(np.flatnonzero(inside)[-1]), one
        return best

    def _where(self, space: str, address: int) -> str:
        """A byte in words."""
        if space != "global" or self._launch is None:
            return f"{'LDS' if space == 'lds' else space} byte {address}"
        for region in self._launch.memory.regions:
            if region.address <= address < region.address + region.size:
                return f"byte {address - region.address} of {region.name}"
        return f"address {address:#x}"


def _written(instruction: Instruction) -> frozenset[tuple[str, int]]:
    parts = instruction.halves or (instruction,)
    return frozenset(r for part in parts for r in registers(part.dst))
