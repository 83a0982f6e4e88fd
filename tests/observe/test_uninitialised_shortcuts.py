"""uninitialised: defined bytes of the LDS and registers that parts of a launch define, on both sides of each shortcut.

What writes defined data to the LDS defines the bytes that it reaches, and no others; a load is looked at closely where
bytes around it are undefined; groups of waves that define a register in turn leave the others' parts undefined.
"""

import numpy as np
import pytest

import mfmasim
from mfmasim.machine.definedness import access, planes
from tests.machine import harness

READY, BARRIER = "s_waitcnt vmcnt(0) lgkmcnt(0)", "s_barrier"
ALL, ODD = "s_mov_b64 exec, -1", 0xAAAAAAAAAAAAAAAA


def only(mask):
    return [f"s_mov_b32 exec_lo, {mask & 0xFFFFFFFF:#x}", f"s_mov_b32 exec_hi, {mask >> 32:#x}"]


def stored(body, arch="gfx942", lds=256, undefined=(), grid=2, extra=""):
    """What is stored although it was never written: of v4 after a program, in each finding origin, place and count.

    v2 is four times the lane, s[8:9] a buffer of 64 dwords a workgroup, s2 the workgroup, v6 twice v2, v9 not set.
    """
    head = ["s_load_dwordx2 s[8:9], s[0:1], 0x0", "s_load_dwordx2 s[12:13], s[0:1], 0x8", "v_and_b32 v0, 63, v0"]
    head += ["v_lshlrev_b32 v2, 2, v0", "v_lshlrev_b32 v6, 3, v0", "v_mov_b32 v7, 7", "s_mov_b32 m0, 0", READY]
    tail = [READY, "global_store_dword v2, v4, s[8:9]", "s_endpgm"]
    kernel = harness.kernel("\n".join([*head, *body, *tail]), arch, "pp", lds=lds, extra=extra)
    arguments = [np.zeros(256, np.uint32), np.zeros(256, np.uint32)]
    findings = (
        mfmasim.device("sim")
        .launch(kernel, grid=grid, block=64, args=arguments, checks="uninitialised", undefined=list(undefined))
        .findings
    )
    assert {f.id for f in findings} <= {"uninitialised-stored"}
    return [(f.message.partition("comes from ")[2].split(",")[0], f.workgroup[0], f.lane, f.count) for f in findings]


def byte(number):
    return f"byte {number} of the LDS"


