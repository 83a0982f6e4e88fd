"""GEMM with fused epilogues: bias and C, GELU, gates, in bf16, f16, f32, FP8, MXFP8 and MXFP4.

Outputs are plain arrays, compared bit for bit with a replay of the kernel's order (`reference`). Its mapping check has
matrices in place of the operands: every fragment is followed, and every code and scale to the sums, C and bias that it
is made of. Results that are numbers have a case of matrices instead, which is compared with the exact product, too.
"""

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.cast import mx_reference
from hipkernels.cast.reference import cast
from hipkernels.gemm_blockscale.reference import FP8, finite
from hipkernels.gemm_epilogue import reference
from hipkernels.gemm_epilogue.reference import BLOCK, ORDER
from hipkernels.gemm_fp8.scheduled.schedules import APART, HALVES, pingpong_order
from mfmasim.formats import ScaleRule
from mfmasim.verify import A, B, C, ComesFrom, DependsOn, In, InOut, LaunchDict, ScaleA, ScaleB, case
from mfmasim.verify.shuffles import find_shuffle

CDNA = ("gfx942", "gfx950")
MATRIX = "v_mfma_f32_16x16x(128_f8f6f4|32_fp8_fp8)"
SCALED_MATRIX = "v_mfma_scale_f32_16x16x128_f8f6f4"
ENDS = {"bounds-buffer-range": "rows, columns and K beyond the end are fetched and stored beyond the resource"}
WHOLE = "M % 256 == 0 and N % 256 == 0 and K % 128 == 0 and M > 0 and N > 0 and K >= 256 and lda % 16 == 0"
ANY = "M > 0 and N > 0 and K % 32 == 0 and K > 256 and lda % 32 == 0 and ldd % 8 == 0"
RULES = mx_reference.RULES
BLOCK_FORMATS = {"mxfp8": "e4m3", "mxfp4": "e2m1"}
THREADS = 512


