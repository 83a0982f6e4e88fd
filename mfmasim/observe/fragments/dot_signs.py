"""mapping: elements of 8 or 16 bits that a dot product of integers reads with the wrong signedness.

The array of a register's elements is followed per wave: through loads, the LDS, and instructions that only
move bytes. Any other operation ends it: `x ^ 0x80` of a signed byte is an unsigned byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events import Observer
from mfmasim.observe.finding import Finding
from mfmasim.observe.tag_memory import TagMemory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mfmasim.arrays import I64
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.events import AccessEvent, BlockEvent
    from mfmasim.machine.launch.launch import Launch

DOTS = {
    "v_dot4_i32_i8": "i8", "v_dot4c_i32_i8": "i8", "v_dot4_u32_u8": "u8", "v_dot4_i32_iu8": "",
    "v_dot2_i32_i16": "i16", "v_dot2c_i32_i16": "i16", "v_dot2_u32_u16": "u16",
    "v_dot8_i32_i4": "i4", "v_dot8c_i32_i4": "i4", "v_dot8_u32_u4": "u4", "v_dot8_i32_iu4": "",
}  # fmt: skip
"""The format of both sources; empty if NEG selects the signedness of each source."""
MOVES = ("v_mov_b32", "v_dual_mov_b32", "v_perm_b32", "v_alignbyte_b32", "v_alignbit_b32", "v_cndmask_b32",
         "v_accvgpr_write_b32", "v_accvgpr_read_b32", "v_readfirstlane_b32", "v_readlane_b32", "s_mov_b32", "s_mov_b64",
         "ds_bpermute_b32", "ds_swizzle_b32")  # fmt: skip
"""Instructions whose results consist of bytes of their sources."""
DATA = ("vdata", "data", "data0", "data1")
"""Fields of the data of stores."""


def formats_read(dot: Instruction) -> tuple[str, str] | None:
    """The formats in which a dot product reads its two sources; None for any other instruction."""
    if dot.name not in DOTS:
        return None
    given = DOTS[dot.name]
    if given:
        return given, given
    bits, signs = (8 if dot.name.endswith("8") else 4), dot.modifiers.get("neg_lo", 0)
    first, second = (f"{'i' if signs >> place & 1 else 'u'}{bits}" for place in (0, 1))
    return first, second


def has_dots(instructions: Sequence[Instruction]) -> bool:
    """Whether a kernel has such dot products of integers."""
    return any(i.name in DOTS for i in instructions)


class DotSigns(Observer):
    """Follows arrays of integers to dot products, in each launch anew; findings are collected over all launches."""

    name = "mapping"

    def __init__(self, formats: Mapping[str, str]) -> None:
        """Follow arrays.

        Args:
            formats: of the arrays of integers, by argument, such as ``argument 0``.
        """
        self._formats = dict(formats)
        self.findings: list[Finding] = []
        self._judged: set[tuple[int, int, str]] = set()

    def on_start(self, launch: Launch) -> None:
        """Begin with registers and LDS that come from no array."""
        self._launch, self._kernel = launch, launch.kernel
        regions = [(r.address, r.address + r.size, r.name) for r in launch.memory.regions]
        self._arrays = [
            (first, end, place) for first, end, name in regions for place in self._formats if _is(name, place)
        ]
        self._waves = launch.waves_per_workgroup * launch.workgroups
        self._tags: dict[tuple[str, int], I64] = {}
        self._beside = TagMemory(launch)
        self._pending: dict[int, list[AccessEvent]] = {}
        self._first = self._total = 0

    def on_access(self, event: AccessEvent) -> None:
        """Keep an access until its block is complete."""
        self._pending.setdefault(event.instruction.pc, []).append(event)

    on_scalar = on_access

    def on_block(self, event: BlockEvent) -> None:
        """Replay a block in program order."""
        if event.fresh:
            self._first, self._total = self._first + self._total, event.total
        waves = self._first + np.asarray(event.waves)
        pending, self._pending = self._pending, {}
        for ins in event.instructions:
            if ins.pc in pending:
                self._accessed(ins, pending[ins.pc], waves)
                continue
            for part in ins.halves or (ins,):
                self._executed(part, waves, event)

    def _executed(self, ins: Instruction, waves: I64, event: BlockEvent) -> None:
        read = formats_read(ins)
        if read is not None:
            for place, (operand, form) in enumerate(zip(ins.src, read, strict=False)):
                self._judge(ins, place, operand, form, waves, event)
        if not self._tags:
            return
        moved = self._moved(ins, waves) if ins.name in MOVES else None
        for operand in ins.dst:
            for k in range(operand.count):
                self._put((operand.kind, operand.index + k), waves, moved)

    def _moved(self, ins: Instruction, waves: I64) -> I64 | None:
        """The array that all bytes of a result come from, by wave."""
        found: I64 | None = None
        for operand in ins.src:
            tags = self._tags.get((operand.kind, operand.index))
            if tags is not None:
                found = tags[waves] if found is None else np.where(found == tags[waves], found, 0)
        return found

    def _put(self, key: tuple[str, int], waves: I64, tags: I64 | None) -> None:
        if tags is None or not tags.any():
            if key in self._tags:
                self._tags[key][waves] = 0
            return
        if key not in self._tags:
            self._tags[key] = np.zeros(self._waves, np.int64)
        self._tags[key][waves] = tags

    def _accessed(self, ins: Instruction, events: Sequence[AccessEvent], waves: I64) -> None:
        """A memory instruction: loaded data comes from an array, data stored to the LDS keeps its array."""
        loaded = [tags for event in events if event.kind == "read" for tags in self._loaded(event)]
        registers = [(o.kind, o.index + k) for o in ins.dst for k in range(o.count)]
        for event in events:
            if event.kind == "write" and event.space != "global":
                self._store(ins, event, loaded)
        for number, key in enumerate(registers):
            self._put(key, waves, loaded[min(number, len(loaded) - 1)] if loaded else None)

    def _loaded(self, event: AccessEvent) -> list[I64]:
        """The number of the array (from 1) that each wave's first lane reads, by dword of a load; 0 for none."""
        shape = len(event.numbers), event.addresses.shape[-1]
        active = np.broadcast_to(np.True_ if event.active is None else event.active, shape)
        where = np.broadcast_to(event.addresses, shape).astype(np.int64)
        lane = active.argmax(axis=1)
        rows = np.arange(len(where))
        out = []
        for k in range(max(1, event.size // 4)):
            if event.space == "global":
                at, tags = where[rows, lane] + 4 * k, np.zeros(len(where), np.int64)
                for number, (first, end, _) in enumerate(self._arrays, 1):
                    tags[(at >= first) & (at < end) & active.any(axis=1)] = number
            else:
                tags = self._beside.load(event.space, event.numbers, where + 4 * k, active)[rows, lane]
            out.append(tags)
        return out

    def _store(self, ins: Instruction, event: AccessEvent, loaded: list[I64]) -> None:
        shape = len(event.numbers), event.addresses.shape[-1]
        active = np.broadcast_to(np.True_ if event.active is None else event.active, shape)
        where = np.broadcast_to(event.addresses, shape).astype(np.int64)
        data = [o for o in ins.src if o.field in DATA and o.kind in ("v", "a")]
        operand = data[min(event.part, len(data) - 1)] if data else None
        for k in range(max(1, event.size // 4)):
            tags: I64 | None = loaded[min(k, len(loaded) - 1)] if loaded else None
            if operand is not None:
                held = self._tags.get((operand.kind, operand.index + k))
                tags = None if held is None else held[event.numbers]
            given = np.zeros(shape, np.int64) if tags is None else np.broadcast_to(tags[:, None], shape)
            self._beside.store(event.space, event.numbers, where + 4 * k, active, given, clear=True)

    def _judge(self, ins: Instruction, place: int, operand: Operand, form: str, waves: I64, event: BlockEvent) -> None:
        """Compare the format of a source with the format of its array."""
        tags = self._tags.get((operand.kind, operand.index))
        if tags is None:
            return
        for number in np.unique(tags[waves]).tolist():
            if not number:
                continue
            array = self._arrays[number - 1][2]
            have = self._formats[array]
            key = (ins.pc, place, array)
            if have == form or have[1:] != form[1:] or key in self._judged:
                continue
            self._judged.add(key)
            row = int(np.flatnonzero(tags[waves] == number)[0])
            where = event.place(row, None)
            named = self._launch.names.buffer(next(r.name for r in self._launch.memory.regions if _is(r.name, array)))
            modifier = f", because its NEG_LO is {int(form[0] == 'i')}" if not DOTS[ins.name] else ""
            self.findings.append(
                Finding(
                    "mapping",
                    "error",
                    f"source {place} is read as {form}{modifier}, {named} holds {have}",
                    "mapping-wrong-format",
                    self._kernel.name,
                    ins.pc,
                    self._kernel.source_at(ins.pc),
                    where.workgroup,
                    where.wave,
                    register=f"{operand.kind}{operand.index}",
                    element=f"src{place}",
                    expected=have,
                    actual=form,
                    instruction=ins.name,
                )
            )


def _is(region: str, place: str) -> bool:
    """Whether a buffer's name is that of an argument."""
    return region == place or region.startswith(f"{place} ")
