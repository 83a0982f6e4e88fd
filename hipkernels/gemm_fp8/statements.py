"""Statements of AMD's post on FP8 GEMM kernels for CDNA4, paraphrased: the ladder, and the 8-wave ping-pong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import mfmasim
from mfmasim import lds
from mfmasim.lab.reports.profile import Profile
from mfmasim.lab.reports.roofline import teraflops
from mfmasim.lab.reports.statements import Runs, Statement
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.files import families

TEXT = "FP8 GEMM kernels on CDNA4, from the first one to the 8-wave ping-pong"
S = Statement
ARCH, MFMA = "gfx950", "v_mfma_f32_16x16x128_f8f6f4"
READ = "ds_read_b128"
MEASURED = "measured: only the GPU can decide it"
# Instructions a cycle in the counters of its second table.
FMA_RATE, MFMA_RATE, REST_RATE = 0.465838844, 0.009418900, 0.001177363
PHASES = ((0, 12, 20, 24), (32, 44, 52, 56), (4, 8, 16, 28), (36, 40, 48, 60))
"""First of four consecutive lanes each."""
# Name, size, milliseconds, TFLOPS, and whether the rate is that of the time as printed.
RATES = [
    ("naive", 4096, 119.60282, 1.15, True), ("LDS tiles", 4096, 28.64486, 4.80, True),
    ("matrix instructions", 4096, 4.57335, 30.05, True), ("16-byte loads", 4096, 0.40797, 336.88, True),
    ("direct to the LDS", 4096, 0.27125, 506.70, True), ("and swizzled", 4096, 0.27630, 497.43, True),
    ("128x128, 8 waves", 4096, 0.07516, 1828.74, True), ("256x256, 8 waves", 4096, 0.06007, 2288.16, True),
    ("256x256, 16 waves", 4096, 0.06169, 2228.01, True), ("ping-pong", 4096, 0.0512, 2680.33, False),
    ("ping-pong, 8192", 8192, 0.343, 3204.15, True), ("hipBLASLt, 8192", 8192, 0.351, 3130.21, True),
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


def sound(_: Runs) -> str:
    swizzle = lds.swizzle("cdna4_gemm")
    return "yes" if swizzle.bijective and swizzle.self_inverse else "no"


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


T, C, M, L = "Architectures", "Rates", "Matrix instructions", "LDS"
D, W, P = "Double buffer", "Many waves", "Ping-pong"
STATEMENTS = [
    # --- Table 1
    S(T, "lanes of a wave", 64, lambda _: mfmasim.arch(ARCH).wave_sizes[0]),
    S(T, "KB of LDS on CDNA4", 160, lambda _: mfmasim.arch(ARCH).lds_bytes / 1024),
    S(T, "KB of LDS on CDNA3", 64, lambda _: mfmasim.arch("gfx942").lds_bytes / 1024),
    S(T, "LDS banks on CDNA4", 64, banks(ARCH), about="for reads of 8 and 16 bytes; other instructions see 32"),
    S(T, "LDS banks on CDNA3", 32, banks("gfx942")),
    S(T, "bytes a phase of a 16-byte read on CDNA4", 256, bytes_a_phase(ARCH)),
    S(T, "and on CDNA3", 128, bytes_a_phase("gfx942")),
    S(T, "bits a lane loads straight to the LDS on CDNA4", 128, direct_bits(ARCH)),
    S(T, "and on CDNA3", 32, direct_bits("gfx942")),
    S(T, "scaled matrix instructions on CDNA4", "yes", has(ARCH, "v_mfma_scale_f32_16x16x128_f8f6f4")),
    S(T, "and on CDNA3", "no", has("gfx942", "f8f6f4")),
    S(T, "16x16x32 f16 on CDNA4", "yes", has(ARCH, "v_mfma_f32_16x16x32_f16")),
    S(T, "and on CDNA3", "no", has("gfx942", "v_mfma_f32_16x16x32_f16")),
    # --- Times
    *(S(C, f"{name}, TFLOPS of {ms} ms", said, rate(size, ms), "confirmed" if right else "refuted", within=0.0011,
        about="" if right else "the time was cut off, not rounded: 0.05128 ms")
      for name, size, ms, said, right in RATES),
    S(C, "percent that the swizzle loses", -1.83, lambda _: (497.43 / 506.70 - 1) * 100, within=0.003),
    S(C, "the times", "a table", None, "undecided", about=MEASURED),
    # --- Table 2
    S(M, "operations of a matrix instruction", 65536, lambda _: flops(MFMA)),
    S(M, "of a wave's FMA", 128, lambda _: flops("v_fma_f32")),
    S(M, "times as many", 512, lambda _: flops(MFMA) / flops("v_fma_f32")),
    S(M, "FLOPS a cycle with FMA", 59.627372, lambda _: FMA_RATE * flops("v_fma_f32"), within=1e-6),
    S(M, "FLOPS a cycle with matrix instructions", 617.427753,
      lambda _: MFMA_RATE * flops(MFMA) + REST_RATE * flops("v_fma_f32"), within=1e-6),
    S(M, "percent of it by matrix instructions", 99.98,
      lambda _: 100 / (1 + REST_RATE * 128 / (MFMA_RATE * flops(MFMA))), within=1e-4),
    S(M, "times as many FLOPS a cycle", 10.35,
      lambda _: (MFMA_RATE * flops(MFMA) + REST_RATE * 128) / (FMA_RATE * 128), within=1e-3),
    S(M, "A: percent of the figure's places, row l % 16, k 16 (l / 16) + 64 (i / 16) + i % 16", 100,
      share_of("A", lambda lane, _: lane % 16, lambda lane, i: 16 * (lane // 16) + 64 * (i // 16) + i % 16)),
    S(M, "C: row 4 (l / 16) + i, column l % 16", 100,
      share_of("D", lambda lane, i: 4 * (lane // 16) + i, lambda lane, _: lane % 16)),
    S(M, "times fewer loads of 16 bytes than of single ones", 16,
      lambda r: loads("vectorised_pairs", "global_load_dwordx4")(r) / loads("one_wave_tile", "global_load_ubyte")(r)),
    S(M, "kernels of these steps", "pass", status("naive", "lds_tiled", "one_wave_tile", "vectorised_pairs")),
    # --- LDS
    S(L, "lanes of the four phases of a 16-byte read", "those of the text", phases),
    S(L, "lanes of a phase use the same bank, without a swizzle: degree above", 1, degree("double_buffer_none"),
      relation=">", about="4"),
    S(L, "with the swizzle, degree", 1, degree("double_buffer_pairs")),
    S(L, "and on gfx942", 1, degree("double_buffer_pairs", "gfx942"), "refuted", about="its phases are others"),
    S(L, "order of columns by pairs of rows", "0 1 3 2 5 4 6 7", permutation),
    S(L, "one-to-one and its own inverse", "yes", sound),
    S(L, "checks that fail if only reads are swizzled", "mapping, outputs",
      lambda r: ", ".join(r.mutant("swizzled_read_only").caught)),
    # --- Double buffer
    S(D, "the next tile is fetched, then this one read and multiplied", "F4 R8 lgkmcnt(0) M4 vmcnt(0) B",
      order("double_buffer_pairs")),
    S(D, "percent by the swizzle, of 1056.95 TFLOPS", 10.36, lambda _: (1166.41 / 1056.95 - 1) * 100, within=0.001),
    S(D, "times of 497.43", 2.34, lambda _: 1166.41 / 497.43, within=0.005),
    S(W, "128x128 by 8 waves, 256x256 by 8 and by 16", "pass",
      status("multi_wave_128x128_t512", "multi_wave_256x256_t512", "multi_wave_256x256_t1024")),
    # --- Ping-pong
    S(P, "bytes of LDS", 131072, claim("LDS of a workgroup")),
    S(P, "matrix instructions of a wave and tile of K", 32, claim("matrix instructions of a wave")),
    S(P, "by a fetch of half a matrix vmcnt rises by", 2, claim("buffer loads for half a matrix")),
    S(P, "by a read of half of B lgkmcnt rises by", 4, claim("reads of a half of B")),
    S(P, "by a read of half of A", 8, claim("reads of a half of A")),
    S(P, "waves on a SIMD", 2, claim("two waves on each SIMD")),
    S(P, "checks that report the printed loop", "nothing", printed("pingpong_printed_loop_256"), "refuted",
      about="a half of A is fetched while the other half of the waves may read it; and the halves are a barrier apart"),
    S(P, "checks that report its barriers", "nothing", printed("pingpong_barrier_parity_256"), "refuted",
      about="one half passes a barrier more"),
    S(P, "turns of the loop that #pragma unroll 2 makes one", "2", None, "undecided",
      about="by the text's own compiler; here it warns that it cannot unroll a loop with barriers"),
]  # fmt: skip
