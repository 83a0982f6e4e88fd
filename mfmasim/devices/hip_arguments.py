"""Arguments of a launch for the process that holds a GPU: every buffer once, and the places of arrays in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.launch.argument_passing import in_order, plain, segment
from mfmasim.machine.launch.argument_segment import Buffers, Placed
from mfmasim.machine.launch.interchange import as_array, with_arrays
from mfmasim.machine.state.memory import PAGE, Region

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.argument_passing import Arguments


@dataclass(frozen=True)
class Place:
    """Replaces an array among the arguments: a view of a buffer."""

    number: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    page_offset: int = 0

    def view(self, buffers: list[NDArray[Any]]) -> NDArray[Any]:
        """The array, one of the buffers or a view of all of its bytes."""
        array = buffers[self.number].reshape(-1).view(np.uint8).view(self.dtype).reshape(self.shape)
        if not self.page_offset:
            return array
        placed = array.view(Placed)
        placed.page_offset = self.page_offset
        return placed


def replaced(value: object, change: Callable[[Any], Any]) -> Any:
    """Arguments with everything but lists, tuples and dicts changed by a function.

    Args:
        value: the arguments.
        change: returns the replacement of a value.
    """
    if isinstance(value, dict):
        return {key: replaced(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        made = [replaced(one, change) for one in value]
        return made if isinstance(value, list) else tuple(made)
    return change(value)


class _Passed:
    """The arrays of a launch for the device's process: identity is memory, not the object."""

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self.buffers = Buffers()

    @property
    def memory(self) -> _Passed:
        """The memory of buffers: none."""
        return self

    def reserve(self, name: str, size: int, *, offset: int = 0) -> Region:
        """A buffer by its number; its address has no meaning."""
        self.regions.append(Region(name, (len(self.regions) + 1) * PAGE + offset, size))
        return self.regions[-1]


def distinct(kernel: Kernel, args: Arguments, buffers: Mapping[int, Any] | None) -> tuple[list[NDArray[Any]], Any]:
    """The buffers of a launch, each once, and the arguments with their places.

    Args:
        kernel: the kernel.
        args: as for `mfmasim.devices.SimDevice.launch`.
        buffers: as for `mfmasim.devices.SimDevice.launch`.

    Raises:
        MfmasimError: bad arguments, as on the simulator: an array that overlaps another in part, is not contiguous, ...
    """
    passed = _Passed()
    # Arrays of other libraries are converted once: some give another copy each time.
    if not isinstance(args, bytes | bytearray):
        args = in_order(kernel, args)
    elif buffers:
        segment(_Passed(), kernel, args, buffers)  # its errors name the arguments
        buffers = {offset: with_arrays(value, "an argument") for offset, value in buffers.items()}
    segment(passed, kernel, args, buffers)
    if not isinstance(args, bytes | bytearray):  # the other process does not know the source's types
        args = plain(kernel, args)
    first = dict(passed.buffers)
    numbers: dict[Region, int] = {}

    def place(value: object) -> Any:
        array = as_array(value, "an argument")
        same = passed.buffers.same(array) if isinstance(array, np.ndarray) else None
        if same is None:
            return array
        number = numbers.setdefault(same, len(numbers))
        return Place(number, array.dtype, array.shape, array.page_offset if isinstance(array, Placed) else 0)

    given = replaced((args, None if buffers is None else dict(buffers)), place)
    return [first[region] for region in numbers], given
