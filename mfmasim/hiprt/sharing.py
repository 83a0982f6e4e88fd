"""Memory of a device that processes share: hipIpcGetMemHandle and hipIpcOpenMemHandle.

The pages of an allocation whose handle is asked for move into a file without a name (memfd), which stays mapped at
their addresses. The handle says where in ``/proc`` another process of the user finds that file; it maps it into its own
range of addresses. The kernels of each process run on their own simulator, at the same time.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.hiprt.faults import COUNTS
from mfmasim.hiprt.heap import DEVICE, PAGE
from mfmasim.hiprt.patterns import FEW
from mfmasim.hiprt.registry import HipFailure
from mfmasim.machine.state.memory import POISON_BYTE
from mfmasim.resources import cache_folder

if TYPE_CHECKING:
    from mfmasim.hiprt.heap import Allocation, Heap

INVALID_VALUE, INVALID_POINTER, INVALID_CONTEXT, INVALID_HANDLE = 1, 17, 201, 400
LAYOUT = struct.Struct("<8sIIQQQ")
"""Of a handle: `MAGIC`, process, descriptor, inode, size of the allocation, byte of it that was meant."""
MAGIC = b"mfmasim1"
POISONED = 64 << 20
"""Of a larger allocation bytes that nothing wrote are zeros once it is shared: as poison they would take memory."""
PATIENCE = 600.0
"""Seconds that a launch waits for memory that other processes write."""
SHORTEST, LONGEST = 0.001, 0.02
"""Seconds between two looks at it."""


class Between:
    """What a launch needs where other processes access the same memory."""

    def __init__(self, owners: set[int]) -> None:
        """Know the processes whose memory this one has opened."""
        self._owners = owners
        self._file = -1
        self._waited, self._pause = 0.0, SHORTEST

    def begin(self) -> None:
        """A launch begins."""
        self._waited, self._pause = 0.0, SHORTEST

    def __enter__(self) -> None:
        """An access that has to be whole begins: no other process is in one."""
        if self._file < 0:
            counts = os.environ.get(COUNTS)
            path = Path(f"{counts}.lock") if counts else cache_folder() / "hiprt-shared.lock"
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.lockf(self._file, fcntl.LOCK_EX)  # of the process, so that a child of fork has one of its own

    def __exit__(self, *exception: object) -> None:
        """It ends."""
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def wait(self) -> str:
        """The waves go round until memory changes: give other processes time.

        Returns:
            Why there is no use in waiting longer; else empty.
        """
        for owner in self._owners:
            if not _runs(owner):
                return f"process {owner}, whose memory this one has opened, has ended"
        if self._waited >= PATIENCE:
            return f"no other process has written what they wait for within {PATIENCE:.0f} s"
        time.sleep(self._pause)
        self._waited += self._pause
        self._pause = min(2 * self._pause, LONGEST)
        return ""


def _runs(process: int) -> bool:
    """Whether a process has not ended; one whose parent has not asked for its exit code has."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


class Sharing:
    """What a process shares of its memory, and what it has opened of others'."""

    def __init__(self, heap: Heap) -> None:
        """Share nothing yet."""
        self._heap = heap
        self._opened: dict[tuple[int, int], tuple[int, int]] = {}
        """Address and how often it was opened, by device number and inode of the file."""
        self._owners: set[int] = set()
        self._between = Between(self._owners)

    @property
    def between(self) -> Between | None:
        """What launches need; None if nothing is shared."""
        return self._between if self._heap.files else None

    def handle(self, address: int) -> bytes:
        """The handle of an allocation of a device, which is shared from now on.

        Args:
            address: within it.

        Raises:
            HipFailure: no memory of a device is there, or the system gives no file.
        """
        found = self._heap.at(address)
        if found is None or found.kind != DEVICE or found.imported:
            raise HipFailure(INVALID_POINTER)
        if found.address not in self._heap.files:
            self._move(found)
        file = self._heap.files[found.address]
        inode = os.fstat(file).st_ino
        return LAYOUT.pack(MAGIC, os.getpid(), file, inode, found.size, address - found.address)

    def _move(self, allocation: Allocation) -> None:
        """Move the bytes of an allocation into a file, mapped in their place."""
        heap = self._heap
        start, pages = allocation.address - heap.base, -(-allocation.size // PAGE) * PAGE
        try:
            file = os.memfd_create("mfmasim-shared")
            os.ftruncate(file, pages)
            for at in range(start, start + pages, FEW):
                part = heap.arena[at : min(at + FEW, start + pages)]
                unwritten = pages > POISONED and (part == POISON_BYTE).all()
                if part.any() and not unwritten:
                    os.pwrite(file, part.data, at - start)
        except OSError as error:
            raise HipFailure(INVALID_POINTER, f"no memory for processes to share: {error.strerror}") from None
        heap.back(allocation, file)

    def open(self, handle: bytes, device: int) -> int:
        """Map what another process shares.

        Args:
            handle: its handle.
            device: which accesses it here.

        Returns:
            Its address in this process.

        Raises:
            HipFailure: the handle is of this process, or of none that runs and shares it.
        """
        magic, process, number, inode, size, offset = LAYOUT.unpack_from(handle)
        if magic != MAGIC or not size:
            raise HipFailure(INVALID_VALUE)
        if process == os.getpid():
            raise HipFailure(INVALID_CONTEXT)
        try:
            file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            raise HipFailure(INVALID_POINTER, f"process {process} does not share this memory any more") from None
        status = os.fstat(file)
        key = status.st_dev, status.st_ino
        if status.st_ino != inode or status.st_size < size:
            os.close(file)
            raise HipFailure(INVALID_POINTER, f"process {process} does not share this memory any more")
        if key in self._opened and self._opened[key][0] in self._heap.files:  # once more, at the same address
            os.close(file)
            address, count = self._opened[key]
        else:
            try:
                made = self._heap.attach(file, size, device, process)
            except HipFailure:
                os.close(file)
                raise
            address, count = made.address, 0
            self._owners.add(process)
        self._opened[key] = address, count + 1
        return address + int(offset)

    def close(self, address: int) -> None:
        """Give back memory of another process.

        Raises:
            HipFailure: it was not opened.
        """
        found = self._heap.at(address)
        key = next((one for one, (start, _) in self._opened.items() if found and start == found.address), None)
        if found is None or key is None:
            raise HipFailure(INVALID_HANDLE)
        count = self._opened[key][1] - 1
        self._opened[key] = found.address, count
        if not count:
            del self._opened[key]
            self._heap.free(found.address)

    def launched(self) -> None:
        """A kernel has run: what it left undefined in shared memory others may have defined since."""
        if self._heap.written is not None:
            for address in self._heap.files:
                found = self._heap.at(address)
                if found is not None:
                    self._heap.written.mark(address, found.size)

    def forget(self) -> None:
        """All memory of the process is gone."""
        self._opened.clear()
