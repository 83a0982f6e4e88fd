"""conflicts: LDS bank conflicts of every access of every wave; worst instruction first, with a way to avoid them.

Conflicts are not errors: they cost passes; whether passes cost time depends on the surrounding code.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.lds import Accounts, Advice, considered
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from mfmasim.lds import Account
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

CONFLICT = Kind(
    "conflicts-lds",
    "info",
    "LDS bank conflict",
    "Lanes of one phase access different dwords of one bank; the access takes additional passes.",
    "tile[threadIdx.x * 32]  // all lanes in one bank",
    "Pad the rows, or use a swizzle: mfmasim lds find finds one.",
    place="code",
)


class Conflicts(Check):
    """Accounts for the LDS instructions of one launch.

    LDS accesses of other families are counted without degrees: direct-to-LDS loads write lane
    after lane, the banks of FLAT and DS_*_SRC2 accesses are not public, and DS_APPEND accesses one place.
    """

    name = "conflicts"
    about = "bank conflicts of the LDS, by instruction and source line"
    kinds = (CONFLICT,)

    def __init__(self, launch: Launch) -> None:
        """Start empty."""
        super().__init__(launch)
        self._names = launch.names
        self.accounts = Accounts(self.kernel.arch, self.kernel.wave)
        self.uncounted: dict[int, list[Any]] = {}
        """Address in the code to [mnemonic, executions] of the instructions that have no phase table."""

    def on_access(self, event: AccessEvent) -> None:
        """Count an access to the LDS."""
        if event.space != "lds":
            return
        pc = event.instruction.pc
        if event.instruction.opcode.unit != "LDS" or event.instruction.opcode.kind in ("count", "second", "arrive"):
            if not event.part:
                self.uncounted.setdefault(pc, [event.instruction.name, 0])[1] += event.waves
            return
        addresses = event.addresses if event.addresses.dtype == np.int64 else event.addresses.astype(np.int64)
        self.accounts.add(pc, event.instruction.name, addresses, event.active, event.part, event.waves)

    def merge(self, other: Conflicts) -> None:
        """Add the counts of another part of the same launch."""
        self.accounts.merge(other.accounts)
        for pc, (name, executions) in other.uncounted.items():
            self.uncounted.setdefault(pc, [name, 0])[1] += executions

    def worst_first(self) -> list[tuple[int, Account]]:
        """Accounts with the addresses of their instructions, in descending order of extra passes."""
        found = [(pc, account) for pc, account in self.accounts.by_place.items() if isinstance(pc, int)]
        return sorted(found, key=lambda item: (-item[1].extra_passes, item[0]))

    @cached_property
    def advice(self) -> dict[int, Advice | str]:
        """Advice against an instruction's conflicts, or why there is none, by its address in the code.

        Instructions whose accesses share bytes of the LDS, usually one array, share one object.
        """
        where = {id(account): pc for pc, account in self.worst_first()}
        accounts = list(self.accounts.by_place.values())
        variables = self._names.variables if any(account.extra_passes for account in accounts) else ()
        return {
            where[id(account)]: advice
            for group, advice in considered(accounts, variables)
            for account in group
            if account.extra_passes
        }

    def _advised(self, pc: int) -> str:
        found = self.advice.get(pc, "")
        if isinstance(found, str):
            return found and f"; {found}"
        if self.kernel.source_at(pc).rpartition(":")[0].endswith(".py"):  # Triton's compiler chooses the layout
            return f"; in a layout of {found.in_triton}, {found.left}"
        return f"\n{found}"

    def record(self) -> dict[str, Any]:
        """Totals, and one entry per instruction, for JSON.

        ``degrees`` are the worst of each phase, ``extra_passes`` the sum of degree - 1 over all executions, ``clocks``
        the passes and a clock for each phase without active lanes.
        """
        sites = self.worst_first()
        advice = self.advice
        return {
            "lanes": self.accounts.lanes,
            "accesses": sum(account.executions for _, account in sites),
            "extra_passes": sum(account.extra_passes for _, account in sites),
            "clocks": sum(account.clocks for _, account in sites),
            "worst_degree": max((account.worst for _, account in sites), default=0),
            "sites": [
                {
                    "pc": pc,
                    "source": self.kernel.source_at(pc),
                    "instruction": account.row.name,
                    "executions": account.executions,
                    "degrees": account.degrees,
                    "passes": account.passes,
                    "clocks": account.clocks,
                    "extra_passes": account.extra_passes,
                    "worst_lanes": account.worst_lanes(),
                    "confidence": account.table.confidence,
                    "phases": str(account.table),
                    "advice": self._advised(pc).lstrip("; \n"),
                    "change": found.record() if isinstance(found := advice.get(pc), Advice) else None,
                }
                for pc, account in sites
            ],
            "uncounted": [
                {"pc": pc, "source": self.kernel.source_at(pc), "instruction": name, "executions": executions}
                for pc, (name, executions) in sorted(self.uncounted.items())
            ],
        }

    def findings(self) -> list[Finding]:
        """One finding of severity info for each source line and array with conflicts, worst first.

        The worst line of an array has the advice, which applies to all accesses to the array.
        """
        lines: dict[tuple[int, str], list[tuple[int, Account]]] = {}
        for pc, account in self.worst_first():
            if account.extra_passes:
                key = id(self.advice.get(pc)), self.kernel.source_at(pc) or hex(pc)
                lines.setdefault(key, []).append((pc, account))
        findings, advised = [], dict[int, str]()
        worst = sorted(lines.items(), key=lambda item: -sum(account.extra_passes for _, account in item[1]))
        for (array, line), same in worst:
            findings.append(self._finding(same, advised.get(array, "")))
            advised.setdefault(array, line)
        return findings

    def _finding(self, same: list[tuple[int, Account]], advised: str) -> Finding:
        """The finding for a line's instructions that access one array, the worst first.

        `advised` is the line whose finding has the advice for this array, if there is one.
        """
        pc, account = same[0]
        found = self.advice.get(pc)
        variable = found.variable if isinstance(found, Advice) else None
        where = f" in {variable.name}" if variable is not None else ""
        lanes = account.worst_lanes()
        shown = ", ".join(map(str, lanes[:8])) + (", ..." if len(lanes) > 8 else "")
        unsure = "" if account.table.confidence in ("vendor", "measured") else f" (phases {account.table.confidence})"
        degrees = ",".join(map(str, account.degrees))
        extra, executions = sum(a.extra_passes for _, a in same), sum(a.executions for _, a in same)
        others = sorted({a.row.name for _, a in same} - {account.row.name})
        also = f" (with {', '.join(others)})" if others else ""
        message = (
            f"{account.worst}-way bank conflict{where}{unsure}: degrees {degrees}, {extra:,} extra passes in "
            f"{executions:,} executions{also}; lanes {shown} conflict in one bank"
        )
        advice = f"; the advice at {advised} is for this line, too" if advised else self._advised(pc)
        return self.finding(CONFLICT, message + advice, pc, instruction=account.row.name, count=executions)
