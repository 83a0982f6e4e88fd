"""races: two waves and the LDS, right and wrong, with the exact pair of instructions that is named."""

import re

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

BEGIN = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_xor_b32_e32 v3, 0x100, v2
  v_mov_b32_e32 v5, 0
  v_mov_b32_e32 v7, 0x300
  s_mov_b32 m0, 0
  s_lshl_b32 s20, s2, 9
  s_waitcnt lgkmcnt(0)
  s_add_u32 s8, s8, s20
  s_addc_u32 s9, s9, 0
"""
END = """
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v2, v4, s[8:9]
  s_endpgm
"""
HERE = re.compile(r" here \(0x\w+\) ")
"""Without source lines a finding names both addresses."""
WAIT, BARRIER = "s_waitcnt lgkmcnt(0)", "s_barrier"
FLAG = [
    "v_mov_b32_e32 v8, 0", "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lset", "ds_write_b32 v7, v8", WAIT, ".Lset:", BARRIER
]  # fmt: skip
PRODUCE = [
    "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Lconsume", "ds_write_b32 v2, v0", WAIT, "s_mov_b64 exec, 1",
    "v_mov_b32_e32 v8, 1\nds_add_u32 v7, v8", "s_mov_b64 exec, -1", "s_branch .Lend", ".Lconsume:",
]  # fmt: skip
POLL = ["ds_add_rtn_u32 v9, v7, v8", WAIT, "v_readfirstlane_b32 s14, v9", "s_cmp_eq_u32 s14, 0",
        "s_cbranch_scc1 .Lconsume"]  # fmt: skip
SPIN = [
    "ds_write_b32 v2, v0", WAIT, "s_cmp_eq_u32 s13, 0", "s_cbranch_scc1 .Lw", ".Lspin:", "ds_read_b32 v6, v7",
    WAIT, "v_readfirstlane_b32 s14, v6", "s_cmp_lg_u32 s14, 1", "s_cbranch_scc1 .Lspin", "s_branch .Lread",
    ".Lw:", "v_mov_b32_e32 v8, 1", "ds_write_b32 v7, v8", WAIT, "s_branch .Lend", ".Lread:",
    "ds_read_b32 v4, v3", ".Lend:",
]  # fmt: skip
CONSUME = ["ds_read_b32 v4, v3", ".Lend:"]
# v2: the lane's own place in 512 bytes of two waves, v3: the same place of the other wave.
BODIES = {
    "exchange": (["ds_write_b32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v3"], []),
    "exchange without a barrier": (
        ["ds_write_b32 v2, v0", WAIT, "ds_read_b32 v4, v3"],
        [("ds_read_b32", "is read here and written by wave", "no barrier lies between them")],
    ),
    "exchange, the write not waited for": (
        ["ds_write_b32 v2, v0", BARRIER, "ds_read_b32 v4, v3"],
        [("ds_read_b32", "a wait is missing before the barrier")],
    ),
    "each its own place": (["ds_write_b32 v2, v0", "ds_read_b32 v4, v2"], []),
    "both waves write": (
        ["v_and_b32_e32 v6, 0xff, v2", "ds_write_b32 v6, v0"],
        [("ds_write_b32", "is written here and written by wave", "no barrier")],
    ),
    "both waves add": (["v_and_b32_e32 v6, 0xff, v2", "ds_add_u32 v6, v0"], []),
    "both waves add, and read without a barrier": (
        ["v_and_b32_e32 v6, 0xff, v2", "ds_add_u32 v6, v0", WAIT, "ds_read_b32 v4, v6"],
        [("ds_read_b32", "updated by an atomic operation by wave", "no barrier")],
    ),
    "opened by one wave, which then adds like the others": (
        # The first wave's own atomic operation comes after its write and does not hide it.
        ["v_and_b32_e32 v6, 0xff, v2", "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Ladd", "ds_write_b32 v6, v0", WAIT,
         ".Ladd:", "ds_add_u32 v6, v0"],
        [("ds_add_u32", "updated by an atomic operation here and written by wave", "no barrier")],
    ),
    "opened by one wave before a barrier": (
        ["v_and_b32_e32 v6, 0xff, v2", "s_cmp_lg_u32 s13, 0", "s_cbranch_scc1 .Ladd", "ds_write_b32 v6, v0", WAIT,
         ".Ladd:", BARRIER, "ds_add_u32 v6, v0"],
        [],
    ),
    "both waves read": (["v_and_b32_e32 v6, 0xff, v2", "ds_read_b32 v4, v6"], []),
    "overwritten after the read": (
        ["ds_write_b32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v3", WAIT, BARRIER, "ds_write_b32 v2, v4"], []
    ),
    "overwritten before the read is over": (
        ["ds_write_b32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v3", BARRIER, "ds_write_b32 v2, v0"],
        [("ds_write_b32", "is written here and read by wave", "a wait is missing before the barrier")],
    ),
    "overwritten without a second barrier": (
        ["ds_write_b32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v3", WAIT, "ds_write_b32 v2, v4"],
        [("ds_write_b32", "is written here and read by wave", "no barrier")],
    ),
    "bytes of one dword": (["ds_write_b8 v0, v0"], []),
    "a load to the LDS, waited for": (
        ["s_mov_b32 m0, s13", "global_load_lds_dword v2, s[8:9]", "s_waitcnt vmcnt(0)", "ds_read_b32 v4, v2"], []
    ),
    "a load to the LDS, read at once": (
        ["s_mov_b32 m0, s13", "global_load_lds_dword v2, s[8:9]", "ds_read_b32 v4, v2"],
        [("ds_read_b32", "while the wave's own global_load_lds_dword", "s_waitcnt vmcnt(0) is missing")],
    ),
    "a load to the LDS, not waited for before the barrier": (
        ["s_mov_b32 m0, s13", "global_load_lds_dword v2, s[8:9]", BARRIER, "s_waitcnt vmcnt(0)", "ds_read_b32 v4, v3"],
        [("ds_read_b32", "is read here and written by wave", "a wait is missing before the barrier")],
    ),
    "a load to the LDS over bytes that are read": (
        ["s_mov_b32 m0, s13", "ds_read_b32 v4, v2", "global_load_lds_dword v2, s[8:9]"],
        [("global_load_lds_dword", "the wave's own ds_read_b32", "s_waitcnt lgkmcnt(0)")],
    ),
    "two buffers in turn": (
        [
            "s_mov_b32 s12, 4", ".Lloop:", "ds_write_b32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v3",
            "v_xor_b32_e32 v2, 0x200, v2", "v_xor_b32_e32 v3, 0x200, v3", WAIT, "s_sub_u32 s12, s12, 1",
            "s_cmp_lg_u32 s12, 0", "s_cbranch_scc1 .Lloop",
        ],
        [],
    ),
    "one buffer in turn": (
        [
            "s_mov_b32 s12, 4", ".Lloop:", "ds_write_b32 v2, v0", WAIT, BARRIER, "ds_read_b32 v4, v3", WAIT,
            "s_sub_u32 s12, s12, 1", "s_cmp_lg_u32 s12, 0", "s_cbranch_scc1 .Lloop",
        ],
        [("ds_write_b32", "is written here and read by wave", "no barrier")],
    ),
    "a loop whose store lies behind the branch that closes it, and whose condition depends on what it reads": (
        [
            "s_mov_b32 s12, 4", ".Lloop:", "ds_read_b32 v4, v3", WAIT, "v_readfirstlane_b32 s14, v4",
            "s_and_b32 s14, s14, 0", "s_sub_u32 s12, s12, 1", "s_cmp_eq_u32 s12, 0", "s_cbranch_scc1 .Lend",
            "s_cmp_eq_u32 s14, 1", "s_cbranch_scc1 .Lloop", "ds_write_b32 v2, v0", WAIT, "s_branch .Lloop", ".Lend:",
        ],
        [("ds_read_b32", "is read here and written by wave", "no barrier"),
         ("ds_write_b32", "is written here and read by wave", "no barrier")],
    ),
    "a loop that only reads until a flag is set": ([*FLAG, *SPIN], []),
    "a loop that reads until a flag is set that nothing initialised": (
        SPIN, [("ds_read_b32", "is read here and written by wave", "no barrier")]
    ),
    # An atomic operation whose result is waited for and decides: v7 is the place of the flag, 0 after the barrier.
    "a flag that is added to, and polled by atomic operations": ([*FLAG, *PRODUCE, *POLL, *CONSUME], []),
    "the same flag, added to before the data is written": (
        [*FLAG, *PRODUCE[:2], *PRODUCE[4:7], *PRODUCE[2:4], *PRODUCE[7:], *POLL, *CONSUME],
        [("ds_read_b32", "is read here and written by wave", "no barrier")],
    ),
    "the same flag, which is read but does not decide": (
        [*FLAG, *PRODUCE, *POLL[:2], *CONSUME],
        [("ds_read_b32", "is read here and written by wave", "no barrier")],
    ),
    "a flag of another place": (
        [*FLAG, *PRODUCE, "v_mov_b32_e32 v7, 0x380\nv_mov_b32_e32 v8, 1", "ds_write_b32 v7, v8", WAIT, *POLL, *CONSUME],
        [("ds_read_b32", "is read here and written by wave", "no barrier")],
    ),
    "the wave that takes the last ticket reads what both wrote": (
        [*FLAG, "ds_write_b32 v2, v0", "s_mov_b64 s[16:17], exec", "s_mov_b64 exec, 1", "v_mov_b32_e32 v8, 1",
         "ds_add_rtn_u32 v9, v7, v8", WAIT, "s_mov_b64 exec, s[16:17]", "v_readfirstlane_b32 s14, v9",
         "s_cmp_lg_u32 s14, 1", "s_cbranch_scc1 .Lend", "ds_read_b32 v4, v3", ".Lend:"],
        [],
    ),
}  # fmt: skip
# s13: where the wave's own loads to the LDS begin, 256 bytes a wave.
WAVE = "v_readfirstlane_b32 s13, v2\n"


def reported(body, arch="gfx942", grid=3):
    text = BEGIN + WAVE + "\n".join(body) + END
    out = np.zeros(1024, np.uint32)
    kernel = harness.kernel(text, arch, "p", lds=1024)
    return mfmasim.device("sim").launch(kernel, grid=grid, block=128, args=[out], checks="races").findings


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_programs(name, arch):
    body, expected = BODIES[name]
    findings = reported(body, arch)
    assert {f.instruction for f in findings} == {e[0] for e in expected}, [f.message for f in findings]
    for instruction, *words in expected:
        messages = [HERE.sub(" here ", f.message) for f in findings if f.instruction == instruction]
        assert any(all(word in message for word in words) for message in messages), messages
    assert all(f.severity == "error" and f.workgroup == (0, 0, 0) for f in findings)


def test_another_wave_of_each_workgroup_writes():
    """Wave 0 reads what wave 0 of workgroup 0 and wave 1 of workgroup 1 wrote: a race in the latter alone."""
    body = [
        "v_and_b32_e32 v6, 0xff, v2",
        "s_lshl_b32 s14, s2, 8",
        "s_cmp_lg_u32 s13, s14",
        "s_cbranch_scc1 .Lread",
        "ds_write_b32 v6, v0",
        WAIT,
        ".Lread:",
        "s_cmp_lg_u32 s13, 0",
        "s_cbranch_scc1 .Lend",
        "ds_read_b32 v4, v6",
        ".Lend:",
    ]
    assert {f.workgroup for f in reported(body, grid=2)} == {(1, 0, 0)}


def test_workgroups_that_part_are_followed_each_for_itself():
    """Only workgroup 2 lacks the barrier: it takes another path."""
    body = [
        "ds_write_b32 v2, v0",
        WAIT,
        "s_cmp_eq_u32 s2, 2",
        "s_cbranch_scc1 .Lskip",
        BARRIER,
        ".Lskip:",
        "ds_read_b32 v4, v3",
    ]
    findings = reported(body)
    assert {f.workgroup for f in findings} == {(2, 0, 0)}
    assert {f.instruction for f in findings} == {"ds_read_b32"}


@pytest.mark.parametrize("access", ["ds_write_b32 v6, v0", "ds_write_b64 v6, v[8:9]", "ds_read_b32 v4, v6"])
def test_a_wave_whose_addresses_are_not_aligned_races_with_one_whose_are(access):
    """Each lane of the one touches a dword more than each lane of the other: the units are compared one by one."""
    body = [
        "v_mov_b32_e32 v8, 1",
        "v_mov_b32_e32 v9, 1",
        "v_and_b32_e32 v6, 0xff, v2",
        "s_cmp_eq_u32 s13, 0",
        "s_cbranch_scc1 .Lwrite",
        "v_add_u32_e32 v6, 2, v6",
        ".Lwrite:",
        "ds_write_b32 v6, v0",
        WAIT,
        access,
    ]
    assert {(f.id, f.instruction) for f in reported(body, grid=1)} >= {("races-no-barrier", access.partition(" ")[0])}
    assert {f.instruction for f in reported(body)} >= {access.partition(" ")[0]}


def test_a_race_is_found_whatever_the_order_was():
    """Addresses that differ from workgroup to workgroup: each has its own row."""
    body = ["s_lshl_b32 s14, s2, 2", "v_add_u32_e32 v6, s14, v2", "ds_write_b32 v6, v0", WAIT, BARRIER]
    assert not reported([*body, "v_add_u32_e32 v6, s14, v3", "ds_read_b32 v4, v6"])
    findings = reported([*body[:-1], "v_add_u32_e32 v6, s14, v3", "ds_read_b32 v4, v6"])
    assert {f.instruction for f in findings} == {"ds_read_b32"}


def test_a_store_in_flight_at_the_end_of_its_wave_is_complete_at_the_next_barrier():
    """The hardware waits for all counters before it ends a wave; and an ended wave counts as arrived."""
    ending = ["s_cmp_eq_u32 s13, 0", "s_cbranch_scc1 .Lread", "ds_write_b32 v2, v0", "s_endpgm", ".Lread:", BARRIER]
    assert not reported([*ending, "ds_read_b32 v4, v3"], grid=1)
    without = reported([*ending[:-1], "ds_read_b32 v4, v3"], grid=1)
    assert [(f.id, f.instruction) for f in without] == [("races-no-barrier", "ds_read_b32")]
