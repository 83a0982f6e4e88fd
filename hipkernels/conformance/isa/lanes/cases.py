"""Exchange between the lanes of a wave. Workgroups of 72 end in a partial wave, whose other lanes are read as well."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hipkernels.conformance.isa.lanes import reference
from hipkernels.conformance.isa.lanes.waves import Waves
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, InOut, LaunchDict, Out, case
from mfmasim.verify.arrays import Array

declare = partial(case, "lanes.hip", arch=ARCHS)
CDNA = [arch for arch in ARCHS if arch in ("gfx942", "gfx950")]
RDNA = [arch for arch in ARCHS if arch not in CDNA]
WAVE64 = ["-mwavefrontsize64"]
OFF = {"lanes": "tests what exchanges give for lanes that are off"}
GRID, BLOCK = 3, 72
N = GRID * BLOCK


def launch(args: list[Any], expect: Callable[..., Any], grid: int = GRID, block: int = BLOCK) -> LaunchDict:
    return {"grid": grid, "block": block, "args": args, "expect": expect}


@declare(
    suppress=OFF,
    kernel="dpp_rows",
    executes=[
        f"v_mov_b32_dpp .* {control} row_mask:{rows} .*"
        for control, rows in (
            (r"quad_perm:\[3,2,1,0\]", "0xf"),
            ("row_shl:1", "0xf"),
            ("row_shr:3", "0xf"),
            ("row_ror:5", "0xf"),
            ("row_mirror", "0xf"),
            ("row_half_mirror", "0xf"),
            ("row_shl:1", "0xa"),
        )
    ]
    + ["v_add(_nc)?_u32_dpp .* row_ror:4 .*"],
)
def dpp_rows(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("i32", N, "bits"), Out("i32", (8, N))], lambda x: reference.dpp_rows(x, w))


@declare(
    suppress=OFF,
    kernel="dpp_divergent",
    executes=["v_mov_b32_dpp .* row_half_mirror .*", r"v_\w+_dpp .* quad_perm:\[2,3,0,1\] .*"],
)
def dpp_divergent(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("i32", N, "bits"), Out("i32", N)], lambda x: reference.dpp_divergent(x, w))


@declare(kernel="dpp_row_scan", executes=["v_add(_nc)?_u32_dpp .* row_shr:8 .*"])
def dpp_row_scan(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("u32", N, "bits"), Out("u32", N)], lambda x: reference.dpp_row_scan(x, w))


@declare(suppress=OFF, kernel="dpp_row_broadcast", executes="v_mov_b32_dpp .* row_(newbcast|share):7 .*")
def dpp_row_broadcast(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("i32", N, "bits"), Out("i32", (3, N))], lambda x: reference.dpp_row_broadcast(x, w))


@declare(
    suppress=OFF,
    kernel="dpp_wave",
    arch=CDNA,
    executes=[
        f"v_mov_b32_dpp .* {what}.*"
        for what in ("wave_shl:1", "wave_rol:1", "wave_shr:1", "wave_ror:1", "row_bcast:15", "row_bcast:31")
    ],
)
def dpp_wave(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("i32", N, "bits"), Out("i32", (6, N))], lambda x: reference.dpp_wave(x, w))


@declare(kernel="permlane_swaps", arch="gfx950", executes=["v_permlane16_swap_b32", "v_permlane32_swap_b32"])
def permlane_swaps() -> LaunchDict:
    return launch([In("u32", (2, 256), "bits"), Out("u32", (4, 256))], reference.permlane_swaps, 2, 128)


@declare(suppress=OFF, kernel="lane_permutes", executes=["ds_bpermute_b32", "ds_permute_b32"])
def lane_permutes(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    args = [In("i32", N, "bits"), In("i32", N, "bits"), Out("i32", (3, N))]
    return launch(args, lambda x, where: reference.lane_permutes(x, where, w))


@declare(suppress=OFF, kernel="lane_swizzles", executes="ds_swizzle_b32")
def lane_swizzles(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("i32", N, "bits"), Out("i32", (4, N))], lambda x: reference.lane_swizzles(x, w))


@declare(kernel="lane_access", executes=["v_readlane_b32", "v_writelane_b32", "v_readfirstlane_b32"])
def lane_access(lane: int = 3, wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("i32", N, "bits"), Out("i32", (3, N)), lane], lambda x: reference.lane_access(x, lane, w))


@declare(kernel="ballots", executes=["v_cmp_.*", "v_mbcnt_lo_u32_b32", "s_cselect_b32"])
def ballots(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    args = [In("i32", N, "special"), Out("u64", (2, N)), Out("i32", N)]
    return launch(args, lambda x: reference.ballots(x, w))


@declare(kernel="compact", executes=["v_mbcnt_lo_u32_b32", "s_bcnt1_i32_b(32|64)"])
def compact(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    args = [In("i32", N, "bits"), InOut("i32", N), Out("u32", N)]
    return launch(args, lambda x, out: reference.compact(x, out, w))


@declare(suppress=OFF, kernel="shuffles", executes=["ds_bpermute_b32", "v_mbcnt_lo_u32_b32"])
def shuffles(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    args = [In("i32", N, "bits"), In("f64", N, "bits"), Out("i32", (4, N)), Out("f64", (2, N), nan="bits")]
    return launch(args, lambda x, d: reference.shuffles(x, d, w))


@declare(kernel="wave_sum", executes=["ds_bpermute_b32", "v_add_f32"])
def wave_sum(wave: int = 64) -> LaunchDict:
    return launch([In("f32", 384), Out("f32", 384)], lambda x: reference.wave_sum(x, wave), 3, 128)


@declare(kernel="vote_loop", executes=["s_cbranch_.*", "v_cmp_.*"])
def vote_loop(wave: int = 64) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("u32", N, "bits"), Out("u32", N)], lambda x: reference.vote_loop(x, w))


@declare(kernel="dpp_rdna", arch=RDNA, executes=["v_mov_b32_dpp .* row_xmask:5 .*", "v_mov_b32_dpp .* dpp8:.*"])
def dpp_rdna(wave: int = 32) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    return launch([In("i32", N, "bits"), Out("i32", (2, N))], lambda x: reference.dpp_rdna(x, w))


@declare(suppress=OFF, kernel="permlane_rows", arch=RDNA, executes=["v_permlane16_b32", "v_permlanex16_b32"])
def permlane_rows(low: int = 0x3210FEDC, high: int = 0x88817654, wave: int = 32) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    args = [In("i32", N, "bits"), Out("i32", (2, N)), low, high]
    return launch(args, lambda x: reference.permlane_rows(x, low, high, w))


@declare(
    suppress=OFF,
    kernel="permlane_each",
    arch=[arch for arch in RDNA if arch == "gfx1201"],
    executes=["v_permlane16_var_b32", "v_permlanex16_var_b32"],
)
def permlane_each(wave: int = 32) -> LaunchDict:
    w = Waves(N, BLOCK, wave)
    args = [In("i32", N, "bits"), In("i32", N, "bits"), Out("i32", (2, N))]
    return launch(args, lambda x, where: reference.permlane_each(x, where, w))


@declare(
    kernel="permlane_halves",
    arch=[arch for arch in RDNA if arch != "gfx1030"],
    flags=WAVE64,
    executes="v_permlane64_b32",
)
def permlane_halves() -> LaunchDict:
    args = [In("u32", (4, 2, 32), "bits"), Out("u32", (4, 2, 32))]
    return launch(args, lambda x: np.ascontiguousarray(x[:, ::-1]), 2, 128)


def in_wave64(expect: Callable[..., Any], outputs: list[Array]) -> LaunchDict:
    """The kernel once more on RDNA with waves of 64 lanes."""
    w = Waves(N, BLOCK, 64)
    return launch([In("i32", N, "bits"), *outputs], lambda x: expect(x, w))


@declare(suppress=OFF, kernel="dpp_rows", arch=RDNA, flags=WAVE64, executes="v_mov_b32_dpp .* row_mask:0xa .*")
def dpp_rows_wave64() -> LaunchDict:
    return in_wave64(reference.dpp_rows, [Out("i32", (8, N))])


@declare(suppress=OFF, kernel="lane_swizzles", arch=RDNA, flags=WAVE64, executes="ds_swizzle_b32")
def lane_swizzles_wave64() -> LaunchDict:
    return in_wave64(reference.lane_swizzles, [Out("i32", (4, N))])


@declare(kernel="lane_access", arch=RDNA, flags=WAVE64, executes=["v_readlane_b32", "v_writelane_b32"])
def lane_access_wave64() -> LaunchDict:
    w = Waves(N, BLOCK, 64)
    args = [In("i32", N, "bits"), Out("i32", (3, N)), 3]
    return launch(args, lambda x: reference.lane_access(x, 3, w))


@declare(kernel="ballots", arch=RDNA, flags=WAVE64, executes=["v_mbcnt_hi_u32_b32", "s_and_saveexec_b64|v_cmpx_.*"])
def ballots_wave64() -> LaunchDict:
    return in_wave64(reference.ballots, [Out("u64", (2, N)), Out("i32", N)])


@declare(kernel="compact", arch=RDNA, flags=WAVE64, executes=["v_mbcnt_hi_u32_b32", "s_bcnt1_i32_b64"])
def compact_wave64() -> LaunchDict:
    w = Waves(N, BLOCK, 64)
    args = [In("i32", N, "bits"), InOut("i32", N), Out("u32", N)]
    return launch(args, lambda x, out: reference.compact(x, out, w))


def permutes_in_wave64(reach: int) -> LaunchDict:
    w = Waves(N, BLOCK, 64)
    args = [In("i32", N, "bits"), In("i32", N, "bits"), Out("i32", (3, N))]
    return launch(args, lambda x, where: reference.lane_permutes(x, where, w, reach))


@declare(
    suppress=OFF,
    kernel="lane_permutes",
    arch=[arch for arch in RDNA if arch == "gfx1201"],
    flags=WAVE64,
    executes=["ds_bpermute_b32", "ds_permute_b32"],
)
def lane_permutes_wave64() -> LaunchDict:
    return permutes_in_wave64(64)


# RDNA2 and RDNA3 permute each half of a wave64 by itself.
@declare(
    suppress=OFF,
    kernel="lane_permutes",
    arch=["gfx1030", "gfx1100", "gfx1151"],
    flags=WAVE64,
    executes=["ds_bpermute_b32", "ds_permute_b32"],
)
def lane_permutes_halves() -> LaunchDict:
    return permutes_in_wave64(32)
