"""Which lanes share a phase, and over how many banks: one row per architecture and kind of access, with its source.

Nothing here was measured for this project; `SOURCES` says what the short names stand for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from mfmasim.architectures import Arch, arch
from mfmasim.lds.instructions import ds_instruction
from mfmasim.lds.lanes import PhaseTable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SOURCES", "phase_table", "phase_tables"]

SOURCES = {
    "HK": "HazyResearch/HipKittens f09e968, analysis/paper_experiments/phases: measured on gfx950, pairs of lanes",
    "SHARK": "nod-ai/amd-shark-ai, docs/empirical-lds, PR 2919: on MI300X, MI350X, W7900, RX 9070 XT",
    "PYHIP": "tingqli/pyhip, tests/bank-conflict: timings on MI300",
    "CK": 'ROCm blog "lds-bank-conflict" (July 2025) and the CK documentation on LDS bank conflicts',
    "G4": 'ROCm blog "cdna4-gemm-kernels" (March 2026)',
    "RR": "rocRoller in ROCm/rocm-libraries: PR 1481 and 2157, LDSModel.cpp, docs/src/LDSSwizzling.md",
    "TRI": "triton-lang/triton PR 11365, which quotes AMD on gfx12's banking",
}
"""What the short names of sources stand for."""

_CDNA3 = "gfx942"
_AS_CDNA3 = "as gfx942: the ISA manual describes the same 32 banks; no test of the phases is public"
_ATOMIC = "lanes at one address are serialised on top of bank conflicts; phases as for a write, no number is public"
_PAIR = "two accesses, one after the other; which lanes meet is not public"
_RDNA_WRITE = "no measurement of writes is public; contiguous lanes as on CDNA"
_AS_READ = "assumed as the plain read by the source lanes' addresses; no test of the phases is public"
_SUB = "as b32, by dword: lanes at different bytes of one dword do not collide"
_B32_CDNA4 = "one phase of 64 lanes was measured, the banks were not swept; another source counts 32 banks"

#   architecture, access,     lanes,  banks, confidence,  source, remark
_ROWS: tuple[tuple[str, str, str, int, str, str, str], ...] = (
    ("gfx942", "read b8",     "C32", 32, "inferred", "CK (same bank, same slot is a broadcast)", _SUB),
    ("gfx942", "read b32",    "C32", 32, "measured", "SHARK", ""),
    ("gfx942", "read b64",    "C16", 32, "measured", "SHARK, PYHIP", ""),
    ("gfx942", "read b96",    "X8",  32, "inferred", "HK on gfx950; RR: gfx950 keeps gfx942's throughput", ""),
    ("gfx942", "read b128",   "X8",  32, "vendor",   "CK; measured by SHARK, PYHIP", ""),
    ("gfx942", "read2 b32",   "C32", 32, "unknown",  "none", _PAIR),
    ("gfx942", "read2 b64",   "C16", 32, "measured", "SHARK (optimisation guide)", ""),
    ("gfx942", "write b8",    "C32", 32, "inferred", "as write b32", _SUB),
    ("gfx942", "write b32",   "C32", 32, "inferred", "RR; review of hipBLASLt 1180: 32 lanes a cycle", ""),
    ("gfx942", "write b64",   "C16", 32, "inferred", "HK on gfx950", ""),
    ("gfx942", "write b96",   "C8",  32, "inferred", "RR: 4 lanes a clock and port", ""),
    ("gfx942", "write b128",  "C8",  32, "vendor",   "CK", ""),
    ("gfx942", "write2 b32",  "C32", 32, "unknown",  "none", _PAIR),
    ("gfx942", "write2 b64",  "C16", 32, "unknown",  "none", _PAIR),
    ("gfx942", "atomic b32",  "C32", 32, "unknown",  "none", _ATOMIC),
    ("gfx942", "atomic b64",  "C16", 32, "unknown",  "none", _ATOMIC),
    ("gfx942", "atomic2 b32", "C32", 32, "unknown",  "none", _ATOMIC),
    ("gfx942", "atomic2 b64", "C16", 32, "unknown",  "none", _ATOMIC),

    ("gfx950", "read b8",     "C64", 64, "inferred", "as read b32", _B32_CDNA4),
    ("gfx950", "read b32",    "C64", 64, "measured", "SHARK", _B32_CDNA4),
    ("gfx950", "read b64",    "C32", 64, "measured", "HK, SHARK", ""),
    ("gfx950", "read b96",    "X8",  32, "measured", "HK", ""),
    ("gfx950", "read b128",   "X16", 64, "vendor",   "G4, RR, TRI; measured by HK, SHARK", ""),
    ("gfx950", "read2 b32",   "C64", 64, "unknown",  "none", _PAIR),
    ("gfx950", "read2 b64",   "C32", 64, "unknown",  "none", _PAIR),
    ("gfx950", "read b64 tr", "C32", 64, "unknown",  "none", _AS_READ),
    ("gfx950", "read b96 tr", "X8",  32, "unknown",  "none", _AS_READ),
    ("gfx950", "write b8",    "C32", 32, "inferred", "as write b32", _SUB),
    ("gfx950", "write b32",   "C32", 32, "inferred", "RR", ""),
    ("gfx950", "write b64",   "C16", 32, "measured", "HK", ""),
    ("gfx950", "write b96",   "C8",  32, "inferred", "RR", ""),
    ("gfx950", "write b128",  "C8",  32, "inferred", "RR: 4 lanes a clock and port, 32 banks; CK for gfx942", ""),
    ("gfx950", "write2 b32",  "C32", 32, "unknown",  "none", _PAIR),
    ("gfx950", "write2 b64",  "C16", 32, "unknown",  "none", _PAIR),
    ("gfx950", "atomic b32",  "C32", 32, "unknown",  "none", _ATOMIC),
    ("gfx950", "atomic b64",  "C16", 32, "unknown",  "none", _ATOMIC),
    ("gfx950", "atomic2 b32", "C32", 32, "unknown",  "none", _ATOMIC),
    ("gfx950", "atomic2 b64", "C16", 32, "unknown",  "none", _ATOMIC),

    ("gfx1100", "read b8",     "C32", 32, "inferred", "as read b32", _SUB),
    ("gfx1100", "read b32",    "C32", 32, "measured", "SHARK (W7900)", ""),
    ("gfx1100", "read b64",    "C16", 32, "measured", "SHARK (W7900)", ""),
    ("gfx1100", "read b96",    "X8",  32, "inferred", "as read b128; TRI names b96 and b128 together", ""),
    ("gfx1100", "read b128",   "X8",  32, "measured", "SHARK (W7900)", ""),
    ("gfx1100", "read2 b32",   "C32", 32, "unknown",  "none", _PAIR),
    ("gfx1100", "read2 b64",   "C16", 32, "unknown",  "none", _PAIR),
    ("gfx1100", "write b8",    "C32", 32, "unknown",  "none", _RDNA_WRITE),
    ("gfx1100", "write b32",   "C32", 32, "unknown",  "none", _RDNA_WRITE),
    ("gfx1100", "write b64",   "C16", 32, "unknown",  "none", _RDNA_WRITE),
    ("gfx1100", "write b96",   "C8",  32, "unknown",  "none", _RDNA_WRITE),
    ("gfx1100", "write b128",  "C8",  32, "unknown",  "none", _RDNA_WRITE),
    ("gfx1100", "write2 b32",  "C32", 32, "unknown",  "none", _PAIR),
    ("gfx1100", "write2 b64",  "C16", 32, "unknown",  "none", _PAIR),
    ("gfx1100", "atomic b32",  "C32", 32, "unknown",  "none", _ATOMIC),
    ("gfx1100", "atomic b64",  "C16", 32, "unknown",  "none", _ATOMIC),
    ("gfx1100", "atomic2 b32", "C32", 32, "unknown",  "none", _ATOMIC),
    ("gfx1100", "atomic2 b64", "C16", 32, "unknown",  "none", _ATOMIC),

    ("gfx1201", "read b32",    "C32", 32, "measured", "SHARK (RX 9070 XT)", ""),
    ("gfx1201", "read b64",    "C16", 32, "measured", "SHARK (RX 9070 XT)", ""),
    ("gfx1201", "read b96",    "C8",  32, "vendor",   "TRI", ""),
    ("gfx1201", "read b128",   "C8",  32, "vendor",   "TRI; measured by SHARK (RX 9070 XT)", ""),
)  # fmt: skip

# Architecture, the one whose other rows it takes, why. Taken rows count as inferred at best.
_LIKE = (
    ("gfx90a",  "gfx942",  _AS_CDNA3),
    ("gfx908",  "gfx942",  _AS_CDNA3),
    ("gfx1151", "gfx1100", "as gfx1100; not measured"),
    ("gfx1201", "gfx1100", "as gfx1100; not measured"),
    ("gfx1200", "gfx1201", "as gfx1201; not measured"),
)  # fmt: skip

_32_BANKS = PhaseTable("C32", 32, "inferred", "RR (64 banks only for b64 and b128 reads)", wave=64)
_ALTERNATIVES = {("gfx950", "read b8"): _32_BANKS, ("gfx950", "read b32"): _32_BANKS}
"""What another source says about the same access."""


@cache
def _tables() -> dict[str, dict[str, PhaseTable]]:
    tables: dict[str, dict[str, PhaseTable]] = {}
    for name, access, lanes, banks, confidence, source, remark in _ROWS:
        found = _ALTERNATIVES.get((name, access))
        tables.setdefault(name, {})[access] = PhaseTable(
            lanes, banks, confidence, source, remark, (found,) if found else (), arch(name).wave_sizes[0]
        )
    for name, other, why in _LIKE:
        mine = tables.setdefault(name, {})
        for access, table in tables[other].items():
            confidence = table.confidence if table.confidence == "unknown" else "inferred"
            taken = PhaseTable(
                table.lanes, table.banks, confidence, f"{why} ({table.source})", table.remark,
                table.alternatives, table.wave,
            )  # fmt: skip
            mine.setdefault(access, taken)
    return tables


def phase_tables(architecture: str | Arch) -> Mapping[str, PhaseTable]:
    """All rows of an architecture, by access (``read b128``, ``write2 b64``, ``atomic b32``)."""
    return dict(_tables()[arch(architecture).name])


def phase_table(architecture: str | Arch, instruction: str) -> PhaseTable:
    """The phase table of an instruction.

    Raises:
        MfmasimError: unknown architecture, or an instruction that it does not have.

    >>> print(phase_table("gfx950", "ds_read_b128"))
    X16 on 64 banks (vendor: G4, RR, TRI; measured by HK, SHARK)
    """
    return _tables()[arch(architecture).name][ds_instruction(architecture, instruction).row]
