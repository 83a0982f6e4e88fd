"""The opcode tables are what llvm-mc says."""

import dataclasses
import itertools

import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.isa.family import family
from mfmasim.isa.rows import read_rows
from mfmasim.isa.tables import gfx9, gfx11, gfx12, gfx1250
from tests.isa.generate_tables import GENERATORS, TABLES, generate
from tests.llvm import tool

TEXT = {"gfx9": gfx9.TABLES, "gfx11": gfx11.TABLES, "gfx12": gfx12.TABLES, "gfx1250": gfx1250.TABLES}


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("generation", TEXT)
def test_generating_the_tables_again_gives_the_same_files(generation):
    tool("llvm-mc")
    made = generate(generation)
    assert len(made) == len(TEXT[generation])
    for name, text in made.items():
        assert (TABLES / generation / name).read_text() == text, name


def own(row, arch):
    """Flags of a row without the one that gfx908 shares with architectures that have no global data share."""
    return {flag: value for flag, value in row.flags.items() if flag != "gds" or ARCHITECTURES[arch].lds.gds_bytes}


@pytest.mark.oracle
@pytest.mark.parametrize(("arch", "least"), [
    ("gfx950", 1200), pytest.param("gfx1151", 1050, marks=pytest.mark.long), ("gfx1201", 1050), ("gfx1250", 1100),
])  # fmt: skip
def test_rows_are_what_llvm_decodes(arch, least):
    tool("llvm-mc")
    compared = 0
    generator = next(tables for archs, tables in GENERATORS.values() if arch in archs)
    wave = family(arch).wave
    other = f"w{96 - wave}"
    for file, rows in generator(arch).items():
        encoding = file.strip("_").upper()
        ours = family(arch).rows[encoding]
        text = "\n".join(" | ".join((f"{op:#05x}", *cells, "*")) for op, *cells in rows)
        theirs = [row for row in read_rows(encoding, "head\n" + text, wave) if other not in row.flags]
        theirs.sort(key=lambda row: row.op)
        assert [dataclasses.replace(row, archs=None, flags=own(row, arch)) for row in ours.values()] == [
            dataclasses.replace(row, flags=own(row, arch)) for row in theirs
        ], file
        compared += len(rows)
    assert compared >= least


@pytest.mark.parametrize("generation", TEXT)
def test_every_row_has_a_name_and_no_opcode_twice_on_one_architecture(generation):
    assert len(TEXT[generation]) >= 15
    for encoding, text in TEXT[generation].items():
        rows = read_rows(encoding, text)
        for arch, wave in itertools.product(GENERATORS[generation][0], ("w32", "w64")):
            mine = [row.op for row in rows if (row.archs is None or arch in row.archs) and wave not in row.flags]
            assert len(mine) == len(set(mine)), (encoding, arch)
        assert all(row.name for row in rows)
