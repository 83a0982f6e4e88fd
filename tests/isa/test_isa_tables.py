"""The opcode tables are what llvm-mc says."""

import dataclasses
import itertools

import pytest

from mfmasim.architectures import ARCHITECTURES, DISTINCT
from mfmasim.isa.family import family
from mfmasim.isa.rows import read_rows
from mfmasim.isa.tables import ENCODINGS, columns, table
from tests.isa.generate_tables import GENERATORS, generate, path
from tests.llvm import tool


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("generation", GENERATORS)
def test_generating_the_tables_again_gives_the_same_files(generation):
    tool("llvm-mc")
    made = generate(generation)
    assert tuple(made) == ENCODINGS
    for encoding, text in made.items():
        assert path(encoding).read_text() == text, encoding


def own(row, arch):
    """Flags of a row without the one that gfx908 shares with architectures that have no global data share."""
    return {flag: value for flag, value in row.flags.items() if flag != "gds" or ARCHITECTURES[arch].lds.gds_bytes}


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize(("arch", "least"), [("gfx950", 1200), ("gfx1151", 1050), ("gfx1201", 1050), ("gfx1250", 1100)])
def test_rows_are_what_llvm_decodes(arch, least):
    tool("llvm-mc")
    compared = 0
    generator = next(tables for archs, tables in GENERATORS.values() if arch in archs)
    wave = family(arch).wave
    other = f"w{96 - wave}"
    for file, rows in generator(arch).items():
        encoding = file.upper()
        ours = family(arch).rows[encoding]
        measured = ((op, tuple(cells)) for op, *cells in rows)
        theirs = [row for row in read_rows(encoding, measured, wave) if other not in row.flags]
        theirs.sort(key=lambda row: row.op)
        assert [dataclasses.replace(row, flags=own(row, arch)) for row in ours.values()] == [
            dataclasses.replace(row, flags=own(row, arch)) for row in theirs
        ], file
        compared += len(rows)
    assert compared >= least


@pytest.mark.parametrize("arch", DISTINCT)
def test_every_row_has_a_name_and_no_opcode_twice(arch):
    tables = {encoding: rows for encoding in ENCODINGS if (rows := table(encoding, arch))}
    assert len(tables) >= 15
    for (encoding, rows), wave in itertools.product(tables.items(), ("w32", "w64")):
        mine = [row for row in read_rows(encoding, rows) if wave not in row.flags]
        assert len(mine) == len({row.op for row in mine}), encoding
        assert all(row.name for row in mine)


def test_every_architecture_has_its_column_and_every_row_an_opcode():
    assert {arch for encoding in ENCODINGS for arch in columns(encoding)} == {*DISTINCT, "gfx1251"}
    for encoding in ENCODINGS:
        lines = path(encoding).read_text().splitlines()
        assert all("0x" in line for line in lines[1:])
        found = [cells for arch in columns(encoding) for _, cells in table(encoding, arch)]
        assert len(set(found)) == len(lines) - 1, encoding


def test_an_architecture_without_a_column_has_no_rows():
    assert table("VOP2", "gfx906") == []
