"""Watchpoints, on a register of a lane or on bytes of memory, and the machine's accesses to them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.debug.expressions import evaluate
from mfmasim.debug.names import FORCED, REGISTER
from mfmasim.debug.values import Object
from mfmasim.errors import MfmasimError
from mfmasim.machine.events import Observer
from mfmasim.machine.state.memory import SHARED_BASE

if TYPE_CHECKING:
    from mfmasim.debug.names import Names
    from mfmasim.debug.recorder import Entry
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent


READ, WRITE = "read", "write"
CODES = {"vcc": 106, "exec": 126, "scc": -1, "m0": -2}


@dataclass
class Watch:
    """A watchpoint."""

    number: int
    text: str
    kinds: frozenset[str]
    """``read`` and ``write``."""
    space: str
    """``register``, ``global`` or ``lds``."""
    first: int = 0
    """First byte in memory, or the number of a register."""
    size: int = 4
    file: str = ""
    """``v``, ``a`` or ``s`` of a register."""
    wave: int = 0
    """Number in the launch of the wave whose register is watched, or whose workgroup's LDS is."""
    lane: int | None = None
    """Lane of a vector register; None means all lanes."""
    enabled: bool = True
    hits: int = 0
    condition: str = ""
    _indices: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)

    def indices(self, entry: Entry) -> tuple[int, ...]:
        """Instructions of a block that may access the watched place."""
        found = self._indices.get(id(entry))
        if found is None:
            chosen = (k for k, ins in enumerate(entry.instructions) if self._may(ins))
            found = self._indices[id(entry)] = tuple(chosen)
        return found

    def _may(self, ins: Instruction) -> bool:
        if self.space != "register":
            return bool(ins.opcode.memory)
        operands = (*(ins.dst if WRITE in self.kinds else ()), *(ins.src if READ in self.kinds else ()))
        return any(o.kind == self.file and o.index <= self.first < o.index + o.count for o in operands)


@dataclass(frozen=True)
class Touch:
    """An access that a watch reports."""

    watch: Watch
    pc: int
    wave: int
    lane: int | None
    kind: str
    address: int


class Accesses(Observer):
    """Collects the accesses of a turn to watched places."""

    def __init__(self, watches: list[Watch], per: int) -> None:
        """Watch memory; `per` is the waves of a workgroup."""
        self.chosen = [one for one in watches if one.space != "register"]
        self.per = per
        self.found: list[Touch] = []

    def on_access(self, event: AccessEvent) -> None:
        """Compare the addresses."""
        for watch in self.chosen:
            if event.space != watch.space or not (watch.kinds & _kinds(event.kind)):
                continue
            addresses = np.asarray(event.addresses).astype(np.int64)
            hit = (addresses < watch.first + watch.size) & (addresses + event.size > watch.first)
            if event.active is not None:
                hit = hit & event.active
            if not hit.any():
                continue
            numbers = event.numbers
            hit = np.broadcast_to(hit, (len(numbers), hit.shape[-1]))
            if watch.space == "lds":
                hit = hit & (numbers // self.per == watch.wave // self.per)[:, None]
            rows = np.flatnonzero(hit.any(axis=1))
            if not len(rows):
                continue
            row = int(rows[-1])
            lane = int(np.flatnonzero(hit[row])[-1])  # the last lane's store stays
            at = int(np.broadcast_to(addresses, hit.shape)[row, lane])
            scalar = event.instruction.opcode.scalar
            self.found.append(
                Touch(watch, event.instruction.pc, int(numbers[row]), None if scalar else lane, event.kind, at)
            )

    on_scalar = on_access


def _kinds(kind: str) -> set[str]:
    return {READ, WRITE} if kind == "atomic" else {kind}


def watch_of(number: int, text: str, kinds: frozenset[str], names: Names) -> Watch:
    """A watch on the place that a text names at a stop.

    Args:
        number: number of the watchpoint.
        text: ``C[0,1]``, ``As[1280]``, ``v17 lane 3``, ``s4``, a variable in memory, an address as ``*0x7f00 4``.
        kinds: ``read``, ``write``.
        names: meanings of names; they select the wave and lane.

    Raises:
        MfmasimError: the text names nothing that has a place.
    """
    found = re.fullmatch(r"(.*?)(?:\s+wave\s+(\d+))?(?:\s+lane\s+(\d+))?(?:\s+wave\s+(\d+))?", text.strip())
    assert found is not None
    what, lane = found[1].strip(), int(found[3]) if found[3] else None
    wave = int(found[2] or found[4]) if found[2] or found[4] else names.state.wave
    if lane is not None and not 0 <= lane < names.state.lanes:
        raise MfmasimError(f"lane {lane}: a wave has lanes 0 to {names.state.lanes - 1}")
    raw = re.fullmatch(r"\*?(0x[0-9a-fA-F]+)(?:\s*,?\s*(\d+))?", what)
    if raw is not None:
        return Watch(number, text, kinds, "global", int(raw[1], 16), int(raw[2] or 4), wave=wave)
    register = REGISTER.fullmatch(what.lstrip("$"))
    if register is not None and (what.startswith("$") or not names._is_variable(what)):  # noqa: SLF001
        names.find(FORCED + register[0])
        return Watch(number, text, kinds, "register", int(register[2]), file=register[1], wave=wave, lane=lane)
    element = re.fullmatch(r"(\w+)\s*\[([^\]]*,[^\]]*|[^\],]*)\]", what)
    if element is not None and element[1] in names.elements:
        one = names.elements[element[1]]
        index = [_whole(part, what) for part in element[2].split(",")]
        if len(index) == len(one.shape):
            address, _ = one.place(index)
            return Watch(number, text, kinds, "global", address, max(1, one.bits // 8), wave=wave)
    value = evaluate(what, names)
    if not isinstance(value, Object) or value.place is None or value.place.space == "scratch":
        raise MfmasimError(f"{what}: only registers and what lies in memory or the LDS can be watched")
    at = int(np.broadcast_to(value.place.address, (names.state.lanes,))[names.lane if lane is None else lane])
    space = value.place.space
    if space == "global" and at >> 48 == SHARED_BASE >> 48:
        space, at = "lds", at & 0xFFFFFFFF
    return Watch(number, text, kinds, space, at, max(1, value.type.size), wave=wave)


def _whole(text: str, what: str) -> int:
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise MfmasimError(f"{what}: whole numbers are expected as indices") from None
