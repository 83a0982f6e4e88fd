"""Statements of the README of wmma_ops about results: rates, variants, correctness, attention, its summary."""

from collections.abc import Callable
from typing import Any

from hipkernels.wmma.facts import (
    LARGE_ERROR,
    attention_error,
    estimated,
    gemm_error,
    profile,
    refuted_grids,
    status,
    taken,
    unnoticed,
    worst_error,
)
from hipkernels.wmma.rates import FINAL, PEAK, VARIANTS, final_kernels, of_peak
from hipkernels.wmma.said.sections import (
    ADVICE,
    ATTENTION,
    FINALS,
    FUNCTIONS,
    KEY,
    METHOD,
    STATS,
    SUMMARY,
    TABLE,
    TESTS,
)
from mfmasim.lab.reports.roofline import teraflops
from mfmasim.lab.reports.statements import Runs, Statement

S = Statement
MEASURED = "measured: only the GPU can decide it"
MODEL = MEASURED + "; `python -m hipkernels.wmma.autotune` orders by a model, which has the same here"
THEIRS = "of the text's own binary; found is what a right kernel of this description has"
LONG_RUN = (
    THEIRS + ": 8.4 million matrix instructions, 147 s of CPU time, kept, and run again by the long tier of the tests"
)

HERE = ("zero_copy", "asm_optimised", "tile_128x64", "native_128x64", "k_unrolled", "swizzled", "no_prefetch",
        "xor_optimised", "quad", "hilbert_128x64", "high_occupancy", "cooperative")  # fmt: skip
"""The same kernels in this folder; the adaptive one chooses among them."""


def wrong_variants(runs: Runs) -> int:
    """Kernels whose output differs from the instruction's arithmetic."""
    return sum(profile(runs, name).result.status != "pass" for name in HERE)


def percent(value: float) -> Callable[[Runs], float]:
    """Of two figures of a table."""
    return lambda _: value


def rate(size: tuple[int, int, int], milliseconds: float) -> Any:
    return lambda _: teraflops(*size, milliseconds / 1e3)


