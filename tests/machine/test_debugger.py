"""Breakpoints, steps and fragments: what a stop shows is what the kernel computes, and looking changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder
from tests.machine import harness

INTRO = folder("golden") / "code" / "intro"

LOOP = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_mov_b32_e32 v3, 0
  s_mov_b32 s20, 0
.Lloop:
  v_add_u32_e32 v3, s20, v3
  s_add_u32 s20, s20, 1
  s_cmp_lt_u32 s20, 5
  s_cbranch_scc1 .Lloop
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v3, s[8:9]
  s_endpgm
"""


def loop(arch="gfx942"):
    """Sums 0 to 4 in every lane."""
    return harness.kernel(LOOP, arch, "p")


def launch(program, debug, *, grid=1, block=64, args=None, **options):
    """Launch with a debugger; (report, first array)."""
    args = [np.zeros(grid * block, np.uint32)] if args is None else args
    report = mfmasim.device("sim").launch(program, grid=grid, block=block, args=args, debug=debug, **options)
    return report, args[0]


def launch_with(program, place, **options):
    """Launch with one breakpoint."""
    debug = mfmasim.Debugger()
    debug.break_at(place, print)
    return launch(program, debug, **options)


def pc_of(program, name):
    """Address of the first instruction with a mnemonic."""
    return next(ins.pc for ins in program.instructions if ins.name == name)


@pytest.mark.oracle
def test_breakpoint_at_a_mnemonic_sees_every_round():
    debug, seen = mfmasim.Debugger(), []
    point = debug.break_at("v_add_*", lambda stop: seen.append((stop.s(20)[0], stop.v(3)[:, 7].tolist(), stop.waves)))
    report, out = launch(loop(), debug, block=128)
    assert [int(s) for s, _, _ in seen] == [0, 1, 2, 3, 4]
    assert [v for _, v, _ in seen] == [[x, x] for x in (0, 0, 1, 3, 6)]
    assert all(w.tolist() == [0, 1] for _, _, w in seen)
    assert point.hits == 5
    assert report.ok
    assert not report.findings
    assert (out == 10).all()


@pytest.mark.oracle
def test_breakpoint_at_an_address_with_a_condition():
    program, debug, seen = loop(), mfmasim.Debugger(), []

    @debug.at(pc_of(program, "s_cmp_lt_u32"), when=lambda stop: stop.s(20)[0] == 3)
    def look(stop):
        seen.append((stop.pc, bool(stop.scc[0]), int(stop.exec[0]), stop.place().workgroup))

    launch(program, debug)
    assert seen == [(pc_of(program, "s_cmp_lt_u32"), False, 2**64 - 1, (0, 0, 0))]


@pytest.mark.oracle
def test_false_ends_the_launch_before_the_instruction():
    program, debug = loop(), mfmasim.Debugger()
    debug.break_at("global_store_dword", lambda stop: False)
    report, out = launch(program, debug, grid=2)
    assert (out == 0).all()
    (finding,) = report.findings
    assert (finding.check, finding.severity, finding.pc) == ("debugger", "info", pc_of(program, "global_store_dword"))
    assert (finding.workgroup, finding.wave) == ((0, 0, 0), 0)
    assert report.ok
    # What was not executed is not counted: 2 waves ran everything up to the store.
    assert report.counts["v_add_u32"] == 10
    assert report.counts["global_store_dword"] == 0
    assert report.counts["s_endpgm"] == 0


@pytest.mark.oracle
def test_step_goes_from_instruction_to_instruction():
    program, debug, texts = loop(), mfmasim.Debugger(), []

    def look(stop):
        texts.append(stop.instruction.name)
        if len(texts) < 6:
            stop.step()

    debug.break_at(program.instructions[3].pc, look)
    launch(program, debug)
    assert texts == ["v_mov_b32", "s_mov_b32", "v_add_u32", "s_add_u32", "s_cmp_lt_u32", "s_cbranch_scc1"]


@pytest.mark.oracle
@pytest.mark.parametrize("arch", harness.ARCHITECTURES)
def test_registers_memory_and_lds_of_a_stop(arch):
    body = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_accvgpr_write_b32 a3, v1
  ds_write_b32 v2, v1
  v_cmp_gt_u32_e32 vcc, 2, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[8:9]
  s_endpgm
