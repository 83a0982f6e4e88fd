"""Addresses and ranges of buffer accesses, against the slow model: any resource, any combination of address parts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mfmasim
from mfmasim.machine.ops.resource import resource, scalar_extent
from mfmasim.machine.state.waves import Group, Waves
from tests.machine import harness
from tests.slow.machine import architectures, vector_memory

pytestmark = pytest.mark.oracle

ARCHS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201")
LANES = 64
ADDRESSES = ("off, s[8:11], s12 offset:20", "v2, s[8:11], s12 offen offset:20", "v2, s[8:11], s12 idxen offset:20",
             "v[2:3], s[8:11], s12 idxen offen offset:20")  # fmt: skip
SMALL = st.integers(0, 80)
REGISTER = st.one_of(SMALL, SMALL, st.integers(0, 0xFFFFFFFF), st.integers(0xFFFFFFE0, 0xFFFFFFFF))
WORD3 = {False: (0x27000, 0x110000, 0x0), True: (0x31004000, 0x4000, 0x10004000, 0x20004000, 0x0)}
LOADS = {}


def spaces():
    """A machine without observers."""
    return SimpleNamespace(notify=SimpleNamespace(resources=()), outcome=SimpleNamespace(fidelity={}))


def loads(arch):
    """One load for each way to address it."""
    if arch not in LOADS:
        body = "\n".join(f"buffer_load_dwordx4 v[4:7], {address}" for address in ADDRESSES) + "\ns_endpgm"
        LOADS[arch] = harness.kernel(body, arch, "p").instructions[: len(ADDRESSES)]
    return LOADS[arch]


@st.composite
def resources(draw, rdna):
    """Four dwords: the usual ones with some fields set, or any."""
    stride, swizzle = draw(st.sampled_from([0, 0, 4, 16, 64, 0x3FFF])), draw(st.integers(0, 3))
    word3 = draw(st.sampled_from(WORD3[rdna]))
    for low, bits in ((21, 2), (23, 1), (18, 2), (15, 4)):
        if draw(st.integers(0, 3)) == 0:
            word3 |= draw(st.integers(0, (1 << bits) - 1)) << low
    records = draw(st.one_of(st.integers(0, 200), st.integers(0, 0xFFFFFFFF), st.just(0xFFFFFFFF)))
    return [draw(st.integers(0, 0xFFFFFFFF)), stride << 16 | swizzle << 30 | 0x7F12, records, word3]


@pytest.mark.parametrize("arch", ARCHS)
def test_any_resource(arch):
    facts, found = architectures.facts(arch), loads(arch)
    seen = set()

    @given(
        resources(facts.keeps_halves),
        st.sampled_from(range(len(found))),
        REGISTER,
        REGISTER,
        st.booleans(),
        REGISTER,
        SMALL,
        st.booleans(),
    )
    def check(words, which, index, offset, wide, scalar, step, typed):
        ins = found[which]
        lanes = np.arange(LANES, dtype=np.uint32)
        waves = Waves(mfmasim.arch(arch), 1, LANES, 8, 0)
        first, second = np.uint32(index) + lanes, np.uint32(offset) + np.uint32(step) * lanes
        given_index = ins.modifiers["idxen"]
        waves.v[2], waves.v[3] = (first if given_index else second)[None, :], second[None, :]
        for k, word in enumerate([*words, scalar]):
            waves.s[8 + k] = np.array([word], np.uint32)
        reach = resource(ins, spaces(), typed=typed)(Group(waves))
        slow = SimpleNamespace(
            arch=arch,
            s={8 + k: word for k, word in enumerate(words)},
            facts=facts,
            scalar=lambda _operand: scalar,
            v=[None, None, waves.v[2][0].tolist(), waves.v[3][0].tolist()],
        )
        size = 16 if wide else 4
        for byte in (0,) if wide else (0, 4, 12):
            address = np.broadcast_to(reach.address(byte), (1, LANES))[0].tolist()
            inside = np.broadcast_to(reach.inside(byte, size), (1, LANES))[0].tolist()
            for lane in (0, 1, 7, 8, 31, 63):
                place, fine = vector_memory.buffer_place(slow, ins, lane, byte, size, typed)
                assert (address[lane], inside[lane]) == (place, fine), (byte, lane)
                seen.add(fine)

    check()
    assert seen == {False, True}


@pytest.mark.parametrize("arch", ["gfx908", *ARCHS])
def test_rows_are_fields(arch):
    """They lie within the 128 bits and do not overlap."""
    taken = 0
    for row in mfmasim.arch(arch).buffers.rows:
        mask = (1 << row.bits) - 1 << row.low
        assert not taken & mask, row
        assert row.read in ("all", "indexed", "swizzled", "format", "memory", "zero"), row
        taken |= mask
    assert taken < 1 << 128


@pytest.mark.parametrize("arch", ARCHS)
def test_what_a_raw_access_reads(arch):
    """Without an index only the rows read by all accesses count, whatever the others hold; each of those counts."""
    layout, ins = mfmasim.arch(arch).buffers, loads(arch)[1]
    rng = np.random.default_rng(5)

    def reached(number):
        waves = Waves(mfmasim.arch(arch), 1, LANES, 8, 0)
        waves.v[2] = np.arange(LANES, dtype=np.uint32)[None] * np.uint32(4)
        for k in range(4):
            waves.s[8 + k] = np.array([number >> 32 * k & 0xFFFFFFFF], np.uint32)
        waves.s[12] = np.array([8], np.uint32)
        reach = resource(ins, spaces())(Group(waves))
        return reach.address(4).tolist(), np.broadcast_to(reach.inside(4, 4), (1, LANES)).tolist()

    counted = set()
    for _ in range(120):
        number = int.from_bytes(rng.bytes(16), "little")
        for name, top in (("add_tid", 1), ("num_records", 300), ("stride", 300)):
            row, value = layout.fields[name], int(rng.integers(0, top))
            number = number & ~((1 << row.bits) - 1 << row.low) | value << row.low
        before = reached(number)
        for row in layout.rows:
            if row.name == "add_tid":
                continue
            other = number ^ int(rng.integers(1, 1 << row.bits)) << row.low
            if row.read != "all":
                assert reached(other) == before, row
            elif reached(other) != before:
                counted.add(row.name)
    assert counted == {row.name for row in layout.rows if row.read == "all"} - {"add_tid", "type"}


KITTENS = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s8, s4
  s_or_b32 s9, s5, {high:#x}
  s_mov_b32 s10, 4096
  s_mov_b32 s11, {word3:#x}
  v_lshlrev_b32_e32 v1, 4, v0
  {load}
  v_lshlrev_b32_e32 v1, 4, v0
  global_store_dwordx4 v1, v[4:7], s[6:7]
  s_endpgm
"""
VGPRS = "buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen\n  s_waitcnt vmcnt(0)"
TO_LDS = """s_mov_b32 m0, 0
  buffer_load_dwordx4 v1, s[8:11], 0 offen lds
  s_waitcnt vmcnt(0)
  ds_read_b128 v[4:7], v1
  s_waitcnt lgkmcnt(0)"""


