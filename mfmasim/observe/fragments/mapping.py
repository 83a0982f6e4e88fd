"""mapping: does every slot of every matrix instruction hold its element, and does every result reach C?

The proof does not depend on values. For each tile (one execution by one wave, one block of the instruction) the labels
of its slots show: each line of an operand's slots comes from one row of A or column of B, the K of a slot is the K of
the other factor's slot, each element is multiplied by its block's scale, the accumulator continues the previous
tile or starts from C, and the result is stored at C[row, column]. Over the tiles of one output every K
occurs once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe.fragments.factors import Factor, factors_of
from mfmasim.observe.fragments.labels import CONSTANT_ZERO, POISON
from mfmasim.observe.fragments.scales import check_scales
from mfmasim.observe.fragments.slots import agreed, canonical_k, counts_up, expected_line, ranges
from mfmasim.observe.fragments.sparse import check_index
from mfmasim.observe.fragments.tiles import Tile, last_of, tiles_of
from mfmasim.observe.fragments.trace import fragment_of
from mfmasim.observe.fragments.wrong import Reporter, Wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mfmasim.arrays import I64, Flags
    from mfmasim.matrix import MatrixInstruction
    from mfmasim.observe.finding import Finding
    from mfmasim.observe.fragments.arguments import Arguments
    from mfmasim.observe.fragments.trace import Tracer


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
        alternatives: Callable[[MatrixInstruction], Mapping[str, MatrixInstruction]],
    ) -> None:
        """Analyse what `tracer` recorded.

        Args:
            tracer: the recorded executions.
            arguments: the kernel's arguments and their labels.
            outputs: label of the result in every element of C, (M, N); None without a C to follow.
            kernel: name for findings.
            source_at: source line of an address.
            alternatives: other layouts of an operation's operands, by name, for naming patterns.
        """
        self.tracer, self.arguments, self.outputs = tracer, arguments, outputs
        self.reporter = Reporter(kernel, source_at, arguments, alternatives)
        self.report = MappingReport()
        self.tiles: list[Tile] = []
        """Executed tiles, after `run` has linked them."""
        self.source_at = source_at
        self._lines: dict[int, str] = {}
        """Source lines by address."""
        self.followed = False
        """Whether every element of C holds one result, so that a result that is not stored is unused."""
        self.fed: set[tuple[str, str]] = set()
        """Operands that hold elements at some place, by source line; other operands are computed."""
        self.judged: set[tuple[str, str]] = set()
        """Operands whose format was found wrong."""
        self.wrong: dict[tuple[str, str, str], Wrong] = {}
        self.places: Counter[tuple[str, str]] = Counter()
        """Places examined, by source line and operand."""

    def run(self) -> MappingReport:
        """Do the analysis."""
        report, reporter = self.report, self.reporter
        if self.tracer.depends_on_data:
            text = "the sequence of matrix instructions depends on the data, so elements cannot be traced"
            report.findings.append(reporter.plain("mapping-not-traced", "error", text))
            return report
        if not self.tracer.executed:
            text = "no matrix instruction was executed, so there is no mapping to check; if none is meant, trace=False"
            report.findings.append(reporter.plain("mapping-no-matrix", "info", text))
            return report
        inputs = self.arguments.labels
        tiles = self.tiles = [t for one in self.tracer.executed for t in tiles_of(one, self.tracer, inputs)]
        self._link(tiles)
        self._place_outputs(tiles)
        self.fed = {(self._line(t), o) for t in tiles for o in ("A", "B") if (t.labels[o] > 0).any()}
        unknown = {
            t.executed.event.operation.name for t in tiles if "index" in t.labels and "index" not in self.arguments
        }
        for name in sorted(unknown):
            text = f"{name}: no sparse(a, Index(...)) is declared, so its factors are not traced"
            report.findings.append(reporter.plain("mapping-not-followed", "warning", text))
        if not unknown:
            for tile in tiles:
                self._check_tile(tile)
            self._coverage(tiles)
        report.slots_checked = sum(self.places.values())
        for wrong in self.wrong.values():
            total = self.places[self._line(wrong.tile), wrong.operand]
            report.findings.append(reporter.places(wrong, total))
        report.findings.sort(key=lambda f: (f.severity != "error", f.pc or 0))
        return report

    # --- bookkeeping ----------------------------------------------------------------------------------------------

    def _line(self, tile: Tile) -> str:
        """Source line of a tile's instruction: the copies of an unrolled loop share their findings."""
        pc = tile.executed.event.instruction.pc
        line = self._lines.get(pc)
        if line is None:
            line = self._lines[pc] = self.source_at(pc) or str(pc)
        return line

    def _looked(self, tile: Tile, operand: str, places: int) -> None:
        self.places[self._line(tile), operand] += places

    def _entry(self, tile: Tile, operand: str, role: str, kind: str, message: str, severity: str = "error") -> Wrong:
        key = (self._line(tile), operand, message if severity == "error" else severity)
        return self.wrong.setdefault(key, Wrong(tile, operand, role, kind, message, severity))

    def _add(self, wrong: Wrong, bad: Flags, needs: Callable[[int, int], tuple[int, ...]], labels: I64) -> None:
        for i, j in np.argwhere(bad):
            wrong.add((int(i), int(j)), needs(int(i), int(j)), int(labels[i, j]))
        self.report.mismatches += int(bad.sum())

    # --- accumulators and outputs ---------------------------------------------------------------------------------

    def _link(self, tiles: list[Tile]) -> None:
        """Find for each tile the tile whose result, or the elements of C, it accumulates on."""
        by_place = {(tile.wave, tile.order, tile.block): tile for tile in tiles}
        for tile in tiles:
            labels = tile.labels["C"]
            self._looked(tile, "C", labels.size)
            results = self.tracer.is_result(labels)
            if not results.any():
                if (labels > 0).any():
                    tile.initial = self.tracer.element_of_c(labels)
                elif (labels == POISON).any():
                    text = "the accumulator was never initialised"
                    wrong = self._entry(tile, "C", "C", "mapping-accumulator", text)
                    self._add(wrong, labels != CONSTANT_ZERO, lambda *_: (), labels)
                continue
            wave, order, slot = self.tracer.result_of(np.where(results, labels, labels[results][0]))
            cells = labels.size
            source = by_place.get((int(wave.flat[0]), int(order.flat[0]), int(slot.flat[0]) // cells))
            right = results & (slot == tile.block * cells + np.arange(cells).reshape(labels.shape))
            if source is not None:
                right &= (wave == source.wave) & (order == source.order)
                tile.previous, source.following = source, tile
            if not right.all():
                text = "the accumulator does not continue one result, place by place"
                wrong = self._entry(tile, "C", "C", "mapping-accumulator", text)
                self._add(wrong, ~right, lambda *_: (), np.minimum(labels, 0))

    def _place_outputs(self, tiles: list[Tile]) -> None:
        """Find the output element of each result, and the elements of C without a result."""
        if self.outputs is None:
            return
        outputs = self.outputs
        waves, executions, places = self.tracer.size
        number = np.full((waves, executions, places), -1, np.int64)  # tile of each label of a result
        for index, tile in enumerate(tiles):
            operation = tile.executed.event.operation
            cells = operation.m * operation.n
            number[tile.wave, tile.order, tile.block * cells : (tile.block + 1) * cells] = index
        results = self.tracer.is_result(outputs)
        wave, order, slot = self.tracer.result_of(outputs[results])
        stored = np.full((len(tiles), places, 2), -1, np.int64)
        stored[number[wave, order, slot], slot] = np.argwhere(results)
        for tile, went in zip(tiles, stored, strict=True):
            operation = tile.executed.event.operation
            cells = operation.m * operation.n
            first = tile.block * cells
            tile.stored = went[first : first + cells].reshape(operation.m, operation.n, 2)
        self.places["", "outputs"] += outputs.size
        own = outputs == self.tracer.initial.numbers.astype(np.int64)
        self._tell_outputs(own | (outputs == POISON), "what C held before the launch (never written)")
        self._tell_outputs(outputs == CONSTANT_ZERO, "the constant 0")
        computed = int((~results & ~own & (outputs != POISON) & (outputs != CONSTANT_ZERO)).sum())
        self.followed = not computed
        if computed:
            text = (
                f"{computed} of {outputs.size} output elements are computed from matrix results (summed, scaled or "
                "otherwise), so results are not traced to them; operands are"
            )
            self.report.findings.append(self.reporter.plain("mapping-not-followed", "info", text, count=computed))

    def _tell_outputs(self, without: Flags, held: str) -> None:
        """A finding for the elements of C without a result."""
        if not without.any():
            return
        row, col = (int(x) for x in np.argwhere(without)[0])
        count = int(without.sum())
        self.report.mismatches += count
        text = f"{count} of {without.size} output elements hold no result of a matrix instruction"
        where = {"element": f"C[{row}, {col}]", "expected": "a result", "actual": held, "count": count}
        self.report.findings.append(self.reporter.plain("mapping-no-result", "error", text, **where))

    # --- one tile -------------------------------------------------------------------------------------------------

    def _check_tile(self, tile: Tile) -> None:
        stored = last_of(tile).stored
        if stored is not None and not self.followed and not (stored >= 0).any():
            stored = None
        factors = factors_of(tile, self.arguments)
        unused: dict[str, Flags] = {}
        for factor in factors:
            went = None if stored is None else factor.stored_line(stored)
            tile.lines[factor.operand] = expected_line(factor.lines, went)
            # Lines beyond the matrix may hold anything: their results are not stored.
            unused[factor.operand] = np.logical_and.reduce(factor.zero if went is None else went < 0, axis=1)
            self._check_format(tile, factor)
        self._judge_k(tile, *factors)
        self._check_padding(tile, factors, unused)
        for factor in factors:
            wrong = self._check_factor(tile, factor, unused[factor.operand])
            if f"scale_{factor.operand}" in tile.labels and f"scale_{factor.role}" in self.arguments:
                self._looked(tile, f"scale_{factor.operand}", tile.labels[f"scale_{factor.operand}"].size)
                self.report.mismatches += check_scales(tile, factor, wrong, self.arguments, self._entry)
        if "index" in tile.labels:
            self._looked(tile, "index", tile.labels["index"].size)
            self.report.mismatches += check_index(tile, unused["A"], self.arguments, self._entry)
        if factors[0].axis == 0:
            needed = np.stack(np.broadcast_arrays(tile.lines["A"][:, None], tile.lines["B"][None, :]), axis=-1)
        else:
            needed = np.stack(np.broadcast_arrays(tile.lines["B"][None, :], tile.lines["A"][:, None]), axis=-1)
        tile.elements = needed
        if tile.following is None and stored is not None:
            self._looked(tile, "D", stored[..., 0].size)
            self._check_places(tile, "D", "the result is stored at another element of C", needed, stored)
        if tile.initial is not None:
            self._check_places(tile, "C", "the accumulator starts from another element of C", needed, tile.initial)

    def _check_format(self, tile: Tile, factor: Factor) -> None:
        """An operand in another format than its argument; zeros beyond the edge are 0 in every format."""
        if factor.role not in self.arguments or factor.zero.all():
            return
        event = tile.executed.event
        ins = event.instruction
        have, read = self.arguments.by_role[factor.role].format, fragment_of(event, factor.operand).format
        key = (self._line(tile), factor.operand)
        if key in self.judged or have == read or {have, read} == {"f32", "xf32"}:
            return
        self.judged.add(key)
        self.report.mismatches += 1
        text = f"operand {factor.operand} is read as {read}, the argument {factor.role} holds {have}"
        where = {"element": factor.operand, "expected": have, "actual": read}
        self.report.findings.append(self.reporter.finding("mapping-wrong-format", "error", text, ins, tile, **where))

    def _depth(self) -> int:
        """K of the whole product."""
        return self.arguments.depth

    def _judge_k(self, tile: Tile, a: Factor, b: Factor) -> None:
        """Determine the K of each position of the summed index."""
        ka, kb = agreed(a.ks.T), agreed(b.ks.T)
        # The usual tile, with one run of K in both operands, needs no search.
        if ka is not None and kb is not None and (ka == kb).all() and ka[0] >= 0 and counts_up(ka):
            canonical = ka
        else:
            canonical = canonical_k(a.ks.T, b.ks.T)
        if ka is not None and kb is not None and (ka == kb).all():
            tile.ks = ka
            if (ka >= 0).all() and not (ka == canonical).all():
                self._permuted(tile, canonical)
        elif kb is not None and (ka is None or not (ka == canonical).all()) and not b.foreign:
            tile.ks = kb
        else:
            tile.ks = canonical if ka is None else ka
        # K beyond the matrix: one operand is padded with zeros, the other with zeros or any finite values.
        zero_a, zero_b = a.zero.all(axis=0), b.zero.all(axis=0)
        padded = (zero_a & zero_b) | ((zero_a | zero_b) & (canonical >= self._depth()))
        tile.ks = np.where(padded, -1, tile.ks)

    def _check_padding(self, tile: Tile, factors: tuple[Factor, Factor], unused: Mapping[str, Flags]) -> None:
        """Elements that are multiplied by zeros beyond the end of K: an infinity or a NaN among them gives a NaN."""
        for factor, other in (factors, factors[::-1]):
            if (self._line(tile), other.operand) not in self.fed or unused[other.operand].all():
                continue
            beyond = (tile.ks < 0) & (other.zero | unused[other.operand][:, None]).all(axis=0)
            bad = (factor.labels > 0) & beyond[None, :] & ~unused[factor.operand][:, None]
            if not bad.any() or not self.arguments.special(factor.role):
                continue
            text = f"beyond the end of K, operand {other.operand} is 0, but this one holds an element, maybe Inf or NaN"
            entry = self._entry(tile, factor.operand, factor.role, "mapping-stale-padding", text)
            entry.instead = "the constant 0"
            for line, k in np.argwhere(bad):
                entry.add(factor.slot(int(line), int(k)), (), int(factor.labels[line, k]))
            self.report.mismatches += int(bad.sum())

    def _permuted(self, tile: Tile, canonical: I64) -> None:
        moved = np.flatnonzero(tile.ks != canonical)
        scaled = tile.executed.event.operation.scale_A is not None
        text = (
            f"K is permuted identically in A and B ({len(moved)} of {len(canonical)} positions; position "
            f"{moved[0]} has K {tile.ks[moved[0]]}, not {canonical[moved[0]]}): the exact product is the same"
        )
        if scaled:
            text += ", but with block scales each element needs its own scale"
        self._entry(tile, "K", "K", "mapping-k-permuted", text, "info")

    def _check_factor(self, tile: Tile, factor: Factor, unused: Flags) -> Flags:
        """Slots (lines, k) of an operand with a wrong element."""
        if self.arguments.converted(factor.role):
            text = f"operand {factor.operand} is converted, so its elements are not traced"
            self._entry(tile, "K", "K", "mapping-not-followed", text, "info")
            return np.zeros(factor.labels.shape, np.bool_)
        lines, ks = tile.lines[factor.operand], tile.ks
        wrong: Flags = (factor.lines != lines[:, None]) | (factor.ks != ks[None, :])
        wrong &= (ks >= 0)[None, :] & ~unused[:, None] & factor.first[None, :]
        self._looked(tile, factor.operand, int((~unused).sum()) * int(factor.first.sum()))
        if wrong.any():
            text = "the slot holds another element"
            entry = self._entry(tile, factor.operand, factor.role, "mapping-wrong-element", text)
            for line, k in np.argwhere(wrong):
                needed = factor.element(int(lines[line]), int(ks[k]))
                entry.add(factor.slot(int(line), int(k)), needed, int(factor.labels[line, k]))
            self.report.mismatches += int(wrong.sum())
        self._check_copies(tile, factor, unused)
        return wrong

    def _check_copies(self, tile: Tile, factor: Factor, unused: Flags) -> None:
        """Check that further copies of an operand, which the hardware may read, equal the first copy."""
        for number, copy in enumerate(tile.copies.get(factor.operand, []), 1):
            labels = copy if factor.operand == "A" else copy.T
            differ = (labels != factor.labels) & (tile.ks >= 0)[None, :] & ~unused[:, None]
            if not differ.any():
                continue
            lanes = tile.executed.event.operation.wave // (1 + len(tile.copies[factor.operand]))
            text = f"the copy in lanes {lanes * number} to {lanes * (number + 1) - 1} differs"
            entry = self._entry(tile, factor.operand, factor.role, "mapping-copies-differ", text)
            entry.copy = number
            for line, k in np.argwhere(differ):
                needed = factor.element(int(tile.lines[factor.operand][line]), int(tile.ks[k]))
                entry.add(factor.slot(int(line), int(k)), needed, int(labels[line, k]))
            self.report.mismatches += int(differ.sum())

    def _check_places(self, tile: Tile, operand: str, message: str, needed: I64, held: I64) -> None:
        """Places of C where a result is stored, or an accumulator is loaded, outside its row and column."""
        both = (held >= 0).all(axis=-1) & (needed >= 0).all(axis=-1)
        elsewhere = both & (held != needed).any(axis=-1)
        if elsewhere.any():
            wrong = self._entry(tile, operand, "C", "mapping-wrong-output", message)
            packed = held[..., 0] << 32 | np.maximum(held[..., 1], 0)
            self._add(wrong, elsewhere, lambda i, j: (int(needed[i, j, 0]), int(needed[i, j, 1])), packed)

    # --- the whole sum --------------------------------------------------------------------------------------------

    def _coverage(self, tiles: list[Tile]) -> None:
        """Check that every K occurs exactly once over the tiles of one output."""
        if self.outputs is None or "A" not in self.arguments:
            return
        if self.arguments.converted("A") and self.arguments.converted("B"):
            return
        depth = self._depth()
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
                self._entry(tile, "K", "K", "mapping-wrong-sum", "; ".join(parts))
