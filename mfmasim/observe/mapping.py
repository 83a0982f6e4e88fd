"""mapping: does every slot of every matrix instruction hold the element it should, and does every result arrive?

The proof does not look at values. For each tile (one execution by one wave, one block of the instruction) the labels
of its slots say: row i of A's slots comes from one row of A, column j of B's from one column of B, the K of A's slot
is the K of B's, each element meets its own block's scale, the accumulator goes on from the tile before, and the
result ends where C[row, column] lies. Over the tiles that end in one output every K occurs once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.labels import CONSTANT_ZERO, POISON
from mfmasim.observe.slots import agreed, canonical_k, expected_line, ranges
from mfmasim.observe.tiles import Tile, last_of, tiles_of
from mfmasim.observe.wrong import Teller, Wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mfmasim.observe.arguments import Arguments
    from mfmasim.observe.finding import Finding
    from mfmasim.observe.trace import Tracer

    I64 = NDArray[np.int64]
    Bools = NDArray[np.bool_]

__all__ = ["MappingCheck", "MappingReport"]

BLOCK = 32
"""Elements of K that share a scale (OCP MX)."""


@dataclass
class MappingReport:
    """Result of the mapping check."""

    slots_checked: int = 0
    mismatches: int = 0
    findings: list[Finding] = field(default_factory=list)


class MappingCheck:
    """The analysis of one probe."""

    def __init__(
        self,
        tracer: Tracer,
        arguments: Arguments,
        outputs: I64 | None,
        kernel: str,
        source_at: Callable[[int], str],
        alternatives: Callable[[Any], Mapping[str, Any]],
    ) -> None:
        """Analyse what `tracer` recorded.

        Args:
            tracer: the recorded executions.
            arguments: the kernel's arguments and their labels.
            outputs: label of the result that every element of C holds, (M, N); None when there is no C to follow.
            kernel: name for findings.
            source_at: source line of an address.
            alternatives: other layouts of an operation's operands, by name, for naming patterns.
        """
        self.tracer, self.arguments, self.outputs = tracer, arguments, outputs
        self.teller = Teller(kernel, source_at, arguments, alternatives)
        self.report = MappingReport()
        self.source_at = source_at
        self.wrong: dict[tuple[str, str, str], Wrong] = {}
        self.places: Counter[tuple[str, str]] = Counter()
        """Places looked at, by source line and operand."""

    def run(self) -> MappingReport:
        """Do the analysis."""
        report, teller = self.report, self.teller
        if self.tracer.depends_on_data:
            text = "the sequence of matrix instructions depends on the data, so that elements cannot be traced"
            report.findings.append(teller.plain("error", text))
            return report
        for name in sorted(self.tracer.untraced):
            report.findings.append(teller.plain("warning", f"{name}: elements of sparse instructions are not traced"))
        if not self.tracer.executed:
            text = "no matrix instruction was executed, so there is no mapping to check"
            report.findings.append(teller.plain("error", text))
            return report
        tiles = [t for executed in self.tracer.executed for t in tiles_of(executed, self.tracer, self.arguments.labels)]
        self._check_formats()
        self._link(tiles)
        self._place_outputs(tiles)
        for tile in tiles:
            self._check_tile(tile)
        self._coverage(tiles)
        report.slots_checked = sum(self.places.values())
        for wrong in self.wrong.values():
            total = self.places[self._line(wrong.tile), wrong.operand]
            report.findings.append(teller.tell(wrong, total))
        report.findings.sort(key=lambda f: (f.severity != "error", f.pc or 0))
        return report

    # --- bookkeeping ----------------------------------------------------------------------------------------------

    def _line(self, tile: Tile) -> str:
        """Source line of a tile's instruction: the copies of an unrolled loop tell their findings together."""
        pc = tile.executed.event.instruction.pc
        return self.source_at(pc) or str(pc)

    def _looked(self, tile: Tile, operand: str, places: int) -> None:
        self.places[self._line(tile), operand] += places

    def _entry(self, tile: Tile, operand: str, message: str, severity: str = "error") -> Wrong:
        key = (self._line(tile), operand, message if severity == "error" else severity)
        return self.wrong.setdefault(key, Wrong(tile, operand, message, severity))

    def _add(self, wrong: Wrong, bad: Bools, needs: Callable[[int, int], tuple[int, ...]], labels: I64) -> None:
        for i, j in np.argwhere(bad):
            wrong.add((int(i), int(j)), needs(int(i), int(j)), int(labels[i, j]))
        self.report.mismatches += int(bad.sum())

    # --- formats, accumulators, outputs ---------------------------------------------------------------------------

    def _check_formats(self) -> None:
        """An operand read in another format than its argument has."""
        seen: set[int] = set()
        for executed in self.tracer.executed:
            ins, operation = executed.event.instruction, executed.event.operation
            if ins.pc in seen:
                continue
            seen.add(ins.pc)
            for role in ("A", "B"):
                if role not in self.arguments:
                    continue
                have, read = self.arguments.by_role[role].format, getattr(operation, role).format
                if have != read and {have, read} != {"f32", "xf32"}:
                    self.report.mismatches += 1
                    text = f"operand {role} is read as {read}, the argument holds {have}"
                    where = {"element": role, "expected": have, "actual": read}
                    self.report.findings.append(self.teller.finding("error", text, ins, **where))

    def _link(self, tiles: list[Tile]) -> None:
        """Follow accumulators: which tile's result is this tile's C?"""
        by_place = {(tile.wave, tile.order, tile.block): tile for tile in tiles}
        for tile in tiles:
            labels = tile.labels["C"]
            self._looked(tile, "C", labels.size)
            if not (labels > 0).any():
                if (labels == POISON).any():
                    wrong = self._entry(tile, "C", "the accumulator was never initialised")
                    self._add(wrong, labels != CONSTANT_ZERO, lambda *_: (), np.minimum(labels, 0))
                continue
            wave, order, slot = self.tracer.result_of(labels)
            cells = labels.size
            source = by_place.get((int(wave.flat[0]), int(order.flat[0]), int(slot.flat[0]) // cells))
            right = (labels > 0) & (slot == tile.block * cells + np.arange(cells).reshape(labels.shape))
            if source is not None:
                right &= (wave == source.wave) & (order == source.order)
                tile.previous, source.following = source, tile
            if not right.all():
                wrong = self._entry(tile, "C", "the accumulator does not go on from one result, place by place")
                self._add(wrong, ~right, lambda *_: (), np.minimum(labels, 0))

    def _place_outputs(self, tiles: list[Tile]) -> None:
        """Where each result was stored, and which elements of C got none."""
        if self.outputs is None:
            return
        by_place = {(tile.wave, tile.order, tile.block): tile for tile in tiles}
        for tile in tiles:
            operation = tile.executed.event.operation
            tile.stored = np.full((operation.m, operation.n, 2), -1, np.int64)
        wave, order, slot = self.tracer.result_of(self.outputs[self.outputs > 0])
        for (row, col), w, o, s in zip(np.argwhere(self.outputs > 0), wave, order, slot, strict=True):
            operation = by_place[int(w), int(o), 0].executed.event.operation
            block, cell = divmod(int(s), operation.m * operation.n)
            stored = by_place[int(w), int(o), block].stored
            if stored is not None:
                stored[cell // operation.n, cell % operation.n] = row, col
        self.places["", "outputs"] += self.outputs.size
        missing = np.argwhere(self.outputs <= 0)
        if not len(missing):
            return
        row, col = (int(x) for x in missing[0])
        text = f"{len(missing)} of {self.outputs.size} output elements hold no result of a matrix instruction"
        self.report.mismatches += len(missing)
        label = int(self.outputs[row, col])
        self.report.findings.append(
            self.teller.plain(
                "error", text, element=f"C[{row}, {col}]", expected="a result", count=len(missing),
                actual=self.arguments.describe(label) if label in (POISON, CONSTANT_ZERO) else "something else",
            )
        )  # fmt: skip

    # --- one tile -------------------------------------------------------------------------------------------------

    def _check_tile(self, tile: Tile) -> None:
        a = self.arguments.coordinates(tile.labels["A"], "A")
        b = self.arguments.coordinates(tile.labels["B"], "B")
        stored = last_of(tile).stored
        if stored is not None and not (stored >= 0).any():
            stored = None
        tile.rows = expected_line(a[..., 0], None if stored is None else stored[..., 0])
        tile.cols = expected_line(b[..., 1].T, None if stored is None else stored[..., 1].T)
        wrong_a, wrong_b = self._judge_k(tile, a, b)
        for operand, bad, needs in (
            ("A", wrong_a, lambda i, k: (int(tile.rows[i]), int(tile.ks[k]))),
            ("B", wrong_b, lambda k, j: (int(tile.ks[k]), int(tile.cols[j]))),
        ):
            self._looked(tile, operand, bad.size)
            if bad.any():
                self._add(
                    self._entry(tile, operand, "the slot holds another element"), bad, needs, tile.labels[operand]
                )
        if tile.following is None and stored is not None:
            self._check_stored(tile, stored)
        if tile.executed.event.operation.scale_A is not None and "scale_A" in self.arguments:
            self._check_scales(tile, "scale_A", a[..., 0], a[..., 1], wrong_a)
            self._check_scales(tile, "scale_B", b[..., 1].T, b[..., 0].T, wrong_b.T)

    def _judge_k(self, tile: Tile, a: I64, b: I64) -> tuple[Bools, Bools]:
        """Settle the tile's K and say which slots of A and B are wrong."""
        ka, kb = agreed(a[..., 1].T), agreed(b[..., 0])
        canonical = canonical_k(a[..., 1].T, b[..., 0])
        if ka is not None and kb is not None and (ka == kb).all():
            tile.ks = ka
            if (ka >= 0).all() and not (ka == canonical).all():
                self._permuted(tile, canonical)
        elif kb is not None and (ka is None or not (ka == canonical).all()):
            tile.ks = kb
        else:
            tile.ks = canonical if ka is None else ka
        zero_a, zero_b = tile.labels["A"] == CONSTANT_ZERO, tile.labels["B"] == CONSTANT_ZERO
        padded = zero_a.all(axis=0) & zero_b.all(axis=1)  # K beyond the matrix, padded with zeros
        tile.ks = np.where(padded, -1, tile.ks)
        wrong_a = (a[..., 0] != tile.rows[:, None]) | (a[..., 1] != tile.ks[None, :])
        wrong_b = (b[..., 1] != tile.cols[None, :]) | (b[..., 0] != tile.ks[:, None])
        # Rows and columns beyond the matrix: zeros whose results are stored nowhere.
        wrong_a &= ~padded[None, :] & ~((tile.rows < 0) & zero_a.all(axis=1))[:, None]
        wrong_b &= ~padded[:, None] & ~((tile.cols < 0) & zero_b.all(axis=0))[None, :]
        return wrong_a, wrong_b

    def _permuted(self, tile: Tile, canonical: I64) -> None:
        moved = np.flatnonzero(tile.ks != canonical)
        scaled = tile.executed.event.operation.scale_A is not None
        text = (
            f"K is permuted alike in A and B ({len(moved)} of {len(canonical)} positions; position {moved[0]} holds K "
            f"{tile.ks[moved[0]]}, not {canonical[moved[0]]}): the exact product is the same"
        )
        if scaled:
            text += ", but with block scales each element must meet its own"
        self._entry(tile, "K", text, "info")

    def _check_stored(self, tile: Tile, stored: I64) -> None:
        """Results stored where their row and column are not."""
        needed = np.stack(np.broadcast_arrays(tile.rows[:, None], tile.cols[None, :]), axis=-1)
        both = (stored >= 0).all(axis=-1) & (needed >= 0).all(axis=-1)
        elsewhere = both & (stored != needed).any(axis=-1)
        self._looked(tile, "D", stored[..., 0].size)
        if elsewhere.any():
            wrong = self._entry(tile, "D", "the result is stored at another element of C")
            written = stored[..., 0] << 32 | np.maximum(stored[..., 1], 0)
            self._add(wrong, elsewhere, lambda i, j: (int(needed[i, j, 0]), int(needed[i, j, 1])), written)

    # --- scales ---------------------------------------------------------------------------------------------------

    def _check_scales(self, tile: Tile, role: str, lines: I64, ks: I64, wrong: Bools) -> None:
        """Each element must meet the scale of its own row (or column), its own block of K, and the selected byte.

        `lines` and `ks` say which row (or column) and K the slots hold, shaped (rows or columns, k); slots whose
        element is wrong anyway are left out.
        """
        labels = tile.labels[role]
        held = self.arguments.coordinates(labels, role)
        if role == "scale_B":
            held = held[..., [1, 0, 2]]  # the argument is (block of K, column): turn to (column, block)
        byte = self.arguments.byte(role)
        self._looked(tile, role, labels.size)
        for line, block in np.ndindex(labels.shape):
            slots = slice(block * BLOCK, (block + 1) * BLOCK)
            use = ~wrong[line, slots] & (ks[line, slots] >= 0)
            if not use.any():
                continue
            needs = np.stack([lines[line, slots][use], ks[line, slots][use] // BLOCK], axis=-1)
            have = held[line, block]
            if not (needs == needs[0]).all():
                self._scale_mixed(tile, role, line, np.flatnonzero(use) + block * BLOCK, needs, have)
            elif (have[:2] != needs[0]).any() or have[2] != byte:
                entry = self._entry(tile, role, "the elements of this block of K meet another scale than theirs")
                entry.add((line, block), (int(needs[0, 0]), int(needs[0, 1]), byte), int(labels[line, block]))
                self.report.mismatches += 1

    def _scale_mixed(self, tile: Tile, role: str, line: int, slots: I64, needs: I64, have: I64) -> None:
        """Slots that share a scale hold elements of several blocks: those of the other blocks are astray."""
        operand = role[-1]
        astray = (needs != have[:2]).any(axis=-1)
        if not astray.any():
            return
        entry = self._entry(tile, operand, "elements of one block of K meet the scale of another block")
        labels = tile.labels[operand]
        for slot in slots[astray]:
            place = (line, int(slot)) if operand == "A" else (int(slot), line)
            # Any element of the block whose scale is met would do; name the one that keeps the position.
            k = int(have[1]) * BLOCK + int(slot) % BLOCK
            entry.add(place, (int(have[0]), k) if operand == "A" else (k, int(have[0])), int(labels[place]))
        self.report.mismatches += int(astray.sum())

    # --- the whole sum --------------------------------------------------------------------------------------------

    def _coverage(self, tiles: list[Tile]) -> None:
        """Over the tiles that end in one output, every K occurs exactly once."""
        if self.outputs is None or "A" not in self.arguments:
            return
        depth = self.arguments.shape("A")[1]
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
            parts = [f"K {ranges(missing)} of {depth} never multiplied"] if len(missing) else []
            parts += [f"K {ranges(twice)} multiplied more than once"] if len(twice) else []
            if parts:
                self.report.mismatches += 1
                self._entry(tile, "K", "; ".join(parts))
