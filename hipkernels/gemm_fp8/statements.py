"""Statements of AMD's post on FP8 GEMM kernels for CDNA4, paraphrased: the ladder, and the 8-wave ping-pong."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import mfmasim
from hipkernels.gemm_fp8 import regions
from hipkernels.gemm_fp8.listings import FLOATS, PRINTED, RIGHT, copied, undeclared, waits_without_clobber
from hipkernels.gemm_fp8.scheduled.evidence import margin, waits_of_prologue
from hipkernels.gemm_fp8.scheduled.schedules import pingpong_order
from mfmasim import lds
from mfmasim.cost import timeline
from mfmasim.cost.cases import record_case
from mfmasim.cost.costed import Costed, product_of
from mfmasim.lab.reports.profile import Profile
from mfmasim.lab.reports.roofline import teraflops
from mfmasim.lab.reports.statements import Runs, Statement
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.files import families

SECTIONS = (
    "GPU Characteristics",
    "FP8 GEMM",
    "hipBLASLt Benchmark",
    "Naive FP8 GEMM",
    "LDS Tiling to Improve Data Reuse",
    "Matrix Core Instructions",
    "Wave-Lane Mapping in Practice",
    "Vectorized Load",
    "Direct Global-to-LDS Load",
    "Performance Snapshot (M=N=K=4096)",
    "LDS Access: Bank Conflicts and Swizzling",
    "Swizzle method",
    "Software Pipelining with Double Buffering",
    "Occupancy and Multi-Wave Trade-offs",
    "8-Wave Ping-Pong Scheduling",
    "Results",
)
"""Headings of the text."""
S = Statement
ARCH, MFMA = "gfx950", "v_mfma_f32_16x16x128_f8f6f4"
READ, FP8 = "ds_read_b128", ("e4m3fn", "e4m3fn")
MEASURED = "measured: only the GPU can decide it"
# Instructions a cycle in the counters of its second table.
FMA_RATE, MFMA_RATE, REST_RATE = 0.465838844, 0.009418900, 0.001177363
PHASES = ((0, 12, 20, 24), (32, 44, 52, 56), (4, 8, 16, 28), (36, 40, 48, 60))
"""First of four consecutive lanes each."""
# Section, name, size, milliseconds, TFLOPS, and the words of the text.
RATES = [
    ("SNAP", "naive", 4096, 119.60282, 1.15, "Naive implementation 119.60282 1.15"),
    ("SNAP", "LDS tiles", 4096, 28.64486, 4.80, "LDS tiling baseline 28.64486 4.80"),
    ("SNAP", "matrix instructions", 4096, 4.57335, 30.05, "Matrix-core baseline 4.57335 30.05"),
    ("SNAP", "16-byte loads", 4096, 0.40797, 336.88, "Matrix-core + vectorized loads 0.40797 336.88"),
    ("SNAP", "direct to the LDS", 4096, 0.27125, 506.70, "Matrix-core + direct global-to-LDS load 0.27125 506.70"),
    ("SWIZZLE", "direct to the LDS", 4096, 0.27125, 506.70, "load path: 0.27125 ms, 506.70 TFLOPS/s"),
    ("SWIZZLE", "and swizzled", 4096, 0.27630, 497.43, "swizzle path: 0.27630 ms, 497.43 TFLOPS/s"),
    ("RESULTS", "naive", 4096, 119.60, 1.15, "Naive global-memory mapping 119.60 1.15 4096"),
    ("RESULTS", "LDS tiles", 4096, 28.64, 4.80, "Shared-memory tile reuse 28.64 4.80 4096"),
    ("RESULTS", "matrix instructions", 4096, 4.57, 30.05, "Matrix-core compute path 4.57 30.05 4096"),
    ("RESULTS", "16-byte loads", 4096, 0.40797, 336.88, "Matrix-core + vectorized load 0.40797 336.88 4096"),
    ("RESULTS", "direct to the LDS", 4096, 0.27125, 506.70, "Matrix-core + direct global-to-LDS load 0.27125 506.70"),
    ("RESULTS", "and swizzled", 4096, 0.27630, 497.43, "Direct global-to-LDS load + swizzle 0.27630 497.43 4096"),
    ("RESULTS", "double buffer", 4096, 0.11783, 1166.41, "Overlapped load/compute pipeline 0.11783 1166.41"),
    ("RESULTS", "128x128, 8 waves", 4096, 0.07516, 1828.74, "128x128x128 tile, 512 threads 0.07516 1828.74"),
    ("RESULTS", "256x256, 8 waves", 4096, 0.06007, 2288.16, "256x256x128 tile, 512 threads 0.06007 2288.16"),
    ("RESULTS", "256x256, 16 waves", 4096, 0.06169, 2228.01, "256x256x128 tile, 1024 threads 0.06169 2228.01"),
    ("RESULTS", "ping-pong", 4096, 0.0512, 2680.33, "256x256x128 tile, 512 threads 0.0512 2680.33"),
    ("RESULTS", "hipBLASLt", 4096, 0.04997, 2750.42, "hipBLASLt 0.04997 2750.42"),
    ("RESULTS", "ping-pong, 8192", 8192, 0.343, 3204.15, "256x256x128 tile, 512 threads 0.343 3204.15 8192"),
    ("RESULTS", "hipBLASLt, 8192", 8192, 0.351, 3130.21, "hipBLASLt 0.351 3130.21"),
]  # fmt: skip


def flops(name: str) -> float:
    """Operations of a matrix instruction; of a vector FMA, 2 for each lane."""
    return float(mfmasim.instruction(ARCH, name).flops) if name.startswith("v_mfma") else 2.0 * 64


def rate(size: int, milliseconds: float) -> Callable[[Runs], float]:
    return lambda _: teraflops(size, size, size, milliseconds / 1e3)


def profile(runs: Runs, case: str, arch: str = ARCH) -> Profile:
    return runs.profile(case, arch)


def degree(case: str, arch: str = ARCH) -> Callable[[Runs], float]:
    """Of the reads of fragments."""
    return lambda runs: max(a.degree for a in profile(runs, case, arch).accesses if a.instruction == READ)


def banks(arch: str) -> Callable[[Runs], float]:
    return lambda _: lds.phase_table(arch, READ).banks


def bytes_a_phase(arch: str) -> Callable[[Runs], float]:
    """16 bytes for each lane of a phase."""
    return lambda _: 64 * 16 / len(lds.phase_table(arch, READ).sets(64))


def direct_bits(arch: str) -> Callable[[Runs], float]:
    return lambda _: 8 * max(mfmasim.arch(arch).lds.direct_bytes)


def has(arch: str, name: str) -> Callable[[Runs], str]:
    return lambda _: "yes" if any(name in found for found in mfmasim.instructions(arch)) else "no"


def phases(_: Runs) -> str:
    """Whether the lanes of each phase are those of the text."""
    wanted = {tuple(lane for first in run for lane in range(first, first + 4)) for run in PHASES}
    found = {tuple(sorted(phase)) for phase in lds.phase_table(ARCH, READ).sets(64)}
    return "those of the text" if found == wanted else "others"


def permutation(_: Runs) -> str:
    """Order of the 16-byte columns by pairs of rows."""
    swizzle = lds.swizzle("cdna4_gemm")
    rows = np.arange(0, 16, 2)
    return " ".join(str(int(place) % 128 // 16) for place in swizzle.place(rows, np.zeros(8, np.int64)))


def placed() -> Any:
    """Place of each byte of a tile of 16 rows."""
    row, column = np.indices((16, 128))
    return lds.swizzle("cdna4_gemm").place(row, column)


def formulas(_: Runs) -> float:
    """Percent of the bytes of a tile whose place is that of the text's formulas."""
    row, column = np.indices((16, 128))
    pair = row >> 1 & 7
    mask = (pair ^ ((pair >> 1 ^ pair >> 2) & 1)) << 4
    return float(100 * (placed() == row * 128 + (column ^ mask)).mean())


