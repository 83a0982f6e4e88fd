"""Cast and transpose of many tensors in one launch: shapes, tensors without elements, ranges of workgroups."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.cast import operands, reference
from hipkernels.cast.operands import CDNA, CONVERSIONS, GIVEN, KEPT, PRESETS, SCALES, TARGETS, one
from hipkernels.cast.plan import Many, plan_many, table
from mfmasim.verify import In, InOut, LaunchDict, Out, case
from mfmasim.verify.arrays import Array

SETS = {
    "published": [(1, 1), (1, 768), (768, 1), (768, 768), (43, 43), (43, 256), (256, 43), (256, 256)],
    "edges": [(1, 1), (127, 129), (128, 128), (129, 127), (8, 8), (43, 257)],
    "one": [(130, 70)],
    "empty": [(0, 5), (17, 9), (0, 0), (3, 0), (128, 130), (1, 1), (9, 0)],
    "all_empty": [(0, 7), (0, 0), (3, 0)],
    "many": [(1 + each % 7, 1 + each % 5) for each in range(257)],
    "many_empty": [(each % 3, each % 4) for each in range(256)],
}
"""Lists of shapes."""


def scale_of(each: int) -> np.float32:
    """Every tensor has its own scale."""
    return np.float32(0.25 + 0.5 * (each % 13))


def preset_of(each: int) -> np.float32:
    """Expected value of each amax; that of a tensor without elements stays."""
    return np.float32([0.0, -1.0, 1.0e30, 0.125][each % 4])


def matrix(given: str, rows: int, cols: int, each: int, data: str) -> NDArray[Any]:
    """The elements of a tensor."""
    return operands.values(given, rows * cols, data, seed=each).reshape(rows, cols)


VARIANTS: list[dict[str, Any]] = [
    *({"given": g, "target": t, "shapes": "edges"} for g in GIVEN for t in TARGETS),
    *({"shapes": name} for name in ("published", "one", "empty", "many", "many_empty")),
    {"shapes": "many", "launch": 1},
    *({"shapes": "empty", "noop": noop} for noop in (0.999, 2.0, float("nan"))),
]


@case("multi.hip", kernel="multi_{given}_{target}", arch=CDNA, each=VARIANTS, executes=CONVERSIONS)
def multi(
    given: str = "f32",
    target: str = "e4m3",
    shapes: str = "edges",
    launch: int = 0,
    noop: float = 0.0,
    table_fault: str = "",
    data: str = "special",
    arch: str = "gfx950",
) -> LaunchDict:
    """One launch of the plan of a list of tensors. `table_fault` makes the table wrong: see `faulty`."""
    return launch_named(given, target, shapes, launch, noop, table_fault, data, arch)


@case("multi.hip", kernel="multi_f32_e4m3", arch=CDNA, each=[{"shapes": "all_empty"}, {"shapes": "empty", "noop": 1.0}])
def multi_idle(shapes: str = "all_empty", noop: float = 0.0, arch: str = "gfx950") -> LaunchDict:
    """Nothing to cast: inverse scales are still written, unless the flag skips the launch."""
    return launch_named("f32", "e4m3", shapes, 0, noop, "", "special", arch)


CORNERS = {
    "scale": [(kind, scale, 0.0) for scale in SCALES for kind in ("special", "small")],
    "preset": [(kind, 1.0, preset) for preset in PRESETS for kind in ("line", "small")],
    "nan": [(kind, 1.0, 0.0) for kind in ("nan first", "nan last", "nan small", "line", "zeros", "small")],
}
"""Tensors of a launch: what they hold, scale, preset of amax."""


def held(kind: str) -> NDArray[Any]:
    """A whole tile, or a small tensor that is an edge alone."""
    if kind in ("special", "small"):
        shape = (128, 128) if kind == "special" else (5, 7)
        return operands.values("f32", shape[0] * shape[1], "special").reshape(shape)
    if kind == "zeros":
        return np.full((129, 3), -0.0, np.float32)
    x = np.linspace(-3, 1.5, 15 if kind == "nan small" else 128 * 128, dtype=np.float32)
    if kind.startswith("nan"):
        x[0 if kind == "nan first" else -1] = np.nan
    return x.reshape(-1, 5 if kind == "nan small" else 128)


@case(
    "multi.hip", kernel="multi_f32_e4m3", arch=CDNA, each=[{"corner": name} for name in CORNERS], executes=CONVERSIONS
)
def multi_corners(corner: str = "scale", arch: str = "gfx950") -> LaunchDict:
    """Scales and presets at the ends of f32, NaN and negative zeros: a tensor each, whole tiles and edges."""
    tensors = [(held(kind), np.float32(scale), np.float32(preset)) for kind, scale, preset in CORNERS[corner]]
    (planned,) = plan_many([x.shape for x, _, _ in tensors])
    return launch_many("f32", reference.target_format("e4m3", arch), tensors, planned)


def launch_named(
    given: str, target: str, shapes: str, launch: int, noop: float, table_fault: str, data: str, arch: str
) -> LaunchDict:
    """A launch over one of the lists, every tensor with its own scale and preset."""
    planned = plan_many(SETS[shapes])[launch]
    tensors = [
        (matrix(given, *SETS[shapes][each], each, data), scale_of(each), preset_of(each)) for each in planned.tensors
    ]
    fmt = reference.target_format(target, arch)
    return launch_many(given, fmt, tensors, planned, None if noop == 0.0 else noop, table_fault)


def launch_many(
    given: str,
    fmt: str,
    tensors: list[tuple[NDArray[Any], np.float32, np.float32]],
    planned: Many,
    noop: float | None = None,
    fault: str = "",
) -> LaunchDict:
    """Grid, arguments, and expected outputs: all codes, all transposed, amax and inverse scales."""
    skips = noop == 1.0
    first, count = faulty(planned.first, fault)

    def output(shape: tuple[int, int]) -> Array:
        return InOut(fmt, shape, np.full(shape, operands.SENTINEL, np.uint8)) if skips else Out(fmt, shape, nan="bits")

    some = [x for x, _, _ in tensors if x.size]

    def field(make: Callable[..., Any]) -> list[Any]:
        return [make(*tensor) for tensor in tensors]

    fields = table(
        [
            field(lambda x, *_: In(given, x.shape, x) if x.size else None),
            field(lambda x, *_: output(x.shape) if x.size else None),
            field(lambda x, *_: output(x.shape[::-1]) if x.size else None),
            field(lambda _, scale, __: In("f32", 1, one(scale))),
            field(lambda _, __, preset: InOut("f32", 1, one(preset))),
            field(lambda *_: InOut("f32", 1, one(KEPT)) if skips else Out("f32", 1)),
        ],
        [x.shape for x, _, _ in tensors],
        first,
        count,
    )

    def expect(*_: NDArray[Any]) -> list[NDArray[Any]]:
        if skips:
            left = [np.full(side, operands.SENTINEL, np.uint8) for x in some for side in (x.shape, x.shape[::-1])]
            return [*left[::2], *left[1::2], *field(lambda _, __, preset: one(preset)), *[one(KEPT)] * len(tensors)]
        codes = [reference.cast(x, scale, fmt, "clamp") for x, scale, _ in tensors if x.size]
        highest = field(lambda x, _, preset: np.array([reference.amax(x, preset)]))
        for place, (x, _scale, preset) in enumerate(tensors):
            if not x.size:
                highest[place] = one(preset)
        inverse = field(lambda _, scale, __: one(reference.scale_inv(scale)))
        return [*codes, *(np.ascontiguousarray(code.T) for code in codes), *highest, *inverse]

    flag = None if noop is None else In("f32", 1, one(noop))
    return {"grid": planned.blocks, "block": 512, "args": [fields, flag], "expect": expect}


def faulty(first: tuple[int, ...], fault: str) -> tuple[tuple[int, ...], int | None]:
    """First workgroups and the number of tensors as the host has them, or wrong: for the mutants.

    ``lost``: the last tensor is not counted; ``late``: every range but the first begins a workgroup late; ``short``:
    the number of all workgroups is one too small.
    """
    if fault == "lost":
        return first[:-1], len(first) - 2
    if fault == "late":
        return (0, *(n + 1 for n in first[1:-1]), first[-1]), None
    if fault == "short":
        return (*first[:-1], first[-1] - 1), None
    return first, None
