"""The host functions of the published library (wmma_ops), over the kernels here: arrays in, an array out.

``from hipkernels.wmma import ops; ops.matmul(a, b)``. Arrays are f16 and row-major, of NumPy, PyTorch on the CPU and
others; results are in f32, tensors of PyTorch where A is one, else arrays of NumPy. Shapes that a kernel does not
support go to its variant for any shape. The functions have the text's names; `device` and `arch` choose where they
run.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.attention.plan import layout_of, plan_attention
from hipkernels.wmma.selection import WAYS, choose
from mfmasim.errors import MfmasimError, unknown
from mfmasim.verify.prebuilt import code_for

FOLDER = Path(__file__).parent
ARCH = "gfx1151"
Product = Callable[..., Any]


@dataclass(frozen=True)
class Variant:
    """A kernel and the one that takes its place for other shapes."""

    source: str
    kernel: str
    any_shape: tuple[str, str]
    """Source and kernel."""
    tile: tuple[int, int] = (128, 64)
    threads: int = 256
    k: int = 16
    """Divisor of K; that of N is `n`."""
    n: int = 8
    line: bool = False
    """Whether the grid has one dimension."""


def way_of(name: str) -> Variant:
    """A way of `selection` as a variant."""
    way = WAYS[name]
    return Variant(way.source, way.kernel, way.any_shape, way.tile, way.threads, way.k)


VARIANTS = {
    "matmul": way_of("128x64"),
    "matmul_kunroll": way_of("k_unrolled"),
    "matmul_noPrefetch": Variant("variants.hip", "no_prefetch", ("any_variants.hip", "any_no_prefetch")),
    "matmul_highOcc": Variant(
        "variants.hip", "high_occupancy", ("any_variants.hip", "any_high_occupancy"), (64, 32), 128
    ),
    "matmul_quad": Variant("variants.hip", "quad", ("any_variants.hip", "any_quad"), k=64),
    "matmul_native": Variant("variants.hip", "native_128x64", ("any_variants.hip", "any_native")),
    "matmul_zerocopy": Variant("epilogue.hip", "zero_copy", ("epilogue.hip", "any_zero_copy")),
    "matmul_asmOpt": Variant("roles.hip", "asm_optimised", ("roles.hip", "any_asm_optimised")),
    "matmul_hilbert": Variant("epilogue.hip", "hilbert_128x64", ("epilogue.hip", "any_hilbert"), line=True),
    "matmul_swizzled": Variant("swizzled.hip", "swizzled", ("swizzled.hip", "any_xor_gathered")),
    "matmul_xor_optimized": Variant("swizzled.hip", "xor_optimised", ("swizzled.hip", "any_xor_optimised")),
    "matmul_coop": Variant("roles.hip", "cooperative", ("roles.hip", "any_cooperative")),
}
"""The text's functions for C = A B."""
TILED = ("64x64", "128x64", "256x64", "128x128")
"""Tiles of `matmul_tiled` by its number; the text names 1, 128x64, and no other."""


def _operands(a: Any, b: Any) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    a, b = np.asarray(a), np.asarray(b)
    for name, array in (("A", a), ("B", b)):
        if array.dtype != np.float16 or array.ndim != 2:
            raise MfmasimError(f"{name} is {array.dtype} of shape {array.shape}; a matrix of float16 is expected")
    if a.shape[1] != b.shape[0]:
        raise MfmasimError(f"A of shape {a.shape} and B of shape {b.shape}: the columns of A are not the rows of B")
    if 0 in (*a.shape, *b.shape):
        raise MfmasimError(f"A of shape {a.shape} and B of shape {b.shape} have no elements")
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


def _as(found: NDArray[Any], given: Any) -> Any:
    """A result as a tensor of PyTorch where the operand is one; they share memory."""
    return sys.modules["torch"].from_numpy(found) if type(given).__module__ == "torch" else found


def _launch(path: Path, kernel: str, grid: Any, threads: int, args: list[Any], device: Any, arch: str) -> None:
    found = mfmasim.device("sim") if device is None else device
    found.launch(code_for(path, arch)[kernel], grid, threads, args, checks="none")


