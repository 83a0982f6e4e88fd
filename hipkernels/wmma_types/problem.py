"""The problem that every kernel here solves, C = A B, and the two ways in which each one is judged.

A case of matrices proves which elements meet; one of plain arrays, whose name ends in ``_bits``, compares every bit
with the arithmetic of the instruction, over data of the whole range.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray

from hipkernels.wmma_types.reference import SATURATES, drawn, float_product, in_bytes, integer_product, nibbles, values
from mfmasim.formats import format as find_format
from mfmasim.verify import A, B, C, In, InOut, LaunchDict, Out, case
from mfmasim.verify.arrays import Array

RDNA = ("gfx1151", "gfx1201")
BLOCK = 64


def _grid(M: int, N: int) -> tuple[int, int]:
    return (-(-N // BLOCK), -(-M // BLOCK))


def _contract(bits: int, *, whole: bool) -> str:
    if whole:
        return "M > 0 and N % 8 == 0 and K % 16 == 0"
    return "M > 0 and N > 0 and K > 0"


def declare(
    source: str,
    kernel: str,
    a: str,
    b: str,
    c: str,
    instruction: str,
    *,
    arch: str | tuple[str, str] = RDNA,
    data: tuple[str, ...] = ("integers", "normal", "special"),
) -> None:
    """Cases for a kernel and for the one with ``any_`` before its name, which takes every shape.

    Args:
        source: HIP source.
        kernel: kernel name.
        a: number format of A's elements.
        b: number format of B's elements.
        c: number format of C's.
        instruction: the matrix instruction that has to be executed.
        arch: architectures.
        data: data classes of the case of matrices.
    """
    bits = find_format(a).bits
    for name, whole, size in ((kernel, True, (56, 72, 48)), (f"any_{kernel}", False, (35, 67, 21))):
        fixed: dict[str, Any] = {"arch": arch, "executes": instruction, "needs": _contract(bits, whole=whole)}
        align = bits if whole else max(1, bits // 8)
        case(source, kernel=name, data=data, **fixed)(_matrices(name, (a, b, c), size, align))
        case(source, kernel=name, **fixed)(_arrays(name, (a, b, c), size, instruction))


def _matrices(name: str, formats: tuple[str, str, str], size: tuple[int, int, int], align: int) -> Callable[..., Any]:
    step = 2 if formats[0].endswith("4") else 1  # elements of a byte

    def gemm(
        M: int = size[0], N: int = size[1], K: int = size[2], lda: int = 0, ldb: int = 0, ldc: int = 0
    ) -> LaunchDict:
        lda, ldb = lda or -(-K // step) * step, ldb or -(-N // step) * step
        a = A(formats[0], (M, K), ld=lda, align=align)
        b = B(formats[1], (K, N), ld=ldb, align=align)
        c = C(formats[2], (M, N), ld=ldc, align=2)
        return {"grid": _grid(M, N), "block": 128, "args": [a, b, c, M, N, K, lda, ldb, ldc or N], "expect": a @ b}

    gemm.__name__ = name
    return gemm


def _arrays(
    name: str, formats: tuple[str, str, str], size: tuple[int, int, int], instruction: str
) -> Callable[..., Any]:
    def gemm(M: int = size[0], N: int = size[1], K: int = size[2], seed: int = 1, arch: str = "") -> LaunchDict:
        a, b, decode = _inputs(formats, M, N, K, seed)
        if formats[2] == "i32":
            out, expect = Out("i32", (M, N)), lambda x, y: integer_product(*decode(x, y))
        else:
            out, expect = Out(formats[2], (M, N), nan="bits"), lambda x, y: float_product(arch, instruction, x, y)
        return {"grid": _grid(M, N), "block": 128, "args": [a, b, out, M, N, K, K, N, N], "expect": expect}

    gemm.__name__ = f"{name}_bits"
    return gemm


def _inputs(formats: tuple[str, ...], M: int, N: int, K: int, seed: int) -> tuple[Array, Array, Callable[..., Any]]:
    """A and B as plain arrays, and the function that makes values of integers again."""
    shapes = (M, K), (K, N)
    if formats[0].endswith("4"):
        x, y = (
            In("u8", -(-rows * columns // 2), partial(_packed, name, (rows, columns), 2 * seed + number))
            for number, (name, (rows, columns)) in enumerate(zip(formats, shapes, strict=False))
        )
        return x, y, lambda x, y: (values(formats[0], nibbles(x, (M, K))), values(formats[1], nibbles(y, (K, N))))
    x, y = (
        In(name, shape, partial(_codes, name, shape, 2 * seed + number))
        for number, (name, shape) in enumerate(zip(formats, shapes, strict=False))
    )
    return x, y, lambda x, y: (x, y)


def _packed(name: str, shape: tuple[int, int], seed: int) -> NDArray[Any]:
    return in_bytes(drawn(name, shape, seed))


def _codes(name: str, shape: tuple[int, int], seed: int) -> NDArray[Any]:
    codes = drawn(name, shape, seed)
    return codes.view("f2" if name == "f16" else f"{name[0]}1" if name in ("i8", "u8") else codes.dtype)


def _near_the_ends(shape: tuple[int, int], seed: int) -> NDArray[Any]:
    near = drawn("i32", shape, seed).view("i4")
    return near >> 31 ^ 0x7FFFFFFF - (near & 0x3FFF)


def _added(factors: tuple[NDArray[Any], NDArray[Any]], c: NDArray[Any], *, step: int, clamp: bool) -> NDArray[Any]:
    return integer_product(*factors, c, step=step, clamp=clamp)


def declare_sum(source: str, kernel: str, a: str, b: str, instruction: str, *, clamp: bool) -> None:
    """A case for a kernel that adds A B to a C near the ends of i32, where the sums of many an element pass them."""

    def gemm(M: int = 19, N: int = 33, K: int = 53, seed: int = 3, arch: str = "") -> LaunchDict:
        x, y, decode = _inputs((a, b), M, N, K, seed)
        total = InOut("i32", (M, N), partial(_near_the_ends, (M, N), seed))
        return {
            "grid": _grid(M, N),
            "block": 128,
            "args": [x, y, total, M, N, K, K, N, N],
            "expect": lambda p, q, c: _added(decode(p, q), c, step=SATURATES[arch], clamp=clamp),
        }

    gemm.__name__ = kernel
    case(source, kernel=kernel, arch=RDNA, executes=instruction, needs="M > 0 and N > 0 and K > 0")(gemm)
