"""The executed trace: for each wave its instructions in order, and what each memory access needs of the pipes."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch
from mfmasim.architectures.rates import Rates
from mfmasim.cost.operation import Operation, operation_of
from mfmasim.errors import MfmasimError
from mfmasim.isa import Instruction
from mfmasim.kernels import Kernel
from mfmasim.lds import PhaseTable, ds_instruction, phase_table
from mfmasim.lds.counting import count_degrees
from mfmasim.machine.events import AccessEvent, BlockEvent, Observer

NOTHING = -1
"""Number of the access of an instruction that accesses nothing."""


@dataclass(frozen=True)
class Access:
    """What one wave's access needs, in clocks; and its lines."""

    lds: float = 0.0
    port: float = 0.0
    fill: float = 0.0
    lanes: int = 0
    """Lanes that access memory other than the LDS."""
    lines: tuple[int, ...] = ()
    """Cache lines of global memory, by number."""
    own_lines: int = 0
    """Lines of scratch."""
    bytes: int = 0
    """Of global memory and scratch, all lanes."""
    extra: int = 0
    """Passes of the LDS beyond one for each phase."""
    write: bool = False

    def plus(self, other: Access) -> Access:
        """Both accesses of one instruction, whose parts are reported one by one."""
        lines = self.lines if other.lines == self.lines else tuple(sorted({*self.lines, *other.lines}))
        return Access(
            self.lds + other.lds,
            self.port + other.port,
            self.fill + other.fill,
            max(self.lanes, other.lanes),
            lines,
            max(self.own_lines, other.own_lines),
            self.bytes + other.bytes,
            self.extra + other.extra,
            self.write or other.write,
        )

    def memory(self, rates: Rates) -> float:
        """Clocks of the vector memory unit: for its addresses, its lines or its bytes, whichever take longest."""
        if not self.lanes:
            return 0.0
        return max(
            self.lanes / rates["addresses"].value,
            (len(self.lines) + self.own_lines) / rates["lines"].value,
            self.bytes / rates["l1"].value,
        )


@dataclass
class WaveTrace:
    """What one wave executed."""

    workgroup: int
    """Its number among those that are resident."""
    wave: int
    operations: array[int] = field(default_factory=lambda: array("l"))
    accesses: array[int] = field(default_factory=lambda: array("l"))
    """Of each instruction the number of its access, or `NOTHING`."""


