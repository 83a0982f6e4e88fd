"""Statements of an introduction to Matrix Cores of CDNA3 and CDNA4 (AMD blogs), paraphrased; most are tables."""

from collections.abc import Callable
from typing import Any

import numpy as np

import mfmasim
from mfmasim.lab.reports.statements import Runs, Statement
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


ROW32 = lambda lane, i: (8 * (i // 4) + 4 * (lane // 32) + i % 4, lane % 32)  # noqa: E731
P, C, M, L = "Peaks", "Instructions", "Formats", "Layouts"
STATEMENTS = [
    # --- Peaks
    S(P, "MI325X, f64, TFLOPS", 163.4, peak("gfx942", "v_mfma_f64_16x16x4_f64"), within=0.001),
    S(P, "MI325X, f32", 163.4, peak("gfx942", F32), within=0.001),
    S(P, "MI325X, f16", 1307.4, peak("gfx942", "v_mfma_f32_32x32x8_f16"), within=0.001),
    S(P, "MI325X, FP8", 2614.9, peak("gfx942", FP8), within=0.001),
    S(P, "MI355X, f64", 78.6, peak("gfx950", "v_mfma_f64_16x16x4_f64"), within=0.001),
    S(P, "MI355X, f32", 157.3, peak("gfx950", F32), within=0.001),
    S(P, "MI355X, f16", 2500, peak("gfx950", "v_mfma_f32_16x16x32_f16"), within=0.01),
    S(P, "MI355X, f16, by the shapes of CDNA3", 2500, peak("gfx950", "v_mfma_f32_32x32x8_f16"), "refuted", within=0.01,
      about="the peak needs 16x16x32 or 32x32x16"),
    S(P, "MI355X, FP8", 5000, peak("gfx950", LARGE, "e4m3fn"), within=0.01),
    S(P, "MI355X, FP8, by the shapes of CDNA3", 5000, peak("gfx950", FP8), "refuted", within=0.01,
      about="the peak needs the f8f6f4 instructions"),
    S(P, "MI355X, FP6", 10000, peak("gfx950", LARGE, "e2m3fn"), within=0.01),
    S(P, "MI355X, FP4", 10000, peak("gfx950", LARGE, "e2m1fn"), within=0.01),
    S(P, "MI325X, f16 to f32", 8, ratio("gfx942", "v_mfma_f32_32x32x8_f16")),
    S(P, "MI325X, FP8 to f32", 16, ratio("gfx942", FP8)),
    S(P, "MI355X, f16 to f32", 16, ratio("gfx950", "v_mfma_f32_16x16x32_f16")),
    S(P, "MI355X, FP8 to f32", 32, ratio("gfx950", LARGE, "e4m3fn")),
    S(P, "MI355X, FP4 to f32", 64, ratio("gfx950", LARGE, "e2m1fn")),
    S(P, "formula: 2 M N K cores (MHz / cycles) / 10^6 for 32x32x8, 1216 cores, 2100 MHz", 1307.4,
      lambda r: 2 * 32 * 32 * 8 * 1216 * 2100 / cycles("gfx942", "v_mfma_f32_32x32x8_f16")(r) / 1e6, within=0.001),
    # --- Cycles
    S(C, "cycles of 16x16x4 f64 on CDNA4", 64, cycles("gfx950", "v_mfma_f64_16x16x4_f64")),
    S(C, "the same on CDNA3", 64, cycles("gfx942", "v_mfma_f64_16x16x4_f64"), "refuted",
      about="64 would be half of the text's own peak of 163.4"),
    *(S(C, f"cycles of {name.split('_')[3]} {name.split('_')[4]}", count, cycles("gfx950", name)) for name, count in [
        (F32, 64), ("v_mfma_f32_16x16x4_f32", 32), ("v_mfma_f32_32x32x8_f16", 32), (F16, 16),
        ("v_mfma_f32_16x16x32_f16", 16), ("v_mfma_f32_32x32x16_f16", 32), ("v_mfma_f32_16x16x32_fp8_fp8", 16),
        (FP8, 32)]),
    *(S(C, f"cycles of {shape} f8f6f4, {fmt}", count,
        cycles("gfx950", f"v_mfma_f32_{shape}_f8f6f4", fmt)) for shape, fmt, count in [
        ("16x16x128", "e4m3fn", 32), ("16x16x128", "e2m3fn", 16), ("16x16x128", "e2m1fn", 16),
        ("32x32x64", "e4m3fn", 64), ("32x32x64", "e2m3fn", 32), ("32x32x64", "e2m1fn", 32)]),
    S(C, "an instruction is called mfma_scale_f32_32x32x64_f8f8", "yes",
      known("v_mfma_scale_f32_32x32x64_f8f8"), "refuted", about="f8f6f4, whatever the formats"),
    # --- Formats
    *(S(M, f"largest {name}", value, largest(name), within=1e-4) for name, value in [
        ("f16", 65504), ("bf16", 3.3895e38), ("e4m3fn", 448), ("e4m3fnuz", 240), ("e5m2", 57344), ("e5m2fnuz", 57344),
        ("e2m3fn", 7.5), ("e3m2fn", 28), ("e2m1fn", 6)]),
    S(M, "0b01011001 in E4M3FNUZ", 9,
      lambda _: float(mfmasim.format("e4m3fnuz").decode(np.array([0b01011001], np.uint8))[0])),
    S(M, "codes of NaN in E4M3FN", 2, nans("e4m3fn")),
    S(M, "codes of NaN in E4M3FNUZ", 1, nans("e4m3fnuz")),
    S(M, "codes of NaN in E5M2FNUZ, S 00000 00", 2, nans("e5m2fnuz"), "refuted",
      about="1 00000 00 alone: with both signs +0 were a NaN"),
    S(M, "FP8 of CDNA3", "fnuz", flavour("gfx942")),
    S(M, "FP8 of CDNA4", "ocp", flavour("gfx950")),
    # --- Layouts, percent of the elements that the text's formula places
    S(L, "32x32x2 f32, A: row l % 32, k l / 32", 100, held(F32, "A", lambda lane, _: (lane % 32, lane // 32))),
    S(L, "32x32x2 f32, C: row 8 (r / 4) + 4 (l / 32) + r % 4, column l % 32", 100, held(F32, "D", ROW32)),
    S(L, "16x16x16 f16, A: row l % 16, k 4 (l / 16) + i", 100,
      held(F16, "A", lambda lane, i: (lane % 16, 4 * (lane // 16) + i))),
    S(L, "16x16x16 f16, B: the same of columns", 100,
      held(F16, "B", turned(lambda lane, i: (lane % 16, 4 * (lane // 16) + i)))),
    S(L, "16x16x16 f16, C: row 4 (l / 16) + i, column l % 16", 100,
      held(F16, "D", lambda lane, i: (4 * (lane // 16) + i, lane % 16))),
    S(L, "32x32x16 FP8, A: row l % 32, k 8 (l / 32) + i", 100,
      held(FP8, "A", lambda lane, i: (lane % 32, 8 * (lane // 32) + i))),
    S(L, "32x32x64 FP8, A: k 16 (l / 32) + 32 (i / 16) + i % 16", 100,
      held(SCALED, "A", lambda lane, i: (lane % 32, 16 * (lane // 32) + 32 * (i // 16) + i % 16),
           "e4m3fn")),
    S(L, "32x32x64 FP4, A: k 32 (l / 32) + i, low nibble first", 100,
      held(SCALED, "A", lambda lane, i: (lane % 32, 32 * (lane // 32) + i), "e2m1fn")),
    S(L, "checks that fail if FP8 takes the k of FP4, with equal scales", "nothing",
      caught("k_map_of_fp4_uniform_scales"), "refuted", about="tested with scales of 1: no output shows it"),
    S(L, "checks that fail if OPSEL chooses another byte", "nothing", caught("wrong_opsel_byte"), "refuted",
      about="called not relevant; it chooses one of four scales in the register"),
    *(S("Kernels", f"{name}, proved", "pass", status(name)) for name in (
        "f32_32x32x2", "f16_16x16x16", "fp8_32x32x16", "scaled_fp8_32x32x64", "scaled_fp4_32x32x64")),
]  # fmt: skip
