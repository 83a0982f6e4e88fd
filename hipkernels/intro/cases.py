"""The five introductory kernels: one wave, one matrix instruction, every layout spelt out in the source."""

from mfmasim.verify import A, B, C, LaunchDict, ScaleA, ScaleB, case

CDNA = ["gfx942", "gfx950"]
OPSEL = [{"opsel": byte} for byte in range(4)]


@case("mfma_f32_32x32x2_f32.hip", kernel="mfma_f32_32x32x2_f32", arch=CDNA, golden="f32_32x32x2")
def f32_32x32x2(M: int = 32, N: int = 32, K: int = 2) -> LaunchDict:
    a, b, c = A("f32", (M, K)), B("f32", (K, N)), C("f32", (M, N))
    return {"grid": 1, "block": 64, "args": [a, b, c], "expect": a @ b}


@case("mfma_f32_16x16x16_f16.hip", kernel="mfma_f32_16x16x16_f16", arch=CDNA, golden="f16_16x16x16")
def f16_16x16x16(M: int = 16, N: int = 16, K: int = 16) -> LaunchDict:
    a, b, c = A("f16", (M, K)), B("f16", (K, N)), C("f32", (M, N))
    return {"grid": 1, "block": 64, "args": [a, b, c], "expect": a @ b}


@case(
    "mfma_f32_32x32x16_fp8.hip",
    kernel="mfma_f32_32x32x16_{a}_{b}",
    arch=CDNA,
    golden="{a}_{b}_32x32x16",
    each=[{"a": x, "b": y} for x in ("fp8", "bf8") for y in ("fp8", "bf8")],
)
def fp8_32x32x16(a: str = "fp8", b: str = "fp8", M: int = 32, N: int = 32, K: int = 16) -> LaunchDict:
    x, y, c = A(a, (M, K)), B(b, (K, N)), C("f32", (M, N))
    return {"grid": 1, "block": 64, "args": [x, y, c], "expect": x @ y}


@case(
    "mfma_scale_f32_32x32x64_fp8.hip",
    kernel="mfma_scale_f32_32x32x64_fp8_opsel{opsel}",
    arch="gfx950",
    golden="scaled_fp8_32x32x64",
    each=OPSEL,
)
def scaled_fp8_32x32x64(opsel: int = 0, M: int = 32, N: int = 32, K: int = 64) -> LaunchDict:
    a, b, c = A("fp8", (M, K)), B("fp8", (K, N)), C("f32", (M, N))
    sa, sb = ScaleA((M, K // 32), bytes=4, select=opsel), ScaleB((K // 32, N), bytes=4, select=opsel)
    return {"grid": 1, "block": 64, "args": [a, b, sa, sb, c], "expect": (a * sa) @ (b * sb)}


@case(
    "mfma_scale_f32_32x32x64_fp4.hip",
    kernel="mfma_scale_f32_32x32x64_fp4_opsel{opsel}",
    arch="gfx950",
    golden="scaled_fp4_32x32x64",
    each=OPSEL,
)
def scaled_fp4_32x32x64(opsel: int = 0, M: int = 32, N: int = 32, K: int = 64) -> LaunchDict:
    a, b, c = A("e2m1fn", (M, K)), B("e2m1fn", (K, N)), C("f32", (M, N))
    sa, sb = ScaleA((M, K // 32), bytes=4, select=opsel), ScaleB((K // 32, N), bytes=4, select=opsel)
    return {"grid": 1, "block": 64, "args": [a, b, sa, sb, c], "expect": (a * sa) @ (b * sb)}
