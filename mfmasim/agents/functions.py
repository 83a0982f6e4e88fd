"""What a reference may call: functions and methods of arrays, under the names of NumPy and of PyTorch.

Every function is one of ours or a function of NumPy without side effects. PyTorch's names compute what NumPy's do in
float64 unless the reference chooses a dtype: a reference is to be more exact than a kernel.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from mfmasim.errors import MfmasimError

Array = Any

MODULES = ("np", "numpy", "math", "torch", "F", "torch.nn.functional", "torch.special")
"""Modules whose names are known."""

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(kind)
    for names, kind in (
        (("float64", "double"), np.float64),
        (("float32", "single"), np.float32),
        (("float16", "half"), np.float16),
        (("bfloat16",), ml_dtypes.bfloat16),
        (("int64", "long"), np.int64),
        (("int32",), np.int32),
        (("int16",), np.int16),
        (("int8",), np.int8),
        (("uint32",), np.uint32),
        (("uint16",), np.uint16),
        (("uint8",), np.uint8),
        (("bool_",), np.bool_),
    )
    for name in names
}

CONSTANTS: dict[str, Any] = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None}

MOST = 1 << 20
"""Values of a range."""


def _wide(x: Array) -> Array:
    """Numbers in a dtype of NumPy's own."""
    found = np.asarray(x)
    return found.astype(np.float32) if found.dtype.kind == "V" or found.dtype == ml_dtypes.bfloat16 else found


def _renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction with PyTorch's names of its arguments as well."""

    def reduced(x: Array, axis: Any = None, keepdims: bool = False, dim: Any = None, keepdim: bool = False) -> Any:
        return function(_wide(x), axis=axis if dim is None else dim, keepdims=keepdims or keepdim)

    return reduced


def _mean(x: Array, axis: Any = None, keepdims: bool = False) -> Any:
    return np.mean(x, axis=axis, keepdims=keepdims)


def _variance(x: Array, axis: Any = None, keepdims: bool = False, dim: Any = None, unbiased: bool = False) -> Any:
    return np.var(_wide(x), axis=axis if dim is None else dim, keepdims=keepdims, ddof=int(unbiased))


def _softmax(x: Array, axis: int = -1, dim: int | None = None) -> Array:
    at = axis if dim is None else dim
    powers = np.exp(x - np.max(x, axis=at, keepdims=True))
    return powers / powers.sum(axis=at, keepdims=True)


def _erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def _gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _range(*values: int) -> range:
    found = range(*values)
    if len(found) > MOST:
        raise MfmasimError(f"reference: a range of {len(found):,} values, at most {MOST:,}")
    return found


