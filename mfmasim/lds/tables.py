"""Which lanes share a phase, and over how many banks: the rows of an architecture's `Lds.phases`, with their sources.

None of them was measured for this project; `SOURCES` explains the short names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from mfmasim.architectures import Arch, arch
from mfmasim.lds.instructions import ds_instruction
from mfmasim.lds.lanes import PhaseTable

SOURCES = {
    "HK": "HazyResearch/HipKittens f09e968, analysis/paper_experiments/phases: measured on gfx950, pairs of lanes",
    "SHARK": "nod-ai/amd-shark-ai, docs/empirical-lds, PR 2919: on MI300X, MI350X, W7900, RX 9070 XT",
    "PMC": "tinygrad a9069c17, extra/sqtt/examples: SQ_LDS_IDX_ACTIVE and SQC_LDS_IDX_ACTIVE of launches on gfx950, "
    "gfx1100 and gfx1201 (golden/hardware): how many phases, also without active lanes; not which lanes share one",
    "PYHIP": "tingqli/pyhip, tests/bank-conflict: timings on MI300",
    "CK": 'ROCm blog "lds-bank-conflict" (July 2025) and the CK documentation on LDS bank conflicts',
    "CKT": "ROCm/composable_kernel 393ebc1a, example/ck_tile/99_toy_tutorial/tutorial_14_bank_conflict_scenarios and "
    "bank_conflict_slides.html (April 2026): SQ_LDS_BANK_CONFLICT and SQ_INSTS_LDS of transposing kernels on MI300X, "
    "some on MI355X (tests/lds/test_lds_counters.py)",
    "G4": 'ROCm blog "cdna4-gemm-kernels" (March 2026)',
    "RR": "rocRoller in ROCm/rocm-libraries: PR 1481 and 2157, LDSModel.cpp, docs/src/LDSSwizzling.md",
    "B450": 'ROCm blog "mi450-lds-optimization" (August 2026): 255 bytes a clock from one partition, 510 from two',
    "TRI": "triton-lang/triton PR 11365, which quotes AMD on gfx12's banking",
}
"""Meaning of the short names of sources."""


@cache
def _tables(name: str) -> dict[str, PhaseTable]:
    target = arch(name)
    tables: dict[str, PhaseTable] = {}
    for access, lanes, banks, confidence, source, remark in reversed(target.lds.phases):
        others = (tables[access], *tables[access].alternatives) if access in tables else ()
        tables[access] = PhaseTable(lanes, banks, confidence, source, remark, others, target.wave_sizes[0])
    if target.lds.phases_as:
        other, why = target.lds.phases_as
        for access, table in _tables(other).items():
            confidence = table.confidence if table.confidence == "unknown" else "inferred"
            tables.setdefault(access, replace(table, confidence=confidence, source=f"{why} ({table.source})"))
    return tables


def phase_tables(architecture: str | Arch) -> Mapping[str, PhaseTable]:
    """All rows of an architecture, by access (``read b128``, ``write2 b64``, ``atomic b32``)."""
    return dict(_tables(arch(architecture).name))


def phase_table(architecture: str | Arch, instruction: str) -> PhaseTable:
    """The phase table of an instruction.

    Raises:
        MfmasimError: unknown architecture, or an instruction that it does not have.

    >>> print(phase_table("gfx950", "ds_read_b128"))
    X16 on 64 banks (vendor: G4, RR, TRI; measured by HK, SHARK, PMC)
    """
    return _tables(arch(architecture).name)[ds_instruction(architecture, instruction).row]
