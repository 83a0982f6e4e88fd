"""Statements of an introduction to Matrix Cores of CDNA3 and CDNA4 (AMD blogs), paraphrased; most are tables."""

from collections.abc import Callable
from typing import Any

import numpy as np

import mfmasim
from mfmasim.lab.reports.statements import Runs, Statement
from mfmasim.matrix.request import F8F6F4
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.files import families

TEXT = "Introduction to Matrix Cores on CDNA3 and CDNA4"
S = Statement
F32, F16, FP8 = "v_mfma_f32_32x32x2_f32", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x16_fp8_fp8"
SCALED, LARGE = "v_mfma_scale_f32_32x32x64_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"
PRODUCTS = {"gfx942": (304, 2.1e9), "gfx950": (256, 2.4e9)}
"""Compute units and clock of MI325X and MI355X."""


def peak(arch: str, name: str, fmt: str = "") -> Callable[[Runs], float]:
    """TFLOPS by cycles, units and clock."""
    return lambda _: mfmasim.instruction(arch, name, fmt or None, fmt or None).peak(*PRODUCTS[arch]) / 1e12


def ratio(arch: str, name: str, fmt: str = "") -> Callable[[Runs], float]:
    """To the peak of f32 on vector units."""
    return lambda runs: round(peak(arch, name, fmt)(runs) / VECTOR[arch])


SMALL = "16x16x128 | 16 or 32 | FP4, FP6 or FP8 can be used independently for A and B"
WIDE = "32x32x64 | 32 or 64"
VECTOR = {"gfx942": 163.4, "gfx950": 157.3}
"""TFLOPS of f32 vector units, as the text has them."""


def cycles(arch: str, name: str, fmt: str = "") -> Callable[[Runs], float]:
    return lambda _: mfmasim.instruction(arch, name, fmt or None, fmt or None).cycles


def largest(name: str) -> Callable[[Runs], float]:
    """The largest number of a format, among all its codes."""
    fmt = mfmasim.format(name)
    values = fmt.decode(np.arange(1 << fmt.bits, dtype=np.uint64))
    return lambda _: float(values[np.isfinite(values)].max())


def nans(name: str) -> Callable[[Runs], float]:
    fmt = mfmasim.format(name)
    return lambda _: int(np.isnan(fmt.decode(np.arange(1 << fmt.bits, dtype=np.uint64))).sum())


def flavour(arch: str) -> Callable[[Runs], str]:
    return lambda _: mfmasim.arch(arch).fp8


