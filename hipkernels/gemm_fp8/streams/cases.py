"""FP8 GEMM on CDNA whose tiles several workgroups share: split-K and stream-K, in a fixed order or by atomic additions.

Two cases a kernel: plain arrays with K in parts, bit for bit in the order of the parts (or, added atomically, within
the bound of any order), and matrices where no tile is cut, where every fragment is followed.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from hipkernels.gemm_blockscale.reference import finite
from hipkernels.gemm_fp8.streams.reference import SIDE, STEP, added, added_in_turn, slices, stream
from mfmasim.formats import format as find_format
from mfmasim.grids.streams import Segment
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, Out, case

CDNA = ("gfx942", "gfx950")
FLAVOUR = {"gfx942": "e4m3fnuz", "gfx950": "e4m3fn"}
MATRIX = "v_mfma_f32_16x16x(128_f8f6f4|32_fp8_fp8)"
MASKED = {"bounds-buffer-range": "what the matrices do not have is beyond their resources: fetched as 0, not stored"}
SHAPED = "M > 0 and N > 0 and K > 0 and K % 128 == 0"
NEEDS = {"split": f"{SHAPED} and parts > 0 and parts <= K // 128", "stream": f"{SHAPED} and parts > 0"}
EACH = {
    "split": [{"parts": 2}, {"parts": 3, "M": 77}, {"parts": 1, "N": 40, "K": 256}],
    "stream": [{"parts": 3}, {"parts": 7, "N": 200}, {"parts": 17}],
}
"""Parts that K does not divide into, one part, and more workgroups than there are steps."""
MANY = {"split": {"M": 400, "N": 500, "K": 256, "parts": 2}, "stream": {"parts": 19, "N": 200}}
"""Enough workgroups for chunks and shares of eight XCDs."""
FIRST = ("split_k", "split_k_in_turn", "split_k_atomic", "stream_k", "stream_k_atomic")
"""Kernels whose workgroups have the hardware's order."""


def tiles_of(M: int, N: int) -> int:
    return -(-M // SIDE) * -(-N // SIDE)


def bound(arch: str, a: NDArray[Any], b: NDArray[Any], alpha: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """The exact result, and how far f32 sums of it in any order of parts may be away.

    A product is truncated at most once per k, each of the additions of parts rounds once, alpha once more.
    """
    fmt, factor = find_format(FLAVOUR[arch]), float(np.float32(alpha))
    x, y = fmt.decode(a).astype(np.float64), fmt.decode(b).astype(np.float64)
    size = abs(factor) * (np.abs(x) @ np.abs(y).T)
    return factor * (x @ y.T), (2 * a.shape[1] + 2 * (a.shape[1] // STEP)) * 2.0**-24 * size + 2.0**-126


def declare(kernel: str, how: str) -> None:
    """The cases of one kernel.

    Args:
        kernel: its name; the first word says how K is cut.
        how: ``workspace``, ``turn`` or ``atomic``.
    """
    cut = kernel.partition("_")[0]
    fixed: dict[str, Any] = {"kernel": kernel, "arch": CDNA, "executes": MATRIX, "suppress": MASKED}
    target = "bf16" if cut == "split" and how == "workspace" else "f32"

    def grid(tiles: int, parts: int) -> int | tuple[int, int]:
        return (tiles, parts) if cut == "split" else parts

    def arrays(
        M: int = 130, N: int = 128, K: int = 640, parts: int = 2, alpha: float = 0.75, seed: int = 1, arch: str = ""
    ) -> LaunchDict:
        tiles, depth = tiles_of(M, N), K // STEP
        fmt = FLAVOUR.get(arch, "e4m3fn")

        def plan() -> list[Segment]:
            return (slices if cut == "split" else stream)(tiles, depth, parts)

        def side(n: int, rows: int) -> Any:
            return In(fmt, (rows, K), lambda: finite(fmt, (rows, K), seed + n))

        args: list[Any] = [side(0, M), side(1, N)]
        expect: Callable[..., Any]
        if how == "workspace":
            size, flags = (tiles * parts, tiles) if cut == "split" else (parts, parts)
            args += [Out(target, (M, N)), InOut("f32", (size, SIDE, SIDE), "zeros"), InOut("u32", flags, "zeros")]

            def expect(a: NDArray[Any], b: NDArray[Any], workspace: NDArray[Any], flags: NDArray[Any]) -> Any:
                c = added(arch, a, b, plan(), alpha, workspace, backwards=cut == "stream")
                codes = c.astype(ml_dtypes.bfloat16).view(np.uint16) if target == "bf16" else c
                return codes, workspace, flags
        elif how == "turn":
            args += [Out("f32", (M, N)), InOut("u32", tiles, "zeros")]

            def expect(a: NDArray[Any], b: NDArray[Any], turns: NDArray[Any]) -> Any:
                return added_in_turn(arch, a, b, plan(), alpha), turns
        else:
            args += [InOut("f32", (M, N), "zeros")]

            def expect(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> Any:
                return bound(arch, a, b, alpha)

        args += [M, N, K, K, K, N, alpha]
        return {"grid": grid(tiles, parts), "block": 512, "args": args, "expect": expect}

    def matrices(
        M: int = 130,
        N: int = 136,
        K: int = 256,
        parts: int = 1,
        lda: int = 0,
        ldb: int = 0,
        ldc: int = 0,
        alpha: float = 1.25,
    ) -> LaunchDict:
        a, b = A("fp8", (M, K), ld=lda, align=16), B("fp8", (K, N), order="column", ld=ldb, align=16)
        c = C(target, (M, N), ld=ldc, align=2 if target == "bf16" else 4)
        tiles = tiles_of(M, N)
        flags = [np.uint32(0)] * max(tiles, parts)
        shared: list[Any] = [None, flags] if how == "workspace" else [flags]
        args = [a, b, c, *shared, M, N, K, lda or K, ldb or K, ldc or N, alpha]
        return {"grid": grid(tiles, parts), "block": 512, "args": args, "expect": alpha * (a @ b)}

    arrays.__name__, matrices.__name__ = kernel, f"{kernel}_whole"
    each = EACH[cut] if kernel in FIRST else [EACH[cut][1], MANY[cut]]
    case("streams.hip", each=each, needs=NEEDS[cut], trace=False, **fixed)(arrays)
    if how != "atomic":  # it adds to what C holds
        whole = "parts == 1" if cut == "split" else "parts in (1, (M + 127) // 128 * ((N + 127) // 128))"
        more = [{}, {"M": 60, "lda": 272, "ldb": 288, "ldc": 141}]
        if cut == "stream":
            more[0] = {"parts": 4}
        case("streams.hip", each=more, needs=f"{NEEDS[cut]} and {whole}", **fixed)(matrices)


declare("split_k", "workspace")
declare("split_k_by_columns", "workspace")
declare("split_k_in_turn", "turn")
declare("split_k_atomic", "atomic")
declare("stream_k", "workspace")
declare("stream_k_atomic", "atomic")
declare("stream_k_atomic_shares", "atomic")
