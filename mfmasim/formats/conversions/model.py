"""Types of conversion instructions: row, operands, modifiers, and mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.formats.modes import Overflow, Rounding

    Bits = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Mode:
    """The fields of the MODE register that conversions read.

    Source: CDNA4 ISA manual, 3.5; RDNA4 ISA manual, 3.4.
    """

    round_f32: int = 0
    """FP_ROUND[1:0]: 0 nearest even, 1 up, 2 down, 3 toward zero."""
    round_f16_f64: int = 0
    """FP_ROUND[3:2], the same codes."""
    denorm_f32: int = 3
    """FP_DENORM[1:0]: bit 0 allows input denormals, bit 1 output denormals."""
    denorm_f16_f64: int = 3
    """FP_DENORM[3:2], the same bits."""
    fp16_ovfl: bool = False
    """FP16_OVFL: finite values that overflow f16, FP8 or BF8 give the largest value."""
    dx10_clamp: bool = True
    """DX10_CLAMP: the output modifier ``clamp`` turns NaN into 0 (gfx12 always does)."""

    @classmethod
    def from_register(cls, bits: int) -> Mode:
        """Extract the fields of the 32-bit MODE register."""
        return cls(bits & 3, bits >> 2 & 3, bits >> 4 & 3, bits >> 6 & 3, bool(bits >> 23 & 1), bool(bits >> 8 & 1))


ROUNDINGS: tuple[Rounding, ...] = ("nearest_even", "up", "down", "toward_zero")


@dataclass(frozen=True)
class Modifiers:
    """Modifiers of one instruction, as encoded."""

    op_sel: int = 0
    """OPSEL[3:0]; bit 3 chooses the upper half of the destination."""
    byte_sel: int | None = None
    """Byte of the source or destination, where the instruction names it by number: SDWA's ``BYTE_n`` and ``WORD_n``
    (0 or 1 then), gfx12's ``byte_sel``. None: as ``op_sel`` says."""
    neg: int = 0
    """NEG, bit n negates source n (after ``abs``)."""
    abs: int = 0
    """ABS, bit n takes the magnitude of source n."""
    clamp: bool = False
    """CLAMP on a floating-point result: into 0 to 1."""


class Call(NamedTuple):
    """One execution, the argument of a row's function: checked operands, modifiers and mode."""

    arch: Arch
    sources: tuple[Bits, ...]
    old: Bits | None
    modifiers: Modifiers
    mode: Mode

    @property
    def small_overflow(self) -> Overflow:
        """Overflow of results in FP8 and BF8 (CDNA4 ISA manual, 7.3, rule of FP16_OVFL)."""
        if self.arch.conversions.infinity_stays:
            return self.half_overflow
        return "saturate" if self.mode.fp16_ovfl else "infinity_or_nan"

    @property
    def half_overflow(self) -> Overflow:
        """Overflow of results in f16: FP16_OVFL preserves true infinities."""
        return "saturate_finite" if self.mode.fp16_ovfl else "infinity_or_nan"

    @property
    def bf16_overflow(self) -> Overflow:
        """Overflow of results in bf16, which FP16_OVFL affects from gfx1250 on (CDNA5 ISA manual, 7.6)."""
        return self.half_overflow if self.arch.conversions.bf16_saturates else "infinity_or_nan"


@dataclass(frozen=True)
class Row:
    """One conversion instruction on the architectures that share its behaviour."""

    name: str
    """Mnemonic as LLVM spells it, without encoding suffix."""
    needs: str
    """The field of `mfmasim.architectures.Conversions` that an architecture with it has; empty for all."""
    sources: tuple[str, ...]
    """Operands: ``b32``, ``b64``, or ``b32xN`` for N consecutive registers."""
    result: str
    function: Callable[[Call], Bits]
    fidelity: str
    """``specified``: the manual defines the result of every number; ``assumed``: it leaves or contradicts some."""
    source: str
    keeps: bool = False
    """Whether bits of the destination stay as they were, so that ``old`` is needed."""
    op_sel: int = 0
    """Bits of ``op_sel`` that are defined."""
    floats: int = 0
    """Sources that take ``neg`` and ``abs``, one bit each."""
    clamp: bool = False
    """Whether ``clamp`` is defined."""
    clamp_acts: bool = True
    """Whether CLAMP, where it is accepted, has an effect."""
    selects: int = 0
    """Number of bytes or words that ``byte_sel`` can name, 0 where it cannot."""
    scale_bits: int = 0
    """Bits of a code, where the last source holds E8M0 scales of which ``scale_sel`` names one; else 0."""
    open: str = ""
    """Open questions of the sources, and the choice made here."""

    def on(self, arch: Arch) -> bool:
        """Whether the architecture has it."""
        return not self.needs or bool(getattr(arch.conversions, self.needs))

    @property
    def unit(self) -> str:
        """``vector`` or ``scalar``; empty of what only serves conversions (V_PRNG_B32)."""
        return {"v": "vector", "s": "scalar"}.get(self.name.partition("_cvt_")[0], "")

    @property
    def formats(self) -> tuple[str, str]:
        """Formats of a result and of a source element, which a mnemonic names last."""
        _, result, source = self.name.rsplit("_", 2)
        return result, source