def grid_of(M: int, N: int, arch: str) -> tuple[int, int]:
    """Workgroups; N counts gates and values."""
    side = 2 * HALVES[arch]
    return -(-N // side), -(-M // side)


# --- Operands


def fp8_codes(fmt: str, shape: tuple[int, int], seed: int) -> NDArray[Any]:
    """Codes of the whole range; every seventh row is 0."""
    codes = finite(fmt, shape, seed)
    codes[3::7] = 0
    return codes


def fp4_codes(shape: tuple[int, int], seed: int) -> NDArray[Any]:
    """Bytes of two codes each; every seventh row is 0."""
    codes = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    codes[3::7] = 0
    return codes


def scale_codes(rows: int, blocks: int, seed: int) -> NDArray[Any]:
    """Scales between 2^-6 and 2^6 in the order of memory, filled up with NaN."""
    codes = np.random.default_rng(seed).integers(121, 134, (rows, blocks)).astype(np.uint8)
    return find_shuffle(ORDER).stored(codes)


def filled(fmt: str, shape: int | tuple[int, int], value: int, dtype: Any = np.uint8) -> Any:
    """An output that holds one value everywhere before."""
    return InOut(fmt, shape, partial(np.full, shape, value, dtype))


def bias_of(count: int, factor: float) -> NDArray[Any]:
    """Numbers near 1; of every third block of columns they are 0."""
    drawn = np.random.default_rng(3).normal(size=count) * (np.arange(count) // BLOCK % 3 != 0)
    return (factor * drawn).astype(np.float32)


def c_of(fmt: str, shape: tuple[int, int]) -> NDArray[Any]:
    """Numbers of another size in each row and block, of some 0."""
    rng, (rows, columns) = np.random.default_rng(4), shape
    sizes = np.exp2(rng.integers(-10, 8, (rows, -(-columns // BLOCK))))
    sizes[3::14, ::5] = 0
    drawn = rng.normal(size=shape) * np.repeat(sizes, BLOCK, axis=1)[:, :columns]
    codes = drawn.astype({"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}[fmt])
    return codes.view(np.uint16) if fmt == "bf16" else codes


def operands(mx: bool, M: int, N: int, K: int, lda: int, arch: str) -> list[Any]:
    """A and B as plain arrays, with their scales; rows of A have a gap where lda says so."""
    if mx:
        shapes = (M, lda // 2), (N, K // 2)
        codes = [In("u8", shape, partial(fp4_codes, shape, seed)) for seed, shape in enumerate(shapes)]
        tiles = -(-K // 256)
        return codes + [
            In("u8", -(-rows // 32) * tiles * 256, partial(scale_codes, rows, K // BLOCK, seed))
            for seed, rows in ((5, M), (6, N))
        ]
    shapes = (M, lda), (N, K)
    return [In(FP8[arch], shape, partial(fp8_codes, FP8[arch], shape, seed)) for seed, shape in enumerate(shapes)]


def sums_of(mx: bool, arch: str, K: int, held: list[NDArray[Any]]) -> NDArray[Any]:
    """Sums of what `operands` holds."""
    a, *more = held
    if mx:
        return reference.scaled_products(a[:, : K // 2], *more)
    return reference.products(arch, a[:, :K], *more)


# --- What results are made of


def numbers(fmt: str, *values: float) -> list[int]:
    """Codes of a format."""
    return [int(code) for code in mfmasim.format(fmt).encode(np.array(values))]


def made_of(
    product: Any, c: Any, bias: Any, codes: Any, scales: Any, rows: Any, *, half: int, packed: bool, positive: bool
) -> list[Any]:
    """Sources of codes, of scales of blocks, and of the largest magnitudes of rows.

    Numbers that are followed keep every x within one binade, so that scales are alike, and differ as codes.

    Args:
        product: A B.
        c: C, or None.
        bias: an array.
        codes: of the result.
        scales: of blocks, in `ORDER`, or None.
        rows: largest magnitudes, or None.
        half: columns from a gate to its value; 0 where there are none.
        packed: whether codes are of four bits, which with gates have two numbers apart alone.
        positive: whether results of negative numbers are not apart.
    """
    m, n = product.shape
    columns = half or n
    sums = [8.5, 12.75] if half and packed else [8.5, 10.0, 12.0, 14.0] if positive else [8.0, 12.0, -8.0, -12.0]
    added = [value - sums[0] for value in sums]
    parts = {"parts": 2} if packed else {}

    def column(j: Any, part: Any, apart: int) -> Any:
        return (2 * j + part[0] if part else j) + apart

    found = []
    for apart in (0, half) if half else (0,):
        place = lambda i, j, *part, apart=apart: (i, column(j, part, apart))  # noqa: E731
        found.append(ComesFrom(codes, product, place, values=numbers("f32", *sums), **parts))
        added_to = lambda i, j, *part, apart=apart: column(j, part, apart) + 0 * i  # noqa: E731
        found.append(ComesFrom(codes, bias, added_to, values=numbers("f32", *added), **parts))
    if c is not None:
        here = lambda i, j, *part: (i, column(j, part, 0))  # noqa: E731
        found.append(ComesFrom(codes, c, here, values=numbers(c.format, *added), **parts))

    def across(count: Any) -> Any:
        return (np.arange(count)[:, None] + np.array([0, half] if half else [0])).reshape(-1)

    def of_block(s: Any) -> Any:
        each = columns // BLOCK
        blocks = np.full(scales.shape, -1)  # what fills up the last rows and blocks has no source
        blocks[find_shuffle(ORDER).loaded(np.arange(blocks.size), (m, each))] = np.arange(m * each).reshape(m, each)
        return np.where(blocks < 0, -1, blocks // each)[s], blocks[s] % each * BLOCK + across(BLOCK)

    raised = numbers("f32", sums[0], 8 * sums[0])
    if scales is not None:
        found.append(DependsOn(scales, product, of_block, values=raised))
    if rows is not None:
        found.append(DependsOn(rows, product, lambda i: (i, across(columns)), values=raised))
    return found


# --- Cases


def declare(kernel: str, source: str, arch: str | tuple[str, ...]) -> None:
    """The cases of one kernel, whose name says operands, values and result.

    Args:
        kernel: such as ``fp8_silu_mxfp8``; ``_sr`` at its end rounds stochastically.
        source: HIP source.
        arch: architectures.
    """
    given, values, result, *more = kernel.split("_")
    mx, gated, random = given == "mxfp4", values == "silu", bool(more)
    coded = result in (*BLOCK_FORMATS, "fp8")
    c_format = result if result in ("f16", "f32") else "bf16"

    def values_of(arch: str, K: int, alpha: float, beta: float, held: list[NDArray[Any]]) -> NDArray[Any]:
        *matrices, c, bias = held
        x = reference.linear(sums_of(mx, arch, K, matrices), alpha, bias, 0.0 if gated else beta, c)
        if gated:
            half = x.shape[1] // 2
            return reference.silu(arch, x[:, :half], x[:, half:])
        return reference.FUNCTIONS[values](arch, x)

    def arrays(
        M: int = 77 if mx else 256,
        N: int = 192 if mx else 512 if gated else 256,
        K: int = 544 if mx else 384,
        lda: int = 0,
        ldd: int = 0,
        alpha: float = 0.002 if mx else 2.0**-16,
        beta: float = 0.5,
        bias: float = 1.0,
        scale: float = 37.0,
        rule: ScaleRule = "ocp",
        seed: int = 0x1234567,
        followed: bool = False,
        arch: str = "gfx950",
    ) -> LaunchDict:
        if followed:
            return matrices(M, N, K, lda, ldd, alpha, beta, arch)
        columns, lda = N // 2 if gated else N, lda or K
        ldd = ldd or columns
        args: list[Any] = operands(mx, M, N, K, lda, arch)
        c = In(c_format, (M, columns), partial(c_of, c_format, (M, columns)))
        args += [c, In("f32", N, partial(bias_of, N, bias))]
        sizes: list[Any] = [M, N, K, lda, K, columns, ldd, alpha, beta]
        launch: LaunchDict = {"grid": grid_of(M, N, arch), "block": THREADS, "args": []}
        if result in BLOCK_FORMATS:
            target = BLOCK_FORMATS[result]
            each = 2 if target == "e2m1" else 1
            codes = filled("u8" if each == 2 else "e4m3fn", (M, ldd // each), 0x5A)
            count = -(-M // 32) * -(-columns // 256) * 256
            scales = filled("u8", count, 0xFF)
            written = -(-columns // (128 if gated else 256)) * (4 if gated else 8)

            def expect(*held: NDArray[Any]) -> Any:
                x = values_of(arch, K, alpha, beta, list(held[:-2]))
                way = partial(reference.stochastic, seed=seed) if random else _nearest
                found, exponents = way(x, target, rule=rule)
                lines = held[-2].copy()
                lines[:, : columns // each] = found
                return lines, reference.stored(exponents, written)

            launch |= {"args": [*args, codes, scales, *sizes, RULES.index(rule), np.uint32(seed)], "expect": expect}
            return launch
        if result == "fp8":
            codes, amax = filled(FP8[arch], (M, ldd), 0x5A), filled("i32", 1, 3, np.int32)
            rows = InOut("i32", M, lambda: np.arange(M, dtype=np.int32) << 22)

            def quantised(*held: NDArray[Any]) -> Any:
                x = values_of(arch, K, alpha, beta, list(held[:-3]))
                lines = held[-3].copy()
                lines[:, :columns] = cast(x, np.float32(scale), FP8[arch], "clamp", arch)
                most = reference.row_amax(x, np.zeros(M, np.int32))
                return lines, np.maximum(most.max(keepdims=True), held[-2]), np.maximum(most, held[-1])

            return launch | {"args": [*args, codes, amax, rows, *sizes, scale], "expect": quantised}
        out = filled(c_format, (M, ldd), 9, {"f16": np.float16, "f32": np.float32}.get(c_format, np.uint16))

        def converted(*held: NDArray[Any]) -> NDArray[Any]:
            x = values_of(arch, K, alpha, beta, list(held[:-1]))
            lines = held[-1].copy()
            with np.errstate(over="ignore"):
                lines[:, :columns] = (
                    x.astype(ml_dtypes.bfloat16).view(np.uint16) if c_format == "bf16" else x.astype(lines.dtype)
                )
            return lines

        return launch | {"args": [*args, out, *sizes], "expect": converted}

    def matrices(
        M: int = 256,
        N: int = 256,
        K: int = 544 if mx else 384,
        lda: int = 0,
        ldd: int = 0,
        alpha: float = 1.25,
        beta: float = 0.5,
        arch: str = "gfx950",
    ) -> LaunchDict:
        columns, lda = N // 2 if gated else N, lda or K
        fmt = "e2m1fn" if mx else "fp8"
        a, b = A(fmt, (M, K), ld=lda, align=16), B(fmt, (K, N), order="column", align=16)
        scales = (
            [ScaleA((M, K // BLOCK), shuffle=ORDER), ScaleB((K // BLOCK, N), order="column", shuffle=ORDER)]
            if mx
            else []
        )
        product = (a * scales[0]) @ (b * scales[1]) if mx else a @ b
        c: Any = None
        bias: Any = In("f32", N, "zeros")
        factor = beta
        launch: LaunchDict = {"grid": grid_of(M, N, arch), "block": THREADS, "args": []}
        out: list[Any]
        last: list[Any]
        if coded:
            packed, blocks = result == "mxfp4", result in BLOCK_FORMATS
            codes = InOut("u8", (M, columns // (1 + packed)))
            if not gated:
                c = In("bf16", (M, columns), "zeros")
            if blocks:
                more = [InOut("u8", -(-M // 32) * -(-columns // 256) * 256)]
                last = [0, np.uint32(1)]
            else:
                more, last = [InOut("i32", 1), InOut("i32", M)], [1.0]
            out = [codes, *more]
            launch["sources"] = made_of(
                product,
                c,
                bias,
                codes,
                more[0] if blocks else None,
                more[1] if values == "linear" and not blocks else None,  # a run for each of 256; others do the same
                half=columns if gated else 0,
                packed=packed,
                positive=not blocks or gated,
            )
        else:
            c = d = C(c_format, (M, N), ld=ldd, align=16)
            bias, out, last = [np.float32(0)] * N, [d], []
            launch["expect"] = alpha * product + beta * d if beta else alpha * product
        sizes = [M, N, K, lda, K, ldd or columns, ldd or columns, alpha, factor]
        return launch | {"args": [a, b, *scales, c, bias, *out, *sizes, *last]}

    archs = (arch,) if isinstance(arch, str) else arch
    fixed: dict[str, Any] = {
        "kernel": kernel,
        "arch": archs,
        "executes": SCALED_MATRIX if mx else MATRIX,
        "order": {one: pingpong_order(one, mx) for one in archs},
    }
    unit = 64 if gated else 32 if result in BLOCK_FORMATS else 16
    needs = f"{ANY} and N % {unit} == 0" if mx else f"{WHOLE} and ldd % 16 == 0"
    strides = f" and (lda == 0 or lda >= K) and (ldd == 0 or ldd >= N{' // 2' if gated else ''})"
    arrays.__name__ = kernel
    draws = {"rule": RULES, "seed": (0, 1, 0xFFFFFFFF)} if result in BLOCK_FORMATS else {}
    each: list[dict[str, Any]] = []
    if mx:
        each += [{"M": 161, "N": 320, "K": 608, "lda": 640, "rule": "even"}]
    elif result in BLOCK_FORMATS:
        each += [{"rule": "rceil", "ldd": 272}]
    suppress = APART | ENDS if mx else APART
    mapping = {"alpha": 1.0, "beta": 1.0 if coded else 0.0, "K": 288 if mx else 256}
    fixed |= {"suppress": suppress}
    plain = {"needs": needs + strides, "draws": draws, **fixed}
    if coded:
        plain["mapping"] = {**mapping, "lda": 0, "ldd": 0, "followed": True}
    case(source, trace=coded, **plain)(arrays)
    if each:
        case(source, each=each, trace=False, **plain)(arrays)
    if not coded and result != "f16":  # which differs by the conversion alone
        matrices.__name__ = f"{kernel}_matrices"
        case(source, needs=f"{needs} and lda == 0 and ldd == 0", data=["normal"], mapping=mapping, **fixed)(matrices)


def _nearest(x: NDArray[Any], target: str, rule: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    return mx_reference.quantise(x, target, "row", rule)


declare("fp8_linear_bf16", "fp8_linear.hip", CDNA)
declare("fp8_linear_f16", "fp8_linear.hip", CDNA)
declare("fp8_linear_f32", "fp8_linear.hip", CDNA)
declare("fp8_linear_fp8", "fp8_scaled.hip", CDNA)
declare("fp8_gelu_fp8", "fp8_scaled.hip", CDNA)
declare("fp8_silu_fp8", "fp8_scaled.hip", CDNA)
declare("fp8_linear_mxfp8", "fp8_blocks.hip", "gfx950")
declare("fp8_linear_mxfp8_sr", "fp8_blocks.hip", "gfx950")
declare("fp8_silu_mxfp8", "fp8_blocks.hip", "gfx950")
declare("mxfp4_linear_bf16", "mxfp4.hip", "gfx950")
declare("mxfp4_linear_mxfp4", "mxfp4.hip", "gfx950")
declare("mxfp4_linear_mxfp4_sr", "mxfp4.hip", "gfx950")
declare("mxfp4_silu_mxfp4", "mxfp4.hip", "gfx950")
