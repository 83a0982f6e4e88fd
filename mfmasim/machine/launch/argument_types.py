"""Type checks of values and arrays against the C++ types of parameters.

Unsigned integers of the same size are raw bits, and bytes are bytes: both fit if their size does. Refused values
would be misread: float64 for ``int*``, int64 for ``int*``, 1000.5 for ``int``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from mfmasim.codeobject import CType

_BFLOAT = np.dtype(ml_dtypes.bfloat16)
_FLOATS = {2: np.dtype(np.float16), 4: np.dtype(np.float32), 8: np.dtype(np.float64)}


def is_typed(value: object) -> bool:
    """Whether a value has a type, which can differ from the parameter's type."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind not in "uVb" or value.dtype.itemsize > 4
    return isinstance(value, int | float)


def number_of(value: object) -> Any:
    """The number in an array without dimensions, in the machine's byte order; everything else as it is.

    >>> int(number_of(np.array(5, ">i4"))), number_of(7)
    (5, 7)
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.view(np.ndarray)[()]
    if isinstance(value, np.void) and not value.dtype.isnative:  # NumPy's other scalars are always native
        return value.astype(value.dtype.newbyteorder("="))
    return value


def check_array(name: str, kind: CType | None, array: np.ndarray[Any, Any]) -> None:
    """Refuse an array whose elements do not have the type of a pointer's target.

    Args:
        name: of the argument, for the message.
        kind: the parameter's type; None where it is not known.
        array: the passed array.

    Raises:
        MfmasimError: the element types differ; the message names the parameter's type and the types that fit it.
    """
    target = kind.element if kind is not None and kind.kind == "pointer" else None
    if kind is None or target is None or _fits(target, array.dtype):
        return
    scalar = target.scalar
    bits = f", or their bits as uint{8 * scalar.size}" if scalar.kind in ("float", "bfloat") else ""
    raise MfmasimError(f"{name} is {kind.text}: an array of {_dtype(scalar)} is expected{bits}, not {array.dtype}")


def _dtype(scalar: CType) -> str:
    if scalar.kind == "bfloat":
        return "bfloat16"
    return f"{scalar.kind}{8 * scalar.size}"


def _fits(target: CType, dtype: np.dtype[Any]) -> bool:
    scalar, size = target.scalar, dtype.itemsize
    if scalar.kind not in ("float", "bfloat", "int", "uint") or scalar.size <= 1 or dtype == np.uint8:
        return True
    if dtype.names is not None or dtype.kind == "c":
        return True  # structures
    if target.kind == "vector":  # wide loads of any data
        return size <= scalar.size
    if dtype.kind == "u" and size == scalar.size:
        return True
    if scalar.kind == "float":
        return bool(dtype == _FLOATS.get(scalar.size, dtype))
    if scalar.kind == "bfloat":
        return bool(dtype == _BFLOAT)
    if size == scalar.size == 2:
        return True  # the bits of a half or bfloat16, for which C has no type
    if dtype.kind == "i":
        return size in (1, scalar.size) or (scalar.kind == "uint" and size < scalar.size)
    return scalar.kind == "uint" and (dtype.kind != "u" or size < scalar.size)


def check_value(name: str, kind: CType | None, value: object) -> Any:
    """A value for a parameter of a type.

    Args:
        name: of the argument, for the message.
        kind: the parameter's type; None where it is not known.
        value: the passed value.

    Returns:
        The value; a Python number for a floating-point parameter as a NumPy scalar of its type.

    Raises:
        MfmasimError: the value is not of the type, or does not fit it.
    """
    if kind is None or kind.kind not in ("int", "uint", "bool", "float", "bfloat"):
        return value
    given = type(value).__name__
    if kind.kind in ("int", "uint", "bool"):
        if isinstance(value, float | np.floating) or (isinstance(value, np.generic) and value.dtype.kind == "V"):
            raise MfmasimError(f"{name} is {kind.text}: a whole number is expected, not {value!s} ({given})")
        return value
    dtype: Any = _BFLOAT if kind.kind == "bfloat" else _FLOATS.get(kind.size)
    if dtype is None or isinstance(value, bytes | list | tuple | np.ndarray):
        return value
    if isinstance(value, np.generic):
        if value.dtype in (dtype, np.dtype(f"u{kind.size}")):
            return value
        raise MfmasimError(f"{name} is {kind.text}: {dtype} is expected, not {value!s} ({given})")
    if not isinstance(value, int | float):
        return value
    with np.errstate(over="ignore"):
        number = dtype.type(float(value))
    if np.isinf(float(number)) and not np.isinf(float(value)):
        raise MfmasimError(f"{name} is {kind.text}: {value!r} does not fit")
    return number
