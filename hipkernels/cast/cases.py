"""FP8 quantisation: casts of f32, f16 and bf16 to E4M3 and E5M2 in the architecture's own flavour.

What is decided, and tested here: ``noop[0] == 1.0`` leaves every output as it was, any other value or a null pointer
does not; ``amax`` is the largest |x| of the unscaled input and of what the buffer held, as signed integers, so that a
NaN is above infinity and a preset with its sign bit set counts as nothing; ``scale_inv`` is 1/scale, correctly rounded.
"""

import multi_cases as multi_cases  # noqa: PLC0414 - declares cases of its own
import mx_cases as mx_cases  # noqa: PLC0414
import numpy as np
import operands
import reference
from plan import COMPUTE_UNITS, Part, plan_cast

from mfmasim.verify import In, InOut, Out, case

ARCHS = ["gfx942", "gfx950", "gfx1201"]
GIVEN, TARGETS, OVERFLOWS = ["f32", "f16", "bf16"], ["e4m3", "e5m2"], ["clamp", "ovfl", "plain"]
EVERY = [{"given": g, "target": t, "overflow": o} for g in GIVEN for t in TARGETS for o in OVERFLOWS]
CONVERSIONS = "v_cvt_pk_(fp8|bf8)_f32"
STORES = r"(global_store_dwordx4 .* nt|global_store_b128 .* th:TH_STORE_NT)"


def beside(scale, amax, noop=None):
    """noop, scale, amax, scale_inv: the arguments beside the data."""
    flag = None if noop is None else In("f32", 1, np.array([noop], np.float32))
    return [flag, In("f32", 1, np.array([scale], np.float32)), InOut("f32", 1, np.array([amax], np.float32))]


def launch_cast(x, fmt, overflow, *, scale=1.0, amax=0.0, noop=None, blocks=0, skips=False, given="f32", arch="gfx950"):
    """A launch of the flat kernel: arguments and what is expected of them."""
    n = x.size
    planned = plan_cast(n, x.dtype.itemsize, COMPUTE_UNITS[arch]).blocks
    sentinel = np.full(max(n, 1), operands.SENTINEL, np.uint8)
    kept = np.array([7.5], np.float32)
    untouched = skips or n == 0
    out = InOut(fmt, max(n, 1), sentinel) if untouched else Out(fmt, n, nan="bits")
    inverse = InOut("f32", 1, kept) if skips else Out("f32", 1)
    padded = x if n else np.zeros(1, x.dtype)
    args = [In(given, max(n, 1), padded), out, *beside(scale, amax, noop), inverse, np.int64(n)]

    def expect(*_):
        bytes_out = sentinel if untouched else reference.cast(x, scale, fmt, overflow)
        if skips:
            return bytes_out, np.array([amax], np.float32), kept
        return bytes_out, np.array([reference.amax(x, amax)]), np.array([reference.scale_inv(scale)], np.float32)

    return {"grid": blocks or max(planned, 1), "block": 256, "args": args, "expect": expect}


@case(
    "cast.hip",
    kernel="cast_{given}_{target}_{overflow}",
    arch=ARCHS,
    each=[{**each, "data": "special"} for each in EVERY] + [{**each, "data": "finite"} for each in EVERY[:6]],
    executes=[CONVERSIONS, STORES],
)
def cast(n=5011, given="f32", target="e4m3", overflow="clamp", data="finite", scale=1.0, arch="gfx950"):
    """Bulk and tail, two workgroups, every corner value."""
    x, fmt = operands.values(given, n, data), reference.target_format(target, arch)
    return launch_cast(x, fmt, overflow, scale=scale, given=given, arch=arch)


@case(
    "cast.hip",
    kernel="cast_{given}_e4m3_clamp",
    arch=ARCHS,
    each=[{"n": n, "given": g} for g in GIVEN for n in (0, 1, 15, 16, 17, 4093, 4096, 4097)],
)
def cast_count(n=0, given="f32", arch="gfx950"):
    """Counts around the width of a thread and of a workgroup."""
    x = operands.values(given, n, "finite", seed=n)
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", scale=0.37, given=given, arch=arch)


@case("cast.hip", kernel="cast_f32_e5m2_clamp", arch=ARCHS, each=[{"blocks": blocks} for blocks in (1, 2, 7)])
def cast_grid(n=9973, blocks=1, arch="gfx950"):
    """Any grid gives the same bytes: fewer workgroups go round more often, more find nothing to do."""
    x = operands.values("f32", n, "finite")
    return launch_cast(x, reference.target_format("e5m2", arch), "clamp", scale=3.0, blocks=blocks, arch=arch)


