"""The instruction set of an architecture, built once from its encodings and tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mfmasim.architectures import SIMULATED, Arch
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.isa.dialects import DIALECTS, Dialect
from mfmasim.isa.opcode import Opcode, scaled, scaled_wmma
from mfmasim.isa.rows import Row, read_rows
from mfmasim.isa.tables import ENCODINGS, Cells, table


@dataclass(frozen=True)
class Family:
    """The instruction set of one architecture, for one size of waves."""

    arch: Arch
    wave: int
    """Lanes: a lane mask has one or two dwords."""
    rows: dict[str, dict[int, Row]]
    """Encoding, then opcode, to its row."""
    op_sel: dict[str, str]
    """Bits of op_sel that LLVM prints, by operation."""
    hexadecimal: frozenset[str]
    """Operations whose 16-bit immediate LLVM always prints in hexadecimal digits."""
    promoted: dict[int, tuple[str, Row]]
    """VOP3 opcodes of the operations that also have a short encoding."""
    dialect: Dialect
    withheld: frozenset[str]
    """Operations that the generic target of the code lacks."""

    def opcode(self, name: str) -> Opcode:
        """The record of an opcode by its mnemonic.

        Raises:
            MfmasimError: the architecture has no such instruction.
        """
        known = {row.name: row.opcode for rows in self.rows.values() for row in rows.values()}
        if name not in known:
            raise unknown("instruction", name, known, f"on {self.arch.name}")
        return known[name]


@cache
def _family(arch: Arch, wave: int) -> Family:
    dialect = DIALECTS.get(arch.encoding)
    if dialect is None:
        known = ", ".join(sorted(DIALECTS))
        raise MfmasimError(f"no instruction tables for {arch.name} (encoding {arch.encoding}); available: {known}")
    # Operands of a WMMA depend on the size of the wave, so there may be a row for each.
    other = f"w{96 - wave}"
    rows = {
        encoding: {row.op: row for row in read_rows(encoding, found, wave) if other not in row.flags}
        for encoding in ENCODINGS
        if (found := _cells(encoding, arch))
    }
    promoted = {
        base + op: (encoding, row)
        for encoding, base in dialect.promoted.items()
        for op, row in rows[encoding].items()
        if "e64" in row.flags
    }
    op_sel = {
        row.name: row.flags["op_sel"][0]
        for encoding in ("VOP1", "VOP2", "VOPC", "VOP3", "VINTERP")
        for row in rows.get(encoding, {}).values()
        if "op_sel" in row.flags
    }
    hexadecimal = frozenset(row.name for row in rows["SOPP"].values() if "hex" in row.flags)
    return Family(arch, wave, rows, op_sel, hexadecimal, promoted, dialect, _withheld(arch, wave, rows))


def _cells(encoding: str, arch: Arch) -> list[tuple[int, Cells]]:
    """Rows of the architecture, and those that a processor has beside them."""
    return table(encoding, arch.instruction_set) + (table(encoding, arch.name) if arch.isa else [])


def _withheld(arch: Arch, wave: int, rows: dict[str, dict[int, Row]]) -> frozenset[str]:
    """Operations in the tables that a processor lacks, or that code for its generic target may not use."""
    own, generic = _names(rows), arch.generic
    lacking = {name for name in own if arch.lacks(name)}
    if generic is not None:
        others = [_names(_family(SIMULATED[name], wave).rows) for name in generic.processors if name in SIMULATED]
        lacking |= (own - own.intersection(*others)) | {name for name in own if generic.lacks(name)}
    return frozenset(lacking)


def _names(rows: dict[str, dict[int, Row]]) -> set[str]:
    """Names of all operations, those with a scale prefix included."""
    found = [row.opcode for table in rows.values() for row in table.values()]
    prefixed = [scaled(row.opcode) for row in rows.get("MAI", {}).values() if row.src[0].type == "f8f6f4"]
    with_scales = [row.opcode for row in rows.get("WMMA", {}).values() if "scaled" in row.flags]
    prefixed += [scaled_wmma(opcode, block) for opcode in with_scales for block in (32, 16)]
    return {opcode.name for opcode in (*found, *prefixed)}


def family(arch: str | Arch, wave: int | None = None) -> Family:
    """The instruction set of an architecture.

    Args:
        arch: architecture, by name or as data.
        wave: lanes of a wave; without it the architecture's default size.

    Raises:
        MfmasimError: the architecture is unknown, has no instruction tables, or does not support the wave size.
    """
    return _named(arch, wave) if isinstance(arch, str) else _checked(arch, wave)


@cache
def _named(name: str, wave: int | None) -> Family:
    # The printer asks for each operand.
    return _checked(find_arch(name), wave)


def _checked(found: Arch, wave: int | None) -> Family:
    if wave is not None and wave not in found.wave_sizes:
        raise MfmasimError(
            f"{found.name} has no waves of {wave} lanes; it has: {', '.join(map(str, found.wave_sizes))}"
        )
    return _family(found, wave or found.wave_sizes[0])
