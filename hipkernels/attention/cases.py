"""Attention forward on [B, H, N, D]: one thread a query, and tiles by matrix instructions.

Outputs are compared bit for bit with a replay of the kernel's own order of operations, and the replay lies within a
derived bound of attention in float64 (`reference.attention`), or the case fails.
"""

import numpy as np
import operands
import replay
from numbers16 import decode
from plan import HEAD_SIZES, layout_of, plan_attention
from reference import attention

from mfmasim.errors import MfmasimError
from mfmasim.verify import A, B, C, In, Out, case

ALL, CDNA, RDNA = ("gfx942", "gfx950", "gfx1151", "gfx1201"), ("gfx942", "gfx950"), ("gfx1151", "gfx1201")
THREADS = {"gfx942": 256, "gfx950": 256, "gfx1151": 128, "gfx1201": 128}
"""Four waves."""
PRODUCT = "v_(wmma_f32_16x16x16|mfma_f32_16x16x(16|32))_b?f16"
NEEDS = "B > 0 and H > 0 and Nq > 0 and Nkv >= 0 and causal in (0, 1, 2) and D in "


def spread(codes, layout, fill):
    """Codes [B, H, N, D] in a layout, `fill` between the rows."""
    memory = np.full(layout.elements, fill, np.uint16)
    view(memory, layout, codes.shape)[...] = codes
    return memory


def view(memory, layout, shape):
    """[B, H, N, D] of an array in a layout."""
    steps = [memory.itemsize * int(step) for step in (*layout.strides, 1)]
    return np.lib.stride_tricks.as_strided(memory, shape, steps)


def expected(way, arch, fmt, codes, causal, scale):
    """What a kernel has to leave, after a look at how far that is from the exact result."""
    if way == "scalar":
        found, tile, inner = replay.scalar(fmt, *codes, causal, scale), 1, "f32"
    else:
        found, tile, inner = replay.tiled(arch, fmt, *codes, causal, scale), replay.KEYS, fmt
    numbers = [decode(fmt, part).astype(np.float64) for part in codes]
    exact, bound = attention(fmt, *numbers, causal, scale, tile=tile, weights_in=inner)
    values = decode(fmt, found).astype(np.float64)
    with np.errstate(all="ignore"):
        wrong = ~((np.abs(values - exact) <= bound) | (values == exact) | np.isnan(values) & np.isnan(exact))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = f"{wrong.sum()} of {wrong.size} elements lie outside the bound, O{list(place)}"
        raise MfmasimError(f"{text}: {values[place]:.9g}, exactly {exact[place]:.9g}, bound {bound[place]:.3g}")
    return found


def launch(way, arch, fmt, sizes, causal, scale, layout, v_layout, data):
    """A launch: arguments, and what is expected of them."""
    b, h, queries, keys, d = sizes
    grid = plan_attention(way, b, h, queries, keys, d, causal, scale)
    shapes = {"q": (b, h, queries, d), "k": (b, h, keys, d), "v": (b, h, keys, d), "o": (b, h, queries, d)}
    names = {"q": layout, "k": layout, "v": v_layout or layout, "o": "bhnd" if layout == "padded" else layout}
    places = {name: layout_of(names[name], shape) for name, shape in shapes.items()}
    codes = operands.draw(data, fmt, shapes["q"], shapes["k"])
    kind = np.float16 if fmt == "f16" else np.uint16
    inputs = [
        In(fmt, place.elements, spread(part, place, operands.NAN[fmt]).view(kind)) if part.size else None
        for part, place in zip(codes, (places[name] for name in "qkv"), strict=True)
    ]
    args = [*inputs, Out(fmt, places["o"].elements), queries, keys, *(places[name].strides for name in "qkvo"), causal]
    args.append(None if scale is None else In("f32", 1, np.array([scale], np.float32)))

    def expect(*_):
        return spread(expected(way, arch, fmt, codes, causal, scale), places["o"], 0).view(kind)

    return {"grid": grid, "block": 64 if way == "scalar" else THREADS[arch], "args": args, "expect": expect}


def declare(way, source, name, archs, each, fmt="f16", sizes=(64,), **more):
    """A case for the kernels of a source with rows of so many elements, in variants."""

    def run(
        B=1, H=1, Nq=70, Nkv=45, D=sizes[0], causal=0, scale=None, layout="bhnd", v_layout="", data="normal", arch=""
    ):
        return launch(way, arch, fmt, (B, H, Nq, Nkv, D), causal, scale, layout, v_layout, data)

    run.__name__ = name
    case(source, kernel=f"{way}_{fmt}_{{D}}", arch=archs, needs=NEEDS + str(sizes), each=each, **more)(run)


