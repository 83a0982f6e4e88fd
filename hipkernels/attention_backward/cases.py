"""Attention backward in bf16: delta, dK with dV, and dQ, each within a derived bound of float64 (`reference`).

The products are proved by themselves, from the same device functions.
"""

import zlib
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.attention.numbers16 import decode, encode
from hipkernels.attention.plan import Layout, layout_of, plan_attention
from hipkernels.attention_backward.reference import forward, gradients, row_sums
from mfmasim.verify import A, B, C, Claim, In, LaunchDict, Out, case

CDNA, RDNA = ("gfx942", "gfx950"), ("gfx1201",)
ARCHS = CDNA + RDNA
OWN, THREADS = 128, 256
"""Rows that a workgroup keeps, and its work-items."""
SOURCES = {64: "backward.hip", 128: "backward_128.hip"}
PRODUCT = "v_(wmma_f32_16x16x16_bf16|mfma_f32_32x32x(8|16)_bf16)"
NEEDS = "B > 0 and H > 0 and G > 0 and Nq > 0 and Nkv > 0 and causal in (0, 1, 2) and D == "
KINDS = {
    "normal": "normally distributed",
    "chosen": "a query weighs one key alone: its weight is 1, and others are 0",
    "low": "scores around -130: exp(-LSE) alone overflows",
    "between": "with a scale of 0, weights just below a number of bf16; positive V and dO, so that no errors cancel",
}


