"""Counts of a launch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.kernels import Code
    from mfmasim.machine.events import Place


@dataclass
class Outcome:
    """Counts of a launch, and its end."""

    instructions: Counter[str] = field(default_factory=Counter)
    """Wave-instructions by mnemonic."""
    waves: int = 0
    batches: int = 0
    fidelity: dict[str, str] = field(default_factory=dict)
    """Fidelity of every operation that was executed, by mnemonic (for matrix operations, of their model)."""
    stopped: str = ""
    """Why the launch ended early, or empty."""
    stopped_by: str = ""
    """The check of a finding about the end: ``budget``, ``trap``, ``fetch``, ``debugger`` and others."""
    stopped_pc: int | None = None
    stopped_at: Place | None = None
    """The first wave that ended it."""
    cut: int = 0
    """Workgroups that were ended before the ends of their waves."""
    unexecuted: int = 0
    """Workgroups that were not begun."""
    executed: Counter[int] = field(default_factory=Counter)
    """Wave-instructions by address."""

    def arrange(self, code: Code, wave: int) -> None:
        """Count by mnemonic, and sort by address and name, so that the order of waves has no effect."""
        self.executed = Counter(dict(sorted(self.executed.items())))
        self.fidelity = dict(sorted(self.fidelity.items()))
        for pc, runs in self.executed.items():
            self.instructions[code.instruction_at(pc, wave).name] += runs
