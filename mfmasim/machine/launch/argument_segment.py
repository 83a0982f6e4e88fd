"""Kernel arguments: a caller's values become bytes of the argument segment, and buffers in device memory.

An array is a buffer, its address the argument. A list or tuple is a structure in C's layout, whose fields are arrays
(pointers), None (a null pointer), NumPy scalars, and lists (structures within it); passed where the kernel takes a
pointer, it is a buffer with the structure, so that a list of arrays is an array of pointers.

Source of the layout: LLVM's AMDGPU usage guide (kernel argument segment); the Itanium C++ ABI, which AMDGPU follows.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.argument_types import check_array, check_value, number_of
from mfmasim.machine.launch.interchange import ARRAYS, DEEPEST
from mfmasim.machine.state.memory import Region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.codeobject import Argument, CType, Parameter

POINTER = 8
"""Bytes of a pointer, and their alignment."""


class Placed(np.ndarray):
    """An array whose buffer begins `page_offset` bytes past a page; other buffers begin at a page."""

    page_offset: int = 0


class Buffers(list[tuple[Region, "NDArray[Any]"]]):
    """Buffers and their arrays, which do not overlap."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self._exact: dict[tuple[int, int], Region] = {}
        self._spans: list[tuple[int, int, Region]] = []
        """First byte, last byte and buffer of every array that has bytes, in order."""

    def take(self, region: Region, array: NDArray[Any]) -> None:
        """Add a buffer."""
        start, size = _start(array), array.nbytes
        self.append((region, array.view(np.ndarray)))  # derived classes may write in another way
        self._exact[start, size] = region
        if size:
            insort(self._spans, (start, start + size - 1, region), key=_first)

    def same(self, array: NDArray[Any]) -> Region | None:
        """The buffer of exactly these bytes."""
        return self._exact.get((_start(array), array.nbytes))

    def overlapping(self, array: NDArray[Any]) -> Region | None:
        """A buffer with some of these bytes."""
        start, size = _start(array), array.nbytes
        place = bisect_right(self._spans, start + size - 1, key=_first) - 1
        found = self._spans[place] if place >= 0 and size else None
        return found[2] if found is not None and found[1] >= start else None


