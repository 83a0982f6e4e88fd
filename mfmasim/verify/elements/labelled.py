"""A kernel that is run again and again on inputs whose elements carry labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.verify.arrays import POISON, Array, arrays_within, draw_array, replaced, set_down

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import SimDevice
    from mfmasim.program import Kernel

    U64 = NDArray[np.uint64]

__all__ = ["Bench", "Stopped", "element", "joined", "split"]


class Stopped(Exception):  # noqa: N818 - no error: the finding is made where it is caught
    """A launch ended early."""


@dataclass
class Bench:
    """A kernel that is run again and again on inputs that are given."""

    device: SimDevice
    kernel: Kernel
    built: Mapping[str, Any]
    runs: int = 0

    def __post_init__(self) -> None:
        """Name the arrays and draw what is not given."""
        called = [arg.name or f"argument {number}" for number, arg in enumerate(self.kernel.args)]
        pairs = list(arrays_within(self.built["args"], called))
        self.arrays = [array for _, array in pairs]
        self.names = {id(array): name for name, array in pairs}
        self.drawn = {id(array): draw_array(array, name) for name, array in pairs}
        self.quiet = {id(s.input): (s, s.codes[0]) for s in self.built["sources"]}
        """Inputs that have sources hold one value throughout while another one is followed."""
        self._known: dict[tuple[int, bytes], dict[int, tuple[U64, U64]]] = {}

    def run(self, given: Mapping[int, U64], fresh: Sequence[Array] = ()) -> dict[int, tuple[U64, U64]]:
        """One launch.

        Args:
            given: units of arrays, by identity.
            fresh: arrays that begin with random bytes, other ones in each run.

        Returns:
            Units before and after, by identity, of every array that the kernel may write.

        Raises:
            Stopped: the launch ended early.
        """
        self.runs += 1
        rng = np.random.default_rng([POISON, self.runs])
        memory: dict[int, NDArray[Any]] = {}
        for array in self.arrays:
            carrier = np.dtype(f"u{array.dtype.itemsize}")
            units = self.drawn[id(array)].view(carrier)
            if id(array) in given:
                units = given[id(array)].astype(carrier).reshape(array.shape)
            elif id(array) in self.quiet:
                source, code = self.quiet[id(array)]
                units = joined(np.full(source.input_shape, code), source.input_parts, array).astype(carrier)
            elif any(array is other for other in fresh):
                units = rng.integers(0, 1 << 8 * array.dtype.itemsize, array.shape, np.uint64).astype(carrier)
            memory[id(array)] = set_down(array, units.copy().view(array.dtype))
        before = {id(a): _units(memory[id(a)]) for a in self.arrays if a.writes}
        args = replaced(self.built["args"], lambda array: memory[id(array)])
        report = self.device.launch(
            self.kernel, self.built["grid"], self.built["block"], args, self.built.get("shared_bytes", 0), "none"
        )
        if report.stopped:
            raise Stopped(report.stopped)
        return {key: (units, _units(memory[key])) for key, units in before.items()}

    def again(self, array: Array, units: U64) -> dict[int, tuple[U64, U64]]:
        """A launch with one input given; outputs of the same inputs are asked for more than once."""
        key = id(array), units.tobytes()
        if key not in self._known:
            self._known[key] = self.run({id(array): units})
        return self._known[key]


def _units(values: NDArray[Any]) -> U64:
    """Elements as integers."""
    return np.array(values).view(f"u{values.dtype.itemsize}").astype(np.uint64)


def joined(codes: U64, parts: int, array: Array) -> U64:
    """Units of elements: the parts of a unit side by side, the first lowest."""
    if parts == 1:
        return codes.reshape(array.shape)
    width = 8 * array.dtype.itemsize // parts
    shifts = np.arange(parts, dtype=np.uint64) * np.uint64(width)
    units: U64 = np.bitwise_or.reduce(codes << shifts, axis=-1)
    return units


def split(units: U64, parts: int, array: Array) -> U64:
    """The inverse of `joined`."""
    if parts == 1:
        return units
    width = 8 * array.dtype.itemsize // parts
    shifts = np.arange(parts, dtype=np.uint64) * np.uint64(width)
    return units[..., None] >> shifts & np.uint64((1 << width) - 1)


def element(name: str, place: Sequence[Any]) -> str:
    """Name of an element."""
    return f"{name}[{', '.join(str(int(i)) for i in place)}]"