"""
    program, debug, seen = harness.kernel(body, arch, "p", lds=256), mfmasim.Debugger(), []

    def look(stop):
        seen.append((stop.lds.view(np.uint32), stop.a(3), stop.vcc, stop.buffer("p0").sum(), stop.buffer("0").size))

    debug.break_at("s_endpgm", look)
    launch(program, debug, grid=3)
    ((lds, agpr, vcc, total, size),) = seen
    assert lds.shape == agpr.shape == (3, 64)
    assert (lds == np.arange(64)).all()
    assert (agpr == np.arange(64)).all()
    assert vcc.tolist() == [3, 3, 3]
    assert (total, size) == (3 * 0 + sum(range(64)), 3 * 64 * 4)


@pytest.mark.oracle
def test_bad_breakpoints_are_one_clear_line():
    program = loop()
    for place, words in {
        "v_mul_*": ("v_mul_*", "test"),
        "gemm.hip:31": ("source lines",),
        0x10: ("0x10", "outside the code"),
        "": ("''",),
        True: ("True",),
    }.items():
        with pytest.raises(MfmasimError) as caught:
            launch_with(program, place)
        assert "\n" not in str(caught.value)
        assert all(word in str(caught.value) for word in words), str(caught.value)
    debug = mfmasim.Debugger()
    with pytest.raises(MfmasimError, match="function"):
        debug.break_at("v_add_*", "look")
    # Questions to a stop that it cannot answer.
    for ask, word in (
        (lambda stop: stop.v(999), "v999"),
        (lambda stop: stop.s(-1), "s-1"),
        (lambda stop: stop.buffer("q"), "'q'"),
        (lambda stop: stop.fragment("A"), "not a matrix instruction"),
    ):
        debug = mfmasim.Debugger()
        debug.break_at("s_endpgm", ask)
        with pytest.raises(MfmasimError, match=word):
            launch(program, debug)


def intro(name):
    """A prebuilt kernel of the introduction."""
    return mfmasim.load(INTRO / f"{name}.hsaco")


def test_source_line_and_fragments_of_f16():
    """Every element of A and B is found where the layout says, and D after the instruction is A @ B."""
    program = intro("mfma_f32_16x16x16_f16.gfx942")["mfma_f32_16x16x16_f16"]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, (16, 16)).astype(np.float16) for _ in range(2))
    out, debug, seen = np.zeros((16, 16), np.float32), mfmasim.Debugger(), {}

    def matrix(stop):
        seen.update({name: stop.fragment(name) for name in ("A", "B")}, line=stop.source)
        stop.step(lambda after: seen.update(D=matrix_step.fragment("D")) or after.end())
        matrix_step = stop

    debug.break_at("v_mfma_*", matrix)
    launch(program, debug, args=[a, b, out])
    line = seen["line"]
    assert line.startswith("mfma_f32_16x16x16_f16.hip:")
    assert (seen["A"].matrix == a).all()
    assert (seen["B"].matrix == b).all()
    assert (seen["D"].matrix == a.astype(np.float64) @ b.astype(np.float64)).all()
    table = seen["A"].table
    assert len(table) == 256
    assert (table["value"] == a[table["row"], table["col"]]).all()
    assert (table["code"] == a.view(np.uint16)[table["row"], table["col"]]).all()
    first = seen["A"].first
    assert seen["A"].at(f"v{first}", 5) == [f"A[5, 0] = {a[5, 0]:.9g}", f"A[5, 1] = {a[5, 1]:.9g}"]
    with pytest.raises(MfmasimError, match="v999"):
        seen["A"].at("v999", 5)
    assert "16x16 f16 in v[" in str(seen["A"])
    # The same line, asked for by its name.
    again, hits = mfmasim.Debugger(), []
    again.break_at(line, lambda stop: hits.append(stop.source))
    launch(program, again, args=[a, b, out])
    assert set(hits) == {line}
    with pytest.raises(MfmasimError, match="nearby lines"):
        launch_with(program, "mfma_f32_16x16x16_f16.hip:9999", args=[a, b, out])


@pytest.mark.parametrize("opsel", range(4))
def test_fragments_of_scales_and_fp4(opsel):
    """A scale is the byte that OPSEL selects; FP4 elements are nibbles."""
    name = f"mfma_scale_f32_32x32x64_fp4_opsel{opsel}"
    program = intro("mfma_scale_f32_32x32x64_fp4.gfx950")[name]
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 256, (32, 32), np.uint8), rng.integers(0, 256, (32, 32), np.uint8)
    # SA: four bytes for each row and block of 32 k; SB: for each block and column.
    scale_a, scale_b = rng.integers(120, 134, (32, 2, 4), np.uint8), rng.integers(120, 134, (2, 32, 4), np.uint8)
    out, debug, seen = np.zeros((32, 32), np.float32), mfmasim.Debugger(), {}
    debug.break_at("v_mfma_*", lambda stop: seen.update({n: stop.fragment(n) for n in stop.operands if n not in "CD"}))
    launch(program, debug, args=[a, b, scale_a, scale_b, out])
    assert sorted(seen) == ["A", "B", "scale_A", "scale_B"]
    codes = np.stack([a & 15, a >> 4], axis=-1).reshape(32, 64)
    assert (seen["A"].matrix == mfmasim.format("e2m1fn").decode(codes)).all()
    for side, given in (("scale_A", scale_a[..., opsel]), ("scale_B", scale_b[..., opsel].T)):
        assert (seen[side].matrix == 2.0 ** (given.astype(int) - 127)).all()


@pytest.mark.oracle
def test_looking_changes_nothing():
    """Divergent waves, barriers, LDS: outputs, counts and findings are the same with every instruction listened to."""
    body = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_readfirstlane_b32 s20, v1
  s_lshr_b32 s20, s20, 6
  s_add_u32 s20, s20, 1
.Lloop:
  v_add_u32_e32 v1, s20, v1
  s_sub_u32 s20, s20, 1
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 .Lloop
  ds_write_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32_e32 v3, 0x40, v2
  ds_read_b32 v4, v3 offset:4
  s_mul_i32 s21, s2, 1024
  v_add_u32_e32 v2, s21, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[8:9]
  s_endpgm
"""
    program = harness.kernel(body, "gfx942", "p", lds=1024)
    plain, out = launch(program, None, grid=3, block=256)
    debug, steps = mfmasim.Debugger(), []
    debug.break_at("*", lambda stop: steps.append(len(stop.waves)))
    looked, same = launch(program, debug, grid=3, block=256)
    assert (out == same).all()
    assert out.any()
    assert plain.counts == looked.counts
    assert [f.record() for f in plain.findings] == [f.record() for f in looked.findings]
    assert plain.findings
    assert sum(steps) == plain.counts.total() == sum(plain.executed.values()) == sum(plain.mix.values())