STATEMENTS = [
    S(SUMMARY, "21.6 TFLOPS of 59.4: percent", 36, lambda _: 21.6e14 / PEAK, "consistent", within=0.02,
      words="achieving 21.6 TFLOPS peak (36% of theoretical 59.4 TFLOPS)"),
    S(SUMMARY, "times as fast as the first version, 5.4", 4, lambda _: 21.6 / 5.4, "consistent",
      words="4× improvement over the initial implementation (5.4 → 21.6 TFLOPS)"),
    S(SUMMARY, "percent of rocBLAS's 41 TFLOPS", 53, lambda _: 2160 / 41, "consistent", within=0.01,
      words="reaching 53% of rocBLAS FP16 performance"),
    S(STATS, "21.6 TFLOPS at 4096 x 4096", "21.6 TFLOPS", None, "undecided", about=MEASURED,
      words="Peak TFLOPS 21.6 (4096×4096)"),
    S(STATS, "which are so many percent of 59.4", 36, lambda _: 21.6e14 / PEAK, "consistent", within=0.02,
      words="36% of 59.4 TFLOPS peak"),
    S(STATS, "and so many percent of rocBLAS's 41", 53, lambda _: 2160 / 41, "consistent", within=0.01,
      words="vs rocBLAS FP16 53% (rocBLAS: ~41 TFLOPS)"),
    S(STATS, "times as fast as the first version", 4, lambda _: 21.6 / 5.4, "consistent", words="Improvement 4× over "
      "baseline"),
    S(STATS, "variants that are wrong, of those here", 0, wrong_variants, "undecided", about=THEIRS + ", bit for bit",
      words="All tests pass (rel_err < 1%)"),
    *(S(FINALS, f"{size}: percent of the peak", share, percent(100e12 * rate / PEAK), "consistent",
        within=0.003,
        words=f"{size}×{size}×{size} {rate} {share:.1f}% {library} {part}%")
      for size, rate, share, library, part in FINAL),
    *(S(FINALS, f"{size}: percent of rocBLAS", part, percent(100 * rate / library),
        "consistent", within=0.014, about="60.7, cut off" if size == 512 else "",
        words=f"{size}×{size}×{size} {rate} {share:.1f}% {library} {part}%")
      for size, rate, share, library, part in FINAL),
    S(FINALS, "the kernels taken for its sizes", "128x64, k_unrolled, 128x64, 128x64", final_kernels, "remark",
      about="as its code was published; the heading names the adaptive kernel with K-unrolling"),
    S(FINALS, "rocBLAS's 41 TFLOPS are so many percent of the peak", 69, lambda _: 41e14 / PEAK, "consistent",
      within=0.01, words="rocBLAS achieves 69% of peak (41/59.4 TFLOPS) while our kernel achieves 36% of peak"),
    S(FINALS, "rates at 512 to 4096", "a table", None, "undecided", about=MEASURED,
      words="1024×1024×1024 14.6 24.6% 37.0 39%"),
    S(TABLE, "variants in the table", 13, lambda _: len(VARIANTS), "remark", about="the cooperative one came later",
      words="All 12 kernel variants pass correctness tests"),
    S(TABLE, "variants that are wrong, of those here", 0, wrong_variants, "undecided", about=THEIRS + ", bit for bit",
      words="kernel variants pass correctness tests (< 1% relative error)"),
    *(S(TABLE, f"{name}: TFLOPS of {ms} ms", said, rate((4096, 4096, 2048), ms), "consistent", within=0.003,
        words=f"{name if name == 'matmul' else 'matmul_' + name} {ms:.2f} {said:.2f} {share}%")
      for name, ms, said, share in VARIANTS),
    S(TABLE, "largest difference of a share of the peak, points", 0.1,
      lambda _: max(abs(said / PEAK * 1e14 - share) for _, _, said, share in VARIANTS), "consistent", relation="<",
      words="Peak Theoretical: 59.4 TFLOPS (gfx1151 FP16 WMMA)"),
    S(TABLE, "PyTorch: TFLOPS of 1.92 ms", 35.86, rate((4096, 4096, 2048), 1.92), "consistent", within=0.003,
      words="PyTorch (reference) 1.92 35.86 60.4%"),
    S(TABLE, "times of each variant", "a table", None, "undecided", about=MEASURED, words="Time (ms) TFLOPS % of Peak"),
    S(KEY, "the best variant, in percent of PyTorch", 57.5, lambda _: 2061 / 35.86, "consistent", within=0.001,
      words="20.61 TFLOPS, 57.5% of PyTorch"),
    S(KEY, "least of four by estimated cost: zerocopy, matmul, xor_optimized, highOcc", "matmul_zerocopy",
      lambda _: estimated()[0].name, "undecided", about=MODEL, words="matmul_zerocopy performs best"),
    S(KEY, "percent between the best four variants", 1, lambda _: (20.61 / 20.46 - 1) * 100, "consistent",
      relation="<", words="Top 4 kernels are within 1% of each other (~20.5 TFLOPS)"),
    S(KEY, "and most", "matmul_highOcc", lambda _: estimated()[-1].name, "undecided", about=MODEL,
      words="HighOcc underperforms (10.28 TFLOPS)"),
    S(TESTS, "largest error in percent, 512x512x64", 0.04, worst_error(512, 512, 64), "undecided", relation="<",
      about=THEIRS, words="512×512×64 < 0.04%"),
    S(TESTS, "the same, 2048x2048x128", 0.03, worst_error(2048, 2048, 128), "undecided", relation="<", about=THEIRS,
      words="2048×2048×128 < 0.03%"),
    S(TESTS, "the same, 4096x4096x2048", 0.03, lambda _: LARGE_ERROR, "undecided", relation="<", about=LONG_RUN,
      words="4096×4096×2048 < 0.03%"),
    S(TESTS, "the same of gemm, alpha 2, beta 0.5", 0.001, gemm_error(2, 0.5), "undecided", relation="<",
      about=THEIRS + "; 256x256x64: the text gives no shape", words="GEMM α=2.0, β=0.5 < 0.001%"),
    S(TESTS, "gemm in place", "pass", status("wmma/scaled", "gemm_128x64"), "undecided",
      about=THEIRS + ", in which C is read once where it is written; the published wrapper updates a copy of a C "
      "with gaps",
      words="GEMM in-place < 0.001%"),
    S(FUNCTIONS, "grids up to 40x40 that Hilbert's map fails", 0, refuted_grids("hilbert", 40),
      words="Hilbert curve tile mapping for L2 locality"),
    S(FUNCTIONS, "gemm with alpha and beta, in one launch", "pass", status("wmma/scaled", "gemm_128x64"), "undecided",
      about=THEIRS, words="Standard GEMM with fused scaling"),
    S(ATTENTION, "largest error", 0.001, attention_error(0), "undecided", relation="<",
      about=THEIRS + ", of hipkernels/attention", words="Matches PyTorch SDPA (<0.001 max error)"),
    S(ATTENTION, "largest error, causal", 0.001, attention_error(1), "undecided", relation="<",
      about=THEIRS + ", of hipkernels/attention", words="Matches PyTorch SDPA (<0.001 max error)"),
    S(ATTENTION, "one thread a query, causal", "pass", status("attention", "scalar", causal=1), "remark",
      about="a kernel of ours that does the same", words="Simple scalar kernel"),
    S(ATTENTION, "2 to 10 times slower than PyTorch", "2 to 10", None, "undecided", about=MEASURED,
      words="~2-10x slower than PyTorch SDPA"),
    S(ATTENTION, "by WMMA in tiles", "pass", status("attention", "wmma", causal=1), "remark",
      about="it can be done: `hipkernels/attention`, bit for bit a replay of its operations",
      words="TODO: WMMA-accelerated tiled implementation"),
    S(ADVICE, "takes at 1024x1024x1024", "k_unrolled", taken(1024, 1024, 1024), about="as its code was published",
      words="Medium (1024): Use matmul_adaptive (selects K-Unroll)"),
    S(ADVICE, "takes at 4096x4096x2048", "128x64", taken(4096, 4096, 2048), about="as its code was published",
      words="Large (2048+): Use matmul_adaptive (selects Standard 128×64)"),
    S(ADVICE, "takes at 512x512x512", "128x64", taken(512, 512, 512), about="as its code was published",
      words="Small (512): Use matmul (Standard)"),
    S(METHOD, "percent of elements that could be 0 and pass", 3.81, unnoticed(512, 512, 64), "remark", within=0.01,
      about="an error of 1 % of the largest element passes, wherever it is; here bits are compared",
      words="Tolerance: < 1% relative error for correctness pass"),
    S("Expected Final Performance", "TFLOPS that 55 to 60 % of the peak are", "33 to 36", of_peak(55, 60), "consistent",
      words="approximately 55-60% of peak (~33-36 TFLOPS)"),
    S("Expected Final Performance", "and 40 to 45 %", "24 to 27", of_peak(40, 45), "consistent",
      words="40-45% of peak (~24-27 TFLOPS)"),
]  # fmt: skip
