"""Statements of an introduction to Matrix Cores of CDNA3 and CDNA4 (AMD blogs), paraphrased; most are tables."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mfmasim
from mfmasim.lab.reports.statements import Runs, Statement
from mfmasim.matrix.request import F8F6F4
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.files import families

SECTIONS = (
    "1. Matrix Cores",
    "2. Low-Precision Floating-Point Types",
    "3. Matrix fused-multiply-add (MFMA) Instructions",
    "4. Compiler Intrinsics",
    "5. Examples",
    "5.1. __builtin_amdgcn_mfma_f32_32x32x2f32",
    "5.2. __builtin_amdgcn_mfma_f32_16x16x16f16",
    "5.3. __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8",
    "5.4. __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f8",
    "5.5. __builtin_amdgcn_mfma_scale_f32_32x32x64_f4f4",
)
"""Headings of the text."""
S = Statement
F32, F16, FP8 = "v_mfma_f32_32x32x2_f32", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x16_fp8_fp8"
SCALED, LARGE = "v_mfma_scale_f32_32x32x64_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"
PRODUCTS = {"gfx942": (304, 2.1e9), "gfx950": (256, 2.4e9)}
"""Compute units and clock of MI325X and MI355X."""


def peak(arch: str, name: str, fmt: str = "") -> Callable[[Runs], float]:
    """TFLOPS by cycles, units and clock."""
    return lambda _: mfmasim.instruction(arch, name, fmt or None, fmt or None).peak(*PRODUCTS[arch]) / 1e12


def ratio(arch: str, name: str, fmt: str = "") -> Callable[[Runs], float]:
    """To the peak of f32."""
    return lambda runs: round(peak(arch, name, fmt)(runs) / peak(arch, F32)(runs))


SMALL = "16x16x128 | 16 or 32 | FP4, FP6 or FP8 can be used independently for A and B"
WIDE = "32x32x64 | 32 or 64"


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


def unlisted(arch: str) -> Callable[[Runs], str]:
    """Floating-point MFMA instructions with one block that the text's table has not."""

    def found(_: Runs) -> str:
        names = [name for name in mfmasim.instructions(arch) if name.startswith(("v_mfma_f", "v_mfma_scale_f"))]
        words = {name: name.removeprefix("v_mfma_").removeprefix("scale_").split("_") for name in names}
        left = [name for name, (_, shape, *types) in words.items() if f"{shape} {types[0]}" not in LISTED[arch]]
        return ", ".join(name for name in left if mfmasim.instruction(arch, name).blocks == 1) or "none"

    return found


def builds(
    change: tuple[str, str], arch: str = "gfx950", kernel: str = "mfma_f32_32x32x16_fp8"
) -> Callable[[Runs], str]:
    """Whether one of the five kernels compiles after a change of its source."""

    def found(runs: Runs) -> str:
        text = (families()["intro"].parent / f"{kernel}.hip").read_text()
        assert change[0] in text
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "changed.hip"
            path.write_text(text.replace(*change))
            try:
                mfmasim.compile(path, arch=arch, compiler=runs.compiler)
            except mfmasim.MfmasimError:
                return "no"
        return "yes"

    return found


def with_scales(a: int, c: float) -> Callable[[Runs], float]:
    """An element of the product of ones, 64 of them, with one code of E8M0 as every scale of A, added to `c`."""

    def found(_: Runs) -> float:
        op = mfmasim.instruction("gfx950", SCALED, a="e4m3fn", b="e4m3fn")
        one = mfmasim.format("e4m3fn").encode(np.ones(1))[0]
        ones, start = np.full((32, 64), one, np.uint8), np.full((32, 32), c, np.float32).view(np.uint32)
        scales = np.full((32, 2), a, np.uint8), np.full((2, 32), 127, np.uint8)
        d = op.multiply(ones, ones.T, start, scale_a=scales[0], scale_b=scales[1])
        return float(np.asarray(d, np.uint32).view(np.float32)[0, 0])

    return found


