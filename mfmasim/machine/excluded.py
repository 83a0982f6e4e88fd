"""Opcodes of the tables that the machine does not execute, and why. All others are executed.

A kernel that runs without a trap handler and without a debugger has no use for them; docs/machine.md lists them, and a
test compares the rows with the tables.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EXCLUDED", "Excluded", "excluded"]


@dataclass(frozen=True)
class Excluded:
    """Opcodes that are not executed for one reason."""

    group: str
    """``debugging``, ``trap handler`` or ``graphics``."""
    names: tuple[str, ...]
    why: str
    source: str


EXCLUDED = (
    Excluded(
        "trap handler", ("s_rfe_b64", "s_rfe_restore_b64"), "returns from a trap handler",
        "CDNA3 and RDNA3 ISA manuals, SOP1, SOP2",
    ),
    Excluded(
        "trap handler", ("s_endpgm_saved",), "ends a wave that the trap handler of the context switch has saved",
        "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
    Excluded(
        "debugging", ("s_sethalt", "s_sendmsghalt"), "halts the wave until the host or a debugger resumes it",
        "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
    Excluded(
        "debugging", ("s_setkill",), "sets STATUS.KILL, to debug how the host ends waves",
        "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
    Excluded(
        "debugging",
        ("s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"),
        "branches on flags that the driver or a debugger sets", "CDNA3 and RDNA3 ISA manuals, SOPP",
    ),
)  # fmt: skip


def excluded(name: str) -> Excluded | None:
    """The row of a mnemonic; None for one that is executed, or in no table."""
    return next((row for row in EXCLUDED if name in row.names), None)
