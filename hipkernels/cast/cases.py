"""FP8 quantisation: casts of f32, f16 and bf16 to E4M3 and E5M2 in the architecture's flavour.

The contract that is tested: ``noop[0] == 1.0`` leaves every output unchanged, any other value or a null pointer
does not; ``amax`` is the largest |x| of the unscaled input and of its previous value, as signed integers, so that a
NaN is above infinity and a preset with its sign bit set is ignored; ``scale_inv`` is 1/scale, correctly rounded.
"""

from functools import partial

import numpy as np

from hipkernels.cast import move_cases, operands, reference
from hipkernels.cast import multi_cases as multi_cases  # noqa: PLC0414 - declares cases of its own
from hipkernels.cast import mx_cases as mx_cases  # noqa: PLC0414
from hipkernels.cast import read_cases as read_cases  # noqa: PLC0414
from hipkernels.cast import rejected_cases as rejected_cases  # noqa: PLC0414
from hipkernels.cast import transpose_cases as transpose_cases  # noqa: PLC0414
from hipkernels.cast.flat_cases import launch_cast
from hipkernels.cast.operands import CONVERSIONS, GIVEN, NOOPS, PRESETS, SCALES, TARGETS
from mfmasim.verify import In, LaunchDict, Out, case

ARCHS = ["gfx942", "gfx950", "gfx1201"]
declare = partial(case, "cast.hip", arch=ARCHS)
OVERFLOWS = ["clamp", "ovfl", "plain"]
EVERY = [{"given": g, "target": t, "overflow": o} for g in GIVEN for t in TARGETS for o in OVERFLOWS]
STORES = r"(global_store_dwordx4 .* nt|global_store_b128 .* th:TH_STORE_NT)"


move_cases.declare_flat(launch_cast, ARCHS)


@declare(
    kernel="cast_{given}_{target}_{overflow}",
    needs="n >= 1",
    each=[{**each, "data": "special"} for each in EVERY] + [{**each, "data": "finite"} for each in EVERY[:6]],
    executes=[CONVERSIONS, STORES],
    draws={"scale": (1.0, 0.37, -2.5, 0.0, 2.0**-126, 2.0**127), "data": ("finite", "special")},
)
def cast(
    n: int = 5011,
    given: str = "f32",
    target: str = "e4m3",
    overflow: str = "clamp",
    data: str = "finite",
    scale: float = 1.0,
    arch: str = "gfx950",
) -> LaunchDict:
    """Bulk and tail, two workgroups, every corner value."""
    x, fmt = operands.values(given, n, data), reference.target_format(target, arch)
    return launch_cast(x, fmt, overflow, scale=scale, given=given, arch=arch)


@declare(
    kernel="cast_{given}_e4m3_clamp",
    each=[{"n": n, "given": g} for g in GIVEN for n in (0, 1, 15, 16, 17, 4093, 4096, 4097)],
)
def cast_count(n: int = 0, given: str = "f32", arch: str = "gfx950") -> LaunchDict:
    """Counts around the width of a thread and of a workgroup."""
    x = operands.values(given, n, "finite", seed=n)
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", scale=0.37, given=given, arch=arch)


@declare(kernel="cast_f32_e5m2_clamp", each=[{"blocks": blocks} for blocks in (1, 2, 7)])
def cast_grid(n: int = 9973, blocks: int = 1, arch: str = "gfx950") -> LaunchDict:
    """Any grid gives the same bytes: fewer workgroups do more iterations, superfluous ones do none."""
    x = operands.values("f32", n, "finite")
    return launch_cast(x, reference.target_format("e5m2", arch), "clamp", scale=3.0, blocks=blocks, arch=arch)


@declare(
    kernel="cast_f32_e4m3_{overflow}",
    each=[{"scale": scale, "overflow": overflow} for scale in SCALES for overflow in ("clamp", "plain")],
)
def cast_scale(
    n: int = 83, scale: float = 1.0, overflow: str = "clamp", data: str = "special", arch: str = "gfx950"
) -> LaunchDict:
    """Scales at the ends of f32, where the product or the inverse is infinite, zero, denormal or a NaN."""
    x = operands.values("f32", n, data)
    return launch_cast(x, reference.target_format("e4m3", arch), overflow, scale=scale, arch=arch)


@declare(kernel="cast_f32_e4m3_clamp", each=[{"preset": preset} for preset in PRESETS])
def cast_amax(n: int = 40, preset: float = 0.0, high: float = 3.0, arch: str = "gfx950") -> LaunchDict:
    """The previous value of amax counts, unless its sign bit is set."""
    x = np.linspace(-high, high / 2, n, dtype=np.float32)
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", amax=preset, arch=arch)


@declare(kernel="cast_f32_e4m3_clamp", each=[{"place": place} for place in (15, 4015, 4100)])
def cast_amax_nan(n: int = 4101, place: int = 0, arch: str = "gfx950") -> LaunchDict:
    """One NaN, in bulk or tail, in the first or last workgroup, makes amax a NaN."""
    x = np.linspace(-1, 1, n, dtype=np.float32)
    x[place] = np.nan
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", arch=arch)


@declare(kernel="cast_f32_e4m3_clamp", each=[{"noop": noop} for noop in NOOPS])
def cast_noop(n: int = 37, noop: float = 0.0, arch: str = "gfx950") -> LaunchDict:
    """Only a flag of exactly 1 leaves output, amax and scale_inv untouched."""
    x = operands.values("f32", n, "finite")
    fmt = reference.target_format("e4m3", arch)
    return launch_cast(x, fmt, "clamp", scale=0.3, amax=-5.0, noop=noop, skips=noop == 1.0, arch=arch)


CROOKED = [
    *({"given": "f32", "input_at": a, "output_at": b} for a, b in ((4, 0), (2, 0), (1, 3), (0, 1), (0, 4))),
    *({"given": "bf16", "input_at": a, "output_at": b} for a, b in ((2, 2), (1, 0))),
]


@declare(kernel="cast_{given}_e4m3_clamp", each=CROOKED)
def cast_crooked(
    n: int = 4117,
    given: str = "f32",
    input_at: int = 0,
    output_at: int = 0,
    scale_at: int = 0,
    amax_at: int = 0,
    arch: str = "gfx950",
) -> LaunchDict:
    """Base addresses that the kernel's types exclude: the hardware supports them, and the check reports them."""
    x, at = operands.values(given, n, "finite"), (input_at, output_at, scale_at, amax_at)
    return launch_cast(x, reference.target_format("e4m3", arch), "clamp", scale=0.7, given=given, arch=arch, at=at)


@declare(kernel="cast_nothing", each=[{"scale": scale} for scale in SCALES])
def cast_nothing(scale: float = 3.0) -> LaunchDict:
    """A tensor without elements: no cast is launched, scale_inv is defined all the same."""
    args = [None, In("f32", 1, np.array([scale], np.float32)), Out("f32", 1)]
    return {"grid": 1, "block": 1, "args": args, "expect": np.array([reference.scale_inv(scale)], np.float32)}
