"""hazards: the rows against LLVM's recogniser, for every pair of two lists of instructions, and on LLVM's own tests."""

import importlib.util
from pathlib import Path

import pytest

import mfmasim
from tests.isa.llvm_hazards import file_of, functions, judged, missing, waits_in

pytestmark = pytest.mark.oracle

ROOT = Path(__file__).resolve().parents[2]
MODE, EXEC = "implicit $mode, implicit $exec", "implicit $exec"


def q(first, count, file="vgpr"):
    """Registers as MIR has them."""
    return "$" + "_".join(f"{file}{first + k}" for k in range(count))


def mfma(name, d, a, b, c):
    """A matrix instruction; each operand is registers as `q` gives them."""
    return f"{d} = V_MFMA_{name}_e64 {a}, {b}, {c}, 0, 0, 0, {MODE}"


def wmma(d, a, b, c):
    """One of gfx1250, of 8 cycles."""
    return f"early-clobber {d} = V_WMMA_F32_16X16X32_F16_w32_threeaddr 8, {a}, 8, {b}, 8, {c}, 0, 0, 0, 0, {EXEC}"


COMMON_FIRST = {
    "valu writes v0": f"$vgpr0 = V_ADD_F32_e32 $vgpr24, $vgpr25, {MODE}",
    "valu writes s10": f"$sgpr10 = V_READFIRSTLANE_B32 $vgpr24, {EXEC}",
    "trans writes v0": f"$vgpr0 = V_RCP_F32_e32 $vgpr24, {MODE}",
    "trans reads v0": f"$vgpr24 = V_RCP_F32_e32 $vgpr0, {MODE}",
    "cmp writes vcc": f"V_CMP_EQ_U32_e32 $vgpr24, $vgpr25, implicit-def $vcc, {EXEC}",
    "salu writes m0": "$m0 = S_MOV_B32 $sgpr20",
    "setreg": "S_SETREG_B32 $sgpr20, 1, implicit-def $mode, implicit $mode",
}
COMMON_SECOND = {
    "valu reads v0": f"$vgpr60 = V_ADD_F32_e32 $vgpr61, $vgpr0, {MODE}",
    "valu writes v0": f"$vgpr0 = V_ADD_F32_e32 $vgpr61, $vgpr62, {MODE}",
    "trans reads v0": f"$vgpr60 = V_RCP_F32_e32 $vgpr0, {MODE}",
    "trans writes v0": f"$vgpr0 = V_RCP_F32_e32 $vgpr60, {MODE}",
    "valu reads s10": f"$vgpr60 = V_ADD_F32_e32 $sgpr10, $vgpr62, {MODE}",
    "readlane of v0": "$sgpr14 = V_READLANE_B32 $vgpr0, $sgpr16",
    "readlane by s10": "$sgpr14 = V_READLANE_B32 $vgpr61, $sgpr10",
    "readfirstlane of v0": f"$sgpr14 = V_READFIRSTLANE_B32 $vgpr0, {EXEC}",
    "load from s10": f"$vgpr60 = GLOBAL_LOAD_DWORD_SADDR $sgpr10_sgpr11, $vgpr61, 0, 0, {EXEC}",
    "load from v0": f"$vgpr60 = GLOBAL_LOAD_DWORD $vgpr0_vgpr1, 0, 0, {EXEC}",
    "store of v0": f"GLOBAL_STORE_DWORD $vgpr62_vgpr63, $vgpr0, 0, 0, {EXEC}",
    "ds from v0": f"$vgpr60 = DS_READ_B32_gfx9 $vgpr0, 0, 0, {EXEC}",
    "div_fmas": f"$vgpr60 = V_DIV_FMAS_F32_e64 0, $vgpr61, 0, $vgpr62, 0, $vgpr63, 0, 0, implicit $vcc, {MODE}",
    "getreg": "$sgpr14 = S_GETREG_B32 1, implicit $mode",
    "setreg": "S_SETREG_B32 $sgpr21, 1, implicit-def $mode, implicit $mode",
    "sendmsg with m0": f"S_SENDMSG 1, {EXEC}, implicit $m0",
}
GFX9_FIRST = COMMON_FIRST | {
    "cmpx": f"V_CMPX_EQ_U32_e32 $vgpr24, $vgpr25, implicit-def $exec, implicit-def $vcc, {EXEC}",
    "store of v0 to v3": f"GLOBAL_STORE_DWORDX4 $vgpr30_vgpr31, {q(0, 4)}, 0, 0, {EXEC}",
}
GFX9_SECOND = COMMON_SECOND | {"dpp reads v0": f"$vgpr60 = V_MOV_B32_dpp undef $vgpr60, $vgpr0, 0, 15, 15, 0, {EXEC}"}
CDNA2_FIRST = GFX9_FIRST | {
    "XDL of 2 passes writes v0": mfma("F32_4X4X4F16_vgprcd", q(0, 4), q(8, 2), q(10, 2), q(40, 4)),
    "XDL of 4 or 8 passes writes v0": mfma("F32_16X16X16F16_vgprcd", q(0, 4), q(8, 2), q(10, 2), q(40, 4)),
    "XDL of 8 or 16 passes writes v0": mfma("F32_32X32X8F16_vgprcd", q(0, 16), q(68, 2), q(70, 2), q(40, 16)),
    "XDL of 8 or 16 passes reads v0": mfma("F32_32X32X8F16_vgprcd", q(40, 16), q(68, 2), q(70, 2), q(0, 16)),
    "SGEMM writes v0": mfma("F32_16X16X4F32_vgprcd", q(0, 4), q(8, 1), q(10, 1), q(40, 4)),
    "DGEMM of 16x16 writes v0": mfma("F64_16X16X4F64_vgprcd", q(0, 8), q(18, 2), q(20, 2), q(40, 8)),
    "DGEMM of 4x4 writes v0": mfma("F64_4X4X4F64_vgprcd", q(0, 2), q(18, 2), q(20, 2), q(40, 2)),
}
CDNA2_SECOND = GFX9_SECOND | {
    "XDL reads v0 as A": mfma("F32_16X16X16F16_vgprcd", q(80, 4), q(0, 2), q(90, 2), q(92, 4)),
    "XDL reads v0 to v3 as C": mfma("F32_16X16X16F16_vgprcd", q(0, 4), q(88, 2), q(90, 2), q(0, 4)),
    "XDL reads v2 to v5 as C": mfma("F32_16X16X16F16_vgprcd", q(80, 4), q(88, 2), q(90, 2), q(2, 4)),
    "SGEMM reads v0 as A": mfma("F32_16X16X4F32_vgprcd", q(80, 4), q(0, 1), q(90, 1), q(92, 4)),
    "SGEMM reads v0 to v3 as C": mfma("F32_16X16X4F32_vgprcd", q(0, 4), q(88, 1), q(90, 1), q(0, 4)),
    "DGEMM reads v0 as A": mfma("F64_16X16X4F64_vgprcd", q(80, 8), q(0, 2), q(90, 2), q(100, 8)),
    "DGEMM reads v0 to v7 as C": mfma("F64_16X16X4F64_vgprcd", q(80, 8), q(98, 2), q(90, 2), q(0, 8)),
    "DGEMM reads v0 to v1 as C": mfma("F64_4X4X4F64_vgprcd", q(0, 2), q(98, 2), q(90, 2), q(0, 2)),
    "fma of f64": f"{q(60, 2)} = V_FMA_F64_e64 0, {q(62, 2)}, 0, {q(64, 2)}, 0, {q(66, 2)}, 0, 0, {MODE}",
}
CDNA1_FIRST = GFX9_FIRST | {
    "MFMA of 2 passes writes a0": mfma("F32_4X4X4F16", q(0, 4, "agpr"), q(8, 2), q(10, 2), q(40, 4, "agpr")),
    "MFMA of 8 passes writes a0": mfma("F32_16X16X16F16", q(0, 4, "agpr"), q(8, 2), q(10, 2), q(40, 4, "agpr")),
    "MFMA of 16 passes writes a0": mfma("F32_32X32X8F16", q(0, 16, "agpr"), q(8, 2), q(10, 2), q(40, 16, "agpr")),
    "MFMA of 16 passes reads a0": mfma("F32_32X32X8F16", q(40, 16, "agpr"), q(8, 2), q(10, 2), q(0, 16, "agpr")),
    "accvgpr_write of a0": f"$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr24, {EXEC}",
    "accvgpr_read to v0": f"$vgpr0 = V_ACCVGPR_READ_B32_e64 $agpr70, {EXEC}",
}
CDNA1_SECOND = GFX9_SECOND | {
    "MFMA reads v0 as A": mfma("F32_16X16X16F16", q(80, 4, "agpr"), q(0, 2), q(90, 2), q(92, 4, "agpr")),
    "MFMA reads a0 as A": mfma("F32_16X16X16F16", q(80, 4, "agpr"), q(0, 2, "agpr"), q(90, 2), q(92, 4, "agpr")),
    "MFMA reads a0 to a3 as C": mfma("F32_16X16X16F16", q(0, 4, "agpr"), q(88, 2), q(90, 2), q(0, 4, "agpr")),
    "MFMA reads a2 to a5 as C": mfma("F32_16X16X16F16", q(80, 4, "agpr"), q(88, 2), q(90, 2), q(2, 4, "agpr")),
    "accvgpr_read of a0": f"$vgpr60 = V_ACCVGPR_READ_B32_e64 $agpr0, {EXEC}",
    "accvgpr_write of a0": f"$agpr0 = V_ACCVGPR_WRITE_B32_e64 $vgpr61, {EXEC}",
    "accvgpr_write from v0": f"$agpr60 = V_ACCVGPR_WRITE_B32_e64 $vgpr0, {EXEC}",
}
CDNA5_FIRST = COMMON_FIRST | {
    "WMMA writes v0": wmma(q(0, 8), q(80, 8), q(88, 8), q(96, 8)),
    "WMMA reads v0 as A": wmma(q(104, 8), q(0, 8), q(88, 8), q(96, 8)),
    "WMMA reads v0 as C": wmma(q(104, 8), q(80, 8), q(88, 8), q(0, 8)),
}
CDNA5_SECOND = {name: line for name, line in COMMON_SECOND.items() if not name.startswith("ds ")} | {
    "WMMA reads v0 as A": wmma(q(104, 8), q(0, 8), q(112, 8), q(120, 8)),
    "WMMA reads v0 as C": wmma(q(104, 8), q(128, 8), q(112, 8), q(0, 8)),
    "WMMA writes v0": wmma(q(0, 8), q(128, 8), q(112, 8), q(120, 8)),
}
#           first instructions, second ones
PAIRS = {
    "gfx908": (CDNA1_FIRST, CDNA1_SECOND),
    "gfx90a": (CDNA2_FIRST, CDNA2_SECOND),
    "gfx942": (CDNA2_FIRST, CDNA2_SECOND),
    "gfx950": (CDNA2_FIRST, CDNA2_SECOND),
    "gfx1250": (CDNA5_FIRST, CDNA5_SECOND),
}
EXEC_OF_MEMORY = {("cmpx", second): (5, 0) for second in ("load from s10", "load from v0", "store of v0")}
"""LLVM takes EXEC, which every such access reads, for an SGPR; the manuals name it for DPP and lane accesses alone."""
SGEMM_BEFORE_XDL = {("SGEMM writes v0", "XDL reads v2 to v5 as C"): (0, 8)}
"""In the manual's table; LLVM inserts nothing (`hazards-contradicted`)."""
TRANS = {
    ("WMMA writes v0", "trans reads v0"): (0, 4),
    ("WMMA writes v0", "trans writes v0"): (0, 4),
    ("WMMA reads v0 as A", "trans writes v0"): (0, 4),
}
"""Later LLVM than 22 inserts them (pull request 186269)."""
SETREG = {(first, "setreg"): (2, 0) for first in CDNA5_FIRST} | {("setreg", second): (2, 0) for second in CDNA5_SECOND}
"""LLVM places two V_NOP in front of any S_SETREG of MODE, whatever comes before; the manual has no such rule."""
#   first, second: wait states that LLVM inserts, and that the rows require
OTHERWISE = {
    "gfx908": EXEC_OF_MEMORY | {("accvgpr_write of a0", "accvgpr_write of a0"): (3, 0)},  # no manual has it
    "gfx90a": EXEC_OF_MEMORY,
    "gfx942": EXEC_OF_MEMORY | SGEMM_BEFORE_XDL,
    "gfx950": EXEC_OF_MEMORY,
    "gfx1250": TRANS
    | SETREG
    | {
        ("WMMA reads v0 as C", "valu writes v0"): (0, 4),  # LLVM's issue 222932
        ("setreg", "setreg"): (4, 0),
    },
}


