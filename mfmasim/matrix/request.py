"""The request to a matrix instruction: its operands and modes, built once and passed down to the tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

F8F6F4 = ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")
"""Formats of the f8f6f4 instructions by their code in CBSZ (A) and BLGP (B); CDNA4 ISA manual 7.1.5."""

Memo = dict[Any, Any]
"""Results by what they are."""


@dataclass(frozen=True, eq=False)
class Operands:
    """The operands of one instruction, as matrices of raw codes or as registers; leading axes are a batch.

    Registers are uint32 (..., vgprs, lanes). The fields say what matrices are.
    """

    a: NDArray[Any]
    """(..., [blocks,] M, K); of a sparse A the K/2 kept elements."""
    b: NDArray[Any]
    """(..., [blocks,] K, N)."""
    c: NDArray[Any]
    """(..., [blocks,] M, N)."""
    scale_a: NDArray[Any] | None = None
    """Codes of scales (..., M, K/block); None is 2^0."""
    scale_b: NDArray[Any] | None = None
    """Codes of scales (..., N, K/block); None is 2^0."""
    index: NDArray[Any] | None = None
    """Position 0 to 3 of each kept element in its group of four, (..., M, K/2); None where A is dense."""
    memos: tuple[Memo, Memo] | None = None
    """What was computed from these very A and B, for further executions; whatever selects from them drops it."""

    @classmethod
    def of(cls, named: Mapping[str, NDArray[Any]]) -> Operands:
        """Operands by the names of their fragments: A, B, C, and scale_A, scale_B, index where there are any."""
        return cls(*map(named.get, _NAMES))  # type: ignore[arg-type]

    @property
    def scaled(self) -> bool:
        """Whether there are block scales."""
        return self.scale_a is not None or self.scale_b is not None

    def named(self) -> dict[str, NDArray[Any]]:
        """The operands that are given, by the names of their fragments."""
        every = (self.a, self.b, self.c, self.scale_a, self.scale_b, self.index)
        return {name: array for name, array in zip(_NAMES, every, strict=True) if array is not None}

    def map(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Operands:
        """Apply a function to every operand that is given."""
        every = (self.a, self.b, self.c, self.scale_a, self.scale_b, self.index)
        return Operands(*(None if array is None else function(array) for array in every))  # type: ignore[arg-type]

    def tiles(self, some: Any) -> Operands:
        """Some tiles of a batch (tiles, rows, columns), by any index of the first axis."""
        return self.map(lambda array: array[some])

    def rows(self, band: slice) -> Operands:
        """Some rows of A and C of tiles (tiles, rows, columns), with all of B."""
        scale_a = None if self.scale_a is None else self.scale_a[:, band]
        return Operands(self.a[:, band], self.b, self.c[:, band], scale_a, self.scale_b)


_NAMES = ("A", "B", "C", "scale_A", "scale_B", "index")


@dataclass(frozen=True)
class Modes:
    """Modifiers of one execution: fields of the instruction word, and bits of MODE.

    Every field defaults to the value it has when it is not written.
    """

    cbsz: int = 0
    """CBSZ: broadcast size of A's blocks. For f8f6f4 A's format code, which must agree with the format of A."""
    abid: int = 0
    """ABID: block of A that is broadcast, or the set of sparse indices (CDNA)."""
    blgp: int = 0
    """BLGP: lane-group permutation of B; bits that negate A, B and C (f64 on CDNA3 and later); B's format code
    (f8f6f4)."""
    op_sel: int = 0
    """OPSEL (RDNA): half of C and D, or the set of sparse indices."""
    neg: int = 0
    """NEG (RDNA): bit 0 A, bit 1 B (their low halves; for integers: signed), bit 2 C."""
    neg_hi: int = 0
    """NEG_HI (RDNA): bit 0 A, bit 1 B (their high halves), bit 2 the magnitude of C."""
    scale_a_byte: int = 0
    """Byte of A's scale register, {OP_SEL_HI[0], OP_SEL[0]} of the scale half."""
    scale_b_byte: int = 0
    """Byte of B's scale register, {OP_SEL_HI[1], OP_SEL[1]}."""
    scale_a_row: int = 0
    """CDNA5, MATRIX_A_SCALE: whether the scales of A's 16 rows lie in lanes 0 to 15 or in lanes 16 to 31."""
    scale_b_row: int = 0
    """CDNA5, MATRIX_B_SCALE: the same for B."""
    scale_a_format: int = 0
    """CDNA5, MATRIX_A_SCALE_FMT: format of A's scales (0 E8M0, 1 E5M3, 2 E4M3)."""
    scale_b_format: int = 0
    """CDNA5, MATRIX_B_SCALE_FMT: the same for B."""
    clamp: bool = False
    """The CLAMP bit."""
    fp16_ovfl: bool = False
    """MODE.FP16_OVFL."""
    denormals: bool = True
    """Whether MODE.denorm lets f32 denormals of A and B through."""


PLAIN = Modes()
"""No modifier, and MODE as at the start of a kernel."""


class Formats(NamedTuple):
    """Number formats of A and B, of C and D and of scales."""

    a: str
    b: str
    d: str
    """Format of D, and of C unless `c` names another."""
    c: str = ""
    scale_a: str = "e8m0fnu"
    scale_b: str = "e8m0fnu"
    block: int = 32
    """Elements along K that share a scale."""

    @property
    def addend(self) -> str:
        """Format of C."""
        return self.c or self.d

    @property
    def powers_of_two(self) -> bool:
        """Whether every scale is a power of two."""
        return self.scale_a == self.scale_b == "e8m0fnu"