def sound(_: Runs) -> str:
    swizzle = lds.swizzle("cdna4_gemm")
    return "yes" if swizzle.bijective and swizzle.self_inverse else "no"


def shape_of(_: Runs) -> str:
    """Formats of A and D, and shape."""
    op = mfmasim.instruction(ARCH, MFMA, *FP8)
    return f"{op.operands['A'].format}, {op.operands['D'].format}, {op.m}x{op.n}x{op.k}"


def lanes_of(_: Runs) -> str:
    """Lanes that have elements of A, B and D."""
    operands = mfmasim.instruction(ARCH, MFMA, *FP8).operands
    return ", ".join(str(len(set(operands[of].table()["lane"].tolist()))) for of in "ABD")


def share_of(operand: str, row: Callable[[int, int], int], other: Callable[[int, int], int]) -> Callable[[Runs], float]:
    """Percent of the places of a fragment that hold the element of a formula."""

    def found(_: Runs) -> float:
        fragment = mfmasim.instruction(ARCH, MFMA).operands[operand]
        per = 32 // fragment.width
        places = [(lane, i) for lane in range(64) for i in range(fragment.vgprs * per)]
        held = [fragment.element(lane, i // per, i % per * fragment.width) for lane, i in places]
        right = [
            e is not None and (e[0], e[1]) == (row(*place), other(*place))
            for e, place in zip(held, places, strict=True)
        ]
        return 100 * sum(right) / len(right)

    return found


def status(*names: str) -> Callable[[Runs], str]:
    """Whether kernels pass all checks on both architectures' first class of inputs."""

    def found(runs: Runs) -> str:
        all_of = {profile(runs, name).result.status for name in names}
        return "pass" if all_of == {"pass"} else ", ".join(sorted(all_of))

    return found


def order(case: str) -> Callable[[Runs], str]:
    """The first turn of the main loop, as a wave executed it."""

    def found(runs: Runs) -> str:
        turn = profile(runs, case).turn
        return "" if turn is None else turn.written

    return found


def claim(text: str) -> Callable[[Runs], float]:
    """What a claim about the ping-pong found."""

    def found(runs: Runs) -> float:
        judged = runs.of("gemm_fp8/scheduled").profile("pingpong_256", ARCH).claims
        (one,) = [j for j in judged if j.claim.text.startswith(text)]
        return -1.0 if one.found is None else one.found

    return found


def printed(title: str) -> Callable[[Runs], str]:
    """Checks that report the schedule as it is printed."""

    def found(_: Runs) -> str:
        path = families()["gemm_fp8/scheduled"].with_name("wrong_cases.py")
        (case,) = [case for case in load_file(path) if case.title == title]
        once: Any = replace(case, mapping=None, data=("integers",), fails=())
        findings = verify_case(once, ARCH).findings
        return ", ".join(sorted({f.check for f in findings if f.severity in {"error", "warning"}})) or "nothing"

    return found


def loads(case: str, pattern: str) -> Callable[[Runs], float]:
    """Bytes that a lane moves by one load from memory."""
    size = {"global_load_ubyte": 1, "global_load_dwordx4": 16}
    return lambda runs: float(max(size[name] for name in profile(runs, case).report.counts if pattern in name))


def vector(case: str) -> Callable[[Runs], float]:
    """Vector instructions of a wave."""

    def found(runs: Runs) -> float:
        report = profile(runs, case).report
        return sum(n for name, n in report.counts.items() if name.startswith("v_")) / report.waves

    return found


def idle(name: str) -> Callable[[Runs], float]:
    """Percent of the main loop in which a unit's matrix cores are idle, by the timeline of the workgroups it holds."""

    def found(_: Runs) -> float:
        (case,) = [case for case in load_file(families()["gemm_fp8"]) if case.title == name]
        recorded = record_case(case.with_parameters({"K": 1024, "beta": 0.0}), ARCH, units=1)
        return 100 * (1 - timeline(recorded.trace).matrix_share(recorded.head))

    return found


def bound_by(name: str) -> Callable[[Runs], str]:
    """The pipe that bounds a kernel."""

    def found(_: Runs) -> str:
        (case,) = [case for case in load_file(families()["gemm_fp8"]) if case.title == name]
        recorded = record_case(case.with_parameters({"beta": 0.0}), ARCH)
        return Costed(recorded, product_of(mfmasim.arch(ARCH), None), name).bound.pipe

    return found


def read_bytes(case: str) -> Callable[[Runs], float]:
    """Bytes that a launch reads from memory."""

    def found(runs: Runs) -> float:
        sites = [site for site in profile(runs, case).traffic.sites if site.kind == "read"]
        return sum(site.bytes for site in sites)

    return found


def per_matrix(runs: Runs) -> float:
    """Fused multiply-adds for each matrix instruction of a wave's tile, with K = 4096."""
    counts = runs.profile("one_wave_tile", ARCH, M=16, N=16, K=4096, lda=4096, ldb=4096).report.counts
    return sum(n for name, n in counts.items() if name.startswith(("v_fma", "v_fmac", "v_pk_fma"))) / counts[MFMA]


def waves_of(case: str) -> Callable[[Runs], float]:
    """Waves of a workgroup."""

    def found(runs: Runs) -> float:
        report = profile(runs, case).report
        return report.waves / math.prod(report.grid)

    return found


def fetches(case: str) -> Callable[[Runs], float]:
    """Loads to the LDS for each matrix instruction."""

    def found(runs: Runs) -> float:
        counts = profile(runs, case).report.counts
        return sum(n for name, n in counts.items() if name.startswith("buffer_load")) / counts[MFMA]

    return found


def turns(case: str, k: int) -> Callable[[Runs], float]:
    """Turns of the main loop of a wave."""

    def found(runs: Runs) -> float:
        profiled = runs.profile(case, ARCH, K=k)
        return 0.0 if profiled.main is None else profiled.main.turns / profiled.report.waves

    return found


def blas_product(_: Runs) -> str:
    """Which product of row-major matrices a BLAS computes, its operands by columns, the first one transposed."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-3, 4, (3, 5)), rng.integers(-3, 4, (4, 5))  # M x K and N x K, by rows
    first, second = a.ravel().reshape(5, 3, order="F"), b.ravel().reshape(5, 4, order="F")  # the bytes, by columns
    return "A B^T" if (first.T @ second == a @ b.T).all() else "another"


def clocks(rate: float, per_cycle: float) -> float:
    """Clocks a second that a rate in TFLOPS and operations per cycle of the whole GPU give, in GHz."""
    return rate * 1e3 / per_cycle


FIGURE_7 = ("multi_wave.hip", "multi_wave_256x256_t512")
MINE: dict[str, Callable[..., Any]] = {
    "fill": lambda wave, row: wave == row // 8 % 8,
    "C": lambda wave, row, column: wave == row // 64 % 2 * 4 + column // 32 % 4,
    "A": lambda wave, row: wave // 4 == row // 64 % 2,
    "B": lambda wave, row: wave % 4 == row // 32 % 4,
}
"""The four views of Figure 7: which wave fills, computes and reads a row."""
T, G, BENCH, NAIVE, TILED, M, LANES, WIDE, DIRECT, SNAP, BANKS, SWIZZLE, D, W, P, RESULTS = SECTIONS
RATIO = (
    "Table 3 gives 30.05 / 4.80 = 6.26 times for the same two kernels: the counters' cycles are not those of the times"
)
CONFIGURATIONS = ("multi_wave_128x128_t512", "multi_wave_256x256_t512", "multi_wave_256x256_t1024")
STATEMENTS = [
    # --- Table 1
    S(T, "lanes of a wave", 64, lambda _: mfmasim.arch(ARCH).wave_sizes[0], words="Wavefront size 64 (wave64)"),
    S(T, "KB of LDS on CDNA4", 160, lambda _: mfmasim.arch(ARCH).lds_bytes / 1024,
      words="160 KB per CU/workgroup addressable LDS"),
    S(T, "KB of LDS on CDNA3", 64, lambda _: mfmasim.arch("gfx942").lds_bytes / 1024, words="64 KB LDS"),
    S(T, "LDS banks on CDNA4", 64, banks(ARCH), about="for reads of 8 and 16 bytes; other instructions see 32",
      words="LDS bank count 64 banks"),
    S(T, "LDS banks on CDNA3", 32, banks("gfx942"), words="64 banks 32 banks"),
    S(T, "bytes a phase of a 16-byte read on CDNA4", 256, bytes_a_phase(ARCH), words="256 bytes/clock"),
    S(T, "and on CDNA3", 128, bytes_a_phase("gfx942"), words="128 bytes/clock"),
    S(T, "bits a lane loads straight to the LDS on CDNA4", 128, direct_bits(ARCH), words="Up to 128 bits/lane"),
    S(T, "and on CDNA3", 32, direct_bits("gfx942"), words="Up to 32 bits/lane"),
    S(T, "scaled matrix instructions on CDNA4", "yes", has(ARCH, "v_mfma_scale_f32_16x16x128_f8f6f4"),
      words="Adds V_MFMA_SCALE_F32_16X16X128_F8F6F4"),
    S(T, "and on CDNA3", "no", has("gfx942", "f8f6f4"), words="V_MFMA_SCALE_F32_32X32X64_F8F6F4 Not supported"),
    S(T, "matrix instructions for FP6 and FP4 on CDNA4", "yes", has(ARCH, "v_mfma_f32_16x16x128_f8f6f4"),
      words="FP4/FP6 MFMA Supported"),
    S(T, "and on CDNA3", "no", has("gfx942", "f8f6f4"), words="FP4/FP6 MFMA Supported Not supported"),
    S(T, "16x16x32 f16 on CDNA4", "yes", has(ARCH, "v_mfma_f32_16x16x32_f16"),
      words="Adds larger shapes (16x16x32, 32x32x16)"),
    S(T, "and on CDNA3", "no", has("gfx942", "v_mfma_f32_16x16x32_f16"), words="Up to 16x16x16 and 32x32x8"),
    # --- Benchmark
    S(G, "TFLOP/s of 1 ms at 4096", 137.4, lambda _: teraflops(4096, 4096, 4096, 1e-3), "consistent", within=0.001,
      words="= 2 M N K"),
    S(BENCH, "the product of the command, operands by columns and A transposed, in the text's matrices", "A B^T",
      blas_product, about="D of the command is by columns, C of the text by rows: the same work, the result transposed",
      words="--transA T --transB N"),
    S(BENCH, "hipBLASLt at 4096, TFLOPS of the last table", 2750, lambda _: 2750.42, "consistent", within=0.001,
      words="~2750 TFLOPS/s"),
    S(BENCH, "and at 8192", 3130, lambda _: 3130.21, "consistent", within=0.001, words="~3130 TFLOPS/s"),
    # --- The first kernels
    S(NAIVE, "the pipe that bounds the kernel", "memory", bound_by("naive"), about="by the rates of `mfmasim cost`",
      words="it is expected to be memory-bound"),
    S(NAIVE, "the kernel", "pass", status("naive"), words="baseline_fp8_gemm_kernel(const fp8e4m3* A"),
    S(NAIVE, "naive, TFLOPS of 119.60282 ms", 1.15, rate(4096, 119.60282), "consistent", within=0.0011,
      words="1.15 TFLOPS/s for M=N=K=4096"),
    S(TILED, "the kernel", "pass", status("lds_tiled"), words="lds_tiled_fp8_gemm_kernel(const fp8e4m3* A"),
    S(TILED, "bytes that a launch reads from memory, in percent of those of the first kernel", 50,
      lambda r: 100 * read_bytes("lds_tiled")(r) / read_bytes("naive")(r), relation="<",
      words="A and B data is reused across multiple output updates"),
    S(TILED, "LDS tiles, TFLOPS of 28.64486 ms", 4.80, rate(4096, 28.64486), "consistent", within=0.0011,
      words="from 1.15 TFLOPS/s to 4.80 TFLOPS/s for M=N=K=4096"),
    # --- Times
    *(S(globals()[section], f"{name}, TFLOPS of {ms} ms", said, rate(size, ms), "consistent", within=0.0018,
        about="the time is cut to three digits: 0.05128 ms gives 2680" if ms == 0.0512 else "", words=words)
      for section, name, size, ms, said, words in RATES),
    S(SWIZZLE, "percent that the swizzle loses", -1.83, lambda _: (497.43 / 506.70 - 1) * 100, "consistent",
      within=0.003, words="+0.00505 ms / -9.27 TFLOPS/s (-1.83%)"),
    S(M, "times from tiles in the LDS to matrix instructions", 6.3, lambda _: 30.05 / 4.80, "consistent", within=0.01,
      words="from 4.80 TFLOPS/s (LDS-tiled SIMT kernel) to 30.05 TFLOPS/s (MFMA matrix-core kernel) - "
      "~6.3x performance increase"),
    S(SNAP, "the times", "a table", None, "undecided", about=MEASURED, words="Avg ms Avg TFLOPS/s"),
    S(RESULTS, "the times", "a table", None, "undecided", about=MEASURED, words="Avg ms Avg TFLOPS/s"),
    S(RESULTS, "ping-pong at 4096, percent of hipBLASLt", 95, lambda _: 100 * 2680.33 / 2750.42, "consistent",
      relation=">", about="97.5; and 102.4 at 8192", words="the final kernel approaches hipBLASLt"),
    # --- Table 2
    S(M, "operations of a matrix instruction", 65536, lambda _: flops(MFMA), words="65536 vs. 128 FLOPs/inst"),
    S(M, "of a wave's FMA", 128, lambda _: flops("v_fma_f32"), words="65536 vs. 128 FLOPs/inst"),
    S(M, "times as many", 512, lambda _: flops(MFMA) / flops("v_fma_f32"), words="512x larger"),
    S(M, "FLOPS a cycle with FMA", 59.627372, lambda _: FMA_RATE * flops("v_fma_f32"), "consistent", within=1e-6,
      words="0 0.465838844 0 59.627372 59.627372"),
    S(M, "FLOPS a cycle with matrix instructions", 617.427753,
      lambda _: MFMA_RATE * flops(MFMA) + REST_RATE * flops("v_fma_f32"), "consistent", within=1e-6,
      words="617.277051 0.150702 617.427753"),
    S(M, "of them by matrix instructions", 617.277051, lambda _: MFMA_RATE * flops(MFMA), "consistent", within=1e-6,
      words="0.009418900 0.001177363 617.277051"),
    S(M, "and by FMA", 0.150702, lambda _: REST_RATE * flops("v_fma_f32"), "consistent", within=1e-5,
      words="0.009418900 0.001177363 617.277051 0.150702"),
    S(M, "FMA for each matrix instruction, by executed instructions of the kernel at K = 4096", 0.125, per_matrix,
      about="0.001177363 / 0.009418900 is 0.125, too: 4 for the store of C, and 4096 / 128 = 32 matrix instructions",
      words="MFMA matrix-core kernel 0.009418900 0.001177363"),
    S(M, "percent of it by matrix instructions", 99.98,
      lambda r: 100 / (1 + per_matrix(r) * 128 / flops(MFMA)), within=1e-4, about="by executed instructions",
      words="gets 99.98% of its math from MFMA"),
    S(M, "times as many FLOPS a cycle", 10.35,
      lambda _: (MFMA_RATE * flops(MFMA) + REST_RATE * 128) / (FMA_RATE * 128), "consistent", within=1e-3,
      words="about 10.35x higher FLOPs/cycle"),
    S(M, "times as many cycles a second in the slower kernel, by Tables 2 and 3", 1.654,
      lambda _: clocks(4.80, 59.627372) / clocks(30.05, 617.427753), "remark", within=0.001, about=RATIO),
    S(M, "lanes that hold elements of A, B and D", "64, 64, 64", lanes_of,
      words="all 64 lanes in a wave cooperate on D = A * B + C"),
    S(M, "formats of A and D of the instruction with rows, columns and K", "e4m3fn, f32, 16x16x128", shape_of,
      words="The matrix-core variant used here is the 16x16x128 form with FP8 inputs and FP32 accumulation"),
    S(LANES, "elements of A, and of B, in a lane", "32, 32",
      lambda _: ", ".join(str(4 * mfmasim.instruction(ARCH, MFMA, *FP8).operands[of].vgprs) for of in "AB"),
      words="For each K tile (128), one lane consumes: • A: 32 FP8 elements as two chunks (A_tile[a_row][k_chunk0 : "
      "k_chunk0+15] and A_tile[a_row][k_chunk1 : k_chunk1+15])"),
    S(LANES, "A: percent of the figure's places, row l % 16, k 16 (l / 16) + 64 (i / 16) + i % 16", 100,
      share_of("A", lambda lane, _: lane % 16, lambda lane, i: 16 * (lane // 16) + 64 * (i // 16) + i % 16),
      words="const int k_chunk1 = k_chunk0 + 64;"),
    S(LANES, "C: row 4 (l / 16) + i, column l % 16", 100,
      share_of("D", lambda lane, i: 4 * (lane // 16) + i, lambda lane, _: lane % 16),
      words="const int output_row_start = output_tile_row + row_group * 4;"),
    S(WIDE, "times fewer loads of 16 bytes than of single ones", 16,
      lambda r: loads("vectorised_pairs", "global_load_dwordx4")(r) / loads("one_wave_tile", "global_load_ubyte")(r),
      words="packs 16 FP8 values per load"),
    S(WIDE, "kernels of these steps", "pass", status("naive", "lds_tiled", "one_wave_tile", "vectorised_pairs"),
      words="The vectorized variant packs 16 FP8 values per load and writes directly to LDS"),
    S(DIRECT, "of 256 floats, those that such a copy brings to their places", FLOATS, lambda r: copied(PRINTED, r)[0],
      "refuted", about="64: the offset into memory counts elements where it takes bytes (threadIdx.x * 16), and the "
      "address in the LDS is scaled twice; with both mended, 256", words="__global__ void lds_buffer_copy("),
    S(DIRECT, "the same with both addresses mended", FLOATS, lambda r: copied(RIGHT, r)[0], "remark"),
    S(DIRECT, "waits that have no clobber of memory", "s_waitcnt", waits_without_clobber, "remark",
      about='`"memory"` keeps the compiler from moving the read above the wait', words='asm volatile("s_waitcnt '
      'vmcnt(0)");'),
    S(DIRECT, "what the resource's last dword causes", "bounds-resource-unread",
      lambda r: ", ".join(sorted(one for one in copied(RIGHT, r)[1] if one.startswith("bounds"))), "remark",
      about="0x110000 sets USER_VM_MODE without USER_VM_ENABLE, which the hardware does not read: no harm",
      words="range_bytes, 0x110000};"),
    S(DIRECT, "kernels of this step", "pass", status("direct_none", "direct_pairs"),
      words="we use a direct global-to-LDS copy path"),
    # --- LDS
    S(BANKS, "lanes of the four phases of a 16-byte read", "those of the text", phases,
      words="T0-T3, T12-T15, T20-T23, T24-T27"),
    S(BANKS, "lanes of a phase use the same bank, without a swizzle: degree above", 1, degree("double_buffer_none"),
      relation=">", about="4", words="different threads access same data bank, which leads to bank conflicts"),
    S(SWIZZLE, "with the swizzle, degree", 1, degree("double_buffer_pairs"),
      words="threads within one phase access different banks"),
    S(SWIZZLE, "with the swizzle on gfx942, degree", 2, degree("double_buffer_pairs", "gfx942"), "remark",
      about="its phases are others; the text is about CDNA4"),
    S(SWIZZLE, "order of columns by pairs of rows", "0 1 3 2 5 4 6 7", permutation,
      words="perm = pair ^ (((pair >> 1) ^ (pair >> 2)) & 1)"),
    S(SWIZZLE, "bytes of the tile that these formulas place as the swizzle of the kernels here does: percent", 100,
      formulas,
      words="pair = (r >> 1) & 7 • perm = pair ^ (((pair >> 1) ^ (pair >> 2)) & 1) • mask(r) = perm << 4"),
    S(SWIZZLE, "places in the tile that no byte of it takes", 0,
      lambda _: 16 * 128 - len(set(placed().ravel().tolist())), words="For a 16x128 tile, with row r (0..15) and "
        "column c (0..127)"),
    S(SWIZZLE, "one-to-one and its own inverse", "yes", sound, words="XOR is self-inverse"),
    S(SWIZZLE, "checks that fail if only reads are swizzled", "mapping, outputs",
      lambda r: ", ".join(r.mutant("swizzled_read_only").caught), "remark",
      about="the text swizzles both sides"),
    S(SWIZZLE, "vector instructions that the swizzle adds to a wave", 0,
      lambda r: vector("direct_pairs")(r) - vector("direct_none")(r), relation=">",
      about="all of them before the loop, whose turns have as many as without",
      words="swizzle index computation also adds instruction overhead"),
    S(SWIZZLE, "percent of the loop in which the matrix cores are idle", 50, idle("direct_pairs"), relation=">",
      about="with the workgroups that a unit holds, by the timeline of `mfmasim cost`, a model",
      words="fetch/compute serialization still leaves MFMA idle windows"),
    # --- Double buffer
    S(D, "before it a tile is fetched, waited for, and then read and multiplied",
      "F2 vmcnt(0) B R4 lgkmcnt(0) B M", order("direct_pairs"),
      words="mostly sequential (load -> wait/sync -> compute)"),
    S(D, "waves of a workgroup", 4, waves_of("direct_pairs"), words="one thread block runs 4 waves (2x2 wave layout)"),
    S(D, "checks that fail if a tile is fetched before all waves have read the last one", "races",
      lambda r: ", ".join(r.mutant("direct_overwritten").caught),
      words="the next tile cannot be staged until the current compute drains across the block"),
    S(D, "points of idle time that two slots save", 0,
      lambda r: idle("direct_pairs")(r) - idle("double_buffer_pairs")(r), relation=">",
      about="75 and 45 percent idle; a unit holds 8 and 4 of the workgroups, and a turn has four times the products",
      words="Once double buffering removes more of that serialization"),
    S(D, "the next tile is fetched, then this one read and multiplied", "F4 R8 lgkmcnt(0) M4 vmcnt(0) B",
      order("double_buffer_pairs"), words="launch load for tile t+1 into the other slot while computing tile t"),
    S(D, "percent by the swizzle, of 1056.95 TFLOPS", 10.36, lambda _: (1166.41 / 1056.95 - 1) * 100,
      "consistent", within=0.001,
      words="avg_tflops from 1056.95 without swizzle to 1166.41 with swizzle, +10.36% for M=N=K=4096"),
    S(D, "times of 497.43", 2.34, lambda _: 1166.41 / 497.43, "consistent", within=0.005, words="Relative to single "
      "buffer load (497.43 TFLOPS/s), the swizzled double-buffer result is 2.34x higher"),
    S(D, "percent more than 497.43", 134.50, lambda _: (1166.41 / 497.43 - 1) * 100, "consistent", within=1e-4,
      about="134.49 by the rates as printed", words="(+134.50%)"),
    S(W, "loads to the LDS for each matrix instruction of 256x256, in percent of those of 128x128, 8 waves", 50,
      lambda r: 100 * fetches("multi_wave_256x256_t512")(r) / fetches("multi_wave_128x128_t512")(r),
      words="A larger tile can reuse loaded data more times before fetching new data"),
    S(W, "waves of a workgroup of the three", "8, 8, 16",
      lambda r: ", ".join(f"{waves_of(name)(r):g}" for name in CONFIGURATIONS), words="1024 16 2228.01"),
    *(S(W, f"rate of {words.partition(' ')[0]}", words.split()[-2], None, "undecided",
        about=MEASURED + "; the timeline orders the three the other way round, see the end of the page", words=words)
      for words in ("128x128_t512 128x128 512 8 1828.74 4096", "256x256_t512 256x256 512 8 2288.16 4096",
                    "256x256_t1024 256x256 1024 16 2228.01 4096")),
    S(W, "128x128 by 8 waves, 256x256 by 8 and by 16", "pass",
      status(*CONFIGURATIONS),
      words="we compare three configurations"),
    S(W, "Figure 7, rows that each wave fills, of A: percent", 100,
      lambda _: regions.share_of_rows(*FIGURE_7, "write", "A", MINE["fill"]), about="strips of 8 rows, one for each "
        "wave",
      words="all 8 waves cooperatively fill a 256x128 LDS tile for A/B as repeated narrow row strips"),
    S(W, "and of B", 100, lambda _: regions.share_of_rows(*FIGURE_7, "write", "B", MINE["fill"]),
      words="all 8 waves cooperatively fill a 256x128 LDS tile for A/B as repeated narrow row strips"),
    S(W, "Figure 7, elements of C that each wave computes: percent", 100,
      lambda _: regions.share_of_c(*FIGURE_7, MINE["C"]),
      about="row / 64 % 2 gives the half of the waves, column / 32 % 4 the wave in it",
      words="work is split into 64x32 wave blocks: Wave0-3 and Wave4-7 alternate by 64-row bands across the 256x128 "
      "C/D region shown"),
    S(W, "Figure 7, rows of A that each wave reads: percent", 100,
      lambda _: regions.share_of_rows(*FIGURE_7, "read", "A", MINE["A"]), words="reads are grouped by row bands"),
    S(W, "Figure 7, rows of B that each wave reads: percent", 100,
      lambda _: regions.share_of_rows(*FIGURE_7, "read", "B", MINE["B"]),
      words="reads are grouped by 32-row bands in fixed wave pairs: (Wave0, Wave4), (Wave1, Wave5), (Wave2, Wave6), "
      "and (Wave3, Wave7), then the same pattern repeats"),
    # --- Ping-pong
    S(P, "bytes of LDS", 131072, claim("LDS of a workgroup"), words="__shared__ fp8 A_lds [2][2][128*128]"),
    S(P, "matrix instructions of a wave and tile of K", 32, claim("matrix instructions of a wave"),
      words="float c_reg0[8][4] = 0"),
    S(P, "by a fetch of half a matrix vmcnt rises by", 2, claim("buffer loads for half a matrix"),
      words="vmem -> B_lds[tic][0] // vmcnt += 2"),
    S(P, "by a read of half of B lgkmcnt rises by", 4, claim("reads of a half of B"),
      words="B_lds[tic][0] -> b_reg0 // lgkmcnt += 4"),
    S(P, "by a read of half of A", 8, claim("reads of a half of A"), words="A_lds[tic][0] -> a_reg // lgkmcnt += 8"),
    S(P, "checks that fail without sched_barrier(0), and with sums that may move", "order",
      lambda r: ", ".join(r.of("gemm_fp8/scheduled").mutant("pingpong_without_fences").caught),
      words="__builtin_amdgcn_sched_barrier(0) means no instructions may be scheduled across sched_barrier"),
    S(P, "checks that fail without s_setprio", "nothing",
      lambda r: ", ".join(r.of("gemm_fp8/scheduled").mutant("pingpong_no_priority").caught) or "nothing", "remark",
      about="priority changes only time: docs/cost.md has the timeline with and without it"),
    S(P, "waves on a SIMD", 2, claim("two waves on each SIMD"), words="two waves resident per SIMD"),
    S(P, "waves 0 and 4 share a SIMD", "SIMD 0", None, "undecided",
      about="the dispatcher places waves; no manual says where", words="Waves 0 and 4 are scheduled on SIMD 0"),
    S(P, "loads and waits of the prologue", "F8 vmcnt(4) F6 vmcnt(6)",
      lambda r: waits_of_prologue(r.of("gemm_fp8/scheduled").profile("pingpong_256", ARCH)),
      words='asm volatile("s_waitcnt vmcnt(4)"); // wait until there are only 4 vmem loads remain in flight'),
    S(P, "the order of a tile of K, with counts of reads, fetches and products", pingpong_order(ARCH),
      lambda r: order("pingpong_256")(r.of("gemm_fp8/scheduled")),
      about="as printed but for two fetches that change places, see the next row",
      words='asm volatile("s_waitcnt lgkmcnt(8)"); // wait until there are only 8 lds loads remain in flight'),
    S(P, "turns of the main loop for K = 1024, which has 8 tiles", 6,
      lambda r: turns("pingpong_256", 1024)(r.of("gemm_fp8/scheduled")),
      words="the final two k iterations must be manually unrolled"),
    S(P, "checks that report the printed loop", "nothing", printed("pingpong_printed_loop_256"), "refuted",
      about="formally a race: a half of A is fetched while the other half of the waves may still read it, for no "
      "wait of theirs stands before it. The memory latency hides it, see the next row. Fetching that half one phase "
      "later, as `pingpong` does, or a wait for the reads before the barrier, makes it right",
      words="issue async buffer loads: vmem -> A_lds[tic][0] // vmcnt += 2"),
    S(P, "clocks from the end of those reads to the first write of that fetch, at the least", 0, lambda _: margin(),
      "remark", relation=">",
      about="by the timeline, with the shortest latency of the L2 and the longest of the LDS: hardware hides the race"),
    S(P, "the name that a compiler reports as undeclared", "warp_m", undeclared, "remark",
      about="the declarations above it call it wave_m", words="if (warp_m == 1) {"),
    S(P, "values of s_setprio", "0-3", None, "undecided", about="two bits by the ISA manual; priority changes only "
      "time",
      words="Possible x values are 0-3"),
    S(P, "checks that report its barriers", "nothing", printed("pingpong_barrier_parity_256"), "undecided",
      about="one half passes a barrier more; what balances it may stand in the epilogue, which the text omits",
      words="EPILOGUE (last two K iterations) skipped for readability"),
    S(P, "turns of the loop that #pragma unroll 2 makes one", "2", None, "undecided",
      about="by the text's own compiler; here it warns that it cannot unroll a loop with barriers",
      words="We use #pragma unroll 2 for the main loop"),
]  # fmt: skip
