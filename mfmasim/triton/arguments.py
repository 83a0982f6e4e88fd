"""The arguments of a launch: Triton's Python values become the values of the kernel's argument segment.

The order is that of Triton's own launcher: tuples are flattened, constants left out, a tensor descriptor becomes its
base, shape and strides, or one for the tensor data mover; two pointers to scratch memory follow.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.triton.tiles import KIND

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.kernels import Kernel

FLOATS = {"fp16": np.float16, "fp32": np.float32, "f32": np.float32, "fp64": np.float64}


@dataclass(frozen=True)
class Passed:
    """One argument of a launch."""

    name: str
    kind: str
    """Triton's type."""
    value: Any


def flattened(names: Sequence[str], kinds: Sequence[Any], values: Sequence[Any]) -> Iterator[Passed]:
    """Each argument that the kernel takes.

    Args:
        names: of the arguments.
        kinds: Triton's types; a tuple has a tuple of types.
        values: the arguments, constants included.
    """
    for name, kind, value in zip(names, kinds, values, strict=True):
        if isinstance(kind, tuple):
            yield from flattened([f"{name}[{number}]" for number in range(len(kind))], kind, value)
        elif kind != "constexpr":
            yield Passed(name, kind, value)


def pointer(value: object) -> int:
    """The address that an argument stands for: a tensor, an address, or None.

    Raises:
        MfmasimError: the value is none of these.
    """
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if not hasattr(value, "data_ptr"):
        raise MfmasimError(f"a tensor or an address is expected for a pointer, not {type(value).__name__}")
    return int(value.data_ptr())


def words(kernel: Kernel, flat: Sequence[tuple[str, Any]]) -> list[bytes]:
    """Bytes of each argument as the kernel's metadata sizes them; pointers as 64-bit addresses.

    Args:
        kernel: whose arguments.
        flat: type and value of each, pointers as addresses.

    Raises:
        MfmasimError: another number of arguments than the kernel takes.
    """
    if len(flat) != len(kernel.args):
        raise MfmasimError(f"{kernel.name} takes {len(kernel.args)} arguments, Triton passes {len(flat)}")
    return [_word(kind, value, arg.size) for (kind, value), arg in zip(flat, kernel.args, strict=True)]


def _word(kind: str, value: Any, size: int) -> bytes:
    """Bytes of one value, as Triton's launcher makes them: bf16 is the upper half of the float, integers wrap."""
    if kind.startswith("*"):
        return struct.pack("<Q", value)
    if kind == KIND:
        return bytes(value.packed()[:size])  # two groups where two dimensions need no more
    if kind == "bf16":
        return np.float32(value).tobytes()[2:]
    if kind in FLOATS:
        return np.asarray(value, FLOATS[kind]).tobytes()
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