def held(
    name: str, operand: str, at: Callable[[int, int], tuple[int, int]], fmt: str | None = None
) -> Callable[[Runs], float]:
    """Percent of the elements in lane l at place i that are those of a formula."""

    def found(_: Runs) -> float:
        fragment = mfmasim.instruction("gfx950", name, fmt, fmt).operands[operand]
        per = 32 // fragment.width
        count = fragment.vgprs * per if fragment.width <= 32 else fragment.vgprs // 2
        places = [(lane, i) for lane in range(64) for i in range(count)]
        held_there = [fragment.element(lane, i // per, i % per * fragment.width) for lane, i in places]
        right = [e is not None and (e[0], e[1]) == at(*place) for e, place in zip(held_there, places, strict=True)]
        return 100 * sum(right) / len(right)

    return found


def elements(name: str, operand: str, fmt: str | None = None) -> Callable[[Runs], float]:
    """Elements of an operand in a lane."""

    def found(_: Runs) -> float:
        fragment = mfmasim.instruction("gfx950", name, fmt, fmt).operands[operand]
        return fragment.vgprs * 32 / fragment.width

    return found


def turned(at: Callable[[int, int], tuple[int, int]]) -> Callable[[int, int], tuple[int, int]]:
    """The same for B, whose k is its row."""
    return lambda lane, i: at(lane, i)[::-1]


def caught(name: str) -> Callable[[Runs], str]:
    return lambda runs: ", ".join(runs.mutant(name).caught) or "nothing"


def status(start: str) -> Callable[[Runs], str]:
    """Whether all cases of a kernel pass, with the mapping proved."""

    def found(_: Runs) -> str:
        cases: list[Any] = [case for case in load_file(families()["intro"]) if case.title.startswith(start)]
        results = {verify_case(case, case.arch[-1]).status for case in cases}
        return "pass" if results == {"pass"} else ", ".join(sorted(results))

    return found


def known(name: str) -> Callable[[Runs], str]:
    return lambda _: "yes" if name in mfmasim.instructions("gfx950") else "no"


def infinities(name: str) -> Callable[[Runs], float]:
    fmt = mfmasim.format(name)
    return lambda _: int(np.isinf(fmt.decode(np.arange(1 << fmt.bits, dtype=np.uint64))).sum())


def bias(name: str) -> Callable[[Runs], float]:
    """What is subtracted from the exponent field: 1.0 is the code whose field equals it."""
    fmt = mfmasim.format(name)
    codes = np.arange(1 << fmt.bits, dtype=np.uint64)
    return lambda _: float(codes[fmt.decode(codes) == 1.0][0] >> np.uint64(fmt.mantissa_bits))


def zeros(name: str) -> Callable[[Runs], float]:
    fmt = mfmasim.format(name)
    return lambda _: int((fmt.decode(np.arange(1 << fmt.bits, dtype=np.uint64)) == 0).sum())


def last_exponent(name: str) -> Callable[[Runs], float]:
    """The largest exponent field of a finite number."""
    fmt = mfmasim.format(name)
    codes = np.arange(1 << fmt.bits, dtype=np.uint64)
    finite = codes[np.isfinite(fmt.decode(codes))]
    return lambda _: int((finite >> np.uint64(fmt.mantissa_bits) & np.uint64((1 << fmt.exponent_bits) - 1)).max())


def scale(value: int) -> Callable[[Runs], float]:
    """What a code of E8M0 stands for."""
    return lambda _: float(mfmasim.format("e8m0fnu").decode(np.array([value], np.uint8))[0])


ROW32 = lambda lane, i: (8 * (i // 4) + 4 * (lane // 32) + i % 4, lane % 32)  # noqa: E731
P, C, M, L = "Peaks", "Instructions", "Formats", "Layouts"
# Format, its row in the text's table, exponent bias, largest number, codes of 0, of NaN and of infinities.
FORMATS = [
    ("f16", "E5M10 (FP16) | 15", 15, 65504, 2, 2046, 2),
    ("bf16", "E8M7 (BF16) | 127", 127, 3.3895e38, 2, 254, 2),
    ("e4m3fn", "E4M3FN (FP8, OCP) | 7", 7, 448, 2, 2, 0),
    ("e4m3fnuz", "E4M3FNUZ (FP8) | 8", 8, 240, 1, 1, 0),
    ("e5m2", "E5M2 (BF8, OCP) | 15", 15, 57344, 2, 6, 2),
    ("e5m2fnuz", "E5M2FNUZ (BF8) | 16", 16, 57344, 1, None, 0),
    ("e2m3fn", "E2M3 | 1", 1, 7.5, 2, 0, 0),
    ("e3m2fn", "E3M2 (BF6) | 3", 3, 28, 2, 0, 0),
    ("e2m1fn", "E2M1 (FP4) | 1", 1, 6, 2, 0, 0),
]
STATEMENTS = [
    # --- Peaks
    *(S(P, f"{gpu}, {of}, TFLOPS", said, peak(arch, name, fmt), within=within, words=words)
      for gpu, arch, of, said, name, fmt, within, words in [
          ("MI325X", "gfx942", "f64", 163.4, "v_mfma_f64_16x16x4_f64", "", 0.001, "Matrix FP64 | 163.4 TF"),
          ("MI325X", "gfx942", "f32", 163.4, F32, "", 0.001, "Matrix FP32 | 163.4 TF"),
          ("MI325X", "gfx942", "f16", 1307.4, "v_mfma_f32_32x32x8_f16", "", 0.001, "Matrix FP16 | 1307.4 TF"),
          ("MI325X", "gfx942", "FP8", 2614.9, FP8, "", 0.001, "Matrix FP8 | 2614.9 TF"),
          ("MI355X", "gfx950", "f64", 78.6, "v_mfma_f64_16x16x4_f64", "", 0.001, "Matrix FP64 | 78.6 TF"),
          ("MI355X", "gfx950", "f32", 157.3, F32, "", 0.001, "Matrix FP32 | 157.3 TF"),
          ("MI355X", "gfx950", "f16", 2500, "v_mfma_f32_16x16x32_f16", "", 0.01, "Matrix FP16 | 2.5 PF"),
          ("MI355X", "gfx950", "FP8", 5000, LARGE, "e4m3fn", 0.01, "Matrix FP8 | 5 PF"),
          ("MI355X", "gfx950", "FP6", 10000, LARGE, "e2m3fn", 0.01, "Matrix FP6 | 10 PF"),
          ("MI355X", "gfx950", "FP4", 10000, LARGE, "e2m1fn", 0.01, "Matrix FP4 | 10 PF")]),
    S(P, "f16 and FP8 of MI355X, times those of MI325X, at most", 2.0001,
      lambda r: max(peak("gfx950", "v_mfma_f32_16x16x32_f16")(r) / peak("gfx942", "v_mfma_f32_32x32x8_f16")(r),
                    peak("gfx950", LARGE, "e4m3fn")(r) / peak("gfx942", FP8)(r)), relation="<",
      about="1.92: twice for each unit and clock, with fewer units", words="delivering up to 2x higher throughput"),
    S(P, "MI355X, f16 by the shapes of CDNA3, TFLOPS", 1258, peak("gfx950", "v_mfma_f32_32x32x8_f16"), "remark",
      within=0.001, about="the peak needs 16x16x32 or 32x32x16"),
    S(P, "MI355X, FP8 by the shapes of CDNA3, TFLOPS", 2517, peak("gfx950", FP8), "remark", within=0.001,
      about="the peak needs the f8f6f4 instructions"),
    *(S(P, f"{gpu}, {of} to f32", said, ratio(arch, name, fmt), words=words)
      for gpu, arch, of, said, name, fmt, words in [
          ("MI325X", "gfx942", "f64", 1, "v_mfma_f64_16x16x4_f64", "", "Matrix FP64 | 163.4 TF | 1x"),
          ("MI325X", "gfx942", "f16", 8, "v_mfma_f32_32x32x8_f16", "", "1307.4 TF | ~8x"),
          ("MI325X", "gfx942", "FP8", 16, FP8, "", "2614.9 TF | ~16x"),
          ("MI355X", "gfx950", "f16", 16, "v_mfma_f32_16x16x32_f16", "", "2.5 PF | ~16x"),
          ("MI355X", "gfx950", "FP8", 32, LARGE, "e4m3fn", "5 PF | ~32x"),
          ("MI355X", "gfx950", "FP6", 64, LARGE, "e2m3fn", "Matrix FP6 | 10 PF | ~64x"),
          ("MI355X", "gfx950", "FP4", 64, LARGE, "e2m1fn", "Matrix FP4 | 10 PF | ~64x")]),
    S(P, "MI355X, f64 to f32", 0.5, lambda r: peak("gfx950", "v_mfma_f64_16x16x4_f64")(r) / VECTOR["gfx950"],
      within=0.001, words="78.6 TF | ~0.5x"),
    S(P, "formula: 2 M N K cores (MHz / cycles) / 10^6 for 32x32x8, 1216 cores, 2100 MHz", 1307.4,
      lambda r: 2 * 32 * 32 * 8 * 1216 * 2100 / cycles("gfx942", "v_mfma_f32_32x32x8_f16")(r) / 1e6, within=0.001,
      words="2*32*32*8 * 1216 * (2100 / 32) / 10^6 = 1307.4 TFLOP/s"),
    # --- Cycles
    S(C, "cycles of 16x16x4 f64 on CDNA4", 64, cycles("gfx950", "v_mfma_f64_16x16x4_f64"),
      words="FP64 ← FP64 | 16x16x4 | 16x16x4 | 64"),
    S(C, "the same on CDNA3", 64, cycles("gfx942", "v_mfma_f64_16x16x4_f64"), "refuted",
      about="64 would be half of the text's own peak of 163.4", words="FP64 ← FP64 | 16x16x4 | 16x16x4 | 64"),
    *(S(C, f"cycles of {name.split('_')[3]} {name.split('_')[4]}", count, cycles("gfx950", name), words=words)
      for name, count, words in [
        (F32, 64, "32x32x2 | 32x32x2 | 64"), ("v_mfma_f32_16x16x4_f32", 32, "16x16x4 | 16x16x4 | 32"),
        ("v_mfma_f32_32x32x8_f16", 32, "32x32x8 | 32x32x8 | 32"), (F16, 16, "16x16x16 | 16x16x16 | 16"),
        ("v_mfma_f32_16x16x32_f16", 16, "- | 16x16x32 | 16"), ("v_mfma_f32_32x32x16_f16", 32, "- | 32x32x16 | 32"),
        ("v_mfma_f32_16x16x32_fp8_fp8", 16, "16x16x32 | 16x16x32 | 16"), (FP8, 32, "32x32x16 | 32x32x16 | 32")]),
    *(S(C, f"cycles of {shape} f8f6f4, {fmt}", count,
        cycles("gfx950", f"v_mfma_f32_{shape}_f8f6f4", fmt), words=words) for shape, fmt, count, words in [
        ("16x16x128", "e4m3fn", 32, SMALL), ("16x16x128", "e2m3fn", 16, SMALL), ("16x16x128", "e2m1fn", 16, SMALL),
        ("32x32x64", "e4m3fn", 64, WIDE), ("32x32x64", "e2m3fn", 32, WIDE), ("32x32x64", "e2m1fn", 32, WIDE)]),
    S(C, "an instruction is called mfma_scale_f32_32x32x64_f8f8", "yes",
      known("v_mfma_scale_f32_32x32x64_f8f8"), "refuted", about="f8f6f4, whatever the formats",
      words="__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f8"),
    # --- Formats
    *(S(M, f"largest {name}", value, largest(name), within=1e-4, words=row) for name, row, _, value, *_ in FORMATS),
    *(S(M, f"exponent bias of {name}", value, bias(name), words=row) for name, row, value, *_ in FORMATS),
    *(S(M, f"codes of 0 in {name}", value, zeros(name), words=row) for name, row, _, _, value, *_ in FORMATS),
    *(S(M, f"codes of NaN in {name}", value, nans(name), words=row)
      for name, row, *_, value, _ in FORMATS if value is not None),
    *(S(M, f"codes of infinity in {name}", value, infinities(name), words=row) for name, row, *_, value in FORMATS),
    S(M, "codes of NaN in e5m2fnuz, S 00000 00", 2, nans("e5m2fnuz"), "refuted",
      about="1 00000 00 alone: with both signs +0 were a NaN", words="0 00000 00 | S 00000 00 | n/a"),
    S(M, "largest exponent field of a number in f16", 30, last_exponent("f16"),
      words="the largest exponent value that can represent a real number is `E = 30`"),
    S(M, "E8M0, 127", 1, scale(127), words="E8M0 | 127 | 2^(±127)"),
    S(M, "E8M0, the largest", 2.0**127, scale(254), words="`[2^-127 ... 2^127]`"),
    S(M, "E8M0, the smallest", 2.0**-127, scale(0), words="`[2^-127 ... 2^127]`"),
    S(M, "E8M0, codes of NaN", 1, nans("e8m0fnu"), words="n/a | 11111111 | n/a"),
    S(M, "E8M0, codes of 0", 0, zeros("e8m0fnu"), words="n/a | 11111111 | n/a"),
    S(M, "0b01011001 in E4M3FNUZ", 9,
      lambda _: float(mfmasim.format("e4m3fnuz").decode(np.array([0b01011001], np.uint8))[0]),
      words="using E4M3FNUZ type as an example", about="the figure's bits"),
    S(M, "FP8 of CDNA3", "fnuz", flavour("gfx942"), words="CDNA™3 architecture uses FNUZ variants"),
    S(M, "FP8 of CDNA4", "ocp", flavour("gfx950"), words="CDNA™4 architecture uses E4M3FN and E5M2 (OCP) variants"),
    S(M, "codes of 0 and of NaN, e4m3fn against e4m3fnuz", "2, 2; 1, 1",
      lambda r: "; ".join(f"{zeros(name)(r)}, {nans(name)(r)}" for name in ("e4m3fn", "e4m3fnuz")),
      words="E4M3FN supports `+0`, `-0`, `+NaN` and `-Nan`, while E4M3FNUZ supports only `+0` and `NaN`"),
    S(C, "formats of A by their code", "e4m3fn, e5m2, e2m3fn, e3m2fn, e2m1fn", lambda _: ", ".join(F8F6F4),
      words="`0 = E4M3 (fp8), 1 = E5M2(bf8), 2 = E2M3(fp6), 3 = E3M2(bf6), 4 = E2M1(fp4)`"),
    # --- Elements of a lane
    *(S(L, f"{shape}, {operand}: elements of a lane", said, elements(name, operand, fmt), words=words)
      for shape, name, operand, fmt, said, words in [
          ("32x32x2 f32", F32, "A", None, 1, "M * K / wavefront_size = 32 * 2 / 64 = 1"),
          ("32x32x2 f32", F32, "B", None, 1, "K * N / wavefront_size = 2 * 32 / 64 = 1"),
          ("32x32x2 f32", F32, "D", None, 16, "M * N / wavefront_size = 32 * 32 / 64 = 16"),
          ("16x16x16 f16", F16, "A", None, 4, "each thread stores `4` entries of the matrix `A`"),
          ("16x16x16 f16", F16, "D", None, 4, "`4` entries of the matrix `B` and `4` entries of the matrix `C`"),
          ("32x32x16 FP8", FP8, "A", None, 8, "each thread stores `8` elements of the matrix `A`"),
          ("32x32x16 FP8", FP8, "D", None, 16, "`16` elements of the matrix `C`"),
          ("32x32x64 FP8", SCALED, "A", "e4m3fn", 32, "Each thread stores `32` entries from the matrix `A`"),
          ("32x32x64 FP4", SCALED, "A", "e2m1fn", 32, "each thread stores `32` entries from the matrix `A`"),
          ("32x32x64 FP8", SCALED, "D", "e4m3fn", 16, "`16` entries from the matrix `C`")]),
    S(L, "bits of an operand of 32 FP4 elements", 128,
      lambda _: 32 * mfmasim.instruction("gfx950", SCALED, "e2m1fn", "e2m1fn").operands["A"].vgprs,
      words="Since 32 FP4 elements occupy only 128 bits"),
    S(L, "bits of one of 32 FP8 elements, as wide as the builtin's argument", 256,
      lambda _: 32 * mfmasim.instruction("gfx950", SCALED, "e4m3fn", "e4m3fn").operands["A"].vgprs,
      words="requires its first two arguments to be 256 bits wide"),
    # --- Layouts, percent of the elements that the text's formula places
    S(L, "32x32x2 f32, A: row l % 32, k l / 32", 100, held(F32, "A", lambda lane, _: (lane % 32, lane // 32)),
      words="mfma_f32_32x32x2f32"),
    S(L, "32x32x2 f32, C: row 8 (r / 4) + 4 (l / 32) + r % 4, column l % 32", 100, held(F32, "D", ROW32),
      words="C[threadIdx.x % 32 + (threadIdx.x / 32) * 4 * 32 + i * 32 * 8]"),
    S(L, "16x16x16 f16, A: row l % 16, k 4 (l / 16) + i", 100,
      held(F16, "A", lambda lane, i: (lane % 16, 4 * (lane // 16) + i)),
      words="A + 4 * (threadIdx.x / 16) + 16 * (threadIdx.x % 16)"),
    S(L, "16x16x16 f16, B: the same of columns", 100,
      held(F16, "B", turned(lambda lane, i: (lane % 16, 4 * (lane // 16) + i))),
      words="b_reg[i] = *(B + i * 16 + threadIdx.x % 16 + (threadIdx.x / 16) * 64);"),
    S(L, "16x16x16 f16, C: row 4 (l / 16) + i, column l % 16", 100,
      held(F16, "D", lambda lane, i: (4 * (lane // 16) + i, lane % 16)),
      words="*(C + i * 16 + threadIdx.x % 16 + (threadIdx.x / 16) * 64) = c_reg[i];"),
    S(L, "32x32x16 FP8, A: row l % 32, k 8 (l / 32) + i", 100,
      held(FP8, "A", lambda lane, i: (lane % 32, 8 * (lane // 32) + i)),
      words="A + (threadIdx.x / 32) * 8 + (threadIdx.x % 32) * 16"),
    S(L, "32x32x64 FP8, A: k 16 (l / 32) + 32 (i / 16) + i % 16", 100,
      held(SCALED, "A", lambda lane, i: (lane % 32, 16 * (lane // 32) + 32 * (i // 16) + i % 16), "e4m3fn"),
      words="a_reg[i*16 + j] = *(ldg_a + i * 32 + j);"),
    S(L, "32x32x64 FP4, A: k 32 (l / 32) + i, low nibble first", 100,
      held(SCALED, "A", lambda lane, i: (lane % 32, 32 * (lane // 32) + i), "e2m1fn"),
      words="const fp4x2_t* ldg_a = A + (threadIdx.x % 32) * 32 + (threadIdx.x / 32) * 16;"),
    S(L, "checks that fail if FP8 takes the k of FP4, with equal scales", "mapping",
      caught("k_map_of_fp4_uniform_scales"), "remark", about="the text's scales are 1: no output shows it"),
    S(L, "checks that fail if OPSEL chooses another byte", "mapping, outputs", caught("wrong_opsel_byte"), "remark",
      about="it chooses one of four scales in the register; the text leaves it out on purpose"),
    *(S("Kernels", f"{name}, proved", "pass", status(name), words=words) for name, words in (
        ("f32_32x32x2", "### 5.1."), ("f16_16x16x16", "### 5.2."), ("fp8_32x32x16", "### 5.3."),
        ("scaled_fp8_32x32x64", "### 5.4."), ("scaled_fp4_32x32x64", "### 5.5."))),
]  # fmt: skip
