"""Control flow and barriers: against the slow interpreter and against plain counting."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from tests.machine import harness
from tests.machine.control_programs import IDS, STORE, compare

pytestmark = pytest.mark.oracle


def test_loop_with_a_trip_count_of_its_own_per_wave():
    """Each wave counts to its own number: sum of 0..n-1."""
    body = """
  v_readfirstlane_b32 s20, v3
  s_mov_b32 s21, 0
  s_mov_b32 s22, 0
.Lloop:
  s_add_u32 s22, s22, s21
  s_add_u32 s21, s21, 1
  s_cmp_lt_u32 s21, s20
  s_cbranch_scc1 .Lloop
  v_mov_b32_e32 v4, s22
"""
    data = np.arange(3 * 96) // 7 + 1
    out, _ = compare(body, data=data, floor=4)
    first = data.reshape(3, 96)[:, [0, 64]]
    expected = np.repeat((first * (first - 1) // 2).ravel(), np.tile([64, 32], 3))
    assert (out == expected).all()


def test_loop_diverging_between_lanes():
    """Lanes leave a loop one by one through EXEC."""
    body = """
  v_mov_b32_e32 v4, 0
  s_mov_b64 s[20:21], exec
.Lloop:
  v_cmp_ne_u32_e32 vcc, 0, v3
  s_and_b64 exec, exec, vcc
  s_cbranch_execz .Ldone
  v_add_u32_e32 v4, v4, v3
  v_add_u32_e32 v3, -1, v3
  s_branch .Lloop
.Ldone:
  s_mov_b64 exec, s[20:21]
"""
    data = np.arange(3 * 96) % 17
    out, _ = compare(body, data=data, floor=17)
    assert (out == data * (data + 1) // 2).all()


MASKED = "s_movk_i32 s25, 0x60\n  v_cmp_gt_u32_e64 s[20:21], s25, v3\n  s_and_saveexec_b64 s[22:23], s[20:21]"


@pytest.mark.parametrize(
    ("branch", "before", "jumps"),
    [
        ("s_cbranch_scc0", "s_cmp_eq_u32 s2, 1", lambda wave: wave != 1),
        ("s_cbranch_scc1", "s_cmp_eq_u32 s2, 1", lambda wave: wave == 1),
        ("s_cbranch_vccz", "v_cmp_gt_u32_e32 vcc, 96, v3", lambda wave: wave != 0),
        ("s_cbranch_vccnz", "v_cmp_gt_u32_e32 vcc, 96, v3", lambda wave: wave == 0),
        ("s_cbranch_execz", MASKED, lambda w: w != 0),
        ("s_cbranch_execnz", MASKED, lambda w: w == 0),
        ("s_branch", "s_nop 0", lambda wave: True),
    ],
)
def test_every_branch_both_ways(branch, before, jumps):
    """Waves of different workgroups take different sides of one branch and meet again."""
    body = f"""
  s_mov_b64 s[22:23], exec
  s_mov_b32 s24, 5
  {before}
  {branch} .Lthere
  s_mov_b32 s24, 6
.Lthere:
  s_mov_b64 exec, s[22:23]
  v_add_u32_e32 v4, s24, v1
"""
    out, _ = compare(body)
    group = np.arange(3 * 96) // 96
    expected = [5 if jumps(g) else 6 for g in group]
    assert (out == np.arange(3 * 96) + expected).all()


def test_barrier_between_two_waves():
    """Each wave reads through the LDS what the other one wrote before the barrier."""
    body = f"""
  v_and_b32_e32 v5, 0x3ff, v0
  v_lshlrev_b32_e32 v6, 2, v5
{harness.REVERSED}
  s_barrier
"""
    data = np.arange(3 * 96) * 3 + 1
    out, _ = compare(body, data=data, lds=512)
    assert (out.reshape(3, 96) == data.reshape(3, 96)[:, ::-1]).all()


def test_barrier_in_a_loop_reached_by_waves_of_different_speed():
    """The first wave does more work before each barrier; the rounds stay in step."""
    body = """
  v_and_b32_e32 v5, 0x3ff, v0
  v_lshlrev_b32_e32 v6, 2, v5
  v_readfirstlane_b32 s20, v5
  s_mov_b32 s21, 0
  v_mov_b32_e32 v4, v3
.Lround:
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 .Lshort
  s_mov_b32 s22, 20
.Lbusy:
  s_sub_u32 s22, s22, 1
  s_cmp_lg_u32 s22, 0
  s_cbranch_scc1 .Lbusy
.Lshort:
  ds_write_b32 v6, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_sub_u32_e32 v7, 127, v5
  v_lshlrev_b32_e32 v7, 2, v7
  ds_read_b32 v8, v7
  s_waitcnt lgkmcnt(0)
  v_lshl_add_u32 v4, v4, 1, v8
  s_barrier
  s_add_u32 s21, s21, 1
  s_cmp_lt_u32 s21, 5
  s_cbranch_scc1 .Lround
