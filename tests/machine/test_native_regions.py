"""Regions in C: bits, counts, findings and ends are those of NumPy; without a compiler all is as before."""

from __future__ import annotations

import random

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.machine.execution import regions
from mfmasim.toolchain import native
from tests.longtier import this_round
from tests.machine import frame, harness
from tests.machine.native_fuzz import sanitized, texts
from tests.machine.native_programs import catalogue, differences, program

ARCHITECTURES = ("gfx942", "gfx1151", "gfx1201", "gfx1100:64")

LOOP = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_lshrrev_b32_e32 v3, 4, v1
  s_nop 4
  v_readfirstlane_b32 s20, v3
  s_nop 4
  {before}
  s_nop 4
.Lloop:
  v_mul_lo_u32 v4, v4, v1
  v_add_u32_e32 v4, 7, v4
  {within}
  s_add_u32 s21, s21, 1
  s_cmp_lt_u32 s21, {turns}
  s_cbranch_scc1 .Lloop
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[4:5]
  s_endpgm
"""


def looping(turns, before="s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1", within="s_nop 0"):
    """A kernel with a loop of register instructions."""
    return harness.kernel(LOOP.format(turns=turns, before=before, within=within), "gfx942", "p")


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """A cache of its own, and regions that were passed: their steps and wave-instructions."""
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path))
    done, passed = [], regions.passed

    def noted(*args):
        passage = passed(*args)
        done.append(passage)
        return passage

    monkeypatch.setattr(regions, "passed", noted)
    return done


def outcome(kernel, how, monkeypatch, block=256, **options):
    """What a launch leaves: output, counts, findings, end."""
    monkeypatch.setenv("MFMASIM_NATIVE", how)
    out = np.zeros(block, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=block, args=[out], **options)
    return out.tobytes(), dict(report.counts), [str(one) for one in report.findings], str(report.stopped)


def alike(kernel, monkeypatch, **options):
    """The launch with regions off, which is the same with regions forced."""
    off = outcome(kernel, "off", monkeypatch, **options)
    assert outcome(kernel, "forced", monkeypatch, **options) == off
    return off


@pytest.mark.parametrize("checks", ["none", "all"])
def test_a_loop_whose_waves_turn_at_different_times(compiled, monkeypatch, checks):
    kernel = looping("s20", "s_mul_i32 s20, s20, 9\n  s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1")
    _, counts, findings, _ = alike(kernel, monkeypatch, checks=checks)
    assert not findings
    assert sum(one.instructions for one in compiled) > sum(counts.values()) / 2


def test_more_turns_than_a_wave_may_be_ahead(compiled, monkeypatch):
    """A wave that leaves early waits, and goes on when another one is too far ahead, as without regions."""
    kernel = looping("s20", "s_mul_i32 s20, s20, 500\n  s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1")
    alike(kernel, monkeypatch)
    assert len(compiled) > 1


def test_a_budget_ends_within_a_region(compiled, monkeypatch):
    *_, stopped = alike(looping("0x100000"), monkeypatch, budget=12345, checks="none")
    assert "12,345" in stopped
    assert compiled


def test_a_quota_ends_within_a_region(compiled, monkeypatch):
    device = mfmasim.device("sim")
    found = []
    for how in ("off", "forced"):
        monkeypatch.setenv("MFMASIM_NATIVE", how)
        quota = mfmasim.Quota(instructions=54321)
        report = device.launch(looping("0x100000"), 1, 256, [np.zeros(256, np.uint32)], quota=quota, checks="none")
        found.append((dict(report.counts), str(report.stopped)))
    assert found[0] == found[1]
    assert "54,321" in found[0][1]
    assert compiled


@pytest.mark.parametrize("block", [64, 256])
def test_an_endless_loop_is_seen_at_the_same_step(compiled, monkeypatch, block):
    """The loop counts to 16 and begins again: its registers return."""
    within = "s_and_b32 s21, s21, 15\n  v_mov_b32_e32 v4, 3"
    *_, stopped = alike(looping("99", within=within), monkeypatch, block=block, checks="none")
    assert "endless" in stopped
    assert compiled


LOADS = """
  v_and_b32_e32 v7, {mask}, v4
  ds_read_b32 v8, v7
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v4, v4, v8
  ds_write_b16 v7, v4 offset:2
  global_load_dword v9, v2, s[4:5]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_xor_b32_e32 v4, v4, v9
  global_store_dword v2, v4, s[4:5]
