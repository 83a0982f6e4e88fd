"""Cast and transpose of many tensors in one launch: shapes, tensors without elements, ranges of workgroups."""

import numpy as np
import operands
import reference
from plan import AT_ONCE, plan_many

from mfmasim.verify import In, InOut, Out, case

CDNA, GIVEN, TARGETS = ["gfx942", "gfx950"], ["f32", "f16", "bf16"], ["e4m3", "e5m2"]
KEPT = 7.5
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


def scale_of(each):
    """Every tensor has a scale of its own."""
    return np.float32(0.25 + 0.5 * (each % 13))


def preset_of(each):
    """What each amax holds; the one of a tensor without elements stays."""
    return np.float32([0.0, -1.0, 1.0e30, 0.125][each % 4])


def matrix(given, rows, cols, each, data):
    """The elements of a tensor."""
    return operands.values(given, rows * cols, data, seed=each).reshape(rows, cols)


def column(values):
    """A field of the table, as long as the kernel has it."""
    return [*values, *[None] * (AT_ONCE - len(values))]


def numbers(values, length=AT_ONCE):
    """A field of int32."""
    return [np.int32(n) for n in [*values, *[0] * (length - len(values))]]


def table(ins, outs, across, scales, amax, inverse, shapes, first, count=None):
    """`struct tensors` of multi.hip: a list for each field."""
    sizes = [numbers([rows for rows, _ in shapes]), numbers([cols for _, cols in shapes])]
    pointers = [column(field) for field in (ins, outs, across, scales, amax, inverse)]
    return [*pointers, *sizes, numbers(first, AT_ONCE + 1), np.int32(len(shapes) if count is None else count)]


def one(value):
    """A number in memory."""
    return np.array([value], np.float32)


VARIANTS = [
    *({"given": g, "target": t, "shapes": "edges"} for g in GIVEN for t in TARGETS),
    *({"shapes": name} for name in ("published", "one", "empty", "many", "many_empty")),
    {"shapes": "many", "launch": 1},
    *({"shapes": "empty", "noop": noop} for noop in (0.999, 2.0, float("nan"))),
]


@case("multi.hip", kernel="multi_{given}_{target}", arch=CDNA, each=VARIANTS, executes=["v_cvt_pk_(fp8|bf8)_f32"])
def multi(
    given="f32", target="e4m3", shapes="edges", launch=0, noop=0.0, table_fault="", data="special", arch="gfx950"
):  # fmt: skip
    """One launch of the plan of a list of tensors. `table_fault` makes the table wrong: see `faulty`."""
    return launch_multi(given, target, shapes, launch, noop, table_fault, data, arch)


@case(
    "multi.hip",
    kernel="multi_f32_e4m3",
    arch=CDNA,
    each=[{"shapes": "all_empty"}, {"shapes": "empty", "noop": 1.0}],
)
def multi_idle(shapes="all_empty", noop=0.0, arch="gfx950"):
    """Nothing to cast: inverse scales are defined all the same, unless the flag says to leave everything."""
    return launch_multi("f32", "e4m3", shapes, 0, noop, "", "special", arch)


def launch_multi(given, target, shapes, launch, noop, table_fault, data, arch):
    """Grid, arguments, and what is expected of them."""
    fmt = reference.target_format(target, arch)
    planned = plan_many(SETS[shapes])[launch]
    chosen = [SETS[shapes][each] for each in planned.tensors]
    x = [matrix(given, *shape, each, data) for each, shape in zip(planned.tensors, chosen, strict=True)]
    skips = noop == 1.0

    def output(shape):
        return InOut(fmt, shape, np.full(shape, operands.SENTINEL, np.uint8)) if skips else Out(fmt, shape, nan="bits")

    sides = [[output(side) if v.size else None for side in (v.shape, v.shape[::-1])] for v in x]
    inverse = [InOut("f32", 1, one(KEPT)) if skips else Out("f32", 1) for _ in x]
    fields = table(
        [In(given, v.shape, v) if v.size else None for v in x],
        [side for side, _ in sides],
        [side for _, side in sides],
        [In("f32", 1, one(scale_of(each))) for each in planned.tensors],
        [InOut("f32", 1, one(preset_of(each))) for each in planned.tensors],
        inverse, chosen, *faulty(planned.first, table_fault),
    )  # fmt: skip

    def expect(*_):
        codes = [
            np.full(v.shape, operands.SENTINEL, np.uint8) if skips else reference.cast(v, scale_of(each), fmt, "clamp")
            for each, v in zip(planned.tensors, x, strict=True)
        ]
        some = [code for code in codes if code.size]
        highest = [
            one(preset_of(each)) if skips or not v.size else np.array([reference.amax(v, preset_of(each))])
            for each, v in zip(planned.tensors, x, strict=True)
        ]
        inverse = [one(KEPT if skips else reference.scale_inv(scale_of(each))) for each in planned.tensors]
        return [*some, *(np.ascontiguousarray(code.T) for code in some), *highest, *inverse]

    flag = None if noop == 0.0 else In("f32", 1, one(noop))
    return {"grid": planned.blocks, "block": 512, "args": [fields, flag], "expect": expect}


def faulty(first, fault):
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
