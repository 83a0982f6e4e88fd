"""The cases of golden data as rows: which matrix instruction, on which architectures, in which formats."""

from __future__ import annotations

from dataclasses import dataclass

FAMILY_OF = {"gfx942": "CDNA3", "gfx950": "CDNA4"}

# The 8-bit formats an instruction named fp8 or bf8 reads (CDNA3 ISA manual 7.2, CDNA4 ISA manual 7.3).
EIGHT_BIT = {"gfx942": {"fp8": "e4m3fnuz", "bf8": "e5m2fnuz"}, "gfx950": {"fp8": "e4m3fn", "bf8": "e5m2"}}

DATA_CLASSES = ("integers", "normal", "bits", "cancel", "range", "special")


@dataclass(frozen=True)
class Case:
    """One matrix product D = A B from C = +0, as one wave computes it.

    Attributes:
        name: Name in ids and file names.
        arches: Architectures that have the instruction.
        a: Format of A, or fp8, bf8 for the architecture's own.
        b: Format of B, likewise.
        shape: M, N, K.
        kind: Key of the accumulation rule in `golden.reference.models.RULES`.
        block: Elements of K per E8M0 scale, None without scales.
    """

    name: str
    arches: tuple[str, ...]
    a: str
    b: str
    shape: tuple[int, int, int]
    kind: str
    block: int | None = None

    def formats(self, arch: str) -> tuple[str, str]:
        """Formats of A and B on an architecture."""
        own = EIGHT_BIT[arch]
        return own.get(self.a, self.a), own.get(self.b, self.b)

    @property
    def opsels(self) -> tuple[int, ...] | tuple[None]:
        """The bytes of a scale word that may hold the scale: all four, or none without scales."""
        return (None,) if self.block is None else (0, 1, 2, 3)


_BOTH = ("gfx942", "gfx950")

INTRO = (
    Case("f32_32x32x2",         _BOTH,       "f32",    "f32",    (32, 32, 2),  "f32"),
    Case("f16_16x16x16",        _BOTH,       "f16",    "f16",    (16, 16, 16), "16bit"),
    Case("fp8_fp8_32x32x16",    _BOTH,       "fp8",    "fp8",    (32, 32, 16), "8bit"),
    Case("fp8_bf8_32x32x16",    _BOTH,       "fp8",    "bf8",    (32, 32, 16), "8bit"),
    Case("bf8_fp8_32x32x16",    _BOTH,       "bf8",    "fp8",    (32, 32, 16), "8bit"),
    Case("bf8_bf8_32x32x16",    _BOTH,       "bf8",    "bf8",    (32, 32, 16), "8bit"),
    Case("scaled_fp8_32x32x64", ("gfx950",), "fp8",    "fp8",    (32, 32, 64), "f8f6f4", 32),
    Case("scaled_fp4_32x32x64", ("gfx950",), "e2m1fn", "e2m1fn", (32, 32, 64), "f8f6f4", 32),
)  # fmt: skip

FAMILIES = {"intro": INTRO}
