"""hazards: the severity of a pair follows from the evidence for its row; ``hazards:manual`` takes the letter."""

import pytest

import mfmasim
from mfmasim.devices.options import chosen_checks
from mfmasim.errors import MfmasimError
from mfmasim.isa.hazards import rows, table_of
from mfmasim.isa.hazards.row import COMMON, DEFECT, NOT_EMITTED, SEVERAL, Row, Shipped
from mfmasim.isa.hazards.shipped import SHIPPED
from mfmasim.observe.registry import CHECKS
from tests.isa.count_hazards import broken
from tests.machine import harness

DIRECT = ("s_mov_b32 m0, 0", "buffer_load_dword v2, s[16:19], 0 offen lds")
DPP = ("v_mov_b32 v4, v0", "v_mov_b32_dpp v5, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf")
# The quotient of two workgroup numbers, as in every kernel of hipBLASLt for gfx942.
EXEC = ("v_cmpx_eq_u32 v0, v1", "v_add_u32 v4, 1, v4", "s_mov_b64 exec, -1", "v_readfirstlane_b32 s12, v4")
FOUR = "v_mfma_f32_16x16x32_fp8_fp8 v[20:23], v[14:15], v[18:19], v[20:23]"
LARGE = "v_mfma_f32_32x32x8f16 v[{first}:{last}], v[4:5], v[6:7], v[{first}:{last}]"
ONE, TWO = LARGE.format(first=16, last=31), LARGE.format(first=32, last=47)
F32 = "v_mfma_f32_32x32x2_f32 v[16:31], v4, v5, v[16:31]"
# Architectures, program, severity and count of the only finding.
PROGRAMS = {
    "direct": ("gfx942 gfx950", DIRECT, "info", 1),
    "direct, twice": ("gfx942 gfx950", DIRECT * 2, "info", 2),
    "direct, without evidence": ("gfx90a", DIRECT, "error", 1),
    "lane": ("gfx942 gfx950", ("v_readfirstlane_b32 s12, v0", "v_mov_b32 v4, s12"), "info", 1),
    "exec": ("gfx942", EXEC, "info", 1),
    "exec, closer": ("gfx942", EXEC[:1] + EXEC[2:], "error", 1),
    "exec, without evidence": ("gfx950", EXEC, "error", 1),
    "dpp": ("gfx942 gfx950", (DPP[0], "s_nop 0", DPP[1]), "warning", 1),
    "dpp, without evidence": ("gfx90a", (DPP[0], "s_nop 0", DPP[1]), "error", 1),
    "matrix": ("gfx942 gfx950", (FOUR, "s_nop 1", "v_mov_b32 v4, v23"), "warning", 1),
    "matrix, closer": ("gfx942 gfx950", (FOUR, "s_nop 0", "v_mov_b32 v4, v23"), "error", 1),
    "matrix to store": ("gfx942 gfx950", (FOUR, "s_nop 1", "ds_write_b32 v2, v23"), "error", 1),
    "not emitted": ("gfx90a gfx942 gfx950", ("v_cmp_eq_u32 vcc, v0, v0", "v_add_u32 v4, src_vccz, v4"), "error", 1),
    "not in LLVM": ("gfx942", (F32, "v_mfma_f32_32x32x8_f16 v[48:63], v[4:5], v[6:7], v[20:35]"), "warning", 1),
    # The second matrix instruction waits for the 16 passes of the first: 15 wait states, itself and those of s_nop.
    "busy, 19": ("gfx90a", (ONE, TWO, "s_nop 2", "v_mov_b32 v4, v31"), "info", 1),
    "busy, 18": ("gfx90a", (ONE, TWO, "s_nop 1", "v_mov_b32 v4, v31"), "error", 1),
    "busy, half over": ("gfx90a", (ONE, "s_nop 7", TWO, "s_nop 2", "v_mov_b32 v4, v31"), "info", 1),
}


def kernel(arch, lines):
    return harness.kernel("\n".join(["s_mov_b64 s[8:9], 0", "s_nop 15", *lines, "s_endpgm"]), arch, "p", lds=1024)


def reported(arch, lines, checks="hazards"):
    return mfmasim.device("sim").launch(kernel(arch, lines), grid=1, block=64, args=[None], checks=checks).findings


@pytest.mark.parametrize(
    ("arch", "program", "severity", "count"),
    [
        pytest.param(arch, *rest, id=f"{name}-{arch}")
        for name, (archs, *rest) in PROGRAMS.items()
        for arch in archs.split()
    ],
)
def test_severity(arch, program, severity, count):
    (finding,) = reported(arch, program)
    assert (finding.severity, finding.count) == (severity, count), finding.message
    ids = {"info": "hazards-tolerated", "warning": "hazards-contradicted"}
    assert ids.get(severity, finding.id) == finding.id
    letter = reported(arch, program, "hazards:manual")
    assert [f.severity for f in letter] == ["error"] * count
    assert all(f.id in ("hazards-wait-states", "hazards-matrix") for f in letter)


