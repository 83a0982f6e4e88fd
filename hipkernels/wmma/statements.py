"""Statements of the README of wmma_ops about its kernels for gfx1151, paraphrased.

Bytes, degrees, instructions and barriers are those of the kernels in this folder, which do what the text describes; the
text's own binaries are not here. Times were measured, and nothing here can confirm or refute a time.
"""

import math
from collections.abc import Callable

import mfmasim
from hipkernels.wmma.facts import (
    ARCH,
    LARGE_ERROR,
    WMMA,
    accepts,
    alignment,
    attention_error,
    barriers,
    caught,
    conflict_rate,
    copies,
    counter_of,
    degree,
    extra_per_instruction,
    for_tile,
    fragments,
    gemm_error,
    in_turn,
    instructions,
    lds_bytes,
    listed,
    neighbours_in_loop,
    prefetches,
    profile,
    refuted_grids,
    rows_of_a,
    share_of_c,
    status,
    taken,
    unnoticed,
    vgprs,
    waves_by_vgprs,
    worst_error,
)
from mfmasim.grids import published_split
from mfmasim.lab.reports.roofline import intensity, ridge_point, teraflops, utilisation
from mfmasim.lab.reports.statements import Runs, Statement

TEXT = "wmma_ops, README (gfx1151)"
S = Statement


MEASURED = "measured: only the GPU can decide it"
COMPILED = "the compiler decides, and the text's own binary is not here"
PHASES = "phases of gfx1151 are taken from gfx1100's, which were measured"
PEAK, BANDWIDTH, UNITS = 59.4e12, 256e9, 40
OTHER_K = "the section gives no K; its table, at K = 2048, gives what is found"
LONG_RUN = "8.4 million matrix instructions, 147 s of CPU time: kept, and run again by the long tier of the tests"
AT_512 = "its intensity of 227.6 is below the ridge point of 232"

# kernel, milliseconds, TFLOPS and percent of the peak at 4096 x 4096 x 2048.
VARIANTS = [
    ("zerocopy", 3.33, 20.61, 34.7), ("adaptive", 3.35, 20.52, 34.5), ("asmOpt", 3.35, 20.49, 34.5),
    ("matmul", 3.36, 20.46, 34.4), ("native", 3.45, 19.92, 33.5), ("kunroll", 3.75, 18.31, 30.8),
    ("swizzled", 3.84, 17.90, 30.1), ("noPrefetch", 3.90, 17.60, 29.6), ("xor_optimized", 3.98, 17.26, 29.1),
    ("quad", 4.04, 17.01, 28.6), ("hilbert", 5.16, 13.33, 22.4), ("highOcc", 6.68, 10.28, 17.3),
    ("coop", 3.44, 19.98, 33.6),
]  # fmt: skip
# Rows and columns of C and length of the sums, TFLOPS, percent of the peak, rocBLAS's TFLOPS, percent of those.
FINAL = [
    (512, 12.5, 21.0, 20.6, 60), (1024, 14.6, 24.6, 37.0, 39),
    (2048, 20.0, 33.7, 38.5, 52), (4096, 21.6, 36.4, 41.0, 53),
]  # fmt: skip
HERE = ("zero_copy", "asm_optimised", "tile_128x64", "native_128x64", "k_unrolled", "swizzled", "no_prefetch",
        "xor_optimised", "quad", "hilbert_128x64", "high_occupancy", "cooperative")  # fmt: skip
"""The same kernels in this folder; the adaptive one chooses among them."""
# What made it faster, TFLOPS after it, percent more, percent more in the list of optimisations, and the words there.
JOURNEY = [
    ("64 columns a block", 6.2, 15, None, ""),
    ("2x2 register blocking", 9.7, 56, 80, "2×2 Register Blocking +80%"),
    ("wide loads", 11.5, 19, 25, "Vectorized half8 Loads +25%"),
    ("two slots", 13.2, 15, 20, "Double Buffering +20%"),
    ("128x64 tile", 16.5, 25, 25, "128×64 Tile Shape +25%"),
    ("fetching ahead", 17.4, 5, 15, "GMEM Spreading +15%"),
    ("padding of the LDS", 20.9, 20, 20, "LDS Padding (+8 halfs) +15-20%"),
]