SCALES = [0.0, -0.0, -2.5, 3.0, 7.0, 2.0**-126, 2.0**-149, 2.0**127, float("inf"), float("nan")]


@case("cast.hip", kernel="cast_f32_e4m3_{overflow}", arch=ARCHS, each=[
    {"scale": scale, "overflow": overflow} for scale in SCALES for overflow in ("clamp", "plain")
])  # fmt: skip
def cast_scale(n=83, scale=1.0, overflow="clamp", data="special", arch="gfx950"):
    """Scales at the ends of f32, where the product or the inverse is infinite, zero, denormal or a NaN."""
    x = operands.values("f32", n, data)
    return launch_cast(x, reference.target_format("e4m3", arch), overflow, scale=scale, arch=arch)


PRESETS = [0.0, -0.0, 1.0e30, -1.0, float("inf"), float("nan"), -float("inf"), 2.0**-149]


@case("cast.hip", kernel="cast_f32_e4m3_clamp", arch=ARCHS, each=[{"preset": preset} for preset in PRESETS])
def cast_amax(n=40, preset=0.0, high=3.0, arch="gfx950"):
    """What the amax buffer held counts, unless its sign bit is set."""
    x = np.linspace(-high, high / 2, n, dtype=np.float32)
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", amax=preset, arch=arch)


@case("cast.hip", kernel="cast_f32_e4m3_clamp", arch=ARCHS, each=[{"place": place} for place in (15, 4015, 4100)])
def cast_amax_nan(n=4101, place=0, arch="gfx950"):
    """One NaN, in bulk or tail, in the first or last workgroup, makes amax a NaN."""
    x = np.linspace(-1, 1, n, dtype=np.float32)
    x[place] = np.nan
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", arch=arch)


NOOPS = [0.0, -0.0, 0.999, 1.0, 2.0, -1.0, float("nan")]


@case("cast.hip", kernel="cast_f32_e4m3_clamp", arch=ARCHS, each=[{"noop": noop} for noop in NOOPS])
def cast_noop(n=37, noop=0.0, arch="gfx950"):
    """Only a flag of exactly 1 leaves output, amax and scale_inv untouched."""
    x = operands.values("f32", n, "finite")
    fmt = reference.target_format("e4m3", arch)
    return launch_cast(x, fmt, "clamp", scale=0.3, amax=-5.0, noop=noop, skips=noop == 1.0, arch=arch)


@case("cast.hip", kernel="cast_nothing", arch=ARCHS, each=[{"scale": scale} for scale in SCALES])
def cast_nothing(scale=3.0):
    """A tensor without elements: no cast is launched, scale_inv is defined all the same."""
    args = [None, In("f32", 1, np.array([scale], np.float32)), Out("f32", 1)]
    return {"grid": 1, "block": 1, "args": args, "expect": np.array([reference.scale_inv(scale)], np.float32)}


CDNA = ["gfx942", "gfx950"]
LOADS = {"f32": [16, 8, 4], "f16": [8, 4, 2], "bf16": [8, 4, 2]}
TILES = [{"given": g, "load": load, "store": store} for g in GIVEN for load in LOADS[g] for store in (8, 4, 2)]
HINT = r"global_store_(byte|short|dword|dwordx2) .* nt"


def launch_part(x, part, given, fmt, *, scale=1.0, noop=None):
    """A launch of one part of a plan: what it does not cover stays as it was, in both outputs."""
    rows, cols = x.shape
    down, across = part.tiles(x.dtype.itemsize)
    height, width = (
        np.s_[part.first_row : part.first_row + part.rows],
        np.s_[part.first_col : part.first_col + part.cols],
    )
    skips, everything = noop == 1.0, part.rows == rows and part.cols == cols
    kept = np.array([7.5], np.float32)
    sides = [
        Out(fmt, shape, nan="bits")
        if everything and not skips
        else InOut(fmt, shape, np.full(shape, operands.SENTINEL, np.uint8))
        for shape in ((rows, cols), (cols, rows))
    ]
    inverse = InOut("f32", 1, kept) if skips else Out("f32", 1)
    size = [np.int32(down)] if part.load else [np.int64(part.rows), np.int64(part.cols)]
    places = [np.int64(n) for n in (rows, cols, part.first_row, part.first_col)]
    args = [In(given, x.shape, x), *sides, *beside(scale, 0.0, noop), inverse, *places, *size]

    def expect(*_):
        out, turned = (np.full(side.shape, operands.SENTINEL, np.uint8) for side in sides)
        if skips:
            return out, turned, np.zeros(1, np.float32), kept
        out[height, width] = reference.cast(x[height, width], scale, fmt, "clamp")
        turned[width, height] = out[height, width].T
        highest = reference.amax(x[height, width], 0.0)
        return out, turned, np.array([highest]), np.array([reference.scale_inv(scale)], np.float32)

    return {"grid": down * across, "block": 512 if part.load else 256, "args": args, "expect": expect}