@pytest.mark.parametrize(
    ("program", "found"),
    [
        # Registers of one operand: s_nop 4 before the load mends all.
        (
            [*(f"v_readfirstlane_b32 s{n}, v0" for n in range(12, 16)), "buffer_load_dword v4, v2, s[12:15], 0 offen"],
            [("s[12:15]", "s_nop 4 is missing", "; one serves all 4 pairs, of s[12:15]")],
        ),
        # Two readers of a result: s_nop behind it mends both.
        (
            ["v_readfirstlane_b32 s12, v0", *(f"global_load_dword v{n}, v2, s[12:13]" for n in (4, 5))],
            [("s12", "s_nop 4 is missing", "; one serves all 2 pairs, of s12")],
        ),
        # Two places: none lies in both pairs.
        (
            [
                line
                for n in (12, 14)
                for line in (f"v_readfirstlane_b32 s{n}, v0", f"global_load_dword v4, v2, s[{n}:{n + 1}]")
            ],
            [("s12", "s_nop 4 is missing", ""), ("s14", "s_nop 4 is missing", "")],
        ),
    ],
)
def test_a_missing_instruction_is_one_finding_with_all_registers(program, found):
    findings = reported("gfx90a", program)
    assert [f.register for f in findings] == [register for register, *_ in found]
    for finding, (_, text, end) in zip(findings, found, strict=True):
        assert text in finding.message
        assert finding.message.endswith(f"){end}")
        assert finding.severity == "error"
    assert len(reported("gfx90a", program, "hazards:manual")) == sum(finding.count for finding in findings)


def test_evidence_is_told():
    (finding,) = reported("gfx942", DIRECT)
    objects = sum(count for count, _ in SHIPPED["CDNA3"].values())
    (same,) = SHIPPED["CDNA3"]["AITER"][1]["SALU writes M0", "uses M0", ""].values()
    assert f"{same} of {objects} prebuilt objects of AMD have as few" in finding.message
    (finding,) = reported("gfx90a", PROGRAMS["busy, 19"][1])
    assert "the matrix core is busy, so that the hardware adds 15" in finding.message
    assert (finding.expected, finding.actual) == ("19 wait states", "4 wait states")


def test_the_rule():
    walked = 100
    few, some, many = (Shipped(walked, {1: count}) for count in (SEVERAL - 1, SEVERAL, int(COMMON * walked)))
    both, lone = (Shipped(walked, {0: count, 1: int(COMMON * walked)}) for count in (SEVERAL, SEVERAL - 1))
    for shipped, llvm, present, severity in [
        (both, "f", 0, "info"),
        (lone, "f", 0, "error"),
        (lone, "f", 1, "info"),
        (few, "f", 1, "error"),
        (some, "f", 1, "warning"),
        (many, "f", 1, "info"),
        (many, "f", 0, "error"),
        (few, "", 1, "warning"),
        (many, "", 1, "info"),
        (Shipped(), "f", 0, "error"),
        (Shipped(), "", 0, "warning"),
    ]:
        row = Row("S_SETREG", "S_GETREG", 2, "a source", llvm=llvm, shipped=shipped)
        assert row.judged(2, present)[0] == severity, (shipped, llvm, present)
        assert row.judged(2, present, 2)[0] == "info"


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1100", "gfx1250"])
def test_every_count_belongs_to_a_row(arch):
    found = mfmasim.arch(arch)
    table = {(row.first, row.second, row.link): row for row in rows(found)}
    libraries = SHIPPED[table_of(found)]
    counted = {names for _, rules in libraries.values() for names in rules}
    assert len(counted) >= {"gfx1100": 1, "gfx1250": 3}.get(arch, 5)  # of 33 rows, AITER's for B0 break three
    for names in counted:
        row = table[names]
        most = max(row.needs.values()) if isinstance(row.needs, dict) else row.needs
        several = [rules.get(names, {}) for _, rules in libraries.values()]
        assert all(0 <= present < most for fewest in several for present in fewest)
        broken_by = sum(sum(fewest.values()) for fewest in several)
        objects = sum(count for count, _ in libraries.values())
        assert row.shipped.near(most) == row.shipped.broken == broken_by <= objects == row.shipped.objects
        assert row.shipped.near(0) == sum(fewest.get(0, 0) for fewest in several)
    for row in rows(found):
        assert row.source
        assert row.llvm.startswith(("check", "fix")) or row.llvm in (DEFECT, NOT_EMITTED, "")


def test_counting_takes_the_fewest_and_nothing_across_a_branch():
    body = [
        "s_mov_b32 m0, 0",
        "s_branch .Lnext",
        ".Lnext:",
        DIRECT[1],
        "s_nop 0",
        FOUR,
        "s_nop 3",
        "v_mov_b32 v4, v23",
        "s_nop 15",
        FOUR,
        "s_nop 1",
        "v_mov_b32 v4, v23",
        "s_nop 15",
        ONE.replace("8f16", "8_f16"),
        TWO.replace("8f16", "8_f16"),
        "s_nop 2",
        "v_mov_b32 v4, v31",
    ]
    assert broken(kernel("gfx942", body).code) == {("XDL writes D", "VALU uses VGPR", ""): 2}


def test_checks_with_options():
    names = chosen_checks("all")
    assert chosen_checks("all,hazards:manual") == tuple("hazards:manual" if n == "hazards" else n for n in names)
    assert chosen_checks("hazards:manual,all")[0] == "hazards:manual"
    assert chosen_checks(["waits", "hazards:manual"]) == ("waits", "hazards:manual")
    assert CHECKS["hazards"].options.keys() == {"manual"}
    for wrong, text in {
        "hazards:letter": "unknown option of the check hazards 'letter'; allowed: manual",
        "hazards:": "unknown option of the check hazards ''; allowed: manual",
        "waits:manual": "check 'waits:manual': waits has no options",
        "hazard:manual": "unknown check 'hazard:manual'",
    }.items():
        with pytest.raises(MfmasimError, match=text):
            chosen_checks(wrong)
