"""The opcode tables are what llvm-mc says."""

import dataclasses

import pytest
from generate_tables import TABLES, Prober, generate, tables
from llvm_oracle import HOW, MC
from oracles import require

from mfmasim.isa.family import family
from mfmasim.isa.rows import read_rows
from mfmasim.isa.tables.gfx9 import TABLES as TEXT


@pytest.mark.oracle
@pytest.mark.long
def test_generating_the_tables_again_gives_the_same_files():
    require("llvm-mc", MC, HOW)
    made = generate()
    assert len(made) == len(TEXT)
    for name, text in made.items():
        assert (TABLES / name).read_text() == text, name


@pytest.mark.oracle
def test_rows_of_gfx950_are_what_llvm_decodes():
    require("llvm-mc", MC, HOW)
    compared = 0
    for file, rows in tables(Prober("gfx950")).items():
        ours = family("gfx950").rows[file.strip("_").upper()]
        text = "\n".join(" | ".join((f"{op:#05x}", *cells, "*")) for op, *cells in rows)
        assert [dataclasses.replace(row, archs=None) for row in ours.values()] == read_rows("head\n" + text), file
        compared += len(rows)
    assert compared >= 1200


def test_every_row_has_a_name_and_no_opcode_twice_on_one_architecture():
    for encoding, text in TEXT.items():
        rows = read_rows(text)
        for arch in ("gfx90a", "gfx942", "gfx950"):
            mine = [row.op for row in rows if row.archs is None or arch in row.archs]
            assert len(mine) == len(set(mine)), (encoding, arch)
        assert all(row.name for row in rows)
