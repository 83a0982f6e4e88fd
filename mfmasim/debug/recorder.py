"""Recording a launch: the waves and the block of each turn, checkpoints, and the memory that the launch overwrote."""

from __future__ import annotations

import time
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.debug.checkpoint import BYTES, Checkpoint, Checkpoints
from mfmasim.machine.events import Observer
from mfmasim.machine.state.memory import PAGE
from mfmasim.machine.state.memory_snapshot import Before

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.execution.basic_block import Block
    from mfmasim.machine.execution.run import Machine
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory
    from mfmasim.machine.state.waves import Group


SECONDS = 0.02
"""Seconds between checkpoints, until the memory limit requires fewer."""
LOOKED = 16
"""Turns between two looks at the clock."""


class Written(Before):
    """Contents of pages before the launch, and the pages written since the last checkpoint."""

    def __init__(self, memory: Memory) -> None:
        """Begin without written pages; an earlier observer of writes stays active."""
        super().__init__(memory)
        self._also = memory.before
        self.original: dict[int, NDArray[np.uint8]] = {}
        self._dirty: set[int] = set()
        self._last = (-1, -1)
        self.pages: dict[int, NDArray[np.uint8]] = {}

    def keep(self, offsets: NDArray[np.int64], size: int) -> None:
        """Save the pages of bytes before a write.

        Args:
            offsets: of the first byte of each lane.
            size: bytes per lane.
        """
        if self._also is not None:
            self._also.keep(offsets, size)
        first, last = int(offsets.min()) // PAGE, (int(offsets.max()) + size - 1) // PAGE
        if (first, last) == self._last:
            return
        if last - first < 2:
            found = [first, last]
            self._last = first, last
        else:
            found = np.unique(np.concatenate([offsets // PAGE, (offsets + (size - 1)) // PAGE])).tolist()
        for page in found:
            if page not in self._dirty:
                self._dirty.add(page)
                if page not in self.original:
                    self.original[page] = self._pages[page].copy()

    def copy(self, pages: NDArray[np.int64], target: NDArray[np.uint8]) -> None:
        """Copy the contents of pages before the launch.

        Args:
            pages: their numbers, each once.
            target: all pages of another arena, uint8 (pages, PAGE).
        """
        target[pages] = self._pages[pages]
        for page in pages.tolist():
            if page in self.original:
                target[page] = self.original[page]

    def versions(self) -> dict[int, NDArray[np.uint8]]:
        """The current contents of every page that was written so far."""
        if self._dirty:
            self.pages = {**self.pages, **{page: self._pages[page].copy() for page in self._dirty}}
            self._dirty.clear()
            self._last = (-1, -1)
        return self.pages


class Entry:
    """A bound block: the key of the machine, the branch targets known at its binding, its instructions."""

    __slots__ = ("first", "instructions", "joins", "mode", "pcs", "size")

    def __init__(self, block: Block, joins: frozenset[int]) -> None:
        """Keep the parts of `block` that replay and questions need."""
        self.first, self.mode, self.size, self.joins = block.first, block.mode, block.size, joins
        self.instructions: list[Instruction] = block.instructions
        self.pcs = {ins.pc: number for number, ins in enumerate(block.instructions)}


class Recorder(Observer):
    """Observes a launch: ``device.launch(..., observers=[recorder])``. Afterwards `Session` takes it.

    Attributes:
        blocks: number of the block of each turn, in `entries`.
        groups: number of the group of waves of each turn, in `members`.
        members: wave numbers within the batch of each group; None means all.
        batches: turn at which each batch of workgroups began, and its first workgroup.
        checks: names of the checks of the launch, each with its option; `RecordingDevice` sets them.
    """

    name = "recorder"

    def __init__(self, *, limit: int = BYTES, every: int | None = None) -> None:
        """Begin without a launch.

        Args:
            limit: bytes that checkpoints may hold.
            every: turns between checkpoints; None takes one every `SECONDS`.
        """
        self.limit, self.every = limit, every
        self.checks: tuple[str, ...] = ("all",)
        self._clear()

    def _clear(self) -> None:
        self.blocks, self.groups = array("I"), array("I")
        self.entries: list[Entry] = []
        self.members: list[NDArray[np.int64] | None] = []
        self.batches: list[tuple[int, int]] = []
        self.checkpoints = Checkpoints(self.limit)
        self.machine: Machine | None = None
        self._numbers: dict[int, tuple[Any, int]] = {}
        self._keys: dict[bytes, int] = {}
        self._known: dict[int, tuple[Any, int]] = {}
        self._joins: frozenset[int] = frozenset()
        self._bound = 0
        self._seconds, self._next, self._turns = SECONDS, 0.0, 0

    def on_start(self, launch: Launch) -> None:
        """Save the memory that the launch overwrites."""
        self._clear()
        self.launch = launch
        launch.memory.before = self.written = Written(launch.memory)

    def on_turn(self, machine: Machine, group: Group, block: Block) -> None:
        """Note a turn, and take a checkpoint when it is time.

        Args:
            machine: the machine.
            group: the waves.
            block: the block that they execute.
        """
        turn = self._turns
        if not self.batches or machine.first_workgroup != self.batches[-1][1]:
            self.machine = machine
            self.batches.append((turn, machine.first_workgroup))
            self._keep(turn)
        elif self.every is not None:
            if turn % self.every == 0:
                self._keep(turn)
        elif turn % LOOKED == 0 and time.perf_counter() >= self._next:
            self._keep(turn)
        known = self._known.get(id(block)) or self._block(machine, block)
        self.blocks.append(known[1])
        numbered = self._numbers.get(id(group)) or self._group(group)
        self.groups.append(numbered[1])
        self._turns = turn + 1

    def _keep(self, turn: int) -> None:
        assert self.machine is not None
        begun = time.perf_counter()
        if self.checkpoints.add(Checkpoint.of(self.machine, turn, self.written.versions(), chosen=True)):
            self._seconds *= 2
            if self.every is not None:
                self.every *= 2
        over = time.perf_counter()
        self._next = over + max(self._seconds, 8 * (over - begun))  # at most an eighth of the time

    def _block(self, machine: Machine, block: Block) -> tuple[Any, int]:
        self.entries.append(Entry(block, self._joins))
        self._joins = frozenset(machine.joins)
        found = self._known[id(block)] = block, len(self.entries) - 1
        return found

    def _group(self, group: Group) -> tuple[Any, int]:
        key = b"all" if group.all else group.indices().tobytes()
        number = self._keys.get(key)
        if number is None:
            number = self._keys[key] = len(self.members)
            self.members.append(None if group.all else group.indices().copy())
        if len(self._numbers) > 4096:
            self._numbers.clear()
        found = self._numbers[id(group)] = group, number
        return found
