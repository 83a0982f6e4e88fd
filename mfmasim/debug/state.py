"""Registers, LDS, scratch and global memory of one wave at the replay's position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.machine.state.memory import PRIVATE_BASE, SHARED_BASE
from mfmasim.machine.state.waves import AT_BARRIER, ENDED, EXEC, VCC

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.debug.replay import Replay

    U64 = NDArray[np.uint64]


STATUS = {AT_BARRIER: "at a barrier", ENDED: "ended"}


class State:
    """The state of a wave. Arrays have one value for each lane and are copies."""

    def __init__(self, replay: Replay, wave: int) -> None:
        """Look at wave `wave` of the launch.

        Raises:
            MfmasimError: it is not in flight.
        """
        launch = replay.launch
        self.replay, self.wave, self.launch = replay, wave, launch
        self.own = wave - replay.first_workgroup * launch.waves_per_workgroup
        if not 0 <= self.own < replay.waves.count:
            first = replay.first_workgroup * launch.waves_per_workgroup
            raise MfmasimError(
                f"wave {wave} is not in flight here: waves {first} to {first + replay.waves.count - 1} are"
            )
        self.lanes = replay.waves.lanes

    def _row(self, values: NDArray[Any]) -> Any:
        return values[self.own if len(values) > 1 else 0]

    def vector(self, kind: str, index: int) -> NDArray[np.uint32]:
        """A VGPR (``v``) or AGPR (``a``), uint32 (lanes,).

        Raises:
            MfmasimError: the kernel does not allocate it.
        """
        file, first = self._file(kind)
        count = self.count(kind)
        if not 0 <= index < count:
            have = f"{kind}0 to {kind}{count - 1}" if count else "none"
            raise MfmasimError(f"{kind}{index}: of these registers the kernel has {have}")
        return np.array(np.broadcast_to(self._row(file[first + index]), (self.lanes,)))

    def _file(self, kind: str) -> tuple[list[NDArray[Any]], int]:
        """The file of a register, and the number of its first one there."""
        waves = self.replay.waves
        if kind == "a" and waves.accum_offset:
            return waves.v, waves.accum_offset
        return (waves.v if kind == "v" else waves.a), 0

    def count(self, kind: str) -> int:
        """VGPRs or AGPRs that the kernel allocates."""
        file, first = self._file(kind)
        return len(file) - first

    def scalar(self, code: int) -> int:
        """A scalar register by its hardware code."""
        if not 0 <= code < len(self.replay.waves.s):
            raise MfmasimError(f"s{code}: scalar registers have codes 0 to {len(self.replay.waves.s) - 1}")
        return int(self._row(self.replay.waves.s[code]))

    def pair(self, code: int) -> int:
        """Two scalar registers as one number; on wave32 the first alone."""
        low = self.scalar(code)
        return low if self.lanes == 32 else low | self.scalar(code + 1) << 32

    @property
    def vcc(self) -> int:
        """VCC."""
        return self.pair(VCC)

    @property
    def exec(self) -> int:
        """EXEC."""
        return self.pair(EXEC)

    @property
    def active(self) -> NDArray[np.bool_]:
        """Active lanes, (lanes,)."""
        return np.array(np.broadcast_to(self._row(self.replay.waves.exec), (self.lanes,)))

    @property
    def scc(self) -> int:
        """SCC."""
        return int(self._row(self.replay.waves.scc))

    @property
    def mode(self) -> int:
        """MODE."""
        return int(self._row(self.replay.waves.mode))

    @property
    def status(self) -> str:
        """``running``, ``at a barrier`` or ``ended``."""
        return STATUS.get(int(self._row(self.replay.waves.status)), "running")

    @property
    def workgroup(self) -> tuple[int, int, int]:
        """Its workgroup in x, y, z."""
        return self.launch.place(self.wave).workgroup

    @property
    def number(self) -> int:
        """Wave of the workgroup."""
        return self.launch.place(self.wave).wave

    @property
    def lds(self) -> NDArray[np.uint8]:
        """The LDS of its workgroup."""
        held: NDArray[np.uint8] = self.replay.lds[int(self.replay.waves.workgroup[self.own])]
        return held

    def work_items(self) -> NDArray[np.int64]:
        """Number of each lane's work-item in the workgroup."""
        found: NDArray[np.int64] = self.number * self.lanes + np.arange(self.lanes)
        return found

    def scratch(self, offsets: NDArray[np.int64], size: int) -> U64 | None:
        """Up to 8 bytes of each lane's scratch from an offset on; None if a lane has no such byte."""
        rows = self.replay.scratch[self.own * self.lanes : (self.own + 1) * self.lanes]
        offsets = np.broadcast_to(offsets, (self.lanes,))
        if not rows.size or int(offsets.min()) < 0 or int(offsets.max()) + size > rows.shape[1]:
            return None
        lanes = np.arange(self.lanes)
        return _joined([rows[lanes, offsets + byte] for byte in range(size)])

    def lds_bytes(self, offsets: NDArray[np.int64], size: int) -> U64 | None:
        """Up to 8 bytes of the LDS for each lane; None if a byte lies outside."""
        held, offsets = self.lds, np.atleast_1d(offsets)
        if int(offsets.min()) < 0 or int(offsets.max()) + size > len(held):
            return None
        return _joined([held[offsets + byte] for byte in range(size)])

    def memory(self, addresses: NDArray[np.int64], size: int) -> U64 | None:
        """Up to 8 bytes at an address of each lane, in any space; None if a lane's bytes are in no buffer."""
        addresses = np.atleast_1d(np.asarray(addresses, np.int64))
        space = addresses >> 48
        if (space == SHARED_BASE >> 48).all():
            return self.lds_bytes(addresses & 0xFFFFFFFF, size)
        if (space == PRIVATE_BASE >> 48).all():
            return self.scratch(addresses & 0xFFFFFFFF, size)
        return read(self.replay, addresses, size)


def read(replay: Replay, addresses: NDArray[np.int64], size: int) -> U64 | None:
    """Up to 8 bytes of global memory at each address; None if a byte is in no buffer.

    Args:
        replay: the replay, which has the memory.
        addresses: of the first bytes.
        size: bytes.
    """
    memory = replay.memory
    out = np.zeros((size, len(addresses)), np.uint8)
    left = np.ones(len(addresses), np.bool_)
    for region in memory.regions:
        inside = (addresses >= region.address) & (addresses + size <= region.address + region.size)
        if inside.any():
            held, offsets = memory.view(region), addresses[inside] - region.address
            for byte in range(size):
                out[byte, inside] = held[offsets + byte]
            left &= ~inside
    return None if left.any() else _joined(list(out))


def _joined(parts: list[NDArray[np.uint8]]) -> U64:
    """Little-endian bytes as one number for each lane."""
    total = np.zeros(len(parts[0]), np.uint64)
    for number, part in enumerate(parts):
        total |= part.astype(np.uint64) << np.uint64(8 * number)
    return total
