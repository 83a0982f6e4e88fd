"""Variables of the LDS that a launch declares, where neither debug information nor a source has them."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.codeobject import CType, LdsVariable, array_of
from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import FORMATS
from mfmasim.formats import format as find_format

if TYPE_CHECKING:
    from collections.abc import Mapping

SHAPES = "lds={'tile': ('f16', (64, 32)), ...}, each with the byte at which it begins as a third entry, or none"
_INTEGER = re.compile(r"[iu](8|16|32|64)")


def declared_lds(shapes: Mapping[str, Any], static: int, dynamic: int) -> tuple[LdsVariable, ...]:
    """The variables that a launch declares, at their places.

    Args:
        shapes: by name (format, shape) or (format, shape, first byte). One without a first byte follows the one before;
            the first of all begins with the dynamic LDS, or at 0 where the launch has none.
        static: static LDS of the kernel in bytes.
        dynamic: dynamic LDS of the launch in bytes.

    Raises:
        MfmasimError: a format or shape that is not possible, variables that overlap, one that ends outside the LDS.
    """
    if not isinstance(shapes, dict):
        raise MfmasimError(f"lds of type {type(shapes).__name__}: a dict is expected: {SHAPES}")
    places: list[LdsVariable] = []
    end = static if dynamic else 0
    for name, given in shapes.items():
        if not isinstance(name, str) or not isinstance(given, tuple | list) or len(given) not in (2, 3):
            raise MfmasimError(f"lds: {name!r}: {given!r} is not possible; {SHAPES}")
        type_ = _element(name, given[0])
        for size in reversed(_sizes(name, given[1])):
            type_ = array_of(type_, size)
        start = given[2] if len(given) == 3 else end
        if not isinstance(start, int | np.integer) or not 0 <= start <= static + dynamic - type_.size:
            text = f"{type_.size:,} bytes from byte {start!r}, the LDS of the launch has {static + dynamic:,}"
            raise MfmasimError(f"lds: {name} has {text}")
        end = int(start) + type_.size
        places.append(LdsVariable(name, type_, int(start), type_.size))
    places.sort(key=lambda variable: variable.offset)
    for before, after in pairwise(places):
        if before.offset + before.size > after.offset:
            inside = f"{before.name} (bytes {before.offset} to {before.offset + before.size - 1})"
            raise MfmasimError(f"lds: {after.name} begins at byte {after.offset}, within {inside}")
    return tuple(places)


def _element(name: str, format_: object) -> CType:
    """The type of elements by the name of their format."""
    if isinstance(format_, str) and (integer := _INTEGER.fullmatch(format_)):
        return CType(format_, "int" if format_.startswith("i") else "uint", int(integer[1]) // 8)
    whole = [one for one in FORMATS if find_format(one).bits % 8 == 0]
    if format_ not in whole:
        names = dict.fromkeys([*(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)), *whole])
        raise unknown("format", str(format_), list(names), f"of the LDS variable {name}")
    return CType(str(format_), "float", find_format(str(format_)).bits // 8)


def _sizes(name: str, shape: object) -> list[int]:
    """The dimensions of an array."""
    given: list[Any] = list(shape) if isinstance(shape, tuple | list) else [shape]
    sizes = [int(n) for n in given if isinstance(n, int | np.integer) and n > 0]
    if not sizes or len(sizes) < len(given) or math.prod(sizes) > 1 << 31:
        raise MfmasimError(f"lds: {name} of shape {shape!r}: positive sizes are expected")
    return sizes