def draw(kind: str, q_shape: tuple[int, ...], k_shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """Codes of Q, K, V and dO.

    Args:
        kind: one of `KINDS`.
        q_shape: B, heads of Q, queries, D.
        k_shape: B, heads of K, keys, D.
    """
    rng = np.random.default_rng(zlib.crc32(f"{kind}/{q_shape}/{k_shape}".encode()))
    q, k, v, d_o = (rng.normal(size=shape) for shape in (q_shape, k_shape, k_shape, q_shape))
    if kind == "chosen":
        k = np.sign(k)
        picked = rng.integers(0, k_shape[2], q_shape[:3])
        heads = np.arange(q_shape[1])[:, None] // (q_shape[1] // k_shape[1])
        q = 8 * k[np.arange(q_shape[0])[:, None, None], heads, picked]
    if kind == "low":
        q, k = -26 * np.abs(q), np.abs(k)
    if kind == "between":
        v, d_o = np.abs(v), np.abs(d_o)
    return [encode("bf16", x) for x in (q, k, v, d_o)]


def numbers(codes: NDArray[Any]) -> NDArray[Any]:
    """float64 of codes."""
    return decode("bf16", codes).astype(np.float64)


def layouts(shapes: dict[str, tuple[int, int, int, int]], bnhd: str) -> dict[str, Layout]:
    """Where Q, K, V and O lie; `bnhd` names those in the layout (B, N, H, D)."""
    return {name: layout_of("bnhd" if name in bnhd else "bhnd", shape) for name, shape in shapes.items()}


def launch(way: str, sizes: Sequence[int], causal: int, scale: float | None, bnhd: str, data: str) -> LaunchDict:
    """A launch of ``dkdv``, ``dk``, ``dv`` or ``dq``: arguments and expected outputs."""
    b, h, group, queries, keys, d = sizes
    plan_attention("tiled", b, h * group, queries, keys, d, causal, scale)
    q_shape, k_shape = (b, h * group, queries, d), (b, h, keys, d)
    shapes = {"q": q_shape, "k": k_shape, "v": k_shape, "o": q_shape}
    places = layouts(shapes, bnhd)

    @cache
    def drawn() -> dict[str, NDArray[Any]]:
        codes = dict(zip("qkvo", draw(data, q_shape, k_shape), strict=True))
        q, k, v, d_o = (numbers(codes[name]) for name in "qkvo")
        o, lse = forward(q, k, v, causal, scale)
        if data == "between":
            lse = np.full_like(lse, -np.log1p(0.98 / 128))
        rows = {"lse": lse, "delta": row_sums(numbers(encode("bf16", o)), d_o).values}
        found = {name: places[name].spread(codes[name]) for name in "qkvo"}
        return {**found, **{name: x.astype(np.float32) for name, x in rows.items()}}

    def filled(name: str) -> NDArray[Any]:
        return drawn()[name]

    args: list[Any] = [In("bf16", places[name].elements, partial(filled, name)) for name in "qkvo"]
    args += [In("f32", q_shape[:3], partial(filled, name)) for name in ("lse", "delta")]
    left = way.replace("d", "")
    args += [Out("bf16", places[name].elements) if name in left else None for name in "qkv"]
    args += [queries, keys, group, *(places[name].strides for name in "qkvo"), causal]
    args.append(None if scale is None else In("f32", 1, np.array([scale], np.float32)))

    def expect(*held: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        rows = [
            numbers(np.ascontiguousarray(places[name].view(x, shapes[name])))
            for name, x in zip("qkvo", held, strict=False)
        ]
        rows += [x.astype(np.float64) for x in held[4:6]]
        q, k, v, d_o, lse, delta = rows
        by = None if scale is None else float(held[6][0])
        found = dict(zip("qkv", gradients(q, k, v, d_o, lse, delta, causal, by), strict=True))
        return [(places[name].spread(found[name].values), places[name].spread(found[name].bound)) for name in left]

    rows, heads = (queries, h * group) if way == "dq" else (keys, h)
    return {"grid": (-(-rows // OWN), heads, b), "block": THREADS, "args": args, "expect": expect}


MORE: list[dict[str, Any]] = [
    {"causal": 1},  # more queries than keys: the last ones see all
    {"causal": 2},  # and the first ones none
    {"causal": 1, "Nq": 33, "Nkv": 150},  # keys that no query sees
    {"causal": 2, "Nq": 140, "Nkv": 200},
    {"B": 2, "H": 2, "G": 3, "Nq": 21, "Nkv": 9, "bnhd": "kq"},
    {"H": 2, "Nq": 40, "Nkv": 64, "bnhd": "vo"},
    {"H": 1, "G": 2, "Nq": 129, "Nkv": 20, "causal": 2},
    {"scale": 0.0, "data": "between"},
    {"data": "low"},
    {"data": "low", "Nq": 20, "Nkv": 70, "causal": 1},
    {"scale": -0.75, "Nq": 30},
    {"data": "chosen"},
    {"data": "chosen", "Nkv": 33, "scale": 1.0},
    {"Nq": 1, "Nkv": 1},
]
LONGER: list[dict[str, Any]] = [{}, {"causal": 2, "Nq": 40, "Nkv": 133, "G": 2}]


def declare(way: str, d: int, each: list[dict[str, Any]], archs: Sequence[str] = ARCHS) -> None:
    """A case for a kernel with heads of `d` elements, in variants."""

    def run(
        B: int = 1,
        H: int = 1,
        G: int = 1,
        Nq: int = 70,
        Nkv: int = 45,
        D: int = d,
        causal: int = 0,
        scale: float | None = None,
        bnhd: str = "",
        data: str = "normal",
    ) -> LaunchDict:
        return launch(way, (B, H, G, Nq, Nkv, D), causal, scale, bnhd, data)

    run.__name__ = way if d == 64 else f"{way}_{d}"
    claims = [
        Claim("no conflicts", "LDS degree", 1),
        Claim("fewer than six words are copied for a block", "register copies", 6, relation="<"),
    ]
    what: dict[str, Any] = {"needs": f"{NEEDS}{d}", "executes": PRODUCT, "each": each, "claims": claims}
    case(SOURCES[d], kernel=f"{way}_{d}", arch=archs, **what)(run)


for way in ("dkdv", "dq"):
    declare(way, 64, [{}, *MORE])
for way, archs in (("dq", ARCHS), ("dkdv", CDNA), ("dk", RDNA), ("dv", RDNA)):
    declare(way, 128, LONGER, archs)


def declare_row_sums(d: int) -> None:
    """The case of a kernel that leaves delta."""

    def run(B: int = 1, H: int = 2, Nq: int = 70, D: int = d, bnhd: str = "", data: str = "normal") -> LaunchDict:
        shape = B, H, Nq, D
        place = layouts({"o": shape}, bnhd)["o"]

        @cache
        def drawn() -> list[NDArray[Any]]:
            return [place.spread(x) for x in draw(data, shape, shape)]

        def filled(number: int) -> NDArray[Any]:
            return drawn()[number]

        args: list[Any] = [In("bf16", place.elements, partial(filled, number)) for number in (0, 3)]

        def expect(*held: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
            found = row_sums(*(numbers(np.ascontiguousarray(place.view(x, shape))) for x in held))
            return found.values, found.bound

        args += [Out("f32", shape[:3]), Nq, place.strides]
        return {"grid": (-(-Nq // (THREADS * 8 // D)), H, B), "block": THREADS, "args": args, "expect": expect}

    run.__name__ = name = f"delta_{d}"
    needs = f"B > 0 and H > 0 and Nq > 0 and D == {d}"
    case(SOURCES[d], kernel=name, arch=ARCHS, needs=needs, each=[{}, {"B": 2, "H": 3, "Nq": 37, "bnhd": "o"}])(run)


for d in SOURCES:
    declare_row_sums(d)

EACH = [{"D": d, "which": which} for d in (64, 128) for which in (0, 1)]
DATA = ("normal", "one_hot")


@case("products.hip", kernel="scores_{which}_{D}", arch=ARCHS, executes=PRODUCT, each=EACH, data=DATA)
def scores(M: int = 70, N: int = 45, D: int = 64, which: int = 0) -> LaunchDict:
    """Rows that pass times rows that are kept: S, and dP."""
    a, b, c = A("bf16", (M, D)), B("bf16", (D, N), order="column"), C("f32", (M, N))
    return {"grid": -(-N // OWN), "block": THREADS, "args": [a, b, c, M, N], "expect": a @ b}


@case("products.hip", kernel="sums_{which}_{D}", arch=ARCHS, executes=PRODUCT, each=EACH, data=DATA)
def sums(M: int = 70, N: int = 45, D: int = 64, which: int = 0) -> LaunchDict:
    """Columns of the rows that pass times weights: dV, dK and dQ, transposed as the instruction gives them."""
    x, p, c = A("bf16", (D, M), order="column"), B("bf16", (M, N), order="column"), C("f32", (D, N), order="column")
    return {"grid": -(-N // OWN), "block": THREADS, "args": [x, p, c, M, N], "expect": x @ p}
