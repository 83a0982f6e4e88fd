"""Execution in C: hot blocks in a region of register instructions.

A passage through a region takes the same steps as the machine's loop, and the machine itself executes the last
step: budgets, quotas, endless loops and observers follow from it as from any step. The machine also executes the rest:
the first execution of a block in a launch, blocks with observers of values or of every block, undefined
bits in a register of the region, other orders of waves than the machine's own.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.machine.binding.bind import operation_of
from mfmasim.machine.binding.dpp import is_dpp
from mfmasim.machine.definedness.flow import by_lane
from mfmasim.machine.definedness.keys import FIRST, SCC, VECTORS, keys_of, set_of
from mfmasim.machine.events.interface import Machine
from mfmasim.machine.execution.endless_loops import only_registers
from mfmasim.machine.native.memory import Spaces
from mfmasim.machine.native.passage import FAR, Automaton, Copy, Limits, passed
from mfmasim.machine.native.region import region_at
from mfmasim.machine.native.text import SCC as PLACE_OF_SCC
from mfmasim.machine.numerics.lane_masks import words_of
from mfmasim.machine.state.waves import AT_BARRIER, ENDED, RUNNING, Group
from mfmasim.toolchain.native import setting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness import Definedness
    from mfmasim.machine.events import Walk
    from mfmasim.machine.execution.basic_block import Block
    from mfmasim.machine.execution.endless_loops import Rounds
    from mfmasim.machine.launch.quota import Meter
    from mfmasim.machine.native.region import Region

    Key = tuple[int, int, int, int]
    """Address and instructions of a block, MODE, and whether memory may be accessed, and waves may meet."""

CACHED, HOT = 2_000, 60_000
"""Instructions of a block, for a group of waves at a time, after which its region is looked for in the cache, and
compiled: that takes about as long as they did."""
GROUP = 32
"""Waves whose instruction takes twice as long as that of one."""
CHUNK = 1 << 22
"""Wave-instructions of a passage: some hundredths of a second, after which signals and deadlines are looked at."""
TRIED, WORTH = 8, 6
"""Passages from a block, and steps of each, that are fewer than what a passage takes: after so many passages of so few
steps the launch goes on without."""
KINDS = ("", "branch", "conditional")
"""Flow of instructions in a region (`Opcode.flow`)."""


@dataclass
class Known:
    """Memo of a kernel's regions, for all its launches."""

    heat: dict[Key, int] = field(default_factory=dict)
    """Instructions that each block has executed for groups of waves."""
    regions: dict[Key, Region] = field(default_factory=dict)
    cold: set[Key] = field(default_factory=set)
    """Blocks that are in no region."""


KNOWN: PerKernel[Known] = PerKernel(lambda _: Known())


class Running(Machine, Protocol):
    """The machine during a batch."""

    _block: Block
    _fresh: bool
    _rounds: Rounds | None
    budget: int
    meter: Meter
    patience: int
    schedule: Any
    turn_hooks: list[Any]

    @property
    def _blocks(self) -> dict[tuple[int, int], Block]: ...

    @property
    def definedness(self) -> Definedness | None:
        """The part that follows undefined bits; None if no observer needs it."""

    @property
    def absent(self) -> object | None:
        """The part that follows values of absent lanes; None if no observer needs it."""

    @property
    def steps(self) -> bool:
        """Whether an observer receives individual instructions."""


def regions_for(machine: Running) -> Regions | None:
    """The regions of a launch; None if it is executed without regions."""
    chosen = setting()
    others = (machine.schedule, machine.turn_hooks, machine.steps, machine.absent, machine.launch.approximation)
    if chosen == "off" or any(others):
        return None
    walkers = [getattr(hook, "__self__", None) for hook in machine.notify.blocks]
    walks = [getattr(walker, "walk", None) for walker in walkers]
    return Regions(machine, [walk for walk in walks if walk], forced=chosen == "forced") if all(walks) else None