"""


@pytest.mark.parametrize("mask", ["0x3fc", "0x7fc"])
def test_memory_in_a_region(compiled, monkeypatch, mask):
    """With the larger mask lanes leave the LDS every now and then: the machine executes such steps."""
    begin = "s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1\n  s_waitcnt lgkmcnt(0)"
    text = LOOP.format(turns=60, before=begin, within=LOADS.format(mask=mask))
    kernel = harness.kernel(text, "gfx942", "p", lds=1900)
    _, counts, *_ = alike(kernel, monkeypatch, checks="none")
    if mask == "0x3fc":
        assert sum(one.instructions for one in compiled) > sum(counts.values()) / 2
    assert any(one.failed for one in compiled) == (mask == "0x7fc")
    if mask == "0x3fc":  # observers of accesses see each of them
        ran = len(compiled)
        *_, findings, _ = alike(kernel, monkeypatch, checks="all")
        assert findings
        assert len(compiled) == ran


MEETING = """
  s_cmp_lt_u32 s20, {apart}
  s_cbranch_scc1 .Lfew
  v_add_u32_e32 v4, 3, v4
  s_nop 4
  v_readlane_b32 s23, v4, s21
  v_add_u32_e32 v4, s23, v4
.Lfew:
  ds_write_b32 v2, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32_e32 v7, 0x100, v2
  ds_read_b32 v8, v7
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v4, v4, v8
  s_barrier
