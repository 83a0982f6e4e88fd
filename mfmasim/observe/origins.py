"""numerics:origin: the birth of a NaN, an infinity or a saturated value in an output, and its way to the output.

Every dword of registers, the LDS, scratch and memory has a tag, 0 for most: the number of the birth of the
value in it, and of the way since, as a tree of instructions. A result that is NaN or infinite takes the tag of
a tagged operand, and is a birth without one; a NaN is a birth if no operand is NaN, as in Inf - Inf, and keeps the
operand's birth. Instructions that copy or pack bits copy tags; all other results clear them. Conversions that
saturate are births as well; their tags end at the first computation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events.fragment_values import matrix_operands
from mfmasim.observe.float_words import (
    EXPONENTS,
    WHOLE,
    deciding,
    given_by,
    operand_nan,
    operand_not_finite,
    text,
    words_nan,
    words_not_finite,
)
from mfmasim.observe.lanes import by_lane
from mfmasim.observe.tag_memory import TagMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32, Flags
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.events import AccessEvent, Place, ValueEvent
    from mfmasim.machine.launch.launch import Launch

    Tags = NDArray[np.int64]

PATHS = 1 << 20
"""Number of ways in a tag, whose bits are below those of births."""
MOST = 1 << 22
"""Most births that are recorded."""
LONGEST = 12
"""Most instructions of a way in a finding."""
DATA = ("vdata", "data", "data0", "data1")
"""Fields of the data of stores."""


@dataclass(frozen=True)
class Births:
    """The births of one execution of an instruction: consecutive numbers from `first` on."""

    first: int
    instruction: Instruction
    what: str
    rows: NDArray[np.int64]
    """Row of the event for each birth."""
    lanes: NDArray[np.int64]
    place: Callable[[int, int | None], Place]
    operands: list[tuple[Operand, U32]]
    """Each source with its dwords, (births, dwords)."""
    given: str = ""
    """The operand that already had such a value without a birth, from memory or a constant; or empty."""
    before: Tags | None = None
    """For each birth the tag of its operand of another kind; 0 for none."""


@dataclass(frozen=True)
class Origin:
    """The origin of the values of one buffer."""

    buffer: str
    element: str
    dwords: int
    birth: Births
    index: int
    way: tuple[Instruction, ...]
    places: int
    """Number of instructions with births of this buffer's values."""
    before: tuple[Births, int] | None = None
    """The birth of the infinite operand of a NaN."""


