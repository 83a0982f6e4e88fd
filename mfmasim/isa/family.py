"""What an architecture's instruction set is, put together from its encodings and tables, once per architecture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.isa.rows import Row, read_rows
from mfmasim.isa.tables import gfx9

if TYPE_CHECKING:
    from mfmasim.architectures import Arch

__all__ = ["Family", "family"]

# First opcode of VOPC, VOP2 and VOP1 inside VOP3 (ISA manual, section "VOP3A").
_PROMOTED = {"VOPC": 0x000, "VOP2": 0x100, "VOP1": 0x140}


@dataclass(frozen=True)
class _Dialect:
    """What differs between encoding generations and is not an opcode."""

    tables: dict[str, str]
    cache: dict[str, str]
    """Names of the cache bits by their position's historical name (glc, slc, scc)."""
    cache_order: tuple[str, ...]
    """Order in which LLVM prints them."""
    sve: bool
    """SCRATCH says in a bit of its own whether it uses VADDR; before, that bit sent loads to LDS."""
    hardware_registers: dict[int, str]
    """Registers of s_getreg and s_setreg by number."""


# CDNA2 and CDNA3 ISA manuals, S_GETREG_B32; spelling of llvm-mc 22.
_HARDWARE_REGISTERS = {
    1: "HW_REG_MODE", 2: "HW_REG_STATUS", 3: "HW_REG_TRAPSTS", 4: "HW_REG_HW_ID", 5: "HW_REG_GPR_ALLOC",
    6: "HW_REG_LDS_ALLOC", 7: "HW_REG_IB_STS", 15: "HW_REG_SH_MEM_BASES", 16: "HW_REG_TBA_LO", 17: "HW_REG_TBA_HI",
    18: "HW_REG_TMA_LO", 19: "HW_REG_TMA_HI",
}  # fmt: skip
_HARDWARE_REGISTERS_3 = _HARDWARE_REGISTERS | {
    20: "HW_REG_XCC_ID", 21: "HW_REG_SQ_PERF_SNAPSHOT_DATA", 22: "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
    23: "HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 24: "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
}  # fmt: skip

_CDNA2 = _Dialect(
    gfx9.TABLES,
    {"glc": "glc", "slc": "slc", "scc": "scc"},
    ("glc", "slc", "scc"),
    sve=False,
    hardware_registers=_HARDWARE_REGISTERS,
)
_CDNA3 = _Dialect(
    gfx9.TABLES,
    {"glc": "sc0", "slc": "nt", "scc": "sc1"},
    ("sc0", "nt", "sc1"),
    sve=True,
    hardware_registers=_HARDWARE_REGISTERS_3,
)
_DIALECTS = {"gfx90a": _CDNA2, "gfx940": _CDNA3, "gfx950": _CDNA3}


@dataclass(frozen=True)
class Family:
    """The instruction set of one architecture."""

    arch: Arch
    rows: dict[str, dict[int, Row]]
    """Encoding, then opcode, to its row."""
    long_rows: dict[str, Row]
    """Rows of the operations that exist only in VOP3, by name."""
    promoted: dict[int, tuple[str, Row]]
    """VOP3 opcodes of the operations that also have a short encoding."""
    dialect: _Dialect


@cache
def _family(arch: Arch) -> Family:
    dialect = _DIALECTS.get(arch.encoding)
    if dialect is None:
        known = ", ".join(sorted(_DIALECTS))
        raise MfmasimError(f"no instruction tables for {arch.name} (encoding {arch.encoding}); there are: {known}")
    rows = {
        encoding: {row.op: row for row in read_rows(table) if row.archs is None or arch.name in row.archs}
        for encoding, table in dialect.tables.items()
    }
    promoted = {
        base + op: (encoding, row)
        for encoding, base in _PROMOTED.items()
        for op, row in rows[encoding].items()
        if "e64" in row.flags
    }
    long_rows = {row.name: row for row in rows["VOP3"].values()}
    return Family(arch, rows, long_rows, promoted, dialect)


def family(arch: str | Arch) -> Family:
    """The instruction set of an architecture.

    Raises:
        MfmasimError: the architecture is unknown, or its instructions are not in the tables.
    """
    return _family(find_arch(arch))
