"""The cases of golden data as rows: which matrix instruction, on which architectures, in which formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FAMILY_OF = {
    "gfx908": "CDNA1", "gfx90a": "CDNA2", "gfx942": "CDNA3", "gfx950": "CDNA4", "gfx1100": "RDNA3", "gfx1151": "RDNA3",
    "gfx1200": "RDNA4", "gfx1201": "RDNA4", "gfx1250": "CDNA5",
}  # fmt: skip

_FNUZ, _OCP = {"fp8": "e4m3fnuz", "bf8": "e5m2fnuz"}, {"fp8": "e4m3fn", "bf8": "e5m2"}
# The 8-bit formats an instruction named fp8 or bf8 reads (CDNA3 ISA manual 7.2, CDNA4 7.3, RDNA4 7.9, CDNA5 7.12).
EIGHT_BIT = {"gfx942": _FNUZ, "gfx950": _OCP, "gfx1200": _OCP, "gfx1201": _OCP, "gfx1250": _OCP}

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
        opsels: The bytes of a scale word that hold the scale in turn; a single None without scales.
        data: Data classes.
    """

    name: str
    arches: tuple[str, ...]
    a: str
    b: str
    shape: tuple[int, int, int]
    kind: str
    block: int | None = None
    opsels: tuple[int, ...] | tuple[None] = (None,)
    data: tuple[str, ...] = DATA_CLASSES

    def formats(self, arch: str) -> tuple[str, str]:
        """Formats of A and B on an architecture."""
        own = EIGHT_BIT.get(arch, {})
        return own.get(self.a, self.a), own.get(self.b, self.b)


_BOTH = ("gfx942", "gfx950")

INTRO = (
    Case("f32_32x32x2", _BOTH, "f32", "f32", (32, 32, 2), "f32"),
    Case("f16_16x16x16", _BOTH, "f16", "f16", (16, 16, 16), "16bit"),
    Case("fp8_fp8_32x32x16", _BOTH, "fp8", "fp8", (32, 32, 16), "8bit"),
    Case("fp8_bf8_32x32x16", _BOTH, "fp8", "bf8", (32, 32, 16), "8bit"),
    Case("bf8_fp8_32x32x16", _BOTH, "bf8", "fp8", (32, 32, 16), "8bit"),
    Case("bf8_bf8_32x32x16", _BOTH, "bf8", "bf8", (32, 32, 16), "8bit"),
    Case("scaled_fp8_32x32x64", ("gfx950",), "fp8", "fp8", (32, 32, 64), "f8f6f4", 32, (0, 1, 2, 3)),
    Case("scaled_fp4_32x32x64", ("gfx950",), "e2m1fn", "e2m1fn", (32, 32, 64), "f8f6f4", 32, (0, 1, 2, 3)),
)

_TELLING = ("integers", "bits", "cancel", "range")
_RDNA3, _RDNA4, _WIDE = ("gfx1100", "gfx1151"), ("gfx1200", "gfx1201"), ("gfx950", "gfx1250")
_SMALL = ("e2m3fn", "e3m2fn", "e2m1fn")
_EIGHT = [(a, b) for a in ("fp8", "bf8") for b in ("fp8", "bf8")]


def _one(name: str, arches: tuple[str, ...], a: str, b: str, k: int, kind: str, **scales: Any) -> Case:
    return Case(f"{name}_16x16x{k}", arches, a, b, (16, 16, k), kind, data=_TELLING, **scales)


def _many() -> Iterator[Case]:
    """One instruction for each set of types of each architecture, 16 x 16 in M and N."""
    yield _one("f32", ("gfx908", "gfx90a", *_BOTH, "gfx1250"), "f32", "f32", 4, "f32")
    yield _one("xf32", ("gfx942",), "f32", "f32", 8, "xf32")
    yield _one("f16", ("gfx908", "gfx90a", *_RDNA3, *_RDNA4), "f16", "f16", 16, "16bit")
    yield _one("f16", _WIDE, "f16", "f16", 32, "16bit")
    yield _one("bf16", ("gfx908", "gfx90a"), "bf16", "bf16", 8, "bf16")
    yield _one("bf16", ("gfx90a", *_BOTH, *_RDNA4), "bf16", "bf16", 16, "16bit")
    yield _one("bf16", _RDNA3, "bf16", "bf16", 16, "bf16")
    yield _one("bf16", _WIDE, "bf16", "bf16", 32, "16bit")
    for a, b in _EIGHT:
        yield _one(f"{a}_{b}", _RDNA4, a, b, 16, "8bit")
        yield _one(f"{a}_{b}", _BOTH, a, b, 32, "8bit")
        yield _one(f"{a}_{b}", ("gfx1250",), a, b, 64, "8bit")
    pairs = [*_EIGHT, *((name, name) for name in _SMALL), ("fp8", "e2m1fn"), ("e3m2fn", "bf8")]
    for a, b in pairs:
        yield _one(f"{a}_{b}", _WIDE, a, b, 128, "f8f6f4")
        yield _one(f"scaled_{a}_{b}", _WIDE, a, b, 128, "f8f6f4", block=32, opsels=(0,))
    fp4, shape = ("e2m1fn", "e2m1fn"), (32, 16, 128)
    yield Case("e2m1fn_e2m1fn_32x16x128", ("gfx1250",), *fp4, shape, "f4", data=_TELLING)
    yield Case("scaled_e2m1fn_e2m1fn_32x16x128", ("gfx1250",), *fp4, shape, "f4", 32, (0,), _TELLING)


MATRIX = tuple(_many())

FAMILIES = {"intro": INTRO, "matrix": MATRIX}