class Regions:
    """The regions of one launch."""

    def __init__(self, machine: Running, walks: Sequence[Callable[..., Walk | None]], *, forced: bool) -> None:
        """Prepare for a machine.

        Args:
            machine: the machine.
            walks: `Observer.walk` of each observer that receives blocks.
            forced: whether regions are compiled at once.
        """
        self.machine = machine
        self.walks = walks
        self.known = KNOWN.of(machine.kernel)
        self.cached, self.hot = (0, 0) if forced else (CACHED, HOT)
        self._fitting: dict[Region, tuple[int, NDArray[np.uint8]]] = {}
        self._fine: dict[int, bool] = {}
        """Of blocks, by identity, `_usable`: the machine holds them."""
        self._touched: dict[Region, tuple[int, int]] = {}
        self._spent: dict[Key, list[int]] = {}
        """Passages that began at a block, and their steps."""
        noted = machine.memory.touched is not None or machine.memory.before is not None
        self._memory = not (noted or machine.notify.accesses or machine.definedness)
        """Whether C may access memory: no observer asks what is accessed."""
        self._barriers = self._memory and not machine.notify.blocks
        """Whether waves may meet at barriers in C."""
        self._spaces: Spaces | None = None

    def step(self, group: Group, block: Block) -> tuple[Group, Block] | None:
        """Execute a block and its successors in its region.

        Args:
            group: the waves that are about to execute it.
            block: a block that `Machine._enter` has counted.

        Returns:
            The waves of the last step, and its block; None without execution.
        """
        mode = self.machine.waves.float_mode
        if block.mode or mode is None or not block.size or (self.walks and self.machine._fresh):  # noqa: SLF001
            return None
        key = block.first, block.size, mode.bits, self._memory + self._barriers
        region = self.known.regions.get(key)
        if region is None:
            if key in self.known.cold:
                return None
            region = self._found(key, group, block)
            if region is None:
                return None
        passages, steps = self._spent.get(key, (0, 0))
        if passages >= TRIED and steps < WORTH * passages and self.hot:
            return None
        found = self._passed(region, group, block)
        steps += 0 if found is None else found[2]
        self._spent[key] = [passages + 1, steps]
        return None if found is None else found[:2]

    def _found(self, key: Key, group: Group, block: Block) -> Region | None:
        """The region of a block that is hot enough."""
        known, machine = self.known, self.machine
        before = known.heat.get(key, 0)
        heat = known.heat[key] = before + block.size * (1 + group.count // GROUP)
        if heat < self.cached or (before >= self.cached and heat < self.hot):
            return None
        build = heat >= self.hot
        mode = machine.waves.float_mode
        assert mode is not None
        blocks = machine._blocks  # noqa: SLF001
        region, loops = region_at(block, blocks, machine.kernel, mode, self._usable, build=build)
        if region is not None:
            for piece in region.pieces:
                known.regions[piece.first, piece.size, *key[2:]] = region
        elif build and (loops or self.hot):
            known.cold.add(key)
        return region

    def _usable(self, block: Block) -> bool:
        """Whether a region may have a block's instructions, and no observer looks at their values."""
        found = self._fine.get(id(block))
        if found is None:
            found = not block.watched and all(self._suits(ins) for ins in block.instructions)
            self._fine[id(block)] = found
        return found

    def _suits(self, ins: Instruction) -> bool:
        """Whether an instruction works on registers alone, or is a load or store that C may execute."""
        opcode = ins.opcode
        if opcode.barrier:
            return self._barriers and opcode.barrier == "whole"
        if opcode.flow not in KINDS:
            return False
        if opcode.memory:
            plain = opcode.access in ("load", "store") and not opcode.kind and not ins.in_gds
            return self._memory and plain and not (opcode.to_lds or ins.modifiers.get("lds"))
        return only_registers(ins)

    def _passed(self, region: Region, group: Group, block: Block) -> tuple[Group, Block, int] | None:
        """The waves of the last step, its block, and the number of steps."""
        undefined = self._undefined(region, group)
        if undefined is None:
            return None
        allowed = self._fits(region)
        if region.barriers and not group.all:  # the others may be waiting
            allowed = allowed.copy()
            allowed[list(region.barriers)] = 0
        entry = region.addresses.index(block.first)
        if not allowed[entry]:
            return None
        automata = self._automata(region, group)
        if automata is None:
            return None
        executed = group.executed
        copy = Copy.of(region, lambda file, number: _read(group, file, number))
        weight = 1
        apart = "lds" in region.spaces  # of waves with the same registers each workgroup has its own
        alike = not apart and len(undefined) == 1 and all((each.states == each.states[0]).all() for each in automata)
        if len(copy.scalars) == 1 and alike and (len(executed) == 1 or (executed == executed[0]).all()):
            weight, executed = group.count, executed[:1]
        elif len(copy.scalars) < group.count:
            copy = Copy.of(region, lambda file, number: _read(group, file, number), group.count)
        rows = group.count // weight
        compare = self._compared(region, group, rows)
        carried = [Automaton(one.table, one.states[:rows].copy(), one.states[:rows].copy()) for one in automata]
        executed = np.broadcast_to(executed, (rows,))
        limits = self._limits(region, group)
        lanes = np.broadcast_to(undefined, (rows,)).copy() if undefined.any() else None
        memory, kept = self._fields(region, group, rows)
        passage = passed(region, copy, entry, executed, weight, limits, allowed, carried, compare, lanes, memory)
        del kept
        if not passage.steps:
            return None
        copy.put(region, group)
        group.pc = np.array(region.addresses, np.int64)[passage.now]
        if passage.waiting.any():
            whole = len(passage.waiting) == 1 or bool(passage.waiting.all())
            (group if whole else Group(group.waves, group.indices()[passage.waiting])).stop(AT_BARRIER)
        for one, now in zip(automata, carried, strict=True):
            # The observer itself receives the last step.
            one.before[group.indices()] = np.where(passage.stepped == passage.steps, now.before, now.states)
        return *self._counted(region, group, block, passage.last, passage), passage.steps

    def _fields(self, region: Region, group: Group, rows: int) -> tuple[NDArray[np.int64] | None, object]:
        """What C gets of the memory, and what has to stay meanwhile."""
        if not region.spaces:
            return None, None
        machine = self.machine
        if self._spaces is None or self._spaces.lds is not machine.lds:
            self._spaces = Spaces(machine.memory, machine.lds, machine.launch.lds_bytes)
        return self._spaces.fields(group.workgroup[:rows], region.lanes, region.stored)

    def _automata(self, region: Region, group: Group) -> list[Automaton] | None:
        """The states of block observers for a group; None if an observer needs every block."""
        if not self.walks:
            return []
        blocks: list[list[Instruction]] = [[] for _ in region.addresses]
        for piece in region.pieces:
            blocks[region.addresses.index(piece.first)] = list(piece.instructions)
        found = [walk(blocks, self.machine.waves.count) for walk in self.walks]
        indices = group.indices()
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        return [Automaton(each.table, each.numbers[indices], each.numbers) for each in known]

    def _counted(self, region: Region, group: Group, block: Block, last: int, passage: Any) -> tuple[Group, Block]:
        """Count all steps of a passage but the last, which the machine counts."""
        machine, size = self.machine, region.sizes[last]
        ended = machine._blocks[region.addresses[last], 0]  # noqa: SLF001
        stepped = passage.stepped == passage.steps
        waves = machine.waves
        executed = np.where(stepped, passage.executed - size, passage.executed)
        waves.executed = group._put(waves.executed, executed if len(executed) > 1 else executed[:1])  # noqa: SLF001
        block.runs -= group.count  # the first step is among them
        for place in np.flatnonzero(passage.runs).tolist():
            machine._blocks[region.addresses[place], 0].runs += int(passage.runs[place])  # noqa: SLF001
        final = group if len(stepped) == 1 or stepped.all() else Group(waves, group.indices()[stepped])
        machine.meter.spent += passage.instructions - size * final.count
        if machine._rounds is not None:  # noqa: SLF001
            written = passage.runs[list(region.storing)].sum() - (last in region.storing) * final.count
            met = bool(passage.runs[list(region.barriers)].any())
            machine._rounds.skip(passage.steps - 1, quiet=not written, met=met)  # noqa: SLF001
        machine._block = ended  # noqa: SLF001
        return final, ended

    def _limits(self, region: Region, group: Group) -> Limits:
        machine, waves = self.machine, self.machine.waves
        limit = machine.meter.quota.instructions
        left = CHUNK if limit is None else min(CHUNK, limit - machine.meter.spent + 1)
        steps = FAR if machine._rounds is None else machine._rounds.ahead()  # noqa: SLF001
        whole, most, least, first = group.all, -FAR, FAR, len(region.addresses)
        if not whole:
            others = np.ones(waves.count, np.bool_)
            others[group.indices()] = False
            status = np.broadcast_to(waves.status, (waves.count,))
            executed = np.broadcast_to(waves.executed, (waves.count,))
            running, there = others & (status == RUNNING), others & (status != ENDED)
            if running.any():
                pcs = np.broadcast_to(waves.pc, (waves.count,))[running]
                first, most = bisect.bisect_left(region.addresses, int(pcs.min())), int(executed[running].max())
            if there.any():
                least = int(executed[there].min())
        return Limits(whole, machine.patience, most, least, first, machine.budget, steps, left)

    def _compared(self, region: Region, group: Group, rows: int) -> tuple[Copy, NDArray[np.int32]] | None:
        """The snapshot to which a wave may return, if there is one."""
        rounds = self.machine._rounds  # noqa: SLF001
        taken = None if rounds is None else rounds.taken()
        if taken is None:
            return None
        waves = self.machine.waves

        def read(file: str, number: int) -> NDArray[Any]:
            owner: Any = {"v": waves.v, "a": waves.a, "s": waves.s, "scc": vars(waves), "pc": vars(waves)}[file]
            return group.take(taken[id(owner), file if file in ("scc", "pc") else number])

        places = {address: place for place, address in enumerate(region.addresses)}
        pcs = np.broadcast_to(read("pc", 0), (group.count,))[:rows]
        now = np.array([places.get(pc, -1) for pc in pcs.tolist()], np.int32)
        whole = Copy.of(region, read, group.count)
        return Copy(whole.scalars[:rows].copy(), whole.vectors[:rows].copy()), now

    def _fits(self, region: Region) -> NDArray[np.uint8]:
        blocks = self.machine._blocks  # noqa: SLF001
        known = self._fitting.get(region)
        if known is None or known[0] != len(blocks):
            known = self._fitting[region] = len(blocks), region.fits(blocks)
        return known[1]

    def _undefined(self, region: Region, group: Group) -> NDArray[np.uint64] | None:
        """Lanes with undefined bits in a register that the region accesses, as masks of (1 or waves,).

        None if an undefined register is scalar, or is read across lanes. Undefined bits in other registers do
        not matter while EXEC disables their lanes.
        """
        follower = self.machine.definedness
        out = np.zeros(1, np.uint64)
        if follower is None:
            return out
        touched = self._touched.get(region)
        if touched is None:
            touched = self._touched[region] = _touched(region)
        every, shared = touched
        dirty = follower.planes.dirty & every
        if dirty & shared:
            return None
        while dirty:
            key = dirty.bit_length() - 1
            dirty &= ~(1 << key)
            words = words_of(follower.planes.of(group, key) != 0)
            out = out | (words[..., 0].astype(np.uint64) | words[..., 1].astype(np.uint64) << np.uint64(32))
        return out


def _touched(region: Region) -> tuple[int, int]:
    """Registers that a region accesses, as a set of keys, and registers whose lanes are not independent."""
    places = region.registers
    scalars = [SCC if code == PLACE_OF_SCC else FIRST["s"] + code for code in places.scalars]
    vectors = [FIRST[file] + number for file, number in places.vectors]
    shared: list[int] = []
    for piece in region.pieces:
        for ins in piece.instructions:
            keys = [key for operand in (*ins.src, *ins.dst) for key in keys_of(operand)]
            scalars += [key for key in keys if key >= VECTORS]
            vectors += [key for key in keys if key < VECTORS]
            if is_dpp(ins) or not all(by_lane(operation_of(part)) for part in ins.halves or (ins,)):
                shared += keys
    return set_of([*scalars, *vectors]), set_of([*scalars, *shared])


def _read(group: Group, file: str, number: int) -> NDArray[Any]:
    if file == "scc":
        return group.scc
    return group.s(number) if file == "s" else group.v(file, number)
