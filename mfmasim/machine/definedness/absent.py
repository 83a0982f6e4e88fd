"""Values that lane exchanges read from absent lanes: lanes that EXEC disables, or lanes of the other half.

DS permutes, swizzles and DPP return 0, or the destination's old value, if EXEC disables the source lane; V_READLANE
returns the register's value. The machine's rules for undefined bits follow these results to their uses.
Two operations end them: a selection of another value, and a combination with the lane's own value that does not change
it: 0 in a sum, the smaller value in a maximum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.machine.binding.dpp import is_dpp
from mfmasim.machine.definedness.follow import Definedness
from mfmasim.machine.definedness.keys import LDS, SCRATCH, VECTORS, keys_of, set_of
from mfmasim.machine.definedness.memory import GlobalBits
from mfmasim.machine.definedness.planes import ONES
from mfmasim.machine.definedness.uses import Uses
from mfmasim.machine.events import AbsentUse
from mfmasim.machine.ops.lane_sources import exchange_of, is_move, swaps_halves, writes_one_lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32, Flags
    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.ops.lane_sources import Exchange
    from mfmasim.machine.state.waves import Group

MOST = 1 << 16
"""Most pairs of exchange and lanes that are distinguished."""


def _exchanging(kernel: Kernel) -> bool:
    lanes = kernel.arch.lds.permute_lanes
    return any(exchange_of(part, lanes, kernel.wave) for ins in kernel.reachable for part in ins.halves or (ins,))


EXCHANGES: PerKernel[bool] = PerKernel(_exchanging)
"""Whether a kernel has instructions that read other lanes."""


class Seed(NamedTuple):
    """The origin of a value from an absent lane."""

    exchange: Instruction
    why: str
    lane: int


class AbsentUses(Uses):
    """Reports uses of such values."""

    seeds: list[Seed]

    def report(
        self, use: str, instruction: Instruction, group: Group, key: int, bits: U32, origins: U32, name: str = ""
    ) -> None:
        """Report one register.

        Args:
            use: the kind of use.
            instruction: the using instruction.
            group: the waves.
            key: the register.
            bits: the used bits, (1 or waves, lanes), or (1 or waves,) for a scalar register.
            origins: numbers of seeds, in the same shape.
            name: name of an operand without a key.
        """
        bits, origins = np.broadcast_arrays(bits, origins)
        known = (bits != 0) & (origins > 0) & (origins <= len(self.seeds))
        if not known.any():
            return
        first = tuple(int(i) for i in np.argwhere(known)[0])
        lane = first[1] if bits.ndim > 1 else None
        numbers = np.unique(origins[known]).tolist()
        seed = self.seeds[int(origins[first]) - 1]
        alike = [self.seeds[n - 1] for n in numbers]
        event = AbsentUse(
            instruction,
            use,
            name or self._name(key, instruction),
            self.machine.place(group.indices(), first[0], lane),
            int(known.sum()) * (group.count // len(bits)),
            seed.exchange,
            seed.why,
            tuple(sorted({one.lane for one in alike if one.exchange is seed.exchange and one.why == seed.why})),
        )
        for hook in self.machine.absent_hooks:
            hook(event)


@dataclass
class _Source:
    """A vector source before the instruction ran."""

    keys: tuple[int, ...]
    values: list[U32]
    bad: Flags
    own: list[tuple[U32, U32] | None]
    """For each register: lanes in which an exchange has just written an absent value, and the lane's own value."""