"""


@pytest.mark.parametrize(("apart", "leaving"), [(0, False), (8, False), (8, True)])
def test_barriers_in_a_region(compiled, monkeypatch, apart, leaving):
    """Waves take different paths to a barrier; where one of them has ended, the machine executes it."""
    begin = "s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, v1"
    begin += "\n  s_cmp_eq_u32 s20, 12\n  s_cbranch_scc1 .Lend" * leaving
    text = LOOP.format(turns=60, before=begin, within=MEETING.format(apart=apart)).replace(
        "  s_endpgm", ".Lend:\n  s_endpgm"
    )
    kernel = harness.kernel(text, "gfx942", "p", lds=1024)
    _, counts, *_ = alike(kernel, monkeypatch, checks="none")
    ran = sum(one.instructions for one in compiled)
    assert ran > sum(counts.values()) / 2 or leaving


def test_a_store_in_an_endless_loop(compiled, monkeypatch):
    """Its registers return, but memory changes: it ends by its budget."""
    begin = "s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1\n  s_waitcnt lgkmcnt(0)"
    within = "s_and_b32 s21, s21, 15\n  v_mov_b32_e32 v4, 3\n  global_store_dword v2, v4, s[4:5]"
    *_, stopped = alike(looping("99", begin, within), monkeypatch, checks="none", budget=20000)
    assert "20,000" in stopped
    assert compiled


def test_lanes_that_stay_off_may_be_undefined(compiled, monkeypatch):
    """v5 is written in the lanes alone that EXEC enables; one that is enabled later is read and reported."""
    begin = "s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1\n  s_mov_b64 s[24:25], exec\n  v_cmp_gt_u32_e32 vcc, 9, v1"
    begin += "\n  s_and_b64 exec, exec, vcc\n  v_mov_b32_e32 v5, 2"
    _, _, findings, _ = alike(looping("90", begin, "v_add_u32_e32 v5, v5, v4"), monkeypatch, checks="all", block=64)
    assert not findings
    assert compiled
    late = "v_add_u32_e32 v5, v5, v4\n  s_cmp_eq_u32 s21, 70\n  s_cselect_b64 exec, s[24:25], exec"
    late += "\n  v_add_u32_e32 v4, v4, v5"
    _, _, findings, _ = alike(looping("90", begin, late), monkeypatch, checks="all", block=64)
    assert any("undefined" in one or "uninitialised" in one for one in findings)


def test_waits_in_a_region_are_followed(compiled, monkeypatch):
    """A load is in flight while a loop runs that reads its result without a wait."""
    begin = "s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1\n  s_waitcnt lgkmcnt(0)\n  global_load_dword v6, v2, s[4:5]"
    kernel = looping("50", begin, "v_add_u32_e32 v4, v4, v6\n  s_nop 1")
    _, _, findings, _ = alike(kernel, monkeypatch, checks="all")
    assert findings


def test_only_hot_loops_are_compiled(compiled, monkeypatch, tmp_path):
    monkeypatch.setattr(regions, "HOT", 400)
    monkeypatch.setattr(regions, "CACHED", 100)
    outcome(looping("3"), "on", monkeypatch)
    assert not list(tmp_path.rglob("*.so"))
    kernel = looping("2000")
    outcome(kernel, "on", monkeypatch)
    assert len(list(tmp_path.rglob("*.so"))) == 1
    assert compiled


def test_without_a_compiler_all_is_as_before(compiled, monkeypatch):
    native._compiler.cache_clear()
    monkeypatch.setattr(native, "CLANGS", ())
    monkeypatch.setenv("CC", "no-such-compiler")
    alike(looping("50"), monkeypatch)
    native._compiler.cache_clear()
    assert not compiled


def test_a_library_that_others_could_write_is_not_loaded(compiled, monkeypatch, tmp_path):
    outcome(looping("53"), "forced", monkeypatch)
    assert compiled
    (tmp_path / "native").chmod(0o777)
    compiled.clear()
    outcome(looping("54"), "forced", monkeypatch)
    assert not compiled


def test_a_library_that_was_cut_is_built_again(compiled, monkeypatch, tmp_path):
    kernel = looping("52")
    first = outcome(kernel, "forced", monkeypatch)
    (path,) = tmp_path.rglob("*.so")
    size = path.stat().st_size
    path.unlink()  # the process has the old one in use
    path.write_bytes(b"cut")
    path.chmod(0o700)
    again = harness.kernel(
        LOOP.format(turns="52", before="s_mov_b32 s21, 0\n  v_mov_b32_e32 v4, 1", within="s_nop 0") + "  s_nop 0\n",
        "gfx942",
        "p",
    )
    assert outcome(again, "forced", monkeypatch)[0] == first[0]
    assert path.stat().st_size == size


def test_an_unknown_setting_is_one_line(monkeypatch):
    with pytest.raises(MfmasimError, match=r"setting of MFMASIM_NATIVE 'of'.*off"):
        outcome(looping("5"), "of", monkeypatch)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_random_loops(compiled, monkeypatch, arch):
    """Two programs of few operations; `python -m tests.machine.native_programs` runs more of all."""
    rng, lines = random.Random(arch), catalogue(arch, few=25)
    for number in range(2):
        body = program(rng, lines, arch)
        wrong, _ = differences(body, arch, frame.inputs(np.random.default_rng(number), arch), monkeypatch)
        assert not wrong, body
    assert compiled


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_random_loops_with_memory(compiled, monkeypatch, arch):
    """Loads, stores and exchanges between lanes, without checks."""
    rng, lines = random.Random(f"memory {arch}"), catalogue(arch, few=25, exchanges=True)
    for number in range(2):
        body = program(rng, lines, arch, memory=True)
        wrong, _ = differences(body, arch, frame.inputs(np.random.default_rng(number), arch), monkeypatch, "none")
        assert not wrong, body
    assert compiled


@pytest.mark.long
@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_many_random_loops(monkeypatch, arch, memory):
    rng, lines = random.Random(f"{arch} {this_round()}"), catalogue(arch, this_round(), exchanges=memory)
    checks = "none" if memory else "all"
    for number in range(100):
        body = program(rng, lines, arch, memory)
        wrong, _ = differences(body, arch, frame.inputs(np.random.default_rng(number), arch), monkeypatch, checks)
        assert not wrong, body


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_generated_c_under_sanitizers(monkeypatch, arch):
    for text, known in texts(arch, 5, this_round(), monkeypatch):
        assert isinstance(sanitized(text, known), int)