def formats(name: str) -> Callable[[Runs], str]:
    """Of D, A and B."""
    return lambda _: ", ".join(str(mfmasim.instruction("gfx950", name).operands[of].format) for of in "DAB")


def scales_of(operand: str) -> Callable[[Runs], str]:
    """Rows and columns of a matrix of scales, and how many of them a lane supplies."""

    def found(_: Runs) -> str:
        op = mfmasim.instruction("gfx950", SCALED, "e4m3fn", "e4m3fn")
        table = op.operands[operand].table()
        lines, blocks = len(set(table["row"].tolist())), len(set(table["col"].tolist()))
        shape = f"{lines}x{blocks}" if operand == "scale_A" else f"{blocks}x{lines}"
        return f"{shape}, {len(table) / len(set(table['lane'].tolist())):g} in a lane"

    return found


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


def last_field(name: str) -> Callable[[Runs], float]:
    """The exponent field of the codes that are no numbers, where it is one."""
    fmt = mfmasim.format(name)
    codes = np.arange(1 << fmt.bits, dtype=np.uint64)
    others = codes[~np.isfinite(fmt.decode(codes))]
    fields = set((others >> np.uint64(fmt.mantissa_bits) & np.uint64((1 << fmt.exponent_bits) - 1)).tolist())
    return lambda _: float(fields.pop()) if len(fields) == 1 else -1.0


def sizes(name: str, fmt: str | None = None) -> Callable[[Runs], str]:
    """Rows and columns of A, B and C, and lanes of the wave."""
    op = mfmasim.instruction("gfx950", name, fmt, fmt)
    return lambda _: f"{op.m}x{op.k}, {op.k}x{op.n}, {op.m}x{op.n}; {op.wave} lanes"


def scale(value: int) -> Callable[[Runs], float]:
    """What a code of E8M0 stands for."""
    return lambda _: float(mfmasim.format("e8m0fnu").decode(np.array([value], np.uint8))[0])


