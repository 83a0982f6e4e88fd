"""Arguments of a kernel in memory: the common base of matrices (`roles`) and plain arrays (`arrays`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.argument_passing import padding
from mfmasim.machine.launch.argument_segment import Placed
from mfmasim.machine.state.memory import PAGE
from mfmasim.verify.tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.kernels import Kernel

POISON = 0xA5
"""Contents of memory that the case does not initialise."""


@dataclass(frozen=True, eq=False)
class Number:
    """A number of a class that NumPy's scalars would forget, and its type."""

    value: int
    dtype: np.dtype[Any]


def number(value: int, kind: str = "int32") -> Any:
    """A NumPy scalar for a field of a structure or an argument; a number that `prove` traces keeps its trace.

    Args:
        value: the number.
        kind: NumPy's name of the type.
    """
    dtype = np.dtype(kind)
    plain = type(value) is int or isinstance(value, np.integer)
    return dtype.type(value) if plain else Number(value, dtype)


@dataclass(frozen=True, eq=False)
class Argument:
    """A matrix or an array in memory that is an argument of a kernel."""

    role: str
    format: str
    shape: tuple[int, ...]
    offset: int = field(default=0, kw_only=True)
    """Bytes from an aligned address to the first element."""
    tolerance: Tolerance = field(default=Tolerance(), kw_only=True)
    """How far an output may be from what is expected."""

    def __post_init__(self) -> None:
        """Check the place in memory."""
        if not isinstance(self.offset, int) or not 0 <= self.offset < PAGE:
            raise MfmasimError(f"{self._noun} has offset {self.offset!r}: 0 to {PAGE - 1} bytes are possible")

    @property
    def _noun(self) -> str:
        """The argument's name in messages."""
        return "array"

    @property
    def name(self) -> str:
        """Its name among the arguments of the case."""
        return self.role

    @property
    def writes(self) -> bool:
        """Whether the kernel may write to it."""
        raise NotImplementedError

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index of each axis to the next."""
        return tuple(int(np.prod(self.shape[axis + 1 :])) for axis in range(len(self.shape)))

    def element_bits(self, arch: Arch) -> int:
        """Bits of memory that an element takes on an architecture."""
        raise NotImplementedError

    def held(self, memory: NDArray[np.uint8], arch: Arch) -> NDArray[Any]:
        """The elements in bytes of memory, in the shape that the case declares."""
        raise NotImplementedError

    def first_bytes(self, arch: Arch) -> NDArray[np.int64]:
        """First byte of every element in the argument's memory, int64 of `shape`."""
        axes = np.indices(self.shape, np.int64)
        elements = np.tensordot(np.array(self.strides, np.int64), axes, axes=1)
        return np.asarray(elements * self.element_bits(arch) // 8)

    def placed(self, memory: NDArray[Any]) -> NDArray[Any]:
        """Memory as an argument of a launch, at the declared offset."""
        if not self.offset:
            return memory
        found = memory.view(Placed)
        found.page_offset = self.offset
        return found


def leaves(args: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Arguments, a structure replaced by its fields, each with its place: ``argument 0``, ``argument 2[1]``."""

    def within(place: str, arg: object) -> Iterator[tuple[str, Any]]:
        if isinstance(arg, list | tuple):
            for number, field_ in enumerate(arg):
                yield from within(f"{place}[{number}]", field_)
        else:
            yield place, arg

    for number, arg in enumerate(args):
        yield from within(f"argument {number}", arg)


def replaced(args: Sequence[Any], by: Callable[[Argument], Any]) -> list[Any]:
    """Arguments with every matrix and array replaced, also in structures; a structure without them is not copied."""

    def one(arg: Any) -> Any:
        if isinstance(arg, list | tuple):
            fields = replaced(arg, by)
            return arg if all(new is old for new, old in zip(fields, arg, strict=True)) else fields
        return by(arg) if isinstance(arg, Argument) else arg

    return [one(arg) for arg in args]


def called(kernel: Kernel, place: str, count: int) -> str:
    """The kernel's own name of an argument or a field: ``x`` for ``argument 0``, ``t[1]`` for ``argument 2[1]``.

    Args:
        kernel: its metadata, debug information or source has the names.
        place: as in `leaves`.
        count: number of the case's arguments, which may omit padding.

    Returns:
        The name, or the place if the name is unknown.
    """
    argument, bracket, fields = place.partition("[")
    left_out = padding(kernel) if count < len(kernel.args) else ()
    passed = [parameter for number, parameter in enumerate(kernel.parameters) if number not in left_out]
    names = {f"argument {number}": parameter.name for number, parameter in enumerate(passed)}
    return (names.get(argument) or argument) + bracket + fields
