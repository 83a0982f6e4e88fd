"""State of a GPU that is kept between launches: loading a code object takes longer than most kernels."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices.hip_library import HipError
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mfmasim.devices.hip_library import Hip
    from mfmasim.kernels import Kernel

MODULES = 16
"""Modules that are kept: the last ones used."""
BLOCKS, BYTES = 64, 1 << 28
"""Blocks of memory that are kept, and their bytes together."""
OUT_OF_MEMORY = 2
"""hipErrorOutOfMemory."""


class HipModules:
    """Kept state on one GPU. A code object with variables is loaded for each launch, so that they start anew."""

    def __init__(self, hip: Hip) -> None:
        """Begin with nothing."""
        self._hip = hip
        self._modules: OrderedDict[str, tuple[Any, dict[str, Any]]] = OrderedDict()
        """Modules and their functions by the code object's hash."""
        self._events: list[Any] = []
        self._blocks: list[tuple[int, Any]] = []
        """Sizes and pointers of blocks that no launch uses, the oldest first."""

    def block(self, size: int, what: str) -> Any:
        """A block of memory, a kept or a new one.

        Args:
            size: in bytes.
            what: its purpose, for the message.

        Raises:
            MfmasimError: the allocation failed.
        """
        for number, (has, block) in enumerate(self._blocks):
            if has == size:
                del self._blocks[number]
                return block
        try:
            return self._hip.call("hipMalloc", size, what=what)
        except HipError as error:
            if error.code != OUT_OF_MEMORY or not self._blocks:
                raise
        self._drop(len(self._blocks))
        return self._hip.call("hipMalloc", size, what=what)

    def keep(self, blocks: Sequence[tuple[int, Any]]) -> None:
        """Take back blocks of a launch that succeeded.

        Args:
            blocks: sizes and pointers.

        Raises:
            MfmasimError: an excess block could not be freed; all others were.
        """
        self._blocks += blocks
        left, total = 0, sum(size for size, _ in self._blocks)
        while len(self._blocks) - left > BLOCKS or total > BYTES:
            total -= self._blocks[left][0]
            left += 1
        self._drop(left)

    def _drop(self, count: int) -> None:
        """Free the oldest blocks."""
        oldest, self._blocks = self._blocks[:count], self._blocks[count:]
        release([partial(self._hip.call, "hipFree", block) for _, block in oldest])

    @contextmanager
    def function(self, kernel: Kernel) -> Iterator[Any]:
        """The handle of a kernel, for one launch.

        Args:
            kernel: the kernel.

        Raises:
            MfmasimError: the code object cannot be loaded, or lacks the kernel.
        """
        key = kernel.code.sha256
        if key in self._modules:
            self._modules.move_to_end(key)
        else:
            image = np.frombuffer(kernel.code.object.data, np.uint8)
            self._modules[key] = self._hip.call("hipModuleLoadData", image, what=kernel.code.object.name), {}
        module, functions = self._modules[key]
        if kernel.name not in functions:
            functions[kernel.name] = self._hip.call("hipModuleGetFunction", module, kernel.name.encode())
        yield functions[kernel.name]
        if kernel.code.object.variables:
            self._unload(key)
        elif len(self._modules) > MODULES:
            self._unload(next(iter(self._modules)))

    def _unload(self, key: str) -> None:
        self._hip.call("hipModuleUnload", self._modules.pop(key)[0])

    @property
    def events(self) -> tuple[Any, Any]:
        """Two events, for the time of a launch.

        Raises:
            MfmasimError: HIP cannot create them.
        """
        while len(self._events) < 2:
            self._events.append(self._hip.call("hipEventCreate"))
        return self._events[0], self._events[1]

    def close(self) -> None:
        """Free everything, also after an error.

        Raises:
            MfmasimError: the first failed call.
        """
        calls = [partial(self._hip.call, "hipEventDestroy", event) for event in self._events]
        calls += [partial(self._hip.call, "hipModuleUnload", module) for module, _ in self._modules.values()]
        calls += [partial(self._hip.call, "hipFree", block) for _, block in self._blocks]
        self._events.clear()
        self._modules.clear()
        self._blocks.clear()
        release(calls)


def release(calls: Sequence[Callable[[], object]]) -> None:
    """Make all freeing calls.

    Raises:
        MfmasimError: the first failed call; all others were made.
    """
    problem: MfmasimError | None = None
    for call in calls:
        try:
            call()
        except MfmasimError as error:
            problem = problem or error
    if problem is not None:
        raise problem
