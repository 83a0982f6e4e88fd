"""Hardware registers: clocks, rounding and denormals of the MODE register."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.mode import reference
from hipkernels.conformance.isa.targets import ARCHS, on_grid
from mfmasim.verify import In, LaunchDict, Out, case

GRID, BLOCK = 2, 72
N = GRID * BLOCK
declare = partial(case, "mode.hip", arch=ARCHS)
launch = on_grid(GRID, BLOCK)


@declare(kernel="clocks", executes=["s_memtime|s_getreg_b32", "s_memrealtime|s_sendmsg_rtn_b64"])
def clocks() -> LaunchDict:
    return launch([In("u32", N, "bits"), Out("u32", N)], reference.clocks)


@declare(kernel="mode_register", executes=["s_getreg_b32", "s_setreg_b32"])
def mode_register() -> LaunchDict:
    return launch([Out("u32", (2, N))], reference.mode_register(N, BLOCK))


@declare(kernel="rounding_f32", executes=["s_setreg_imm32_b32", "v_add_f32", "v_mul_f32", "v_fma_f32"])
def rounding_f32() -> LaunchDict:
    args = [In("f32", N), In("f32", N), In("f32", N), *(Out("f32", (4, N)) for _ in range(3))]
    return launch(args, reference.rounding_f32)


@declare(kernel="rounding_f64", executes=["s_setreg_imm32_b32", "v_add_f64", "v_fma_f64", "v_cvt_f32_f64"])
def rounding_f64() -> LaunchDict:
    args = [In("f64", N), In("f64", N), In("f64", N), Out("f64", (4, N)), Out("f64", (4, N)), Out("f32", (4, N))]
    return launch(args, reference.rounding_f64)


@declare(kernel="denormals_f32", executes=["s_setreg_imm32_b32", "v_add_f32", "v_mul_f32"])
def denormals_f32() -> LaunchDict:
    rng = np.random.default_rng(11)
    small = rng.integers(0, 4 << 23, (2, N), dtype=np.uint32)
    signs = rng.integers(0, 2, (2, N), dtype=np.uint32) << np.uint32(31)
    x, y = (small | signs).view(np.float32)
    # Half of the pairs have a product near the smallest normal number.
    y[::2] = np.ldexp(rng.uniform(1, 2, N // 2).astype(np.float32), rng.integers(-3, 3, N // 2)) * np.sign(y[::2])
    args = [In("f32", N, x.copy()), In("f32", N, y.copy()), Out("f32", (4, N)), Out("f32", (4, N))]
    return launch(args, reference.denormals_f32)
