"""Write mfmasim/isa/tables: opcode rows, measured from llvm-mc by probing every opcode of every encoding.

Of processors that llvm-mc 22 does not know, rows come from the assembler of LLVM 24 (`probe_later.py`).
Run `python -m tests.isa.generate_tables [gfx9] [gfx10] [gfx11] [gfx1170] [gfx12] [gfx1250] [gfx1251]` to write the
columns of these generations, or with `--check` to compare. Names, operand widths and the modifiers that an opcode
accepts are measured; operand types come from `signatures.py` and `signatures_rdna.py`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mfmasim.isa.encodings import GFX9
from mfmasim.isa.tables import ENCODINGS, columns, lines, table
from tests.isa.probe_cdna5 import listed, matrix_rows, tensor_rows, vopd3_rows
from tests.isa.probe_later import later_rows
from tests.isa.probe_memory import ds_rows, flat_rows, mubuf_rows
from tests.isa.probe_packed import vop3p_rows
from tests.isa.probe_rdna_memory import buffer_rows
from tests.isa.probe_rdna_memory import ds_rows as ds_rows_rdna
from tests.isa.probe_rdna_memory import flat_rows as flat_rows_rdna
from tests.isa.probe_rdna_memory import smem_rows as smem_rows_rdna
from tests.isa.probe_rdna_packed import packed_rows, vopd_rows
from tests.isa.probe_rdna_vector import Vector
from tests.isa.probe_rdna_vector import short_rows as short_rows_rdna
from tests.isa.probe_rdna_vector import vop3_rows as vop3_rows_rdna
from tests.isa.probe_scalar import SOP1, SOP2, SOPC, SOPK, scalar_rows, smem_rows, sopp_rows
from tests.isa.probe_short import short_rows, with_sdwa
from tests.isa.probe_vector import vop3_rows
from tests.isa.probing import Prober
from tests.isa.rdna import GENERATIONS
from tests.isa.signatures_rdna import RDNA_RULES

INTERPOLATION = [
    (op, f"v_interp_{name}", *cells)
    for op, (name, *cells) in enumerate(
        (
            ("p10_f32", "f32", "-f32 -f32 -f32", "clamp"),
            ("p2_f32", "f32", "-f32 -f32 -f32", "clamp"),
            ("p10_f16_f32", "f32", "-h:f16 -f32 -h:f16", "clamp op_sel:0123"),
            ("p2_f16_f32", "h:f16", "-h:f16 -f32 -f32", "clamp op_sel:0123"),
            ("p10_rtz_f16_f32", "f32", "-h:f16 -f32 -h:f16", "clamp op_sel:0123"),
            ("p2_rtz_f16_f32", "h:f16", "-h:f16 -f32 -f32", "clamp op_sel:0123"),
        )
    )
]
"""Rows of VINTERP, from RDNA3's and RDNA4's manuals; a test compares their texts with llvm-mc's."""
TABLES = Path(__file__).parents[2] / "mfmasim" / "isa" / "tables"


def tables_gfx9(arch):
    """Rows of every encoding on one CDNA architecture."""
    prober = Prober(arch)
    packed, matrix = vop3p_rows(prober)
    return {
        "sop2": scalar_rows(prober, 96, SOP2, "dst", ["src0", "src1"]),
        "sopk": scalar_rows(prober, 29, SOPK, "dst", []),
        "sop1": scalar_rows(prober, 256, SOP1, "dst", ["src0"]),
        "sopc": scalar_rows(prober, 128, SOPC, "", ["src0", "src1"]),
        "sopp": sopp_rows(prober),
        "smem": smem_rows(prober),
        "vop1": short_rows(prober, "VOP1"),
        "vop2": short_rows(prober, "VOP2"),
        "vopc": short_rows(prober, "VOPC"),
        "vop3": vop3_rows(prober),
        "vop3p": packed,
        "mai": matrix,
        "ds": ds_rows(prober),
        "flat": flat_rows(prober, 0),
        "scratch": flat_rows(prober, 1),
        "global": flat_rows(prober, 2),
        "mubuf": mubuf_rows(prober),
        "mtbuf": buffer_rows(prober, GFX9, "MTBUF"),
    }


