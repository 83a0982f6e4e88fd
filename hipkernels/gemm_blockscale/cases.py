"""FP8 GEMM with f32 scales for 1x128 of A and 128x128 of B, as DeepSeek-V3 quantises.

Two cases a kernel: as matrices with one scale for all, where every fragment is followed; as plain arrays with a scale
for each block, compared bit for bit with a replay of the kernel's order (`reference.product`).
"""

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from hipkernels.gemm_blockscale.reference import FP8, SIDE, by_rows, experts_of, gated, grouped, product
from mfmasim.verify import A, B, C, In, LaunchDict, Out, case

CDNA = ("gfx942", "gfx950")
MATRIX = "v_mfma_f32_16x16x(128_f8f6f4|32_fp8_fp8)"
WMMA = "v_wmma_f32_16x16x16_fp8_fp8"
MASKED = {"bounds-buffer-range": "rows of the last tile that do not exist are fetched from beyond the resource, as 0"}
NEEDS = "M > 0 and N % 128 == 0 and K % 128 == 0 and N > 0 and K > 0"


def rounded(sums: NDArray[Any]) -> NDArray[Any]:
    """BF16 codes of f32."""
    with np.errstate(all="ignore"):
        return sums.astype(ml_dtypes.bfloat16).view(np.uint16)


def scales(shape: tuple[int, ...], seed: int) -> NDArray[Any]:
    """Scales as quantisation leaves them: positive f32 of full length around 2^-6."""
    return np.exp2(np.random.default_rng(seed).uniform(-9, -3, shape)).astype(np.float32)


def scaled(shape: tuple[int, ...], seed: int) -> Any:
    """An array of scales, drawn when a launch needs them."""
    return In("f32", shape, partial(scales, shape, seed))