def operand_shape(kind: str) -> tuple[np.dtype[Any], int]:
    """Element dtype and number of registers of an operand word; an element of ``b64`` spans two registers."""
    if kind == "b64":
        return np.dtype(np.uint64), 2
    return np.dtype(np.uint32), int(kind.partition("x")[2] or 1)


@dataclass(frozen=True)
class Conversion:
    """A conversion instruction of one architecture, ready to be called on arrays of register bits."""

    arch: Arch
    row: Row

    @property
    def name(self) -> str:
        """Mnemonic."""
        return self.row.name

    @property
    def fidelity(self) -> str:
        """How far the result can be trusted."""
        return self.row.fidelity

    def __call__(
        self, *sources: Bits, old: Bits | None = None, modifiers: Modifiers | None = None, mode: Mode | None = None
    ) -> Bits:
        """Convert.

        Args:
            *sources: raw register bits, one array per operand in the order of the manual. An operand of one register
                is uint32 of any shape; ``b32xN`` has a leading axis of N registers; ``b64`` is uint64. Shapes
                broadcast (behind that leading axis).
            old: the destination before the instruction, where the row ``keeps`` bits of it. A 16-bit result without
                ``old`` has zeros in its upper half.
            modifiers: default: none.
            mode: default: round to nearest even, denormals kept, FP16_OVFL off.

        Returns:
            Raw bits of the destination, shaped like an operand of the kind ``row.result``.

        Raises:
            MfmasimError: wrong number or dtype of operands, missing ``old``, or a modifier that this instruction does
                not define.
        """
        modifiers = modifiers or Modifiers()
        self._check(sources, old, modifiers)
        return self.row.function(Call(self.arch, sources, old, modifiers, mode or Mode()))

    def _check(self, sources: tuple[Bits, ...], old: Bits | None, modifiers: Modifiers) -> None:
        row = self.row
        if len(sources) != len(row.sources):
            raise MfmasimError(f"{row.name} has {len(row.sources)} sources, not {len(sources)}")
        for number, (bits, kind) in enumerate(zip(sources, row.sources, strict=True)):
            dtype, registers = operand_shape(kind)
            if bits.dtype != dtype:
                raise MfmasimError(f"source {number} of {row.name} must be {dtype}, not {bits.dtype}")
            if kind.startswith("b32x") and (bits.ndim == 0 or bits.shape[0] != registers):
                raise MfmasimError(
                    f"source {number} of {row.name} has {registers} registers on axis 0, not {bits.shape}"
                )
        if row.keeps and old is None:
            raise MfmasimError(f"{row.name} keeps bits of its destination: old= is missing")
        for what, given, allowed in (
            ("op_sel", modifiers.op_sel, row.op_sel),
            ("neg", modifiers.neg, row.floats),
            ("abs", modifiers.abs, row.floats),
            ("clamp", int(modifiers.clamp), int(row.clamp)),
        ):
            if given & ~allowed:
                raise MfmasimError(
                    f"{row.name} on {self.arch.name} does not define {what}={given:#x}; bits: {allowed:#x}"
                )
        if modifiers.byte_sel is not None and not 0 <= modifiers.byte_sel < row.selects:
            raise MfmasimError(
                f"{row.name} on {self.arch.name} does not define byte_sel={modifiers.byte_sel}; {row.selects} places"
            )
