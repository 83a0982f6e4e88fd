"""A kernel that is run repeatedly on inputs whose elements carry labels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mfmasim.machine.execution.run import WAVES
from mfmasim.machine.launch.limits import dimensions
from mfmasim.verify.arguments import POISON, called
from mfmasim.verify.arrays import draw_array
from mfmasim.verify.elements.product_sums import ProductSums
from mfmasim.verify.elements.sources import PRODUCT
from mfmasim.verify.roles import bytes_of, format_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U64
    from mfmasim.devices import SimDevice
    from mfmasim.kernels import Kernel
    from mfmasim.observe.fragments.tiles import Tile
    from mfmasim.verify.arrays import Array
    from mfmasim.verify.launch import CaseLaunch


Units: TypeAlias = "NDArray[np.unsignedinteger[Any]]"
"""Elements as integers of their own size."""
BYTES = 1 << 28
"""Bytes of the arrays of launches at once."""


class Stopped(Exception):  # noqa: N818 - no error: the finding is made where it is caught
    """A launch ended early."""


@dataclass
class Bench:
    """A kernel that is run repeatedly on given inputs."""

    device: SimDevice
    kernel: Kernel
    launch: CaseLaunch
    tiles: Sequence[Tile] = ()
    """Followed fragments of a product of matrices."""
    runs: int = 0

    def __post_init__(self) -> None:
        """Draw inputs that are not given."""
        self._waves = waves_of(self.kernel, self.launch)
        products = [source.given for source in self.launch.sources if source.given.name == PRODUCT]
        self._sums = ProductSums(self.tiles, products[0].shape, self._waves) if products else None
        self.called = {name: called(self.kernel, name, len(self.launch.args)) for name in self.launch.arrays}
        self.called |= {product.name: product.name for product in products}
        self.drawn = {name: draw_array(array, self.called[name]) for name, array in self.launch.arrays.items()}
        self.quiet = {source.given.name: (source, source.codes[0]) for source in self.launch.sources}
        """Inputs that have sources hold one constant value while another input is followed."""
        self._known: dict[tuple[str, bytes], dict[str, tuple[Units, Units]]] = {}
        self._ones = {}
        for name, tensor in self.launch.tensors.items():
            fmt = format_of(tensor, self.kernel.arch)
            ones = np.full(tensor.stored_shape, fmt.encode(np.array([1.0]))[0]).astype(fmt.carrier)
            self._ones[name] = bytes_of(tensor, ones, self.kernel.arch)

    def run(
        self, trials: Sequence[Mapping[str, U64]], fresh: Sequence[str] = ()
    ) -> list[dict[str, tuple[Units, Units]]]:
        """Launches, many at once if the kernel behaves in each as in a separate launch.

        Args:
            trials: units of arrays, by name, of each launch.
            fresh: names of arrays that begin with random bytes, new ones in each run.

        Returns:
            For each launch, units before and after it, by name, of every array that the kernel may write.

        Raises:
            Stopped: a launch ended early.
        """
        found: list[dict[str, tuple[Units, Units]]] = []
        each = sum(array.nbytes for array in self.drawn.values())
        together = max(1, min(WAVES // self._waves, BYTES // max(each, 1)))
        observers = [] if self._sums is None else [self._sums]
        while len(found) < len(trials):
            some = trials[len(found) : len(found) + together]
            memories = [self._memory(given, fresh) for given in some]
            before = [self._outputs(memory) for memory in memories]
            if self._sums is not None:
                self._sums.begin([self._held(given, PRODUCT) for given in some])
            if not self.launch.run_together(self.device, self.kernel, memories, observers):
                if len(some) > 1:
                    together = 1
                    continue
                report = self.launch.run(
                    self.device, self.kernel, memories[0], {"observers": observers, "checks": "none"}
                )
                if report.stopped:
                    raise Stopped(report.stopped)
            if self._sums is not None and self._sums.strange:
                raise Stopped("the data decide how many matrix instructions are executed")
            after = [self._outputs(memory) for memory in memories]
            found += [{name: (old[name], new[name]) for name in old} for old, new in zip(before, after, strict=True)]
        return found

    def _held(self, given: Mapping[str, U64], name: str) -> U64:
        """Units of an input that has sources: those given, or one constant value."""
        source, code = self.quiet[name]
        if name in given:
            return given[name]
        return joined(np.full(source.input_shape, code), source.input_parts, source.given)

    def _memory(self, given: Mapping[str, U64], fresh: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Contents of every argument before a launch; each element of a matrix is 1."""
        self.runs += 1
        rng = np.random.default_rng([POISON, self.runs])
        memory: dict[str, NDArray[Any]] = {}
        for name, array in self.launch.arrays.items():
            carrier = np.dtype(f"u{array.dtype.itemsize}")
            units = self.drawn[name].view(carrier)
            if name in given or name in self.quiet:
                units = self._held(given, name).astype(carrier).reshape(array.shape)
            elif name in fresh:
                units = rng.integers(0, 1 << 8 * array.dtype.itemsize, array.shape, np.uint64).astype(carrier)
            memory[name] = array.placed(units.copy().view(array.dtype))
        return memory | {name: tensor.placed(self._ones[name].copy()) for name, tensor in self.launch.tensors.items()}

    def _outputs(self, memory: Mapping[str, NDArray[Any]]) -> dict[str, Units]:
        return {name: _units(memory[name]) for name, array in self.launch.arrays.items() if array.writes}

    def again(self, name: str, trials: Sequence[U64]) -> list[dict[str, tuple[Units, Units]]]:
        """Launches with one given input; the outputs of equal inputs are computed once."""
        keys = [(name, hashlib.sha256(units.tobytes()).digest()) for units in trials]
        new = {key: units for key, units in zip(keys, trials, strict=True) if key not in self._known}
        for key, found in zip(new, self.run([{name: units} for units in new.values()]), strict=True):
            self._known[key] = found
        return [self._known[key] for key in keys]


def waves_of(kernel: Kernel, launch: CaseLaunch) -> int:
    """Waves of a launch.

    Args:
        kernel: decides the lanes of a wave.
        launch: grid and block.
    """
    grid, block = dimensions(launch.grid, "grid"), dimensions(launch.block, "block")
    return int(np.prod(grid)) * -(-int(np.prod(block)) // kernel.wave)


def _units(values: NDArray[Any]) -> Units:
    """Elements as integers."""
    return np.array(values).view(f"u{values.dtype.itemsize}")


def joined(codes: U64, parts: int, array: Array) -> U64:
    """Units of elements: the parts of a unit in ascending bits.

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


def split(units: Units, parts: int, array: Array) -> Units:
    """The inverse of `joined`.

    Args:
        units: of elements, unsigned.
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
