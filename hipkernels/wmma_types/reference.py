"""What the kernels have to leave: integers by NumPy's, floats by the instruction's arithmetic, 16 of K after 16."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.formats import format as find_format
from mfmasim.verify import product_by

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}
"""Of C, by the name of the format in the instruction's; bf16 travels as codes."""
SATURATES = {"gfx1151": 16, "gfx1201": 8}
"""Products that an integer instruction with CLAMP sums before it saturates: all 16 on RDNA3, as its ISA manual reads;
an RX 9070 saturates after each half of K."""


def float_product(arch: str, instruction: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """A (M, K) times B (K, N), codes of the instruction's formats -> C in the dtype of a plain array."""
    codes = product_by(arch, instruction, *(x.view(f"u{x.dtype.itemsize}") for x in (a, b)))
    return codes.view(DTYPES[instruction.split("_")[2]])


def integer_product(
    a: NDArray[Any], b: NDArray[Any], c: NDArray[Any] | None = None, *, step: int = 16, clamp: bool = False
) -> NDArray[Any]:
    """A (M, K) times B (K, N) in int64, C added -> int32: after every `step` of K it wraps, or stops at the ends."""
    total = np.zeros((a.shape[0], b.shape[1]), np.int64) if c is None else c.astype(np.int64)
    for k in range(0, a.shape[1], step):
        total = total + a[:, k : k + step].astype(np.int64) @ b[k : k + step].astype(np.int64)
        total = np.clip(total, -(1 << 31), (1 << 31) - 1) if clamp else total.astype(np.int32).astype(np.int64)
    return total.astype(np.int32)


def values(name: str, codes: NDArray[Any]) -> NDArray[Any]:
    """Values of raw codes of an integer format, in int64."""
    bits = int(name[1:])
    codes = codes.astype(np.int64)
    return np.where(codes >> (bits - 1), codes - (1 << bits), codes) if name.startswith("i") else codes


def nibbles(packed: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """Codes of four bits from bytes that hold two each, the first one below -> (rows, columns)."""
    both = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)
    return both[: shape[0] * shape[1]].reshape(shape)


def in_bytes(codes: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `nibbles`; an odd last one has nothing above it."""
    flat = codes.reshape(-1)
    pairs = np.append(flat, np.zeros(-flat.size % 2, np.uint8)).reshape(-1, 2)
    return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8)


def drawn(name: str, shape: tuple[int, int], seed: int) -> NDArray[Any]:
    """Raw codes of a format: integers over their whole range; floats near 1, some lines with extremes."""
    rng, fmt = np.random.default_rng(seed), find_format(name)
    if fmt.integer:
        codes = rng.integers(0, 1 << fmt.bits, shape).astype(fmt.carrier)
        ends = [0, fmt.mask, fmt.mask >> 1, (fmt.mask >> 1) + 1]
        return np.where(rng.random(shape) < 0.2, rng.choice(np.array(ends, fmt.carrier), shape), codes)
    codes = fmt.encode(rng.normal(size=shape))
    one = 1 << fmt.mantissa_bits
    finite = np.array([0, 1, one - 1, one, fmt.bias << fmt.mantissa_bits, fmt.max_code])
    wild = np.array([code for code in (fmt.nan_code, fmt.inf_code) if code is not None])
    tame = rng.choice(np.concatenate([finite, finite | fmt.sign_bit]), shape)
    codes = np.where((rng.random(shape) < 0.1) & (np.arange(shape[0]) % 3 == 0)[:, None], tame, codes)
    wilder = rng.choice(np.concatenate([wild, wild | fmt.sign_bit]), shape)
    return np.where(rng.random(shape) < 0.3 / shape[1], wilder, codes).astype(fmt.carrier)
