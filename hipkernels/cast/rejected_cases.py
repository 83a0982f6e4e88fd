"""Other ways of the casts: CDNA4's conversion with a scale, the baselines, and what the text tried and rejected."""

from dataclasses import dataclass

from hipkernels.cast import operands, reference
from hipkernels.cast.flat_cases import launch_cast
from hipkernels.cast.operands import CDNA, CONVERSIONS, GIVEN, NOOPS, SCALES, TARGETS
from hipkernels.cast.plan import Part
from hipkernels.cast.transpose_cases import HINT, LOADS, launch_part
from mfmasim.verify import LaunchDict, case

SCALED = "v_cvt_scalef32_pk_(fp8|bf8)_f32"
HOW = ("clamp", "plain")


@case(
    "flat_ways.hip",
    kernel="by_scaled_conversion_{given}_{target}_{overflow}",
    arch="gfx950",
    each=[{"given": g, "target": t, "overflow": how} for g in GIVEN for t in TARGETS for how in HOW],
    executes=[SCALED, "global_store_dwordx4 .* nt"],
)
def scaled_conversion(
    n: int = 5011,
    given: str = "f32",
    target: str = "e4m3",
    overflow: str = "clamp",
    scale: float = 0.37,
    arch: str = "gfx950",
) -> LaunchDict:
    """The factor is multiplied before, and the instruction's own scale is 1: the same bytes as by v_cvt_pk."""
    x, fmt = operands.values(given, n, "special"), reference.target_format(target, arch)
    return launch_cast(x, fmt, overflow, scale=scale, given=given, arch=arch)


@case(
    "flat_ways.hip",
    kernel="by_scaled_conversion_f32_e4m3_clamp",
    arch="gfx950",
    each=[{"scale": scale} for scale in SCALES],
    executes=SCALED,
)
def scaled_conversion_scale(n: int = 83, scale: float = 1.0, arch: str = "gfx950") -> LaunchDict:
    """Scales at the ends of f32: they are multiplied, so that they may be any number."""
    return launch_cast(operands.values("f32", n, "special"), "e4m3fn", "clamp", scale=scale, arch=arch)


@case(
    "flat_ways.hip",
    kernel="{way}_f32_e4m3_clamp",
    arch=CDNA,
    each=[{"way": way, "noop": noop} for way in ("past_the_caches", "past_the_caches_if_large") for noop in NOOPS[2:4]],
)
def flat_way_noop(n: int = 4117, way: str = "", noop: float = 1.0, arch: str = "gfx950") -> LaunchDict:
    """The flag holds for every way."""
    x, fmt = operands.values("f32", n, "finite"), reference.target_format("e4m3", arch)
    return launch_cast(x, fmt, "clamp", scale=0.3, amax=-5.0, noop=noop, skips=noop == 1.0, arch=arch)


@case(
    "flat_ways.hip",
    kernel="past_the_caches_{given}_e4m3_clamp",
    arch=CDNA,
    each=[{"given": given} for given in GIVEN],
    executes=[CONVERSIONS, "global_load_dwordx4 .* nt"],
)
def hinted_loads(n: int = 5011, given: str = "f32", arch: str = "gfx950") -> LaunchDict:
    """Loads with the hint that their lines are not used again."""
    x, fmt = operands.values(given, n, "special"), reference.target_format("e4m3", arch)
    return launch_cast(x, fmt, "clamp", scale=0.37, given=given, arch=arch)


@case(
    "flat_ways.hip", kernel="past_the_caches_if_large_{given}_e4m3_clamp", arch=CDNA, each=[{"given": g} for g in GIVEN]
)
def hinted_loads_if_large(n: int = 5011, given: str = "f32", arch: str = "gfx950") -> LaunchDict:
    """The same behind a branch on the size; the elements here take the other one."""
    x, fmt = operands.values(given, n, "special"), reference.target_format("e4m3", arch)
    return launch_cast(x, fmt, "clamp", scale=0.37, given=given, arch=arch)


@case(
    "flat_ways.hip",
    kernel="element_by_element_{given}_e4m3_clamp",
    arch=CDNA,
    each=[{"given": given} for given in GIVEN],
    executes="global_store_dwordx4 .* off$",
)
def flat_baseline(n: int = 5011, given: str = "f32", scale: float = 0.37, arch: str = "gfx950") -> LaunchDict:
    """Converted in software, element by element, and stored without a hint: the bytes are the same."""
    x, fmt = operands.values(given, n, "special"), reference.target_format("e4m3", arch)
    return launch_cast(x, fmt, "clamp", scale=scale, given=given, arch=arch)


@case("cast.hip", kernel="cast_f32_e4m3_clamp", arch=CDNA, each=[{"blocks": blocks} for blocks in (128, 1024)])
def rejected_grid(n: int = 1 << 18, blocks: int = 128, arch: str = "gfx950") -> LaunchDict:
    """Grids that were rejected: every workgroup adds to amax once, whether it has elements or not."""
    x = operands.values("f32", n, "finite")
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", scale=3.0, blocks=blocks, arch=arch)