@pytest.mark.parametrize("name", PAIRS)
def test_every_pair_needs_what_llvm_inserts(name):
    arch = mfmasim.arch(name)
    firsts, seconds = PAIRS[name]
    both = {f"p{len(seconds) * i + k}": (a, b) for i, a in enumerate(firsts) for k, b in enumerate(seconds)}
    file = file_of({key: [firsts[a], seconds[b]] for key, (a, b) in both.items()})
    with_waits, without = (functions(file, arch, inserted=inserted) for inserted in (True, False))
    assert without is not None
    assert len(without) == len(both)
    differ = {}
    for key, pair in both.items():
        llvm, ours = waits_in(with_waits[key]), max(missing(without[key], arch).values(), default=0)
        if llvm != ours:
            differ[pair] = llvm, ours
        if llvm == ours:
            assert not missing(with_waits[key], arch), pair
    assert differ == OTHERWISE[name]


def wmma_rdna(name, registers):
    """A WMMA of RDNA as `wmma`, whose factors have so many registers."""

    def made(d, a, b):
        return f"early-clobber {d} = V_WMMA_F32_16X16X16_F16_{name} 8, {a}, 8, {b}, 8, {d}, 0, 0, {EXEC}"

    first = {"WMMA writes v0": made(q(0, 8), q(80, registers), q(88, registers))}
    second = {
        "WMMA reads v0 as A": made(q(104, 8), q(0, registers), q(88, registers)),
        "WMMA reads v0 as B": made(q(104, 8), q(80, registers), q(0, registers)),
        "WMMA reads v4 as A": made(q(104, 8), q(4, registers), q(88, registers)),
        "WMMA reads v8 as A": made(q(104, 8), q(8, registers), q(88, registers)),
        "WMMA adds to v0": made(q(0, 8), q(80, registers), q(88, registers)),
    }
    return first, second


