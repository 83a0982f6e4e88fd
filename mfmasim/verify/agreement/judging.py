"""Simulator, device and reference on the same outputs: who agrees with whom, and in which elements not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.verify.arrays import Array
from mfmasim.verify.compare import bit_exact
from mfmasim.verify.plain import compare_array
from mfmasim.verify.roles import Tensor, codes_of, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.formats import Format
    from mfmasim.verify.compare import Comparison
    from mfmasim.verify.result import Result

__all__ = ["AGREEMENT", "Apart", "Difference", "Piece", "agreement", "agrees", "first_bytes", "leaves", "pieces"]

AGREEMENT = {
    (True, True, True): "simulator, device and reference agree",
    (True, False, False): "simulator and device agree, the reference differs from both",
    (False, True, False): "simulator and reference agree, the device differs from both",
    (False, False, True): "device and reference agree, the simulator differs from both",
    (False, True, True): "simulator and device both agree with the reference, within its bound, and differ in bits",
    (False, False, False): "simulator, device and reference all differ",
}
"""Whether simulator and device, simulator and reference, device and reference agree."""


def agreement(same: bool, simulator: bool, device: bool) -> str:
    """Who disagrees with whom, in words; arguments as the keys of `AGREEMENT` have them."""
    return AGREEMENT.get((same, simulator, device), "simulator and device agree in bits alone")


def agrees(result: Result) -> bool:
    """Whether outputs were compared with the reference, in every launch, and none differs; other findings aside."""
    stopped = result.launch is not None and bool(result.launch.stopped)
    return not result.outputs["mismatches"] and result.outputs["elements"] > 0 and not stopped


@dataclass(frozen=True)
class Difference:
    """One element in which simulator and device differ."""

    launch: int
    element: str
    simulator: str
    device: str
    ulp: int
    argument: str = ""
    """Which argument of the kernel it is in, or which field of one: ``argument 0``, ``argument 2[1]``."""
    byte: int = 0
    """Its first byte there."""


@dataclass(frozen=True)
class Piece:
    """An output of both, shaped as the case has it."""

    argument: str
    name: str
    sides: tuple[NDArray[Any], NDArray[Any]]
    """The simulator's and the device's."""
    compare: Callable[[Any, Any], Comparison]
    words: Callable[[Any], str]
    places: NDArray[Any]
    """First byte of each element in the argument's memory."""


def leaves(args: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Arguments, and in place of structures their fields, each with its name: ``argument 0``, ``argument 2[1]``."""

    def within(name: str, arg: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(arg, list | tuple):
            for number, field_ in enumerate(arg):
                yield from within(f"{name}[{number}]", field_)
        else:
            yield name, arg

    for number, arg in enumerate(args):
        yield from within(f"argument {number}", arg)


def pieces(
    built: Mapping[str, Any], arch: Arch, sides: Mapping[str, tuple[NDArray[np.uint8], NDArray[np.uint8]]]
) -> list[Piece]:
    """The outputs of a launch.

    Args:
        built: what the case's function returned for it.
        arch: decides the formats.
        sides: bytes that simulator and device left, by name of the argument or field.
    """
    found = []
    for name, arg in leaves(built["args"]):
        if name not in sides:
            continue
        if isinstance(arg, Tensor) and arg.role == "C":
            fmt = format_of(arg, arch)
            ours, theirs = (np.ascontiguousarray(codes_of(arg, side, arch)) for side in sides[name])
            places = first_bytes(arg, arch)
            exact: Callable[[Any, Any], Comparison] = partial(bit_exact, fmt=fmt)
            found.append(Piece(name, arg.role, (ours, theirs), exact, partial(_words, fmt), places))
        elif isinstance(arg, Array) and arg.writes:
            ours, theirs = (side.view(arg.dtype).reshape(arg.shape) for side in sides[name])
            places = first_bytes(arg, arch)
            compare = partial(compare_array, replace(arg, ulp=0))
            found.append(Piece(name, name, (ours, theirs), compare, _plain, places))
    return found


def first_bytes(arg: Tensor | Array, arch: Arch) -> NDArray[np.int64]:
    """First byte of every element in the memory of an argument, in the argument's shape."""
    if isinstance(arg, Array):
        return (np.arange(int(np.prod(arg.shape)), dtype=np.int64) * arg.dtype.itemsize).reshape(arg.shape)
    bits = np.arange(arg.lines * max(arg.ld, arg.line), dtype=np.int64) * format_of(arg, arch).bits
    lines = (bits // 8).reshape(arg.lines, -1)[:, : arg.line]
    return lines if arg.order == "row" else lines.T


def _words(fmt: Format, code: Any) -> str:
    return f"{int(code):#0{2 * code.dtype.itemsize + 2}x} ({float(fmt.decode(code)):.9g})"


def _plain(value: Any) -> str:
    bits = int(value.view(f"u{value.dtype.itemsize}"))
    return f"{bits:#0{2 * value.dtype.itemsize + 2}x} ({value})"


@dataclass
class Apart:
    """Simulator against device, over all launches."""

    elements: int = 0
    mismatches: int = 0
    max_ulp: int = 0
    differences: list[Difference] = field(default_factory=list)
    """The first few elements."""

    def add(self, launch: int, piece: Piece, most: int) -> None:
        """Compare an output of a launch, and keep so many elements that differ in all."""
        ours, theirs = piece.sides
        comparison = piece.compare(theirs, ours)
        self.elements += ours.size
        self.mismatches += comparison.mismatches
        self.max_ulp = max(self.max_ulp, comparison.max_ulp)
        for place in np.argwhere(comparison.wrong)[: max(most - len(self.differences), 0)]:
            index = tuple(int(i) for i in place)
            one = piece.compare(theirs[index][None], ours[index][None])
            texts = [piece.words(side[index]) for side in piece.sides]
            element = f"{piece.name}[{', '.join(map(str, index))}]"
            byte = int(piece.places[index])
            self.differences.append(Difference(launch, element, texts[0], texts[1], one.max_ulp, piece.argument, byte))
