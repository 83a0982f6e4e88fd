"""Operands of a matrix instruction: from its row to fragments, under modifiers and under another numbering of k."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError
from mfmasim.formats import FORMATS
from mfmasim.matrix.form import MatrixForm
from mfmasim.matrix.fragment import Fragment
from mfmasim.matrix.layout import Layout
from mfmasim.matrix.modifiers import broadcast_block, check, permute_lane, signed
from mfmasim.matrix.request import PLAIN, Modes
from mfmasim.matrix.rules import RULES

SMALL = {"f8f6f4", "f4"}
"""Words of inputs whose layout is that of CDNA5's block-scaled forms."""


class MatrixOperands(MatrixForm):
    """A matrix instruction with its operands, as fragments."""

    @property
    def layout_source(self) -> str:
        """Where the layouts of the inputs are published, or how they were inferred."""
        inputs = [fragment for name, fragment in self.operands.items() if name not in {"C", "D"}]
        return "; ".join(dict.fromkeys(fragment.source for fragment in inputs))

    @cached_property
    def operands(self) -> dict[str, Fragment]:
        """Every operand by name, in the order A, B, C, D, scale_A, scale_B, index."""
        return _build(self)

    @property
    def A(self) -> Fragment:
        """Operand A: rows i, columns k (kept elements where A is sparse)."""
        return self.operands["A"]

    @property
    def B(self) -> Fragment:
        """Operand B: rows k, columns j."""
        return self.operands["B"]

    @property
    def C(self) -> Fragment:
        """Operand C: rows i, columns j; for a sparse A it lies in the registers of D."""
        return self.operands["C"]

    @property
    def D(self) -> Fragment:
        """Result D: rows i, columns j."""
        return self.operands["D"]

    @property
    def scale_A(self) -> Fragment | None:
        """Scales of A: rows i, columns blocks of k that share one; None without block scales."""
        return self.operands.get("scale_A")

    @property
    def scale_B(self) -> Fragment | None:
        """Scales of B: rows j, columns blocks of k that share one; None without block scales."""
        return self.operands.get("scale_B")

    @property
    def index(self) -> Fragment | None:
        """2-bit positions of the kept elements: rows and columns as A; None where A is dense."""
        return self.operands.get("index")

    @property
    def index_sets(self) -> int:
        """Sets of indices that one register holds; ABID (CDNA) or OPSEL (RDNA) selects one. 0 where A is dense."""
        return max(1, 32 // (self.A.layout.items * 2)) if self.sparse else 0

    def operand(self, name: str, **modifiers: int) -> Fragment:
        """An operand as the instruction reads it under modifiers.

        Args:
            name: ``A``, ``B``, ``C``, ``D``, ``scale_A``, ``scale_B`` or ``index``.
            modifiers: fields of `mfmasim.matrix.request.Modes`.

        Returns:
            The fragment. Under CBSZ or BLGP several elements may share a place.

        Raises:
            MfmasimError: the instruction has no such operand, or a modifier is not legal.
        """
        if name not in self.operands:
            raise MfmasimError(f"{self.name} has no operand {name!r}; it has {', '.join(self.operands)}")
        return self.under(Modes(**modifiers))[name]  # type: ignore[arg-type]

    @cached_property
    def _under(self) -> dict[Modes, dict[str, Fragment]]:
        return {PLAIN: self.operands}

    def under(self, modes: Modes) -> dict[str, Fragment]:
        """Every operand as the instruction reads it under modes.

        Raises:
            MfmasimError: a modifier is not legal.
        """
        found = self._under.get(modes)
        if found is None:
            # Modes that only concern rounding move no element.
            moving = replace(modes, clamp=False, fp16_ovfl=False, denormals=True)
            if modes == moving:
                check(self, modes)
                found = {name: _under_modes(self, fragment, modes) for name, fragment in self.operands.items()}
            else:
                found = self.under(moving)
            self._under[modes] = found
        return found

    def contiguous(self, name: str) -> Fragment:
        """An operand with k numbered so that every lane holds a run of consecutive k, alike in A, B and index.

        The numbers of k are a convention: exact sums do not depend on them. `multiply` and `execute` use those of
        `operands`, because rounding depends on which k are summed together.

        Args:
            name: ``A``, ``B``, ``C``, ``D`` or ``index``.

        Returns:
            The fragment under the other numbering, which may be the one it has.

        Raises:
            MfmasimError: A and B would need different numbers, or scales bind the numbers of k.
        """
        return _contiguous(self, name)


def _build(op: MatrixForm) -> dict[str, Fragment]:
    """Every operand by name, in the order A, B, C, D, scale_A, scale_B, index."""
    rule, row, wave = RULES[op.generation.rule], op.row, op.wave
    kind = {"sparse": row.sparse, "small": row.a in SMALL}
    dense_a = rule.input("i", row.m, row.k, row.blocks, wave, FORMATS[op.a].bits, **kind)
    layout_a = rule.kept(dense_a, wave, row.k) if row.sparse else dense_a
    layout_b = rule.input("j", row.n, row.k, row.blocks, wave, FORMATS[op.b].bits, **kind)
    layout_c, layout_d = (rule.output(row.m, row.n, row.blocks, wave, FORMATS[name].bits) for name in (op.c, op.d))
    length_a, letter_a = (row.k // 2, "s") if row.sparse else (row.k, "k")
    #        name  format  rows   columns    axes             layout
    made = [
        ("A", op.a, row.m, length_a, ("i", letter_a), layout_a),
        ("B", op.b, row.k, row.n, ("k", "j"), layout_b),
        ("C", op.c, row.m, row.n, ("i", "j"), layout_c),
        ("D", op.d, row.m, row.n, ("i", "j"), layout_d),
    ]
    if row.scaled:
        groups, own = row.k // row.scale_block, op.generation.scale_formats[0]
        made += [
            ("scale_A", own, row.m, groups, ("i", "g"), rule.scale("i", row.m, row.k, row.scale_block)),
            ("scale_B", own, row.n, groups, ("j", "g"), rule.scale("j", row.n, row.k, row.scale_block)),
        ]
    if row.sparse:
        made.append(("index", "index", row.m, length_a, ("i", "s"), rule.indices(layout_a)))
    return {
        name: Fragment(
            op.name,
            op.arch.name,
            name,
            fmt,
            rows,
            cols,
            row.blocks,
            axes,
            layout,
            wave,
            vgprs=-(-layout.items * layout.stride // 32),
            source=_source(op, name, layout),
        )
        for name, fmt, rows, cols, axes, layout in made
    }


def _source(op: MatrixForm, name: str, layout: Layout) -> str:
    if name in {"scale_A", "scale_B"}:
        return op.generation.scale_source
    if name == "index" and op.generation.index_source:
        return op.generation.index_source
    own = op.row.source if isinstance(op.row.source, str) else op.row.source.get(layout.width, "")
    return own if own and name not in {"C", "D"} else op.generation.source


def _under_modes(op: MatrixOperands, fragment: Fragment, modes: Modes) -> Fragment:
    """The operand as the instruction reads it: another start bit or sign, or elements that other lanes hold.

    Args:
        op: the instruction.
        fragment: one of its operands.
        modes: modifiers that `mfmasim.matrix.modifiers.check` has passed.
    """
    words, name = op.row.words, fragment.name
    offset, first_lane, origin, form = 0, 0, None, fragment.format
    if name == "index":
        chosen = (0 if modes.cbsz & 3 else modes.abid) if "abid_index" in words else modes.op_sel
        offset = chosen % op.index_sets * (32 // op.index_sets)
    elif name in {"scale_A", "scale_B"}:
        byte, row, code = (getattr(modes, f"scale_{name[-1].lower()}_{what}") for what in ("byte", "row", "format"))
        offset, first_lane, form = 8 * byte, 16 * row, op.generation.scale_formats[code]
    elif name in {"C", "D"}:
        offset = 16 * (modes.op_sel >> 2 & 1) if "op_sel_half" in words else 0
    elif "signed" in words:
        form = signed(form, modes.neg & (1 if name == "A" else 2))
    elif name == "A" and "cbsz" in words and modes.cbsz:
        size = fragment.rows * fragment.cols
        number = np.arange(fragment.blocks * size)
        origin = broadcast_block(number // size, modes.cbsz, modes.abid) * size + number % size
    elif name == "B" and "blgp" in words and modes.blgp:
        table = fragment.table()
        lane, item = table["lane"].astype(np.int64), table["vgpr"].astype(np.int64) * 32 + table["bit"]
        home = {place: number for number, place in enumerate(zip(lane.tolist(), item.tolist(), strict=True))}
        read = permute_lane(lane, modes.blgp)
        origin = np.array([home[place] for place in zip(read.tolist(), item.tolist(), strict=True)], np.intp)
    if not offset and not first_lane and origin is None and form == fragment.format:
        return fragment
    return replace(fragment, format=form, layout=fragment.layout.at(offset, first_lane), origin=origin)


def _contiguous(op: MatrixOperands, name: str) -> Fragment:
    """The operand with k numbered so that every lane holds a run; see `MatrixOperands.contiguous`."""
    fragment = op.operand(name)
    if name in {"C", "D"}:
        return fragment
    if op.row.scaled:
        raise MfmasimError(f"block scales bind the numbers of k in {op.name}")
    letter, unit = ("s", 2) if op.sparse else ("k", 1)
    new_a = _renumbering(op.A.layout, letter, op.A.cols)
    new_b = _renumbering(op.B.layout, "k", op.k)
    # Kept elements come in pairs, one for every four k: compare the numbers of pairs with those of fours.
    if not np.array_equal(new_a[::unit] // unit, new_b[:: unit**2] // unit**2):
        raise MfmasimError(f"A and B of {op.name} have no common numbering of k with runs in every lane")
    return replace(fragment, layout=fragment.layout.contiguous("k" if name == "B" else letter))


def _renumbering(layout: Layout, letter: str, size: int) -> NDArray[np.int64]:
    """New number of each old one: the one that the contiguous layout puts at the same place."""

    def places(layout: Layout) -> list[int]:
        numbers = {digit.coordinate: np.zeros(size, np.int64) for digit in (*layout.lane, *layout.item)}
        lane, bit = layout.place({**numbers, letter: np.arange(size)})
        return [int(place) for place in lane << 32 | bit]

    new = {place: number for number, place in enumerate(places(layout.contiguous(letter)))}
    return np.array([new[place] for place in places(layout)])
