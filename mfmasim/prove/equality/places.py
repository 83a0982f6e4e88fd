"""Codes of the bytes of registers and memory: parts of expressions, 0 for a constant byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.definedness.keys import VECTORS
from mfmasim.machine.definedness.planes import register
from mfmasim.prove.equality.pool import BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import U32, Flags
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.waves import Group
    from mfmasim.prove.equality.pool import Codes

    Numbers = NDArray[np.int64]

DWORD = 32
"""Lanes whose bits of a mask are in one register."""
SHIFTS = 8 * np.arange(BYTES, dtype=np.uint32)


def constant_bytes(words: U32) -> Codes:
    """Codes of the bytes of constants, (..., 4)."""
    return -1 - (words[..., None] >> SHIFTS & np.uint32(0xFF)).astype(np.int64)


def rows(group: Group, key: int) -> U32:
    """Values of a register by wave, (waves, lanes); of a scalar register, (waves,).

    Args:
        group: the waves.
        key: the register.
    """
    words = group.take(register(group.waves, key))
    return np.broadcast_to(words, (group.count, group.lanes) if key < VECTORS else (group.count,))


def mask_bits(group: Group, key: int) -> Flags:
    """Bits of a lane mask, (waves, lanes).

    Args:
        group: the waves.
        key: of the lower register.
    """
    words = [rows(group, key + word) for word in range(group.lanes // DWORD)]
    bits = [word[:, None] >> np.arange(DWORD, dtype=np.uint32) & np.uint32(1) for word in words]
    return np.concatenate(bits, axis=1).astype(np.bool_)


class Registers:
    """Codes of the registers of all waves of a launch; a register that only held constants has no entry.

    The key of a register is that of `mfmasim.machine.definedness.keys`; SCC counts as a register of 32 bits.
    """

    def __init__(self, waves: int, lanes: int) -> None:
        """Nothing but constants.

        Args:
            waves: of the launch.
            lanes: of a wave.
        """
        self._waves, self._lanes = waves, lanes
        self._held: dict[int, Codes] = {}
        self.words = lanes // DWORD
        """Registers of a lane mask."""
        self.masks: dict[int, Codes] = {}
        """Lane masks that depend on inputs: the number of an expression by lane, 0 for a constant bit; by the key of
        the lower register."""

    def parts(self, key: int, numbers: Numbers) -> Codes | None:
        """Codes of some waves, (waves, lanes, 4); of a scalar register, (waves, 4); None for constants alone."""
        held = self._held.get(key)
        if held is None:
            return None
        rows: Codes = held[numbers]
        return rows if rows.any() else None

    def codes(self, key: int, numbers: Numbers, group: Group) -> Codes:
        """Codes of the bytes of a register, with constants as codes of their bits; shape as `parts`.

        Args:
            key: the register.
            numbers: of the waves in the launch.
            group: the waves.
        """
        words = group.take(register(group.waves, key))
        shape = (len(numbers), self._lanes) if key < VECTORS else (len(numbers),)
        bytes_held = constant_bytes(np.broadcast_to(words, shape))
        parts = self.parts(key, numbers)
        return bytes_held if parts is None else np.where(parts != 0, parts, bytes_held)

    def put(self, key: int, numbers: Numbers, codes: Codes, active: Flags | None = None) -> None:
        """Change a register in its active lanes.

        Args:
            key: the register.
            numbers: of the waves.
            codes: of its bytes, as `codes` gives them.
            active: lanes, (waves, lanes); None is all.
        """
        parts = np.where(codes < 0, 0, codes)
        held = self._held.get(key)
        if held is None:
            if not parts.any():
                return
            shape = (self._waves, self._lanes, BYTES) if key < VECTORS else (self._waves, BYTES)
            held = self._held[key] = np.zeros(shape, np.int64)
        held[numbers] = parts if active is None else np.where(active[..., None], parts, held[numbers])

    def any_held(self, numbers: Numbers) -> bool:
        """Whether any register depends on inputs in one of these waves."""
        return any(self.parts(key, numbers) is not None for key in self._held)

    def depends(self, key: int, numbers: Numbers) -> bool:
        """Whether a register depends on inputs in one of these waves, as 32 bits or as a part of a lane mask."""
        if self.parts(key, numbers) is not None:
            return True
        for word in range(self.words):
            held = self.mask(key - word, numbers)
            if held is not None and held[:, DWORD * word : DWORD * (word + 1)].any():
                return True
        return False

    def forget(self, key: int, numbers: Numbers) -> None:
        """A scalar register is written: the lane mask that it held a part of is no longer valid."""
        for word in range(self.words):
            held = self.masks.get(key - word)
            if held is not None:
                held[numbers, DWORD * word : DWORD * (word + 1)] = 0

    def mask(self, key: int, numbers: Numbers) -> Codes | None:
        """Expressions of a lane mask, (waves, lanes); None: constants alone."""
        held = self.masks.get(key)
        if held is None:
            return None
        rows: Codes = held[numbers]
        return rows if rows.any() else None

    def put_mask(self, key: int, numbers: Numbers, found: Codes | None) -> None:
        """Change a lane mask in scalar registers.

        Args:
            key: the lower register.
            numbers: of the waves in the launch.
            found: its expressions, (waves, lanes); None for a mask of constants.
        """
        for word in range(self.words):
            self.forget(key + word, numbers)
        held = self.masks.get(key)
        if held is None:
            if found is None or not found.any():
                return
            held = self.masks[key] = np.zeros((self._waves, self._lanes), np.int64)
        held[numbers] = 0 if found is None else found


class Memory:
    """Parts of expressions in global memory and in the LDS of each workgroup, byte by byte."""

    def __init__(self, launch: Launch) -> None:
        """Nothing but constants."""
        self._launch = launch
        self.arena = np.zeros(launch.memory.size, np.int64)
        self._lds: dict[int, Codes] = {}
        self._scratch: Codes | None = None

    def _of(self, space: str, wave: int) -> Codes:
        if space == "global":
            return self.arena
        group = wave // self._launch.waves_per_workgroup
        if group not in self._lds:
            self._lds[group] = np.zeros(max(1, self._launch.lds_bytes), np.int64)
        return self._lds[group]

    def _base(self, space: str) -> int:
        return self._launch.memory.base if space == "global" else 0

    def load(self, space: str, numbers: Numbers, addresses: Numbers, active: Flags, size: int) -> Codes:
        """Codes of the bytes that lanes read, 0 for a constant byte, (waves, lanes, size).

        Args:
            space: ``global`` or ``lds``.
            numbers: of the waves.
            addresses: in bytes, (waves, lanes).
            active: lanes that take part.
            size: bytes of a lane.
        """
        where = addresses.astype(np.int64)[..., None] - self._base(space) + np.arange(size)
        out = np.zeros(where.shape, np.int64)
        for row, wave in enumerate(numbers.tolist()):
            held = self._of(space, wave)
            fits = active[row][:, None] & (where[row] >= 0) & (where[row] < len(held))
            out[row][fits] = held[where[row][fits]]
        return out

    def store(self, space: str, numbers: Numbers, addresses: Numbers, active: Flags, codes: Codes) -> bool:
        """Change the bytes that lanes write.

        Returns:
            Whether lanes of one wave that write one byte write equal codes; the ISA does not define their order.

        Args:
            space: ``global`` or ``lds``.
            numbers: of the waves.
            addresses: in bytes, (waves, lanes).
            active: lanes that take part.
            codes: of bytes, (waves, lanes, size).
        """
        where = addresses.astype(np.int64)[..., None] - self._base(space) + np.arange(codes.shape[-1])
        parts = np.where(codes < 0, 0, codes)
        alike = True
        for row, wave in enumerate(numbers.tolist()):
            held = self._of(space, wave)
            fits = active[row][:, None] & (where[row] >= 0) & (where[row] < len(held))
            at, written = where[row][fits], codes[row][fits]
            _, first, inverse = np.unique(at, return_index=True, return_inverse=True)
            alike &= bool((written[first][inverse] == written).all())
            held[at] = parts[row][fits]
        return alike