@dataclass
class Origins:
    """Follows tags through one launch."""

    launch: Launch
    _planes: dict[tuple[str, int], Tags] = field(default_factory=dict)
    """Tags of registers, (waves of the launch, lanes)."""
    _scalars: dict[int, U32] = field(default_factory=dict)
    """Values of scalar registers with tags, (waves of the launch,): another instruction may have overwritten them."""
    _beside: TagMemory = field(init=False)
    _births: list[Births] = field(default_factory=list)
    _count: int = 0
    _ways: list[tuple[int, Instruction | None]] = field(default_factory=lambda: [(0, None)])
    """Each way as the previous way and an instruction; 0 means none."""
    _steps: dict[tuple[int, int], int] = field(default_factory=dict)
    _read: tuple[int, list[Tags]] = (-1, [])
    """Tags that the load at an address has read."""

    def __post_init__(self) -> None:
        """Nothing is tagged."""
        self._beside = TagMemory(self.launch)

    # --- registers

    def _shape(self, lanes: int) -> tuple[int, int]:
        return self.launch.waves_per_workgroup * self.launch.workgroups, lanes

    def _tags(self, operand: Operand, number: int, waves: NDArray[np.int64], held: U32 | None = None) -> Tags | None:
        """Tags of a register of an operand, (waves, lanes), if it still has the value `held`; None without tags."""
        plane = self._planes.get((operand.kind, operand.index + number))
        if plane is None:
            return None
        rows: Tags = plane[waves]
        if operand.kind == "s" and held is not None:
            rows = np.where(self._scalars[operand.index + number][waves, None] == held, rows, 0)
        return rows if rows.any() else None

    def _put(self, operand: Operand, number: int, waves: NDArray[np.int64], tags: Tags | None, active: Flags) -> None:
        """Change the tags of a register in active lanes; None clears them."""
        key = operand.kind, operand.index + number
        plane = self._planes.get(key)
        if tags is None or not tags.any():
            if plane is not None:
                plane[waves] = np.where(active, 0, plane[waves])
            return
        if plane is None:
            plane = self._planes[key] = np.zeros(self._shape(self.launch.kernel.wave), np.int64)
        plane[waves] = np.where(active, tags, plane[waves])

    def _keep(self, operand: Operand, number: int, waves: NDArray[np.int64], held: U32) -> None:
        """Store the value of a scalar register with its tags."""
        key = operand.index + number
        if key not in self._scalars:
            self._scalars[key] = np.zeros(self._shape(1)[0], np.uint32)
        self._scalars[key][waves] = held[:, 0]

    # --- tags

    def _onward(self, tags: Tags, instruction: Instruction) -> Tags:
        """Tags with the same births, one instruction further on their ways."""
        found = np.unique(tags % PATHS)
        if not tags.any():
            return tags
        steps = np.array([self._step(int(way), instruction) for way in found], np.int64)
        moved: Tags = tags - tags % PATHS + steps[np.searchsorted(found, tags % PATHS)]
        return np.where(tags != 0, moved, 0)

    def _step(self, way: int, instruction: Instruction) -> int:
        """A way extended by an instruction; an instruction that the way has already closes a loop."""
        key = way, instruction.pc
        known = self._steps.get(key)
        if known is None:
            if any(one.pc == instruction.pc for one in self._way(way)) or len(self._ways) >= PATHS - 1:
                known = way
            else:
                self._ways.append((way, instruction))
                known = len(self._ways) - 1
            self._steps[key] = known
        return known

    def _way(self, number: int) -> tuple[Instruction, ...]:
        found = []
        while number:
            number, instruction = self._ways[number]
            if instruction is not None:
                found.append(instruction)
        return tuple(reversed(found))

    def _born(self, event: ValueEvent, where: Flags, what: str, given: str = "", before: Tags | None = None) -> Tags:
        """Tags of new births, (waves, lanes); `before` has the tags of their operands."""
        tags = np.zeros(where.shape, np.int64)
        rows, lanes = np.nonzero(where)
        if self._count + len(rows) > MOST or not len(rows):
            return tags
        operands = [
            (operand, np.stack([w[np.minimum(rows, len(w) - 1), np.minimum(lanes, w.shape[1] - 1)] for w in words], 1))
            for operand, words in zip(event.instruction.src, event.sources, strict=True)
            if words
        ]
        first = self._count + 1
        made_of = None if before is None else before[rows, lanes]
        self._births.append(Births(first, event.instruction, what, rows, lanes, event.place, operands, given, made_of))
        self._count += len(rows)
        way = self._step(0, event.instruction)
        tags[rows, lanes] = (first + np.arange(len(rows))) * PATHS + way
        return tags

    # --- instructions

    def on_value(self, event: ValueEvent, beyond: Flags | None) -> None:
        """An instruction was executed.

        Args:
            event: the instruction; any that writes vector registers.
            beyond: where a conversion saturated; None for other instructions.
        """
        instruction, opcode = event.instruction, event.instruction.opcode
        waves = event.numbers()
        shape = len(waves), self.launch.kernel.wave
        whole = opcode.matrix or scalar_result(instruction)
        active = np.ones(shape, np.bool_) if whole else np.broadcast_to(event.active(), shape)
        if opcode.memory:
            read = self._read[1] if self._read[0] == instruction.pc else []
            for operand in instruction.dst:
                for number in range(operand.count):
                    self._put(operand, number, waves, read[number] if number < len(read) else None, active)
            self._read = -1, []
            return
        sources = [
            (words[number], tags)
            for operand, words in deciding(event)
            if operand.kind in ("v", "a", "s")
            for number in range(len(words))
            if (tags := self._tags(operand, number, waves, words[number])) is not None
        ]
        for operand, words in zip(instruction.dst, event.results, strict=True):
            if operand.kind not in ("v", "a") and not scalar_result(instruction):
                continue
            for number, word in enumerate(words):
                made = self._made(event, operand, number, np.broadcast_to(word, shape), sources, active, waves)
                if operand.kind == "s":
                    self._keep(operand, number, waves, np.broadcast_to(word, shape))
                if beyond is not None and number == 0:
                    made = np.zeros(shape, np.int64) if made is None else made
                    fresh = np.broadcast_to(beyond, shape) & active & (made == 0)
                    made = made + self._born(event, fresh, "a saturated value")
                self._put(operand, number, waves, made, active)

    def _made(
        self,
        event: ValueEvent,
        operand: Operand,
        number: int,
        word: U32,
        sources: Sequence[tuple[U32, Tags]],
        active: Flags,
        waves: NDArray[np.int64],
    ) -> Tags | None:
        """Tags of one dword of a result."""
        instruction, opcode = event.instruction, event.instruction.opcode
        kind = operand.type
        if opcode.matrix:
            bad = words_not_finite(word, f"pk_{kind}" if kind in ("f16", "bf16") else kind)
            if not bad.any():
                return None
            tags = self._of_factors(event, number, waves)
        elif kind in WHOLE or kind not in (*EXPONENTS, "f64"):
            return self._onward(self._copied(instruction, word, sources), instruction) if sources else None
        else:
            high = event.results[0][number | 1] if kind == "f64" else word
            bad = words_not_finite(np.broadcast_to(high, word.shape), kind) & active
            if not bad.any():
                return None
            tags = np.zeros(word.shape, np.int64)
            for _, found in sources:
                tags = np.where(tags == 0, found, tags)
            if sources and not by_lane(instruction):
                tags = np.where(tags == 0, tags.max(axis=1, keepdims=True), tags)
        tags = np.where(bad, tags, 0)
        high, low = word, event.results[0][0]
        if kind == "f64":
            high = event.results[0][number | 1]
        elif opcode.matrix and kind in ("f16", "bf16"):
            kind = f"pk_{kind}"
        nan = words_nan(np.broadcast_to(high, word.shape), kind, low) & bad
        infinite, given = (np.zeros(bad.shape, np.bool_) for _ in range(2))
        for source, words in deciding(event):
            if words:
                infinite = infinite | operand_not_finite(source, words, matrix=bool(opcode.matrix))
                given = given | operand_nan(source, words, matrix=bool(opcode.matrix))
        before = np.where(nan & ~given, tags, 0)
        tags = np.where(before != 0, 0, tags)
        fresh = bad & (tags == 0)
        tags = self._onward(tags, instruction)
        for what, those, came in (("NaN", fresh & nan, given), ("Inf", fresh & ~nan, infinite)):
            if (made := those & ~came).any():
                tags = tags + self._born(event, made, what, before=before)
            if (held := those & came).any():
                tags = tags + self._born(event, held, what, given_by(event, nan=what == "NaN"))
        return tags

    @staticmethod
    def _copied(instruction: Instruction, word: U32, sources: Sequence[tuple[U32, Tags]]) -> Tags:
        """Tags of copied or packed values: of the operand with the same bits, else of any, or of the selected one."""
        tags = np.zeros(word.shape, np.int64)
        for bits, found in sources:
            tags = np.where((tags == 0) & (np.broadcast_to(bits, word.shape) == word), found, tags)
        if not by_lane(instruction) or instruction.opcode.access == "exchange":
            tags = np.zeros_like(tags)
            for bits, found in sources:
                for row in np.flatnonzero(found.any(axis=1)):
                    held = np.broadcast_to(bits, word.shape)[row]
                    for lane in np.flatnonzero(found[row]):
                        tags[row] = np.where((tags[row] == 0) & (word[row] == held[lane]), found[row, lane], tags[row])
            return tags
        if not instruction.opcode.selects:
            for _, found in sources:
                tags = np.where(tags == 0, found, tags)
        return tags

    def _of_factors(self, event: ValueEvent, number: int, waves: NDArray[np.int64]) -> Tags:
        """Tags for a dword of D: of C in the same place, of A in its row, of B in its column."""
        places = matrix_operands(event.instruction, self.launch.kernel.arch, self.launch.kernel.wave)
        fragment = places["D"][0]
        shape = len(waves), self.launch.kernel.wave
        tags = np.zeros(shape, np.int64)
        if "C" in places and places["C"][1].kind in ("v", "a"):
            own = self._tags(places["C"][1], number, waves)
            tags = tags if own is None else own.copy()
        table = fragment.table()
        table = table[table["vgpr"] == number]
        for name, axis in (("A", "row"), ("B", "col")):
            factor, operand = places[name]
            held = factor.table()
            best = np.zeros((len(waves), int(held["block"].max()) + 1, int(held[axis].max()) + 1), np.int64)
            for register in range(factor.vgprs):
                found = self._tags(operand, register, waves)
                if found is not None:
                    part = held[held["vgpr"] == register]
                    for wave in range(len(waves)):
                        np.maximum.at(best[wave], (part["block"], part[axis]), found[wave, part["lane"]])
            if best.any():
                block = np.minimum(table["block"], best.shape[1] - 1)
                taken = best[:, block, table[axis]]
                tags[:, table["lane"]] = np.where(tags[:, table["lane"]] == 0, taken, tags[:, table["lane"]])
        return tags

    # --- memory

    def on_access(self, event: AccessEvent) -> None:
        """Move tags between registers and memory."""
        instruction, waves = event.instruction, event.numbers
        shape = len(waves), self.launch.kernel.wave
        active = np.ones(shape, np.bool_) if event.active is None else np.broadcast_to(event.active, shape)
        where = np.broadcast_to(event.addresses, shape).astype(np.int64)
        dwords = max(1, event.size // 4)
        if event.kind == "read":
            tags = [
                self._onward(self._beside.load(event.space, waves, where + 4 * k, active), instruction)
                for k in range(dwords)
            ]
            self._read = (
                instruction.pc,
                [*self._read[1], *tags] if event.part and self._read[0] == instruction.pc else tags,
            )
            return
        data = [operand for operand in instruction.src if operand.field in DATA and operand.kind in ("v", "a")]
        moved: list[Tags | None]
        if not data:
            moved = list(self._read[1]) if self._read[0] == instruction.pc else []
        else:
            operand = data[min(event.part, len(data) - 1)]
            moved = [self._tags(operand, k, waves) for k in range(dwords)]
        for k in range(dwords):
            tags_of = moved[k] if k < len(moved) else None
            onward = np.zeros(shape, np.int64) if tags_of is None else self._onward(tags_of, instruction)
            self._beside.store(event.space, waves, where + 4 * k, active, onward, clear=event.kind == "write")

    # --- results

    def found(self) -> list[Origin]:
        """The origin of the first such value of each buffer."""
        if self._beside.memory is None:
            return []
        memory, names = self.launch.memory, self.launch.names
        found = []
        for region in memory.regions:
            start = region.address - memory.base
            tags = self._beside.memory[start >> 2 : (start + region.size + 3) >> 2]
            held = np.flatnonzero(tags)
            if len(held):
                births = [self._birth(int(tag)) for tag in np.unique(tags[held] // PATHS)[: 1 << 12] * PATHS]
                tag = int(tags[held[0]])
                birth, index = self._birth(tag)
                before = 0 if birth.before is None else int(birth.before[index])
                found.append(
                    Origin(
                        names.buffer(region.name),
                        names.at(start + 4 * int(held[0])),
                        len(held),
                        birth,
                        index,
                        self._way(tag % PATHS)[1:],
                        len({one.instruction.pc for one, _ in births}),
                        self._birth(before) if before else None,
                    )
                )
        return found

    def _birth(self, tag: int) -> tuple[Births, int]:
        number = tag // PATHS
        firsts = [one.first for one in self._births]
        births = self._births[int(np.searchsorted(firsts, number, side="right")) - 1]
        return births, number - births.first


def scalar_result(instruction: Instruction) -> bool:
    """Whether an instruction moves a lane's value to a scalar register, or computes a float there."""
    if not instruction.dst or instruction.dst[0].kind != "s":
        return False
    moves = instruction.opcode.lane in ("readlane", "readfirstlane") or instruction.opcode.moves_scalar
    return moves or (instruction.opcode.scalar and instruction.dst[0].type in EXPONENTS)


def described(origin: Origin, source_at: Callable[[int], str]) -> str:
    """An origin as text."""
    born = _birth_text(origin.birth, origin.index)
    if origin.before is not None:
        earlier = origin.before[0].instruction.pc
        born += f", and the {_birth_text(*origin.before)} ({source_at(earlier) or f'{earlier:#x}'})"
    steps = [f"{one.name} ({source_at(one.pc) or f'{one.pc:#x}'})" for one in origin.way]
    if len(steps) > LONGEST:
        steps = [*steps[: LONGEST // 2], f"{len(steps) - LONGEST} further", *steps[-LONGEST // 2 :]]
    way = f"; from there: {', '.join(steps)}" if steps else ""
    more = f" and {origin.dwords - 1} further dwords of {origin.buffer}" if origin.dwords > 1 else ""
    others = f"; their values come from {origin.places} instructions" if origin.places > 1 else ""
    return f"{born}; {origin.element}{more} hold it{way}{others}"


def _birth_text(birth: Births, index: int) -> str:
    """A birth as text: the value, the instruction and its operands."""
    held = [
        f"{operand.written[0]}{operand.written[1]} = {shown}" if operand.kind in ("v", "a") else shown
        for operand, words in birth.operands
        if operand.printed and (shown := text([int(w) for w in words[index]], operand.type))
    ]
    of = f" of {', '.join(held)}" if held and not birth.instruction.opcode.matrix else ""
    verb = f"comes in as {birth.given} of" if birth.given else "is made by"
    return f"{birth.what} {verb} {birth.instruction.name}{of}"
