"""atomics: floating-point atomic sums of several waves, whose bits depend on the order of the waves.

Addition of floats is commutative and not associative: from three terms on (the initial value counts unless it is
0) another order may round otherwise. One execution shows the places to which several waves add without an order between
them. A barrier between the additions of two waves of one workgroup fixes their order; flags and locks are not followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.arrays import I64, Flags
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent, BlockEvent, ValueEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

ATOMICS = Kind(
    "atomics-order",
    "info",
    "A sum of floating-point atomics whose order is open",
    "Several waves add to the same place, and nothing fixes which comes first. Every order rounds otherwise, so that "
    "the last bits differ from run to run and from GPU to GPU, unless every partial sum is exact.",
    "atomicAdd(&sum[0], x);  // by every wave; also packed f16 and bf16, and compare-and-swap loops",
    "Nothing where the tolerance allows it; otherwise store partial sums, and add them in a fixed order.",
    place="code",
)
ADDS = re.compile(r"_add(_rtn|_src2)?_(f16|bf16|f32|f64)$")
SWAPS = re.compile(r"_cmp(swap|st|store)(_rtn)?(_x2|_[bf](32|64))?$")
ROUNDS = re.compile(r"_(add|sub|subrev|mul|mad|mac|fma|fmac|fmamk|fmaak)\w*_(f16|bf16|f32|f64)(_e32|_e64)?$")
"""Operations that round a sum."""
BACK = 96
"""Instructions before a compare-and-swap in which its new value is computed."""
MOST = 1 << 22
"""Most contributions that are recorded."""


def rounded_swap(instructions: Sequence[Instruction], place: int) -> bool:
    """Whether a float operation computes the new value of a compare-and-swap, followed backwards through its loop.

    Args:
        instructions: in address order.
        place: index of the compare-and-swap.
    """
    swap = instructions[place]
    after = (i for i in instructions[place : place + BACK] if i.target is not None and i.target <= swap.pc)
    end = next(after, None)
    loop = [i for i in instructions[place + 1 : place + BACK] if end is not None and i.pc <= end.pc]
    before = [i for i in instructions[max(place - BACK, 0) : place] if end is None or i.pc >= (end.target or 0)]
    new = _operands(swap)[0]
    wanted = set(new)
    for one in [*reversed(before), *reversed(loop)]:
        for part in one.halves or (one,):
            written = {(o.kind, o.index + k) for o in part.dst for k in range(o.count)}
            if not written & wanted or part.opcode.memory:
                continue
            if ROUNDS.search(part.name):
                return True
            wanted |= {(o.kind, o.index + k) for o in part.src if o.kind in "va" for k in range(o.count)}
    return False


def _operands(swap: Instruction) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Registers of the new value and of the compared value; CDNA's DS_CMPST has the compared value first."""
    data = [o for o in swap.src if o.kind in ("v", "a") and o.field in ("vdata", "data", "data0", "data1")]
    words = [(o.kind, o.index + k) for o in data for k in range(o.count)]
    half = len(words) // 2
    first, second = words[:half], words[half:]
    return (second, first) if "_cmpst_" in swap.name else (first, second)


@dataclass
class _Sums:
    """Contributions of one instruction to one space, in order of execution."""

    rows: list[I64] = field(default_factory=list)
    """Columns: place, wave of the launch, barriers that it has passed, contributions, whether the place held 0."""
    size: int = 0

    def add(self, row: I64) -> None:
        """Record contributions, up to a limit."""
        if self.size < MOST:
            self.rows.append(row)
            self.size += row.shape[1]


