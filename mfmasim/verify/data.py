"""Inputs by class: what a data class draws for each argument, reproducibly."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import unknown
from mfmasim.verify.roles import format_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.verify.roles import Tensor

__all__ = ["CLASSES", "draw"]

CLASSES = {
    "integers": "small integers, scales 1/4 to 4: every order of summation gives the same bits",
    "uniform": "small integers, every byte of every scale 1: hides a wrong scale, as many published tests do",
    "symmetric": "small integers, A equal to its transpose: hides a transposed A",
    "normal": "roughly normal values, scales 1/16 to 16: compared within the error bound",
}


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
        return rng.integers(fmt.bias - reach, fmt.bias + reach + 1, shape).astype(fmt.carrier)
    if data != "normal":
        values = rng.choice(np.array([-4.0, -3, -2, -1, 0, 1, 2, 3, 4]), shape)
        if data == "symmetric" and tensor.role == "A":
            values = np.tril(values) + np.tril(values, -1).T
        return fmt.encode(values)
    return fmt.encode(rng.normal(size=shape))