def tables_rdna2(arch):
    """Rows of every encoding on RDNA2: as on RDNA3 but for SDWA, and without halves, WMMA and dual instructions."""
    encodings = GENERATIONS[arch[:5]]
    prober = Prober(arch)
    vector = vector_rows(prober, encodings)
    short = {name: with_sdwa(prober, name.upper(), vector[name]) for name in ("vop1", "vop2", "vopc")}
    return {
        "sop2": scalar_rows(prober, 96, SOP2, "dst", ["src0", "src1"], RDNA_RULES),
        "sopk": scalar_rows(prober, 29, SOPK, "dst", [], RDNA_RULES),
        "sop1": scalar_rows(prober, 256, SOP1, "dst", ["src0"], RDNA_RULES),
        "sopc": scalar_rows(prober, 128, SOPC, "", ["src0", "src1"], RDNA_RULES),
        "sopp": sopp_rows(prober),
        "smem": smem_rows_rdna(prober, encodings),
        **vector,
        **short,
        "vop3p": packed_rows(prober, encodings)[0],
        "ds": ds_rows_rdna(prober, encodings),
        "flat": flat_rows_rdna(prober, encodings, "FLAT"),
        "scratch": flat_rows_rdna(prober, encodings, "SCRATCH"),
        "global": flat_rows_rdna(prober, encodings, "GLOBAL"),
        "mubuf": buffer_rows(prober, encodings, "MUBUF"),
        "mtbuf": buffer_rows(prober, encodings, "MTBUF"),
    }


def tables_rdna(arch):
    """Rows of every encoding on one RDNA architecture."""
    encodings = GENERATIONS[arch[:5]]
    prober, wide = Prober(arch), Prober(arch, 64)
    vector, plain = (vector_rows(Prober(arch, halves=halves), encodings) for halves in (True, False))
    packed, matrix = packed_rows(prober, encodings)
    typed = {"mtbuf": buffer_rows(prober, encodings, "MTBUF")} if "MTBUF" in encodings.by_name else {}
    return {
        "sop2": scalar_rows(prober, 96, SOP2, "dst", ["src0", "src1"], RDNA_RULES),
        "sopk": scalar_rows(prober, 29, SOPK, "dst", [], RDNA_RULES),
        "sop1": scalar_rows(prober, 256, SOP1, "dst", ["src0"], RDNA_RULES),
        "sopc": scalar_rows(prober, 128, SOPC, "", ["src0", "src1"], RDNA_RULES),
        "sopp": sopp_rows(prober),
        "smem": smem_rows_rdna(prober, encodings),
        **{name: with_plain(rows, plain[name]) for name, rows in vector.items()},
        "vinterp": interpolation_rows(arch),
        "vop3p": packed,
        "wmma": by_wave(matrix, packed_rows(wide, encodings)[1]),
        **{f"vopd{half}": by_wave(rows, []) for half, rows in zip("xy", vopd_rows(prober, encodings), strict=True)},
        "ds": ds_rows_rdna(prober, encodings),
        "flat": flat_rows_rdna(prober, encodings, "FLAT"),
        "scratch": flat_rows_rdna(prober, encodings, "SCRATCH"),
        "global": by_wave(flat_rows_rdna(prober, encodings, "GLOBAL"), flat_rows_rdna(wide, encodings, "GLOBAL")),
        "mubuf": buffer_rows(prober, encodings, "MUBUF"),
        **typed,
    }


def tables_gfx1170(arch):
    """Rows of gfx1170: those of gfx1151, and what gfx1201 has beside them."""
    return later_rows(arch, "gfx1151", "gfx1201")