@pytest.mark.parametrize("load", [VGPRS, TO_LDS], ids=["vgprs", "lds"])
@pytest.mark.parametrize("stride", [0, 64, 8192])
def test_a_raw_access_reads_neither_stride_nor_swizzle(load, stride):
    """HipKittens' resource: stride, cache swizzle and swizzle enable with word 3 0x110000, offsets in bytes."""
    high = (stride | 0xC000) << 16 if stride else 0
    body = KITTENS.format(high=high, word3=0x110000, load=load)
    data = np.arange(1024, dtype=np.uint32)
    out = np.zeros(256, np.uint32)
    report = mfmasim.device("sim").launch(
        harness.kernel(body, "gfx950", "pp", lds=4096), grid=1, block=64, args=[data, out], checks="bounds"
    )
    assert (out == data[:256]).all()
    assert [(f.id, f.severity) for f in report.findings] == [("bounds-resource-unread", "info")]
    assert "USER_VM_MODE" in report.findings[0].message


# Addresses that a gfx1100 and a gfx1201 gave, by AMD's rocjitsu (buffer_format_test.cpp): swizzle, ADD_TID, whether
# there is an index register; record of 32 bytes, index 1, offset 4, SGPR offset 4, lane 5.
HARDWARE = [
    (1, 1, True, 40), (1, 1, False, 56), (1, 0, False, 8), (3, 0, True, 24), (0, 1, True, 40), (0, 1, False, 168),
]  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize(("swizzle", "add_tid", "indexed", "expected"), HARDWARE)
def test_addresses_of_hardware(arch, swizzle, add_tid, indexed, expected):
    body = f"buffer_load_b32 v4, {'v[2:3]' if indexed else 'v2'}, s[8:11], s12 {'idxen ' * indexed}offen\ns_endpgm"
    ins = harness.kernel(body, arch, "p").instructions[0]
    waves = Waves(mfmasim.arch(arch), 1, 32, 8, 0)
    waves.v[2], waves.v[3] = (np.full((1, 32), value, np.uint32) for value in (1 if indexed else 4, 4))
    words = [0, 32 << 16 | swizzle << 30, 0xFFFFFFFF, 0x31004000 | add_tid << 23, 4]
    for k, word in enumerate(words):
        waves.s[8 + k] = np.array([word], np.uint32)
    reach = resource(ins, spaces())(Group(waves))
    assert np.broadcast_to(reach.address(0), (1, 32))[0, 5] == expected


