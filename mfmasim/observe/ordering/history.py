"""The history of shared memory: every access to the bytes that `sharing` found, with its wave's vector clock.

It observes a second run of the launch, if the first run found shared memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.scopes import (
    DEVICE,
    UNSTATED,
    WORKGROUP,
    invalidates,
    invalidates_near,
    invalidates_scalar,
    reach,
    writes_back,
)
from mfmasim.machine.events import Observer, passing
from mfmasim.observe.ordering.acquire import Uses
from mfmasim.observe.ordering.clocks import FOREVER, Acquired, Clocks
from mfmasim.observe.ordering.cluster_order import ClusterOrder
from mfmasim.observe.ordering.entries import NEVER, Entries, Flight, Hit, Kind
from mfmasim.observe.ordering.flags import flag_reads
from mfmasim.observe.ordering.progress import Progress, Step
from mfmasim.observe.ordering.sharing import dwords_of
from mfmasim.observe.ordering.written_back import WrittenBack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.arrays import I32, I64
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent, BlockEvent, Walk
    from mfmasim.observe.ordering.sharing import Sharing


MOST = 4_000_000
"""Entries that are recorded; later ones are ignored."""
LINE_BITS = 6
"""Bits of an offset in a line of the scalar cache: 64 bytes (ISA manuals, scalar data cache)."""
KNOWLEDGE_BYTES = 512 << 20
"""Bytes of knowledge that entries may refer to; beyond, an access counts as ordered."""


class History(Observer):
    """Observes a launch."""

    name = "races"

    def __init__(
        self,
        arch: Arch,
        instructions: Sequence[Instruction],
        source_at: Callable[[int], str],
        sharing: Sharing,
        waves: int,
        per: int,
        *,
        in_order: bool,
        cluster: int = 1,
    ) -> None:
        """Follow the dwords of `sharing`.

        Args:
            arch: architecture.
            instructions: instructions that the kernel may execute.
            source_at: source line of an address.
            sharing: the dwords to examine.
            waves: of the launch.
            per: waves of a workgroup.
            in_order: whether the memory operations of a workgroup's waves take one path, so that a barrier orders
                incomplete operations as well.
            cluster: workgroups of a cluster.
        """
        self.arch, self.sharing, self.per = arch, sharing, per
        self.in_order = in_order
        self.unit = 1 if sharing.bytewise else 4
        self._slot = np.zeros(sharing.size // 4 + 1, np.bool_)
        self._slot[sharing.shared()] = True
        self._acquired = np.zeros(sharing.size // 4 + 1, np.bool_)
        self._uses = Uses(instructions)
        for pc, dwords in sharing.acquired.items():
            if self._uses.acquires(pc):
                self._acquired[dwords] = True
        self._slot |= self._acquired
        self._shared_lines = np.zeros((sharing.size >> LINE_BITS) + 1, np.bool_)
        self._shared_lines[np.flatnonzero(self._slot) * 4 >> LINE_BITS] = True
        self._flags = flag_reads(instructions, source_at) | self._uses.acquires_lds()
        self.clocks = Clocks(waves, per)
        self.clusters = ClusterOrder(self.clocks, per * cluster)
        self.kinds: list[Kind] = []
        self._numbers: dict[tuple[int, str], int] = {}
        self.log: list[Entries] = []
        self.knowledge: list[I32] = [self.clocks.nothing]
        self._index: dict[int, int] = {id(self.clocks.nothing): 0}
        self.full = False
        self._pending: list[Hit] = []
        self._flying: list[Flight] = []
        self._same: dict[int, tuple[bytes, ...]] = {}
        self._own_places: dict[int, set[int]] = {}
        """First waves of the workgroups that have written to each acquired location."""
        self._steps: dict[int, Step] = {}
        self._lines: dict[int, int] = {}
        """Number of the first scalar read of each cache line."""
        self._count = 0
        self._entries = 0
        self._first = 0
        self.progress = Progress(arch, 0)
        self._back = WrittenBack(self.progress, per)

    def on_access(self, event: AccessEvent) -> None:
        """Hold accesses to shared dwords, and reads of flags, until the block is complete."""
        if event.space == "global":
            hit = self._hits(event)
            if hit is None and self._lines_of(event):
                hit = Hit(event)
            if hit is not None:
                self._pending.append(hit)
        elif event.space == "lds" and event.instruction.pc in self._flags:
            self._pending.append(Hit(event))

    on_scalar = on_access

    def _lines_of(self, event: AccessEvent) -> list[int]:
        """Lines of the scalar cache with shared dwords that a scalar read accesses; empty for other accesses."""
        if event.instruction.opcode.unit != "SMEM" or event.kind != "read":
            return []
        offsets, _ = dwords_of(event, self.sharing.base, self.sharing.size)
        first, last = offsets >> LINE_BITS, (offsets + (event.size - 1)) >> LINE_BITS
        lines = np.union1d(first, last)
        lines = lines[(lines >= 0) & (lines < len(self._shared_lines))]
        found: list[int] = lines[self._shared_lines[lines]].tolist()
        return found

    def _hits(self, event: AccessEvent) -> Hit | None:
        """The shared units of an access."""
        offsets, active = dwords_of(event, self.sharing.base, self.sharing.size)
        shape = event.waves, offsets.shape[-1]
        offsets = np.broadcast_to(offsets, shape)
        parts = []
        for at in range(0, event.size, self.unit):
            place = offsets + at
            here = self._slot[np.clip(place >> 2, 0, len(self._slot) - 1)]
            if active is not None:
                here = here & active
            row, lane = np.nonzero(here)
            if not len(row):
                continue
            word = np.zeros(len(row), np.uint32)
            if event.data:
                word = np.broadcast_to(event.data[at // 4], shape)[row, lane]
                if self.unit == 1:
                    word = word >> np.uint32(8 * (at % 4)) & np.uint32(0xFF)
            parts.append((row, place[row, lane], word, lane))
        if not parts:
            return None
        row, offset, word, lane = (np.concatenate([part[k] for part in parts]) for k in range(4))
        order = np.lexsort((offset, row))
        row, offset, word, lane = row[order], offset[order], word[order], lane[order]
        last = np.append((np.diff(row) != 0) | (np.diff(offset) != 0), True)  # one entry per unit and wave
        return Hit(event, row[last], offset[last], word[last], lane[last])

    def on_block(self, event: BlockEvent) -> None:
        """Replay a block for its waves, in program order."""
        if event.fresh:
            self._begin(event)
        self.clusters.passed(event.waves, self._first)
        pending, self._pending = self._pending, []
        place = 0
        for ins in event.instructions:
            hits = []
            while place < len(pending) and pending[place].event.instruction.pc == ins.pc:
                hits.append(pending[place])
                place += 1
            step = self._steps.get(ins.pc) or self._steps.setdefault(ins.pc, Step(ins, self.arch))
            for hit in hits:
                self._take(hit, event.waves, step)
            if invalidates_scalar(ins):
                self._invalidated[event.waves] = self._count
            if invalidates_near(ins):
                self._invalidated_near[event.waves] = self._count
            if invalidates(ins):
                for wave in event.waves:
                    self._settle(int(wave))
                    self.clocks.invalidated(self._first + int(wave))
            if self.arch.several_l2 and writes_back(ins):
                self._write_back(event.waves, step)
            if step.signals:
                for wave in event.waves if self.clocks.known or self.clocks.open else ():
                    self._settle(int(wave))
                    self.clocks.arrive(self._first + int(wave), int(self.progress.signalled[wave]))
            if step.cluster and self.clusters.together > self.per:
                self._at_cluster(step.cluster, event.waves)
            if step.matters:
                self.progress.advance(step, event.waves, self._signalled)
        if event.instructions and event.instructions[-1].opcode.flow == "end":
            self._ended[event.waves] = True
        if self._flying:
            complete = self.progress.complete
            self._flying = [f for f in self._flying if (complete[f.key][f.waves] <= f.order).any()]

    def walk(self, blocks: Sequence[Sequence[Instruction]], waves: int) -> Walk | None:
        """Only accesses, waits, barriers and cache instructions matter."""
        if self.clusters.together > self.per:
            return None

        def matters(ins: Instruction) -> bool:
            caches = invalidates(ins) or invalidates_scalar(ins) or writes_back(ins)
            return bool(ins.opcode.memory or caches or ins.opcode.flow == "end") or Step(ins, self.arch).matters

        return passing(blocks, waves, matters)

    def _begin(self, event: BlockEvent) -> None:
        self._first += self.progress.waves
        self.progress = Progress(self.arch, event.total)
        self._back = WrittenBack(self.progress, self.per)
        self._flying.clear()
        self._tick: I32 = np.zeros(event.total, np.int32)
        self._ended: NDArray[np.bool_] = np.zeros(event.total, np.bool_)
        self._since: I64 = np.zeros(event.total, np.int64)
        self._invalidated: I64 = np.zeros(event.total, np.int64)
        self._invalidated_near: I64 = np.zeros(event.total, np.int64)
        self.clusters.begin(event.total)
        self._arrived: list[I32] = []
        """Step of each wave when it signalled each barrier."""

    def _settle(self, wave: int) -> None:
        """Bring the clock of a wave of the batch up to date."""
        self.clocks.settle(self._first + wave, self.progress.complete, wave, int(self.progress.joined[wave]))

    def _at_cluster(self, kind: str, waves: I64) -> None:
        """Waves signal the barrier of their cluster, or come to it."""
        if kind == "signal":
            self._tick[waves] += 1
            self._late(waves)
            self.clusters.signal(waves, self._first, self._tick, self._settle, self._met)
        else:
            self.clusters.wait(waves)

    def _write_back(self, waves: I64, step: Step) -> None:
        """Waves write back, which is a step of each wave: later stores are not part of it."""
        self._tick[waves] += 1
        self._late(waves)
        for wave in waves.tolist():
            self._settle(wave)
            near, met = self.clocks.near(self._first + wave), self._met(wave)
            steps = near if met is None else np.maximum(near, met)
            self._back.begin(wave, (step.up[0].counter, step.up[0].order), int(self._tick[wave]), steps)

    def _signalled(self, waves: I64) -> None:
        """Waves have signalled a barrier."""
        numbers = self.progress.signalled[waves] - 1
        while len(self._arrived) <= int(numbers.max()):
            self._arrived.append(np.zeros(self.progress.waves, np.int32))
        self._tick[waves] += 1
        for number in np.unique(numbers):
            here = waves[numbers == number]
            self._arrived[number][here] = self._tick[here]
        for wave in waves.tolist() if self.arch.several_l2 else ():
            self._back.signal(wave)
        self._late(waves)

    def _late(self, waves: I64) -> None:
        """Waves have made a step: their operations in flight are not complete before it."""
        here = np.zeros(self.progress.waves, np.bool_)
        here[waves] = True
        for flight in self._flying:
            late = (self.progress.complete[flight.key][flight.waves] <= flight.order) & here[flight.waves]
            flight.entries.complete[late] = self._tick[flight.waves[late]]
            flight.entries.met[late] = self.progress.signalled[flight.waves[late]]

    def _take(self, hit: Hit, waves: I64, step: Step) -> None:
        """One access of all waves of a group."""
        event = hit.event
        self._count += 1
        if event.space == "lds":
            self._since[waves] = self._count
            return
        for line in self._lines_of(event):
            self._lines.setdefault(line, self._count)
        if not len(hit.row):
            return
        keys = [(up.counter, up.order) for up in step.up]
        key = keys[0] if keys else ("", "")
        order = self.progress.of(key)[0][waves] if keys else np.zeros(len(waves), np.int32)
        number = self._kind(event)
        kind = self.kinds[number]
        of = waves[hit.row]
        if self.clocks.known or self.clocks.open or self.clocks.meetings:
            for wave in np.unique(of):
                self._settle(int(wave))
        dword = hit.offset >> 2
        acquired = self._acquired[dword]
        entries = Entries(
            unit=hit.offset // self.unit,
            wave=(self._first + of).astype(np.int32),
            lane=hit.lane.astype(np.int32),
            kind=np.full(len(of), number, np.int32),
            joined=self.progress.joined[of],
            signalled=self.progress.signalled[of],
            met=self.progress.signalled[of],
            issued=self._tick[of],
            complete=self._tick[of],
            known=self._knowledge_of(of),
            since=self._since[of],
            cached=self._cached(kind, hit.offset),
            invalidated=(self._invalidated if kind.scalar else self._invalidated_near)[of],
            number=np.full(len(of), self._count, np.int64),
            value=hit.value,
        )
        if acquired.any() and (kind.kind != "read" or kind.acquires):
            self._acquire_and_release(kind, hit.row[acquired], dword[acquired], waves, key, order)
        if not self._keep(entries, number):
            return
        if keys and not (acquired.any() and kind.kind != "read"):
            self._flying.append(Flight(entries, key, of, order[hit.row]))

    def _cached(self, kind: Kind, offsets: I64) -> I64:
        """`Entries.cached` of an access to `offsets`."""
        if not kind.scalar or kind.kind != "read":
            return np.full(len(offsets), NEVER)
        return np.array([self._lines[line] for line in (offsets >> LINE_BITS).tolist()], np.int64)

    def _acquire_and_release(
        self, kind: Kind, rows: I64, dwords: I64, waves: I64, key: tuple[str, str], order: I32
    ) -> None:
        """Waves acquire locations, or write to acquired locations."""
        wide = kind.reach >= UNSTATED
        stepping = np.unique(rows) if kind.kind != "read" else rows[:0]
        if len(stepping):
            self._tick[waves[stepping]] += 1
            self._late(waves[stepping])
        places = np.unique(np.stack([rows, dwords]), axis=1)
        for row, dword in places.T.tolist():
            wave = int(waves[row])
            if kind.acquires:
                known = self.clocks.acquire(dword, wide=wide)
                if known is not None:
                    self.clocks.receive(self._first + wave, Acquired(key, int(order[row]), known))
                if self._first + wave - wave % self.per in self._own_places.get(dword, ()):
                    self._since[wave] = self._count
            if kind.kind != "read" and not self._too_much():
                back = self._back.of(wave) if self.arch.several_l2 else None
                step, met = int(self._tick[wave]), self._met(wave)
                self.clocks.release(dword, self._first + wave, step, met, back, wide=wide)
                self._own_places.setdefault(dword, set()).add(self._first + wave - wave % self.per)

    def _too_much(self) -> bool:
        """Whether the knowledge of locations has reached its limit; then all accesses count as ordered."""
        self.full |= len(self.clocks.locations) * self.clocks.nothing.nbytes > KNOWLEDGE_BYTES
        return self.full

    def _met(self, wave: int) -> I32 | None:
        """Step of each other wave of the workgroup when it signalled the last barrier that `wave` has passed.

        The fence behind the barrier completes these steps as well: it takes the same path behind them.
        """
        joined = int(self.progress.joined[wave])
        if not joined:
            return None
        first = wave // self.per * self.per
        group = slice(first, first + self.per)
        steps = self._arrived[joined - 1][group]
        steps = np.where((steps == 0) & self._ended[group], FOREVER, steps)
        steps[wave - first] = 0  # the wave's own operations need a wait
        return steps

    def _kind(self, event: AccessEvent) -> int:
        key = event.instruction.pc, event.kind
        if key not in self._numbers:
            self._numbers[key] = len(self.kinds)
            far = reach(event.instruction, event.kind)
            acquiring = event.kind != "write" and far >= WORKGROUP and self._uses.acquires(event.instruction.pc)
            if event.kind == "read" and self._uses.confirmed(event.instruction.pc):
                far = DEVICE  # equivalent to an atomic read
            self.kinds.append(Kind(event.instruction, event.kind, far, acquiring))
        return self._numbers[key]

    def _knowledge_of(self, waves: I64) -> I32:
        """Index of each wave's clock."""
        if self.full:
            return np.full(len(waves), -1, np.int32)
        if not self.clocks.known:
            return np.zeros(len(waves), np.int32)
        index: dict[int, int] = {}
        for wave in np.unique(waves).tolist():
            known = self.clocks.of(self._first + wave)
            number = self._index.get(id(known))
            if number is None and known.nbytes * len(self.knowledge) > KNOWLEDGE_BYTES:
                self.full, number = True, -1
            elif number is None:
                number = self._index[id(known)] = len(self.knowledge)
                self.knowledge.append(known)
            index[wave] = number
        return np.array([index[wave] for wave in waves.tolist()], np.int32)

    def _keep(self, entries: Entries, number: int) -> bool:
        """Record entries, except those of a polling wave."""
        kind = self.kinds[number]
        if kind.kind == "read" and kind.reach >= WORKGROUP:
            same = tuple(part.tobytes() for part in (entries.unit, entries.wave, entries.issued, entries.known))
            if self._same.get(number) == same:
                return False
            self._same[number] = same
        self._entries += len(entries.unit)
        if self._entries > MOST:
            self.full = True
            return False
        self.log.append(entries)
        return True

    def entries(self) -> Entries:
        """All entries."""
        names = Entries.__dataclass_fields__
        if not self.log:
            return Entries(**{name: np.zeros(0, np.int64) for name in names})  # type: ignore[arg-type]
        return Entries(**{name: np.concatenate([getattr(part, name) for part in self.log]) for name in names})