def tables_cdna5(arch):
    """Rows of every encoding on CDNA5, whose waves have 32 lanes."""
    encodings = GENERATIONS[arch]
    prober = Prober(arch)
    vector, plain = (vector_rows(Prober(arch, halves=halves), encodings) for halves in (True, False))
    return {
        "sop2": scalar_rows(prober, 96, SOP2, "dst", ["src0", "src1"], RDNA_RULES),
        "sopk": scalar_rows(prober, 29, SOPK, "dst", [], RDNA_RULES),
        "sop1": scalar_rows(prober, 256, SOP1, "dst", ["src0"], RDNA_RULES),
        "sopc": scalar_rows(prober, 128, SOPC, "", ["src0", "src1"], RDNA_RULES),
        "sopp": sopp_rows(prober),
        "smem": smem_rows_rdna(prober, encodings),
        **{name: with_plain(rows, plain[name]) for name, rows in vector.items()},
        "vop3p": packed_rows(prober, encodings)[0],
        "wmma": matrix_rows(prober, encodings),
        **dict(zip(("vopdx", "vopdy"), map(listed, vopd_rows(prober, encodings)), strict=True)),
        **dict(zip(("vopd3x", "vopd3y"), map(listed, vopd3_rows(prober, encodings)), strict=True)),
        "ds": ds_rows_rdna(prober, encodings),
        "flat": flat_rows_rdna(prober, encodings, "FLAT"),
        "scratch": flat_rows_rdna(prober, encodings, "SCRATCH"),
        "global": flat_rows_rdna(prober, encodings, "GLOBAL"),
        "mubuf": buffer_rows(prober, encodings, "MUBUF"),
        "vimage": tensor_rows(prober, encodings),
    }


def tables_gfx1251(arch):
    """What gfx1251 has beside gfx1250 and LLVM 22 lacks; `test_isa_later.py` compares it with LLVM 24's assembler."""
    two, three = "clamp op_sel_hi neg_lo:01 neg_hi:01", "clamp op_sel_hi neg_lo:012 neg_hi:012"
    floats = {0x3C: "mul_f64", 0x4B: "add_f64", 0x4E: "max_num_f64", 0x4F: "min_num_f64"}
    packed = [(op, f"v_pk_{name}", "f64*2", "f64*2 f64*2", two) for op, name in floats.items()]
    packed.append((0x3B, "v_pk_fma_f64", "f64*2", "f64*2 f64*2 f64*2", three))
    packed += [
        (op, f"v_pk_{name}_nc_u64", "u64*2", "u64*2 u64*2", "op_sel_hi no_neg")
        for op, name in ((0x4C, "add"), (0x4D, "sub"))
    ]
    packed.append((0x7E, "v_pk_lshl_add_u64", "u64*2", "u64*2 u32*2 u64*2", "op_sel_hi no_neg"))
    matrix = [(0x5B, "v_wmma_f64_16x16x4_f64", "f64*8", "f64*2 f64*2 f64*8", "neg_lo:012 neg_hi:2")]
    return {"ds": [], "vop3p": packed, "wmma": matrix}


def interpolation_rows(arch):
    """Rows of VINTERP; LLVM's default text of gfx12 lacks the names of halves."""
    plain = " plain:0123" if arch.startswith("gfx12") else ""
    return [(*cells, flags + plain if "op_sel" in flags else flags) for *cells, flags in INTERPOLATION]


def vector_rows(prober, encodings):
    """Rows of the vector encodings by their table."""
    vector = Vector(prober, encodings)
    vector.prefetch()
    short = {name: short_rows_rdna(vector, name.upper()) for name in ("vop1", "vop2", "vopc")}
    return short | {"vop3": vop3_rows_rdna(vector, {name for rows in short.values() for _, name, *_ in rows})}


def with_plain(rows, plain):
    """Rows with the flag `plain` where LLVM's default text lacks the names of halves; with its bits of op_sel."""
    default = {op: (name, dst, src, flags) for op, name, dst, src, flags in plain}
    flagged = []
    for op, *cells in rows:
        *_, flags = cells
        if op in default and default[op] != tuple(cells):
            shown = re.search(r"op_sel:(\w+)", default[op][3])
            flags += f" plain:{shown[1]}" if shown else " plain"
        flagged.append((op, *cells[:-1], flags))
    return flagged