#                                                  writes to the LDS        reads it            found: byte, lane, lanes
LDS = {
    "every lane its dword":                        (["ds_write_b32 v2, v7"], "ds_read_b32 v4, v2", None),
    "all lanes but the last":                      ([*only(2**63 - 1), "ds_write_b32 v2, v7", ALL],
                                                    "ds_read_b32 v4, v2", (252, 63, 1)),
    "all lanes but the first":                     ([*only(2**64 - 2), "ds_write_b32 v2, v7", ALL],
                                                    "ds_read_b32 v4, v2", (0, 0, 1)),
    "odd lanes":                                   ([*only(ODD), "ds_write_b32 v2, v7", ALL],
                                                    "ds_read_b32 v4, v2", (0, 0, 32)),
    "a place of them all":                         (["ds_write_b32 v2, v7 offset:64"],
                                                    "ds_read_b32 v4, v2", (0, 0, 16)),
    "bytes":                                       (["ds_write_b8 v2, v7"], "ds_read_u8 v4, v2", None),
    "bytes, read behind them":                     (["ds_write_b8 v2, v7"], "ds_read_u8 v4, v2 offset:1", (0, 0, 64)),
    "two places of one instruction":               (["v_lshlrev_b32 v5, 1, v2", "ds_write2_b32 v5, v7, v7 offset1:1"],
                                                    "ds_read_b32 v4, v2", None),
    "one place of two":                            (["ds_write_b32 v6, v7"], "ds_read_b32 v4, v6", None),
    "the other place of two":                      (["ds_write_b32 v6, v7"], "ds_read_b32 v4, v6 offset:4",
                                                    (4, 0, 64)),
    "the last one lies outside":                   (["ds_write_b32 v2, v7 offset:4"], "ds_read_b32 v4, v2", (0, 0, 1)),
    "undefined data in one of two instructions":   (["ds_write_b32 v2, v7", *only(8), "ds_write_b32 v2, v9", ALL],
                                                    "ds_read_b32 v4, v2", ("v9", 3, 1)),
    "defined over undefined data":                 (["ds_write_b32 v2, v9", "ds_write_b32 v2, v7"],
                                                    "ds_read_b32 v4, v2", None),
    "loaded there":                                (["global_load_lds_dword v2, s[8:9]"], "ds_read_b32 v4, v2", None),
    "loaded there by odd lanes":                   ([*only(ODD), "global_load_lds_dword v2, s[8:9]", ALL],
                                                    "ds_read_b32 v4, v2", (0, 0, 32)),
    "loaded behind it":                            (["s_movk_i32 m0, 0x100", "global_load_lds_dword v2, s[8:9]"],
                                                    "ds_read_b32 v4, v2", (0, 0, 64)),
    "loaded behind it, and read there":            (["s_movk_i32 m0, 0x100", "global_load_lds_dword v2, s[8:9]"],
                                                    "ds_read_b32 v4, v2 offset:256", None),
}  # fmt: skip
WIDE = ("one place of two", "the other place of two", "two places", "loaded behind")


@pytest.mark.parametrize("name", LDS)
@pytest.mark.parametrize("near", [True, False], ids=["near", "close"])
def test_the_lds(name, near, monkeypatch):
    """With and without the look at the bytes around."""
    if not near:
        monkeypatch.setattr(access, "MUCH", 0)
    writes, read, expected = LDS[name]
    found = stored([*writes, READY, BARRIER, read], lds=512 if name.startswith(WIDE) else 256)
    if expected is None:
        assert found == []
        return
    place, lane, lanes = expected
    assert found == [(byte(place) if isinstance(place, int) else place, 0, lane, 2 * lanes)]


def test_a_buffer_that_holds_nothing_loaded_to_the_lds():
    body = ["global_load_lds_dword v2, s[12:13]", READY, "ds_read_b32 v4, v2"]
    assert stored(body) == []
    ((origin, *place),) = stored(body, undefined=[1])
    assert origin.startswith("p1[0]")
    assert place == [0, 0, 128]


def test_twelve_and_sixteen_bytes_loaded_to_the_lds():
    """Lanes are 16 bytes apart: three dwords of four are defined."""
    for size, expected in ((3, [(byte(12), 0, 3, 32)]), (4, [])):
        load = f"global_load_lds_dwordx{size} v2, s[8:9]"
        body = [load, READY, "ds_read_b32 v4, v2"]
        assert stored(body, "gfx950", lds=1024) == expected


def test_a_write_that_reaches_beyond_the_allocation_is_dropped():
    body = [*only(2**63 - 1), "ds_write_b32 v2, v7", *only(2**63), "ds_write_b64 v2, v[20:21]", ALL]
    body = ["v_mov_b32 v20, 7", "v_mov_b32 v21, 7", *body, READY, BARRIER, "ds_read_b32 v4, v2"]
    assert stored(body) == [(byte(252), 0, 63, 2)]


#            loads v4, or v21                          found: byte
FAR = {
    "ds_read_b32 v4, v2 offset:32": None,
    "ds_read_b32 v4, v2 offset:512": 512,
    "ds_read2_b32 v[20:21], v2 offset1:8": None,
    "ds_read2_b32 v[20:21], v2 offset1:128": 512,
    "ds_read2st64_b32 v[20:21], v2 offset1:2": 512,
}


