"""The trace: one record for each instruction that a wave executes, with its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import decimal
from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from mfmasim.machine.events.stepping import Step

LANES_SHOWN = 4
UNSAID = (106, 107, 126, 127)
"""Codes of VCC and EXEC, which are recorded when they change."""


@dataclass(frozen=True)
class Executed:
    """One instruction, executed by one wave."""

    number: int
    """Position in the trace, from 0."""
    workgroup: tuple[int, int, int]
    wave: int
    """Wave of the workgroup."""
    pc: int
    text: str
    source: str
    vectors: dict[str, NDArray[np.uint32]] = field(default_factory=dict)
    """VGPRs and AGPRs that are destinations of the instruction, and their contents in all lanes, (lanes,)."""
    scalars: dict[str, int] = field(default_factory=dict)
    """SGPRs that are destinations; VCC, EXEC, SCC and M0 where they have changed."""
    active: NDArray[np.bool_] = field(default_factory=lambda: np.ones(64, np.bool_))
    """Lanes that executed it, (lanes,)."""

    def line(self) -> str:
        """The record as text."""
        written = [f"{name}={value:#x}" for name, value in self.scalars.items()]
        written += [f"{name}={compressed(values, self.active)}" for name, values in self.vectors.items()]
        head = f"({','.join(map(str, self.workgroup))}) wave {self.wave}  {self.pc:6x}  {self.text:<44}"
        return "  ".join(part for part in (head, " ".join(written), self.source) if part).rstrip()

    def record(self) -> dict[str, Any]:
        """The record as a dictionary that JSON can represent; inactive lanes have the register's old contents."""
        return {
            "workgroup": list(self.workgroup),
            "wave": self.wave,
            "pc": self.pc,
            "text": self.text,
            "source": self.source,
            "exec": f"{int(np.packbits(self.active, bitorder='little').tobytes()[::-1].hex(), 16):#x}",
            "scalars": {name: f"{value:#x}" for name, value in self.scalars.items()},
            "vectors": {name: values.tolist() for name, values in self.vectors.items()},
        }


def compressed(values: NDArray[np.uint32], active: NDArray[np.bool_]) -> str:
    """Values of active lanes: one value if all agree, a few runs, or the first lanes and an ellipsis.

    >>> compressed(np.full(64, 7, np.uint32), np.ones(64, bool))
    '0x7'
    >>> compressed(np.arange(64, dtype=np.uint32), np.ones(64, bool))
    '[0x0 0x1 0x2 0x3 …]'
    >>> compressed(np.arange(64, dtype=np.uint32) >> 5, np.ones(64, bool))
    '[0x0 ×32 0x1 ×32]'
    >>> compressed(np.arange(64, dtype=np.uint32), np.arange(64) > 61)
    '[62:0x3e 63:0x3f]'
    """
    lanes = np.flatnonzero(active)
    if not len(lanes):
        return "(no lane)"
    chosen = values[lanes]
    if len(lanes) == len(values) and (chosen == chosen[0]).all():
        return f"{int(chosen[0]):#x}"
    starts = np.flatnonzero(np.concatenate([[True], chosen[1:] != chosen[:-1]]))
    if len(lanes) == len(values) and len(starts) <= LANES_SHOWN < len(lanes):
        runs = zip(chosen[starts], np.diff([*starts, len(lanes)]), strict=True)
        return f"[{' '.join(f'{value:#x} ×{count}' for value, count in runs)}]"
    named = not np.array_equal(lanes[:LANES_SHOWN], np.arange(min(LANES_SHOWN, len(lanes))))
    shown = [f"{lane}:{value:#x}" if named else f"{value:#x}" for lane, value in zip(lanes, chosen, strict=True)]
    return f"[{' '.join(shown[:LANES_SHOWN])}{' …' if len(shown) > LANES_SHOWN else ''}]"


