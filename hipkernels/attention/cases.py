"""Attention forward on [B, H, N, D]: one thread a query, and tiles by matrix instructions.

Outputs are compared bit for bit with a replay of the kernel's order of operations, and the replay must lie within a
derived bound of attention in float64 (`reference.attention`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.attention import operands, replay
from hipkernels.attention.numbers16 import decode
from hipkernels.attention.plan import HEAD_SIZES, layout_of, plan_attention
from hipkernels.attention.reference import attention
from mfmasim.errors import MfmasimError
from mfmasim.verify import A, B, C, DependsOn, In, LaunchDict, Out, case
from mfmasim.verify.elements.sources import Source

ALL, CDNA, RDNA = ("gfx942", "gfx950", "gfx1151", "gfx1201"), ("gfx942", "gfx950"), ("gfx1151", "gfx1201")
THREADS = {"gfx942": 256, "gfx950": 256, "gfx1151": 128, "gfx1201": 128}
"""Four waves."""
PRODUCT = "v_(wmma_f32_16x16x16|mfma_f32_16x16x(16|32))_b?f16"
NEEDS = "B > 0 and H > 0 and Nq > 0 and Nkv >= 0 and causal in (0, 1, 2) and D in "
PLAIN = " and causal == 0 and layout == 'bhnd' and v_layout == ''"


def expected(
    way: str, arch: str, fmt: str, codes: Sequence[NDArray[Any]], causal: int, scale: float | None
) -> NDArray[Any]:
    """Expected output of a kernel, checked against the error bound of the exact result."""
    q, k, v = codes
    if way == "scalar":
        found, tile, inner = replay.scalar(arch, fmt, q, k, v, causal, scale), 1, "f32"
    else:
        found, tile, inner = replay.tiled(arch, fmt, q, k, v, causal, scale), replay.KEYS, fmt
    q, k, v = (decode(fmt, part).astype(np.float64) for part in codes)
    exact, bound = attention(fmt, q, k, v, causal, scale, tile=tile, weights_in=inner)
    values = decode(fmt, found).astype(np.float64)
    with np.errstate(all="ignore"):
        neither = np.isnan(values) & (np.isnan(exact) | np.isinf(exact) & np.isinf(bound))
        wrong = ~((np.abs(values - exact) <= bound) & np.isfinite(exact) | (values == exact) | neither)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = f"{wrong.sum()} of {wrong.size} elements lie outside the bound, O{list(place)}"
        raise MfmasimError(f"{text}: {values[place]:.9g}, exactly {exact[place]:.9g}, bound {bound[place]:.3g}")
    return found


def launch(
    way: str,
    arch: str,
    fmt: str,
    sizes: tuple[int, ...],
    causal: int,
    scale: float | None,
    layout: str,
    v_layout: str,
    data: str,
) -> LaunchDict:
    """A launch: arguments and expected outputs."""
    b, h, queries, keys, d = sizes
    grid = plan_attention(way, b, h, queries, keys, d, causal, scale)
    shapes = {"q": (b, h, queries, d), "k": (b, h, keys, d), "v": (b, h, keys, d), "o": (b, h, queries, d)}
    names = {"q": layout, "k": layout, "v": v_layout or layout, "o": "bhnd" if layout == "padded" else layout}
    places = {name: layout_of(names[name], shape) for name, shape in shapes.items()}
    kind = np.float16 if fmt == "f16" else np.uint16

    @cache
    def codes() -> dict[str, NDArray[Any]]:
        return dict(zip("qkv", operands.draw(data, fmt, shapes["q"], shapes["k"]), strict=True))

    def filled(name: str) -> NDArray[Any]:
        return places[name].spread(codes()[name], operands.NAN[fmt]).view(kind)

    some = "qkv" if keys else "q"
    inputs = {name: In(fmt, places[name].elements, partial(filled, name)) for name in some}
    args: list[Any] = [*map(inputs.get, "qkv"), Out(fmt, places["o"].elements), queries, keys]
    args += [*(places[name].strides for name in "qkvo"), causal]
    args.append(None if scale is None else In("f32", 1, np.array([scale], np.float32)))

    def expect(*held: NDArray[Any]) -> NDArray[Any]:
        found = {
            name: places[name].view(x.view(np.uint16), shapes[name]) for name, x in zip(inputs, held, strict=False)
        }
        parts = [np.ascontiguousarray(found[name] if name in found else codes()[name]) for name in "qkv"]
        by = None if scale is None else float(held[-1][0])
        return places["o"].spread(expected(way, arch, fmt, parts, causal, by)).view(kind)

    return {"grid": grid, "block": 64 if way == "scalar" else THREADS[arch], "args": args, "expect": expect}


def column_of_v(args: list[Any], queries: int, keys: int, d: int) -> list[Source]:
    """Each element of O depends on a column of V, on all of it without a mask."""

    def at(element: NDArray[Any]) -> NDArray[Any]:
        return element // (queries * d) * keys * d + np.arange(keys) * d + element % d

    return [DependsOn(args[3], args[2], at)]


def declare(
    way: str,
    source: str,
    name: str,
    archs: tuple[str, ...],
    each: Sequence[Mapping[str, Any]],
    fmt: str = "f16",
    sizes: tuple[int, ...] = (64,),
    sources: Callable[..., Any] | None = None,
    **more: Any,
) -> None:
    """A case for the kernels of a source with rows of so many elements, in variants.

    Args:
        way: ``scalar`` or ``tiled``.
        source: HIP source.
        name: name of the case.
        archs: architectures.
        each: variants.
        fmt: ``f16`` or ``bf16``.
        sizes: lengths of a row that the source has kernels for.
        sources: sources of the elements of O, from the arguments and the sizes; valid without mask, gaps and swaps.
        more: further arguments of `case`.
    """

    def run(
        B: int = 1,
        H: int = 1,
        Nq: int = 70,
        Nkv: int = 45,
        D: int = sizes[0],
        causal: int = 0,
        scale: float | None = None,
        layout: str = "bhnd",
        v_layout: str = "",
        data: str = "normal",
        arch: str = "",
    ) -> LaunchDict:
        built = launch(way, arch, fmt, (B, H, Nq, Nkv, D), causal, scale, layout, v_layout, data)
        return built | {"sources": sources(list(built["args"]), Nq, Nkv, D)} if sources else built

    run.__name__ = name
    case(
        source,
        kernel=f"{way}_{fmt}_{{D}}",
        arch=archs,
        needs=NEEDS + str(sizes) + PLAIN * bool(sources),
        each=each,
        **more,
    )(run)


MASKS: list[dict[str, Any]] = [
    {"causal": 1},  # more queries than keys: the last ones see all
    {"causal": 2},  # and the first ones none
    {"causal": 1, "Nq": 33, "Nkv": 70},
    {"causal": 2, "Nq": 33, "Nkv": 70},
]
VALUES: list[dict[str, Any]] = [
    {"data": "large", "causal": 2},
    {"data": "special", "Nkv": 20},
    {"data": "minus_infinity", "H": 2},
    {"data": "hidden", "causal": 1, "Nkv": 40},
]
SHAPES: list[dict[str, Any]] = [
    {"B": 2, "H": 3, "Nq": 5, "Nkv": 7, "layout": "bnhd", "v_layout": "padded"},
    {"Nq": 64, "Nkv": 32, "layout": "padded", "v_layout": "bhnd"},
    {"Nq": 1, "Nkv": 1},
]
SCALES: list[dict[str, Any]] = [
    {"scale": 0.0, "Nkv": 33},
    {"scale": -0.75},
    {"scale": -2.0, "data": "large", "causal": 1},
]
LONGER = [{"D": d, "causal": 1, "Nkv": 12} for d in (64, 128)]
EVERY: list[dict[str, Any]] = [{}, *MASKS, *VALUES, *SHAPES, *SCALES]

declare("scalar", "scalar.hip", "scalar", ALL, EVERY, sizes=HEAD_SIZES)
declare("scalar", "scalar.hip", "scalar_no_keys", ALL, [{"Nkv": 0}])
declare("tiled", "tiled.hip", "tiled_no_keys", ALL, [{"Nkv": 0, "causal": causal} for causal in (0, 2)])
declare("scalar", "scalar.hip", "scalar_by_size", ALL, LONGER, sizes=HEAD_SIZES)
declare("scalar", "scalar.hip", "scalar_bf16", ALL, [{}, VALUES[1]], fmt="bf16")
for archs, instructions in ((RDNA, "wmma"), (CDNA, "mfma")):
    declare("tiled", "tiled.hip", instructions, archs, EVERY, executes=PRODUCT)
    other: list[dict[str, Any]] = [{"D": d, "causal": causal, "Nkv": 40} for d in (32, 128) for causal in (0, 2)]
    declare("tiled", "tiled_more.hip", f"{instructions}_by_size", archs, other, sizes=(32, 128), executes=PRODUCT)
    few = [{"Nq": 5, "Nkv": 33}]
    declare("tiled", "tiled.hip", f"{instructions}_of_v", archs, few, sources=column_of_v, executes=PRODUCT)
    more: list[dict[str, Any]] = [{}, {"data": "special", "Nkv": 20}, {"data": "hidden", "causal": 1, "Nkv": 40}]
    declare("tiled", "tiled_more.hip", f"{instructions}_bf16", archs, more, fmt="bf16", executes=PRODUCT)


FORMATS = [{"fmt": "f16"}, {"fmt": "bf16"}]
DATA = ("normal", "one_hot")  # with differing signs RDNA truncates even sums that are exact in f32


@case("products.hip", kernel="scores_{fmt}_64", arch=ALL, executes=PRODUCT, each=FORMATS, data=DATA)
def scores(Nq: int = 70, Nkv: int = 45, fmt: str = "f16", arch: str = "") -> LaunchDict:
    """Q K^T of the tiled kernels: a column of B is a row of K."""
    a, b, c = A(fmt, (Nq, 64)), B(fmt, (64, Nkv), order="column"), C("f32", (Nq, Nkv))
    return {"grid": -(-Nq // 64), "block": THREADS[arch], "args": [a, b, c, Nq, Nkv], "expect": a @ b}


@case("products.hip", kernel="sums_{fmt}_64", arch=ALL, executes=PRODUCT, each=FORMATS, data=DATA)
def sums(Nq: int = 70, Nkv: int = 45, fmt: str = "f16", arch: str = "") -> LaunchDict:
    """P V of the tiled kernels, with P given and put where the weights stand."""
    a, b, c = A(fmt, (Nq, Nkv)), B(fmt, (Nkv, 64)), C("f32", (Nq, 64))
    return {"grid": -(-Nq // 64), "block": THREADS[arch], "args": [a, b, c, Nq, Nkv], "expect": a @ b}


@case(
    "any_size.hip",
    kernel="any_size_f16",
    arch=ALL,
    needs="H > 0 and Nq > 0 and Nkv > 0 and D > 0 and D <= 128",
    each=[{"D": 1}, {"D": 24}, {"D": 128}],
)
def any_size(H: int = 2, Nq: int = 9, Nkv: int = 6, D: int = 24, scale: float = -0.5, arch: str = "") -> LaunchDict:
    """D as an argument of the launch."""
    codes = operands.draw("normal", "f16", (1, H, Nq, D), (1, H, Nkv, D))
    numbers = [In("f16", part.shape, part.view(np.float16)) for part in codes]
    args = [*numbers, Out("f16", codes[0].shape), Nq, Nkv, D, scale]

    def expect(*_: NDArray[Any]) -> NDArray[Any]:
        return expected("scalar", arch, "f16", codes, 0, scale).view(np.float16)

    return {"grid": (-(-Nq // 64), H, 1), "block": 64, "args": args, "expect": expect}
