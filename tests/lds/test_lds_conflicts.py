"""Bank conflicts: published numbers, errors and warnings."""

import warnings

import numpy as np
import pytest

from mfmasim import lds
from mfmasim.architectures import ARCHITECTURES
from mfmasim.errors import MfmasimError
from tests.lds.lds_probes import LANE, degrees
from tests.slow import lds_conflicts

# 64 reads of one wave on MI300X, stride in bytes between lanes -> SQ_LDS_BANK_CONFLICT.
# Source: nod-ai/amd-shark-ai, docs/empirical-lds (measured).
COUNTERS = [
    ("ds_read_b32", {4: 0, 8: 128, 16: 384, 32: 896, 64: 1920, 128: 3968}),
    ("ds_read_b64", {8: 0, 16: 256, 32: 768, 64: 1792, 128: 3840}),
    ("ds_read_b128", {16: 0, 32: 512, 64: 1536, 128: 3584}),
]
PUBLISHED = [(name, stride, value) for name, values in COUNTERS for stride, value in values.items()]


def test_all_published_counters_are_here():
    assert len(PUBLISHED) == 15


@pytest.mark.parametrize(("name", "stride", "value"), PUBLISHED)
def test_counters_of_mi300x(name, stride, value):
    assert 64 * lds.conflicts("gfx942", name, LANE * stride).extra_passes == value


