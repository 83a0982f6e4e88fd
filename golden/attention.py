"""Attention forward, O = softmax(Q K^T / sqrt(D)) V, to 60 digits and rounded to f32 once; in FP8 with scales.

Scores are exact integers times a power of two; exponentials are Python's Decimal's, which are correctly rounded. A
kernel rounds on its way: it is compared within a bound that it has to state. Entries hold for every architecture.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from golden.inputs import CLASSES, Draws
from golden.reference.formats import FORMATS, decode_all, encode_finite
from golden.reference.terms import signed
from golden.storage import npz_bytes, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golden.reference.formats import Codes, Number

QUERIES, KEYS = 40, 48
DIGITS = 60
FRACTION = 240
"""Bits below the point before the one rounding."""
F32 = FORMATS["f32"]
HALF = 0x3F000000
"""0.5 in f32."""
ONE = Decimal(1)


@dataclass(frozen=True)
class Attention:
    """One head: Q (QUERIES, d), K and V (KEYS, d)."""

    format: str
    causal: bool

    @property
    def narrow(self) -> bool:
        """FP8: with a scale for each of Q, K and V."""
        return self.format.startswith("e4m3")

    @property
    def d(self) -> int:
        """Elements of the head."""
        return 128 if self.narrow else 64

    @property
    def ahead(self) -> int:
        """Of a causal head: the last of FP8's queries sees the last key, the first of 16 bits the first."""
        return KEYS - QUERIES if self.narrow else 0

    @property
    def family(self) -> str:
        """Of the kernels."""
        return "attention_fp8" if self.narrow else "attention"

    @property
    def id(self) -> str:
        """Name of the entry, from which its seed is made."""
        return f"{self.family}/{self.format}{'_causal' * self.causal}/any/normal"


def heads() -> Iterator[Attention]:
    """All formats, with and without a mask."""
    for name in ("f16", "bf16", "e4m3fn", "e4m3fnuz"):
        yield from (Attention(name, causal) for causal in (False, True))


def inputs(head: Attention, seed: int) -> dict[str, Codes]:
    """Codes of Q, K and V, roughly normal; scales from 0.5 to 2 as f32 codes."""
    draws, fmt = Draws(seed), FORMATS[head.format]
    q, k = CLASSES["normal"].elements(draws, fmt, fmt, (QUERIES, KEYS, head.d), False)
    v, _ = CLASSES["normal"].elements(draws, fmt, fmt, (KEYS, 1, head.d), False)
    found = {"Q": q, "K": np.ascontiguousarray(k.T), "V": v}
    if head.narrow:
        found |= {f"scale_{name}": (HALF + draws.below(1 << 24, (1,))).astype(np.uint32) for name in "QKV"}
    return found


def attention(
    q: Codes,
    k: Codes,
    v: Codes,
    name: str,
    *,
    causal: bool,
    ahead: int = 0,
    scales: tuple[Decimal, Decimal, Decimal] = (ONE, ONE, ONE),
) -> Codes:
    """O (queries, D) in f32 codes.

    Args:
        q: codes (queries, D).
        k: codes (keys, D).
        v: the same.
        name: their format.
        causal: query i sees the keys up to i + `ahead`.
        ahead: keys that a causal query sees beyond its own number.
        scales: of Q, K and V.
    """
    fmt = FORMATS[name]
    rows, others, values = decode_all(q, fmt), decode_all(k, fmt), decode_all(v, fmt)
    out = np.zeros((len(rows), len(values[0])), np.uint32)
    with localcontext(Context(prec=DIGITS)):
        weighed = [[decimal_of(number) for number in line] for line in values]
        factor = scales[0] * scales[1] / Decimal(len(rows[0])).sqrt()
        for i, row in enumerate(rows):
            n = min(i + 1 + ahead, len(others)) if causal else len(others)
            scores = [product(row, other) * factor for other in others[:n]]
            top = max(scores)
            weights = [(score - top).exp() for score in scores]
            total = sum(weights, Decimal(0))
            for j in range(out.shape[1]):
                found = sum((w * line[j] for w, line in zip(weights, weighed, strict=False)), Decimal(0)) / total
                out[i, j] = nearest_f32(found * scales[2])
    return out


def decimal_of(number: Number) -> Decimal:
    """A finite number."""
    return Decimal(signed(number)) * Decimal(2) ** number.exponent


def product(row: list[Number], other: list[Number]) -> Decimal:
    """An exact product of two rows."""
    unit = min(x.exponent + y.exponent for x, y in zip(row, other, strict=True))
    total = sum(signed(x) * signed(y) << (x.exponent + y.exponent - unit) for x, y in zip(row, other, strict=True))
    return Decimal(total) * Decimal(2) ** unit


def nearest_f32(value: Decimal) -> int:
    """The f32 code nearest to a number."""
    return encode_finite(int(value < 0), int(abs(value) * (1 << FRACTION)), -FRACTION, F32)


def entries() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Every manifest entry with the bytes of its file."""
    for head in heads():
        seed = int(sha256(head.id.encode())[:15], 16)
        arrays = inputs(head, seed)
        more: dict[str, Any] = {}
        if head.narrow:
            scales = [Decimal(float(arrays[f"scale_{name}"].view(np.float32)[0])) for name in "QKV"]
            more = {"ahead": head.ahead, "scales": (scales[0], scales[1], scales[2])}
        q, k, v = (arrays[name] for name in "QKV")
        arrays["exact"] = attention(q, k, v, head.format, causal=head.causal, **more)
        content = npz_bytes(arrays)
        entry = {
            "id": head.id,
            "family": head.family,
            "case": head.id.split("/")[1],
            "arch": "any",
            "data": "normal",
            "seed": seed,
            "formats": {**dict.fromkeys("QKV", head.format), "C": "f32"},
            "shape": {"M": QUERIES, "N": KEYS, "K": head.d},
            "causal": head.causal,
            "rounding": "nearest_even",
            "saturation": "none",
            "denormals": "kept",
            "file": f"{head.family}/{'.'.join(head.id.split('/')[1:])}.npz",
            "sha256": sha256(content),
            "expected": {"exact": {"kind": "decimal_60_digits", "fidelity": "specified"}},
            "made_by": "python -m golden.generate",
        }
        yield entry | ({"ahead": head.ahead} if head.narrow else {}), content