def run(variant: Variant, a: Any, b: Any, *, device: Any = None, arch: str = ARCH) -> Any:
    """C = A B by one kernel.

    Args:
        variant: which.
        a: f16 (M, K).
        b: f16 (K, N).
        device: from `mfmasim.device`; the simulator by default.
        arch: architecture of the code, of RDNA.

    Returns:
        C, f32 (M, N).

    Raises:
        MfmasimError: the operands are not matrices of f16 that fit together.
    """
    given, (a, b) = a, _operands(a, b)
    c = np.full((a.shape[0], b.shape[1]), np.nan, np.float32)
    path, kernel, grid, args = prepared(variant, a, b, c)
    _launch(path, kernel, grid, variant.threads, args, device, arch)
    return _as(c, given)


def prepared(
    variant: Variant, a: NDArray[np.float16], b: NDArray[np.float16], c: NDArray[np.float32]
) -> tuple[Path, str, Any, list[Any]]:
    """Source, kernel, grid and arguments of C = A B: of the variant, or of its kernel for any shape."""
    (m, k), n = a.shape, b.shape[1]
    fits = n % variant.n == 0 and k % variant.k == 0
    source, kernel = (variant.source, variant.kernel) if fits else variant.any_shape
    rows, columns = -(-m // variant.tile[0]), -(-n // variant.tile[1])
    args = [a, b, c, *map(np.int32, (m, n, k, k, n, n))]
    return FOLDER / source, kernel, rows * columns if variant.line else (columns, rows), args


def _named(name: str) -> Product:
    def product(a: Any, b: Any, *, device: Any = None, arch: str = ARCH) -> Any:
        return run(VARIANTS[name], a, b, device=device, arch=arch)

    product.__name__ = name
    product.__doc__ = f"C = A B by `{VARIANTS[name].kernel}`; arguments of `run`."
    return product


matmul = _named("matmul")
matmul_kunroll = _named("matmul_kunroll")
matmul_noPrefetch = _named("matmul_noPrefetch")  # noqa: N816  (the text's name)
matmul_highOcc = _named("matmul_highOcc")  # noqa: N816
matmul_quad = _named("matmul_quad")
matmul_native = _named("matmul_native")
matmul_zerocopy = _named("matmul_zerocopy")
matmul_asmOpt = _named("matmul_asmOpt")  # noqa: N816
matmul_hilbert = _named("matmul_hilbert")
matmul_swizzled = _named("matmul_swizzled")
matmul_xor_optimized = _named("matmul_xor_optimized")
matmul_coop = _named("matmul_coop")


def matmul_tiled(a: Any, b: Any, config: int, *, device: Any = None, arch: str = ARCH) -> Any:
    """C = A B by the tile of a number, an index of `TILED`; other arguments of `run`.

    Raises:
        MfmasimError: no such number.
    """
    if config not in range(len(TILED)):
        raise unknown("configuration", str(config), [f"{i} ({name})" for i, name in enumerate(TILED)])
    return run(way_of(TILED[config]), a, b, device=device, arch=arch)


def matmul_adaptive(a: Any, b: Any, *, device: Any = None, arch: str = ARCH) -> Any:
    """C = A B by the tile that `selection.choose` takes; arguments of `run`."""
    x, y = _operands(a, b)
    name, *_ = choose(x.shape[0], y.shape[1], x.shape[1])
    return run(way_of(name), a, b, device=device, arch=arch)


GEMMS = {"64x64": "gemm_64x64", "128x64": "gemm_128x64", "k_unrolled": "gemm_k_unrolled", "256x64": "gemm_256x64"}


def _gemm(
    name: str, a: Any, b: Any, alpha: float, beta: float, c: Any, out: NDArray[np.float32], device: Any, arch: str
) -> NDArray[np.float32]:
    (m, k), n = a.shape, b.shape[1]
    way = WAYS[name]
    if n % 8 or k % way.k:
        name = "k_unrolled" if name == "k_unrolled" else "64x64"
        way, kernel = WAYS[name], f"any_{GEMMS[name]}"
    else:
        kernel = GEMMS[name]
    if c is None and beta:
        raise MfmasimError(f"beta is {beta:g} without a C to be multiplied by it")
    args = [a, b, c, out, *map(np.int32, (m, n, k, k, n, n, n)), np.float32(alpha), np.float32(beta)]
    grid = (-(-n // way.tile[1]), -(-m // way.tile[0]))
    _launch(FOLDER / "scaled" / "scaled.hip", kernel, grid, way.threads, args, device, arch)
    return out


def gemm(
    a: Any, b: Any, alpha: float = 1.0, beta: float = 0.0, C: Any = None, *, device: Any = None, arch: str = ARCH
) -> Any:
    """Alpha A B + beta C in a new array, by the standard tile.

    Args:
        a: f16 (M, K).
        b: f16 (K, N).
        alpha: factor of the product.
        beta: factor of C.
        C: f32 (M, N), needed if beta is not 0; it stays as it is.
        device: as for `run`.
        arch: as for `run`.

    Raises:
        MfmasimError: operands that do not fit, or beta without a C.
    """
    x, y = _operands(a, b)
    out = np.full((x.shape[0], y.shape[1]), np.nan, np.float32)
    return _as(_gemm("128x64", x, y, alpha, beta, _addend(C, out.shape), out, device, arch), a)


def gemm_adaptive(
    a: Any, b: Any, alpha: float = 1.0, beta: float = 0.0, C: Any = None, *, device: Any = None, arch: str = ARCH
) -> Any:
    """As `gemm`, by the tile that `selection.choose` takes."""
    x, y = _operands(a, b)
    out = np.full((x.shape[0], y.shape[1]), np.nan, np.float32)
    name, *_ = choose(x.shape[0], y.shape[1], x.shape[1])
    return _as(_gemm(name, x, y, alpha, beta, _addend(C, out.shape), out, device, arch), a)


def gemm_inplace(
    a: Any, b: Any, C: Any, alpha: float = 1.0, beta: float = 0.0, *, device: Any = None, arch: str = ARCH
) -> Any:
    """Alpha A B + beta C, written to C, which is returned; C is contiguous.

    Raises:
        MfmasimError: operands that do not fit, or a C that cannot be written in place.
    """
    a, b = _operands(a, b)
    c = _addend(C, (a.shape[0], b.shape[1]))
    own = c is C or type(C).__module__ == "torch"  # memory that the caller sees
    if not (own and c.flags.c_contiguous and c.flags.writeable):
        raise MfmasimError("C is not a writable contiguous array of NumPy, so that it cannot be written in place")
    _gemm("128x64", a, b, alpha, beta, c, c, device, arch)
    return C


def _addend(c: Any, shape: tuple[int, int]) -> Any:
    if c is None:
        return None
    found = np.asarray(c)
    if found.dtype != np.float32 or found.shape != shape:
        raise MfmasimError(f"C is {found.dtype} of shape {found.shape}; float32 of shape {shape} is expected")
    return c if isinstance(c, np.ndarray) else found


def flash_attention(
    Q: Any, K: Any, V: Any, causal: bool = False, scale: float = -1.0, *, device: Any = None, arch: str = ARCH
) -> Any:
    """Attention forward by the tiled kernel of `hipkernels/attention`.

    Args:
        Q: f16 (B, H, N, D), D of 32, 64 or 128.
        K: likewise, with its own N.
        V: as K.
        causal: query i sees keys 0 to i.
        scale: factor of the scores; -1 stands for 1 / sqrt(D), as in the text.
        device: as for `run`.
        arch: as for `run`.

    Returns:
        f16 (B, H, N, D).

    Raises:
        MfmasimError: shapes or types that do not fit.
    """
    q, k, v = (np.ascontiguousarray(np.asarray(x)) for x in (Q, K, V))
    for name, array in (("Q", q), ("K", k), ("V", v)):
        if array.dtype != np.float16 or array.ndim != 4:
            raise MfmasimError(f"{name} is {array.dtype} of shape {array.shape}; float16 (B, H, N, D) is expected")
    if k.shape != v.shape or (*q.shape[:2], q.shape[3]) != (*k.shape[:2], k.shape[3]):
        raise MfmasimError(f"Q {q.shape}, K {k.shape} and V {v.shape} do not fit together")
    b, h, n, d = q.shape
    given = None if scale == -1.0 else float(scale)
    grid = plan_attention("tiled", b, h, n, k.shape[2], d, int(causal), given)
    out = np.full(q.shape, np.nan, np.float16)
    strides = [np.array(layout_of("bhnd", x.shape).strides).tobytes() for x in (q, k, v, out)]
    factor = None if given is None else np.array([given], np.float32)
    args = [q, k, v, out, np.int32(n), np.int32(k.shape[2]), *strides, np.int32(causal), factor]
    source = FOLDER.parent / "attention" / ("tiled.hip" if d == 64 else "tiled_more.hip")
    _launch(source, f"tiled_f16_{d}", grid, 128, args, device, arch)
    return _as(out, Q)