def test_a_stride_sweep_does_not_tell_x8_from_c8():
    contiguous = lds.PhaseTable("C8", 32)
    for stride in (16, 32, 64, 128):
        usual = lds.conflicts("gfx942", "ds_read_b128", LANE * stride)
        other = lds.conflicts("gfx942", "ds_read_b128", LANE * stride, table=contiguous)
        assert usual.extra_passes == other.extra_passes
    odd = (LANE % 16) * 128 + (LANE // 16) * 16
    assert degrees("gfx942", "ds_read_b128", odd) != degrees("gfx942", "ds_read_b128", odd, table=contiguous)


def span(bits):
    held = {0}
    for bit in bits:
        held |= {lane ^ bit for lane in held}
    return frozenset(held)


@pytest.mark.parametrize(("name", "bits"), [("X8", (1, 2, 4 ^ 16)), ("X16", (1, 2, 4 ^ 8, 4 ^ 16))])
def test_lane_sets_are_the_cosets_that_triton_names(name, bits):
    base = span(bits)
    cosets = {frozenset(lane ^ first for lane in base) for first in range(64)}
    assert {frozenset(part) for part in lds.lane_sets(name, 64)} == cosets


def test_x16_is_the_list_of_the_blog():
    blog = ["0-3 12-15 20-23 24-27", "32-35 44-47 52-55 56-59", "4-7 8-11 16-19 28-31", "36-39 40-43 48-51 60-63"]
    listed = {
        frozenset(lane for run in text.split() for lane in range(int(run.split("-")[0]), int(run.split("-")[1]) + 1))
        for text in blog
    }
    assert {frozenset(part) for part in lds.lane_sets("X16", 64)} == listed


@pytest.mark.trap("T11")
@pytest.mark.parametrize("chunk", [0, 4])
def test_the_unswizzled_tile_is_4_way(chunk):
    """T11: 8-way appears only with 16 contiguous lanes to a phase, which is not how gfx950 does it."""
    place = (LANE % 16) * 128 + (chunk + LANE // 16) * 16
    found = lds.conflicts("gfx950", "ds_read_b128", place)
    assert found.degrees.tolist() == [4, 4, 4, 4]
    assert found.extra_passes == 12
    assert found.passes == 16
    assert degrees("gfx950", "ds_read_b128", place, table=lds.PhaseTable("C16", 64)) == [8] * 4
    assert degrees("gfx942", "ds_read_b128", place) == [4] * 8
    assert degrees("gfx942", "ds_read_b128", place, table=lds.PhaseTable("C8", 32)) == [8] * 8


@pytest.mark.trap("T16")
def test_the_busy_banks_are_two_groups_of_eight():
    """Two groups of 4 banks per parity of the row, not "the same two banks"."""
    first = lds.conflicts("gfx950", "ds_read_b128", (LANE % 16) * 128 + (LANE // 16) * 16).phases[0]
    assert sorted(first.banks) == [*range(8), *range(32, 40)]
    assert all(len(dwords) == 4 for dwords in first.banks.values())
    assert first.worst == tuple(sorted(first.banks))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize(("rows", "degree"), [(16, 2), (32, 4)])
def test_2_way_and_4_way_of_one_tile_are_two_lane_maps(arch, rows, degree):
    """64-byte rows: both published numbers are right, for different lane maps."""
    found = degrees(arch, "ds_read_b128", (LANE % rows) * 64 + (LANE // rows) * 16)
    assert set(found) == {degree}


@pytest.mark.parametrize(("pad", "degree"), [(16, 2), (32, 1), (64, 2)])
def test_row_padding(pad, degree):
    for chunk in (0, 4):
        place = (LANE % 16) * (128 + pad) + (chunk + LANE // 16) * 16
        assert set(degrees("gfx950", "ds_read_b128", place)) == {degree}


@pytest.mark.trap("T12")
@pytest.mark.parametrize(
    ("name", "phases", "banks"),
    [
        ("ds_read_b64", 2, 64),
        ("ds_read_b128", 4, 64),
        ("ds_read_b96", 8, 32),
        ("ds_write_b64", 4, 32),
        ("ds_write_b32", 2, 32),
        ("ds_write_b128", 8, 32),
    ],
)
def test_64_banks_are_not_for_everything(name, phases, banks):
    """T12: an access twice 32 banks away collides unless the instruction sees 64."""
    table = lds.phase_table("gfx950", name)
    assert (len(table.sets(64)), table.banks) == (phases, banks)
    size = lds.ds_instruction("gfx950", name).alignment
    place = np.zeros(64, np.int64) + LANE * 0
    first = table.sets(64)[0]
    place[first[1]] = 128  # 32 banks further
    found = lds.conflicts("gfx950", name, place)
    assert found.degrees[0] == (1 if banks == 64 else 2)
    assert size <= 16


@pytest.mark.parametrize(("size", "plain", "padded"), [(8, 16, 1), (4, 32, 1), (2, 16, 2)])
def test_padding_by_one_element_of_a_transposing_store(size, plain, padded):
    """Writes of element (x, y) of a [32][32] or [32][33] array by 32 x 2 lanes."""
    name = f"ds_write_b{8 * size}"
    x, y = LANE % 32, LANE // 32
    assert max(degrees("gfx942", name, (x * 32 + y) * size)) == plain
    assert max(degrees("gfx942", name, (x * 33 + y) * size)) == padded


def test_rdna_reads():
    lane = np.arange(32)
    assert len(lds.conflicts("gfx1100", "ds_load_b32", lane * 4).degrees) == 1
    assert len(lds.conflicts("gfx1201", "ds_load_b128", lane * 16).degrees) == 4
    assert lds.phase_table("gfx1100", "ds_load_b128").lanes == "X8"
    assert lds.phase_table("gfx1201", "ds_load_b128").lanes == "C8"
    assert lds.phase_table("gfx1201", "ds_load_b96").confidence == "vendor"
    both = lds.conflicts("gfx1100", "ds_load_b128", np.arange(64) * 16)
    assert len(both.degrees) == 8
    assert both.confidence == "inferred"  # measured in wave32


def test_broadcast_is_free_and_bytes_of_a_dword_do_not_collide():
    assert degrees("gfx942", "ds_read_b32", LANE * 0) == [1, 1]
    assert degrees("gfx942", "ds_write_b8", LANE) == [1, 1]
    assert degrees("gfx942", "ds_read_u16", LANE * 2 + 1024) == [1, 1]


def test_two_addresses():
    found = lds.conflicts("gfx942", "ds_read2_b64", LANE * 16, offset=(0, 1))
    assert found.addresses[1].tolist() == (LANE * 16 + 8).tolist()
    assert found.degrees.tolist() == [2] * 8  # unlike b128, which reads the same bytes in one go
    assert degrees("gfx942", "ds_read_b128", LANE * 16) == [1] * 8
    far = lds.conflicts("gfx942", "ds_read2st64_b64", LANE * 8, offset=(1, 3))
    assert far.addresses[:, 0].tolist() == [512, 1536]


@pytest.mark.parametrize("stem", ["ds_read2", "ds_write2", "ds_wrxchg2"])
@pytest.mark.parametrize(("form", "unit"), [("_b32", 4), ("_b64", 8), ("st64_b32", 256), ("st64_b64", 512)])
def test_units_of_both_offsets(stem, form, unit):
    """ISA manuals, DS chapter: the offsets of two-address forms count elements, those of ST64 forms 64 elements."""
    name = stem + form
    if stem == "ds_wrxchg2":
        name = name.replace("_b", "_rtn_b")
    found = lds.conflicts("gfx942", name, LANE * 8, offset=(1, 3), warn=False)
    assert found.addresses[:, 0].tolist() == [unit, 3 * unit]


def test_misaligned_accesses():
    with pytest.warns(lds.LdsModelWarning, match="not aligned to 16 bytes"):
        found = lds.conflicts("gfx942", "ds_read_b128", LANE * 16 + 4)
    assert found.misaligned == 64
    assert found.confidence == "unknown"
    assert found.degrees.tolist() == lds_conflicts.degrees(lds.lane_sets("X8", 64), 32, (LANE * 16 + 4).tolist(), 16)
    with pytest.warns(lds.LdsModelWarning):
        crossing = lds.conflicts("gfx942", "ds_read_b128", LANE * 16 + 2)
    assert crossing.degrees.tolist() == lds_conflicts.degrees(lds.lane_sets("X8", 64), 32, (LANE * 16 + 2).tolist(), 16)


def test_same_address_of_writes_and_atomics():
    with pytest.warns(lds.LdsModelWarning, match="serialised"):
        found = lds.conflicts("gfx942", "ds_add_u32", LANE // 2 * 4)
    assert found.same_address == 32
    assert lds.conflicts("gfx942", "ds_read_b32", LANE // 2 * 4).same_address == 0
    assert lds.conflicts("gfx942", "ds_write_b32", LANE * 0, active=LANE < 3).same_address == 2


def test_contradicted_entries_warn_and_can_be_overridden():
    with pytest.warns(lds.LdsModelWarning, match="sources disagree"):
        found = lds.conflicts("gfx950", "ds_read_b32", LANE * 8)
    assert found.extra_passes == 1
    other = found.table.alternatives[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lds.conflicts("gfx950", "ds_read_b32", LANE * 8, table=other).extra_passes == 2
        mapped = lds.conflicts("gfx950", "ds_read_b32", LANE * 8, table={"ds_read_b32": other})
        assert mapped.degrees.tolist() == [2, 2]
        explicit = lds.PhaseTable([[lane] for lane in range(64)], 32)
        assert lds.conflicts("gfx950", "ds_read2_b32", LANE * 8, table=explicit, offset=(0, 1)).free


@pytest.mark.parametrize(
    ("name", "offset"),
    [("ds_read2_b32", (0, 1)), ("ds_read_b64_tr_b16", 0), ("ds_or_b32", 0), ("ds_write2_b64", (0, 1))],
)
def test_unknown_entries_warn(name, offset):
    with pytest.warns(lds.LdsModelWarning, match="not known"):
        found = lds.conflicts("gfx950", name, LANE * 16, offset=offset)
    assert found.confidence == "unknown"


def test_every_instruction_of_every_architecture_has_a_table():
    count = 0
    for arch, data in ARCHITECTURES.items():
        for name in lds.ds_instructions(arch):
            table = lds.phase_table(arch, name)
            for wave in data.wave_sizes:
                assert sorted(lane for part in table.sets(wave) for lane in part) == list(range(wave))
            assert table.source
            count += 1
    assert count > 800


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: lds.conflicts("gfx951", "ds_read_b32", LANE * 4), "did you mean 'gfx950'"),
        (lambda: lds.conflicts("gfx950", "ds_read_b256", LANE * 4), "unknown LDS instruction 'ds_read_b256' on gfx950"),
        (lambda: lds.conflicts("gfx950", "ds_load_b128", LANE * 16), "gfx950 has no ds_load_b128; it is ds_read_b128"),
        (lambda: lds.conflicts("gfx942", "ds_read_b64_tr_b16", LANE * 8), "it is on gfx950"),
        (lambda: lds.conflicts("gfx1201", "ds_cmpst_b32", LANE * 4), "it is ds_cmpstore_b32 there"),
        (lambda: lds.conflicts("gfx942", "ds_bpermute_b32", LANE * 4), "without LDS memory"),
        (lambda: lds.conflicts("gfx942", "ds_append", LANE * 4), "one address per wave"),
        (lambda: lds.conflicts("gfx942", "ds_read_b128", LANE * 1056), "lane 63 accesses bytes 66528..66543"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4 - 4), "lane 0 accesses bytes -4..-1, outside"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4, lds_bytes=128), "outside the 128 bytes"),
        (lambda: lds.conflicts("gfx942", "ds_read_b128", LANE * 16, lds_bytes=1020), "bytes 1008..1023, outside"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", np.arange(32) * 4), "must be the 64 lanes of a gfx942 wave"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4.0), "integers"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4, rule="fastest"), "unknown rule"),
        (lambda: lds.conflicts("gfx942", "ds_read2_b32", LANE * 4), "two offsets"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4, offset=(0, 1)), "one offset"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4, [1] * 64), "booleans"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4, [True] * 3), "do not fit"),
        (lambda: lds.PhaseTable("C17", 32), "unknown lane set"),
        (lambda: lds.PhaseTable("C16", 33), "power of two"),
        (lambda: lds.PhaseTable("C16", 32, "sure"), "unknown confidence"),
        (lambda: lds.PhaseTable([[0, 1], [1]], 32).sets(64), "more than once"),
        (lambda: lds.PhaseTable([[0, 1]], 32).sets(64), "no lane"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", np.zeros((2, 64), int)).phases, "batch"),
        (lambda: lds.conflicts("gfx942", "ds_read_b32", LANE * 4)[0], "not a batch"),
    ],
)
def test_errors(call, text):
    with pytest.raises(MfmasimError) as caught:
        call()
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_given_lane_sets_of_different_sizes():
    sets = [[0, 5, 9], list(range(10, 64)), [1], [2, 3, 4, 6, 7, 8]]
    place = np.random.default_rng(8).integers(0, 400, 64) * 4
    table = lds.PhaseTable(sets, 16)
    assert degrees("gfx942", "ds_read_b32", place, table=table) == lds_conflicts.degrees(sets, 16, place.tolist(), 4)
    some = place % 12 != 0
    assert degrees("gfx942", "ds_read_b64", place * 2, some, table=table) == lds_conflicts.degrees(
        sets, 16, (place * 2).tolist(), 8, some
    )


def test_a_given_table_holds_for_its_kind_of_access():
    lane = np.arange(32)
    mine = {"ds_read_b128": lds.PhaseTable("C8", 64)}  # gfx11's own name is ds_load_b128
    assert lds.conflicts("gfx1100", "ds_load_b128", lane * 128, table=mine).table.banks == 64
    assert lds.conflicts("gfx1100", "ds_load_b64", lane * 128, table=mine).table.banks == 32


def test_silence_keeps_the_remarks():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lds.conflicts("gfx950", "ds_read_b32", LANE * 8, warn=False)
    assert "sources disagree" in found.remarks[0]


def test_sources_have_names():
    tables = [table for arch in ARCHITECTURES for table in lds.phase_tables(arch).values()]
    published = [table for table in tables if table.confidence in ("vendor", "measured")]
    assert len(published) >= 17
    for table in published:
        assert any(short in table.source for short in lds.SOURCES)


def test_idle_lanes_may_hold_anything():
    place = np.where(LANE < 4, LANE * 128, 10**9)
    found = lds.conflicts("gfx942", "ds_read_b32", place, active=LANE < 4)
    assert found.degrees.tolist() == [4, 0]
    assert found.extra_passes == 3
