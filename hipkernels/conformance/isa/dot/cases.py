"""Dot products of integers and halves; packed floats."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.dot import reference
from hipkernels.conformance.isa.targets import ARCHS, on_grid
from mfmasim.verify import In, LaunchDict, Out, case
from mfmasim.verify.arrays import Array

CDNA = [arch for arch in ARCHS if arch in ("gfx942", "gfx950")]
MIXED = [arch for arch in ARCHS if arch not in (*CDNA, "gfx1030")]
GRID, BLOCK = 3, 72
N = GRID * BLOCK
declare = partial(case, "dot.hip")
launch = on_grid(GRID, BLOCK)


def words(rows: int) -> list[Array]:
    return [In("i32", N, "bits"), In("i32", N, "bits"), In("i32", N), Out("i32", (rows, N))]


@declare(
    kernel="dot_integers",
    arch=ARCHS,
    executes=["v_dot4c?_i32_(i8|iu8)", "v_dot8c?_i32_(i4|iu4)", "v_dot4_u32_u8", "v_dot8_u32_u4"],
)
def dot_integers() -> LaunchDict:
    return launch(words(8), reference.dot_integers)


@declare(kernel="dot_short", arch=[*CDNA, "gfx1030"], executes=["v_dot2c?_i32_i16", "v_dot2_u32_u16"])
def dot_short() -> LaunchDict:
    return launch(words(4), reference.dot_short)


@declare(
    kernel="packed_f32",
    arch=CDNA,
    executes=["v_pk_add_f32", "v_pk_mul_f32", "v_pk_fma_f32", r"v_pk_\w+ .* op_sel:.*", r"v_pk_\w+ .* neg_lo:.*"],
)
def packed_f32() -> LaunchDict:
    args = [In("f32", (N, 2)), In("f32", (N, 2)), In("f32", (N, 2)), Out("f32", (5, N, 2))]
    return launch(args, reference.packed_f32)


@declare(kernel="dot_halves", arch=ARCHS, executes="v_(dual_)?dot2(c|acc)?_f32_f16")
def dot_halves() -> LaunchDict:
    # No signs: where they differ, RDNA3 truncates even sums that are exact in f32.
    rng = np.random.default_rng(29)  # the same each time the case is made
    x, y = rng.integers(0, 10, (2, N, 2)).astype(np.float16)
    z = rng.integers(0, 10, N).astype(np.float32)
    args = [In("f16", (N, 2), x.copy()), In("f16", (N, 2), y.copy()), In("f32", N, z), Out("f32", (2, N))]
    return launch(args, reference.dot_halves)


@declare(kernel="dot_mixed", arch=MIXED, executes=["v_dot4_i32_iu8 .* neg_lo:.*", "v_dot8_i32_iu4 .* neg_lo:.*"])
def dot_mixed() -> LaunchDict:
    return launch(words(4), reference.dot_mixed)