"""
    data = np.arange(2 * 128) + 3
    out, _ = compare(body, block=128, grid=2, data=data, lds=512)
    value = data.reshape(2, 128).astype(np.uint32)
    for _ in range(5):
        value = value * np.uint32(2) + value[:, ::-1]
    assert (out.reshape(2, 128) == value).all()


def test_a_wave_that_ended_does_not_hold_the_barrier():
    """The second wave ends at once; the first one passes its barriers."""
    body = """
  v_and_b32_e32 v5, 0x3ff, v0
  v_readfirstlane_b32 s20, v5
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 .Lstay
  s_endpgm
.Lstay:
  s_barrier
  v_add_u32_e32 v4, 1, v3
  s_barrier
"""
    out, _ = compare(body)
    out = out.reshape(3, 96)
    assert (out[:, :64] == np.arange(3 * 96).reshape(3, 96)[:, :64] + 1).all()
    assert (out[:, 64:] == 0).all()


def test_calls_and_returns():
    """A function called from two places through S_SWAPPC, its address from S_GETPC; nested once."""
    body = """
  s_getpc_b64 s[20:21]
.Lhere:
  s_add_u32 s24, s20, .Lsquare-.Lhere
  s_addc_u32 s25, s21, 0
  s_add_u32 s26, s20, .Louter-.Lhere
  s_addc_u32 s27, s21, 0
  v_mov_b32_e32 v4, v3
  s_swappc_b64 s[30:31], s[24:25]
  v_add_u32_e32 v4, 1, v4
  s_swappc_b64 s[28:29], s[26:27]
  s_branch .Lend
.Lsquare:
  v_mul_lo_u32 v4, v4, v4
  s_setpc_b64 s[30:31]
.Louter:
  s_swappc_b64 s[30:31], s[24:25]
  v_add_u32_e32 v4, 2, v4
  s_setpc_b64 s[28:29]
.Lend:
"""
    out, _ = compare(body)
    x = np.arange(3 * 96, dtype=np.uint32)
    assert (out == (x * x + 1) ** 2 + 2).all()


def test_waves_at_two_call_sites_share_a_function():
    """Waves of odd workgroups call from another place; each returns to its own."""
    body = """
  s_getpc_b64 s[20:21]
.Lhere:
  s_add_u32 s24, s20, .Ltwice-.Lhere
  s_addc_u32 s25, s21, 0
  s_bitcmp1_b32 s2, 0
  s_cbranch_scc1 .Lodd
  v_add_u32_e32 v4, 5, v3
  s_swappc_b64 s[30:31], s[24:25]
  s_branch .Lend
.Lodd:
  v_add_u32_e32 v4, 9, v3
  s_swappc_b64 s[30:31], s[24:25]
  v_add_u32_e32 v4, 1, v4
  s_branch .Lend
.Ltwice:
  v_lshlrev_b32_e32 v4, 1, v4
  s_setpc_b64 s[30:31]