WMMA = """
#include <hip/hip_runtime.h>
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef float f8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void wmma(const _Float16* a, const _Float16* b, float* c) {
    half16 x, y;
    for (int k = 0; k < 16; k++) {
        x[k] = a[16 * (threadIdx.x % 16) + k];
        y[k] = b[16 * k + threadIdx.x % 16];
    }
    f8 d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, f8{});
    for (int r = 0; r < 8; r++) c[16 * (2 * r + threadIdx.x / 16) + threadIdx.x % 16] = d[r];
}
"""


def test_fragments_of_a_wave32_matrix_instruction(tmp_path):
    """gfx11 holds A and B twice; every place decodes to its element, and the trace shows 32 lanes."""
    from mfmasim.observe.tools.steps import Trace

    path = tmp_path / "wmma.hip"
    path.write_text(WMMA)
    program = mfmasim.compile(path, "gfx1151")["wmma"]
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 9, (16, 16)).astype(np.float16) for _ in range(2))
    out, debug, seen, trace = np.zeros((16, 16), np.float32), mfmasim.Debugger(), {}, Trace()
    debug.break_at("v_wmma_*", lambda stop: seen.update({name: stop.fragment(name) for name in "AB"}))
    mfmasim.device("sim").launch(program, grid=1, block=32, args=[a, b, out], debug=debug, observers=[trace])
    assert np.allclose(out, a.astype(np.float32) @ b.astype(np.float32), atol=1e-3)  # RDNA3 truncates
    assert (seen["A"].matrix == a).all()
    assert (seen["B"].matrix == b).all()
    assert len(seen["A"].table) == 512
    assert (seen["A"].table["value"] == a[seen["A"].table["row"], seen["A"].table["col"]]).all()
    matrix = next(record for record in trace.records if record.text.startswith("v_wmma"))
    assert {len(values) for values in matrix.vectors.values()} == {32}
    assert matrix.record()["exec"] == "0xffffffff"