def largest_gap(_: Runs) -> float:
    """Percent by which a variant's TFLOPS or share of the peak differs from what its milliseconds give."""
    rates = [(teraflops(4096, 4096, 2048, ms / 1e3), rate, share) for _, ms, rate, share in VARIANTS]
    return max(max(abs(a / b - 1) * 100, abs(b / PEAK * 1e14 - share)) for a, b, share in rates)


def final_peak_gap(_: Runs) -> float:
    """Points by which a share of the peak differs from its rate, at most."""
    return max(abs(100e12 * rate / PEAK - share) for _, rate, share, _, _ in FINAL)


def final_library_gap(_: Runs) -> float:
    """Points by which a share of rocBLAS's rate differs from both rates, at most."""
    return max(abs(100 * rate / library - share) for _, rate, _, library, share in FINAL)


def final_kernels(_: Runs) -> str:
    """What the adaptive kernel takes at the sizes of the table."""
    return ", ".join(taken(size, size, size)(_) for size, *_rest in FINAL)


def wrong_variants(runs: Runs) -> int:
    """Kernels whose output differs from the instruction's arithmetic."""
    return sum(profile(runs, name).result.status != "pass" for name in HERE)


def largest_step(_: Runs) -> float:
    """Points of a percent by which a step of the journey differs from its two rates."""
    rates = [5.4, *(rate for _, rate, *_ in JOURNEY)]
    steps = zip(rates, rates[1:], JOURNEY, strict=False)
    return max(abs((b / a - 1) * 100 - more) for a, b, (_, _, more, *_) in steps)


def step(number: int) -> Callable[[Runs], float]:
    """Percent that a step of the journey gains, by the rates before and after it."""
    rates = [5.4, *(rate for _, rate, *_ in JOURNEY)]
    return lambda _: (rates[number + 1] / rates[number] - 1) * 100


def rate_of(name: str) -> Callable[[Runs], float]:
    """TFLOPS that a variant's time in the table of performance gives."""
    (ms,) = [ms for other, ms, _, _ in VARIANTS if other == name]
    return lambda _: teraflops(4096, 4096, 2048, ms / 1e3)


def rungs(runs: Runs) -> str:
    """Whether the kernel of each version of the journey passes."""
    rungs = ("baseline", "columns", "blocking", "wide_loads", "two_slots", "tall")
    names = [*(f"rung_{rung}" for rung in rungs), "not_swizzled", "tile_128x64"]
    found = {profile(runs, name).result.status for name in names}
    return ", ".join(sorted(found))


def bound_by(k: int) -> Callable[[Runs], str]:
    """What limits 4096 x 4096 with sums of k elements."""
    return lambda _: "memory" if intensity(4096, 4096, k) < ridge_point(PEAK, BANDWIDTH) else "arithmetic"