@dataclass(frozen=True)
class Variant(Part):
    """A part in other tiles."""

    side: int = 32
    """Threads beside each other."""
    beside: int = 1
    """Tiles of a workgroup beside each other."""

    def tiles(self, given_bytes: int) -> tuple[int, int]:
        """Workgroups down and across."""
        width = self.side * self.load // given_bytes * self.beside
        return self.rows // (self.side * self.store), self.cols // width


VARIANTS = {
    "wide": ("transpose_wide.hip", 32, 1, [("bf16", 16, 8), ("bf16", 16, 4), ("f16", 16, 8)]),
    "two_tiles": ("transpose_wide.hip", 32, 2, [("f32", 16, 8), ("bf16", 8, 8)]),
    "side64": ("transpose_64.hip", 64, 1, [("f32", 16, 8), ("bf16", 8, 8)]),
    "held": ("transpose_held.hip", 32, 1, [("bf16", 8, 8), ("bf16", 16, 8)]),
    "baseline": ("transpose_ways.hip", 32, 1, [("f32", 8, 8), ("bf16", 8, 8), ("bf16", 16, 8)]),
    "cast_transpose": (
        "transpose_ways.hip",
        32,
        1,
        [(given, load, 1) for given in ("f32", "bf16") for load in LOADS[given]],
    ),
    "only_cast": ("transpose_ways.hip", 32, 1, [("f32", 16, 8), ("bf16", 8, 8)]),
}
"""Source, threads beside each other, tiles of a workgroup, and input, load and store of each kernel."""
EXECUTES: dict[str, list[str]] = {
    "baseline": ["global_store_dwordx2 .* off$"],
    "only_cast": [CONVERSIONS, "global_store_dword .* nt"],
}
"""Of the variants whose conversions or stores are others."""


def declare(name: str) -> None:
    """The cases of a variant."""
    source, side, beside, kernels = VARIANTS[name]

    def variant(
        given: str = "f32",
        load: int = 16,
        store: int = 8,
        high: int = 1,
        across: int = 1,
        noop: float = 0.0,
        data: str = "special",
        arch: str = "gfx950",
    ) -> LaunchDict:
        """So many workgroups down and across."""
        rows, cols = side * store * high, side * load // {"f32": 4}.get(given, 2) * beside * across
        x = operands.values(given, rows * cols, data).reshape(rows, cols)
        part = Variant(load, store, 0, rows, 0, cols, side, beside)
        fmt, turns = reference.target_format("e4m3", arch), name != "only_cast"
        return launch_part(x, part, given, fmt, scale=0.7, noop=noop, turns=turns)

    variant.__name__ = f"transpose_{'short' if name == 'cast_transpose' else name}"
    each = [{"given": g, "load": load, "store": store} for g, load, store in kernels]
    kernel = f"{name}_{{given}}_e4m3_load{{load}}_store{{store}}"
    tile = {"held": each[0], "baseline": each[0]}.get(name, each[-1])
    several = [*each, {**tile, "high": 2, "across": 3}]
    case(source, kernel=kernel, arch=CDNA, each=several, executes=EXECUTES.get(name, [CONVERSIONS, HINT]))(variant)
    variant.__name__ += "_noop"
    case(source, kernel=kernel, arch=CDNA, each=[{**each[0], "noop": 1.0}])(variant)


for each_variant in VARIANTS:
    declare(each_variant)


@case(
    "transpose_thin.hip",
    kernel="thin_{given}_e4m3",
    arch=CDNA,
    needs="rows >= 1 and cols >= 1 and split >= 1",
    each=[
        {"given": "f32"},
        {"given": "bf16"},
        {"rows": 8, "cols": 256, "split": 1},
        {"rows": 64, "cols": 2880, "split": 1},
    ],
    executes=CONVERSIONS,
)
def transpose_thin(
    given: str = "f32",
    rows: int = 43,
    cols: int = 300,
    split: int = 3,
    noop: float = 0.0,
    data: str = "special",
    arch: str = "gfx950",
) -> LaunchDict:
    """A thread for each column; the rows in `split` parts, the last of which has a rest."""
    x = operands.values(given, rows * cols, data).reshape(rows, cols)
    launch = launch_part(
        x, Part(0, 0, 0, rows, 0, cols), given, reference.target_format("e4m3", arch), scale=-3.0, noop=noop
    )
    return {**launch, "grid": (-(-cols // 256), split)}


@case("transpose_thin.hip", kernel="thin_f32_e4m3", arch=CDNA, each=[{"noop": noop} for noop in NOOPS[2:5]])
def transpose_thin_noop(noop: float = 1.0, rows: int = 9, cols: int = 5, arch: str = "gfx950") -> LaunchDict:
    """The flag holds."""
    return transpose_thin("f32", rows, cols, 1, noop, "finite", arch)
