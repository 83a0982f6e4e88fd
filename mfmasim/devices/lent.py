"""The bytes of a launch's memory as other processes of this machine map them, instead of receiving a copy each."""

from __future__ import annotations

import mmap
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.state.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from mfmasim.machine.state.memory import Region


@dataclass(frozen=True)
class Lent:
    """Where a process finds a memory."""

    path: str
    base: int
    regions: Sequence[Region]

    def memory(self) -> Memory:
        """The memory as it was lent; the pages that this process writes become its own.

        Raises:
            OSError: the system does not let this process map it.
        """
        with Path(self.path).open("rb") as file:
            pages = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        return Memory.over(self.base, np.frombuffer(pages, np.uint8), self.regions)


@contextmanager
def lending(memory: Memory, executor: Executor) -> Iterator[Lent | None]:
    """Lend a memory to an executor's workers, if they are processes of this machine.

    The file has no name and ends with this process, however that one ends (Linux, memfd_create(2)); who has mapped it
    keeps its bytes.
    """
    if not isinstance(executor, ProcessPoolExecutor) or sys.platform != "linux":
        yield None
        return
    with os.fdopen(os.memfd_create("mfmasim"), "wb") as file:
        file.write(memory.arena.data)
        file.flush()
        yield Lent(f"/proc/{os.getpid()}/fd/{file.fileno()}", memory.base, memory.regions)
