"""WMMA and SWMMAC of CDNA5: each family on one tile, its fragments proved; sparse ones over plain arrays."""

from collections.abc import Callable
from functools import partial
from itertools import product as every
from typing import Any

from hipkernels.conformance.isa.wmma.reference import indices, rounded, sparse, sparse_integers, two_of_four, values
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, Out, ScaleA, ScaleB, case

ARCH = "gfx1250"
SMALL = ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")
EIGHT = {"fp8": "e4m3fn", "bf8": "e5m2"}
declare = partial(case, "wmma.hip", arch=ARCH)
PAIRS = [f"{a}_{b}" for a, b in every(EIGHT, EIGHT)]


def wave(args: list[Any], expect: Any) -> LaunchDict:
    return {"grid": 1, "block": 32, "args": args, "expect": expect}


def dense(a: str, b: str, d: str, k: int) -> LaunchDict:
    x, y, z = A(a, (16, k)), B(b, (k, 16), order="column"), C(d, (16, 16))
    return wave([x, y, z], x @ y + z)


@declare(kernel="f32_f32", executes="v_wmma_f32_16x16x4_f32")
def floats() -> LaunchDict:
    return dense("f32", "f32", "f32", 4)


HALVES = [{"d": d, "a": a} for d, a in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("bf16", "bf16"))]


@declare(kernel="{d}_{a}", each=HALVES, executes="v_wmma_.*_16x16x32_b?f16")
def halves(d: str = "f32", a: str = "f16") -> LaunchDict:
    return dense(a, a, d, 32)


@declare(kernel="bf16f32_bf16", executes="v_wmma_bf16f32_16x16x32_bf16")
def narrowing() -> LaunchDict:
    args = [In("bf16", (16, 32), "integers"), In("bf16", (16, 32), "integers"), In("f32", (16, 16), "integers")]
    return wave([*args, Out("bf16", (16, 16))], lambda a, b, c: rounded(values("bf16", a) @ values("bf16", b).T + c))


BYTES = [{"d": d, "k": k, "ab": ab} for d in ("f32", "f16") for k in (64, 128) for ab in PAIRS]


@declare(kernel="{d}_{k}_{ab}", each=BYTES, executes="v_wmma_.*_16x16x(64|128)_.*8_.*8")
def eight(d: str = "f32", k: int = 64, ab: str = "fp8_fp8") -> LaunchDict:
    a, b = (EIGHT[word] for word in ab.split("_"))
    return dense(a, b, d, k)


@declare(kernel="iu8", executes="v_wmma_i32_16x16x64_iu8 .* neg_lo:.*")
def integers() -> LaunchDict:
    return dense("i8", "u8", "i32", 64)


FORMATS = [{"a": a, "b": b} for a, b in every(range(5), range(5))]


@declare(kernel="small_{a}_{b}", each=FORMATS, executes="v_wmma_f32_16x16x128_f8f6f4")
def small(a: int = 0, b: int = 0) -> LaunchDict:
    return dense(SMALL[a], SMALL[b], "f32", 128)


