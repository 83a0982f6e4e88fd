"""The report of a launch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from mfmasim.devices.counters import counters_of
from mfmasim.devices.coverage import Coverage, mix_of
from mfmasim.fidelity import Trust, lowest
from mfmasim.markup import facts, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.kernels import Kernel
    from mfmasim.observe import Finding

SHOWN = 20
"""Findings that a notebook shows."""


class Fidelity(str):
    """The lowest fidelity of a launch, as a string; `operations` are the operations with this fidelity."""

    __slots__ = ("by_operation", "operations")
    operations: tuple[str, ...]
    by_operation: Mapping[str, str]

    def __new__(cls, by_operation: Mapping[str, str]) -> Self:
        """Take the lowest level of the operations that were executed."""
        level = lowest(by_operation.values())
        self = super().__new__(cls, level)
        self.by_operation = dict(by_operation)
        self.operations = tuple(sorted(name for name, value in by_operation.items() if value == level))
        return self

    def __reduce__(self) -> tuple[type[Fidelity], tuple[Mapping[str, str]]]:
        """Another process reconstructs it from the operations."""
        return Fidelity, (self.by_operation,)

    def __repr__(self) -> str:
        """Level and the operations that set it."""
        return str(Trust(str(self), self.operations))


@dataclass
class Report:
    """Result of one launch."""

    kernel: str
    arch: str
    device: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    findings: list[Finding]
    counts: Counter[str]
    """Wave-instructions by mnemonic."""
    fidelity: Fidelity
    waves: int = 0
    lds: dict[str, Any] = field(default_factory=dict)
    """LDS of a workgroup: bytes, and bank conflicts once they are counted."""
    registers: dict[str, int] = field(default_factory=dict)
    """VGPRs, AGPRs and SGPRs of a wave."""
    notes: list[str] = field(default_factory=list, compare=False)
    """Remarks on how the launch was run; they do not affect results."""
    printed: list[str] = field(default_factory=list)
    """Lines that the kernel printed, in the order of its printf buffer."""
    milliseconds: float | None = field(default=None, compare=False)
    """Time on the device; None if not measured."""
    stopped: str = ""
    """Why the launch ended early, or empty."""
    executed: Counter[int] = field(default_factory=Counter)
    """Wave-instructions by address."""
    program: Kernel | None = field(default=None, compare=False)
    """The kernel, for properties computed on demand."""

    def __repr__(self) -> str:
        found = Counter(finding.severity for finding in self.findings)
        parts = [f"{count} {severity}{'s' * (count > 1 and severity != 'info')}" for severity, count in found.items()]
        stopped = ", stopped early" if self.stopped else ""
        return (
            f"<Report {self.kernel} on {self.arch} ({self.device}): {sum(self.counts.values()):,} wave-instructions, "
            f"{', '.join(parts) or 'no findings'}, fidelity {self.fidelity!s}{stopped}>"
        )

    def _repr_html_(self) -> str:
        """Numbers of the launch, its most frequent instructions and its findings, for notebooks."""
        pairs = [
            ("device", self.device),
            ("grid and block", f"{' x '.join(map(str, self.grid))}, {' x '.join(map(str, self.block))}"),
            ("wave-instructions", f"{sum(self.counts.values()):,}"),
            ("most frequent", ", ".join(f"{name} {count:,}" for name, count in self.counts.most_common(8))),
            ("extra passes in the LDS", self.lds.get("extra_passes", "")),
            ("fidelity", repr(self.fidelity)),
            ("stopped", self.stopped),
            ("findings", len(self.findings)),
        ]
        shown = [[one.severity, one.id, one.source, one.message] for one in self.findings[:SHOWN]]
        table = rows("Findings", ("severity", "id", "source", "message"), shown) if shown else ""
        return facts(f"{self.kernel} on {self.arch}", pairs) + table

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.severity == "error" for finding in self.findings)

    @cached_property
    def mix(self) -> Counter[str]:
        """Wave-instructions by family: VALU, MATRIX, SALU, SMEM, VMEM, SCRATCH, LDS, BRANCH, BARRIER, WAIT, OTHER."""
        return mix_of(self.program, self.executed) if self.program is not None else Counter()

    @cached_property
    def counters(self) -> dict[str, int]:
        """Performance counters under the hardware's names (`mfmasim.devices.counters`).

        Counters of the LDS need the check `conflicts`.
        """
        if self.program is None:
            return {}
        return counters_of(self.program, self.executed, self.waves, self.lds)

    @cached_property
    def matrix_fidelity(self) -> str:
        """The lowest fidelity of the executed matrix instructions; empty without any."""
        if self.program is None:
            return ""
        executed = (self.program.code.instruction_at(pc, self.program.wave) for pc, n in self.executed.items() if n)
        names = {ins.name for ins in executed if ins.opcode.matrix}
        return lowest((self.fidelity.by_operation[name] for name in names), default="")

    @cached_property
    def coverage(self) -> Coverage:
        """Source lines and how often they were executed."""
        return Coverage.of(self.program, self.executed) if self.program is not None else Coverage()