def _sized(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an array of a shape, within a limit."""

    def made(shape: Any, *values: Any, dtype: Any = np.float64) -> Array:
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        if math.prod(sizes) > MOST * 64:
            raise MfmasimError(f"reference: an array of shape {tuple(sizes)} is too large")
        return function(tuple(sizes), *values, dtype=dtype)

    return made


def _arange(*values: Any, dtype: Any = None) -> Array:
    return np.arange(*values, dtype=dtype) if len(_range(*(int(v) for v in values))) else np.arange(0)


def _clip(x: Array, low: Any = None, high: Any = None, min: Any = None, max: Any = None) -> Array:  # noqa: A002
    return np.clip(x, low if min is None else min, high if max is None else max)


def _astype(x: Array, dtype: Any) -> Array:
    if dtype in (float, "float"):
        dtype = np.float64
    if not isinstance(dtype, np.dtype | type):
        raise MfmasimError(f"reference: {dtype!r} is no dtype; known are {', '.join(DTYPES)}")
    return np.asarray(x).astype(dtype)


def _transpose(x: Array, *axes: Any) -> Array:
    """NumPy's axes in their new order, or PyTorch's two dimensions that are exchanged, where both cannot be meant."""
    found = np.asarray(x)
    if len(axes) == 2:
        if found.ndim == 2 and axes[0] % 2 < axes[1] % 2:
            raise MfmasimError(
                "reference: transpose of these two axes is nothing in NumPy, an exchange in PyTorch; write .T"
            )
        return np.swapaxes(found, *axes)
    return np.transpose(found, axes[0] if len(axes) == 1 else axes or None)


def _reshaped(x: Array, *shape: Any) -> Array:
    return np.reshape(x, shape[0] if len(shape) == 1 else shape)


def _repeat(x: Array, repeats: int, axis: Any = None, dim: Any = None) -> Array:
    if np.asarray(x).size * abs(int(np.max(repeats))) > MOST * 64:
        raise MfmasimError("reference: repeat makes an array that is too large")
    return np.repeat(x, repeats, axis=axis if dim is None else dim)


def _float(x: Any) -> Any:
    return x.astype(np.float64) if isinstance(x, np.ndarray) else builtins.float(x)


def _int(x: Any) -> int:
    return builtins.int(x)


def _bool(x: Any) -> bool:
    return builtins.bool(x)


def _round(x: Any, digits: int | None = None) -> Any:
    return builtins.round(x, digits)


def _sum(x: Any, start: Any = 0) -> Any:
    return builtins.sum(x, start)


def _joined(parts: Any, axis: int = 0, dim: int | None = None) -> Array:
    return np.concatenate(parts, axis=axis if dim is None else dim)


def _stacked(parts: Any, axis: int = 0, dim: int | None = None) -> Array:
    return np.stack(parts, axis=axis if dim is None else dim)


def _array(x: Any, dtype: Any = None) -> Array:
    return np.array(x, dtype=dtype)


def _max(*values: Any, **named: Any) -> Any:
    return FUNCTIONS["amax"](*values, **named) if isinstance(values[0], np.ndarray) else builtins.max(*values)


def _min(*values: Any, **named: Any) -> Any:
    return FUNCTIONS["amin"](*values, **named) if isinstance(values[0], np.ndarray) else builtins.min(*values)


def _einsum(text: str, *values: Array) -> Array:
    sizes: dict[str, int] = {}
    for labels, one in zip(text.partition("->")[0].split(","), values, strict=False):
        sizes.update(zip(labels.strip(), np.shape(one), strict=False))
    if math.prod(sizes.values()) > MOST * 256:
        raise MfmasimError(f"reference: einsum {text!r} has {math.prod(sizes.values()):,} products, too many")
    return np.einsum(text, *values)


AS_THEY_ARE = """
exp exp2 expm1 log log2 log10 log1p sqrt abs sign floor ceil rint trunc tanh sinh cosh sin cos tan arctan maximum
minimum where isnan isfinite isinf square reciprocal power fmod logical_and logical_or logical_not bitwise_and
bitwise_or bitwise_xor left_shift right_shift equal not_equal dot matmul outer tril triu
"""
"""Functions of NumPy that keep their names and arguments."""

FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in AS_THEY_ARE.split()},
    "sum": _renamed(np.sum),
    "mean": _renamed(_mean),
    "prod": _renamed(np.prod),
    "amax": _renamed(np.max),
    "amin": _renamed(np.min),
    "argmax": _renamed(np.argmax),
    "argmin": _renamed(np.argmin),
    "any": _renamed(np.any),
    "all": _renamed(np.all),
    "var": _variance,
    "max": _max,
    "min": _min,
    "cumsum": lambda x, axis=None, dim=None: np.cumsum(x, axis=axis if dim is None else dim),
    "sort": lambda x, axis=-1, dim=None: np.sort(x, axis=axis if dim is None else dim),
    "softmax": _softmax,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "erf": _erf,
    "gelu": _gelu,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "clip": _clip,
    "clamp": _clip,
    "round": np.rint,
    "mm": np.matmul,
    "bmm": np.matmul,
    "einsum": _einsum,
    "transpose": _transpose,
    "permute": _transpose,
    "swapaxes": np.swapaxes,
    "cat": _joined,
    "concatenate": _joined,
    "stack": _stacked,
    "reshape": np.reshape,
    "zeros": _sized(np.zeros),
    "ones": _sized(np.ones),
    "empty": _sized(np.zeros),
    "full": _sized(np.full),
    "zeros_like": lambda x, dtype=None: np.zeros_like(x, dtype=dtype),
    "arange": _arange,
    "array": _array,
    "asarray": _array,
    "tensor": _array,
    "repeat": _repeat,
    "range": _range,
    "len": builtins.len,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "enumerate": lambda x: list(builtins.enumerate(x)),
    "zip": lambda *x: list(builtins.zip(*x, strict=True)),
}
"""Functions of modules, and those without one."""

OF_ARRAYS = """
sum mean prod argmax argmin any all var cumsum clip clamp softmax relu sigmoid rsqrt abs exp log sqrt tanh round dot
matmul mm bmm repeat
"""
"""Functions that are methods as well."""

BUILTINS: dict[str, Any] = {
    **{
        name: FUNCTIONS[name]
        for name in ("max", "min", "abs", "range", "len", "int", "float", "bool", "enumerate", "zip")
    },
    "sum": _sum,
    "round": _round,
}
"""Functions without a module, as Python has them; after them come those of modules."""

METHODS: dict[str, Any] = {
    **{name: FUNCTIONS[name] for name in OF_ARRAYS.split()},
    "max": FUNCTIONS["amax"],
    "min": FUNCTIONS["amin"],
    "amax": FUNCTIONS["amax"],
    "amin": FUNCTIONS["amin"],
    "astype": _astype,
    "to": _astype,
    "type": _astype,
    "float": _float,
    "double": _float,
    "half": lambda x: np.asarray(x).astype(np.float16),
    "long": lambda x: np.asarray(x).astype(np.int64),
    "int": lambda x: np.asarray(x).astype(np.int32),
    "copy": np.copy,
    "clone": np.copy,
    "contiguous": np.ascontiguousarray,
    "reshape": _reshaped,
    "view": _reshaped,
    "transpose": _transpose,
    "permute": _transpose,
    "t": np.transpose,
    "flatten": np.ravel,
    "ravel": np.ravel,
    "squeeze": np.squeeze,
    "unsqueeze": np.expand_dims,
    "item": lambda x: np.asarray(x).item(),
    "size": lambda x, dim=None: np.shape(x) if dim is None else np.shape(x)[dim],
    "pow": np.power,
    "square": np.square,
}
"""Methods of arrays."""

PROPERTIES: Mapping[str, Callable[[Array], Any]] = {
    "T": lambda x: x.T,
    "mT": lambda x: np.swapaxes(x, -1, -2),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "dtype": lambda x: x.dtype,
}
