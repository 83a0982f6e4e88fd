"""Attention forward, O = softmax(Q K^T / sqrt(D)) V, to 60 digits and rounded to f32 once.

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

QUERIES, KEYS, D = 40, 48, 64
DIGITS = 60
FRACTION = 240
"""Bits below the point before the one rounding."""
F32 = FORMATS["f32"]


@dataclass(frozen=True)
class Attention:
    """One head: Q (QUERIES, D), K and V (KEYS, D); a causal query sees the keys up to its own number."""

    format: str
    causal: bool

    @property
    def id(self) -> str:
        """Name of the entry, from which its seed is made."""
        return f"attention/{self.format}{'_causal' * self.causal}/any/normal"


def heads() -> Iterator[Attention]:
    """Both 16-bit formats, with and without a mask."""
    yield from (Attention(name, causal) for name in ("f16", "bf16") for causal in (False, True))


def inputs(head: Attention, seed: int) -> tuple[Codes, Codes, Codes]:
    """Codes of Q, K and V, roughly normal."""
    draws, fmt = Draws(seed), FORMATS[head.format]
    q, k = CLASSES["normal"].elements(draws, fmt, fmt, (QUERIES, KEYS, D), False)
    v, _ = CLASSES["normal"].elements(draws, fmt, fmt, (KEYS, 1, D), False)
    return q, np.ascontiguousarray(k.T), v


def attention(q: Codes, k: Codes, v: Codes, name: str, *, causal: bool) -> Codes:
    """O (queries, D) in f32 codes."""
    fmt = FORMATS[name]
    rows, others, values = decode_all(q, fmt), decode_all(k, fmt), decode_all(v, fmt)
    out = np.zeros((len(rows), len(values[0])), np.uint32)
    with localcontext(Context(prec=DIGITS)):
        weighed = [[_decimal(number) for number in line] for line in values]
        root = Decimal(len(rows[0])).sqrt()
        for i, row in enumerate(rows):
            n = min(i + 1, len(others)) if causal else len(others)
            scores = [_dot(row, other) / root for other in others[:n]]
            top = max(scores)
            weights = [(score - top).exp() for score in scores]
            total = sum(weights, Decimal(0))
            for j in range(out.shape[1]):
                found = sum((w * line[j] for w, line in zip(weights, weighed, strict=False)), Decimal(0)) / total
                whole = int(abs(found) * (1 << FRACTION))
                out[i, j] = encode_finite(int(found < 0), whole, -FRACTION, F32)
    return out


def _decimal(number: Number) -> Decimal:
    return Decimal(signed(number)) * Decimal(2) ** number.exponent


def _dot(row: list[Number], other: list[Number]) -> Decimal:
    """An exact product of two rows."""
    unit = min(x.exponent + y.exponent for x, y in zip(row, other, strict=True))
    total = sum(signed(x) * signed(y) << (x.exponent + y.exponent - unit) for x, y in zip(row, other, strict=True))
    return Decimal(total) * Decimal(2) ** unit


def entries() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Every manifest entry with the bytes of its file."""
    for head in heads():
        seed = int(sha256(head.id.encode())[:15], 16)
        q, k, v = inputs(head, seed)
        content = npz_bytes({"Q": q, "K": k, "V": v, "exact": attention(q, k, v, head.format, causal=head.causal)})
        yield (
            {
                "id": head.id,
                "family": "attention",
                "case": head.id.split("/")[1],
                "arch": "any",
                "data": "normal",
                "seed": seed,
                "formats": {**dict.fromkeys("QKV", head.format), "C": "f32"},
                "shape": {"M": QUERIES, "N": KEYS, "K": D},
                "causal": head.causal,
                "rounding": "nearest_even",
                "saturation": "none",
                "denormals": "kept",
                "file": f"attention/{'.'.join(head.id.split('/')[1:])}.npz",
                "sha256": sha256(content),
                "expected": {"exact": {"kind": "decimal_60_digits", "fidelity": "specified"}},
                "made_by": "python -m golden.generate",
            },
            content,
        )