.Lend:
"""
    out, _ = compare(body, grid=4)
    x = np.arange(4 * 96)
    assert (out == np.where(x // 96 % 2, 2 * (x + 9) + 1, 2 * (x + 5))).all()


def test_endless_loop_is_stopped_with_its_place():
    """The budget ends the launch: a finding that names the kernel and an address inside the loop."""
    program = harness.kernel(
        "  s_mov_b32 s20, 0\n.Lagain:\n  s_add_u32 s20, s20, 1\n  s_branch .Lagain\n  s_endpgm", "gfx942", ""
    )
    _, report = harness.fast(program, 2, 64, [], budget=1000)
    assert report.stopped
    assert not report.ok
    assert report.findings[0].severity == "error"
    text = report.findings[0].message
    assert "1000" in text.replace(",", "")
    address = int(re.search(r"0x[0-9a-f]+", text)[0], 16)
    inside = [ins.pc for ins in program.instructions][1:3]
    assert address in inside
    assert "\n" not in text


def test_budget_does_not_stop_a_program_that_ends():
    """A long loop below the budget runs to its end."""
    loop = "  s_sub_u32 s20, s20, 1\n  s_cmp_lg_u32 s20, 0\n  s_cbranch_scc1 .Lagain\n"
    body = f"  s_mov_b32 s20, 900\n.Lagain:\n{loop}  s_endpgm"
    _, report = harness.fast(harness.kernel(body, "gfx942", ""), 1, 64, [], budget=3000)
    assert report.ok
    assert not report.stopped
    assert sum(report.counts.values()) == 1 + 3 * 900 + 1


def message_of(body, arch="gfx942", **options):
    """The one-line error that running a body ends with."""
    with pytest.raises(MfmasimError) as caught:
        harness.fast(harness.kernel(body, arch, ""), 1, 64, [], **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_unknown_bytes_stop_with_address_and_bytes():
    """Bytes that no table has stop the launch only when a wave reaches them."""
    text = message_of("  s_nop 0\n  .long 0xffffffff\n  s_endpgm")
    assert "ffffffff" in text
    assert "0x" in text
    assert "gfx942" in text
    body = IDS.format(block=64) + "  v_mov_b32_e32 v4, 7\n  s_branch .Lover\n  .long 0xffffffff\n.Lover:" + STORE
    program = harness.kernel(body, "gfx942", "pp")
    out, _ = harness.fast(program, 1, 64, [np.zeros(64, np.uint32), np.zeros(64, np.uint32)])
    assert (out[1] == 7).all()


def test_an_operation_that_is_missing_is_named():
    """An instruction the decoder knows and the machine does not: name, address, bytes; nothing is skipped."""
    candidates = [
        "s_rfe_b64 s[20:21]",
        "s_cbranch_join s20",
        "v_cubeid_f32 v1, v1, v2, v3",
        "s_sendmsghalt 1",
        "s_atc_probe 0, s[20:21], 0x0",
        "s_set_gpr_idx_mode gpr_idx(SRC0)",
    ]
    accepted = harness.accepted(candidates, "gfx942")
    missing = [line for line in accepted if line.split()[0] not in harness.OPERATIONS]
    assert missing, "every candidate is implemented by now: name another one"
    for line in missing:
        text = message_of(f"  s_nop 0\n  {line}\n  s_endpgm")
        assert line.split()[0] in text
        assert re.search(r"0x[0-9a-f]+", text)
        assert "bytes" in text


@pytest.mark.parametrize("apart", ["s_cmp_lt_u32 s2, 3", "s_bitcmp1_b32 s2, 0", "s_cmp_eq_u32 s2, 9"])
def test_registers_of_parted_waves(apart):
    """Moves before, between and after branches leave copies: writing one register changes no other one.

    Pairs are exchanged in themselves, in groups of neighbouring and of scattered waves.
    """
    change = """
  v_add_u32_e32 v5, {0}, v5
  v_mov_b32_e32 v7, v5
  v_add_u32_e32 v5, {0}, v5
  v_pk_mov_b32 v[8:9], v[8:9], v[8:9] op_sel:[1,0]
  v_add_u32_e32 v9, {0}, v9
  v_pk_mov_b32 v[8:9], v[8:9], v[8:9] op_sel:[1,0]
  s_add_u32 s20, s20, {0}
  s_mov_b32 s21, s20
  s_add_u32 s20, s20, {0}
"""
    mixed = """
  v_mul_lo_u32 v4, v4, v11
  v_xor_b32_e32 v4, v4, v{0}
"""
    body = f"""
  v_mov_b32_e32 v5, v3
  v_mov_b32_e32 v6, v5
  v_mov_b32_e32 v8, v5
  v_mov_b32_e32 v9, v3
  v_mov_b32_e32 v7, 3
  v_mov_b32_e32 v11, 0x01000193
  v_mov_b32_e32 v12, 0
  v_mov_b32_e32 v13, 0
  s_mov_b32 s20, s2
  s_mov_b32 s21, 4
  s_mov_b32 s22, 2
.Lagain:
  v_add_u32_e32 v13, v13, v12
  v_mov_b32_e32 v12, v7
  {apart}
  s_cbranch_scc0 .Lelse
{change.format(7)}
  s_branch .Lend
.Lelse:
{change.format(11)}
  v_mov_b32_e32 v6, v8
.Lend:
  v_mov_b32_e32 v10, v9
  v_mov_b32_e32 v9, v5
  v_add_u32_e32 v5, s21, v10
  s_sub_u32 s22, s22, 1
  s_cbranch_scc0 .Lagain
  v_add_u32_e32 v4, s20, v4
""" + "".join(mixed.format(register) for register in (5, 6, 7, 8, 9, 10, 13))
    out, both = compare(body, block=128, grid=7)
    assert len(np.unique(out)) > 100
    assert both.compared >= 7 * 128


class Meetings:
    """How many waves stand together at each s_sleep."""

    name = "meetings"

    def __init__(self):
        self.seen = []

    def before_step(self, step):
        if step.instruction.name == "s_sleep":
            self.seen.append(len(step.waves))


def test_waves_meet_again_behind_both_sides_of_a_branch():
    """In every round of a loop, before they go on together; not only when the loop is over."""
    body = """
  s_mov_b32 s22, 4
.Lagain:
  s_bitcmp1_b32 s2, 0
  s_cbranch_scc0 .Lelse
  s_nop 0
  s_branch .Lend
.Lelse:
  s_nop 1
.Lend:
  s_sleep 1
  s_sub_u32 s22, s22, 1
  s_cbranch_scc0 .Lagain
  s_endpgm
"""
    program = harness.kernel(body, "gfx942", "")
    meetings = Meetings()
    mfmasim.device("sim").launch(program, 6, 64, [], checks="none", observers=[meetings])
    assert meetings.seen == [6] * 5