@dataclass
class Trace:
    """What the resident workgroups of one unit executed."""

    arch: Arch
    lanes: int
    operations: list[Operation] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    waves: list[WaveTrace] = field(default_factory=list)
    in_pairs: bool = False
    """RDNA's CU mode: a workgroup runs on one of the two pairs of SIMDs."""

    def simd_of(self, number: int) -> int:
        """The SIMD of a wave: in turn, as HIP's documentation and published schedules describe it."""
        if not self.in_pairs:
            return number % 4
        wave = self.waves[number]
        return 2 * (wave.workgroup % 2) + (wave.workgroup // 2 + wave.wave) % 2

    def group_of(self, number: int) -> int:
        """The group of SIMDs with one LDS that a wave belongs to; a workgroup on RDNA may use both LDS of a pair."""
        return self.simd_of(number) // self.arch.rates.lds_simds


class Recorder(Observer):
    """Observes launches, one workgroup after the other, and makes a trace."""

    name = "cost"

    def __init__(self, kernel: Kernel) -> None:
        """Record a kernel."""
        self.kernel = kernel
        self.arch = kernel.arch
        self.trace = Trace(kernel.arch, kernel.wave, in_pairs=kernel.info.descriptor.fields.get("wgp_mode") == 0)
        self._known: dict[int, int] = {}
        """Numbers of operations by address."""
        self._same: dict[Access, int] = {}
        self._pending: dict[int, dict[int, Access]] = {}
        """Accesses of the block that runs: by address and wave of the launch."""
        self._first = self._batch = 0
        """Number of the first wave of the batch that runs in the launch, and waves of the batch."""
        self._here: dict[int, WaveTrace] = {}
        """By number in the launch: the waves that are recorded."""

    def begin(self, number: int, first: int, waves: int) -> None:
        """Record a workgroup from now on.

        Args:
            number: among those that are resident.
            first: number of its first wave in the launch.
            waves: how many it has.
        """
        here = {first + wave: WaveTrace(number, wave) for wave in range(waves)}
        self._here |= here
        self.trace.waves.extend(here.values())

    def end(self) -> None:
        """Record nothing further."""
        self._here = {}

    def batch(self, first: int) -> None:
        """The next batch begins with this wave of the launch; without a call it follows the batch before."""
        self._first, self._batch = first, 0

    def on_block(self, event: BlockEvent) -> None:
        """Append a block to the traces of its waves."""
        if event.fresh:
            self._first, self._batch = self._first + self._batch, event.total
        traces = [(wave, self._here[wave]) for wave in (event.waves + self._first).tolist() if wave in self._here]
        if not traces:
            return
        numbers = [self._known[ins.pc] if ins.pc in self._known else self._new(ins) for ins in event.instructions]
        pending = [self._pending.get(ins.pc) for ins in event.instructions]
        quiet = [NOTHING] * len(numbers)
        for wave, trace in traces:
            trace.operations.extend(numbers)
            if not self._pending:
                trace.accesses.extend(quiet)
                continue
            found = [NOTHING if each is None else self._access(each.get(wave)) for each in pending]
            trace.accesses.extend(found)
        self._pending.clear()

    def _new(self, instruction: Instruction) -> int:
        number = len(self.trace.operations)
        source = self.kernel.source_at(instruction.pc)
        self.trace.operations.append(operation_of(self.arch, self.kernel.wave, instruction, number, source))
        self._known[instruction.pc] = number
        return number

    def _access(self, access: Access | None) -> int:
        if access is None:
            return NOTHING
        number = self._same.get(access)
        if number is None:
            number = self._same[access] = len(self.trace.accesses)
            self.trace.accesses.append(access)
        return number

    def on_access(self, event: AccessEvent) -> None:
        """Note what an access needs."""
        mine = [(row, number) for row, number in enumerate(event.numbers.tolist()) if number in self._here]
        if not mine:
            return
        rows_of = [row for row, _ in mine]
        lanes = event.addresses.shape[-1]
        addresses, active = event.addresses, event.active
        addresses = addresses.view(np.int64) if addresses.dtype == np.uint64 else addresses
        if len(mine) < event.waves:
            addresses = addresses[rows_of] if len(addresses) > 1 else addresses
            active = active[rows_of] if active is not None and len(active) > 1 else active
        if active is not None:
            addresses, active = np.broadcast_arrays(addresses, active)
        if event.space != "lds":
            rows = self._memory_rows(event, addresses, active, lanes)
        elif event.instruction.opcode.unit == "LDS":
            rows = self._lds_rows(event, addresses, active, lanes)
        else:
            rate = self.arch.rates["lds fill"].value
            count = [lanes] * len(addresses) if active is None else active.sum(axis=-1).tolist()
            rows = [Access(fill=n * event.size / rate) for n in count]
        here = self._pending.setdefault(event.instruction.pc, {})
        for index, (_, number) in enumerate(mine):
            one = rows[index if len(rows) > 1 else 0]
            here[number] = here[number].plus(one) if number in here else one

    def _memory_rows(
        self, event: AccessEvent, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, lanes: int
    ) -> list[Access]:
        rates, size = self.arch.rates, event.size
        rows = []
        lines: tuple[int, ...]
        for index in range(len(addresses)):
            here = addresses[index] if active is None else addresses[index][active[index]]
            count = lanes if active is None else len(here)
            if not count:
                rows.append(Access())
                continue
            if event.space == "scratch":  # neighbouring lanes' dwords lie side by side
                own, lines = -(-count * size // rates.line_bytes), ()
            else:
                own, lines = 0, _lines(here, size, rates.line_bytes)
            rows.append(Access(lanes=count, lines=lines, own_lines=own, bytes=count * size, write=event.kind != "read"))
        return rows

    def _lds_rows(
        self, event: AccessEvent, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, lanes: int
    ) -> list[Access]:
        rates, opcode = self.arch.rates, event.instruction.opcode
        row, table = _table(self.arch, event.instruction.name)
        count = [lanes] * len(addresses) if active is None else active.sum(axis=-1).tolist()
        store = opcode.access != "load"
        if table is None or row is None:
            passes, extra = [n * event.size / rates["lds"].value for n in count], [0] * len(count)
        else:
            places = addresses if active is None else np.where(active, addresses, 0)
            degrees = count_degrees(table.sets(lanes), table.banks, places, row, active)
            # A phase without active lanes takes its clock (`mfmasim.lds.SOURCES`, PMC).
            passes = np.maximum(degrees, 1).sum(axis=-1, dtype=np.int64).tolist()
            extra = np.maximum(degrees - 1, 0).sum(axis=-1, dtype=np.int64).tolist()
        port = rates["lds port"].value
        rows = []
        for n, taken, more in zip(count, passes, extra, strict=True):
            moved = n * event.size
            rows.append(
                Access(
                    lds=max(float(taken), moved / rates["lds"].value),
                    port=(n * 4 + moved) / port if store else max(n * 4, moved) / port,
                    extra=int(more),
                )
            )
        return rows


def _lines(addresses: NDArray[np.int64], size: int, line: int) -> tuple[int, ...]:
    """Numbers of the cache lines of an access."""
    first = addresses // line
    last = (addresses + (size - 1)) // line
    return tuple(sorted({*first.tolist(), *last.tolist()}))


@lru_cache(maxsize=512)
def _table(arch: Arch, name: str) -> tuple[int | None, PhaseTable | None]:
    """Bytes of a lane, and phases, of an LDS instruction; nothing for one without addresses per lane."""
    try:
        return ds_instruction(arch, name).size, phase_table(arch, name)
    except MfmasimError:
        return None, None
