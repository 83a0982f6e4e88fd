"""Arrays of any library as NumPy arrays of the same memory: objects that a caller may pass for an array.

An object is an array if it has DLPack, ``__array_interface__``, the buffer protocol or ``__array__``: tensors of
PyTorch, JAX on the CPU, xarray, pandas, ``array.array``, ``bytearray``, ``mmap``. Nothing is copied, so a kernel
updates the object in place. An object that only returns copies, or read-only memory, becomes a read-only array:
a kernel may read it, and a store to it is a finding.

Elements without a dtype in NumPy, such as bfloat16 and FP8 of PyTorch, become those of `ml_dtypes` with equal bits.

Sources: the DLPack specification (``DLDeviceType``), NumPy's manual on interoperability.
"""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError

ARRAYS = "NumPy's, PyTorch's, or any with DLPack, __array_interface__, the buffer protocol or __array__"
HOST = {1: "the CPU", 3: "host memory of CUDA", 11: "host memory of ROCm"}
"""DLPack's numbers of devices whose memory the CPU reads: kDLCPU, kDLCUDAHost, kDLROCMHost."""
DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 13: "CUDA's managed memory", 14: "oneAPI"}
DEEPEST = 16
"""Structures within structures; a list that holds itself would never end."""
PLAIN = (bool, int, float, complex, str, bytes, np.generic)
"""Numbers, text, and bytes of a value: no arrays, although NumPy's scalars have every protocol."""
INTEGERS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}
"""Integers of PyTorch by their bytes."""


def is_array(value: object) -> bool:
    """Whether an object is an array of some library."""
    if isinstance(value, np.ndarray):
        return True
    if value is None or isinstance(value, (*PLAIN, list, tuple, dict, type)):
        return False
    protocols = ("__dlpack__", "__array_interface__", "__array__", "__cuda_array_interface__")
    return any(hasattr(value, name) for name in protocols) or _buffer(value) is not None


def as_array(value: object, name: str) -> Any:
    """An array of any library as a NumPy array of the same memory; everything else as it is.

    Args:
        value: such as a tensor.
        name: of the argument, for messages.

    Returns:
        The array. It is read-only if the object only returns copies, or declares its memory read-only.

    Raises:
        MfmasimError: its memory is on a GPU, or cannot be accessed in place (sparse, lazy).
    """
    if isinstance(value, np.ndarray) or not is_array(value):
        return value
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    _check_place(value, name, kind)
    try:
        torch = sys.modules.get("torch")
        found = _of_torch(value, torch) if torch and isinstance(value, torch.Tensor) else _shared(value)
    except Exception as error:  # noqa: BLE001 - any library may raise anything
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise MfmasimError(f"{name}: {kind} gives no array of its memory: {first}; pass a NumPy array") from None
    if found.dtype.hasobject:
        raise MfmasimError(f"{name}: {kind} holds Python objects, which have no bytes a device could read")
    return found


def with_arrays(value: object, name: str, depth: int = 0) -> Any:
    """A value with every array in it as NumPy's, also within lists, the fields of structures.

    Args:
        value: an argument of a launch.
        name: of the argument, for messages.
        depth: number of enclosing lists; lists deeper than any structure are unchanged, and refused later.

    Raises:
        MfmasimError: see `as_array`.
    """
    if isinstance(value, list | tuple) and depth <= DEEPEST:
        return [with_arrays(each, f"{name}[{number}]", depth + 1) for number, each in enumerate(value)]
    return as_array(value, name)


def _check_place(value: object, name: str, kind: str) -> None:
    """Refuse memory that the CPU cannot read."""
    where = ""
    device = getattr(value, "__dlpack_device__", None)
    if callable(device):
        try:
            number = int(device()[0])
        except Exception:  # noqa: BLE001 - a device that DLPack has no number for; the conversion says what is wrong
            number = 1
        where = "" if number in HOST else DEVICES.get(number, f"device {number} of DLPack")
    elif hasattr(value, "__cuda_array_interface__") and not hasattr(value, "__array_interface__"):
        where = "a GPU"
    if where:
        how = "A.cpu()" if kind.startswith("torch.") else "cupy.asnumpy(A)" if kind.startswith("cupy.") else "a copy"
        raise MfmasimError(
            f"{name}: the memory of {kind} is on {where}; the simulator reads the CPU's: pass {how} there"
        )


def _of_torch(tensor: Any, torch: Any) -> NDArray[Any]:
    """A tensor of PyTorch; elements without a dtype of NumPy by their bits."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    data = tensor.detach()
    bits = getattr(ml_dtypes, dtype, None)
    try:
        return np.asarray(data.numpy())
    except TypeError:  # "unsupported ScalarType", of dtypes; a tensor that has no memory fails again below
        whole = data.view(getattr(torch, INTEGERS[data.element_size()])).numpy()
        return np.asarray(whole if bits is None else whole.view(bits))


def _shared(value: object) -> NDArray[Any]:
    """An array of the object's memory, by a protocol without a copy."""
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError, NotImplementedError):
            pass  # a dtype that DLPack or NumPy does not have; NumPy's own protocols may
    memory = None if hasattr(value, "__array__") else _buffer(value)
    if memory is not None and not hasattr(value, "__array_interface__"):
        return np.asarray(memory)
    first, second = np.asarray(value), np.asarray(value)
    if first.size and not np.shares_memory(first, second):
        first = first.copy()
        first.flags.writeable = False
    return first


def _buffer(value: Any) -> memoryview | None:
    try:
        return memoryview(value)
    except TypeError:
        return None
