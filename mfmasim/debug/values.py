"""Values of expressions: numbers by lane, and objects in registers or memory; and how they are printed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import format as number_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.debug.locations import Reader
    from mfmasim.debug.types import Type


OPTIMISED = "<optimised out>"
POISON = 0xA5A5A5A5A5A5A5A5
"""Content of unwritten registers, LDS and scratch."""
SHOWN = 64
"""Elements of an array that are printed."""


@dataclass(frozen=True)
class Place:
    """The place of an object in memory."""

    space: str
    """``global``, ``lds`` or ``scratch``."""
    address: NDArray[np.int64]
    """Address in each lane; in the LDS and scratch, bytes from the start."""
    size: int
    """In bytes."""


@dataclass(frozen=True)
class Number:
    """A number for each lane, (lanes,), or one for all of them, ()."""

    values: NDArray[Any]
    format: str = ""
    """Number format of floats."""
    hexadecimal: bool = False
    bits: int = 0
    """Bits of a register or word that may have another format; 0 means unknown."""

    def at(self, lane: int) -> Any:
        """In a lane."""
        return self.values[lane] if self.values.ndim else self.values[()]


@dataclass(frozen=True)
class Object:
    """An object with a type."""

    type: Type
    reader: Reader | None
    """Function that reads bits; None if the compiler left no place."""
    bit: int = 0
    place: Place | None = None
    """Its place, if it is in memory."""
    dereference: Callable[[Any, Type], Object] | None = None
    """Function that makes the object at addresses."""

    def field(self, name: str) -> Object:
        """A field of a structure, a component of a vector, or a field of a pointer's target."""
        if self.type.kind == "pointer":
            return self.target().field(name)
        if self.type.kind == "array" and name in ("x", "y", "z", "w"):
            return self.element("xyzw".index(name))
        if self.type.kind != "struct":
            raise MfmasimError(f".{name}: {self.type.name} has no fields")
        if name not in self.type.fields:
            raise unknown("field", name, self.type.fields, f"of {self.type.name}")
        offset, kind = self.type.fields[name]
        return self._part(offset, kind)

    def element(self, index: int) -> Object:
        """An element of an array, or behind a pointer."""
        kind = self.type.element
        if kind is None:
            raise MfmasimError(f"[{index}]: {self.type.name} is no array")
        if self.type.kind == "pointer":
            return self.target(index)
        if self.type.count and not 0 <= index < self.type.count:
            raise MfmasimError(f"[{index}]: {self.type.name} has elements 0 to {self.type.count - 1}")
        if kind.kind == "bool" and self.type.size < self.type.count:
            return replace(self, type=kind, bit=self.bit + index)
        return self._part(index * kind.size, kind)

    def _part(self, offset: int, kind: Type) -> Object:
        place = self.place and Place(self.place.space, self.place.address + offset, kind.size)
        return replace(self, type=kind, bit=self.bit + 8 * offset, place=place)

    def target(self, index: int = 0) -> Object:
        """The target of a pointer."""
        kind = self.type.element
        addresses = self.codes()
        if kind is None or self.dereference is None:
            raise MfmasimError(f"{self.type.name} points to no known type")
        if addresses is None:
            raise MfmasimError(f"the pointer is {OPTIMISED}")
        return self.dereference(addresses.astype(np.int64) + index * kind.size, kind)

    def codes(self) -> NDArray[np.uint64] | None:
        """The bits by lane; None if their place is unknown."""
        width = 1 if self.type.kind == "bool" else 8 * self.type.size
        return None if self.reader is None or not 0 < width <= 64 else self.reader(self.bit, width)

    def number(self) -> Number:
        """Its value as a number.

        Raises:
            MfmasimError: the object has no number.
        """
        if self.type.kind in ("array", "struct", "void"):
            raise MfmasimError(f"{self.type.name} is no number: name an element or a field")
        codes = self.codes()
        if codes is None:
            raise MfmasimError(OPTIMISED)
        return _number(codes, self.type)


def _number(codes: NDArray[np.uint64], kind: Type) -> Number:
    if kind.number_format:
        return decoded(codes, kind.number_format)
    if kind.kind == "bool":
        return Number(codes.astype(np.bool_))
    if kind.kind == "int":
        shift = np.uint64(64 - 8 * kind.size)
        return Number((codes << shift).view(np.int64) >> shift.astype(np.int64))
    return Number(codes.view(np.int64), hexadecimal=kind.kind == "pointer")


def decoded(codes: NDArray[Any], name: str) -> Number:
    """Codes of a number format as numbers."""
    fmt = number_format(name)
    return Number(fmt.decode(codes.astype(np.uint64) & np.uint64(fmt.mask)), fmt.name)


def shown(value: Number | Object, lane: int, names: Callable[[int], str] = lambda _: "") -> str:
    """A value as text, in one lane.

    Args:
        value: the value.
        lane: of the wave.
        names: returns the element at an address.
    """
    if isinstance(value, Number):
        return _text(value, lane, names)
    kind = value.type
    if value.reader is None:
        return OPTIMISED
    if kind.kind == "array":
        if kind.element is None:
            return "?"
        count = kind.count or 0
        parts = [shown(value.element(i), lane, names) for i in range(min(count, SHOWN))]
        if parts and all(part == OPTIMISED for part in parts):
            return OPTIMISED
        return f"[{', '.join(parts)}{', …' if count > SHOWN else ''}]"
    if kind.kind == "struct":
        return "{" + ", ".join(f"{name} = {shown(value.field(name), lane, names)}" for name in kind.fields) + "}"
    try:
        found = value.number()
    except MfmasimError as error:
        return str(error)
    codes = value.codes()
    if codes is not None and kind.size > 1 and int(codes[lane]) == POISON & (1 << 8 * kind.size) - 1:
        return "poison"
    if kind.names:
        code = int(found.at(lane))
        return kind.names.get(code, str(code))
    return _text(found, lane, names)


def _text(value: Number, lane: int, names: Callable[[int], str]) -> str:
    one = value.at(lane)
    if isinstance(one, np.bool_ | bool):
        return "true" if one else "false"
    if isinstance(one, np.floating | float):
        return f"{float(one):.9g}"
    number = int(one)
    if not value.hexadecimal:
        return str(number)
    where = names(number) if number > 1 << 20 else ""
    return f"{number & (1 << 64) - 1:#x}" + (f" ({where})" if where else "")
