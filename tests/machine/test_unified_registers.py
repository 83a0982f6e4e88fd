"""VGPRs and AGPRs of one file: two names of one register, in values, undefined bits, orders and provenance."""

import json
import random

import numpy as np
import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from tests.machine import harness

pytestmark = pytest.mark.oracle

UNIFIED = ("gfx90a", "gfx942", "gfx950")
FIRST, TOTAL = 32, 64
START = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""
STORE = "  global_store_dword v1, {}, s[10:11] offset:{}"
WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)"


def kernel(lines, arch, *, first=FIRST, total=TOTAL, **options):
    """A kernel whose a0 is v`first`, of `total` registers."""
    body = START + "\n".join([*lines, "  s_endpgm"])
    return harness.kernel(body, arch, "pp", accum_offset=first, vgprs=total, **options)


def observed(lines, arch, checks="all", **options):
    """Output (64 lanes) and findings."""
    out = np.zeros(4096, np.uint32)
    args = [np.arange(4096, dtype=np.uint32), out]
    report = mfmasim.device("sim").launch(kernel(lines, arch, **options), grid=1, block=64, args=args, checks=checks)
    return out, report.findings


def random_moves(rng, count):
    """Moves between the files under either name, and loads; every register is written first."""
    lines = [f"  v_lshl_add_u32 v{n}, v0, {n % 31 + 1}, {n % 64}" for n in range(2, TOTAL)]
    for _ in range(count):
        to, source, half = rng.randrange(2, TOTAL), rng.randrange(2, TOTAL), rng.randrange(TOTAL - FIRST)
        lines.append(
            rng.choice(
                (
                    f"  v_accvgpr_write_b32 a{half}, v{source}",
                    f"  v_accvgpr_read_b32 v{to}, a{half}",
                    f"  v_accvgpr_mov_b32 a{half}, a{to % (TOTAL - FIRST)}",
                    f"  v_xor_b32 v{to}, v{source}, v{to}",
                    f"  global_load_dword a{half}, v1, s[8:9] offset:{4 * source}\n  {WAIT}",
                    f"  ds_write_b32 v1, a{half}\n  {WAIT}\n  ds_read_b32 v{to}, v1\n  {WAIT}",
                )
            )
        )
    return [
        *lines,
        *(STORE.format(f"v{n}", 256 * (n % 8)) + f"\n  v_add_u32 v1, {n % 8 // 7 * 2048}, v1" for n in range(2, TOTAL)),
    ]


@pytest.mark.parametrize("arch", UNIFIED)
@pytest.mark.parametrize("seed", range(3))
def test_random_programs_against_the_slow_interpreter(arch, seed):
    program = kernel(random_moves(random.Random(seed), 150), arch, lds=1024)
    arrays = [np.random.default_rng(seed).integers(0, 1 << 32, 2048, np.uint32), np.zeros(8192, np.uint32)]
    done = harness.both(program, 1, 64, arrays, lds_bytes=1024, arch=arch)
    assert not done.different()
    assert len(np.unique(done.fast[1])) > 500


@pytest.mark.parametrize("arch", UNIFIED)
def test_a_register_is_written_under_one_name_and_read_under_the_other(arch):
    out, findings = observed(
        [
            "v_mov_b32 v37, v0",
            "v_accvgpr_read_b32 v4, a5",
            STORE.format("v4", 0),
            "v_accvgpr_write_b32 a31, v1",
            STORE.format("v63", 256),
        ],
        arch,
    )
    assert (out[:64] == np.arange(64)).all()
    assert (out[64:128] == 4 * np.arange(64)).all()
    assert not findings, "written under one name is written under the other"


def test_a_matrix_instruction_sees_one_file():
    """C and D as AGPRs, A and B beyond a0 as VGPRs: the same as with other registers."""
    ones = ["v_mov_b32 v{0}, 0x3c003c00", "v_mov_b32 v{1}, 0x3c003c00"]
    lines = [line.format(50, 51) for line in ones]
    lines += [f"v_cvt_f32_u32 v{FIRST + k}, v0" for k in range(4)]
    lines += ["s_nop 7", "v_mfma_f32_16x16x16_f16 a[0:3], v[50:51], a[18:19], a[0:3]", "s_nop 15", "s_nop 15"]
    out, findings = observed([*lines, STORE.format("v33", 0)], "gfx942")
    assert (out[:64].view(np.float32) == np.arange(64) + 16).all()
    assert not findings


@pytest.mark.parametrize(
    ("line", "register", "count"),
    [
        ("v_mov_b32 v64, 0", "v64", TOTAL),
        ("v_accvgpr_write_b32 a32, v0", "a32", TOTAL - FIRST),
        ("v_pk_add_f32 v[2:3], v[62:63], v[64:65]", "v65", TOTAL),
        ("global_load_dwordx4 a[30:33], v1, s[8:9]", "a33", TOTAL - FIRST),
    ],
)
def test_registers_beyond_the_allocation_are_refused(line, register, count):
    with pytest.raises(MfmasimError, match=rf"^{register} in .*: the kernel allocates {count}$"):
        observed([line], "gfx942")
    (refused,) = kernel([line], "gfx942").unsupported
    assert refused.text.replace("_e32", "") == line


