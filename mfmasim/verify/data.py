"""Inputs by data class, drawn reproducibly for each argument."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch
from mfmasim.errors import unknown
from mfmasim.formats import Format
from mfmasim.verify.roles import Tensor, format_of

CLASSES = {
    "integers": "small integers, scales 1/4 to 4: every order of summation gives the same bits",
    "uniform": "small integers, every byte of every scale 1: hides a wrong scale, as many published tests do",
    "symmetric": "small integers, A equal to its transpose: hides a transposed A",
    "one_hot": "a single 1 in each row of A, B numbered: every element of C shows which element of B was used",
    "special": "zeros of both signs, the smallest and the largest numbers, now and then an infinity or a NaN",
    "normal": "roughly normal values, scales 1/16 to 16: compared within the error bound",
}


LARGEST = 2.0**50


def draw(tensor: Tensor, data: str, case: str, arch: Arch) -> NDArray[Any]:
    """Draw codes for an argument.

    Args:
        tensor: the argument.
        data: one of `CLASSES`.
        case: name of the case, from which the seed is made together with role and class.
        arch: decides the format.

    Returns:
        Raw codes in the tensor's stored shape.
    """
    if data not in CLASSES:
        raise unknown("data class", data, CLASSES)
    fmt = format_of(tensor, arch)
    rng = np.random.default_rng(zlib.crc32(f"{case}/{tensor.role}/{data}/{arch.name}".encode()))
    shape = tensor.stored_shape
    if tensor.role.startswith("scale"):
        reach = {"uniform": 0, "normal": 4}.get(data, 2)
        powers = rng.integers(fmt.bias - reach, fmt.bias + reach + 1, shape) << fmt.mantissa_bits
        if fmt.mantissa_bits and reach:  # small numbers keep exact sums
            powers += rng.integers(0, 1 << fmt.mantissa_bits, shape) & (
                -1 if data == "normal" else 1 << (fmt.mantissa_bits - 1)
            )
        return powers.astype(fmt.carrier)
    if tensor.role == "index":
        return _positions(tensor, rng)
    if data == "one_hot":
        return _one_hot(tensor, fmt, rng)
    if data == "special" and not fmt.integer:
        return _special(fmt, rng, shape)
    if data != "normal":
        values = rng.choice(np.array([-4.0, -3, -2, -1, 0, 1, 2, 3, 4]), shape)
        if data == "symmetric" and tensor.role == "A":
            values = np.tril(values) + np.tril(values, -1).T
        return fmt.encode(values)
    return fmt.encode(rng.normal(size=shape))


def _positions(tensor: Tensor, rng: np.random.Generator) -> NDArray[Any]:
    """Positions of two kept elements in each group of four along K, the lower one first."""
    pairs = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)], np.uint8)
    lines, kept = tensor.shape
    return pairs[rng.integers(0, len(pairs), (lines, kept // 2))].reshape(tensor.shape)


def _one_hot(tensor: Tensor, fmt: Format, rng: np.random.Generator) -> NDArray[Any]:
    """A one in each row of A; in B numbers that differ between neighbours; zeros in C."""
    rows, columns = tensor.shape
    values: NDArray[np.float64] = np.zeros(tensor.shape)
    if tensor.role == "A":
        values[np.arange(rows), rng.permutation(np.arange(rows) % columns)] = 1
    elif tensor.role == "B":
        # Integers up to 2^(fraction bits + 1) are exact; the stride runs through all of them.
        span = 2 << fmt.mantissa_bits
        values += (np.arange(rows)[:, None] * 5 + np.arange(columns) * 3) % span + 1
    return fmt.encode(values)


def _special(fmt: Format, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[Any]:
    """Half extremes, half small integers; one element in 64 is an infinity or a NaN, where the format has them."""
    one = fmt.bias << fmt.mantissa_bits
    # Products of two of the largest stay finite in f32: the place of an overflow would depend on the order of sums.
    largest = min(fmt.max_code, int(fmt.encode(np.array([LARGEST]), overflow="saturate")[0]))
    positive = np.array([0, 1, 1 << fmt.mantissa_bits, one, one + 1, largest])
    codes = rng.choice(np.concatenate([positive, positive | fmt.sign_bit]), shape)
    if fmt.nan_code is not None and fmt.nan_code == fmt.sign_bit:
        codes[codes == fmt.sign_bit] = 0  # FNUZ: minus zero is the NaN
    small = fmt.encode(rng.integers(-3, 4, shape).astype(np.float64))
    codes = np.where(rng.random(shape) < 0.5, codes, small)
    wild = [code for code in (fmt.nan_code, fmt.inf_code) if code is not None]
    if wild:
        codes = np.where(rng.random(shape) < 1 / 64 / shape[-1], rng.choice(wild, shape), codes)
    return codes.astype(fmt.carrier)
