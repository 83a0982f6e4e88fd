"""Running a launch: batches of workgroups, waves grouped by program counter, blocks of bound instructions.

All waves at one program counter execute a block together. The group with the lowest program counter goes first, so
that waves which left a loop early, or took the other side of a branch, reconverge. A wave that polls in a loop for
another wave must not prevent that wave from running: waves far behind go first (`PATIENCE`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.machine import ops  # noqa: F401  (fills the table of operations)
from mfmasim.machine.binding.bind import operation_of
from mfmasim.machine.events import MatrixEvent, Observer, Place, hooks
from mfmasim.machine.events.notify import Notify
from mfmasim.machine.events.outcome import Outcome
from mfmasim.machine.execution.basic_block import build
from mfmasim.machine.execution.endings import ALONE, BUDGETS, count_left, waiting
from mfmasim.machine.execution.endless_loops import ENDLESS, Rounds
from mfmasim.machine.execution.initial_state import first_state
from mfmasim.machine.execution.late_delivery import Late
from mfmasim.machine.execution.regions import regions_for
from mfmasim.machine.opcodes.register_allocation import register_counts
from mfmasim.machine.state.waves import AT_BARRIER, ENDED, RUNNING, Group, Waves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.machine.definedness import Definedness
    from mfmasim.machine.definedness.absent import AbsentLanes
    from mfmasim.machine.execution.basic_block import Block
    from mfmasim.machine.execution.wave_orders import Schedule
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory

__all__ = ["BUDGET", "Machine", "Outcome"]

BUDGET = 1_000_000
"""Instructions a wave may execute before the launch is stopped as endless."""
PATIENCE = 4096
"""Instructions by which a wave may be ahead of one that could run as well."""
GROUPS = 256
"""Groups of some waves that are kept, with what they have read."""
SCHEDULED_PATIENCE = 65536
"""The same where a schedule holds waves back on purpose."""
BATCH_BYTES = 256 << 20
"""Bytes that the workgroups in flight may take, which bounds a batch."""
WAVES = 2048
"""Waves in flight unless the caller says otherwise: enough to hide the cost of a NumPy call, few enough for the caches
(on the reference machine, four times as many took up to three times as long each)."""
MATRIX_WAVES = 512
"""The same of a kernel with matrix instructions, whose operands and results take more of the caches."""
TEMPORARY_BYTES = 64
"""Bytes per lane of temporaries that an instruction may need: eight arrays of 64-bit addresses or numbers."""

IN_FLIGHT: PerKernel[int] = PerKernel(
    lambda kernel: MATRIX_WAVES if any(ins.opcode.matrix for ins in kernel.reachable) else WAVES
)
LEVELS: PerKernel[dict[tuple[str, bool], str]] = PerKernel(lambda _: {})
"""Fidelity of an operation, by its name and whether it accesses the GDS."""


def _of_all(values: NDArray[Any], count: int) -> NDArray[Any]:
    """One value for each wave, read-only; a test of the length is faster than a broadcast."""
    return values if len(values) == count else np.broadcast_to(values, (count,))


def followed(machine: Machine) -> Definedness:
    """The part that follows undefined bits through a launch."""
    from mfmasim.machine.definedness import Definedness

    return Definedness(machine)


def absent_lanes(machine: Machine) -> AbsentLanes | None:
    """The part that follows values of absent lanes, if the kernel reads other lanes."""
    from mfmasim.machine.definedness.absent import EXCHANGES, AbsentLanes

    return AbsentLanes(machine) if EXCHANGES.of(machine.kernel) else None


class Machine:
    """Executes one launch. Operations access memory, LDS, architecture and observers through it."""

    content = "values"

    def __init__(
        self,
        launch: Launch,
        observers: Sequence[Observer] = (),
        budget: int = BUDGET,
        max_waves: int | None = None,
        schedule: Schedule | None = None,
    ) -> None:
        """Prepare to run a launch.

        Args:
            launch: the result of `mfmasim.machine.launch.launch.prepare`.
            observers: receive the events; only the hooks that they override are called.
            budget: instructions a wave may execute.
            max_waves: most waves in flight, but at least a workgroup; None lets the memory limit
                decide.
            schedule: the order in which waves run; None runs all together.
        """
        self.schedule = schedule
        self.patience = PATIENCE if schedule is None else SCHEDULED_PATIENCE
        self.late = schedule if isinstance(schedule, Late) else None
        if self.late is not None:
            self.late.attach(self)
        self.max_waves = max_waves
        self.launch = launch
        self.kernel = launch.kernel
        self.arch = launch.kernel.arch
        self.memory: Memory = launch.memory
        self.notify = Notify(self, observers)
        self.budget = self._most = budget
        self.meter = launch.meter.fresh()
        self.matrix_hooks = hooks(observers, Observer.on_matrix)
        self.value_observers = [each for each in observers if hooks([each], Observer.on_value)]
        self.clock_hooks = hooks(observers, Observer.on_clock)
        self.use_hooks = hooks(observers, Observer.on_use)
        self.absent_hooks = hooks(observers, Observer.on_absent)
        self.before_hooks = hooks(observers, Observer.before_step)
        self.after_hooks = hooks(observers, Observer.after_step)
        self.turn_hooks = hooks(observers, Observer.on_turn)
        self.skipped: Counter[int] = Counter()
        """Wave-instructions that a block counts but that were not executed, by address."""
        self.outcome: Outcome = Outcome()
        self.definedness = followed(self) if self.use_hooks else None
        self.absent = absent_lanes(self) if self.absent_hooks else None
        self.followers = [one for one in (self.definedness, self.absent) if one is not None]
        self.waves: Waves
        self.lds: NDArray[np.uint8]
        self.scratch: NDArray[np.uint8]
        self._blocks: dict[tuple[int, int], Block] = {}
        """By address and the bits of MODE with which they are bound."""
        self.joins: set[int] = set()
        """Targets of the branches seen so far."""
        self._block: Block
        self.first_workgroup = 0
        self._rounds: Rounds | None = None
        self._groups: dict[bytes, Group] = {}
        self._fresh = True
        self._first_stopped = 0
        self.over = False
        """Whether nothing more is to be executed."""
        self._budgets = 0
        """Batches with waves that have used up their budget."""
        self._over_budget = False
        """Whether the batch that runs is one of them."""

    def run(self, first: int = 0, count: int | None = None) -> Outcome:
        """Execute every workgroup, or `count` of them from the `first` one on.

        Raises:
            MfmasimError: an instruction, operand or modifier that the machine does not execute; nothing is guessed.
        """
        last = self.launch.workgroups if count is None else first + count
        batch = self.workgroups_in_flight()
        with np.errstate(all="ignore"):
            starts: Sequence[int] = range(first, last, batch)
            if self.schedule is not None:
                starts = self.schedule.batches(starts, batch, self.launch.waves_per_workgroup)
            for number, start in enumerate(starts, 1):
                self._start(start, min(batch, last - start))
                # Other workgroups, which do not run yet or run elsewhere, could write the awaited data; an observer
                # that replaces registers, and late loads, are not part of the snapshot.
                alone = count is None and number == len(starts)
                more = self.steps or self.matrix_hooks or self.late is not None
                others = self.memory.between is not None  # then an endless loop is a reason to wait for them
                self._rounds = Rounds(self.waves) if (alone and not more) or others else None
                self._run_batch()
                self.outcome.batches += 1
                if self.over or self._budgets >= BUDGETS:
                    count_left(self.outcome, self.waves, last - first - number * batch)
                    break
        self._count()
        return self.outcome

    def run_once(self) -> Outcome:
        """As `run`; afterwards the machine keeps only `place`, which events call.

        Its bound blocks refer to it, so that registers and memory would stay until a full garbage collection.

        Raises:
            MfmasimError: as of `run`.
        """
        try:
            return self.run()
        finally:
            self.__dict__ = {"launch": self.launch, "first_workgroup": self.first_workgroup}

    @property
    def steps(self) -> bool:
        """Whether an observer receives individual instructions."""
        return bool(self.before_hooks or self.after_hooks)

    def workgroups_in_flight(self) -> int:
        """Workgroups of a batch: `max_waves`, else `IN_FLIGHT`, if registers, LDS and scratch fit into `BATCH_BYTES`.

        Those of a cluster run together.
        """
        launch = self.launch
        per = launch.waves_per_workgroup
        lane_bytes = 4 * sum(register_counts(self.kernel)) + launch.scratch_bytes + TEMPORARY_BYTES
        fitting = BATCH_BYTES // (lane_bytes * self.kernel.wave * per + launch.lds_bytes)
        wanted = IN_FLIGHT.of(self.kernel) if self.max_waves is None else self.max_waves
        together = launch.clusters.workgroups
        return max(1, min(fitting, wanted // per) // together) * together

    def _start(self, first: int, count: int) -> None:
        """Initialise registers and LDS for a batch of workgroups."""
        state = first_state(self.launch, first, count)
        self.waves, self.lds, self.scratch = state.waves, state.lds, state.scratch
        self.first_workgroup, self._fresh = first, True
        for follower in self.followers:
            follower.begin()
        if self.late is not None:
            self.late.begin()
        self.outcome.waves += state.waves.count

    def _run_batch(self) -> None:
        whole = Group(self.waves)
        self._groups.clear()
        self._over_budget = False
        regions = regions_for(self)
        while (group := self._next_group(whole)) is not None:
            group, block = self._enter(group)
            passed = None if regions is None else regions.step(group, block)
            if passed is not None:
                group, block = passed
            else:
                for hook in self.turn_hooks:
                    hook(self, group, block)
                group.pc = block.after  # a branch at the block's end overwrites it
                for step in block.body:
                    step(group)
            if self._leave(group, block):
                return

    def _enter(self, group: Group) -> tuple[Group, Block]:
        """The next block of a group, and the waves of the group that execute it."""
        pc = int(group.pc[0])
        mode = self.waves.vector_mode
        if mode is None:
            mode = int(group.mode[0]) & self.arch.vector_mode
            group = self._alike(group, mode)
        self._block = block = self._blocks.get((pc, mode)) or self._bind(pc, mode)
        block.runs += group.count
        return group, block

    def _leave(self, group: Group, block: Block) -> bool:
        """Count the executed block of a group; returns whether the batch ends."""
        if self.notify.blocks and block.size:
            self.notify.block(block.instructions, group, fresh=self._fresh, mode=block.mode)
            self._fresh = False
        if self.over:
            return True
        if self.notify.repeated.over is not None:
            instruction, beyond = self.notify.repeated.over
            self.notify.repeated.over = None
            most = self.notify.repeated.limit
            self.stop("faults", f"a wave was outside every buffer more than {most:,} times", instruction.pc, beyond)
            self._budgets += not self._over_budget
            self._over_budget = True
            return False
        if group.count_executed(block.size) > self.budget:
            spent = np.broadcast_to(group.executed > self.budget, (group.count,))
            beyond = Group(self.waves, group.indices()[spent])
            why = f"a wave executed more than {self.budget:,} instructions{waiting(self.waves, beyond)}"
            self.stop("budget", why, block.first, beyond)
            self._budgets += not self._over_budget
            self._over_budget = True
            return False
        if self._rounds is not None and self._rounds.endless(block, group):
            alone = self._wait()
            if alone is not None:
                self.stop("endless", f"{ENDLESS}{alone}{waiting(self.waves)}", block.first, group)
                return True
        if over := self.meter.spend(block.size * group.count):
            self.stop("quota", over, block.first, group)
            return True
        return False

    def _wait(self) -> str | None:
        """The waves go round until memory changes: wait for other processes.

        Returns:
            None if they go on, else why they do not.
        """
        if self.memory.between is None:
            return ""
        why = self.memory.between.wait()
        if why:
            return f"; {why}"
        self._rounds = Rounds(self.waves)
        self.budget = self._most + int(self.waves.executed.max())  # what waited spends none of it
        return None

    def _next_group(self, whole: Group) -> Group | None:
        """The next waves: those at the lowest program counter; None after the end of all waves.

        Barriers open when no wave runs: then all waves of every workgroup have arrived or ended.
        """
        waves = self.waves
        if len(waves.pc) > 1 and (waves.pc == waves.pc[0]).all():
            waves.pc = waves.pc[:1]  # met again
        if len(waves.status) > 1 and (waves.status == waves.status[0]).all():
            waves.status = waves.status[:1]
        if len(waves.status) == 1:
            if waves.status[0] == ENDED:
                return None
            if waves.status[0] != RUNNING:
                if self._stuck(np.arange(waves.count)):
                    return None
                waves.status = np.full(1, RUNNING, np.uint8)
            if len(waves.pc) == 1 and self.schedule is None:
                waves.own.clear()
                whole.resume()
                return whole
        status = _of_all(waves.status, waves.count)
        running = np.flatnonzero(status == RUNNING)
        if not len(running):
            if self._stuck(np.flatnonzero(status == AT_BARRIER)):
                return None
            waves.status = np.where(status == AT_BARRIER, np.uint8(RUNNING), status)
            return self._next_group(whole)
        running = self._fair(status, running)
        if self.schedule is not None:
            running = self._open(_of_all(waves.status, waves.count), running)
            running = self.schedule.choose(running, self.first_workgroup * self.launch.waves_per_workgroup)
        pcs = _of_all(waves.pc, waves.count)[running]
        chosen = running[pcs == pcs.min()]
        group = self._groups.get(key := chosen.tobytes())
        if group is None:
            if len(self._groups) >= GROUPS:
                self._groups.clear()
            alone = not self.steps and self.late is None  # these keep registers as they were
            group = self._groups[key] = Group(waves, chosen, alone=alone)
        group.resume()
        if group.all:
            waves.own.clear()
        return group

    def _fair(self, status: NDArray[np.uint8], running: NDArray[np.int64]) -> NDArray[np.int64]:
        """The running waves that may run next: if some are far ahead, only the others.

        Waves that wait at a barrier count as well: if all of a workgroup have arrived, its barrier opens although
        another workgroup, which may be waiting for this one, still runs.
        """
        waves = self.waves
        executed = _of_all(waves.executed, waves.count)
        limit = executed[running].max() - self.patience
        if limit <= 0 or executed[status != ENDED].min() >= limit:
            return running
        running = self._open(status, running)
        behind = running[executed[running] < limit]
        return behind if len(behind) else running

    def _open(self, status: NDArray[np.uint8], running: NDArray[np.int64]) -> NDArray[np.int64]:
        """Open the barriers at which all waves of a workgroup have arrived; returns the waves that run now."""
        waves = self.waves
        busy = np.zeros(int(waves.workgroup[-1]) + 1, np.bool_)
        busy[waves.workgroup[status == RUNNING]] = True
        opening = (status == AT_BARRIER) & ~busy[waves.workgroup]
        opening[self._signalling(np.flatnonzero(opening))] = False
        if not opening.any():
            return running
        waves.status = np.where(opening, np.uint8(RUNNING), status)
        return np.sort(np.concatenate([running, np.flatnonzero(opening)]))

    def _bind(self, pc: int, mode: int) -> Block:
        block = self._blocks[pc, mode] = build(self, pc, mode)
        return block

    def _alike(self, group: Group, mode: int) -> Group:
        """The waves of a group with the vector mode `mode`; other waves run later."""
        alike = np.broadcast_to(group.mode & np.uint32(self.arch.vector_mode) == mode, (group.count,))
        if alike.all():
            return group
        chosen = group.indices()[alike]
        return Group(self.waves, chosen)

    def _signalling(self, waiting: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of the waiting waves that wait for signals (gfx12's S_BARRIER_WAIT), which arrival does not replace."""
        code, after = self.kernel.code, np.broadcast_to(self.waves.pc, (self.waves.count,))[waiting]
        wave = self.kernel.wave
        before = {pc: code.instruction_at(pc - 4, wave) for pc in np.unique(after).tolist()}  # one dword each
        here = [pc for pc, ins in before.items() if ins.opcode.barrier == "wait"]
        return waiting[np.isin(after, here)] if here else waiting[:0]

    def _stuck(self, waiting: NDArray[np.int64]) -> bool:
        """Whether waves wait forever, now that no wave runs."""
        here = self._signalling(waiting)
        if not len(here):
            return False
        group = Group(self.waves, here)
        why = f"deadlock: {len(here)} waves {self.waves.further.missing(int(here[0]))}"
        self.stop("barrier", why, int(group.pc[0]) - 4, group)
        return True

    def ticks(self, group: Group, pc: int) -> NDArray[np.uint64]:
        """Value of a clock at an instruction of the current block, which grows along every path, (1 or waves,)."""
        shown = group.executed * 4 + (pc - self._block.first) // 4  # an instruction has at most four dwords
        if self.clock_hooks:
            numbers = group.indices() + self.first_workgroup * self.launch.waves_per_workgroup
            shown = shown + sum(ahead(numbers) for ahead in self.clock_hooks)
        return shown.astype(np.uint64)

    def _count(self) -> None:
        levels = LEVELS.of(self.kernel)
        executed, fidelity = self.outcome.executed, self.outcome.fidelity
        for block in self._blocks.values():
            for ins in block.instructions:
                runs = block.runs - self.skipped.pop(ins.pc, 0)
                executed[ins.pc] += runs
                if runs and ins.name not in fidelity:
                    key = ins.name, ins.in_gds
                    if key not in levels:
                        levels[key] = operation_of(ins).level(self.arch, ins.name)
                    fidelity[ins.name] = levels[key]
        self.outcome.arrange(self.kernel.code, self.kernel.wave)

    def stop(self, check: str, why: str, pc: int, group: Group, wave: int = 0) -> None:
        """End the launch, or the workgroups of a group of waves: nothing more is executed after the block.

        If an observer follows steps, this step is the last one. Of several ends the outcome names that
        of the first workgroup of the grid: those of a batch are in any order.

        Args:
            check: the check of the finding; with one of `ALONE` other workgroups continue.
            why: the reason in words.
            pc: instruction that the finding names.
            group: waves that execute it.
            wave: which of them the finding names.
        """
        where, outcome, indices = self.kernel.source_at(pc), self.outcome, group.indices()
        number = self.first_workgroup * self.launch.waves_per_workgroup + int(indices[wave])
        self.over = check not in ALONE
        if not outcome.stopped or self.over or number < self._first_stopped:
            self._first_stopped = number
            outcome.stopped, outcome.stopped_by = f"{why}; stopped at {pc:#x}" + (f" ({where})" if where else ""), check
            outcome.stopped_pc, outcome.stopped_at = pc, self.place(indices, wave)
        if not self.over:
            ended = np.unique(self.waves.workgroup[indices])
            outcome.cut += len(ended)
            Group(self.waves, np.flatnonzero(np.isin(self.waves.workgroup, ended))).stop(ENDED)
            if self.waves.further.arrived.any():
                self.waves.further.settle_clusters(self.waves)

    def place(self, waves: NDArray[Any], index: int, lane: int | None = None) -> Place:
        """Place of a wave in the grid.

        Args:
            waves: numbers of waves within those in flight.
            index: which of them.
            lane: a lane of it.
        """
        return self.launch.place(self.first_workgroup * self.launch.waves_per_workgroup + int(waves[index]), lane)

    def matrix(self, event: MatrixEvent, compute: Callable[[], NDArray[np.uint32]]) -> NDArray[np.uint32]:
        """Report a matrix instruction; its result is computed unless an observer replaces it."""
        result = None
        for listener in self.matrix_hooks:
            replaced = listener(event)
            if replaced is not None:
                result = replaced
        return compute() if result is None else result