@pytest.mark.parametrize(("soffset", "offset", "fine"), [(0, 96, True), (4, 96, False), (4, 92, True), (0, 97, False)])
def test_the_range_ends_with_the_last_byte(soffset, offset, fine):
    """CDNA: the dword, moved by the SGPR offset, has to end within 100 bytes (a gfx950, by rocjitsu)."""
    ins = loads("gfx950")[1]
    waves = Waves(mfmasim.arch("gfx950"), 1, LANES, 8, 0)
    waves.v[2] = np.full((1, LANES), offset - 20, np.uint32)
    for k, word in enumerate([0, 0, 100, 0x27000, soffset]):
        waves.s[8 + k] = np.array([word], np.uint32)
    assert resource(ins, spaces())(Group(waves)).inside(0, 4).all() == fine


@pytest.mark.parametrize(
    ("arch", "word1", "records", "size"),
    [
        ("gfx950", 0, 22, 22),
        ("gfx1151", 0, 22, 22),
        ("gfx1201", 0, 22, 20),
        ("gfx942", 0xC0107F12, 8, 128),
        ("gfx1201", 0x00107F12, 8, 128),
    ],
)
def test_scalar_loads_read_base_stride_and_records(arch, word1, records, size):
    """The stride is a factor of the size, swizzle bits and stride scale are not; RDNA4 rounds down to dwords."""
    words = [np.array([word], np.uint32) for word in (0x1000, word1, records, 0x3100C000)]
    base, extent = scalar_extent(words, mfmasim.arch(arch).buffers)
    assert (base.tolist(), extent.tolist()) == ([0x1000 | (word1 & 0xFFFF) << 32], [size])


@pytest.mark.parametrize(
    ("arch", "word3", "levels"),
    [
        ("gfx950", 0x27000, ("specified", "assumed")),
        ("gfx950", 0x827000, ("reference", "reference")),
        ("gfx1100", 0x31004000, ("specified", "reference")),
        ("gfx1201", 0x31804000, ("reference", "reference")),
    ],
)
def test_fidelity_of_swizzling(arch, word3, levels):
    """By the lane and on RDNA as a published model that was compared with hardware; by a register on CDNA assumed."""
    for which, level in zip((1, 2), levels, strict=True):
        ins, machine, waves = loads(arch)[which], spaces(), Waves(mfmasim.arch(arch), 1, LANES, 8, 0)
        waves.v[2] = np.zeros((1, LANES), np.uint32)
        for k, word in enumerate([0, 0x40400000 | 0x80000000 * arch.startswith("gfx9"), 4096, word3, 0]):
            waves.s[8 + k] = np.array([word], np.uint32)
        resource(ins, machine)(Group(waves))
        assert machine.outcome.fidelity.get(ins.name, "specified") == level


def test_a_swizzled_access_is_followed_for_undefined_bits():
    """The second run of the access, which follows undefined bits, takes part in the fidelity too."""
    body = KITTENS.format(high=0xC040 << 16, word3=0x27000, load=VGPRS.replace("offen", "idxen"))
    data, out = np.arange(17000, dtype=np.uint32), np.zeros(256, np.uint32)
    report = mfmasim.device("sim").launch(
        harness.kernel(body, "gfx950", "pp"), grid=1, block=64, args=[data, out], checks="uninitialised"
    )
    rows = 16 * np.arange(64)[:, None]  # the index, in groups of 8 of 64 bytes; dwords of an element apart
    dwords = (rows // 8 * 64 * 8 + rows % 8 * 4 + 32 * np.arange(4)) // 4
    assert (out.reshape(64, 4) == data[dwords]).all()
    assert report.fidelity.by_operation["buffer_load_dwordx4"] == "assumed"