def by_wave(narrow, wide):
    """Rows of waves of 32 and 64 lanes as one list; what differs gets the flag `w32` or `w64`."""
    flagged = []
    for rows, others, flag in ((narrow, wide, "w32"), (wide, narrow, "w64")):
        flagged += [(*entry[:4], f"{entry[4]} {flag}".strip()) for entry in rows if entry not in others]
    return [entry for entry in narrow if entry in wide] + flagged


GENERATORS = {
    "gfx9": (("gfx908", "gfx90a", "gfx942", "gfx950"), tables_gfx9),
    "gfx10": (("gfx1030",), tables_rdna2),
    "gfx11": (("gfx1100", "gfx1151"), tables_rdna),
    "gfx1170": (("gfx1170",), tables_gfx1170),
    "gfx12": (("gfx1200", "gfx1201"), tables_rdna),
    "gfx1250": (("gfx1250",), tables_cdna5),
    "gfx1251": (("gfx1251",), tables_gfx1251),
}
"""Generation to its architectures and what makes the tables of one of them."""


def render(rows):
    """The text of a file: rows in the order of their first opcode, from the first architecture to the last."""
    archs = [arch for names, _ in GENERATORS.values() for arch in names]
    archs = [arch for arch in archs if any(arch in numbers for numbers in rows.values())]

    def place(entry):
        cells, numbers = entry
        return *next((archs.index(arch), numbers[arch]) for arch in archs if arch in numbers), cells

    lines = [("name", "dst", "src", "flags", *archs)]
    for cells, numbers in sorted(rows.items(), key=place):
        lines.append((*cells, *(f"{numbers[arch]:#05x}" if arch in numbers else "" for arch in archs)))
    sizes = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        " | ".join(cell.ljust(size) for cell, size in zip(line, sizes, strict=True)).rstrip() + "\n" for line in lines
    )


def share_flag(per_arch, table, flag):
    """Give the rows of a table a flag that some of the architectures have: the dialect says which of them use it."""
    having = {row[:4] for tables in per_arch.values() for row in tables[table] if flag in row[4].split()}
    for tables in per_arch.values():
        tables[table] = [
            (*row[:4], f"{row[4]} {flag}".strip()) if row[:4] in having and flag not in row[4].split() else row
            for row in tables[table]
        ]


def present(encoding):
    """Rows of an encoding's file: cells to the opcode number on each architecture."""
    rows = {}
    if path(encoding).exists():
        for arch in columns(encoding):
            for op, cells in table(encoding, arch):
                rows.setdefault(cells, {})[arch] = op
    return rows


def path(encoding):
    """The file of an encoding."""
    return TABLES / f"{encoding.lower()}.txt"


def generate(generation):
    """Text of every encoding's file with the columns of a generation measured again, by encoding."""
    archs, tables = GENERATORS[generation]
    per_arch = {arch: tables(arch) for arch in archs}
    share_flag(per_arch, "ds", "gds")
    texts = {}
    for encoding in ENCODINGS:
        rows = {
            cells: {a: n for a, n in numbers.items() if a not in archs} for cells, numbers in present(encoding).items()
        }
        for arch, measured in per_arch.items():
            for op, *cells in measured.get(encoding.lower(), ()):
                rows.setdefault(tuple(cells), {})[arch] = op
        texts[encoding] = render({cells: numbers for cells, numbers in rows.items() if numbers})
    return texts


def main():
    check = "--check" in sys.argv
    different = 0
    for generation in [word for word in sys.argv[1:] if word in GENERATORS] or GENERATORS:
        for encoding, text in generate(generation).items():
            if check:
                different += path(encoding).read_text() != text
            else:
                path(encoding).write_text(text)
        lines.cache_clear()
    sys.exit(f"{different} tables differ" if different else 0)


if __name__ == "__main__":
    main()
