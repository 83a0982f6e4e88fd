"""A matrix instruction of one architecture: its shape, its operands, and its arithmetic on matrices and registers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.matrix.arithmetic import multiply
from mfmasim.matrix.fragment import Fragment
from mfmasim.matrix.models import Model, model_for
from mfmasim.matrix.modifiers import Modifiers, broadcast_block, negate_half, permute_lane, sign
from mfmasim.matrix.rules import RULES, SCALE_BLOCK, scale

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mfmasim.architectures import Arch
    from mfmasim.matrix.layout import Layout
    from mfmasim.matrix.rows import Row, Table

__all__ = ["MatrixInstruction"]

_BITS = {"f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16, "i4": 4, "u4": 4,
         "e2m3fn": 6, "e3m2fn": 6, "e2m1fn": 4}  # fmt: skip
_SCALE_SOURCE = "CDNA4 ISA manual 7.2.1 (one byte of 64 lanes); order of lanes from Triton and Composable Kernel"
_NONE = Modifiers()


@dataclass(frozen=True, eq=False)
class MatrixInstruction:
    """One matrix instruction, with the formats of A and B and the wave size settled.

    Attributes:
        arch: the architecture.
        name: LLVM's spelling on that architecture.
        wave: lanes of the wave.
        a: number format of A (``i8`` or ``u8``, ``i4`` or ``u4`` for integers).
        b: number format of B.
        row: the instruction's row.
        generation: the table the row stands in.
    """

    arch: Arch
    name: str
    wave: int
    a: str
    b: str
    row: Row
    generation: Table

    @property
    def kind(self) -> str:
        """``mfma``, ``mfma_scale``, ``smfmac``, ``wmma`` or ``swmmac``."""
        return self.row.kind

    @property
    def d(self) -> str:
        """Number format of C and D."""
        return self.row.d

    @property
    def m(self) -> int:
        """Rows of A and D of one block."""
        return self.row.m

    @property
    def n(self) -> int:
        """Columns of B and D of one block."""
        return self.row.n

    @property
    def k(self) -> int:
        """Summed index; for a sparse A its dense length."""
        return self.row.k

    @property
    def blocks(self) -> int:
        """Independent products side by side."""
        return self.row.blocks

    @property
    def sparse(self) -> bool:
        """Whether A is 4:2 structured sparse. C is then read from the registers of D."""
        return self.row.sparse

    @property
    def cycles(self) -> int:
        """Cycles the matrix core is busy."""
        eight = 8 in (_bits(self.a), _bits(self.b))
        return self.row.cycles if eight or not self.row.small_cycles else self.row.small_cycles

    @property
    def passes(self) -> int | None:
        """Passes of four cycles (CDNA), by which the manual counts wait states; None on RDNA."""
        return self.cycles // 4 if self.generation.ops_unit == "CU" else None

    @property
    def flops(self) -> int:
        """Operations of one instruction, a multiplication and an addition counting two; sparse K counts dense."""
        return 2 * self.m * self.n * self.k * self.blocks

    @property
    def ops_per_cycle(self) -> int:
        """Operations per cycle of a compute unit (CDNA) or work-group processor (RDNA): four SIMDs work at once."""
        return 4 * self.flops // self.cycles

    def peak(self, units: int, hertz: float) -> float:
        """Peak operations per second: ``ops_per_cycle`` times units (CU or WGP) times clock.

        Args:
            units: compute units (CDNA) or work-group processors (RDNA) of the product.
            hertz: clock in Hz.

        Returns:
            Operations per second.
        """
        return self.ops_per_cycle * units * hertz

    @cached_property
    def model(self) -> Model:
        """The accumulation model."""
        variant = self.row.suffix.removeprefix("_")
        return model_for(self.arch, self.kind, self.a, self.b, self.d, self.k, variant)

    @property
    def fidelity(self) -> str:
        """How far the arithmetic can be trusted: hardware, reference, specified or assumed."""
        return self.model.fidelity

    @property
    def evidence(self) -> str:
        """What supports the arithmetic."""
        return self.model.evidence

    @property
    def source(self) -> str:
        """Where the arithmetic is published."""
        return self.model.source

    @property
    def layout_source(self) -> str:
        """Where the layouts of the inputs are published, or how they were inferred."""
        inputs = [fragment for name, fragment in self.operands.items() if name not in {"C", "D"}]
        return "; ".join(dict.fromkeys(fragment.source for fragment in inputs))

    # Operands

    @cached_property
    def operands(self) -> dict[str, Fragment]:
        """Every operand by name, in the order A, B, C, D, scale_A, scale_B, index."""
        rule, row, wave = RULES[self.generation.rule], self.row, self.wave
        a_bits, b_bits, d_bits = _bits(self.a), _bits(self.b), _bits(self.d)
        dense_a = rule.input("i", row.m, row.k, row.blocks, wave, a_bits, sparse=row.sparse)
        layout_a = rule.kept(dense_a, wave, row.k) if row.sparse else dense_a
        layout_b = rule.input("j", row.n, row.k, row.blocks, wave, b_bits, sparse=row.sparse)
        layout_d = rule.output(row.m, row.n, row.blocks, wave, d_bits)
        length_a = row.k // 2 if row.sparse else row.k
        made = [
            self._fragment("A", self.a, row.m, length_a, ("i", "s" if row.sparse else "k"), layout_a),
            self._fragment("B", self.b, row.k, row.n, ("k", "j"), layout_b),
            self._fragment("C", self.d, row.m, row.n, ("i", "j"), layout_d),
            self._fragment("D", self.d, row.m, row.n, ("i", "j"), layout_d),
        ]
        if row.kind == "mfma_scale":
            groups = row.k // SCALE_BLOCK
            made += [
                self._fragment("scale_A", "e8m0fnu", row.m, groups, ("i", "g"), scale("i", row.m, row.k)),
                self._fragment("scale_B", "e8m0fnu", row.n, groups, ("j", "g"), scale("j", row.n, row.k)),
            ]
        if row.sparse:
            layout = replace(layout_a, width=2, stride=2)
            made.append(self._fragment("index", "index", row.m, length_a, ("i", "s"), layout))
        return {fragment.name: fragment for fragment in made}

    def _fragment(self, name: str, fmt: str, rows: int, cols: int, axes: tuple[str, str], layout: Layout) -> Fragment:
        own = self.row.source if isinstance(self.row.source, str) else self.row.source.get(layout.width, "")
        source = _SCALE_SOURCE if name.startswith("scale") else (own if name in "ABindex" else "")
        vgprs = -(-layout.items * layout.stride // 32)
        return Fragment(
            self.name, self.arch.name, name, fmt, rows, cols, self.blocks, axes, layout, self.wave, vgprs,
            source or self.generation.source,
        )  # fmt: skip

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
        """E8M0 scales of A: rows i, columns blocks of 32 k; None without block scales."""
        return self.operands.get("scale_A")

    @property
    def scale_B(self) -> Fragment | None:
        """E8M0 scales of B: rows j, columns blocks of 32 k; None without block scales."""
        return self.operands.get("scale_B")

    @property
    def index(self) -> Fragment | None:
        """2-bit positions of the kept elements: rows and columns as A; None where A is dense."""
        return self.operands.get("index")

    @property
    def index_sets(self) -> int:
        """Sets of indices that one register holds; ABID (CDNA) or OPSEL (RDNA) selects one. 0 where A is dense."""
        return 32 // (self.A.layout.items * 2) if self.sparse else 0

    @cached_property
    def _operand_cache(self) -> dict[tuple[str, Modifiers], Fragment]:
        return {}

    def operand(self, name: str, **modifiers: int) -> Fragment:
        """An operand as the instruction reads it under modifiers.

        Args:
            name: ``A``, ``B``, ``C``, ``D``, ``scale_A``, ``scale_B`` or ``index``.
            modifiers: fields of `Modifiers`: cbsz, abid, blgp, op_sel, neg, neg_hi, scale_a_byte, scale_b_byte.

        Returns:
            The fragment. Under CBSZ or BLGP several elements may share a place.

        Raises:
            MfmasimError: the instruction has no such operand, or a modifier is not legal.
        """
        if name not in self.operands:
            raise MfmasimError(f"{self.name} has no operand {name!r}; it has {', '.join(self.operands)}")
        return self._operand(name, self._modifiers(**modifiers))

    def _modifiers(self, **fields: int) -> Modifiers:
        made = Modifiers(**fields) if any(fields.values()) else _NONE
        if made is not _NONE:
            made.check(self.name, self.row, (self.a, self.b))
        return made

    def _operand(self, name: str, modifiers: Modifiers) -> Fragment:
        key = (name, modifiers)
        found = self._operand_cache.get(key)
        if found is None:
            found = self._operand_cache[key] = self._modified(self.operands[name], modifiers)
        return found

    def _modified(self, fragment: Fragment, modifiers: Modifiers) -> Fragment:
        words = self.row.modifiers.split()
        offset, origin = 0, None
        if fragment.name == "index":
            chosen = (0 if modifiers.cbsz & 3 else modifiers.abid) if "abid_index" in words else modifiers.op_sel
            offset = chosen % self.index_sets * (32 // self.index_sets)
        elif fragment.name.startswith("scale"):
            offset = 8 * (modifiers.scale_a_byte if fragment.name == "scale_A" else modifiers.scale_b_byte)
        elif fragment.name in "CD" and "op_sel_half" in words:
            offset = 16 * (modifiers.op_sel >> 2 & 1)
        elif fragment.name == "A" and "cbsz" in words and modifiers.cbsz:
            number = np.arange(fragment.blocks * fragment.rows * fragment.cols)
            size = fragment.rows * fragment.cols
            origin = broadcast_block(number // size, modifiers.cbsz, modifiers.abid) * size + number % size
        elif fragment.name == "B" and "blgp" in words and modifiers.blgp:
            table = fragment.table()
            item = table["vgpr"].astype(np.int64) * 32 + table["bit"]
            home = {
                place: number for number, place in enumerate(zip(table["lane"].tolist(), item.tolist(), strict=True))
            }
            lane = permute_lane(table["lane"].astype(np.int64), modifiers.blgp)
            origin = np.array([home[place] for place in zip(lane.tolist(), item.tolist(), strict=True)], np.intp)
        if not offset and origin is None:
            return fragment
        return replace(fragment, layout=fragment.layout.at(offset), origin=origin)

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
        fragment = self.operand(name)
        if name in {"C", "D"}:
            return fragment
        if self.kind == "mfma_scale":
            raise MfmasimError(f"block scales bind the numbers of k in {self.name}")
        old, new = self.B.layout, self.B.layout.contiguous("k")
        k = np.arange(self.k)
        unit = 2 if self.sparse else 1  # kept elements come in pairs, one pair for every four k
        half = {"s": k[: self.A.cols]} if self.sparse else {"k": k}
        letter = "s" if self.sparse else "k"
        mine, renamed = self.A.layout, self.A.layout.contiguous(letter)
        names_b = _renumbering(old, new, "k", {"k": k})
        names_a = _renumbering(mine, renamed, letter, half)
        if not np.array_equal(names_a[::unit] // unit, names_b[:: unit * unit] // (unit * unit)):
            raise MfmasimError(f"A and B of {self.name} have no common numbering of k with runs in every lane")
        return replace(fragment, layout=fragment.layout.contiguous("k" if name == "B" else letter))

    # Arithmetic

    def multiply(
        self,
        a: ArrayLike,
        b: ArrayLike,
        c: ArrayLike,
        scale_a: ArrayLike | None = None,
        scale_b: ArrayLike | None = None,
        index: ArrayLike | None = None,
        cbsz: int = 0,
        abid: int = 0,
        blgp: int = 0,
        clamp: bool = False,
        *,
        fp16_ovfl: bool = False,
        denormals: bool = True,
    ) -> NDArray[Any]:
        """Multiply and accumulate matrices: D = A * B + C, as the matrix core rounds it.

        Args:
            a: raw codes (..., [blocks,] M, K); a sparse A has K/2 columns, the kept elements.
            b: raw codes (..., [blocks,] K, N).
            c: raw codes (..., [blocks,] M, N).
            scale_a: E8M0 codes (..., M, K/32); None is 2^0.
            scale_b: E8M0 codes (..., N, K/32), or (..., K/32, N); None is 2^0.
            index: position 0..3 of each kept element in its group of four, (..., M, K/2).
            cbsz: broadcast size of A's blocks.
            abid: block that is broadcast.
            blgp: lane-group permutation of B; for f64 on CDNA3 and later, bits that negate A, B and C.
            clamp: the instruction's CLAMP bit.
            fp16_ovfl: MODE.FP16_OVFL.
            denormals: whether MODE.denorm lets f32 denormals of A and B through.

        Returns:
            Raw codes (..., [blocks,] M, N) in D's format. Leading axes broadcast.

        Raises:
            MfmasimError: wrong shape, type, operand or modifier.
        """
        fields = {} if self.sparse else {"cbsz": cbsz, "abid": abid}
        modifiers = self._modifiers(**fields, blgp=blgp)
        codes_a = _moved(self.A.check(a), self._operand("A", modifiers))
        codes_b = _moved(self.B.check(b), self._operand("B", modifiers))
        codes_c = self.C.check(c)
        scales = (self._scale(self.scale_A, scale_a, "scale_a"), self._scale(self.scale_B, scale_b, "scale_b"))
        if (index is None) == self.sparse:
            raise MfmasimError(f"{self.name} {'needs' if self.sparse else 'takes no'} index")
        kept = None if self.index is None or index is None else self.index.check(index)
        return self._multiply(codes_a, codes_b, codes_c, scales, kept, modifiers, (clamp, fp16_ovfl, denormals))

    def execute(
        self,
        a_regs: NDArray[np.uint32],
        b_regs: NDArray[np.uint32],
        c_regs: NDArray[np.uint32],
        scale_a: NDArray[np.uint32] | None = None,
        scale_b: NDArray[np.uint32] | None = None,
        index: NDArray[np.uint32] | None = None,
        cbsz: int = 0,
        abid: int = 0,
        blgp: int = 0,
        clamp: bool = False,
        op_sel: int = 0,
        neg: int = 0,
        neg_hi: int = 0,
        scale_a_byte: int = 0,
        scale_b_byte: int = 0,
        fp16_ovfl: bool = False,
        d_regs: NDArray[np.uint32] | None = None,
        denormals: bool = True,
    ) -> NDArray[np.uint32]:
        """Execute on registers, as the wave does; EXEC plays no part.

        Args:
            a_regs: uint32 (..., vgprs, lanes) of A. Registers beyond the operand's are ignored.
            b_regs: the same of B.
            c_regs: the same of C (of D's registers where A is sparse).
            scale_a: uint32 (..., 1, lanes), one byte of which scales A; None is 2^0.
            scale_b: the same for B.
            index: uint32 (..., 1, lanes) with the sparse indices.
            cbsz: CBSZ field. For f8f6f4 it is A's format code and must agree with the format chosen at `instruction`.
            abid: ABID field.
            blgp: BLGP field; for f8f6f4 B's format code.
            clamp: CLAMP bit.
            op_sel: OPSEL field (RDNA): half of C and D, or set of indices.
            neg: NEG field (RDNA): bit 0 A, bit 1 B (low halves; signed for integers), bit 2 C.
            neg_hi: NEG_HI field (RDNA): bit 0 A, bit 1 B (high halves), bit 2 the magnitude of C.
            scale_a_byte: byte of scale_a, {OP_SEL_HI[0], OP_SEL[0]} of the scale half.
            scale_b_byte: byte of scale_b, {OP_SEL_HI[1], OP_SEL[1]}.
            fp16_ovfl: MODE.FP16_OVFL.
            d_regs: what D's registers hold before, where D fills only halves of them (RDNA3's 16-bit results); None
                counts as 0.
            denormals: whether MODE.denorm lets f32 denormals of A and B through.

        Returns:
            uint32 (..., vgprs, lanes) of D. Leading axes broadcast.

        Raises:
            MfmasimError: wrong shape, type or modifier.
        """
        modifiers = self._modifiers(
            cbsz=cbsz, abid=abid, blgp=blgp, op_sel=op_sel, neg=neg, neg_hi=neg_hi,
            scale_a_byte=scale_a_byte, scale_b_byte=scale_b_byte,
        )  # fmt: skip
        if "neg" in self.row.modifiers.split():
            a_regs = negate_half(a_regs, bool(neg & 1), bool(neg_hi & 1))
            b_regs = negate_half(b_regs, bool(neg & 2), bool(neg_hi & 2))
        a = self._operand("A", modifiers).unpack(a_regs)
        b = self._operand("B", modifiers).unpack(b_regs)
        c = self._operand("C", modifiers).unpack(c_regs)
        scales = (
            None if scale_a is None else self._scale_operand("scale_A", modifiers).unpack(scale_a),
            None
            if scale_b is None
            else np.swapaxes(self._scale_operand("scale_B", modifiers).unpack(scale_b), -1, -2),
        )
        if (index is None) == self.sparse:
            raise MfmasimError(f"{self.name} {'needs' if self.sparse else 'takes no'} index register")
        kept = None if index is None else self._operand("index", modifiers).unpack(index)
        d = self._multiply(a, b, c, scales, kept, modifiers, (clamp, fp16_ovfl, denormals))
        target = self._operand("D", modifiers)
        packed = target.pack(d)
        return packed if d_regs is None or target.full else packed | (np.asarray(d_regs) & ~target.mask)

    def _scale_operand(self, name: str, modifiers: Modifiers) -> Fragment:
        if name not in self.operands:
            raise MfmasimError(f"{self.name} takes no {name}")
        return self._operand(name, modifiers)

    def _scale(self, fragment: Fragment | None, given: ArrayLike | None, name: str) -> NDArray[Any] | None:
        """Check logical scales; those of B come back as (..., K/32, N)."""
        if given is None:
            return None
        if fragment is None:
            raise MfmasimError(f"{self.name} takes no {name}")
        codes = np.asarray(given)
        if fragment.name == "scale_A":
            return fragment.check(codes)
        if codes.shape[-2:] == (fragment.cols, fragment.rows):
            codes = np.swapaxes(codes, -1, -2)
        return np.swapaxes(fragment.check(codes), -1, -2)

    def _multiply(
        self,
        a: NDArray[Any],
        b: NDArray[Any],
        c: NDArray[Any],
        scales: tuple[NDArray[Any] | None, NDArray[Any] | None],
        kept: NDArray[Any] | None,
        modifiers: Modifiers,
        mode: tuple[bool, bool, bool],
    ) -> NDArray[Any]:
        words = self.row.modifiers.split()
        a_format, b_format = self.a, self.b
        if "signed" in words:
            a_format = _signed(a_format, bool(modifiers.neg & 1))
            b_format = _signed(b_format, bool(modifiers.neg & 2))
        if "negate" in words:
            a, b, c = (
                sign(codes, negate=bool(modifiers.blgp & bit), absolute=False)
                for codes, bit in ((a, 1), (b, 2), (c, 4))
            )
        if "neg" in words or "neg_c" in words:
            c = sign(c, negate=bool(modifiers.neg & 4), absolute=bool(modifiers.neg_hi & 4))
        given = [a, b, c, *scales, kept]
        batch = np.broadcast_shapes(*(codes.shape[:-2] for codes in given if codes is not None))
        a, b, c = (np.broadcast_to(codes, (*batch, *codes.shape[-2:])) for codes in (a, b, c))
        scale_a, scale_b = self._both(scales, batch)
        selection = None
        if kept is not None:
            group = np.arange(self.k // 2) // 2 * 4
            selection = np.broadcast_to(group + kept, (*batch, self.m, self.k // 2))
        d: NDArray[Any] = multiply(
            self.model, a_format, b_format, self.d, a, b, c,
            scale_a=scale_a, scale_b=scale_b, selection=selection,
            clamp=mode[0], fp16_ovfl=mode[1], denormals=mode[2],
        )  # fmt: skip
        return d

    def _both(
        self, scales: tuple[NDArray[Any] | None, NDArray[Any] | None], batch: tuple[int, ...]
    ) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Both scales over the batch; one that is missing counts as 2^0, two as no scaling."""
        scale_a, scale_b = scales
        if scale_a is None and scale_b is None:
            return None, None
        one, groups = np.full((1, 1), 127, np.uint8), self.k // SCALE_BLOCK
        return (
            np.broadcast_to(one if scale_a is None else scale_a, (*batch, self.m, groups)),
            np.broadcast_to(one if scale_b is None else scale_b, (*batch, groups, self.n)),
        )

    def __repr__(self) -> str:
        formats = self.a if self.a == self.b else f"{self.a} x {self.b}"
        blocks = f" in {self.blocks} blocks" if self.blocks > 1 else ""
        return (
            f"<{self.name} on {self.arch.name}: {self.m}x{self.n}x{self.k}{blocks}, {formats} -> {self.d}, "
            f"wave{self.wave}, {self.cycles} cycles, arithmetic {self.fidelity}>"
        )


@lru_cache
def _bits(fmt: str) -> int:
    return _BITS.get(fmt, 8)


def _signed(fmt: str, bit: bool) -> str:
    return f"i{fmt[1:]}" if bit else fmt


def _renumbering(old: Layout, new: Layout, letter: str, numbers: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """New number of each old one: the one that the new layout puts at the same place."""

    def keys(layout: Layout) -> NDArray[np.int64]:
        zeros = {digit.coordinate: np.zeros_like(numbers[letter]) for digit in (*layout.lane, *layout.item)}
        lane, bit = layout.place({**zeros, **numbers})
        return lane << 32 | bit

    place = {key: number for number, key in enumerate(keys(new).tolist())}
    return np.array([place[key] for key in keys(old).tolist()])


def _moved(codes: NDArray[Any], fragment: Fragment) -> NDArray[Any]:
    """Matrix after broadcasting: each element replaced by the one its place is read from."""
    if fragment.origin is None:
        return codes
    size = len(fragment.shape)
    flat = codes.reshape(*codes.shape[: codes.ndim - size], -1)
    return np.take(flat, fragment.origin, axis=-1).reshape(codes.shape)