def declare(given):
    """Tiles and the kernel without them, for one input format."""
    source = f"transpose_{given}.hip"
    tiles = [each for each in TILES if each["given"] == given]

    @case(
        source,
        kernel="cast_transpose_{given}_{target}_load{load}_store{store}",
        arch=CDNA,
        each=[*tiles, {**tiles[0], "target": "e5m2"}],
        executes=[CONVERSIONS, HINT],
    )
    def transpose(given="f32", target="e4m3", load=16, store=8, data="special", scale=0.7, arch="gfx950"):
        """One tile of each size."""
        wide = 32 * load // {"f32": 4}.get(given, 2)
        x = operands.values(given, 32 * store * wide, data).reshape(32 * store, wide)
        part = Part(load, store, 0, 32 * store, 0, wide)
        return launch_part(x, part, given, reference.target_format(target, arch), scale=scale)

    @case(
        source,
        kernel="cast_transpose_{given}_{target}_rest",
        arch=CDNA,
        each=[{"given": given, "target": target} for target in TARGETS],
        executes=CONVERSIONS,
    )
    def transpose_rest(given="f32", target="e4m3", rows=43, cols=37, data="special", arch="gfx950"):
        """Any size, one element a thread."""
        x = operands.values(given, rows * cols, data).reshape(rows, cols)
        part = Part(0, 0, 0, rows, 0, cols)
        return launch_part(x, part, given, reference.target_format(target, arch), scale=-3.0)


for each_given in GIVEN:
    declare(each_given)


PARTS = {
    "tiles": Part(8, 2, 64, 128, 64, 128), "odd": Part(8, 2, 3, 128, 5, 64), "rest": Part(0, 0, 5, 17, 3, 11),
    "corner": Part(0, 0, 191, 2, 131, 62),
}  # fmt: skip


@case(
    "transpose_f32.hip",
    kernel="{kernel}",
    arch=CDNA,
    each=[{"part": name, "kernel": part.kernel("f32", "e4m3")} for name, part in PARTS.items()],
)
def transpose_part(part="tiles", kernel="", rows=193, cols=193, arch="gfx950"):
    """A part in the middle of a matrix with odd strides; nothing around it changes."""
    x = operands.values("f32", rows * cols, "finite").reshape(rows, cols)
    return launch_part(x, PARTS[part], "f32", reference.target_format("e4m3", arch))


@case(
    "transpose_f32.hip",
    kernel="{kernel}",
    arch=CDNA,
    each=[
        {"kernel": f"cast_transpose_f32_e4m3_{kind}", "noop": noop}
        for kind in ("load4_store2", "rest") for noop in (1.0, 0.999)
    ],
)  # fmt: skip
def transpose_noop(kernel="", noop=1.0, arch="gfx950"):
    """The flag holds for both outputs."""
    x = operands.values("f32", 64 * 32, "finite").reshape(64, 32)
    part = Part(0, 0, 0, 64, 0, 32) if kernel.endswith("rest") else Part(4, 2, 0, 64, 0, 32)
    return launch_part(x, part, "f32", reference.target_format("e4m3", arch), noop=noop)


@case(
    "transpose_f32.hip",
    kernel="unpadded_f32_e4m3_load16_store{store}",
    arch=CDNA,
    each=[{"store": store} for store in (8, 4, 2)],
)
def transpose_unpadded(store=8, arch="gfx950"):
    """Without the column of padding: the same bytes, with bank conflicts."""
    x = operands.values("f32", 32 * store * 128, "finite").reshape(32 * store, 128)
    return launch_part(x, Part(16, store, 0, 32 * store, 0, 128), "f32", reference.target_format("e4m3", arch))