def scaled(a: str, b: str, block: int, formats: tuple[str, str] = ("e8m0", "e8m0"), m: int = 16) -> LaunchDict:
    x, y, z = A(a, (m, 128)), B(b, (128, 16), order="column"), C("f32", (m, 16))
    p = ScaleA((m, 128 // block), format=formats[0])
    q = ScaleB((128 // block, 16), order="column", format=formats[1])
    return wave([x, y, p, q, z], (x * p) @ (y * q) + z)


@declare(kernel="scaled_{a}_{b}", each=FORMATS, executes="v_wmma_scale_f32_16x16x128_f8f6f4")
def scale32(a: int = 0, b: int = 0) -> LaunchDict:
    return scaled(SMALL[a], SMALL[b], 32)


@declare(kernel="scaled16_{a}_{b}", each=FORMATS, executes="v_wmma_scale16_f32_16x16x128_f8f6f4")
def scale16(a: int = 0, b: int = 0) -> LaunchDict:
    return scaled(SMALL[a], SMALL[b], 16)


MANTISSAS = {
    "e5m3_e5m3": ("e2m1fn", "e2m1fn"),
    "e4m3_e4m3": ("e2m1fn", "e2m1fn"),
    "e8m0_e5m3": ("e4m3fn", "e2m1fn"),
    "e4m3_e8m0": ("e2m1fn", "e2m3fn"),
}


def scales_of(words: str) -> tuple[str, str]:
    """Formats of the scales of A and B from the words of a kernel's name."""
    first, second = ({"e4m3": "e4m3fn"}.get(word, word) for word in words.split("_"))
    return first, second


@declare(
    kernel="scaled_{scales}", each=[{"scales": s} for s in MANTISSAS], executes="v_wmma_scale_.* matrix_.*_scale_fmt:.*"
)
def mantissas32(scales: str = "e5m3_e5m3") -> LaunchDict:
    return scaled(*MANTISSAS[scales], 32, scales_of(scales))


@declare(
    kernel="scaled16_{scales}",
    each=[{"scales": s} for s in MANTISSAS],
    executes="v_wmma_scale16_.* matrix_.*_scale_fmt:.*",
)
def mantissas16(scales: str = "e5m3_e5m3") -> LaunchDict:
    return scaled(*MANTISSAS[scales], 16, scales_of(scales))


@declare(kernel="f4", executes="v_wmma_f32_32x16x128_f4")
def four() -> LaunchDict:
    x, y, z = A("e2m1fn", (32, 128)), B("e2m1fn", (128, 16), order="column"), C("f32", (32, 16))
    return wave([x, y, z], x @ y + z)


@declare(
    kernel="scaled_f4_{s}", each=[{"s": s} for s in ("e8m0", "e5m3", "e4m3")], executes="v_wmma_scale_f32_32x16x128_f4"
)
def four32(s: str = "e8m0") -> LaunchDict:
    return scaled("e2m1fn", "e2m1fn", 32, scales_of(f"{s}_{s}"), 32)


@declare(
    kernel="scaled16_f4_{s}",
    each=[{"s": s} for s in ("e8m0", "e5m3", "e4m3")],
    executes="v_wmma_scale16_f32_32x16x128_f4",
)
def four16(s: str = "e8m0") -> LaunchDict:
    return scaled("e2m1fn", "e2m1fn", 16, scales_of(f"{s}_{s}"), 32)


def kept(a: str, b: str, d: str, k: int, expect: Callable[..., Any]) -> LaunchDict:
    """A sparse product: kept elements and their positions, B by columns, C in place."""
    where = two_of_four(k)
    data = "bits" if d == "i32" else "integers"
    args = [In(a, (16, k // 2), data), In("u32", (16, k // 32), indices(where)), In(b, (16, k), data)]
    return wave([*args, InOut(d, (16, 16), "integers")], partial(expect, where))


SPARSE16 = [{"d": d, "a": a} for d, a in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("bf16", "bf16"))]


@declare(kernel="sparse_{d}_{a}", each=SPARSE16, executes="v_swmmac_.*_16x16x64_b?f16")
def sparse_halves(d: str = "f32", a: str = "f16") -> LaunchDict:
    return kept(a, a, d, 64, partial(sparse, a, a, d))


SPARSE8 = [
    {"d": d, "ab": ab} for d, ab in (("f32", "fp8_fp8"), ("f32", "bf8_fp8"), ("f16", "fp8_bf8"), ("f16", "bf8_bf8"))
]


@declare(kernel="sparse_{d}_{ab}", each=SPARSE8, executes="v_swmmac_.*_16x16x128_.*8_.*8")
def sparse_eight(d: str = "f32", ab: str = "fp8_fp8") -> LaunchDict:
    a, b = (EIGHT[word] for word in ab.split("_"))
    return kept(a, b, d, 128, partial(sparse, a, b, d))


@declare(kernel="sparse_iu8", executes="v_swmmac_i32_16x16x128_iu8")
def sparse_bytes() -> LaunchDict:
    return kept("i8", "u8", "i32", 128, sparse_integers)


TRANSPOSED = {16: ("f16", 32), 8: ("e4m3fn", 64), 6: ("e2m3fn", 128), 4: ("e2m1fn", 128)}


@declare(
    kernel="{space}_tr{bits}",
    each=[{"space": space, "bits": bits} for space in ("lds", "global") for bits in TRANSPOSED],
    executes=["(ds|global)_load_tr.*", "v_wmma_.*"],
)
def transposed(space: str = "lds", bits: int = 16) -> LaunchDict:
    name, k = TRANSPOSED[bits]
    x, y, z = A(name, (16, k), order="column"), B(name, (k, 16)), C("f32", (16, 16))
    return wave([x, y, z], x @ y + z)
