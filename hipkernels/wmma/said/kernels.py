"""Statements of the README of wmma_ops about the machine, the fragments, its kernels and their development."""

import mfmasim
from hipkernels.wmma.facts import (
    ARCH,
    WMMA,
    barriers,
    caught,
    copies,
    degree,
    fragments,
    in_turn,
    lds_bytes,
    prefetches,
    rows_of_a,
    share_of_c,
    status,
    taken,
    vgprs,
)
from hipkernels.wmma.rates import FINAL, JOURNEY, UNITS, journey_product, over_baseline, rate_of, share_of_matmul, step
from hipkernels.wmma.said.results import MEASURED
from hipkernels.wmma.said.sections import (
    ADAPTIVE,
    DONE,
    HIGH,
    INSTRUCTION,
    LATER,
    LAYOUT,
    LESSONS,
    MACHINE,
    NATIVE,
    NOT,
    PLAIN,
    STANDARD,
    STEPS,
    UNROLLED,
)
from mfmasim.lab.reports.statements import Runs, Statement

S = Statement
COMPILED = "the compiler decides, and the text's own binary is not here"
OTHER_K = "the section gives no K; its table, at K = 2048, gives what is found"
TABLES = "the text's own journey gives what is found; the list does not say what it counts from"


PADDED = "LDS Padding (+8 halfs) +15-20% Eliminates bank conflicts (stride 24 vs 16)"


def rungs(runs: Runs) -> str:
    """Whether the kernel of each version of the journey passes."""
    rungs = ("baseline", "columns", "blocking", "wide_loads", "two_slots", "tall")
    names = [*(f"rung_{rung}" for rung in rungs), "not_swizzled", "tile_128x64"]
    found = {runs.profile(name, ARCH, K=256).result.status for name in names}
    return ", ".join(sorted(found))


def shape(_: Runs) -> str:
    """Of the matrix instruction."""
    op = mfmasim.instruction(ARCH, WMMA)
    return f"{op.m}x{op.n}x{op.k}"


def product_bandwidth(_: Runs) -> float:
    """GB/s of the architecture's product."""
    return mfmasim.arch(ARCH).rates.products[0].gigabytes


def vgpr_file(arch: str) -> float:
    """KiB of a SIMD."""
    return mfmasim.arch(arch).simd.vgprs[0][1] * 32 * 4 / 1024