def _start(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _first(span: tuple[int, int, Region]) -> int:
    return span[0]


class Allocator(Protocol):
    """Device memory in which buffers are set aside."""

    regions: list[Region]

    def reserve(self, name: str, size: int, *, offset: int = 0) -> Region:
        """Set aside a buffer, `offset` bytes past a page.

        Args:
            name: of the buffer, for messages.
            size: bytes.
            offset: bytes past a page.
        """


class Owner(Protocol):
    """A launch that owns buffers for arrays, on the machine or on a GPU."""

    @property
    def memory(self) -> Allocator:
        """Device memory of its buffers."""

    @property
    def buffers(self) -> Buffers:
        """Its buffers and their arrays."""


def argument(launch: Owner, number: int, arg: Argument, value: object, known: Parameter | None = None) -> bytes:
    """Bytes of one kernel argument; buffers are set aside on the way.

    Args:
        launch: receives the buffers.
        number: of the argument, for messages.
        arg: its description in the code object.
        value: the caller's value.
        known: its name and type as far as the source is known.

    Raises:
        MfmasimError: the argument cannot hold that value.
    """
    name, kind = _described(number, arg, known)
    if arg.is_pointer:
        if value is None:
            return bytes(arg.size)
        if isinstance(value, list | tuple):
            value = structure(launch, name, value)
        elif isinstance(value, np.ndarray):
            check_array(name, kind, value)
        else:
            raise MfmasimError(
                f"{name} is a pointer: an array or None is expected, not {type(value).__name__} (arrays are {ARRAYS})"
            )
        return address_of(launch, name, value).to_bytes(arg.size, "little")
    if not isinstance(value, list | tuple):
        return by_value(number, arg, value, known)
    _check_kind(name, arg)
    raw, alignment = _structure(launch, name, value)
    if len(raw) != arg.size:
        raise MfmasimError(f"{name} has {arg.size} bytes, the fields given have {len(raw)} (aligned to {alignment})")
    return raw


def by_value(number: int, arg: Argument, value: object, known: Parameter | None = None) -> bytes:
    """Bytes of an argument that is a number.

    Args:
        number: of the argument, for messages.
        arg: its description in the code object.
        value: the caller's value; an array without dimensions counts as its number, in any byte order.
        known: its name and type as far as the source is known.

    Raises:
        MfmasimError: the argument cannot hold that value.
    """
    name, kind = _described(number, arg, known)
    _check_kind(name, arg)
    return _by_value(name, arg, check_value(name, kind, number_of(value)))


def _described(number: int, arg: Argument, known: Parameter | None) -> tuple[str, CType | None]:
    """Name of an argument for messages, and its type."""
    own, kind = (known.name or arg.name, known.type) if known is not None else (arg.name, None)
    return f"argument {number}" + (f" ({own})" if own else ""), kind


def _check_kind(name: str, arg: Argument) -> None:
    if arg.value_kind != "by_value":
        raise MfmasimError(f"{name} has kind {arg.value_kind}, which a launch cannot pass")


def structure(launch: Owner, name: str, fields: Sequence[Any]) -> NDArray[Any]:
    """The bytes of a structure as a buffer's array; arrays among its fields are pointers.

    Args:
        launch: receives the buffers of those arrays.
        name: of the structure, for messages.
        fields: as in a list for `argument`.
    """
    return np.frombuffer(bytearray(_structure(launch, name, fields)[0]), np.uint8)


def _structure(launch: Owner, name: str, fields: Sequence[Any], depth: int = 1) -> tuple[bytes, int]:
    """Bytes and alignment of a structure: each field at the next multiple of its size, as C lays them out."""
    if not fields:
        raise MfmasimError(f"{name}: an empty list holds no fields")
    if depth > DEEPEST:
        raise MfmasimError(f"{name}: structures within structures, more than {DEEPEST} deep")
    out, largest = bytearray(), 1
    for number, value in enumerate(fields):
        raw, alignment = _field(launch, f"{name}[{number}]", value, depth)
        out += bytes(-len(out) % alignment) + raw
        largest = max(largest, alignment)
    return bytes(out) + bytes(-len(out) % largest), largest


def _field(launch: Owner, name: str, value: object, depth: int) -> tuple[bytes, int]:
    if isinstance(value, list | tuple):
        return _structure(launch, name, value, depth + 1)
    if value is None:
        return bytes(POINTER), POINTER
    value = number_of(value)
    if isinstance(value, np.generic):
        return value.tobytes(), max(value.dtype.alignment, 1)
    if isinstance(value, np.ndarray):
        return address_of(launch, name, value).to_bytes(POINTER, "little"), POINTER
    raise MfmasimError(
        f"{name} is a field: an array, None, a list or a NumPy scalar such as np.int32(5) is expected, "
        f"not {type(value).__name__}, whose size is not known"
    )


def address_of(launch: Owner, name: str, array: NDArray[Any]) -> int:
    """Address of the buffer of an array; the buffer is allocated unless the launch has it already.

    Args:
        launch: receives the buffer.
        name: of the buffer, for messages.
        array: contents of the buffer.

    Raises:
        MfmasimError: the array cannot be a buffer, or overlaps one in part.
    """
    return _buffer(launch, name, array).address


def _buffer(launch: Owner, name: str, array: NDArray[Any]) -> Region:
    if array.dtype.hasobject:
        raise MfmasimError(f"{name}: dtype {array.dtype} has no bytes a device could read")
    if not array.flags.c_contiguous:
        raise MfmasimError(f"{name}: the array is not contiguous (strides {array.strides}); pass a contiguous copy")
    if not array.dtype.isnative:
        raise MfmasimError(f"{name}: dtype {array.dtype} is big-endian, the device is little-endian")
    same, other = launch.buffers.same(array), launch.buffers.overlapping(array)
    if same is not None:
        return same  # the same memory under two arguments: in-place operation
    if other is not None:
        raise MfmasimError(f"{name} overlaps {other.name} in part; pass one array, or two that do not overlap")
    region = launch.memory.reserve(name, array.nbytes, offset=array.page_offset if isinstance(array, Placed) else 0)
    if not array.flags.writeable:
        launch.memory.regions[-1] = region = Region(region.name, region.address, region.size, writable=False)
    launch.buffers.take(region, array)
    return region


def _by_value(name: str, arg: Argument, value: object) -> bytes:
    if isinstance(value, bytes):
        raw = value
    elif isinstance(value, np.generic):
        raw = value.tobytes()
    elif isinstance(value, bool):
        raw = bytes([value]).ljust(arg.size, b"\0")
    elif isinstance(value, int):
        bits = 8 * arg.size
        if not -(1 << (bits - 1)) <= value < 1 << bits:
            raise MfmasimError(f"{name}: {value} does not fit the argument's {arg.size} bytes")
        raw = (value & ((1 << bits) - 1)).to_bytes(arg.size, "little")
    elif isinstance(value, float):
        kinds: dict[int, Any] = {2: np.float16, 4: np.float32, 8: np.float64}
        if arg.size not in kinds:
            raise MfmasimError(f"{name}: a float cannot fill {arg.size} bytes; pass a NumPy scalar")
        with np.errstate(over="ignore"):
            number = np.asarray(value, kinds[arg.size])
        if np.isinf(number) and not math.isinf(value):
            most = np.finfo(number.dtype).max
            raise MfmasimError(f"{name}: {value!r} does not fit {number.dtype}, whose largest number is {most}")
        raw = number.tobytes()
    else:
        raise MfmasimError(f"{name} is a value of {arg.size} bytes: a NumPy scalar, not {type(value).__name__}")
    if len(raw) != arg.size:
        kind = type(value).__name__ if isinstance(value, bytes) else np.asarray(value).dtype.name
        raise MfmasimError(f"{name} has {arg.size} bytes, the {kind} given has {len(raw)}")
    return raw
