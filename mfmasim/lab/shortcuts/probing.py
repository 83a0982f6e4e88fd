"""Launches of a case of plain arrays on other inputs: outputs of the kernel and of the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.devices import SimDevice
from mfmasim.kernels import Kernel
from mfmasim.machine.launch.quota import Quota
from mfmasim.verify.arguments import called
from mfmasim.verify.arrays import Array
from mfmasim.verify.cases import Case
from mfmasim.verify.launch import CaseLaunch
from mfmasim.verify.plain import compared_outputs, drawn_arrays

__all__ = ["Probe", "Probed"]

FAR = 0.01
"""Share of wrong elements from which on inputs fail: a single element at the edge of a bound does not count."""

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Probed:
    """One launch."""

    inputs: Arrays
    actual: Mapping[str, NDArray[Any]]
    """Outputs by place."""
    expected: Mapping[str, NDArray[Any]]
    wrong: float
    """Share of wrong elements."""
    stopped: bool

    @property
    def right(self) -> bool:
        """Whether every element is right."""
        return not self.stopped and self.wrong == 0

    @property
    def fails(self) -> bool:
        """Whether it is wrong beyond doubt."""
        return not self.stopped and self.wrong > FAR

    @property
    def finite(self) -> bool:
        """Whether the reference is finite."""
        return all(np.isfinite(values).all() for values in map(numbers, self.expected.values()))


class Probe:
    """A case and its kernel, launched on inputs that are chosen here."""

    def __init__(self, case: Case, kernel: Kernel, quota: Quota, launch: CaseLaunch | None = None) -> None:
        """Nothing is launched yet.

        Args:
            case: a case of plain arrays.
            kernel: its kernel.
            quota: of each launch.
            launch: at other sizes than the case's.
        """
        self.case, self.kernel, self.quota = case, kernel, quota
        self.launch = case.make() if launch is None else launch
        self.own = drawn_arrays(case, self.launch)
        self.names = {name: array for name, array in self.launch.arrays.items() if array.reads}
        self.drawn = [name for name, array in self.names.items() if isinstance(array.data, str)]
        """Drawn inputs; inputs with values of the case, such as indices, stay."""

    def called(self, name: str) -> str:
        """The kernel's own name of an argument.

        Args:
            name: its place.
        """
        return called(self.kernel, name, len(self.launch.args))

    def run(self, change: Callable[[str, Array, NDArray[Any]], NDArray[Any]] | None = None) -> Probed:
        """Launch once.

        Args:
            change: returns an input from its place, its declaration and the drawn input, which it replaces.
        """
        given = {
            name: values if change is None or name not in self.drawn else change(name, self.names[name], values)
            for name, values in self.own.items()
        }
        arrays = self.launch.arrays
        memory = {name: array.placed(given[name].copy()) for name, array in arrays.items()}
        unset = [memory[name] for name, array in arrays.items() if not array.reads]
        report = self.launch.run(
            SimDevice(), self.kernel, memory, {"checks": "none", "quota": self.quota, "undefined": unset}
        )
        if report.stopped:
            return Probed(given, {}, {}, 1.0, stopped=True)
        found = list(compared_outputs(self.case, self.launch, self.kernel, given, memory))
        total = sum(one.actual.size for one in found)
        wrong = sum(one.comparison.mismatches for one in found) / max(total, 1)
        actual = {one.array.name: np.array(one.actual) for one in found}
        return Probed(given, actual, {one.array.name: one.expected for one in found}, wrong, stopped=False)


def numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Values as float64.

    Args:
        values: of a dtype of NumPy's own; codes of other formats are taken as integers.
    """
    return np.asarray(values).astype(np.float64)


def redrawn(seed: int) -> Callable[[str, Array, NDArray[Any]], NDArray[Any]]:
    """Inputs of the same class, drawn anew.

    Args:
        seed: number of the draw.
    """
    from mfmasim.verify.arrays import draw_array

    return lambda name, array, _: draw_array(array, f"shortcut {seed}/{name}")