@pytest.mark.parametrize("load", FAR)
def test_a_load_far_behind_its_address_register(load):
    """Everything around the address itself is defined."""
    writes = [f"ds_write_b32 v2, v7 offset:{offset}" for offset in (0, 64, 128)]
    then = ["v_mov_b32 v4, v21"] * ("v[20:21]" in load)
    expected = [] if FAR[load] is None else [(byte(FAR[load]), 0, 0, 128)]
    assert stored([*writes, READY, load, READY, *then], lds=1024) == expected


WRITE, READ = "scratch_store_dword off, v7, off", "scratch_load_dword v4, off, off"
SCRATCH = {
    "every lane its dword": ([WRITE, READ], []),
    "another dword": ([f"{WRITE} offset:4", READ], [("byte 0 of the lane's scratch", 0, 0, 128)]),
    "two of three dwords": (["scratch_store_dwordx2 off, v[20:21], off", f"{READ} offset:8"],
                            [("byte 8 of the lane's scratch", 0, 0, 128)]),
    "odd lanes": ([*only(ODD), WRITE, ALL, READ], [("byte 0 of the lane's scratch", 0, 0, 64)]),
    "defined over undefined data": (["scratch_store_dword off, v9, off", WRITE, READ], []),
    "undefined over defined data": ([WRITE, "scratch_store_dword off, v9, off", READ], [("v9", 0, 0, 128)]),
    "one workgroup": (["s_cmp_eq_u32 s2, 0", "s_cbranch_scc1 .Lread", WRITE, ".Lread:", READ],
                      [("byte 0 of the lane's scratch", 0, 0, 64)]),
}  # fmt: skip


@pytest.mark.parametrize("name", SCRATCH)
def test_scratch(name):
    """Each lane's own bytes."""
    body, expected = SCRATCH[name]
    body = ["v_mov_b32 v20, 7", "v_mov_b32 v21, 7", *body]
    assert stored(body, extra=".amdhsa_private_segment_fixed_size 16") == expected


def test_one_workgroup_leaves_its_lds_undefined():
    for number in range(3):
        body = [f"s_cmp_eq_u32 s2, {number}", "s_cbranch_scc1 .Lread", "ds_write_b32 v2, v7", READY, ".Lread:"]
        assert stored([*body, "ds_read_b32 v4, v2"], grid=3) == [(byte(0), number, 0, 64)]


@pytest.mark.parametrize("shared", [planes.SHARED, 1])
def test_workgroups_that_define_a_register_in_turn(shared, monkeypatch):
    monkeypatch.setattr(planes, "SHARED", shared)
    #       in workgroup 0    in workgroup 1     in all of them       found
    parts = {
        "v4": (["v20", "v4"], ["v21", "v4"], [], None),
        "v20": (["v20", "v4"], ["v21", "v4"], ["v_mov_b32 v4, v20"], 1),
        "v21": (["v20", "v4"], ["v21", "v4"], ["v_mov_b32 v4, v21"], 0),
    }
    for name, (first, second, then, lacking) in parts.items():
        body = ["s_cmp_eq_u32 s2, 1", "s_cbranch_scc1 .Lother", *[f"v_mov_b32 {register}, 7" for register in first]]
        body += ["s_branch .Lboth", ".Lother:", *[f"v_mov_b32 {register}, 7" for register in second], ".Lboth:", *then]
        expected = [] if lacking is None else [(name, lacking, 0, 64)]
        assert stored(body) == expected, name


def test_the_origin_is_the_register_that_a_workgroup_did_not_define():
    for own, other in (("v20", "v21"), ("v21", "v20")):
        body = ["s_cmp_eq_u32 s2, 1", "s_cbranch_scc1 .Lother", f"v_mov_b32 {own}, 7", "s_branch .Lboth", ".Lother:"]
        body += [f"v_mov_b32 {other}, 7", ".Lboth:", "v_add_u32 v4, v20, v21"]
        assert stored(body) == [(other, 0, 0, 128)]
