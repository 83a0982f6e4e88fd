"""Agreement of simulator, device and reference on the same outputs, and the elements that differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch
from mfmasim.verify.arguments import leaves
from mfmasim.verify.arrays import Array
from mfmasim.verify.compare import Comparison, bit_exact, shown_code, shown_value
from mfmasim.verify.launch import CaseLaunch
from mfmasim.verify.plain import compare_array
from mfmasim.verify.result import Result
from mfmasim.verify.roles import Tensor, format_of
from mfmasim.verify.tolerance import Tolerance

Compare: TypeAlias = "Callable[[NDArray[Any], NDArray[Any]], Comparison]"
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
    """The disagreeing parties in words.

    Args:
        same: whether simulator and device agree.
        simulator: whether simulator and reference agree.
        device: whether device and reference agree.
    """
    return AGREEMENT.get((same, simulator, device), "simulator and device agree only in bits")


def agrees(result: Result) -> bool:
    """Whether every launch was compared with the reference without a difference, regardless of other findings."""
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
    """Its argument of the kernel, or field of an argument: ``argument 0``, ``argument 2[1]``."""
    byte: int = 0
    """First byte of the element in it."""


@dataclass(frozen=True)
class Piece:
    """An output of both, in the shape that the case declares."""

    argument: str
    name: str
    results: tuple[NDArray[Any], NDArray[Any]]
    """The simulator's and the device's."""
    compare: Compare
    shown: Callable[[Any], str]
    """An element as text."""
    places: NDArray[Any]
    """First byte of each element in the argument's memory."""


def pieces(
    launch: CaseLaunch, arch: Arch, memory: Mapping[str, tuple[NDArray[np.uint8], NDArray[np.uint8]]]
) -> list[Piece]:
    """The outputs of a launch.

    Args:
        launch: the launch.
        arch: decides the formats.
        memory: bytes of simulator and device after the launch, by place (``argument 0``, ``argument 2[1]``).

    Returns:
        One piece for each output among them.
    """
    found = []
    for place, arg in leaves(launch.args):
        if place in memory and isinstance(arg, Tensor | Array) and arg.writes:
            simulator, device = (arg.held(data, arch) for data in memory[place])
            compare, shown = _comparison(arg, arch)
            found.append(Piece(place, arg.name, (simulator, device), compare, shown, arg.first_bytes(arch)))
    return found


def _comparison(arg: Tensor | Array, arch: Arch) -> tuple[Compare, Callable[[Any], str]]:
    """A bitwise comparison of outputs, and the text of an element."""
    if isinstance(arg, Array):
        return partial(compare_array, replace(arg, tolerance=Tolerance())), shown_value
    fmt = format_of(arg, arch)
    return partial(bit_exact, fmt=fmt), partial(shown_code, fmt)


@dataclass
class Differences:
    """Simulator against device, over all launches."""

    elements: int = 0
    mismatches: int = 0
    max_ulp: int = 0
    first: list[Difference] = field(default_factory=list)
    """The first few elements."""

    def add(self, launch: int, piece: Piece, most: int) -> None:
        """Compare an output of a launch, and keep the first elements that differ.

        Args:
            launch: its number.
            piece: the output.
            most: differing elements to keep, of all launches together.
        """
        simulator, device = piece.results
        comparison = piece.compare(device, simulator)
        self.elements += simulator.size
        self.mismatches += comparison.mismatches
        self.max_ulp = max(self.max_ulp, comparison.max_ulp)
        for place in np.argwhere(comparison.wrong)[: max(most - len(self.first), 0)]:
            index = tuple(int(i) for i in place)
            one = piece.compare(device[index][None], simulator[index][None])
            texts = [piece.shown(side[index]) for side in piece.results]
            element = f"{piece.name}[{', '.join(map(str, index))}]"
            byte = int(piece.places[index])
            self.first.append(Difference(launch, element, texts[0], texts[1], one.max_ulp, piece.argument, byte))
