"""Floating-point operations under every rounding, denormal, clamp and NaN mode, against the slow interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mfmasim.machine.opcodes.registry import OPERATIONS
from tests.longtier import this_round
from tests.machine import frame, harness, lines, lines_floats
from tests.machine.judge import judge
from tests.slow.machine import float_mode as more
from tests.tiers import tiers

pytestmark = pytest.mark.oracle


def obeying():
    """Operations whose result depends on MODE."""
    return [name for name in harness.operations() if "mode" in OPERATIONS[name].sources]


def _probes(arch, rng, count):
    """Lines of every operation that obeys MODE, each between a write of MODE and its restoration."""
    lines.aim(arch, harness.rows(arch))
    drawn = []
    for name in obeying():
        for encoding, row in harness.rows(arch).get(name, ()):
            drawn.append([lines.probe(encoding, row, rng, k) for k in range(max(12, 2 * count))])
    good = set(harness.accepted([probe.line for some in drawn for probe in some], arch))
    chosen = []
    for some in drawn:
        # The many scaled conversions hardly read MODE.
        most = 1 if "scalef32" in some[0].name else count
        chosen += [probe for probe in some if probe.line in good][:most]
    for probe in chosen:
        mode = rng.randrange(1 << 10) | rng.choice([0, 0, 1 << 23])
        probe.before = [f"s_setreg_imm32_b32 {lines_floats.MODE}, {mode:#x}", *probe.before]
        probe.after = [*probe.after, lines_floats.RESTORE]
    return chosen


@pytest.mark.parametrize("arch", tiers(harness.ARCHITECTURES, ["gfx950"]))
def test_every_mode(arch):
    """Random modes, random operands, all bits."""
    chosen = _probes(arch, random.Random(f"modes {arch}"), 2 if arch == "gfx950" else 3)
    verdict = judge(chosen, arch, frame.inputs(np.random.default_rng(31)), strict_nan=True)
    assert not verdict.differences, "\n".join(verdict.differences)
    assert not verdict.refused, "\n".join(verdict.refused.values())
    assert {name for name in obeying() if name in harness.rows(arch)} <= verdict.names
    assert verdict.compared >= 100 * frame.ITEMS


def test_what_only_gfx90a_has():
    """Multiply-add without fusion, which CDNA3 dropped."""
    only = {name for name in obeying() if name in harness.rows("gfx90a") and name not in harness.rows("gfx942")}
    assert only >= {"v_mad_f32", "v_mac_f32", "v_mad_legacy_f32", "v_madak_f32", "v_madmk_f32"}
    chosen = [probe for probe in _probes("gfx90a", random.Random(2), 8) if probe.name in only]
    verdict = judge(chosen, "gfx90a", frame.inputs(np.random.default_rng(3)), strict_nan=True)
    assert not verdict.differences, "\n".join(verdict.differences)
    assert verdict.names == only


def test_an_output_multiplier_quiets_a_nan():
    """V_MAX outside IEEE mode passes a signalling NaN on; OMOD multiplies it, and a product is quiet."""
    sources = {"f16": "v34", "f32": "v18", "f64": "v[26:27]"}
    chosen = []
    for kind, source in sources.items():
        for name in (f"v_max_{kind}", f"v_min_{kind}"):
            to, results = ("v[100:101]", ["v100", "v101"]) if kind == "f64" else ("v100", ["v100"])
            form = name if kind == "f64" else f"{name}_e64"
            for multiplier in ("mul:2", "mul:4", "div:2"):
                before = [f"s_setreg_imm32_b32 {lines_floats.MODE}, 0x0"]
                line = f"{form} {to}, -1, -{source} {multiplier}"  # the bits of -1 are a NaN
                chosen.append(lines.Probe(name, line, before, [lines_floats.RESTORE], results))
    verdict = judge(chosen, "gfx942", frame.inputs(np.random.default_rng(31)), strict_nan=True)
    assert not verdict.differences, "\n".join(verdict.differences)
    assert verdict.compared >= len(chosen) * frame.ITEMS


@pytest.mark.long
def test_every_mode_at_length():
    """The same with more lines, others each round."""
    seed = this_round()
    chosen = _probes("gfx950", random.Random(seed), 10)
    verdict = judge(chosen, "gfx950", frame.inputs(np.random.default_rng(seed)), strict_nan=True)
    assert not verdict.differences, "\n".join(verdict.differences)
    assert verdict.compared >= 500 * frame.ITEMS


def test_waves_may_differ_in_mode():
    """Each wave writes its own MODE; the group's one instruction obeys each of them."""
    body = f"""
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  v_readfirstlane_b32 s8, v0
  s_lshr_b32 s8, s8, 6
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s8
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v3, 1.0, v2
  {lines_floats.RESTORE}
  global_store_dword v1, v3, s[6:7]
  s_endpgm"""
    program = harness.kernel(body, "gfx942", "pp")
    values = np.random.default_rng(5).normal(size=256).astype(np.float32) * np.float32(1e-3)
    (_, out), _ = harness.fast(program, 1, 256, [values.view(np.uint32), np.zeros(256, np.uint32)], checks="none")
    wanted = []
    for item, bits in enumerate(values.view(np.uint32)):
        more.NOW.mode = more.PLAIN | item // 64
        wanted.append(more.add(0x3F800000, int(bits), more.F32))
    more.NOW.mode = more.PLAIN
    assert out.tolist() == wanted
    nearest = (np.float32(1) + values).view(np.uint32)
    assert (nearest[:64] == out[:64]).all()
    assert all((nearest[k : k + 64] != out[k : k + 64]).any() for k in (64, 128, 192))