class AtomicOrder(Check):
    """Collects contributions by instruction."""

    name = "atomics"
    about = "sums of floating-point atomics whose bits depend on the order of the waves"
    kinds = (ATOMICS,)

    def __init__(self, launch: Launch) -> None:
        """Follow the kernel's float atomics, if it has any."""
        super().__init__(launch)
        self._names, self._per = launch.names, launch.waves_per_workgroup
        self._base, self._lds = launch.memory.base, launch.lds_bytes // 4 + 1
        code = self.kernel.reachable
        atomics = [(n, i) for n, i in enumerate(code) if i.opcode.atomic]
        self._adds = {i.pc for _, i in atomics if ADDS.search(i.name)}
        swaps = {i.pc for n, i in atomics if SWAPS.search(i.name) and i.dst and rounded_swap(code, n)}
        self._swaps = swaps
        self._sums: dict[tuple[int, str], _Sums] = {}
        self._machine: Any = None
        self._epoch: I64 = np.zeros(0, np.int64)
        """Barriers that each wave of the batch has passed."""
        self._first = 0
        """First wave of that batch."""
        self._last: AccessEvent | None = None
        self._bind()

    def _bind(self) -> None:
        """Receive events only if the kernel has float atomics."""
        if self._adds or self._swaps:
            self.on_access = self._access  # type: ignore[method-assign]
            self.on_block = self._block  # type: ignore[method-assign]
            self.on_turn = self._turn  # type: ignore[method-assign]
        if self._swaps:
            self.watches = self._watched  # type: ignore[method-assign]
            self.on_value = self._value  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the contributions."""
        left_out = ("on_access", "on_block", "on_turn", "watches", "on_value", "_machine", "_last")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle and bind the methods again."""
        self.__dict__ |= state | {"_machine": None, "_last": None}
        self._bind()

    def _turn(self, machine: Any, group: Any, block: Any) -> None:
        """Keep the machine, whose memory has the value of a place before the addition."""
        del group, block
        self._machine = machine

    def _block(self, event: BlockEvent) -> None:
        """Count barriers, which end a block."""
        if event.fresh:
            self._first, self._epoch = self._machine.first_workgroup * self._per, np.zeros(event.total, np.int64)
        if event.instructions and event.instructions[-1].opcode.barrier in ("whole", "wait"):
            self._epoch[event.waves] += 1

    def _epochs(self, waves: I64) -> I64:
        """Numbers of barriers that waves have passed; 0 while no block of their batch has ended."""
        local = waves - self._first
        known = (local >= 0) & (local < len(self._epoch))
        return np.where(known, np.append(self._epoch, 0)[np.where(known, local, -1)], 0)

    def _watched(self, instruction: Instruction) -> bool:
        return instruction.pc in self._swaps

    def _access(self, event: AccessEvent) -> None:
        """Record additions; the result of a compare-and-swap decides whether it has added."""
        if event.kind != "atomic":
            return
        if event.instruction.pc in self._adds:
            self._add(event, None)
        elif event.instruction.pc in self._swaps:
            self._last = event

    def _value(self, event: ValueEvent) -> None:
        """A compare-and-swap has returned the old value: it has stored if that equals the compared value."""
        access, self._last = self._last, None
        if access is None or access.instruction.pc != event.instruction.pc:
            return
        held = {
            (o.kind, o.index + k): words[k]
            for o, words in zip(event.instruction.src, event.sources, strict=True)
            for k in range(len(words))
            if o.kind in ("v", "a")
        }
        stored = empty = np.ones((1, 1), np.bool_)
        for key, old in zip(_operands(event.instruction)[1], event.results[0], strict=False):
            stored, empty = stored & (held[key] == old), empty & (old == 0)
        self._add(access, stored, empty)

    def _add(self, event: AccessEvent, stored: Flags | None, empty: Flags | None = None) -> None:
        """Record the contributions of one execution.

        Args:
            event: the access.
            stored: lanes that have stored; None means all active lanes.
            empty: lanes whose place held 0; None reads it from memory, before the addition.
        """
        shape = len(event.numbers), event.addresses.shape[-1]
        active = np.broadcast_to(np.True_ if event.active is None else event.active, shape)
        if stored is not None:
            active = active & stored
        row, lane = np.nonzero(active)
        if not len(row):
            return
        at = np.broadcast_to(event.addresses, shape)[row, lane].astype(np.int64)
        wave = event.numbers[row].astype(np.int64)
        group = wave // self._per
        if event.space == "global":
            at = at - self._base
        place = (at >> 2) + (group * self._lds if event.space == "lds" else 0)
        zero = self._empty(event, at, group) if empty is None else np.broadcast_to(empty, shape)[row, lane]
        order = np.lexsort((wave, place))
        place, wave, zero = place[order], wave[order], zero[order]
        new = np.append(True, (np.diff(place) != 0) | (np.diff(wave) != 0))
        starts = np.flatnonzero(new)
        counts = np.diff(np.append(starts, len(place)))
        kept = np.stack([place[starts], wave[starts], self._epochs(wave[starts]), counts, zero[starts]])
        self._sums.setdefault((event.instruction.pc, event.space), _Sums()).add(kept)

    def _empty(self, event: AccessEvent, at: I64, group: I64) -> Flags:
        """Whether places hold 0 before the addition."""
        machine, out = self._machine, np.zeros(len(at), np.bool_)
        if event.space == "global":
            words = machine.memory.dwords
            inside = (at >= 0) & (at >> 2 < len(words))
            out[inside] = words[at[inside] >> 2] == 0
        elif event.space == "lds":
            rows = machine.lds
            inside = (at >= 0) & (at + 4 <= rows.shape[1])
            own = group[inside] - machine.first_workgroup
            words = rows.reshape(-1).view(np.uint32)
            out[inside] = words[own * (rows.shape[1] // 4) + (at[inside] >> 2)] == 0
        return out

    def merge(self, other: AtomicOrder) -> None:
        """Add the contributions of another part of the same launch."""
        for key, sums in other._sums.items():
            for row in sums.rows:
                self._sums.setdefault(key, _Sums()).add(row)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        found = [self._finding(pc, space, sums) for (pc, space), sums in sorted(self._sums.items())]
        return [one for one in found if one is not None]

    def _finding(self, pc: int, space: str, sums: _Sums) -> Finding | None:
        """A finding about the place with the most contributions to which waves add without an order."""
        place, wave, epoch, count, empty = np.concatenate(sums.rows, axis=1)
        order = np.argsort(place, kind="stable")
        place, wave, epoch, count, empty = (column[order] for column in (place, wave, epoch, count, empty))
        near = wave[1:] // self._per == wave[:-1] // self._per
        loose = (place[1:] == place[:-1]) & (wave[1:] != wave[:-1]) & ~(near & (epoch[1:] != epoch[:-1]))
        starts = np.flatnonzero(np.append(True, np.diff(place) != 0))
        total = np.add.reduceat(count, starts)
        open_ = np.add.reduceat(np.append(False, loose).astype(np.int64), starts) > 0
        terms = total + (empty[starts] == 0)
        chosen = np.flatnonzero(open_ & (terms > 2))
        if not len(chosen):
            return None
        best = int(chosen[total[chosen].argmax()])
        end = starts[best + 1] if best + 1 < len(starts) else len(place)
        waves = np.unique(wave[starts[best] : end])
        groups = np.unique(waves // self._per)
        dword = int(place[starts[best]])
        what = self._names.at(4 * dword) if space == "global" else self._names.lds(4 * (dword % self._lds))
        by = f"{len(waves)} waves" + (f" of {len(groups)} workgroups" if len(groups) > 1 else " of one workgroup")
        ins = self.kernel.code.instruction_at(pc, self.kernel.wave)
        how = "compare-and-swaps that add floats" if pc in self._swaps else "float atomics"
        more = f"; so are {len(chosen) - 1:,} further places" if len(chosen) > 1 else ""
        message = (
            f"{what} is a sum of {int(total[best]):,} {how} of {by}, in an order that no barrier fixes: its last bits "
            f"depend on that order unless every partial sum is exact{more}"
        )
        return self.finding(ATOMICS, message, pc, instruction=ins.name, count=len(chosen))
