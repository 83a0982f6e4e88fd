"""What a launch did, as the machine counts it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.kernels import Code
    from mfmasim.machine.events import Place


@dataclass
class Outcome:
    """What a launch did."""

    instructions: Counter[str] = field(default_factory=Counter)
    """Wave-instructions by mnemonic."""
    waves: int = 0
    batches: int = 0
    fidelity: dict[str, str] = field(default_factory=dict)
    """Fidelity of every operation that was executed, by mnemonic (for matrix operations, of their model)."""
    stopped: str = ""
    """Why the launch ended early, or empty."""
    stopped_by: str = ""
    """The check that a finding about it belongs to: ``budget``, ``trap``, ``fetch``, ``debugger`` and others."""
    stopped_pc: int | None = None
    stopped_at: Place | None = None
    """The first wave that stopped it."""
    cut: int = 0
    """Workgroups that were ended before their waves came to their end."""
    unexecuted: int = 0
    """Workgroups that were not begun."""
    executed: Counter[int] = field(default_factory=Counter)
    """Wave-instructions by address."""

    def arrange(self, code: Code, wave: int) -> None:
        """Count by mnemonic, and order by address and name: the order in which waves arrived must not matter."""
        self.executed = Counter(dict(sorted(self.executed.items())))
        self.fidelity = dict(sorted(self.fidelity.items()))
        for pc, runs in self.executed.items():
            self.instructions[code.instruction_at(pc, wave).name] += runs
