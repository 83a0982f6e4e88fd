"""Buffers of a launch on a GPU: each lies between guard zones, and all are freed even after errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.devices.hip_library import Hip
from mfmasim.devices.hip_modules import HipModules, release
from mfmasim.devices.kinds import OVERWRITTEN, READ_ONLY
from mfmasim.machine.launch.argument_segment import Buffers
from mfmasim.machine.state.memory import PAGE, POISON_BYTE, Region
from mfmasim.observe import Finding
from mfmasim.observe.finding import Kind

GUARD = 4096
"""Bytes of poison before and after every buffer."""


class HipBuffers:
    """Device memory of one launch; `mfmasim.machine.launch.argument_segment` fills it as it fills the machine's."""

    def __init__(self, hip: Hip, kept: HipModules, poison: int = POISON_BYTE) -> None:
        """Start empty; the guard zones hold `poison`, a byte."""
        self._hip = hip
        self._kept = kept
        self._poison = poison
        self._blocks: dict[int, Any] = {}  # address of a buffer to hip-python's pointer to its block
        self._allocated: dict[int, int] = {}  # address of a buffer to the size of its block
        self._sent: dict[int, NDArray[np.uint8]] = {}
        self.regions: list[Region] = []
        self.buffers = Buffers()

    @property
    def memory(self) -> HipBuffers:
        """Addresses of the allocated buffers."""
        return self

    def reserve(self, name: str, size: int, *, offset: int = 0) -> Region:
        """Allocate a buffer with its guard zones.

        Args:
            name: for messages.
            size: in bytes.
            offset: bytes past the start of a page.
        """
        allocated = size + 2 * GUARD + (offset + PAGE if offset else 0)
        block = self._kept.block(allocated, f"{size:,} bytes for {name}")
        address = int(block) + GUARD
        if offset:
            address = -(-address // PAGE) * PAGE + offset
        self._blocks[address] = block
        self._allocated[address] = allocated
        self.regions.append(Region(name, address, size))
        return self.regions[-1]

    def send(self) -> None:
        """Copy every array to its buffer, poison around it."""
        for region, array in self.buffers:
            block = self._blocks[region.address]
            host = np.full(self._allocated[region.address], self._poison, np.uint8)
            start = region.address - int(block)
            host[start : start + region.size] = array.reshape(-1).view(np.uint8)
            self._copy(block, host, host.nbytes, "hipMemcpyHostToDevice")
            self._sent[region.address] = host

    def collect(self, kernel: str) -> list[Finding]:
        """Copy buffers back into their arrays, and check the guard zones and read-only arrays.

        Returns:
            Findings about guard zones and about read-only arrays, which keep their contents.
        """
        findings = []
        for region, array in self.buffers:
            block, sent = self._blocks[region.address], self._sent[region.address]
            host = np.empty_like(sent)
            self._copy(host, block, host.nbytes, "hipMemcpyDeviceToHost")
            start = region.address - int(block)
            end = start + region.size
            changed = np.flatnonzero(host != sent)
            for text, kind in _what_changed(changed, start, end, region, writeable=array.flags.writeable):
                findings.append(Finding(kind.check, kind.severity, text, kind.id, kernel=kernel))
            if array.flags.writeable:
                array.reshape(-1).view(np.uint8)[:] = host[start:end]
        return findings

    def _copy(self, to: object, source: object, size: int, kind: str) -> None:
        self._hip.call("hipMemcpy", to, source, size, getattr(self._hip.module.hipMemcpyKind, kind))

    def keep(self) -> None:
        """Leave every buffer to later launches; the next one that uses it overwrites all of it.

        Raises:
            MfmasimError: an excess buffer could not be freed.
        """
        self._kept.keep([(self._allocated[address], block) for address, block in self._blocks.items()])
        self._blocks.clear()

    def free(self) -> None:
        """Free every buffer; a lost device cannot, which is reported once.

        Raises:
            MfmasimError: a buffer could not be freed; all others were.
        """
        blocks = [self._blocks.popitem()[1] for _ in range(len(self._blocks))]
        release([partial(self._hip.call, "hipFree", block) for block in blocks])


def _what_changed(
    changed: NDArray[np.int64], start: int, end: int, region: Region, *, writeable: bool
) -> Iterator[tuple[str, Kind]]:
    """Words and kinds for bytes that must not have changed; `changed` are their places in the block."""
    before, after = changed[changed < start], changed[changed >= end]
    if len(before):
        yield f"{len(before)} bytes before {region.name} were written, from {start - before[0]} on", OVERWRITTEN
    if len(after):
        text = f"{len(after)} bytes after {region.name} ({region.size} bytes) were written, from {after[0] - end} on"
        yield text, OVERWRITTEN
    inside = len(changed) - len(before) - len(after)
    if inside and not writeable:
        yield f"{region.name} is a read-only array, and {inside} bytes of it were changed", READ_ONLY