ROW32 = lambda lane, i: (8 * (i // 4) + 4 * (lane // 32) + i % 4, lane % 32)  # noqa: E731
P, M, C, BUILTINS, X, L1, L2, L3, L4, L5 = SECTIONS  # the last ones are the five examples
# Format, its row in the text's table, exponent bias, largest number, codes of 0, of NaN and of infinities.
FORMATS = [
    (
        "f16",
        "E5M10 (FP16) | 15 | ±65504 | S 00000 0000000000 | S 11111 xxxxxxxxxx | S 11111 0000000000",
        15,
        65504,
        2,
        2046,
        2,
    ),
    (
        "bf16",
        "E8M7 (BF16) | 127 | ±3.3895 * 10^38 | S 00000000 0000000 | S 11111111 xxxxxxx | S 11111111 0000000",
        127,
        3.3895e38,
        2,
        254,
        2,
    ),
    ("e4m3fn", "E4M3FN (FP8, OCP) | 7 | ±448 | S 0000 000 | S 1111 111 | n/a", 7, 448, 2, 2, 0),
    ("e4m3fnuz", "E4M3FNUZ (FP8) | 8 | ±240 | 0 0000 000 | 1 0000 000 | n/a", 8, 240, 1, 1, 0),
    ("e5m2", "E5M2 (BF8, OCP) | 15 | ±57344 | S 00000 00 | S 11111 {01, 10 11} | S 11111 00", 15, 57344, 2, 6, 2),
    ("e5m2fnuz", "E5M2FNUZ (BF8) | 16 | ±57344 | 0 00000 00", 16, 57344, 1, None, 0),
    ("e2m3fn", "E2M3 | 1 | ±7.5 | S 00 000 | n/a | n/a", 1, 7.5, 2, 0, 0),
    ("e3m2fn", "E3M2 (BF6) | 3 | ±28 | S 000 00 | n/a | n/a", 3, 28, 2, 0, 0),
    ("e2m1fn", "E2M1 (FP4) | 1 | ±6 | S 00 0 | n/a | n/a", 1, 6, 2, 0, 0),
]
BOTH = {"16x16x4 f64", "32x32x2 f32", "16x16x4 f32"} | {
    f"{shape} {of}"
    for shapes, types in (("32x32x8 16x16x16", "f16 bf16"), ("16x16x32 32x32x16", "fp8 bf8"))
    for shape in shapes.split()
    for of in types.split()
}
LISTED = {
    "gfx942": BOTH,
    "gfx950": BOTH
    | {f"{shape} {of}" for shape in ("16x16x32", "32x32x16") for of in ("f16", "bf16")}
    | {"16x16x128 f8f6f4", "32x32x64 f8f6f4"},
}
"""Shape and type of A of the instructions in the text's table."""
EXAMPLES = {"32x32x2 f32": L1, "16x16x16 f16": L2, "32x32x16 FP8": L3, "32x32x64 FP8": L4, "32x32x64 FP4": L5}
"""Heading of each example, by shape and type."""
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
    S(P, "MI355X, f64 to f32", 0.5, lambda r: peak("gfx950", "v_mfma_f64_16x16x4_f64")(r) / peak("gfx950", F32)(r),
      within=0.001, words="78.6 TF | ~0.5x"),
    S(C, "formula: 2 M N K cores (MHz / cycles) / 10^6 for 32x32x8, 1216 cores, 2100 MHz", 1307.4,
      lambda r: 2 * 32 * 32 * 8 * 1216 * 2100 / cycles("gfx942", "v_mfma_f32_32x32x8_f16")(r) / 1e6, within=0.001,
      words="2*32*32*8 * 1216 * (2100 / 32) / 10^6 = 1307.4 TFLOP/s"),
    # --- Cycles
    S(C, "cycles of 16x16x4 f64 on CDNA4", 64, cycles("gfx950", "v_mfma_f64_16x16x4_f64"),
      words="FP64 ← FP64 | 16x16x4 | 16x16x4 | 64"),
    S(C, "the same on CDNA3", 64, cycles("gfx942", "v_mfma_f64_16x16x4_f64"), "refuted",
      about="64 is right for CDNA4; CDNA3 takes 32, as the 163.4 TFLOPS of the text's first table need",
      words="FP64 ← FP64 | 16x16x4 | 16x16x4 | 64"),
    S(C, "instructions of CDNA4 that the table leaves out", "none", unlisted("gfx950"),
      words="The following table lists all available floating-point MFMA instructions"),
    S(C, "and of CDNA3", "none", unlisted("gfx942"), "refuted",
      about="two rows would make it complete: FP32 from XF32, 16x16x8 in 16 cycles and 32x32x4 in 32, which CDNA3 has "
      "and CDNA4 has not", words="The following table lists all available floating-point MFMA instructions"),
    S(C, "cycles of both, as that note has them", "16, 32",
      lambda r: f"{cycles('gfx942', 'v_mfma_f32_16x16x8_xf32')(r)}, {cycles('gfx942', 'v_mfma_f32_32x32x4_xf32')(r)}",
      "remark", about="653.7 TFLOPS on MI325X"),
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
    # --- Formats
    *(S(M, f"largest {name}", value, largest(name), within=1e-4, words=row) for name, row, _, value, *_ in FORMATS),
    *(S(M, f"exponent bias of {name}", value, bias(name), words=row) for name, row, value, *_ in FORMATS),
    *(S(M, f"codes of 0 in {name}", value, zeros(name), words=row) for name, row, _, _, value, *_ in FORMATS),
    *(S(M, f"codes of NaN in {name}", value, nans(name), words=row)
      for name, row, *_, value, _ in FORMATS if value is not None),
    *(S(M, f"codes of infinity in {name}", value, infinities(name), words=row) for name, row, *_, value in FORMATS),
    S(M, "codes of NaN in e5m2fnuz, S 00000 00", 2, nans("e5m2fnuz"), "refuted",
      about="1 00000 00, as in the row of E4M3FNUZ: with S for both signs +0 were a NaN",
      words="0 00000 00 | S 00000 00 | n/a"),
    S(M, "bits of the exponent field of f16, and its largest value", "5, 31",
      lambda _: f"{mfmasim.format('f16').exponent_bits}, {2 ** mfmasim.format('f16').exponent_bits - 1}",
      words="the FP16 type has 5-bit exponent with a nominal range of `[0, 1, ... 2^5-1] = [0, 1, ... 31]`"),
    S(M, "the exponent field of NaN and of infinities in f16", 31, last_field("f16"),
      words="the exponent value `E = 31` is reserved for `NaN` (if the mantissa `M != 0`) and `infinity`"),
    S(M, "E8M0, 255", "nan", lambda _: str(scale(255)(_)), words="The exponent value `E = 255` is reserved for `NaN` "
      "values"),
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
    S(L4, "an instruction has the name of this heading", "no", known("v_mfma_scale_f32_32x32x64_f8f8"), "remark",
      about="the heading shortens it; code and text below it have its name, f8f6f4, whatever the formats",
      words="__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f8"),
    S(L4, "formats of A by their code", "e4m3fn, e5m2, e2m3fn, e3m2fn, e2m1fn", lambda _: ", ".join(F8F6F4),
      words="`0 = E4M3 (fp8), 1 = E5M2(bf8), 2 = E2M3(fp6), 3 = E3M2(bf6), 4 = E2M1(fp4)`"),
    S(X, "lanes of a wave of CDNA3 and CDNA4", "64, 64",
      lambda _: ", ".join(str(mfmasim.arch(name).wave_sizes[0]) for name in PRODUCTS),
      words="The wavefront size on the AMD CDNA™ architecture is 64"),
    S(BUILTINS, "D, A and B of 32x32x16 fp8_fp8: formats", "f32, e4m3fn, e4m3fn", formats(FP8),
      words="`__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8` performs `32x32x16` MFMA"),
    S(BUILTINS, "and of fp8_bf8", "f32, e4m3fn, e5m2", formats("v_mfma_f32_32x32x16_fp8_bf8"),
      words="`__builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8` performs `32x32x16` MFMA"),
    *(S(place, "sizes of A, B and C, and lanes", said, sizes(name, fmt), words=words)
      for place, name, fmt, said, words in [
        (L1, F32, None, "32x2, 2x32, 32x32; 64 lanes",
         ("matrix `A` of size `32x2` with matrix `B` of size `2x32` using single wavefront (64 threads) and single "
           "MFMA instruction. The output matrix `C` has shape `32x32`")),
        (L2, F16, None, "16x16, 16x16, 16x16; 64 lanes",
         "matrix `A` of size `16x16` with matrix `B` of size `16x16` using single wavefront (64 threads)"),
        (L3, FP8, None, "32x16, 16x32, 32x32; 64 lanes",
         ("matrix `A` of size `32x16` with matrix `B` of size `16x32` using single wavefront (64 threads) and single "
          "MFMA instruction. The output matrix `C` has shape `32x32`")),
        (L4, SCALED, "e4m3fn", "32x64, 64x32, 32x32; 64 lanes", "Matrix `A` of size `32x64`"),
        (L4, SCALED, "e4m3fn", "32x64, 64x32, 32x32; 64 lanes", "Matrix `B` of size `64x32`"),
        (L4, SCALED, "e4m3fn", "32x64, 64x32, 32x32; 64 lanes",
         ("The output matrix `C` has shape `32x32`. Specifically, this instruction performs the following operation "
          "using single wavefront (64 threads)"))]),
    S(BUILTINS, "D of 16x16x16 f16, and its A and B: formats", "f32, f16, f16",
      formats(F16),
      words="`__builtin_amdgcn_mfma_f32_16x16x16f16` performs `16x16x16` MFMA"),
    # --- Elements of a lane
    *(S(EXAMPLES[shape], f"{shape}, {operand}: elements of a lane", said, elements(name, operand, fmt), words=words)
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
    S(L5, "bits of an operand of 32 FP4 elements", 128,
      lambda _: 32 * mfmasim.instruction("gfx950", SCALED, "e2m1fn", "e2m1fn").operands["A"].vgprs,
      words="Since 32 FP4 elements occupy only 128 bits"),
    S(L5, "bits of one of 32 FP8 elements, as wide as the builtin's argument", 256,
      lambda _: 32 * mfmasim.instruction("gfx950", SCALED, "e4m3fn", "e4m3fn").operands["A"].vgprs,
      words="requires its first two arguments to be 256 bits wide"),
    S(L3, "both operands without their conversion to long: it compiles", "no",
      builds(("(x.a, x.b, c, 0", "(__builtin_bit_cast(byte8, x.a), __builtin_bit_cast(byte8, x.b), c, 0")),
      words="the intrinsic function expects its first two operands to be of type `long`"),
    S(L4, "the kernel compiles for gfx942", "no", builds(("", ""), "gfx942", "mfma_scale_f32_32x32x64_fp8"),
      words="is supported only on AMD CDNA™4 GPUs (gfx950)"),
    S(L4, "Ax: its shape, and its entries in a lane", "32x2, 1 in a lane", scales_of("scale_A"),
      words="Matrix `Ax` of size `32x2`"),
    S(L4, "Bx: its shape, and its entries in a lane", "2x32, 1 in a lane", scales_of("scale_B"),
      words="Matrix `Bx` of size `2x32`"),
    S(L4, "64 products of 1 with a scale of 2, added to 1", 129, with_scales(128, 1),
      about="scaled first, then added: 65 x 2 would be 130; where a sum is rounded, the order is assumed",
      words="the scales `Ax`, `Bx` are applied after the normal dot product and prior to output/accumulation"),
    S(L4, "the same with a code of 127", 65, with_scales(127, 1),
      words="If `scale_a = scale_b = 127`, the actual scale factors are equal to `1` and no scaling is applied"),
    S(L4, "with a code of 130, and without what is added", 512, with_scales(130, 0),
      words="the corresponding actual scale factors are `2^(scale_a - 127)` and `2^(scale_b - 127)`"),
    # --- Layouts, percent of the elements that the text's formula places
    S(L1, "32x32x2 f32, A: row l % 32, k l / 32", 100, held(F32, "A", lambda lane, _: (lane % 32, lane // 32)),
      words="mfma_f32_32x32x2f32"),
    S(L1, "32x32x2 f32, B: k l / 32, column l % 32", 100, held(F32, "B", lambda lane, _: (lane // 32, lane % 32)),
      words="B + threadIdx.x % 32 + (threadIdx.x / 32) * 32"),
    S(L1, "32x32x2 f32, C: row 8 (r / 4) + 4 (l / 32) + r % 4, column l % 32", 100, held(F32, "D", ROW32),
      words="C[threadIdx.x % 32 + (threadIdx.x / 32) * 4 * 32 + i * 32 * 8]"),
    S(L2, "16x16x16 f16, A: row l % 16, k 4 (l / 16) + i", 100,
      held(F16, "A", lambda lane, i: (lane % 16, 4 * (lane // 16) + i)),
      words="A + 4 * (threadIdx.x / 16) + 16 * (threadIdx.x % 16)"),
    S(L2, "16x16x16 f16, B: the same of columns", 100,
      held(F16, "B", turned(lambda lane, i: (lane % 16, 4 * (lane // 16) + i))),
      words="b_reg[i] = *(B + i * 16 + threadIdx.x % 16 + (threadIdx.x / 16) * 64);"),
    S(L2, "16x16x16 f16, C: row 4 (l / 16) + i, column l % 16", 100,
      held(F16, "D", lambda lane, i: (4 * (lane // 16) + i, lane % 16)),
      words="*(C + i * 16 + threadIdx.x % 16 + (threadIdx.x / 16) * 64) = c_reg[i];"),
    S(L3, "32x32x16 FP8, A: row l % 32, k 8 (l / 32) + i", 100,
      held(FP8, "A", lambda lane, i: (lane % 32, 8 * (lane // 32) + i)),
      words="A + (threadIdx.x / 32) * 8 + (threadIdx.x % 32) * 16"),
    S(L3, "32x32x16 FP8, B: k 8 (l / 32) + i, column l % 32", 100,
      held(FP8, "B", lambda lane, i: (8 * (lane // 32) + i, lane % 32)),
      words="b_reg[i] = *(B + i * 32 + threadIdx.x % 32 + (threadIdx.x / 32) * 8 * 32);"),
    S(L4, "32x32x64 FP8, B: k 16 (l / 32) + 32 (i / 16) + i % 16, column l % 32", 100,
      held(SCALED, "B", lambda lane, i: (16 * (lane // 32) + 32 * (i // 16) + i % 16, lane % 32), "e4m3fn"),
      words="b_reg[i*16 + j] = *(ldg_b + 32 * j + i * 32 * 32);"),
    S(L5, "32x32x64 FP4, B: k 32 (l / 32) + i, column l % 32", 100,
      held(SCALED, "B", lambda lane, i: (32 * (lane // 32) + i, lane % 32), "e2m1fn"),
      words="const fp4x2_t* ldg_b = B + (threadIdx.x % 32) / 2 + 16 * 32 * (threadIdx.x / 32);"),
    S(L4, "32x32x64 FP8, A: k 16 (l / 32) + 32 (i / 16) + i % 16", 100,
      held(SCALED, "A", lambda lane, i: (lane % 32, 16 * (lane // 32) + 32 * (i // 16) + i % 16), "e4m3fn"),
      words="a_reg[i*16 + j] = *(ldg_a + i * 32 + j);"),
    S(L5, "32x32x64 FP4, A: k 32 (l / 32) + i, low nibble first", 100,
      held(SCALED, "A", lambda lane, i: (lane % 32, 32 * (lane // 32) + i), "e2m1fn"),
      words="const fp4x2_t* ldg_a = A + (threadIdx.x % 32) * 32 + (threadIdx.x / 32) * 16;"),
    S(L4, "checks that fail if FP8 takes the k of FP4, with equal scales", "mapping",
      caught("k_map_of_fp4_uniform_scales"), "remark", about="the text's scales are 1: no output shows it"),
    S(L4, "checks that fail if OPSEL chooses another byte", "mapping, outputs", caught("wrong_opsel_byte"), "remark",
      about="it chooses one of four scales in the register; the text leaves it out on purpose"),
    *(S(place, f"the kernel {name}: outputs and the element of every slot", "pass", status(name), words=words)
      for place, name, words in (
        (L1, "f32_32x32x2", "mfma_fp32_32x32x2_fp32(const float* A, const float* B, float* C)"),
        (L2, "f16_16x16x16", "mfma_fp32_16x16x16_fp16(const fp16_t* A, const fp16_t* B, float* C)"),
        (L3, "fp8_32x32x16", "mfma_fp32_32x32x16_fp8_fp8(const fp8_t* A, const fp8_t* B, float* C)"),
        (L4, "scaled_fp8_32x32x64", "mfma_fp32_32x32x64_fp8_fp8(const fp8_t* A, const fp8_t* B, float* C)"),
        (L5, "scaled_fp4_32x32x64", "mfma_fp32_32x32x64_fp4_fp4(const fp4x2_t* A, const fp4x2_t* B, float* C)"))),
]  # fmt: skip