CMPX = {"cmpx": f"V_CMPX_EQ_U32_nosdst_e32 $vgpr24, $vgpr25, implicit-def $exec, {EXEC}"}
PERMLANE = {"permlane16": f"$vgpr60 = V_PERMLANE16_B32_e64 0, $vgpr61, 0, $sgpr20, 0, $sgpr21, $vgpr60, 0, {EXEC}"}
RDNA = {
    "gfx1030": ({}, {}),
    "gfx1100": wmma_rdna("twoaddr_w32", 8),
    "gfx1151": wmma_rdna("twoaddr_w32", 8),
    "gfx1200": wmma_rdna("w32_twoaddr", 4),
    "gfx1201": wmma_rdna("w32_twoaddr", 4),
}
NOT_ON_RDNA = ("ds from v0", "div_fmas", "sendmsg with m0")
"""Second instructions that these processors encode otherwise."""


@pytest.mark.parametrize("name", RDNA)
def test_rdna_needs_something_where_llvm_inserts_something(name):
    """V_NOP, S_WAITCNT_DEPCTR or a move between: not what, but where. S_DELAY_ALU is a hint."""
    arch = mfmasim.arch(name)
    first, second = RDNA[name]
    firsts = COMMON_FIRST | CMPX | first
    seconds = {key: line for key, line in COMMON_SECOND.items() if key not in NOT_ON_RDNA} | PERMLANE | second
    both = {f"p{len(seconds) * i + k}": (a, b) for i, a in enumerate(firsts) for k, b in enumerate(seconds)}
    file = file_of({key: [firsts[a], seconds[b]] for key, (a, b) in both.items()})
    with_waits, without = (functions(file, arch, inserted=inserted) for inserted in (True, False))
    assert without is not None
    assert len(without) == len(both) == (112 if name == "gfx1030" else 171)
    required = 0
    for key, pair in both.items():
        had = [ins.text for ins in without[key]]
        inserted = [ins.text for ins in with_waits[key] if ins.text not in had and ins.name != "s_delay_alu"]
        ours = missing(without[key], arch)
        assert bool(inserted) == bool(ours), (pair, inserted, ours)
        assert not missing(with_waits[key], arch), pair
        required += bool(ours)
    assert required == {"gfx1030": 0, "gfx1100": 11}.get(name, 4)


def test_the_page_of_rows_is_made_from_them():
    spec = importlib.util.spec_from_file_location("make_hazards", ROOT / "docs" / "make_hazards.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run python -m docs.make_hazards"


FILE = """# RUN: llc -mtriple=amdgcn -mcpu=gfx942 -run-pass post-RA-hazard-rec %s -o - | FileCheck %s
---
name: {}
body: |
  bb.0:
    $vgpr0 = V_ADD_F32_e32 $vgpr24, $vgpr25, implicit $mode, implicit $exec
    $sgpr14 = V_READLANE_B32 $vgpr0, $sgpr16
...
---
name: refused
body: |
  bb.0:
    V_NO_SUCH_INSTRUCTION implicit $exec
...
"""


def test_files_as_llvm_has_them(tmp_path):
    """Functions are judged one by one; what llc refuses is left out."""
    (tmp_path / "some-hazard.mir").write_text(FILE.format("some"))
    assert judged(tmp_path, mfmasim.arch("gfx942")) == (["some-hazard.mir:some"], [])
    assert judged(tmp_path, mfmasim.arch("gfx90a")) == ([], [])
