"""Cases of cast and transpose: tiles, the kernel without them, parts of a matrix, and every corner on both."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.cast import operands, reference
from hipkernels.cast.operands import CDNA, CONVERSIONS, GIVEN, KEPT, NOOPS, PRESETS, SCALES, TARGETS, beside, one
from hipkernels.cast.plan import Part
from mfmasim.verify import In, InOut, LaunchDict, Out, case

LOADS = {"f32": [16, 8, 4], "f16": [8, 4, 2], "bf16": [8, 4, 2]}
TILES = [{"given": g, "load": load, "store": store} for g in GIVEN for load in LOADS[g] for store in (8, 4, 2)]
HINT = r"global_store_(byte|short|dword|dwordx2) .* nt"


def launch_part(
    x: NDArray[Any],
    part: Part,
    given: str,
    fmt: str,
    *,
    scale: float = 1.0,
    amax: float = 0.0,
    noop: float | None = None,
    turns: bool = True,
) -> LaunchDict:
    """A launch of one part of a plan: the rest stays unchanged in both outputs; without `turns` all of the second."""
    rows, cols = x.shape
    down, across = part.tiles(x.dtype.itemsize)
    height, width = (
        np.s_[part.first_row : part.first_row + part.rows],
        np.s_[part.first_col : part.first_col + part.cols],
    )
    skips, everything = noop == 1.0, part.rows == rows and part.cols == cols
    sides = [
        Out(fmt, shape, nan="bits")
        if everything and not skips and writes
        else InOut(fmt, shape, np.full(shape, operands.SENTINEL, np.uint8))
        for shape, writes in (((rows, cols), True), ((cols, rows), turns))
    ]
    inverse = InOut("f32", 1, one(KEPT)) if skips else Out("f32", 1)
    size = [np.int32(down)] if part.load else [np.int64(part.rows), np.int64(part.cols)]
    places = [np.int64(n) for n in (rows, cols, part.first_row, part.first_col)]
    args = [In(given, x.shape, x, drawn="special"), *sides, *beside(scale, amax, noop), inverse, *places, *size]

    def expect(
        held: NDArray[Any], *beside_it: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        out, turned = (np.full(side.shape, operands.SENTINEL, np.uint8) for side in sides)
        if skips:
            return out, turned, beside_it[-2], one(KEPT)
        factor, preset = (values[0] for values in beside_it[-2:])
        out[height, width] = reference.cast(held[height, width], factor, fmt, "clamp")
        if turns:
            turned[width, height] = out[height, width].T
        highest = reference.amax(held[height, width], preset)
        return out, turned, np.array([highest]), one(reference.scale_inv(factor))

    return {"grid": down * across, "block": part.threads, "args": args, "expect": expect}


def declare(given: str) -> None:
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
    def transpose(
        given: str = "f32",
        target: str = "e4m3",
        load: int = 16,
        store: int = 8,
        data: str = "special",
        scale: float = 0.7,
        arch: str = "gfx950",
    ) -> LaunchDict:
        """One tile of each size."""
        wide = 32 * load // {"f32": 4}.get(given, 2)
        x = operands.values(given, 32 * store * wide, data).reshape(32 * store, wide)
        part = Part(load, store, 0, 32 * store, 0, wide)
        return launch_part(x, part, given, reference.target_format(target, arch), scale=scale)

    @case(
        source,
        kernel="cast_transpose_{given}_{target}_rest",
        arch=CDNA,
        needs="rows >= 1 and cols >= 1",
        each=[{"given": given, "target": target} for target in TARGETS],
        executes=CONVERSIONS,
    )
    def transpose_rest(
        given: str = "f32",
        target: str = "e4m3",
        rows: int = 43,
        cols: int = 37,
        data: str = "special",
        arch: str = "gfx950",
    ) -> LaunchDict:
        """Any size, one element a thread."""
        x = operands.values(given, rows * cols, data).reshape(rows, cols)
        part = Part(0, 0, 0, rows, 0, cols)
        return launch_part(x, part, given, reference.target_format(target, arch), scale=-3.0)


for each_given in GIVEN:
    declare(each_given)


PARTS = {
    "tiles": Part(8, 2, 64, 128, 64, 128), "odd": Part(8, 2, 3, 128, 5, 64), "rest": Part(0, 0, 5, 17, 3, 11),
    "corner": Part(0, 0, 191, 2, 131, 62), "wide": Part(16, 4, 64, 128, 1, 128),
}  # fmt: skip


@case(
    "transpose_f32.hip",
    kernel="{kernel}",
    arch=CDNA,
    each=[{"part": name, "kernel": part.kernel("f32", "e4m3")} for name, part in PARTS.items()],
)
def transpose_part(
    part: str = "tiles", kernel: str = "", rows: int = 193, cols: int = 193, arch: str = "gfx950"
) -> LaunchDict:
    """A part in the middle of a matrix with odd strides; the surrounding elements stay unchanged."""
    x = operands.values("f32", rows * cols, "finite").reshape(rows, cols)
    return launch_part(x, PARTS[part], "f32", reference.target_format("e4m3", arch))


WHOLE = {"tile": Part(4, 2, 0, 64, 0, 32), "rest": Part(0, 0, 0, 64, 0, 32)}
"""The same matrix by a tile, and element by element."""
BOTH = [{"part": name, "kernel": part.kernel("f32", "e4m3")} for name, part in WHOLE.items()]


def whole(x: NDArray[Any], part: str, arch: str, **beside_it: Any) -> LaunchDict:
    """A launch over all of a matrix of 64 x 32."""
    return launch_part(x.reshape(64, 32), WHOLE[part], "f32", reference.target_format("e4m3", arch), **beside_it)


def over(**values: Any) -> list[dict[str, Any]]:
    """Every value, by tile and without."""
    ((name, chosen),) = values.items()
    return [{**each, name: value} for each in BOTH for value in chosen]


@case("transpose_f32.hip", kernel="{kernel}", arch=CDNA, each=over(noop=NOOPS))
def transpose_noop(part: str = "tile", kernel: str = "", noop: float = 1.0, arch: str = "gfx950") -> LaunchDict:
    """The flag holds for both outputs."""
    return whole(operands.values("f32", 2048, "finite"), part, arch, scale=0.3, amax=-5.0, noop=noop)


@case("transpose_f32.hip", kernel="{kernel}", arch=CDNA, each=over(scale=SCALES))
def transpose_scale(
    part: str = "tile", kernel: str = "", scale: float = 1.0, data: str = "special", arch: str = "gfx950"
) -> LaunchDict:
    """Scales at the ends of f32."""
    return whole(operands.values("f32", 2048, data), part, arch, scale=scale)


@case("transpose_f32.hip", kernel="{kernel}", arch=CDNA, each=over(preset=PRESETS))
def transpose_amax(part: str = "tile", kernel: str = "", preset: float = 0.0, arch: str = "gfx950") -> LaunchDict:
    """The previous value of amax counts, unless its sign bit is set."""
    return whole(np.linspace(-3, 1.5, 2048, dtype=np.float32), part, arch, amax=preset)


@case("transpose_f32.hip", kernel="{kernel}", arch=CDNA, each=over(place=[0, 1023, 2047]))
def transpose_amax_nan(
    part: str = "tile", kernel: str = "", place: int = 0, value: float = float("nan"), arch: str = "gfx950"
) -> LaunchDict:
    """One NaN anywhere makes amax a NaN."""
    x = np.linspace(-3, 1.5, 2048, dtype=np.float32)
    x[place] = value
    return whole(x, part, arch)


@case("transpose_f32.hip", kernel="{kernel}", arch=CDNA, each=over(preset=[0.0, -0.0]))
def transpose_zeros(part: str = "tile", kernel: str = "", preset: float = 0.0, arch: str = "gfx950") -> LaunchDict:
    """Negative zeros keep their sign in the OCP formats; FNUZ has none. Their largest magnitude is 0."""
    return whole(np.full(2048, -0.0, np.float32), part, arch, amax=preset)


@case(
    "transpose_f32.hip",
    kernel="unpadded_f32_e4m3_load16_store{store}",
    arch=CDNA,
    each=[{"store": store} for store in (8, 4, 2)],
)
def transpose_unpadded(store: int = 8, arch: str = "gfx950") -> LaunchDict:
    """Without the column of padding: the same bytes, with bank conflicts."""
    x = operands.values("f32", 32 * store * 128, "finite").reshape(32 * store, 128)
    return launch_part(x, Part(16, store, 0, 32 * store, 0, 128), "f32", reference.target_format("e4m3", arch))