def test_registers_never_written_have_the_name_that_the_instruction_gives_them():
    _, findings = observed(
        [STORE.format("v40", 0), STORE.format("a9", 0), "v_accvgpr_read_b32 v4, a10", STORE.format("v4", 0)],
        "gfx942",
        "uninitialised",
    )
    assert [(f.register, f.message.split(" is stored")[0]) for f in findings] == [
        ("v40", "v40"),
        ("a9", "a9"),
        ("v4", "v4"),
    ]
    assert "comes from a10" in findings[2].message


def test_waits_and_wait_states_hold_under_either_name():
    load = "global_load_dword a5, v1, s[8:9]"
    _, findings = observed([load, "v_mov_b32 v4, v37", WAIT, load, "v_accvgpr_read_b32 v4, a5", WAIT], "gfx942")
    assert [(f.check, f.register) for f in findings if f.check == "waits"] == [("waits", "v37"), ("waits", "a5")]
    product = ["v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], 0", "v_mov_b32 v4, v34"]
    _, findings = observed(product, "gfx942", "hazards")
    assert [(f.id, f.register) for f in findings] == [("hazards-matrix", "v34")]


def test_the_debugger_shows_both_names():
    seen, debug = [], mfmasim.Debugger()

    def look(stop):
        seen.append((stop.v(33)[0], stop.a(1)[0], stop.fragment("C"), stop.instruction.text))
        with pytest.raises(MfmasimError, match=r"^a32: the kernel allocates 32 such registers"):
            stop.a(32)

    debug.break_at("v_mfma_*", look)
    lines = [
        *(f"v_mov_b32 v{k}, 1.0" for k in (2, 3, 32, 33, 34, 35)),
        "v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[2:3], a[0:3]",
    ]
    args = [np.zeros(4, np.uint32), np.zeros(4, np.uint32)]
    mfmasim.device("sim").launch(kernel(lines, "gfx942"), grid=1, block=64, args=args, observers=[debug])
    ((v33, a1, fragment, text),) = seen
    assert (v33 == a1).all()
    assert (fragment.kind, fragment.first) == ("a", 0)
    assert (fragment.matrix == 1).all()
    assert text == "v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[2:3], a[0:3]"


FRAGMENTS = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_load_dwordx2 s[12:13], s[0:1], 0x10
  v_and_b32 v0, 0x3ff, v0
  v_and_b32 v1, 15, v0
  v_lshrrev_b32 v2, 4, v0
  v_lshlrev_b32 v3, 5, v1
  v_lshl_add_u32 v3, v2, 3, v3
  s_waitcnt lgkmcnt(0)
  global_load_dwordx2 a[20:21], v3, s[8:9]
  global_load_dwordx2 v[54:55], v3, s[10:11]
  s_waitcnt vmcnt(0)
  s_nop 1
  v_mfma_f32_16x16x16_f16 a[0:3], v[52:53], a[{b}], 0
  v_lshlrev_b32 v4, 2, v1
  v_lshl_add_u32 v4, v2, 8, v4
  s_nop 15
  global_store_dword v4, v32, s[12:13]
  global_store_dword v4, v33, s[12:13] offset:64
  global_store_dword v4, v34, s[12:13] offset:128
  global_store_dword v4, v35, s[12:13] offset:192
  s_endpgm
"""
"""A is loaded as AGPRs and multiplied as VGPRs, B the other way round; D is stored as VGPRs."""

CASE = """
from mfmasim.verify import case, A, B, C

@case("k.hsaco", kernel="test", arch=["gfx942"])
def product():
    a, b, c = A("f16", (16, 16)), B("f16", (16, 16), order="column"), C("f32", (16, 16))
    return dict(grid=1, block=64, args=[a, b, c], expect=a @ b)
"""


@pytest.mark.parametrize(("b", "passes"), [("22:23", True), ("24:25", False)])
def test_elements_are_followed_under_either_name(b, passes, tmp_path):
    text = harness.source(FRAGMENTS.format(b=b), "gfx942", "ppp", accum_offset=FIRST, vgprs=TOTAL)
    (tmp_path / "k.hsaco").write_bytes(harness.assemble(text, "gfx942"))
    (tmp_path / "product_case.py").write_text(CASE)
    to = tmp_path / "results.json"
    code = main(["verify", str(tmp_path / "product_case.py"), "--json", str(to)])
    (result,) = json.loads(to.read_text())
    assert (code, result["status"]) == ((0, "pass") if passes else (1, "fail")), result
    assert result["mapping"]["slots_checked"] >= 512
    assert bool(result["mapping"]["mismatches"]) != passes