def declare(kernel: str, in_order: bool, source: str = "blockscale.hip", rdna: bool = False) -> None:
    """The cases of one kernel; `in_order`: B by rows; `rdna`: on RDNA4 instead of CDNA."""
    threads = 256 if rdna else 512

    def matrices(
        M: int = 128, N: int = 128, K: int = 384, lda: int = 0, ldc: int = 0, sa: float = 1.25, sb: float = 0.5
    ) -> LaunchDict:
        a = A("fp8", (M, K), ld=lda, align=16)
        b = B("fp8", (K, N), order="column", align=16, shuffle="" if in_order else "aiter_16x16")
        c = C("bf16", (M, N), ld=ldc, align=2)
        of_a, of_b = [np.float32(sa)] * (M * K // SIDE), [np.float32(sb)] * (N // SIDE * (K // SIDE))
        return {
            "grid": (N // SIDE, -(-M // SIDE)),
            "block": threads,
            "args": [a, b, of_a, of_b, c, M, N, K, lda or K, ldc or N],
            "expect": (sa * sb) * (a @ b),
        }

    def arrays(M: int = 128, N: int = 256, K: int = 384, data: str = "normal", arch: str = "gfx950") -> LaunchDict:
        fmt = FP8[arch]
        args: list[Any] = [In(fmt, (M, K), data), In(fmt, (N, K), data)]
        args += [scaled((K // SIDE, M), 1), scaled((N // SIDE, K // SIDE), 2), Out("bf16", (M, N))]

        def expect(a: NDArray[Any], b: NDArray[Any], sa: NDArray[Any], sb: NDArray[Any]) -> NDArray[Any]:
            return rounded(product(arch, a, b if in_order else by_rows(b), sa, sb))

        return {"grid": (N // SIDE, -(-M // SIDE)), "block": threads, "args": [*args, M, N, K, K, N], "expect": expect}

    fixed: dict[str, Any] = {"kernel": kernel, "needs": NEEDS}
    fixed |= {"arch": "gfx1201", "executes": WMMA} if rdna else {"arch": CDNA, "executes": MATRIX, "suppress": MASKED}
    arrays.__name__ = kernel
    each: list[dict[str, Any]] = [{}, {"M": 77, "N": 128, "K": 128}, {"M": 201, "K": 256, "data": "special"}]
    case(source, each=each, trace=False, **fixed)(arrays)
    matrices.__name__ = f"{kernel}_matrices"
    mapping = {"sa": 1.0, "sb": 1.0, "K": 128}
    case(source, each=[{}, {"M": 150, "lda": 400, "ldc": 131}], mapping=mapping, **fixed)(matrices)


declare("blockscale_rows", in_order=True)
declare("blockscale_shuffled", in_order=False)
declare("blockscale_wave32", in_order=True, source="wave32.hip", rdna=True)


def declare_grouped(name: str, source: str = "grouped.hip", rdna: bool = False) -> None:
    """The cases of a kernel for a mixture of experts; ``_gate`` leaves FP8, ``_xcd`` has an order of workgroups.

    On RDNA4 (`rdna`) B lies by rows, on CDNA in AITER's order.
    """
    gate, ordered = name.endswith("gate"), name.endswith("xcd")
    threads, shuffle = (256, "") if rdna else (512, "aiter_16x16")

    def experts(
        counts: tuple[int, ...] = (130, 0, 60),
        fold: int = 2,
        N: int = 256,
        K: int = 256,
        empty: int = 1,
        chunk: int = 1,
        data: str = "normal",
        followed: bool = False,
        arch: str = "gfx950",
    ) -> LaunchDict:
        fmt, rows, depth = FP8[arch], sum(counts), K // SIDE
        M = -(-rows // fold)
        columns = N // 2 if gate else N
        entries, owners = experts_of(counts, rows, 3, empty)
        outputs: list[Any] = [Out("bf16", (rows, N))]
        if gate:
            outputs = [Out(fmt, (rows, columns)), Out("f32", (columns // SIDE, rows))]
        last: list[Any] = [In("i32", entries.shape, entries), In("i32", owners.shape, owners)]
        if ordered:
            first = np.cumsum([0, *(-(-count // SIDE) for count in counts)]).astype(np.int32)
            last.append(In("i32", first.shape, first))
        last += [M, N, K, rows, fold, *([chunk] if ordered else [])]
        launch: LaunchDict = {"grid": (columns // SIDE, len(owners)), "block": threads, "args": []}
        if followed:  # one expert, and a row of A for each of the result
            a, b = A("fp8", (M, K), align=16), B("fp8", (K, N), order="column", align=16, shuffle=shuffle)
            ones = [np.float32(1)] * (M * depth), [np.float32(1)] * (N // SIDE * depth)
            if gate:
                return launch | {"args": [a, b, *ones, *outputs, *last]}
            c = C("bf16", (rows, N), align=2)
            return launch | {"args": [a, b, *ones, c, *last], "expect": a @ b}
        args: list[Any] = [In(fmt, (M, K), data), In(fmt, (len(counts), N, K), data)]
        args += [scaled((depth, M), 1), scaled((len(counts), N // SIDE, depth), 2), *outputs, *last]

        def expect(
            a: NDArray[Any],
            b: NDArray[Any],
            sa: NDArray[Any],
            sb: NDArray[Any],
            entries: NDArray[Any],
            owners: NDArray[Any],
            *_: NDArray[Any],
        ) -> Any:
            sums = grouped(arch, a, b if rdna else by_rows(b), sa, sb, entries, owners, fold, rows)
            return gated(arch, sums) if gate else rounded(sums)

        return launch | {"args": args, "expect": expect}

    experts.__name__ = name
    fixed: dict[str, Any] = {
        "kernel": name,
        "needs": f"N % {256 if gate else 128} == 0 and K % 128 == 0 and fold > 0 and chunk > 0",
    }
    fixed |= {"arch": "gfx1201", "executes": WMMA} if rdna else {"arch": CDNA, "executes": MATRIX, "suppress": MASKED}
    case(source, mapping={"counts": (200,), "fold": 1, "K": 128, "followed": True}, **fixed)(experts)
    more = {"counts": (8, 120, 1, 0, 7), "fold": 8, "K": 128, "empty": 0}
    case(source, each=[more | ({"chunk": 2} if ordered else {})], trace=False, **fixed)(experts)


declare_grouped("grouped")
declare_grouped("grouped_gate")
declare_grouped("grouped_xcd")
declare_grouped("grouped_wave32", "wave32.hip", rdna=True)
