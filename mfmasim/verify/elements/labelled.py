"""A kernel that is run repeatedly on inputs whose elements carry labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.verify.arguments import POISON, called
from mfmasim.verify.arrays import draw_array

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U64
    from mfmasim.devices import SimDevice
    from mfmasim.kernels import Kernel
    from mfmasim.verify.arrays import Array
    from mfmasim.verify.launch import CaseLaunch


class Stopped(Exception):  # noqa: N818 - no error: the finding is made where it is caught
    """A launch ended early."""


@dataclass
class Bench:
    """A kernel that is run repeatedly on given inputs."""

    device: SimDevice
    kernel: Kernel
    launch: CaseLaunch
    runs: int = 0

    def __post_init__(self) -> None:
        """Draw inputs that are not given."""
        self.called = {name: called(self.kernel, name, len(self.launch.args)) for name in self.launch.arrays}
        self.drawn = {name: draw_array(array, self.called[name]) for name, array in self.launch.arrays.items()}
        self.quiet = {source.input.name: (source, source.codes[0]) for source in self.launch.sources}
        """Inputs that have sources hold one constant value while another input is followed."""
        self._known: dict[tuple[str, bytes], dict[str, tuple[U64, U64]]] = {}

    def run(self, given: Mapping[str, U64], fresh: Sequence[str] = ()) -> dict[str, tuple[U64, U64]]:
        """One launch.

        Args:
            given: units of arrays, by name.
            fresh: names of arrays that begin with random bytes, other ones in each run.

        Returns:
            Units before and after, by name, of every array that the kernel may write.

        Raises:
            Stopped: the launch ended early.
        """
        self.runs += 1
        rng = np.random.default_rng([POISON, self.runs])
        memory: dict[str, NDArray[Any]] = {}
        for name, array in self.launch.arrays.items():
            carrier = np.dtype(f"u{array.dtype.itemsize}")
            units = self.drawn[name].view(carrier)
            if name in given:
                units = given[name].astype(carrier).reshape(array.shape)
            elif name in self.quiet:
                source, code = self.quiet[name]
                units = joined(np.full(source.input_shape, code), source.input_parts, array).astype(carrier)
            elif name in fresh:
                units = rng.integers(0, 1 << 8 * array.dtype.itemsize, array.shape, np.uint64).astype(carrier)
            memory[name] = array.placed(units.copy().view(array.dtype))
        before = {name: _units(memory[name]) for name, array in self.launch.arrays.items() if array.writes}
        report = self.launch.run(self.device, self.kernel, memory, {"checks": "none"})
        if report.stopped:
            raise Stopped(report.stopped)
        return {name: (units, _units(memory[name])) for name, units in before.items()}

    def again(self, name: str, units: U64) -> dict[str, tuple[U64, U64]]:
        """A launch with one input given, by name; the outputs of the same inputs are computed once."""
        key = name, units.tobytes()
        if key not in self._known:
            self._known[key] = self.run({name: units})
        return self._known[key]


def _units(values: NDArray[Any]) -> U64:
    """Elements as integers."""
    return np.array(values).view(f"u{values.dtype.itemsize}").astype(np.uint64)


def joined(codes: U64, parts: int, array: Array) -> U64:
    """Units of elements: the parts of a unit side by side, the first lowest.

    Args:
        codes: of the parts, uint64, the parts of a unit on the last axis where there are several.
        parts: of a unit.
        array: whose units they are.
    """
    if parts == 1:
        return codes.reshape(array.shape)
    width = 8 * array.dtype.itemsize // parts
    shifts = np.arange(parts, dtype=np.uint64) * np.uint64(width)
    units: U64 = np.bitwise_or.reduce(codes << shifts, axis=-1)
    return units


def split(units: U64, parts: int, array: Array) -> U64:
    """The inverse of `joined`.

    Args:
        units: of elements, uint64.
        parts: of a unit.
        array: whose units they are.
    """
    if parts == 1:
        return units
    width = 8 * array.dtype.itemsize // parts
    shifts = np.arange(parts, dtype=np.uint64) * np.uint64(width)
    return units[..., None] >> shifts & np.uint64((1 << width) - 1)


def element(name: str, place: Sequence[Any]) -> str:
    """Name of an element."""
    return f"{name}[{', '.join(str(int(i)) for i in place)}]"