STATEMENTS = [
    S(MACHINE, "lanes of a wave", 32, lambda _: mfmasim.arch(ARCH).wave_sizes[0],
      words="Wavefront Size 32 threads (Wave32)"),
    S(MACHINE, "SIMDs of a compute unit, and lanes of each", "2, 32",
      lambda _: f"{mfmasim.arch(ARCH).rates.lds_simds}, {mfmasim.arch(ARCH).wave_sizes[0]}",
      words="SIMD Units per CU 2 × SIMD32 (dual-issue capable)"),
    S(MACHINE, "units, clock, 256 GB/s", "40, 2.9 GHz", None, "undecided", about="of the product, not the ISA",
      words="Compute Units 40 CUs Peak Clock 2.9 GHz"),
    S(MACHINE, "TFLOPS of 40 units at 2.9 GHz", 59.4,
      lambda _: mfmasim.instruction(ARCH, WMMA).peak(UNITS // 2, 2.9e9) / 1e12, "consistent", within=0.001,
      about="by the cycles of the instruction, and the text's units and clock", words="Peak TFLOPS 59.4 (FP16 WMMA)"),
    S(MACHINE, "KiB of LDS a unit", 64, lambda _: mfmasim.arch(ARCH).simd.lds_bytes / 2048, words="LDS 64 KB per CU"),
    S(MACHINE, "KiB of VGPRs a SIMD", 192, lambda _: vgpr_file(ARCH), words="VGPR File 192 KB per SIMD"),
    S(MACHINE, "times that of gfx1103, which is mobile RDNA3", 1.5, lambda _: vgpr_file(ARCH) / vgpr_file("gfx1103"),
      words="(1.5× larger than mobile RDNA3)"),
    S(MACHINE, "GB/s of the product", 256, product_bandwidth, "consistent", about="the product's row here is of this "
      "text",
      words="Memory LPDDR5X (~256 GB/s)"),
    S(INSTRUCTION, "rows, columns and K", "16x16x16", shape, words="Tile Size 16×16×16 (M×N×K)"),
    S(INSTRUCTION, "elements of A in a lane", 16, lambda _: 2 * fragments("A").vgprs, words="Input Type FP16 (half16)"),
    S(INSTRUCTION, "sums in a lane", 8, lambda _: fragments("D").vgprs, words="Accumulator Type FP32 (float8)"),
    S(INSTRUCTION, "cycles", 32, lambda _: mfmasim.instruction(ARCH, WMMA).cycles, words="Latency ~32 cycles"),
    S(LAYOUT, "A and B are held twice", "lanes l and l + 16", copies,
      words="lanes 0-15 and lanes 16-31 must contain identical data for A and B fragments"),
    S(LAYOUT, "rows of A in a lane", 1, rows_of_a, words="Each lane loads one ROW of A (all 16 K values)"),
    S(LAYOUT, "C: even rows below lane 16; percent", 100, share_of_c("gfx1151"),
      words="lanes 0-15 cover even rows, lanes 16-31 cover odd rows"),
    # --- Kernels
    S(STANDARD, "4x2 waves of 2x2 tiles cover", "128x64", lambda _: f"{16 * 4 * 2}x{16 * 2 * 2}", "consistent",
      words="128×64 tile, 4×2 warps, 2×2 register blocking"),
    *(S(place, "TFLOPS", said, rate_of(name), "undecided", about=OTHER_K, words=words)
      for place, said, name, words in [
          (STANDARD, 21.9, "matmul", "21.9 TFLOPS (36.8% peak) at 4096×4096"),
          (ADAPTIVE, 21.6, "adaptive", "21.6 TFLOPS (36.4% peak) at 4096×4096"),
          (UNROLLED, 17.2, "kunroll", "17.2 TFLOPS (29% peak) at 4096×4096"),
          (PLAIN, 19.2, "noPrefetch", "19.2 TFLOPS (32% peak) at 4096×4096"),
          (HIGH, 9.8, "highOcc", "Worse performance (9.8 TFLOPS)")]),
    S(ADAPTIVE, "takes at 256x256x256", "64x64", taken(256, 256, 256), about="as its code was published",
      words="Small matrices (< 512): Uses 64×64 tiles"),
    S(ADAPTIVE, "takes at 2048x2048x1024, and at 1024x1024x1024", "128x64, k_unrolled",
      lambda r: f"{taken(2048, 2048, 1024)(r)}, {taken(1024, 1024, 1024)(r)}", about="as its code was published",
      words="Medium matrices (512-2048): Uses 128×64 tiles with K-unroll when beneficial"),
    S(ADAPTIVE, "the published code takes at 4096x8192x2048, and at 8192x1024x2048", "256x64, 64x64",
      lambda r: f"{taken(4096, 8192, 2048)(r)}, {taken(8192, 1024, 2048)(r)}", "remark",
      about="its rules have two more cases than the text",
      words="Large matrices (> 2048): Uses 128×64 standard tiles"),
    S(UNROLLED, "matrix instructions of a turn, times those of the standard kernel", 2,
      lambda r: in_turn("v_wmma", "k_unrolled")(r) / in_turn("v_wmma")(r), words="128×64 tile with 2× K-unrolling"),
    S(UNROLLED, "barriers that are left, in percent", 50,
      lambda r: 100 * barriers("k_unrolled", 256)(r) / barriers("tile_128x64", 256)(r),
      words="Reduces __syncthreads overhead by 50%"),
    S(UNROLLED, "the range of K", "768-1536", None, "undecided",
      about=MEASURED + "; the published rule asks for it of max(M, N), and for K of 512 at least",
      words="Best for K dimensions in 768-1536 range"),
    S(UNROLLED, "TFLOPS at 1024", 15.7, lambda _: FINAL[1][1], "undecided",
      about="the section gives no K; found is the rate of the final benchmarks, where the same kernel is taken",
      words="but 15.7 TFLOPS at 1024×1024"),
    S(PLAIN, "VGPRs, about", 64, vgprs("no_prefetch"), "undecided", about=COMPILED,
      words="Lower register pressure (~64 VGPRs)"),
    S(PLAIN, "bytes of one slot of the LDS", 9216, lds_bytes("no_prefetch"), "remark"),
    S(HIGH, "4x1 waves of 2x1 tiles, as rows x columns, cover", "128x16", lambda _: f"{16 * 4 * 2}x{16 * 1 * 1}",
      "remark",
      about="64x32 is right if the blocking is written as columns x rows, or for 2x2 waves",
      words="64×32 tile, 4×1 warps, 2×1 register blocking"),
    S(HIGH, "VGPRs, about", 50, vgprs("high_occupancy"), "undecided", about=COMPILED, words="reducing VGPRs to ~50"),
    S(HIGH, "bytes of one slot without padding", 3072, lds_bytes("high_occupancy"), "remark"),
    S(NATIVE, "a kernel written so", "pass", status("wmma", "native_128x64"), "remark", about="of ours",
      words="128×64 tile, explicit inline assembly fences"),
    S(NATIVE, "its rate", "~20 TFLOPS", None, "undecided", about=MEASURED + "; the table has 19.92",
      words="~same as adaptive (~20 TFLOPS)"),
    S(NATIVE, "prefetch instructions of the kernel here, which calls __builtin_prefetch twice a turn", 0,
      prefetches("native_128x64"), "remark", about="LLVM 22 compiles it to nothing on RDNA3.5, which has none",
      words="__builtin_prefetch for software prefetch"),
    # --- Optimisations
    S(DONE, "2x2 register blocking: percent, from the first version to 9.7 TFLOPS", 80, over_baseline(9.7),
      "consistent",
      within=0.01, about="79.6; the journey counts from the version before, and has 56", words="2×2 Register "
        "Blocking +80%"),
    *(S(DONE, f"{what}: percent by the rates of the journey", said, step(n), kind, within=0.02,
        about=TABLES if kind == "remark" else "", words=words)
      for n, what, said, kind, words in [
          (3, "two slots", 14.78, "remark", "Double Buffering +20%"),
          (5, "fetching ahead", 5.455, "remark", "GMEM Spreading +15%"),
          (2, "wide loads", 18.56, "remark", "Vectorized half8 Loads +25% 128-bit global loads"),
          (4, "128x64 tile", 25, "consistent", "128×64 Tile Shape +25%"),
          (6, "padding of the LDS", 20, "consistent", PADDED)]),
    S(DONE, "tiles of a wave, and rows and columns of C", "4, 32x32", lambda _: f"{2 * 2}, {2 * 16}x{2 * 16}",
      "consistent", words="4 WMMA tiles per warp (32×32 output)"),
    S(DONE, "checks that B fails untransposed", "mapping, outputs, races, uninitialised", caught("b_not_transposed"),
      about="a load of columns would do, too", words="Transposed B in LDS Required"),
    S(DONE, "its gain", "2 %", None, "undecided", about=MEASURED, words="Pointer Increment +2%"),
    S(DONE, "its gain", "2 %", None, "undecided", about=MEASURED, words="amdgpu_waves_per_eu +2%"),
    S(DONE, "a launch that scales and adds, too", "pass", status("wmma/scaled", "gemm_128x64"),
      about="one kernel reads C where it writes it; no second pass", words="Saves 1 pass"),
    S(NOT, "its rate", "slower", share_of_matmul("kunroll"), "undecided", about=MEASURED + "; found by the table of "
      "variants",
      words="BLOCK_K=32 Slower"),
    S(NOT, "degree of reads with lines of 17 halfs", 2, degree("odd_17", "ds_load"), "undecided",
      about="the text's compiler decides; LLVM 22 reads 16 bytes at addresses that are no multiple of 16, which is "
      "allowed and slower", words="Odd LDS Stride (17, 33) Slower Forces scalar LDS access"),
    S(NOT, "B transposed by the host: a kernel that reads it", "pass", status("wmma", "b_transposed_128x64"), "remark",
      about="the time of the host cannot be measured here", words="Pre-transpose B on Host Slower"),
    S(NOT, "does not work", "broken", None, "undecided", about="the kernel is not published",
      words="Triple Buffering Broken Correctness issues with rotation"),
    S(NOT, "three slots, rotated", "pass", status("wmma", "three_slots_128x64"), "remark",
      about="it can be done: 27,648 bytes, one barrier a turn; with two of the three slots races report it"),
    # --- The journey
    *(S(STEPS, f"{what}: percent", more, step(n), "consistent", within=0.1, words=words)
      for n, ((what, _, more, _, _), words) in enumerate(zip(JOURNEY, (
          "+ Multi-column blocks 6.2 +15% BLOCK_N=64 for B reuse", "+ 2×2 Register Blocking 9.7 +56%",
          "+ Vectorized Loads 11.5 +19%", "+ Double Buffering 13.2 +15%", "+ 128×64 Tile Shape 16.5 +25%",
          "+ GMEM Spreading 17.4 +5%", "+ LDS Padding 20.9 +20%"), strict=True))),
    S(STEPS, "product of its steps, from 5.4 TFLOPS", 20.9, journey_product, "consistent", within=0.01,
      about="percentages are rounded: 20.8", words="+ LDS Padding 20.9 +20%"),
    S(STEPS, "kernels of its steps, written from the table", "pass", rungs, "remark",
      about="eight, each adds what its row says", words="Basic WMMA implementation"),
    S(STEPS, "rates of each step", "a table", None, "undecided",
      about=MEASURED + "; the timeline orders the eight alike but for two, see the end of the page",
      words="Baseline 5.4 Basic WMMA implementation"),
    S(LESSONS, "its gain", "significantly", None, "undecided", about=MEASURED,
      words="128×64 (tall) significantly outperforms 64×64 (square)"),
    S(LATER, "KiB more of LDS", 32, lambda r: (lds_bytes("vector_c")(r) - lds_bytes("tile_128x64")(r)) / 1024,
      words="Extra 32KB LDS + sync overhead"),
    S(LATER, "barriers more", 1, lambda r: barriers("vector_c", 256)(r) - barriers("tile_128x64", 256)(r), "remark",
      about="the overhead of the same sentence"),
    S(LATER, "its rate", "0.72", None, "undecided", about=MEASURED, words="Vectorized C Writes ❌ 0.72x slower"),
    S(LATER, "its rate", "1.01 to 1.06", None, "undecided", about=MEASURED + "; the table of variants has 0.98",
      words="Cooperative Loading ⚖️ 1.01-1.06x"),
    S(LATER, "times the rate of the standard kernel, by the table", 0.89, share_of_matmul("kunroll"), "consistent",
      within=0.01, words="BLOCK_K=32 (K-unroll) ❌ 0.89-0.97x"),
    S(LATER, "times the rate with padding, by the table", 0.85, share_of_matmul("xor_optimized"), "consistent",
      within=0.01, words="XOR Swizzle LDS ❌ 0.85x slower"),
]  # fmt: skip