class AbsentLanes(Definedness):
    """Follows values of absent lanes through one launch."""

    def __init__(self, machine: Machine) -> None:
        """Begin without exchanges."""
        super().__init__(machine)
        self.plane.memory = GlobalBits.shadowing(machine.memory, ())
        self._seeds: list[Seed] = []
        self._numbers: dict[tuple[int, str, int], int] = {}
        self._half_seeds: list[int] = []
        """Seeds whose value is another lane's, which no combination corrects."""
        self.uses = AbsentUses(machine, self.planes, self.loaded)
        self.uses.seeds = self._seeds
        self._own: dict[int, tuple[U32, U32]] = {}
        """For results of exchanges: bits that are absent (1), and the lane's own value, of all waves."""
        self._exchanged: set[int] = set()
        """Registers whose halves V_PERMLANE64 has exchanged."""
        self._stale: dict[int, U32] = {}
        """Lanes (1) of registers that others have written since, of all waves."""
        code = [part for ins in machine.kernel.reachable for part in ins.halves or (ins,)]
        kinds = ((part, self._exchange(part)) for part in code)
        self._read = {
            key
            for part, found in kinds
            if found is not None and found.ignores_exec
            for key in keys_of(part.src[found.data])
        }

    def _exchange(self, instruction: Instruction) -> Exchange | None:
        return exchange_of(instruction, self.machine.arch.lds.permute_lanes, self.machine.kernel.wave)

    def begin(self) -> None:
        """A new batch of workgroups begins, without values of absent lanes."""
        self.planes.undefined, self.planes.origins, self.planes.dirty = {}, {}, 0
        self.plane.lds = np.zeros(self.machine.lds.shape, np.uint8)
        self.plane.scratch = np.zeros(self.machine.scratch.shape, np.uint8)
        self.plane.stored = False
        self._own.clear()
        self._stale.clear()
        self._exchanged.clear()

    def around(self, instruction: Instruction, alone: Bound, run: Bound) -> Bound:
        """The bound instruction, wrapped in code that follows values of absent lanes.

        Args:
            instruction: the instruction.
            alone: executes the instruction alone.
            run: executes it for the machine.
        """
        machine = self.machine

        def either(g: Group) -> None:
            (run if g.waves is machine.waves else alone)(g)

        step = self.wrap(instruction, either)
        if instruction.opcode.memory and not self._exchange(instruction):
            return self._memory(instruction, step)
        if instruction.halves:
            return self._pair(instruction.halves, step)
        return self._register(instruction, step) if instruction.dst else step

    def _memory(self, instruction: Instruction, step: Bound) -> Bound:
        """Follow the values that an instruction stores to the LDS or to scratch."""
        data = set_of(key for operand in instruction.src for key in keys_of(operand))
        targets = [key for operand in instruction.dst for key in keys_of(operand)]
        written = set_of(targets)

        def store(g: Group) -> None:
            if self._own:
                self._forget(written)
            if self.planes.dirty & data:
                step(g)
                self.planes.dirty |= 1 << LDS | 1 << SCRATCH
            else:
                step(g)
            self._write(g, targets)

        return store

    def _pair(self, halves: Sequence[Instruction], step: Bound) -> Bound:
        """A dual instruction, whose halves do not read other lanes."""
        targets = [[key for operand in half.dst for key in keys_of(operand)] for half in halves]
        read = set_of(key for half in halves for operand in half.src for key in keys_of(operand))
        written = set_of(key for keys in targets for key in keys)

        def run(g: Group) -> None:
            before = [self._before(g, half) for half in halves] if self.planes.dirty & read else []
            step(g)
            if self._own:
                self._forget(written)
            for half, keys, sources in zip(halves, targets, before, strict=False):
                self._end(g, half, keys, sources)
            for keys in targets:
                self._write(g, keys)

        return run

    def _register(self, instruction: Instruction, step: Bound) -> Bound:
        """Begin at an exchange with absent lanes; end at an operation that keeps the lane's own value."""
        exchange = self._exchange(instruction)
        sources = [keys_of(operand) for operand in instruction.src]
        targets = [key for operand in instruction.dst for key in keys_of(operand)]
        read, written = set_of(k for keys in sources for k in keys), set_of(targets)
        moves = is_move(instruction)
        combines = exchange is None or (is_dpp(instruction) and len(instruction.src) > 1)
        swaps = swaps_halves(instruction, self.machine.kernel.wave)
        one_lane = writes_one_lane(instruction)

        def run(g: Group) -> None:
            begins = None if exchange is None else self._begins(g, exchange, sources[exchange.data])
            looked = begins is not None or bool(self.planes.dirty & read)
            before = self._before(g, instruction) if looked else []
            kept = self._own.get(sources[0][0]) if moves and sources[0] else None
            step(g)
            if self._own:
                self._forget(written)
            if begins is not None:
                self._seed(g, instruction, targets, begins, before)
            if looked and combines:
                self._end(g, instruction, targets, before)
            if kept is not None:
                self._own[targets[0]] = kept
            if not one_lane:
                self._write(g, targets)
            if swaps:
                self._exchanged.update(targets)

        return run

    def _forget(self, written: int) -> None:
        for key in [key for key in self._own if written >> key & 1]:
            del self._own[key]

    def _write(self, g: Group, targets: Sequence[int]) -> None:
        """Inactive lanes keep their values while active lanes are written."""
        if self._exchanged:
            self._exchanged.difference_update(targets)
        for key in self._read.intersection(targets):
            if g.mask is None and g.all:
                self._stale.pop(key, None)
            elif g.mask is not None or key in self._stale:
                rows = np.broadcast_to(~g.active, (g.count, g.lanes)).astype(np.uint32)
                self._stale[key] = self._put(g, self._stale.get(key), rows)

    def _put(self, g: Group, whole: U32 | None, rows: U32) -> U32:
        if g.all:
            return rows
        old = np.zeros((1, g.lanes), np.uint32) if whole is None else whole
        made: U32 = g._put(old, rows)  # noqa: SLF001
        return made

    def _begins(
        self, g: Group, exchange: Exchange, data: Sequence[int]
    ) -> tuple[str, NDArray[np.int64], Flags, U32] | None:
        """Reason, source lanes, lanes of the destination and their own values; None if no source lane is absent."""
        if g.mask is None and not exchange.halves:
            return None
        own = self.planes.real(data[0])
        own = np.broadcast_to(g.take(own), (g.count, g.lanes))
        if exchange.halves is not None:
            asked, crossing = exchange.halves(g, data[0] in self._exchanged)
            if crossing.any():
                return exchange.why, asked, crossing, own
            if g.mask is None:
                return None
        lanes = np.broadcast_to(exchange.lanes(g), (g.count, g.lanes))
        active = np.broadcast_to(g.active, (g.count, g.lanes))
        off = (lanes >= 0) & ~np.take_along_axis(active, np.maximum(lanes, 0), axis=1)
        if exchange.ignores_exec:
            stale = self._stale.get(data[0])
            if stale is None:
                return None
            rows = np.broadcast_to(g.take(stale), (g.count, g.lanes))
            off &= np.take_along_axis(rows, np.maximum(lanes, 0), axis=1) != 0
        if not exchange.scalar:
            off &= active & exchange.enabled
        return ("off", lanes, off, own) if off.any() else None

    def _before(self, g: Group, instruction: Instruction) -> list[_Source]:
        """The vector sources in registers."""
        found = []
        for operand in instruction.src:
            keys = keys_of(operand)
            if operand.kind in ("v", "a") and keys:
                shape = g.count, g.lanes
                values = [np.array(np.broadcast_to(g.take(self.planes.real(key)), shape)) for key in keys]
                bad = np.zeros(shape, np.bool_)
                for key in keys:
                    bad |= self.planes.of(g, key) != 0
                own = [self._own.get(key) for key in keys]
                kept = [None if one is None else (g.take(one[0]), g.take(one[1])) for one in own]
                found.append(_Source(keys, values, bad, kept))
        return found

    def _seed(
        self,
        g: Group,
        instruction: Instruction,
        targets: Sequence[int],
        begins: tuple[str, NDArray[np.int64], Flags, U32],
        before: Sequence[_Source],
    ) -> None:
        """Mark the results of an exchange from absent lanes."""
        why, lanes, where, own = begins
        words = np.zeros((g.count, g.lanes), np.uint32)
        for lane in np.unique(lanes[where]).tolist():
            words[where & (lanes == lane)] = self._number(instruction, why, int(lane))
        for key in targets:
            if key >= VECTORS:
                some = where.any(axis=1)
                value = np.where(some, ONES, np.uint32(0))
                self.planes.put(g, key, value, words.max(axis=1))
                continue
            bits = np.where(where, ONES, self.planes.of(g, key))
            self.planes.put(g, key, bits, np.where(where, words, self.planes.origin(g, key)))
            if len(before) < 2 or not is_dpp(instruction):
                marked = self._own.get(key, (None, None))
                self._own[key] = (
                    self._put(g, marked[0], where.astype(np.uint32)),
                    self._put(g, marked[1], np.array(own)),
                )

    def _number(self, instruction: Instruction, why: str, lane: int) -> int:
        key = instruction.pc, why, lane
        if key not in self._numbers:
            if len(self._seeds) >= MOST:
                return len(self._seeds)
            self._seeds.append(Seed(instruction, why, lane))
            self._numbers[key] = len(self._seeds)
            if why != "off":
                self._half_seeds.append(len(self._seeds))
        return self._numbers[key]

    def _end(self, g: Group, instruction: Instruction, targets: Sequence[int], before: Sequence[_Source]) -> None:
        """Clear the marks of an operation that keeps the lane's own value."""
        fused = is_dpp(instruction)
        marked = [one for one in before if one.bad.any()]
        if not any(self.planes.dirty >> key & 1 for key in targets):
            return
        compares = instruction.opcode.compare
        for place, one in enumerate(before):
            if fused and place == 0:
                continue
            fine = ~one.bad
            others = [other for other in marked if other is not one] or ([before[0]] if fused else [])
            for other in others:
                fine &= _own_value(other, one, fused=fused and other is before[0])
            if compares:
                self._clear_mask(g, targets, fine)
            elif len(one.keys) == len(targets) and all(key < VECTORS for key in targets):
                for key in targets:
                    fine &= ~np.isin(self.planes.origin(g, key), self._half_seeds)
                for key, value in zip(targets, one.values, strict=True):
                    fine &= g.take(self.planes.real(key)) == value
                for key in targets:
                    bits = np.where(fine, np.uint32(0), self.planes.of(g, key))
                    self.planes.put(g, key, bits, self.planes.origin(g, key))

    def _clear_mask(self, g: Group, targets: Sequence[int], fine: Flags) -> None:
        """Bits of a mask whose lanes are fine."""
        for half, key in enumerate(key for key in targets if key >= VECTORS):
            lanes = fine[:, 32 * (half % 2) : 32 * (half % 2) + 32]
            if not lanes.shape[1]:
                continue
            keep = (~lanes).astype(np.uint64) @ (np.uint64(1) << np.arange(lanes.shape[1], dtype=np.uint64))
            bits = self.planes.of(g, key) & keep.astype(np.uint32)
            self.planes.put(g, key, bits, self.planes.origin(g, key))


def _own_value(given: _Source, one: _Source, *, fused: bool) -> Flags:
    """Whether a source is known to be the lane's own value in the exchange.

    Args:
        given: the result of the exchange.
        one: the other source.
        fused: whether the exchange is the DPP of the instruction itself.
    """
    fine: Flags = np.ones(one.bad.shape, np.bool_)
    for value, other, own in zip(given.values, one.values, given.own, strict=False):
        if fused:
            fine &= value == other
        elif own is not None:
            fine &= (own[0] == 0) | (own[1] == other)
    return fine
