"""mapping: does every slot of every matrix instruction hold the element it should, and does every result arrive?

The proof does not look at values. For each tile (one execution by one wave, one block of the instruction) the labels
of its slots say: row i of A's slots comes from one row of A, column j of B's from one column of B, the K of A's slot
is the K of B's, each element meets its own block's scale, the accumulator goes on from the tile before, and the
result ends where C[row, column] lies. Over the tiles that end in one output every K occurs once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.finding import Finding
from mfmasim.observe.labels import CONSTANT_ZERO, NOT_AN_ELEMENT, POISON, Alphabet, LabelSpace
from mfmasim.observe.patterns import explain
from mfmasim.observe.trace import REGISTERS, codes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mfmasim.observe.trace import Executed, Tracer

    I64 = NDArray[np.int64]

__all__ = ["MappingCheck", "MappingReport", "analyse"]

POISON_DWORD = np.uint32(0xA5A5A5A5)  # what the machine fills registers with before the first write
ROLE_SOURCE = {"A": 0, "B": 1, "C": 2, "scale_A": 3, "scale_B": 4}
BLOCK = 32
"""Elements of K that share a scale (OCP MX)."""


@dataclass
class MappingReport:
    """Result of the mapping check."""

    slots_checked: int = 0
    mismatches: int = 0
    findings: list[Finding] = field(default_factory=list)
    traced: bool = True
    """Whether results were followed to the outputs."""


@dataclass
class Tile:
    """One execution of a matrix instruction by one wave, one block of it; labels by operand."""

    executed: Executed
    index: int
    """Wave within the event."""
    block: int
    wave: int
    order: int
    labels: dict[str, I64]
    previous: Tile | None = None
    following: Tile | None = None
    stored: I64 | None = None
    """Output element of every slot, (m, n, 2), -1 where it was not stored."""
    rows: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    cols: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    ks: I64 = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass
class Wrong:
    """Wrong places of one operand of one instruction."""

    tile: Tile
    operand: str
    message: str
    slots: list[tuple[int, int]] = field(default_factory=list)
    needs: list[tuple[int, ...]] = field(default_factory=list)
    holds: list[int] = field(default_factory=list)
    severity: str = "error"


class MappingCheck:
    """The analysis of one probe."""

    def __init__(
        self,
        tracer: Tracer,
        inputs: LabelSpace,
        outputs: I64 | None,
        kernel: str,
        source_at: Callable[[int], str],
        formats: Mapping[str, str],
        scale_byte: Mapping[str, int],
        alternatives: Callable[[Any], Mapping[str, Any]],
    ) -> None:
        """Analyse what `tracer` recorded.

        Args:
            tracer: the recorded executions.
            inputs: labels of the arguments, blocks named A, B, C, scale_A, scale_B.
            outputs: label of the result that every output element holds, (M, N); None when there is no output to
                follow.
            kernel: name for findings.
            source_at: source line of an address.
            formats: number format of each argument.
            scale_byte: byte of the scale word that counts, by scale operand.
            alternatives: other layouts of an operation's operands, by name, for naming patterns.
        """
        self.tracer, self.inputs, self.outputs = tracer, inputs, outputs
        self.kernel, self.source_at = kernel, source_at
        self.formats, self.scale_byte, self.alternatives = formats, scale_byte, alternatives
        self.blocks = {block.name: block for block in inputs.blocks}
        self.report = MappingReport(traced=outputs is not None)
        self.wrong: dict[tuple[int, str, str], Wrong] = {}

    def run(self) -> MappingReport:
        """Do the analysis."""
        if self.tracer.depends_on_data:
            self._plain("error", "the sequence of matrix instructions depends on the data; the mapping is not traced")
            return self.report
        if not self.tracer.executed:
            self._plain("error", "no matrix instruction was executed, so there is no mapping to check")
            return self.report
        tiles = [tile for executed in self.tracer.executed for tile in self._tiles(executed)]
        self._check_formats()
        self._link(tiles)
        self._place_outputs(tiles)
        for tile in tiles:
            self._check_tile(tile)
        self._coverage(tiles)
        for wrong in self.wrong.values():
            self._emit(wrong)
        self.report.findings.sort(key=lambda f: (f.severity != "error", f.pc or 0))
        return self.report

    # --- labels ---------------------------------------------------------------------------------------------------

    def _tiles(self, executed: Executed) -> list[Tile]:
        event = executed.event
        labels: dict[str, I64] = {}
        for name, observed in executed.codes.items():
            fragment = getattr(event.operation, name)
            width = 8 if name.startswith("scale") else fragment.width
            space, alphabet = (
                (self.tracer.results, self.tracer.result_alphabet) if name == "C" else (self.inputs, Alphabet(width))
            )
            found = space.decode(observed, alphabet)
            registers = getattr(event, REGISTERS[name])
            untouched = codes_of(event, name, np.full_like(registers[:1], POISON_DWORD))
            same = np.logical_and.reduce([codes == untouched for codes in observed])
            labels[name] = np.where((found == NOT_AN_ELEMENT) & same, POISON, found)
        return [
            Tile(executed, w, b, int(event.waves[w]), int(executed.order[w]), {
                name: array[w, min(b, array.shape[1] - 1)] for name, array in labels.items()
            })
            for w in range(len(event.waves))
            for b in range(event.operation.blocks)
        ]  # fmt: skip

    def _coordinates(self, labels: I64, role: str) -> I64:
        """Coordinates of labels in a role's array, (..., dims); -1 where the label is not of that role."""
        block = self.blocks.get(role)
        dims = len(block.shape) if block else 2
        out = np.full((*labels.shape, dims), -1, np.int64)
        if block is None:
            return out
        offset = labels - block.first
        inside = (offset >= 0) & (offset < int(np.prod(block.shape)))
        where = np.unravel_index(np.where(inside, offset, 0), block.shape)
        for axis, values in enumerate(where):
            out[..., axis] = np.where(inside, values, -1)
        return out

    def _describe(self, label: int) -> str:
        if label == CONSTANT_ZERO:
            return "the constant 0"
        if label == POISON:
            return "poison (never written)"
        if label == NOT_AN_ELEMENT:
            return "no element (mixed, computed or constant)"
        block, place = self.inputs.block_of(label)
        return self._element(block.name, place)

    def _element(self, role: str, place: tuple[int, ...]) -> str:
        if role.startswith("scale") and len(place) == 3:
            byte = f" byte {place[2]}" if self.blocks[role].shape[2] > 1 else ""
            return f"{role}[{place[0]}, {place[1]}]{byte}"
        return f"{role}[{', '.join(map(str, place))}]"

    # --- structure ------------------------------------------------------------------------------------------------

    def _check_formats(self) -> None:
        """An operand read in another format than its argument has."""
        seen: set[int] = set()
        for executed in self.tracer.executed:
            ins, operation = executed.event.instruction, executed.event.operation
            if ins.pc in seen:
                continue
            seen.add(ins.pc)
            for role in ("A", "B"):
                have, read = self.formats.get(role), getattr(operation, role).format
                if have and have != read and {have, read} != {"f32", "xf32"}:
                    self.report.mismatches += 1
                    self._finding(
                        "error",
                        f"operand {role} is read as {read}, the argument holds {have}",
                        ins,
                        expected=have,
                        actual=read,
                        element=role,
                    )

    def _link(self, tiles: list[Tile]) -> None:
        """Follow accumulators: which tile's result is this tile's C?"""
        by_place = {(tile.wave, tile.order, tile.block): tile for tile in tiles}
        for tile in tiles:
            labels = tile.labels["C"]
            if not (labels > 0).any():
                self.report.slots_checked += labels.size
                bad = labels != CONSTANT_ZERO
                if bad.any() and (labels == POISON).any():
                    self._note(tile, "C", bad, "the accumulator was never initialised", labels)
                continue
            wave, order, slot = self.tracer.result_of(labels)
            cells = labels.size
            source = by_place.get((int(wave.flat[0]), int(order.flat[0]), int(slot.flat[0]) // cells))
            expected = tile.block * cells + np.arange(cells).reshape(labels.shape)
            right = (labels > 0) & (slot == expected)
            if source is not None:
                right &= (wave == source.wave) & (order == source.order)
                tile.previous, source.following = source, tile
            self.report.slots_checked += labels.size
            if not right.all():
                self._note(tile, "C", ~right, "the accumulator does not go on from one result, place by place", labels)

    def _place_outputs(self, tiles: list[Tile]) -> None:
        """Where each result was stored."""
        if self.outputs is None:
            return
        for tile in tiles:
            operation = tile.executed.event.operation
            tile.stored = np.full((operation.m, operation.n, 2), -1, np.int64)
        by_place = {(tile.wave, tile.order): tile for tile in tiles if tile.block == 0}
        blocks = {(tile.wave, tile.order, tile.block): tile for tile in tiles}
        held = np.argwhere(self.outputs > 0)
        wave, order, slot = self.tracer.result_of(self.outputs[self.outputs > 0])
        for (row, col), w, o, s in zip(held, wave, order, slot, strict=True):
            first = by_place[int(w), int(o)]
            operation = first.executed.event.operation
            block, cell = divmod(int(s), operation.m * operation.n)
            target = blocks[int(w), int(o), block].stored
            assert target is not None
            target[cell // operation.n, cell % operation.n] = row, col
        missing = np.argwhere(self.outputs <= 0)
        self.report.slots_checked += self.outputs.size
        if len(missing):
            row, col = (int(x) for x in missing[0])
            label = int(self.outputs[row, col])
            held_text = {POISON: "poison (never written)", CONSTANT_ZERO: "the constant 0"}.get(
                label, "something else than a result"
            )
            self.report.mismatches += len(missing)
            self._plain(
                "error",
                f"{len(missing)} of {self.outputs.size} output elements hold no result of a matrix instruction",
                element=f"C[{row}, {col}]",
                expected="a result",
                actual=held_text,
                count=len(missing),
            )

    def _check_tile(self, tile: Tile) -> None:
        operation = tile.executed.event.operation
        a, b = self._coordinates(tile.labels["A"], "A"), self._coordinates(tile.labels["B"], "B")
        last = tile
        while last.following is not None:
            last = last.following
        stored = last.stored if last.stored is not None and (last.stored >= 0).any() else None
        tile.rows = _expected(a[..., 0], None if stored is None else stored[..., 0], axis=1)
        tile.cols = _expected(b[..., 1].T, None if stored is None else stored[..., 1].T, axis=1)
        ka, kb = _agreed(a[..., 1].T), _agreed(b[..., 0])
        canonical = _canonical(a[..., 1].T, b[..., 0])
        wrong_a, wrong_b = self._judge_k(tile, ka, kb, canonical, a, b)
        self.report.slots_checked += a[..., 0].size + b[..., 0].size
        self._wrong_slots(tile, "A", wrong_a, lambda i, k: (int(tile.rows[i]), int(tile.ks[k])))
        self._wrong_slots(tile, "B", wrong_b, lambda k, j: (int(tile.ks[k]), int(tile.cols[j])))
        if tile.following is None and stored is not None:
            self._check_stored(tile, stored)
        if operation.scale_A is not None and "scale_A" in self.blocks:
            self._check_scales(tile, "scale_A", a[..., 0], a[..., 1], wrong_a)
            self._check_scales(tile, "scale_B", b[..., 1].T, b[..., 0].T, wrong_b.T)

    def _judge_k(
        self, tile: Tile, ka: I64 | None, kb: I64 | None, canonical: I64, a: I64, b: I64
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Settle the tile's K and say which slots of A and B are wrong."""
        if ka is not None and kb is not None and (ka == kb).all():
            tile.ks = ka
            if not (ka == canonical).all() and (ka >= 0).all() and (kb >= 0).all():
                self._permuted(tile, ka, canonical)
        elif kb is not None and (ka is None or not (ka == canonical).all()):
            tile.ks = kb
        elif ka is not None:
            tile.ks = ka
        else:
            tile.ks = canonical
        zero_a = (tile.labels["A"] == CONSTANT_ZERO).all(axis=0)  # K beyond the matrix, padded with zeros
        zero_b = (tile.labels["B"] == CONSTANT_ZERO).all(axis=1)
        padded = zero_a & zero_b
        tile.ks = np.where(padded, -1, tile.ks)
        wrong_a = (a[..., 0] != tile.rows[:, None]) | (a[..., 1] != tile.ks[None, :])
        wrong_b = (b[..., 1] != tile.cols[None, :]) | (b[..., 0] != tile.ks[:, None])
        wrong_a &= ~padded[None, :] & ~((tile.rows < 0) & (tile.labels["A"] == CONSTANT_ZERO).all(axis=1))[:, None]
        wrong_b &= ~padded[:, None] & ~((tile.cols < 0) & (tile.labels["B"] == CONSTANT_ZERO).all(axis=0))[None, :]
        return wrong_a, wrong_b

    def _permuted(self, tile: Tile, ks: I64, canonical: I64) -> None:
        key = (tile.executed.event.instruction.pc, "K", "permuted")
        if key in self.wrong:
            return
        place = int(np.flatnonzero(ks != canonical)[0])
        scaled = tile.executed.event.operation.scale_A is not None
        self.wrong[key] = Wrong(
            tile,
            "K",
            f"K is permuted alike in A and B ({int((ks != canonical).sum())} of {len(ks)} positions, first k {place} "
            f"holds K {int(ks[place])}): the product is the same"
            + ("; with block scales each element must still meet its own" if scaled else ""),
            severity="info",
        )

    def _check_stored(self, tile: Tile, stored: I64) -> None:
        """Results stored where their row and column are not."""
        needed = np.stack(np.broadcast_arrays(tile.rows[:, None], tile.cols[None, :]), axis=-1)
        elsewhere = (stored >= 0).all(axis=-1) & (needed >= 0).all(axis=-1) & (stored != needed).any(axis=-1)
        self.report.slots_checked += stored[..., 0].size
        if elsewhere.any():
            wrong = self._entry(tile, "D", "the result is stored at another element of C")
            for i, j in np.argwhere(elsewhere):
                wrong.slots.append((int(i), int(j)))
                wrong.needs.append((int(needed[i, j, 0]), int(needed[i, j, 1])))
                wrong.holds.append(int(stored[i, j, 0]) << 32 | int(stored[i, j, 1]))
            self.report.mismatches += int(elsewhere.sum())

    def _check_scales(self, tile: Tile, role: str, lines: I64, ks: I64, wrong: NDArray[np.bool_]) -> None:
        """Each element must meet the scale of its own row (or column), its own block of K, and the selected byte.

        `lines` and `ks` say which row (or column) and K the slots hold, shaped (rows or columns, k); slots whose
        element is wrong anyway are left out.
        """
        labels = tile.labels[role]  # (line, block of K) for both operands
        held = self._coordinates(labels, role)
        if role == "scale_B":
            held = held[..., [1, 0, 2]]  # the argument is (block of K, column): turn to (column, block)
        byte = self.scale_byte.get(role, 0)
        for line in range(labels.shape[0]):
            for block in range(labels.shape[1]):
                slots = slice(block * BLOCK, (block + 1) * BLOCK)
                use = ~wrong[line, slots] & (ks[line, slots] >= 0)
                self.report.slots_checked += 1
                if not use.any():
                    continue
                needs = np.stack([lines[line, slots][use], ks[line, slots][use] // BLOCK], axis=-1)
                have = held[line, block]
                alike = (needs == needs[0]).all()
                right = (have[:2] == needs[0]).all() and have[2] == byte
                if alike and right:
                    continue
                if alike:
                    self._scale_slot(tile, role, line, block, needs[0], int(labels[line, block]))
                else:
                    self._scale_mixed(tile, role, line, np.flatnonzero(use) + block * BLOCK, needs, have)

    def _scale_slot(self, tile: Tile, role: str, line: int, block: int, needs: I64, label: int) -> None:
        wrong = self._entry(tile, role, "the elements of this block of K meet another scale than theirs")
        wrong.slots.append((line, block))
        wrong.needs.append((int(needs[0]), int(needs[1]), self.scale_byte.get(role, 0)))
        wrong.holds.append(label)
        self.report.mismatches += 1

    def _scale_mixed(self, tile: Tile, role: str, line: int, slots: I64, needs: I64, have: I64) -> None:
        operand = role[-1]
        astray = (needs[:, 1] != have[1]) | (needs[:, 0] != have[0])
        if not astray.any():
            return
        wrong = self._entry(tile, operand, "elements of one block of K meet the scale of another block")
        labels = tile.labels[operand]
        for slot in slots[astray]:
            place = (line, int(slot)) if operand == "A" else (int(slot), line)
            wrong.slots.append(place)
            # Any element of the block whose scale is met would do; name the one that keeps the position.
            k = int(have[1]) * BLOCK + int(slot) % BLOCK
            wrong.needs.append((int(have[0]), k) if operand == "A" else (k, int(have[0])))
            wrong.holds.append(int(labels[place]))
        self.report.mismatches += int(astray.sum())

    def _coverage(self, tiles: list[Tile]) -> None:
        """Over the tiles that end in one output, every K occurs exactly once."""
        if self.outputs is None or "A" not in self.blocks:
            return
        depth = self.blocks["A"].shape[1]
        for tile in tiles:
            if tile.following is not None or tile.stored is None or not (tile.stored >= 0).any():
                continue
            ks: list[int] = []
            at: Tile | None = tile
            while at is not None:
                ks += [int(k) for k in at.ks if k >= 0]
                at = at.previous
            count = np.bincount(np.array(ks, np.int64), minlength=depth)
            missing, twice = np.flatnonzero(count == 0), np.flatnonzero(count > 1)
            if not len(missing) and not len(twice):
                continue
            parts = []
            if len(missing):
                parts.append(f"K {_ranges(missing)} of {depth} never multiplied")
            if len(twice):
                parts.append(f"K {_ranges(twice)} multiplied more than once")
            key = (tile.executed.event.instruction.pc, "K", "coverage")
            self.report.mismatches += 1
            if key not in self.wrong:
                self.wrong[key] = Wrong(tile, "K", "; ".join(parts))

    # --- findings -------------------------------------------------------------------------------------------------

    def _entry(self, tile: Tile, operand: str, message: str) -> Wrong:
        key = (tile.executed.event.instruction.pc, operand, message)
        return self.wrong.setdefault(key, Wrong(tile, operand, message))

    def _note(self, tile: Tile, operand: str, bad: NDArray[np.bool_], message: str, labels: I64) -> None:
        wrong = self._entry(tile, operand, message)
        for i, j in np.argwhere(bad):
            wrong.slots.append((int(i), int(j)))
            wrong.needs.append(())
            wrong.holds.append(min(int(labels[i, j]), 0))
        self.report.mismatches += int(bad.sum())

    def _wrong_slots(
        self, tile: Tile, role: str, bad: NDArray[np.bool_], needs: Callable[[int, int], tuple[int, int]]
    ) -> None:
        if not bad.any():
            return
        wrong = self._entry(tile, role, "the slot holds another element")
        labels = tile.labels[role]
        for i, j in np.argwhere(bad):
            wrong.slots.append((int(i), int(j)))
            wrong.needs.append(needs(int(i), int(j)))
            wrong.holds.append(int(labels[i, j]))
        self.report.mismatches += int(bad.sum())

    def _emit(self, wrong: Wrong) -> None:
        event = wrong.tile.executed.event
        if wrong.operand == "K":
            self._finding(wrong.severity, wrong.message, event.instruction, wrong.tile, element="K")
            return
        fragment = getattr(event.operation, wrong.operand)
        slot = wrong.slots[0]
        place = fragment.locate(*slot, wrong.tile.block)[0]
        operand = event.instruction.dst[0] if wrong.operand == "D" else (
            event.instruction.src[ROLE_SOURCE[wrong.operand]]
        )  # fmt: skip
        bit = place.bit + (8 * self._byte(wrong.operand, event.modifiers) if wrong.operand.startswith("scale") else 0)
        name = "the accumulator's own place" if not wrong.needs[0] else self._needed(wrong)
        message = f"{len(wrong.slots)} places: {wrong.message}"
        pattern = self._pattern(wrong)
        if pattern:
            message += f"; {pattern}"
        self._finding(
            wrong.severity,
            message,
            event.instruction,
            wrong.tile,
            lane=place.lane,
            register=_register(operand, place.vgpr, bit, fragment.width),
            element=f"{wrong.operand}[{slot[0]}, {slot[1]}]",
            expected=name,
            actual=self._held(wrong),
            count=len(wrong.slots),
        )

    @staticmethod
    def _byte(operand: str, modifiers: Mapping[str, int]) -> int:
        return int(modifiers.get(f"scale_{operand[-1].lower()}_byte", 0))

    def _needed(self, wrong: Wrong) -> str:
        if wrong.operand == "D":
            return f"C[{wrong.needs[0][0]}, {wrong.needs[0][1]}]"
        needs = wrong.needs[0]
        if wrong.operand == "scale_B":
            needs = (needs[1], needs[0], *needs[2:])
        return self._element(wrong.operand, needs)

    def _held(self, wrong: Wrong) -> str:
        if wrong.operand == "D":
            return f"C[{wrong.holds[0] >> 32}, {wrong.holds[0] & 0xFFFFFFFF}]"
        return self._describe(wrong.holds[0])

    def _pattern(self, wrong: Wrong) -> str:
        slots = np.array(wrong.slots, np.int64)
        if wrong.operand in ("A", "B"):
            holds = self._coordinates(np.array(wrong.holds, np.int64), wrong.operand)[..., :2]
            fragment = getattr(wrong.tile.executed.event.operation, wrong.operand)
            others = {}
            for name, other in self.alternatives(wrong.tile.executed.event.operation).items():
                guess = _as_other(fragment, getattr(other, wrong.operand), slots)
                if guess is not None:
                    others[name] = np.array(wrong.needs, np.int64) - slots + guess
            labels = np.array(wrong.holds)
            if (labels <= 0).all() and len(set(wrong.holds)) == 1:
                return f"all hold {self._describe(int(labels[0]))}"
            return explain(np.array(wrong.needs), holds, slots, others, 1 if wrong.operand == "A" else 0)
        if wrong.operand == "D":
            holds = np.array([(h >> 32, h & 0xFFFFFFFF) for h in wrong.holds])
            return explain(np.array(wrong.needs), holds, slots, {}, -1)
        if wrong.operand.startswith("scale"):
            held = self._coordinates(np.array(wrong.holds, np.int64), wrong.operand)
            bytes_held = set(held[:, 2].tolist())
            if held.min() >= 0 and len(bytes_held) == 1 and bytes_held != {self.scale_byte.get(wrong.operand, 0)}:
                return f"all hold byte {bytes_held.pop()} of the scale word"
        return ""

    def _finding(self, severity: str, message: str, ins: Any, tile: Tile | None = None, **where: Any) -> None:
        place = None if tile is None else tile.executed.event.place(tile.index, None)
        self.report.findings.append(
            Finding(
                check="mapping",
                severity=severity,
                message=message,
                kernel=self.kernel,
                pc=ins.pc,
                source=self.source_at(ins.pc),
                workgroup=None if place is None else place.workgroup,
                wave=None if place is None else place.wave,
                instruction=ins.name,
                **where,
            )
        )

    def _plain(self, severity: str, message: str, **where: Any) -> None:
        self.report.findings.append(Finding("mapping", severity, message, kernel=self.kernel, **where))


def analyse(*args: Any, **keywords: Any) -> MappingReport:
    """Run the mapping analysis; arguments as for `MappingCheck`."""
    return MappingCheck(*args, **keywords).run()


def _agreed(values: I64) -> I64 | None:
    """The value of each row of (n, m) when all m agree (ignoring non-elements, -1), else None."""
    highest = values.max(axis=1)
    agree = (values == highest[:, None]) | (values < 0)
    return highest if agree.all() else None


def _mode(values: I64) -> int:
    found = values[values >= 0] if (values >= 0).any() else values
    numbers, counts = np.unique(found, return_counts=True)
    return int(numbers[np.argmax(counts)])


def _expected(held: I64, stored: I64 | None, axis: int) -> I64:
    """Row (or column) of the product that each line of slots belongs to.

    `held` (lines, k) is where the operand's elements come from, `stored` (lines, n) where the results of the line
    went. Both agree in a right kernel; where they do not, the one that counts up from a base is believed.
    """
    mine = np.array([_mode(line) for line in held])
    if stored is None:
        return mine if _agreed(held) is not None else _counted(mine)
    theirs = np.array([_mode(line) for line in stored])
    if _agreed(held) is not None and not _counts_up(theirs) and _counts_up(mine):
        return mine
    if _agreed(stored) is None and (_agreed(held) is not None or _counts_up(mine)):
        return mine
    return theirs


def _counts_up(values: I64) -> bool:
    steps = values - np.arange(len(values))
    return bool((steps == steps[0]).all())


def _counted(values: I64) -> I64:
    steps = values - np.arange(len(values))
    return np.arange(len(values)) + _mode(steps)


def _canonical(ka: I64, kb: I64) -> I64:
    """K counting up with the slot, from the base that most slots of A and B agree on."""
    slot = np.arange(ka.shape[0])[:, None]
    steps = np.concatenate([(ka - slot)[ka >= 0], (kb - slot)[kb >= 0]])
    base = _mode(steps) if len(steps) else 0
    return np.arange(ka.shape[0]) + base


def _ranges(values: NDArray[Any]) -> str:
    """Numbers as ranges: 3, 16..31."""
    parts: list[str] = []
    start = last = int(values[0])
    for value in [*(int(v) for v in values[1:]), None]:
        if value is not None and value == last + 1:
            last = value
            continue
        parts.append(str(start) if start == last else f"{start}..{last}")
        if value is not None:
            start = last = value
    return ", ".join(parts[:4]) + (", ..." if len(parts) > 4 else "")


def _register(operand: Any, vgpr: int, bit: int, width: int) -> str:
    kind = operand.kind
    if kind not in "va":
        return operand.kind
    first = operand.index + vgpr
    if width == 64:
        return f"{kind}[{first}:{first + 1}]"
    if bit % 32 + width > 32:
        return f"{kind}[{first}:{first + 1}][{bit + width - 1}:{bit}]"
    return f"{kind}{first}[{bit + width - 1}:{bit}]"


def _as_other(fragment: Any, other: Any, slots: I64) -> I64 | None:
    """What the places of `slots` would hold if the lanes' elements were ordered as in another layout of the shape.

    The n-th element of a lane under one layout is compared with the n-th of the same lane under the other.
    """
    if (fragment.rows, fragment.cols, fragment.lanes) != (other.rows, other.cols, other.lanes):
        return None
    mine, theirs = fragment.table(), other.table()
    if len(mine) != len(theirs):
        return None
    order = ["lane", "vgpr", "bit"]
    a, b = np.sort(mine, order=order), np.sort(theirs, order=order)
    if (a["lane"] != b["lane"]).any():
        return None
    turned = {(int(x["row"]), int(x["col"])): (int(y["row"]), int(y["col"])) for x, y in zip(a, b, strict=True)}
    return np.array([turned[int(r), int(c)] for r, c in slots], np.int64)
