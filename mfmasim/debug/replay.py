"""Replay: a machine that executes the turns of a recording again, from any checkpoint, with the state in view."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.debug.checkpoint import Checkpoint, frozen
from mfmasim.errors import MfmasimError
from mfmasim.machine.events.notify import Notify
from mfmasim.machine.execution.basic_block import build
from mfmasim.machine.execution.run import Machine
from mfmasim.machine.launch.hostcall import Hostcall
from mfmasim.machine.launch.quota import Meter, Quota
from mfmasim.machine.state.memory import PAGE
from mfmasim.machine.state.memory_snapshot import Earlier
from mfmasim.machine.state.waves import Group

if TYPE_CHECKING:
    from mfmasim.debug.recorder import Recorder
    from mfmasim.machine.events import Observer
    from mfmasim.machine.execution.basic_block import Block


class Replay(Machine):
    """Executes a recorded launch in memory of its own.

    Attributes:
        turn: number of the next turn, or of the turn that is executed in part.
        done: number of executed instructions of that turn.
        group: the waves of that turn; None if none of it is executed.
    """

    def __init__(self, recorder: Recorder) -> None:
        """At the beginning of a recording."""
        self.recorder = recorder
        launch = recorder.launch
        memory = Earlier(recorder.written)
        call = launch.hostcall
        mine = None if call is None else Hostcall(memory, call.region, call.waves)
        recorded = recorder.machine
        assert recorded is not None
        launch = replace(launch, memory=memory, hostcall=mine, meter=Meter(Quota(None)))
        super().__init__(launch, (), recorded.budget, recorded.max_waves)
        self._single = False
        self._kinds: dict[Any, dict[tuple[int, int], Block]] = {}
        self._whole: Group
        self._listener: Observer | None = None
        self._plain = self.notify
        self.turn = self.done = 0
        self.group: Group | None = None
        self._pending: Group | None = None
        self.restore(recorder.checkpoints.held[0])

    @property
    def steps(self) -> bool:
        """Whether blocks are bound instruction by instruction."""
        return self._single

    @property
    def turns(self) -> int:
        """Turns of the recording."""
        return len(self.recorder.blocks)

    def restore(self, state: Checkpoint) -> None:
        """Go to a checkpoint."""
        memory, recorder = self.memory, self.recorder
        assert isinstance(memory, Earlier)
        for page, original in recorder.written.original.items():
            memory.put(page, state.pages.get(page, original))
        self.waves, self.lds, self.scratch = frozen(state.waves), state.lds.copy(), state.scratch.copy()
        self.first_workgroup = state.first_workgroup
        if state.hostcall is not None and self.launch.hostcall is not None:
            self.launch.hostcall.text[:] = state.hostcall[0]
            self.launch.hostcall.begun = dict(state.hostcall[1])
        self.turn, self.done, self.group = state.turn, 0, None
        self._begin()
        self._pending = None
        if state.chosen and self.turn < self.turns:
            self._pending = Group(self.waves, recorder.members[recorder.groups[self.turn]], alone=True)

    def _begin(self) -> None:
        self._groups.clear()
        self._whole = Group(self.waves)
        self._over_budget = self.over = False

    def checkpoint(self) -> Checkpoint:
        """The state now, between two turns."""
        assert self.group is None
        memory = self.memory
        pages = {page: memory.arena[page * PAGE :][:PAGE].copy() for page in self.recorder.written.original}
        return Checkpoint.of(self, self.turn, pages, chosen=self._pending is not None)

    def to_turn(self, turn: int) -> None:
        """Execute whole turns up to one that lies ahead."""
        if self.group is not None:
            self.finish_turn()
        with np.errstate(all="ignore"):
            self._use(self._listener, single=False)
            while self.turn < turn:
                group, block = self._choose()
                group.pc = block.after
                for step in block.body:
                    step(group)
                self._leave(group, block)
                self.turn += 1

    def to_instruction(self, index: int) -> None:
        """Execute the turn that comes next up to its instruction of that number."""
        with np.errstate(all="ignore"):
            if self.group is None and index:
                self._use(self._listener, single=True)
                self.group, self._current = self._choose()
                self.group.pc = self._current.after
            while self.done < index:
                assert self.group is not None
                self._current.body[self.done](self.group)
                self.done += 1

    def finish_turn(self) -> None:
        """Execute the rest of a turn that is executed in part."""
        assert self.group is not None
        self.to_instruction(len(self._current.body))
        with np.errstate(all="ignore"):
            self._leave(self.group, self._current)
        self.turn, self.done, self.group = self.turn + 1, 0, None

    def listen(self, observer: Observer | None) -> None:
        """Report events of the turns that follow to an observer."""
        self._listener = observer

    def _use(self, observer: Observer | None, *, single: bool) -> None:
        """Choose how blocks are bound."""
        self._single = single
        key = (id(observer) if observer is not None else 0, single)
        if observer is not None and key not in self._kinds:
            self._kinds = {kind: blocks for kind, blocks in self._kinds.items() if not kind[0]}
        self._blocks = self._kinds.setdefault(key, {})
        self.notify = self._plain if observer is None else Notify(self, [observer])

    def _choose(self) -> tuple[Group, Block]:
        """Group and block of the next turn, which are those of the recording."""
        recorder, turn = self.recorder, self.turn
        group: Group | None
        if self._pending is not None:
            group, self._pending = self._pending, None
        else:
            group = self._next_group(self._whole)
        while group is None:  # a batch of workgroups is over
            starts = dict(recorder.batches)
            if turn not in starts:
                raise self._differs()
            first = starts[turn]
            ends = [one for one in starts.values() if one > first]
            count = (min(ends) if ends else self.launch.workgroups) - first
            self._start(first, min(count, self.workgroups_in_flight()))
            self._begin()
            group = self._next_group(self._whole)
        group, block = self._enter(group)
        entry, members = recorder.entries[recorder.blocks[turn]], recorder.members[recorder.groups[turn]]
        same = group.all if members is None else len(members) == group.count
        if block.first != entry.first or block.size != entry.size or not same:
            raise self._differs()
        return group, block

    def _bind(self, pc: int, mode: int) -> Block:
        """A block of the recording: it ends at the branch targets that were known at its binding."""
        entry = self.recorder.entries[self.recorder.blocks[self.turn]]
        self.joins = set(entry.joins)
        block = self._blocks[pc, mode] = build(self, pc, mode)
        return block

    def _differs(self) -> MfmasimError:
        return MfmasimError(f"replay differs from the recording in turn {self.turn}: memory or files were changed")