MASKS = [
    {"causal": 1},  # more queries than keys: the last ones see all
    {"causal": 2},  # and the first ones none
    {"causal": 1, "Nq": 33, "Nkv": 70},
    {"causal": 2, "Nq": 33, "Nkv": 70},
]
VALUES = [
    {"data": "large", "causal": 2},
    {"data": "special", "Nkv": 20},
    {"data": "minus_infinity", "H": 2},
    {"data": "hidden", "causal": 1, "Nkv": 40},
]
SHAPES = [
    {"B": 2, "H": 3, "Nq": 5, "Nkv": 7, "layout": "bnhd", "v_layout": "padded"},
    {"Nq": 64, "Nkv": 32, "layout": "padded", "v_layout": "bhnd"},
    {"Nq": 1, "Nkv": 1},
]
SCALES = [{"scale": 0.0, "Nkv": 33}, {"scale": -0.75}, {"scale": -2.0, "data": "large", "causal": 1}]
LONGER = [{"D": d, "causal": 1, "Nkv": 12} for d in (64, 128)]
EVERY = [{}, *MASKS, *VALUES, *SHAPES, *SCALES]

declare("scalar", "scalar.hip", "scalar", ALL, EVERY, sizes=HEAD_SIZES)
declare("scalar", "scalar.hip", "scalar_no_keys", ALL, [{"Nkv": 0}])
declare("tiled", "tiled.hip", "tiled_no_keys", ALL, [{"Nkv": 0, "causal": causal} for causal in (0, 2)])
declare("scalar", "scalar.hip", "scalar_by_size", ALL, LONGER, sizes=HEAD_SIZES)
declare("scalar", "scalar.hip", "scalar_bf16", ALL, [{}, {"data": "special", "Nkv": 20}], fmt="bf16")
for archs, instructions in ((RDNA, "wmma"), (CDNA, "mfma")):
    declare("tiled", "tiled.hip", instructions, archs, EVERY, executes=PRODUCT)
    other = [{"D": d, "causal": causal, "Nkv": 40} for d in (32, 128) for causal in (0, 2)]
    declare("tiled", "tiled_more.hip", f"{instructions}_by_size", archs, other, sizes=(32, 128), executes=PRODUCT)
    more = [{}, {"data": "special", "Nkv": 20}, {"data": "hidden", "causal": 1, "Nkv": 40}]
    declare("tiled", "tiled_more.hip", f"{instructions}_bf16", archs, more, fmt="bf16", executes=PRODUCT)


FORMATS = [{"fmt": "f16"}, {"fmt": "bf16"}]
DATA = ("normal", "one_hot")  # where signs differ RDNA truncates even sums that f32 could hold


@case("products.hip", kernel="scores_{fmt}_64", arch=ALL, executes=PRODUCT, each=FORMATS, data=DATA)
def scores(Nq=70, Nkv=45, fmt="f16", arch=""):
    """Q K^T of the tiled kernels: a column of B is a row of K."""
    a, b, c = A(fmt, (Nq, 64)), B(fmt, (64, Nkv), order="column"), C("f32", (Nq, Nkv))
    return {"grid": -(-Nq // 64), "block": THREADS[arch], "args": [a, b, c, Nq, Nkv], "expect": a @ b}


@case("products.hip", kernel="sums_{fmt}_64", arch=ALL, executes=PRODUCT, each=FORMATS, data=DATA)
def sums(Nq=70, Nkv=45, fmt="f16", arch=""):
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
def any_size(H=2, Nq=9, Nkv=6, D=24, scale=-0.5):
    """D as an argument of the launch."""
    codes = operands.draw("normal", "f16", (1, H, Nq, D), (1, H, Nkv, D))
    numbers = [In("f16", part.shape, part.view(np.float16)) for part in codes]
    args = [*numbers, Out("f16", codes[0].shape), Nq, Nkv, D, scale]

    def expect(*_):
        return expected("scalar", "", "f16", codes, 0, scale).view(np.float16)

    return {"grid": (-(-Nq // 64), H, 1), "block": 64, "args": args, "expect": expect}
