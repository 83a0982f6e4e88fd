"""Arguments of a traced launch: arrays whose bytes are polynomials, structures, numbers, and data.

The size of an array matters, not its contents. A structure is laid out as in a launch
(`mfmasim.machine.launch.argument_segment`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.prove.integers import Repeated, as_polynomial, example_of
from mfmasim.prove.polynomial import Polynomial, Symbol, constant
from mfmasim.verify.arguments import Argument, Number
from mfmasim.verify.roles import Tensor, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mfmasim.architectures import Arch

__all__ = ["POINTERS", "Passed", "Region", "Structure", "changed", "keys_of", "leaves_of", "passed"]

POINTERS = 1 << 47
"""User addresses are smaller (LLVM, AMDGPU usage guide: 48-bit canonical addresses, the lower half)."""
POINTER = 8
"""Bytes of an address."""


@dataclass(frozen=True)
class Region:
    """An array argument: a symbol for its address, and its bytes."""

    name: str
    pointer: Symbol
    size: Polynomial
    writes: bool
    """Whether the kernel may store to it."""
    strides: tuple[Polynomial, ...] = ()
    """Bytes from one line to the next, for each way to divide the array into lines."""
    tensor: Tensor | None = None
    """The matrix, its elements' format and bits, and its rows and columns."""
    format: str = ""
    bits: int = 0
    shape: tuple[Polynomial, ...] = ()
    declared: bool = True
    """Whether the size in bytes is known."""


@dataclass(frozen=True)
class Structure:
    """A structure that is passed by value, or that has memory of its own."""

    region: Region
    fields: tuple[tuple[int, int, Passed], ...] = field(default=())
    """First byte, bytes, value."""


Passed: TypeAlias = "Polynomial | Region | Structure | None"
"""One argument; None is plain data."""


def passed(arg: Any, arch: Arch, name: str, known: dict[Argument, Region] | None = None) -> Passed:
    """An argument of a traced launch.

    Args:
        arg: the argument that the case's function returns.
        arch: decides the formats.
        name: for messages, unless the argument has a name.
        known: arrays of the other arguments; a launch may pass one array twice.

    Raises:
        MfmasimError: the argument has a type whose bytes are not followed.
    """
    known = {} if known is None else known
    if isinstance(arg, Repeated):
        _, size, _ = _laid_out(list(arg), arch, name, {})
        return Region(name, _pointer(name), arg.times.polynomial.scaled(size), writes=False)
    if isinstance(arg, list | tuple):
        fields, size, _ = _laid_out(arg, arch, name, known)
        return Structure(Region(name, _pointer(name), constant(size), writes=False), tuple(fields))
    if isinstance(arg, Argument):
        if arg not in known:
            known[arg] = _region(arg, arch, arg.name or name)
        return known[arg]
    if arg is None:
        return constant(0)
    if isinstance(arg, Number):
        return as_polynomial(arg.value)
    if isinstance(arg, int) and not isinstance(arg, bool):
        return as_polynomial(arg)
    return constant(int(arg)) if getattr(getattr(arg, "dtype", None), "kind", "") in ("i", "u") else None


def _pointer(name: str) -> Symbol:
    return Symbol("&" + name, 1 << 12, POINTERS)


def _laid_out(
    given: Any, arch: Arch, name: str, known: dict[Argument, Region]
) -> tuple[list[tuple[int, int, Passed]], int, int]:
    """Fields of a structure at their offsets, its bytes, and its alignment."""
    found: list[tuple[int, int, Passed]] = []
    end, largest = 0, 1
    for number, value in enumerate(given):
        own = f"{name}[{number}]"
        inner: list[tuple[int, int, Passed]] = []
        if isinstance(value, list | tuple):
            inner, size, alignment = _laid_out(value, arch, own, known)
        elif value is None or isinstance(value, Argument):
            size = alignment = POINTER
            inner = [(0, size, passed(value, arch, own, known))]
        elif isinstance(value, np.generic | Number):
            size, alignment = value.dtype.itemsize, value.dtype.alignment
            inner = [(0, size, passed(value, arch, own, known))]
        else:
            raise MfmasimError(f"{own} is a field of type {type(value).__name__}, which is not followed")
        end += -end % alignment
        found += [(end + first, bytes_, part) for first, bytes_, part in inner]
        end, largest = end + size, max(largest, alignment)
    return found, end + -end % largest, largest


def _region(arg: Argument, arch: Arch, name: str) -> Region:
    bits = arg.element_bits(arch)
    shape = tuple(as_polynomial(size) for size in arg.shape)
    if not isinstance(arg, Tensor):
        size, strides = constant(bits // 8), []
        for length in reversed(shape):
            size = size * length
            strides.append(size)
        return Region(name, _pointer(name), size, arg.writes, tuple(strides), bits=bits)
    step = arg.ld if example_of(arg.ld) else arg.line  # an open stride is not 0
    line = as_polynomial(step).scaled(bits)
    whole = all(isinstance(c, int) and c % 8 == 0 for c in line.terms.values())
    lines = (Polynomial({m: c // 8 for m, c in line.terms.items()}),) if whole else ()
    elements = step * (arg.lines - 1) + arg.line
    size = as_polynomial(-(-(elements * bits) // 8))
    form = format_of(arg, arch).name
    return Region(name, _pointer(name), size, arg.writes, lines, arg, form, bits, shape)


def leaves_of(args: Sequence[Passed]) -> Iterator[Polynomial | Region | None]:
    """All arguments; a structure is replaced by its fields, after its memory."""
    for arg in args:
        if isinstance(arg, Structure):
            yield arg.region
            yield from leaves_of([value for *_, value in arg.fields])
        else:
            yield arg


def keys_of(args: Sequence[Passed]) -> list[object]:
    """A key: arguments have equal keys if their numbers and sizes in bytes are equal."""
    sizes = [arg.size if isinstance(arg, Region) else arg for arg in leaves_of(args)]
    return [None if size is None else size.key for size in sizes]


def changed(arg: Passed, change: Callable[[Polynomial], Polynomial]) -> Passed:
    """An argument after `change` of every polynomial."""
    if isinstance(arg, Region):
        strides, shape = (tuple(change(p) for p in some) for some in (arg.strides, arg.shape))
        return replace(arg, size=change(arg.size), strides=strides, shape=shape)
    if isinstance(arg, Structure):
        fields = tuple((first, size, changed(value, change)) for first, size, value in arg.fields)
        return replace(arg, fields=fields)
    return arg if arg is None else change(arg)