class Trace(Observer):
    """An observer that records instructions and their results, up to a limit.

    Attributes:
        records: the records, if there is no `sink`.
        omitted: wave-instructions that matched and came after the limit.
    """

    name = "trace"

    def __init__(
        self,
        waves: Collection[int] | None = None,
        lines: tuple[int, int] | None = None,
        limit: int = 10_000,
        sink: Callable[[Executed], None] | None = None,
    ) -> None:
        """Choose the recorded waves and lines.

        Args:
            waves: numbers of waves in the launch (workgroup number times waves per workgroup, plus wave of the
                workgroup); None means all waves.
            lines: first and last source line; None means all lines, and code without lines.
            limit: most records; the launch continues without recording.
            sink: called with each record, which is then not stored.
        """
        self._waves = None if waves is None else frozenset(waves)
        self._lines, self._limit, self._sink = lines, limit, sink
        self.records: list[Executed] = []
        self.omitted = 0
        self._count = 0
        self._rows: list[int] = []
        self._before: dict[str, NDArray[Any]] = {}
        self._active: NDArray[np.bool_] = np.ones((1, 1), np.bool_)

    def before_step(self, step: Step) -> None:
        """Choose the recorded waves, and save the registers that an instruction may change implicitly."""
        self._rows = []
        if self._lines is not None:
            line = step.source.rpartition(":")[2]
            if not self._lines[0] <= decimal(line) <= self._lines[1]:
                return
        waves = step.waves.tolist()
        rows = [row for row, wave in enumerate(waves) if self._waves is None or wave in self._waves]
        self._rows = rows[: max(0, self._limit - self._count)]
        self._count += len(self._rows)
        self.omitted += len(rows) - len(self._rows)
        if self._rows:
            self._before, self._active = _unsaid(step), step.active

    def after_step(self, step: Step) -> None:
        """Record the results."""
        if not self._rows:
            return
        vectors, scalars = _destinations(step)
        now = _unsaid(step)
        first = self._count - len(self._rows)
        for number, row in enumerate(self._rows):
            place = step.place(row)
            written = {name: int(values[row]) for name, values in scalars.items()}
            for name, values in now.items():
                if int(values[row]) != int(self._before[name][row]) or name in written:
                    written[name] = int(values[row])
            found = Executed(
                first + number,
                place.workgroup,
                place.wave,
                step.pc,
                step.instruction.text.strip(),
                step.source,
                {name: values[row] for name, values in vectors.items()},
                written,
                np.ones_like(self._active[row]) if step.operands else self._active[row],
            )
            if self._sink is None:
                self.records.append(found)
            else:
                self._sink(found)

    def lines(self) -> list[str]:
        """The records as text."""
        rest = [f"… {self.omitted:,} more wave-instructions are not shown"] if self.omitted else []
        return [record.line() for record in self.records] + rest


def scalar_name(code: int, m0: int) -> str:
    """Name of a scalar register by its hardware code; `m0` is the code of M0.

    >>> scalar_name(5, 124), scalar_name(111, 124), scalar_name(125, 125)
    ('s5', 'ttmp3', 'm0')
    """
    if code == m0:
        return "m0"
    return f"ttmp{code - 108}" if 108 <= code < 124 else f"s{code}"


def _unsaid(step: Step) -> dict[str, NDArray[Any]]:
    """Registers that instructions write implicitly."""
    return {"vcc": step.vcc, "exec": step.exec, "scc": step.scc}


def _destinations(step: Step) -> tuple[dict[str, NDArray[np.uint32]], dict[str, NDArray[np.uint32]]]:
    """Contents of an instruction's destinations: vector registers (waves, lanes), scalar registers (waves,)."""
    vectors: dict[str, NDArray[np.uint32]] = {}
    scalars: dict[str, NDArray[np.uint32]] = {}
    for operand in step.instruction.dst:
        file, first = operand.written
        for number in range(first, first + operand.count):
            if file in ("v", "a"):
                vectors[f"{file}{number}"] = step.v(number) if file == "v" else step.a(number)
            elif file == "s" and number not in UNSAID:
                scalars[scalar_name(number, step.machine.arch.m0)] = step.s(number)
    return vectors, scalars