F, P, Q, R = "Final benchmarks", "Performance results", "LDS bank conflicts", "ISA analysis"
STATEMENTS = [
    S("Quick stats", "21.6 TFLOPS at 4096 x 4096", "21.6 TFLOPS", None, "undecided", about=MEASURED,
      words="Peak TFLOPS 21.6 (4096×4096)"),
    S("Quick stats", "which are so many percent of 59.4", 36, lambda _: 21.6e14 / PEAK, within=0.02,
      words="36% of 59.4 TFLOPS peak"),
    S("Quick stats", "and so many percent of rocBLAS's 41", 53, lambda _: 2160 / 41, within=0.01,
      words="vs rocBLAS FP16 53% (rocBLAS: ~41 TFLOPS)"),
    S("Quick stats", "times as fast as the first version, 5.4", 4, lambda _: 21.6 / 5.4,
      words="4× improvement over the initial implementation (5.4 → 21.6 TFLOPS)"),
    S(P, "rocBLAS reaches so many percent of the peak", 69, lambda _: 41e14 / PEAK, within=0.01,
      words="rocBLAS achieves 69% of peak (41/59.4 TFLOPS)"),
    S(P, "percent that rates and times of variants differ", 0.3, largest_gap, relation="<",
      words="matmul_zerocopy 3.33 20.61 34.7%"),
    S(P, "variants in the table", 12, lambda _: len(VARIANTS), "refuted", about="the cooperative one came later",
      words="All 12 kernel variants pass correctness tests"),
    S(P, "percent between the best four variants", 1, lambda _: (20.61 / 20.46 - 1) * 100, relation="<",
      words="Top 4 kernels are within 1% of each other (~20.5 TFLOPS)"),
    S(P, "the best variant, in percent of PyTorch", 57.5, lambda _: 2061 / 35.86, within=0.001,
      words="20.61 TFLOPS, 57.5% of PyTorch"),
    S(P, "times of rocBLAS, PyTorch and each variant", "a table", None, "undecided", about=MEASURED,
      words="PyTorch (reference) 1.92 35.86 60.4%"),
    S("Correctness", "largest error in percent, 512x512x64", 0.04, worst_error(512, 512, 64), relation="<",
      words="512×512×64 < 0.04%"),
    S("Correctness", "the same, 2048x2048x128", 0.03, worst_error(2048, 2048, 128), relation="<",
      words="2048×2048×128 < 0.03%"),
    S("Correctness", "the same, 4096x4096x2048", 0.03, lambda _: LARGE_ERROR, relation="<", about=LONG_RUN,
      words="4096×4096×2048 < 0.03%"),
    S("Correctness", "the same of gemm, alpha 2, beta 0.5", 0.001, gemm_error(2, 0.5), relation="<",
      about="256x256x64: the text gives no shape", words="GEMM α=2.0, β=0.5 < 0.001%"),
    S("Correctness", "gemm in place", "pass", status("wmma/scaled", "gemm_128x64"),
      about="C is read once where it is written; the text's wrapper updates a copy of a C with gaps",
      words="GEMM in-place < 0.001%"),
    S(F, "points that shares of the peak differ from the rates", 0.05, final_peak_gap, relation="<",
      words="4096×4096×4096 21.6 36.4% 41.0 53%"),
    S(F, "points that shares of rocBLAS's rate differ from both rates", 0.5, final_library_gap, "refuted", relation="<",
      about="12.5 of 20.6 are 60.7 percent, and not 60; the others are rounded",
      words="512×512×512 12.5 21.0% 20.6 60%"),
    S(F, "the kernels taken for its sizes", "128x64, k_unrolled, 128x64, 128x64", final_kernels, "remark",
      about="as its code was published; the heading names the adaptive kernel with K-unrolling"),
    S(F, "rocBLAS's 41.0 TFLOPS are so many percent of the peak", 69, lambda _: 41e14 / PEAK, within=0.01,
      words="rocBLAS achieves 69% of peak"),
    S(F, "rates at 512 to 4096", "a table", None, "undecided", about=MEASURED,
      words="1024×1024×1024 14.6 24.6% 37.0 39%"),
    S(P, "variants that are wrong", 0, wrong_variants, about="those here, bit for bit",
      words="kernel variants pass correctness tests (< 1% relative error)"),
    S("Methodology", "percent of elements that could be 0 and pass", 3.81, unnoticed(512, 512, 64), "remark",
      within=0.01, about="an error of 1 % of the largest element passes, wherever it is; here bits are compared"),
    # --- The machine
    S("Architecture", "lanes of a wave", 32, lambda _: mfmasim.arch(ARCH).wave_sizes[0],
      words="Wavefront Size 32 threads (Wave32)"),
    S("Architecture", "TFLOPS of 40 units at 2.9 GHz", 59.4, lambda _: UNITS * 512 * 2.9e-3, within=0.001,
      about="512 operations a clock and unit: 8,192 in 32 clocks on each of two SIMDs",
      words="Peak TFLOPS 59.4 (FP16 WMMA)"),
    S("Architecture", "KiB of LDS a unit", 64, lambda _: mfmasim.arch(ARCH).simd.lds_bytes / 2048,
      words="LDS 64 KB per CU"),
    S("Architecture", "KiB of VGPRs a SIMD", 192, lambda _: mfmasim.arch(ARCH).simd.vgprs[0][1] * 32 * 4 / 1024,
      words="VGPR File 192 KB per SIMD"),
    S("Architecture", "units, clock, 256 GB/s", "40, 2.9 GHz", None, "undecided", about="of the product, not the ISA",
      words="Peak Clock 2.9 GHz"),
    S("WMMA instruction", "cycles", 32, lambda _: mfmasim.instruction(ARCH, WMMA).cycles, words="Latency ~32 cycles"),
    S("WMMA instruction", "elements of A in a lane", 16, lambda _: 2 * fragments("A").vgprs,
      words="Input Type FP16 (half16)"),
    S("WMMA instruction", "sums in a lane", 8, lambda _: fragments("D").vgprs, words="Accumulator Type FP32 (float8)"),
    S("Fragment layout", "A and B are held twice", "lanes l and l + 16", copies,
      words="lanes 0-15 and lanes 16-31 must contain identical data for A and B fragments"),
    S("Fragment layout", "rows of A in a lane", 1, rows_of_a, words="Each lane loads one ROW of A (all 16 K values)"),
    S("Fragment layout", "C: even rows below lane 16; percent", 100, share_of_c("gfx1151"),
      words="lanes 0-15 cover even rows, lanes 16-31 cover odd rows"),
    S("Fix 2", "the corrected map of C, on gfx1201; percent", 12.5, share_of_c("gfx1201"), "remark",
      about="right for gfx11, which the text is about; the map called wrong is gfx12's, transposed"),
    S("Fix 1", "checks that the corrected load of A fails", "nothing", caught("column_of_a"), "refuted",
      about="its heading says row, its code takes a column: A transposed, and no symmetric A shows it",
      words="// CORRECT: Invert XOR swizzle"),
    S("Fragment layout", "checks that B fails untransposed", "mapping, outputs, races, uninitialised",
      caught("b_not_transposed"), about="a load of columns would do, too",
      words="Transposed B in LDS Required"),
    # --- Kernels
    S("Standard kernel", "4x2 waves of 2x2 tiles cover", "128x64", lambda _: f"{16 * 4 * 2}x{16 * 2 * 2}",
      words="128×64 tile, 4×2 warps, 2×2 register blocking"),
    *(S(place, "TFLOPS", said, rate_of(name), "undecided", about=OTHER_K, words=words)
      for place, said, name, words in [
          ("Standard kernel", 21.9, "matmul", "21.9 TFLOPS (36.8% peak) at 4096×4096"),
          ("K-unroll", 17.2, "kunroll", "17.2 TFLOPS (29% peak) at 4096×4096"),
          ("No prefetch", 19.2, "noPrefetch", "19.2 TFLOPS (32% peak) at 4096×4096"),
          ("High occupancy", 9.8, "highOcc", "Worse performance (9.8 TFLOPS)")]),
    S("High occupancy", "4x1 waves of 2x1 tiles cover", "64x32", lambda _: f"{16 * 4 * 2}x{16 * 1 * 1}", "refuted",
      about="2x2 waves cover it", words="64×32 tile, 4×1 warps, 2×1 register blocking"),
    S("K-unroll", "barriers that are left, in percent", 50,
      lambda r: 100 * barriers("k_unrolled", 256)(r) / barriers("tile_128x64", 256)(r),
      words="Reduces __syncthreads overhead by 50%"),
    S("Adaptive kernel", "takes at 256x256x256", "64x64", taken(256, 256, 256),
      words="Small matrices (< 512): Uses 64×64 tiles"),
    S("Adaptive kernel", "takes at 1024x1024x1024", "k_unrolled", taken(1024, 1024, 1024),
      words="Medium (1024): Use matmul_adaptive (selects K-Unroll)"),
    S("Adaptive kernel", "takes at 4096x4096x2048", "128x64", taken(4096, 4096, 2048),
      words="Large (2048+): Use matmul_adaptive (selects Standard 128×64)"),
    S("Adaptive kernel", "takes at 4096x8192x2048", "128x64", taken(4096, 8192, 2048), "refuted",
      about="as its code was published, whose rules are others than its text's",
      words="Large matrices (> 2048): Uses 128×64 standard tiles"),
    S("Adaptive kernel", "takes at 8192x1024x2048", "128x64", taken(8192, 1024, 2048), "refuted",
      about="as its code was published", words="Large matrices (> 2048): Uses 128×64 standard tiles"),
    S("No prefetch", "VGPRs, about", 64, vgprs("no_prefetch"), "undecided", about=COMPILED,
      words="Lower register pressure (~64 VGPRs)"),
    S("High occupancy", "VGPRs, about", 50, vgprs("high_occupancy"), "undecided", about=COMPILED,
      words="reducing VGPRs to ~50"),
    S("No prefetch", "bytes of one slot of the LDS", 9216, lds_bytes("no_prefetch"), "remark"),
    S("High occupancy", "bytes of one slot without padding", 3072, lds_bytes("high_occupancy"), "remark"),
    S("Vectorised C", "KiB more of LDS", 32,
      lambda r: (lds_bytes("vector_c")(r) - lds_bytes("tile_128x64")(r)) / 1024,
      words="Extra 32KB LDS + sync overhead"),
    S("Vectorised C", "barriers more", 1, lambda r: barriers("vector_c", 256)(r) - barriers("tile_128x64", 256)(r),
      "remark"),
    S("Triple buffering", "does not work", "broken", None, "undecided", about="the kernel is not published",
      words="Triple Buffering Broken Correctness issues with rotation"),
    S("Triple buffering", "three slots, rotated", "pass", status("wmma", "three_slots_128x64"), "remark",
      about="it can be done: 27,648 bytes, one barrier a turn; with two of the three slots races report it"),
    # --- LDS
    S(Q, "bytes with padding", 18432, lds_bytes("tile_128x64"),
      words="Padding approach: 18,432 bytes (with 2 buffers)"),
    S(Q, "bytes with a swizzle", 12288, lds_bytes("swizzled"), words="XOR Swizzle: 12,288 bytes"),
    S(Q, "percent saved", 33, lambda r: 100 - 100 * lds_bytes("swizzled")(r) / lds_bytes("tile_128x64")(r),
      within=0.02, words="Savings: 6,144 bytes (33%)"),
    S(Q, "bytes that padding A costs, one slot", 2048, lambda _: 128 * 16, words="128 × 16 = 2KB wasted per buffer"),
    S(Q, "bytes that padding costs in all", 4096, lambda r: lds_bytes("tile_128x64")(r) - lds_bytes("swizzled")(r),
      "refuted", about="B is padded, too", words="With double buffering: 4KB wasted total"),
    S(Q, "rows of 24 halfs, bytes of alignment", 16, alignment(24), "refuted", relation="<",
      about="48 bytes are three times 16: every row begins aligned",
      words="Stride of 24 halfs means rows aren't 128-bit aligned"),
    S(Q, "rows of 17 halfs make loads narrow; alignment", 16, alignment(17), relation="<",
      words="Odd LDS Stride (17, 33) Slower Forces scalar LDS access"),
    S(Q, "degree of reads with lines of 17 halfs", 2, degree("odd_17", "ds_load"), "remark",
      about="the compiler here reads 16 bytes at addresses that are no multiple of 16, which is allowed and slower"),
    S(Q, "fragments from an unswizzled copy", "pass", status("wmma", "unswizzled_copy"),
      about="with 9,216 bytes more of the LDS and a barrier more", words="This adds an extra LDS copy step"),
    S(Q, "padding leaves conflicts: degree of reads", 1, degree("tile_128x64", "ds_load"), "refuted", relation=">",
      about="elsewhere the text has them eliminated, and they are; " + PHASES,
      words="Low (stride breaks alignment)"),
    S(Q, "a swizzle by row & 1: degree of reads", 1, degree("swizzled_as_published", "ds_load"), "refuted",
      about="2, as without; row >> 2 & 1 gives 1 with 32 banks, row >> 3 & 1 with 64; " + PHASES,
      words="None (mathematically eliminated)"),
    S(Q, "stores that transpose B conflict: degree", 1, degree("tile_128x64", "ds_store_b16"), relation=">",
      about="phases of stores are not published: 32 lanes in one are assumed",
      words="Transpose pattern causes conflicts"),
    S(Q, "LDSBankConflict / LDSInstructions is a rate: at most so many percent", 101,
      extra_per_instruction("tile_128x64"), "refuted", relation="<",
      about="cycles over instructions; the profiler's rate is the share of the active cycles that serve conflicts",
      words="LDSBankConflict / LDSInstructions = conflict rate"),
    S(Q, "that rate, with padding: percent", 44.4, conflict_rate("tile_128x64"), "remark", within=0.01,
      about="the text's target is below 5 %; its stores of B; with a pass for a cycle; " + PHASES),
    S(Q, "reads of 16 bytes for a fragment", 2, lambda r: in_turn("ds_load_b128")(r) / 4,
      words="two ds_read_b128 + pack"),
    S(Q, "the swizzle is 15 to 20 % slower than padding", "15 to 20 %", None, "undecided", about=MEASURED,
      words="slower than padding (~15-20% slower)"),
    # --- Main loop
    S(R, "v_wmma in a turn", 4, in_turn("v_wmma"), words="WMMA Instructions 4"),
    S(R, "global_load_b128 in the listing", 4, listed("global_load_b128"),
      words="Global Loads (global_load_b128) 4"),
    S(R, "global_load_b128 for a tile of K", 1.5, for_tile("global_load_b128"), "remark",
      about="384 pieces of 16 bytes for 256 threads; half of the 4 in the listing stand before the loop"),
    S(R, "ds_store_b128 in the listing", 8, listed("ds_store_b128"), "undecided",
      about=COMPILED + "; here B goes by stores of 16 bits, being transposed", words="LDS Stores (ds_store_b128) 8"),
    S(R, "v_dual in the listing", "6 to 21", listed("v_dual"), "undecided", about=COMPILED,
      words="Dual-Issue (v_dual_*) 6-21"),
    S(R, "s_waitcnt in the listing", 10, listed("s_waitcnt"), words="Barriers (s_waitcnt) 10"),
    S(R, "the four matrix instructions use", "4 sums, 2 of A, 2 of B", neighbours_in_loop,
      words="v_wmma_f32_16x16x16_f16 v[25:32], v[33:40], v[41:48], v[25:32] ; MMA 3"),
    S(R, "clocks of the four", 128, lambda _: 4 * mfmasim.instruction(ARCH, WMMA).cycles,
      words="WMMA ops (128 cycles) complete before global loads"),
    S("Bottlenecks", "barriers for K = 2048", 128, lambda r: barriers("tile_128x64", 256)(r) * 2048 / 256,
      words="128 barriers for K=2048"),
    S("Bottlenecks", "shares of barriers, occupancy, conflicts, bubbles", "20, 15, 10, 10 %", None, "undecided",
      about=MEASURED, words="__syncthreads overhead ~20%"),
    # --- Registers and occupancy
    S("Registers", "VGPRs, about", 91, vgprs("tile_128x64"), "undecided", about=COMPILED,
      words="Estimated ~91-92 VGPRs per thread"),
    S("Bottlenecks", "waves that 91 VGPRs allow", 5, waves_by_vgprs(91), "refuted",
      about="1,536 in granules of 24: 16; five is GCN's formula. The LDS allows 14 a SIMD",
      words="91 VGPRs limits to 5 waves"),
    S("Registers", "LDS loads ahead of the products: the kernel", "pass",
      status("wmma", "fragments_ahead_128x64", K=256), about="16 of K ahead, in a tile of 32",
      words="not LDS→Register double buffering"),
    S("Registers", "VGPRs of the fragments, to be doubled", 128,
      lambda _: 2 * fragments("A").vgprs + 2 * fragments("B").vgprs, "refuted", about="and so 64, not 256",
      words="Doubles register usage for fragments (from ~128 to ~256 VGPRs)"),
    S("Registers", "kernel templates may have amdgpu_num_vgpr", "no", accepts("amdgpu_num_vgpr(64)"), "refuted",
      about="what is refused is a number that depends on the template's arguments",
      words="The amdgpu_num_vgpr attribute is not supported with template kernels in HIP"),
    S("Registers", "and amdgpu_waves_per_eu", "yes", accepts("amdgpu_waves_per_eu(N, 8)"),
      words="Only amdgpu_waves_per_eu is supported with templates"),
    # --- Roofline
    S("Roofline", "ridge point, operations a byte", 106, lambda _: ridge_point(PEAK, BANDWIDTH), "refuted",
      about="59.4 T / 256 G", words="Ridge Point ~106 ops/byte"),
    S("Roofline", "intensity at K = 2048", 682, lambda _: intensity(4096, 4096, 2048), within=0.002,
      about="with C in f32; 1,024 with C in f16", words="Our Intensity (K=2048) ~682 ops/byte"),
    S("Roofline", "K below 256 is bound by", "memory", bound_by(255), words="K < 256 Memory-bound"),
    S("Roofline", "K = 512 is bound by", "arithmetic", bound_by(512), "refuted", about=AT_512,
      words="K ≥ 512 Compute-bound"),
    # --- Split K and tile maps
    S("Split-K", "tiles of 16 x 4096", 64, lambda _: 4096 / 64, words="Without Split-K: Only 64 tiles"),
    S("Split-K", "percent that 64 tiles use", 60, lambda _: 100 * utilisation(64, UNITS), "refuted",
      about="two rounds on 40 units", words="Only 64 tiles → 60% utilization"),
    S("Split-K", "percent that 256 tiles use", 90, lambda _: 100 * utilisation(256, UNITS), within=0.02,
      words="256 tiles → 90% utilization"),
    S("Split-K", "slices at 16x4096x4096", 4, lambda _: published_split(16, 4096, 4096).slices,
      words="With Split-K factor 4: 256 tiles"),
    S("Split-K", "elements of K counted twice, K = 1300", 0,
      lambda _: published_split(16, 4096, 1300).counted_twice(), "refuted",
      about="by the rule that goes with the text: slices of 325; here they are multiples of 16",
      words="Split-K assigns partial K-dimension slices to different work-groups"),
    S("L2 rasterisation", "grids up to 40x40 that Hilbert's map fails", 0, refuted_grids("hilbert", 40),
      words="Hilbert curve tile mapping for L2 locality"),
    S("L2 rasterisation", "grids that columns fail", 0, refuted_grids("column", 40),
      words="Column-major or chunked tile processing improves L2 cache locality"),
    S("L2 rasterisation", "grids up to 19x19 that chunks fail", 0, refuted_grids("chunked_clamped", 19, xcds=1),
      "refuted", about="as published: of 361; so do its chiplet and L2-aware maps",
      words="Column-major or chunked tile processing improves L2 cache locality"),
    S("L2 rasterisation", "is 5 to 15 % faster", "5 to 15 %", None, "undecided", about=MEASURED,
      words="Expected Impact: 5-15% improvement for large matrices"),
    # --- Loads past the registers
    S("No async LDS", "loads of gfx1151 from memory to the LDS", 0, instructions(ARCH, "_lds_"),
      words="__builtin_amdgcn_global_load_lds not exposed in ROCm 7.x for gfx1151"),
    S("No async LDS", "where there are some, they are waited for by", "none",
      counter_of("gfx950", "global_load_lds_dwordx4"), "refuted", about="asynchronous on gfx9, in order by a counter",
      words="llvm.amdgcn.load.to.lds exists but is synchronous"),
    S("Explored", "s_prefetch_data on RDNA3.5", 0, instructions(ARCH, "s_prefetch_data"),
      words="s_prefetch_data instruction not supported on RDNA3.5"),
    S("No async LDS", "s_wait_dscnt on gfx1201", 1, instructions("gfx1201", "s_wait_dscnt"),
      words="GFX12 has s_wait_dscnt but still no async"),
    S("No async LDS", "asynchronous loads of gfx1201", 0, instructions("gfx1201", "async"),
      about="gfx1250, which came later, has them", words="GFX12 has s_wait_dscnt but still no async"),
    S("Explored", "prefetch instructions of the native kernel, which calls __builtin_prefetch twice a turn", 0,
      prefetches("native_128x64"), "refuted", relation=">",
      about="on RDNA3.5 it compiles to nothing: no 1 % can come of it",
      words="__builtin_prefetch adds ~1% improvement"),
    S("Explored", "waits by hand, prefetches: gains", "none to 1 %", None, "undecided", about=MEASURED,
      words="via inline asm perform same as compiler-managed"),
    # --- Attention
    S("Flash attention", "largest error", 0.001, attention_error(0), relation="<", about="of hipkernels/attention",
      words="Matches PyTorch SDPA (<0.001 max error)"),
    S("Flash attention", "largest error, causal", 0.001, attention_error(1), relation="<",
      about="of hipkernels/attention", words="Matches PyTorch SDPA (<0.001 max error)"),
    S("Flash attention", "one thread a query, causal", "pass", status("attention", "scalar", causal=1),
      words="Simple scalar kernel"),
    S("Flash attention", "by WMMA in tiles: still to do", "pass", status("attention", "wmma", causal=1),
      about="it can be done: bit for bit a replay of its operations",
      words="TODO: WMMA-accelerated tiled implementation"),
    S("Flash attention", "2 to 10 times slower than PyTorch", "2 to 10", None, "undecided", about=MEASURED,
      words="~2-10x slower than PyTorch SDPA"),
    # --- The journey
    S("Journey", "points that gains and rates differ", 1, largest_step, relation="<",
      words="+ LDS Padding 20.9 +20% Bank conflict elimination"),
    *(S("Key optimisations", f"{what}: percent", other, step(n), "confirmed" if other == more else "refuted",
        within=0.02, about="by the rates of the text's own journey", words=words)
      for n, (what, _, more, other, words) in enumerate(JOURNEY) if other is not None),
    S("Journey", "kernels of its steps", "pass", rungs, about="eight, each adds what its row says",
      words="Basic WMMA implementation"),
    S("Key optimisations", "B transposed by the host: the kernel", "pass", status("wmma", "b_transposed_128x64"),
      about="the time of the host cannot be measured here", words="Pre-transpose B on Host Slower"),
    S("Journey", "product of its steps, from 5.4 TFLOPS", 20.9,
      lambda _: 5.4 * math.prod(1 + more / 100 for _, _, more, *_ in JOURNEY), within=0.01,
      about="percentages are rounded: 20.8", words="+ LDS Padding 20.9 +20%"),
    S("Journey", "rates of each step", "a table", None, "undecided", about=MEASURED,
      words="Baseline 5.4 Basic WMMA implementation"),
]  # fmt: skip
