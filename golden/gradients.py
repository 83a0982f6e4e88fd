"""Attention backward: dQ, dK and dV for a given dO, to 60 digits and rounded to f32 once.

P = exp(Q K^T / sqrt(D) - LSE), dS = P (dO V^T - delta); dQ = dS K / sqrt(D), dK = dS^T Q / sqrt(D), dV = P^T dO. LSE
and delta are inputs in f32, the exact ones rounded: a kernel is compared on what it is given, within a bound that it
has to state. Entries hold for every architecture.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from golden.attention import DIGITS, KEYS, QUERIES, decimal_of, nearest_f32, product
from golden.inputs import CLASSES, Draws
from golden.reference.formats import FORMATS, decode_all
from golden.storage import npz_bytes, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golden.reference.formats import Codes, Number

FORMAT, D = "bf16", 64
Rows = list[list[Decimal]]


def inputs(seed: int) -> dict[str, Codes]:
    """Codes of Q, K, V and dO, roughly normal."""
    draws, fmt = Draws(seed), FORMATS[FORMAT]
    shapes = {"Q": QUERIES, "K": KEYS, "V": KEYS, "dO": QUERIES}
    return {name: CLASSES["normal"].elements(draws, fmt, fmt, (n, 1, D), False)[0] for name, n in shapes.items()}


def scores_of(q: list[list[Number]], k: list[list[Number]], causal: bool) -> Rows:
    """Of each query those of the keys it sees: all, or those up to its own number."""
    root = Decimal(D).sqrt()
    return [[product(row, other) / root for other in (k[: i + 1] if causal else k)] for i, row in enumerate(q)]


def states(codes: dict[str, Codes], causal: bool) -> tuple[Codes, Codes]:
    """LSE and delta, the sums of dO O over a row: f32 codes (queries,)."""
    rows = {name: decode_all(array, FORMATS[FORMAT]) for name, array in codes.items()}
    lse, delta = np.zeros((2, len(rows["Q"])), np.uint32)
    with localcontext(Context(prec=DIGITS)):
        for i, scores in enumerate(scores_of(rows["Q"], rows["K"], causal)):
            weights = [score.exp() for score in scores]
            total = sum(weights, Decimal(0))
            shares = [w * product(rows["dO"][i], value) for w, value in zip(weights, rows["V"], strict=False)]
            lse[i], delta[i] = nearest_f32(total.ln()), nearest_f32(sum(shares, Decimal(0)) / total)
    return lse, delta


def gradients(codes: dict[str, Codes], lse: Codes, delta: Codes, causal: bool) -> dict[str, Codes]:
    """dQ, dK and dV as f32 codes in the shapes of Q, K and V.

    Args:
        codes: of Q, K, V and dO.
        lse: f32 codes (queries,).
        delta: the same.
        causal: whether query i sees the keys up to i alone.
    """
    rows = {name: decode_all(array, FORMATS[FORMAT]) for name, array in codes.items()}
    with localcontext(Context(prec=DIGITS)):
        root = Decimal(D).sqrt()
        values: dict[str, Rows] = {
            name: [[decimal_of(x) for x in line] for line in part] for name, part in rows.items()
        }
        sums: dict[str, Rows] = {name: [[Decimal(0)] * D for _ in values[name]] for name in "QKV"}
        for i, scores in enumerate(scores_of(rows["Q"], rows["K"], causal)):
            less, rest = (Decimal(float(x[i : i + 1].view(np.float32)[0])) for x in (lse, delta))
            for j, score in enumerate(scores):
                weight = (score - less).exp()
                share = weight * (product(rows["dO"][i], rows["V"][j]) - rest) / root
                _add(sums["Q"][i], share, values["K"][j])
                _add(sums["K"][j], share, values["Q"][i])
                _add(sums["V"][j], weight, values["dO"][i])
        return {
            f"d{name}": np.array([[nearest_f32(x) for x in line] for line in part], np.uint32)
            for name, part in sums.items()
        }


def _add(line: list[Decimal], by: Decimal, other: list[Decimal]) -> None:
    for n, x in enumerate(other):
        line[n] += by * x


def entries() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Every manifest entry with the bytes of its file."""
    for causal in (False, True):
        case = FORMAT + "_causal" * causal
        name = f"attention_backward/{case}/any/normal"
        seed = int(sha256(name.encode())[:15], 16)
        codes = inputs(seed)
        lse, delta = states(codes, causal)
        content = npz_bytes(codes | {"lse": lse, "delta": delta} | gradients(codes, lse, delta, causal))
        yield (
            {
                "id": name,
                "family": "attention_backward",
                "case": case,
                "arch": "any",
                "data": "normal",
                "seed": seed,
                "formats": {**dict.fromkeys(codes, FORMAT), **dict.fromkeys(("lse", "delta", "dQ", "dK", "dV"), "f32")},
                "shape": {"M": QUERIES, "N": KEYS, "K": D},
                "causal": causal,
                "rounding": "nearest_even",
                "saturation": "none",
                "denormals": "kept",
                "file": f"attention_backward/{case}.any.normal.npz",
                "sha256": sha256(content),
                "expected": {"exact": {"kind": "decimal_60_digits", "fidelity": "specified"}},
                "made_by": "python -m golden.generate",
            },
            content,
        )
