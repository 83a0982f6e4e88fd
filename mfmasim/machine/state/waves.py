"""Registers of a batch of waves, and the group of waves that executes one instruction together.

The wave axis runs over all waves in flight, whatever their workgroup. A register whose value is the same in every wave
is stored once, with a wave axis of length 1: values that depend only on the lane (addresses within a tile, kernel
arguments, loop counters) are then computed once for the whole grid. What a group of all waves writes is never changed
in place, so that several registers may share one array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.numerics.float_mode import FloatMode, float_mode
from mfmasim.machine.numerics.lane_masks import every, lanes_of, registers_of, words_of
from mfmasim.machine.numerics.lane_select import blend, dwords_of
from mfmasim.machine.state.instruction_counts import Executed
from mfmasim.machine.state.memory import POISON_DWORD
from mfmasim.machine.state.register_memo import Changed, Held, Kept
from mfmasim.machine.state.wave_selection import selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Operand
    from mfmasim.machine.state.barriers import FurtherBarriers

VCC, EXEC = 106, 126
SCALARS = 128
"""Operand codes of scalar registers."""
TTMP0, TTMPS = 108, 16
"""Operand code of the first trap temporary, and how many there are."""
RUNNING, AT_BARRIER, ENDED = 0, 1, 2
CSP = 7 << 29
"""Bits of MODE that no vector operation obeys: the pointer of the stack of paths (CDNA3 ISA manual, 3.5)."""
_UPPER = np.uint64(32)


class Waves(Executed):
    """All registers of a batch of waves; every one starts as poison.

    ``v`` and ``a`` hold one uint32 array (1 or waves, lanes) per register, ``s`` one (1 or waves,) per hardware operand
    code (VCC, M0 and EXEC included); ``scc``, ``mode``, ``priority``, ``exec`` and what the scheduler keeps (``pc``,
    ``status`` and instructions ``executed``) likewise. Where VGPRs and AGPRs share one file, ``v`` is all of it and
    ``a`` is empty.
    """

    accum_offset = 0
    """The register of ``v`` that is a0 as well; 0 where AGPRs have a file of their own, or do not exist."""

    further: FurtherBarriers
    """Named barriers and those of clusters."""

    float_mode: FloatMode | None
    """What floating-point operations obey of MODE, when it is the same in every wave, else None."""
    vector_mode: int | None
    """Bits of MODE with which blocks are bound (`Arch.vector_mode`), when they are alike in every wave, else None."""

    def __init__(self, arch: Arch, count: int, lanes: int, vgprs: int, agprs: int) -> None:
        """Make `count` waves of `lanes` lanes with the given register counts."""
        super().__init__()
        self.arch, self.count, self.lanes = arch, count, lanes
        poison = np.full((1, lanes), POISON_DWORD, np.uint32)
        self.v: list[NDArray[Any]] = [poison] * vgprs
        self.a: list[NDArray[Any]] = [poison] * agprs
        self.s: list[NDArray[Any]] = [poison[:, 0]] * SCALARS
        self.scc: NDArray[Any] = np.zeros(1, np.bool_)
        self.mode = np.zeros(1, np.uint32)
        self.priority: NDArray[Any] = np.zeros(1, np.uint32)
        self.exec: NDArray[Any] = np.ones((1, lanes), np.bool_)
        self.pc: NDArray[Any] = np.zeros(1, np.int64)
        self.status: NDArray[Any] = np.full(1, RUNNING, np.uint8)
        self.signalled: NDArray[Any] = np.zeros(1, np.bool_)
        self.complete: NDArray[Any] = np.zeros(1, np.bool_)
        self.workgroup = np.zeros(count, np.int64)
        self.lds_source: NDArray[Any] = np.zeros(1, np.uint32)
        """What LDS_DIRECT reads in the instruction that is executed."""
        self.own: dict[tuple[int, int], NDArray[Any]] = {}
        """Arrays, by register file and register, that groups of some waves made since all waves ran last."""
        self.changed = Changed()
        self.kept = Kept(self.changed)
        self.places: dict[tuple[int, ...], Any] = {}
        """Where registers of addresses lead in the LDS (`mfmasim.machine.ops.lds_places`)."""
        self.lane_masks: dict[int, tuple[list[NDArray[Any]], NDArray[np.bool_]]] = {}
        """Lane masks that vector instructions wrote, by scalar register: its words and the mask that they pack. A mask
        holds while the registers hold these very arrays."""

    @property
    def mode(self) -> NDArray[np.uint32]:
        """The MODE register, (1 or waves,)."""
        return self._mode

    @mode.setter
    def mode(self, values: NDArray[np.uint32]) -> None:
        self._mode = values
        first, vectors = int(values[0]), self.arch.vector_mode
        alike = bool((values == first).all())
        self.vector_mode = first & vectors if alike or (values & vectors == first & vectors).all() else None
        floats = ~(vectors | CSP) & 0xFFFFFFFF
        alike = alike or bool((values & np.uint32(floats) == first & floats).all())
        self.float_mode = float_mode(first & floats, self.arch.floats) if alike else None


class Group:
    """The waves that execute a block of instructions together, with access to their operands.

    Arrays that are read have shape (1 or waves of the group, lanes), scalars (1 or waves of the group,).
    """

    __slots__ = (
        "_dwords", "_seen", "_widened", "agprs", "all", "alone", "count", "lanes", "mask", "selection", "sgprs",
        "vgprs", "waves",
    )  # fmt: skip

    def __init__(self, waves: Waves, numbers: NDArray[np.int64] | None = None, *, alone: bool = False) -> None:
        """Select waves.

        Args:
            waves: all of the batch.
            numbers: numbers of the waves, ascending; None means all.
            alone: whether groups of all waves clear `Waves.own` before they run.
        """
        if numbers is None:
            numbers = np.arange(waves.count)
        self.selection = selection(numbers, waves.count)
        self.waves, self.count, self.alone = waves, len(numbers), alone
        # The register files once more: a bound instruction accesses them in one step while the group is all waves.
        self.vgprs, self.agprs, self.sgprs = waves.v, waves.a, waves.s
        self.lanes = waves.lanes
        self.all = self.count == waves.count
        self.mask: NDArray[np.bool_] | None = None
        self._seen: NDArray[Any] | None = None
        self._widened: NDArray[np.bool_] | None = None
        """The mask of which `_dwords` are the dwords."""
        self._dwords: NDArray[np.uint32]
        self.refresh()

    def refresh(self) -> None:
        """Re-read EXEC; `mask` is None while every lane is active, so that most writes need no mask."""
        active = self.active
        self.mask = None if every(active) else active
        self._seen = self.waves.exec

    def resume(self) -> None:
        """`refresh` before the next block: EXEC is read again only if its array is another one."""
        if self._seen is not self.waves.exec:
            self.refresh()

    def take(self, values: NDArray[Any]) -> NDArray[Any]:
        """The group's part of an array of all waves; of some waves a copy, as `_write_part` may change the array."""
        if self.all or len(values) == 1:
            return values
        return self.selection.read(values)

    @property
    def lds_source(self) -> NDArray[Any]:
        """The value of LDS_DIRECT, (1 or waves of the group,)."""
        return self.take(self.waves.lds_source)

    def put_lds_source(self, value: NDArray[np.uint32]) -> None:
        """Set the value of LDS_DIRECT, (waves of the group,)."""
        self.waves.lds_source = self._put(self.waves.lds_source, value)

    def _write_part(self, file: list[NDArray[Any]], index: int, value: NDArray[Any]) -> None:
        """Write the group's waves of a register.

        While no group of all waves has run in between, an array that was made here stands behind this register only,
        and changes in place: a group of a few waves does not copy all.
        """
        old, key = file[index], (id(file), index)
        if self.alone and self.waves.own.get(key) is old:
            self.selection.write(old, value)
            self.waves.changed.note(key, self.selection)
            return
        file[index] = full = self._put(old, value)
        if self.alone:
            self.waves.own[key] = full

    def _put(self, old: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
        """The array of all waves with the group's values in it."""
        if self.all:
            return value
        full = np.empty((self.waves.count, *old.shape[1:]), old.dtype)
        full[:] = old
        self.selection.write(full, value)
        return full

    @property
    def active(self) -> NDArray[np.bool_]:
        """EXEC as booleans."""
        return self.take(self.waves.exec)

    @property
    def scc(self) -> NDArray[np.bool_]:
        """SCC as booleans."""
        return self.take(self.waves.scc)

    @scc.setter
    def scc(self, value: NDArray[Any]) -> None:
        if not np.ndim(value):
            value = np.atleast_1d(value)
        self.waves.scc = value if self.all else self._put(self.waves.scc, value)

    @property
    def pc(self) -> NDArray[np.int64]:
        """Address of the next instruction."""
        return self.take(self.waves.pc)

    @pc.setter
    def pc(self, value: NDArray[Any]) -> None:
        self.waves.pc = self._put(self.waves.pc, value)

    @property
    def executed(self) -> NDArray[np.int64]:
        """Number of instructions executed before the current block."""
        return self.take(self.waves.executed)

    def count_executed(self, instructions: int) -> int:
        """Count executed instructions; returns the largest number that a wave of the group has executed."""
        if self.all:
            return self.waves.count_executed(instructions)
        executed = self.take(self.waves.executed) + instructions
        self.waves.executed = self._put(self.waves.executed, executed)
        return int(executed[0]) if len(executed) == 1 else int(executed.max())

    def stop(self, status: int) -> None:
        """Stop scheduling the group: `ENDED` or `AT_BARRIER`."""
        self.waves.status = self._put(self.waves.status, np.full(1, status, np.uint8))

    @property
    def mode(self) -> NDArray[np.uint32]:
        """The MODE register."""
        return self.take(self.waves.mode)

    def write_mode(self, value: NDArray[np.uint32]) -> None:
        """Write the MODE register."""
        self.waves.mode = self._put(self.waves.mode, np.atleast_1d(value))

    @property
    def priority(self) -> NDArray[np.uint32]:
        """The priority that the program has set."""
        return self.take(self.waves.priority)

    def write_priority(self, value: NDArray[np.uint32]) -> None:
        """Set the priority."""
        self.waves.priority = self._put(self.waves.priority, value)

    def by_mode(self, step: Callable[[Group, FloatMode], None]) -> None:
        """Execute a step once for every value that MODE has among the waves."""
        mode = self.waves.float_mode
        if mode is not None:
            step(self, mode)
            return
        modes = np.broadcast_to(self.mode & ~np.uint32(self.waves.arch.vector_mode | CSP), (self.count,))
        indices = self.indices()
        for value in np.unique(modes):
            chosen = indices[modes == value]
            part = Group(self.waves, chosen)
            if self.mask is not None and len(self.mask) > 1:
                part.mask = self.mask[modes == value]  # narrower than EXEC under DPP
            elif self.mask is not None:
                part.mask = self.mask
            step(part, float_mode(int(value), self.waves.arch.floats))
        self.refresh()

    @property
    def workgroup(self) -> NDArray[np.int64]:
        """Workgroup of each wave within the batch, (waves,)."""
        return self.waves.workgroup[self.selection.numbers()]

    def indices(self) -> NDArray[np.int64]:
        """Wave numbers of the group within the batch."""
        return self.selection.numbers()

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values with the wave and lane axes at full length."""
        return np.broadcast_to(values, (self.count, self.lanes))

    def v(self, kind: str, index: int) -> NDArray[np.uint32]:
        """Read a VGPR (``v``) or AGPR (``a``)."""
        values = (self.vgprs if kind == "v" else self.agprs)[index]
        return values if self.all else self.take(values)

    def rows(self, *operands: Operand) -> NDArray[np.uint32]:
        """Read the registers of vector operands as one array of their own, (1 or waves, registers, lanes)."""
        found = [values for operand in operands for values in self._registers(operand)]
        waves = 1 if all(len(values) == 1 for values in found) else self.count
        out = np.empty((waves, len(found), self.lanes), np.uint32)
        for register, values in enumerate(found):
            out[:, register] = self.take(values)
        return out

    def _registers(self, operand: Operand) -> list[NDArray[Any]]:
        file = self.vgprs if operand.kind == "v" else self.agprs
        return file[operand.index : operand.index + operand.count]

    def held(self, *operands: Operand) -> Held:
        """`rows` of operands, kept until one of their registers is written: further instructions may read them."""
        registers = tuple(
            (id(self.vgprs if operand.kind == "v" else self.agprs), operand.index + register)
            for operand in operands
            for register in range(operand.count)
        )
        arrays = [values for operand in operands for values in self._registers(operand)]
        return self.waves.kept.read(registers, arrays, self.selection, lambda: self.rows(*operands))

    def s(self, code: int) -> NDArray[np.uint32]:
        """Read a scalar register by its hardware code."""
        values = self.sgprs[code]
        return values if self.all else self.take(values)

    def write_v(self, kind: str, index: int, value: NDArray[Any]) -> None:
        """Write a VGPR or AGPR under EXEC.

        Args:
            kind: ``v`` or ``a``.
            index: number of the register.
            value: dwords of any 32-bit type, (1 or waves, 1 or lanes).
        """
        file = self.vgprs if kind == "v" else self.agprs
        if self.mask is not None:
            if self._widened is not self.mask:
                self._widened, self._dwords = self.mask, dwords_of(self.mask)
            value = blend(self._dwords, value, self.take(file[index]))
        elif value.shape[-1] != self.lanes:
            value = np.broadcast_to(value, (len(value), self.lanes))
        if self.all:
            file[index] = value
        else:
            self._write_part(file, index, value)

    def write_all_lanes(self, kind: str, index: int, value: NDArray[Any]) -> None:
        """Write a VGPR or AGPR regardless of EXEC, as matrix instructions do.

        Args:
            kind: ``v`` or ``a``.
            index: number of the register.
            value: dwords, (1 or waves, lanes).
        """
        file = self.vgprs if kind == "v" else self.agprs
        if self.all:
            file[index] = value
        else:
            self._write_part(file, index, value)

    def write_s(self, code: int, value: NDArray[Any]) -> None:
        """Write a scalar register."""
        file = self.sgprs
        if not np.ndim(value):
            value = np.atleast_1d(value)
        if self.all:
            file[code] = value
        else:
            self._write_part(file, code, value)
        if code >= EXEC:
            self.waves.exec = self._put(self.waves.exec, lanes_of(self._mask_bits(EXEC), self.lanes))
            self.refresh()

    def write_pair(self, code: int, value: NDArray[Any]) -> None:
        """Write two scalar registers, from 64-bit values (1 or waves,)."""
        words = np.ascontiguousarray(np.atleast_1d(value)).view(np.uint32)
        self.write_s(code, words[::2])
        self.write_s(code + 1, words[1::2])

    def write_exec64(self, value: NDArray[np.uint64]) -> None:
        """Write EXEC_LO and EXEC_HI at once, from uint64 (1 or waves,)."""
        words = np.ascontiguousarray(value).view(np.uint32)
        for code, word in ((EXEC, words[::2]), (EXEC + 1, words[1::2])):
            if self.all:
                self.sgprs[code] = word
            else:
                self._write_part(self.sgprs, code, word)
        self.waves.exec = self._put(self.waves.exec, lanes_of(value, self.lanes))
        self.refresh()

    def _mask_bits(self, code: int) -> NDArray[np.uint32 | np.uint64]:
        """The scalar pair as uint64, (1 or waves,); on wave32 the one register."""
        low = self.s(code)
        return low if self.lanes == 32 else low.astype(np.uint64) | self.s(code + 1).astype(np.uint64) << _UPPER

    def write_exec(self, mask: NDArray[np.bool_]) -> None:
        """Write EXEC from booleans."""
        words = words_of(mask)
        file = self.waves.s
        for part in range(2):
            file[EXEC + part] = self._put(file[EXEC + part], words[..., part])
        self.waves.exec = self._put(self.waves.exec, mask)
        self.refresh()

    def write_mask(self, code: int, mask: NDArray[np.bool_]) -> None:
        """Write a lane mask to a scalar pair (one register on wave32); inactive lanes give 0."""
        if mask.shape[-1] != self.lanes:
            mask = np.broadcast_to(mask, (len(mask), self.lanes))
        if self.mask is not None:
            mask = mask & self.mask
        if code == EXEC and self.lanes == 64:
            self.write_exec(mask)
            return
        words = registers_of(mask)
        if self.all and code < EXEC:
            self.sgprs[code : code + len(words)] = words
            self.waves.lane_masks[code] = words, mask
            return
        for part, word in enumerate(words):
            self.write_s(code + part, word)

    def lane_mask(self, code: int) -> NDArray[np.bool_]:
        """Read a lane mask from a scalar pair (one register on wave32)."""
        known, last = self.waves.lane_masks.get(code), code + self.lanes // 64
        if known is not None and self.all:
            words, mask = known
            if words[0] is self.sgprs[code] and words[-1] is self.sgprs[last]:
                return mask
        return lanes_of(self._mask_bits(code), self.lanes)
