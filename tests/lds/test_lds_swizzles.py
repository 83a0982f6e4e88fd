"""Swizzles: what is published about them, checked byte by byte; the search against going through every map."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mfmasim
from mfmasim import lds
from mfmasim.errors import MfmasimError

sys.path.insert(0, str(Path(__file__).parent))
import slow_conflicts

LANE = np.arange(64)
READ_16 = lds.Pattern.of("ds_read_b128", lambda lane, n: (lane % 16, 64 * n + lane // 16 * 16), accesses=2)


def read_64_byte_rows(rows):
    return lds.Pattern.of("ds_read_b128", lambda lane, n: (lane % rows, lane // rows * 16))


def degrees(swizzle, pattern, arch, table=None):
    found = lds.conflicts(arch, pattern.instruction, pattern.addresses(swizzle), pattern.active, table=table)
    return {int(degree) for degree in found.degrees.ravel()}


# The seeds' swizzles, as printed.


def pair_perm(row, column):
    pair = (row >> 1) & 7
    perm = pair ^ (((pair >> 1) ^ (pair >> 2)) & 1)
    return row * 128 + (column ^ (perm << 4))


def row_bits(row, column):
    offset = row * 128 + column
    return offset ^ ((offset % (16 * 128) >> 7) // 2 << 4)


def kittens_16x32(row, column):
    offset = row * 64 + column
    return offset ^ (((offset % 1024) >> 9) << 5)


def kittens_32x32(row, column):
    offset = row * 64 + column
    return offset ^ (((offset % 1024) >> 9) << 5) ^ (((offset % 2048) >> 10) << 4)


def ck(layers):
    """K0' = K0 ^ (M % (K0s * layers)) on lines of `layers` rows."""

    def place(row, column, row_bytes):
        chunks = layers * row_bytes // 16
        line, chunk = row // layers, (row % layers) * (row_bytes // 16) + column // 16
        return (line * chunks + (chunk ^ (line % chunks))) * 16 + column % 16

    return place


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("cdna4_gemm", pair_perm),
        ("cdna4_4wave", row_bits),
        ("hk_st_16x32", kittens_16x32),
        ("hk_st_32x32", kittens_32x32),
        ("ck_tile_16x128", lambda row, column: ck(1)(row, column, 128)),
        ("ck_tile_32x64", lambda row, column: ck(2)(row, column, 64)),
        ("row_and_7", lambda row, column: row * 128 + (column ^ (row & 7) << 4)),
        ("pair_and_7", lambda row, column: row * 128 + (column ^ (row >> 1 & 7) << 4)),
        ("wmma_ops_padding", lambda row, column: row * 48 + column),
        ("wmma_ops_xor", lambda row, column: row * 32 + (column ^ (row & 1) << 4)),
        ("wmma_ops_xor_32_banks", lambda row, column: row * 32 + (column ^ (row >> 2 & 1) << 4)),
        ("wmma_ops_xor_64_banks", lambda row, column: row * 32 + (column ^ (row >> 3 & 1) << 4)),
        ("wmma_ops_xor_k32", lambda row, column: row * 64 + (column ^ (row & 3) << 4)),
    ],
)
def test_published_swizzles_are_as_printed(name, place):
    found = lds.swizzle(name)
    rows, columns = np.indices((found.rows, found.row_bytes))
    expected = np.vectorize(place, otypes=[np.int64])(rows, columns)
    assert (found.place(rows, columns) == expected).all()


@pytest.mark.parametrize("name", lds.NAMES)
def test_published_swizzles_are_sound(name):
    found = lds.swizzle(name)
    assert found.bijective
    assert found.keeps_alignment(16)
    assert found.matches(found)
    assert found.self_inverse or found.pad
    assert found.keeps_rows or name == "ck_tile_32x64"
    assert found.source
    everything = np.unique(found.place(*np.indices((found.rows, found.row_bytes))))
    assert len(everything) == found.rows * found.row_bytes
    assert (found.place(*divmod(found.source_of(everything), found.pitch)) == everything).all()


def test_the_permutation_of_the_gemm_swizzle():
    assert [int(lds.swizzle("cdna4_gemm").place(row, 0)) % 128 >> 4 for row in range(0, 16, 2)] == [
        0,
        1,
        3,
        2,
        5,
        4,
        6,
        7,
    ]
    assert lds.swizzle("cdna4_gemm").row_images == (0, 0x10, 0x30, 0x50)


CONTIGUOUS_64, CONTIGUOUS_32 = lds.PhaseTable("C16", 64), lds.PhaseTable("C8", 32)


@pytest.mark.parametrize(
    ("name", "cdna4", "contiguous", "cdna3", "contiguous_32"),
    [
        ("linear_16x128", 4, 8, 4, 8),
        ("cdna4_gemm", 1, 1, 2, 2),
        ("cdna4_4wave", 1, 1, 2, 2),
        ("pair_and_7", 1, 1, 2, 2),
        ("row_and_7", 1, 2, 1, 1),
        ("ck_tile_16x128", 1, 2, 1, 1),
    ],
)
def test_conflict_free_depends_on_the_architecture(name, cdna4, contiguous, cdna3, contiguous_32):
    """T11: both seed swizzles are free on gfx950 and 2-way on gfx942."""
    found = lds.swizzle(name)
    assert degrees(found, READ_16, "gfx950") == {cdna4}
    assert degrees(found, READ_16, "gfx950", CONTIGUOUS_64) == {contiguous}
    assert degrees(found, READ_16, "gfx942") == {cdna3}
    assert degrees(found, READ_16, "gfx942", CONTIGUOUS_32) == {contiguous_32}


def test_kittens():
    assert degrees(lds.swizzle("hk_st_16x32"), read_64_byte_rows(16), "gfx950") == {1}
    assert degrees(lds.swizzle("hk_st_16x32"), read_64_byte_rows(16), "gfx942") == {2}
    for rows in (16, 32):
        assert degrees(lds.swizzle("hk_st_32x32"), read_64_byte_rows(rows), "gfx950") == {1}


@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_wmma_ops(arch):
    """T24: the printed exclusive-or changes nothing; padding and a higher row bit do. Both 8-lane rules agree."""

    def read(chunks):
        return lds.Pattern.of("ds_load_b128", lambda lane, n: (lane % 16, 16 * n), lanes=32, accesses=chunks)

    assert degrees(lds.linear(128, 32), read(2), arch) == {2}
    assert degrees(lds.swizzle("wmma_ops_xor"), read(2), arch) == {2}
    assert degrees(lds.swizzle("wmma_ops_padding"), read(2), arch) == {1}
    assert degrees(lds.swizzle("wmma_ops_xor_32_banks"), read(2), arch) == {1}
    assert degrees(lds.linear(128, 64), read(4), arch) == {4}
    assert degrees(lds.swizzle("wmma_ops_xor_k32"), read(4), arch) == {2}
    sixteen = lds.PhaseTable("C16", 64)
    assert degrees(lds.swizzle("wmma_ops_xor"), read(2), arch, sixteen) == {2}
    assert degrees(lds.swizzle("wmma_ops_xor_64_banks"), read(2), arch, sixteen) == {1}


@pytest.mark.filterwarnings("ignore::mfmasim.lds.LdsModelWarning")
def test_wmma_ops_scatter_of_b_is_8_way_whatever_the_layout():
    """T24: eight lanes store k = const of eight n each; 16-bit stores of one half8."""
    for name in ("wmma_ops_padding", "wmma_ops_xor", "wmma_ops_xor_32_banks"):
        stores = lds.Pattern.of("ds_store_b16", lambda lane, n: (lane % 8 * 8 + n, lane // 8 * 2), lanes=32, accesses=8)
        assert degrees(lds.swizzle(name), stores, "gfx1151") == {8}


def test_lds_sizes_of_wmma_ops():
    """Two buffers of A (128 rows) and B (64 rows): 18,432 bytes padded, 12,288 bytes without."""
    padded, plain = (sum(2 * lds.padding(rows, 32, pad).lds_bytes for rows in (128, 64)) for pad in (16, 0))
    assert (padded, plain, padded - plain) == (18432, 12288, 6144)


def test_terms_read_the_offset_before_the_others():
    """A term whose source is another's target: still a bijection, no longer its own inverse."""
    chained = lds.Swizzle(4, 64, (lds.Term(6, 1, 5), lds.Term(5, 1, 4)))
    assert int(chained.of_offset(64)) == 64 + 32
    assert int(chained.of_offset(32)) == 32 + 16
    assert chained.bijective
    assert not chained.self_inverse
    places = np.arange(256)
    assert (chained.of_offset(chained.source_of(places)) == places).all()


@pytest.mark.filterwarnings("ignore::mfmasim.lds.LdsModelWarning")
def test_the_scatter_of_b_need_not_conflict():
    """T24's 8-way stores and its reads together: free with exclusive-ors that exchange rows as well."""
    stores = lds.Pattern.of("ds_store_b16", lambda lane, n: (lane % 8 * 8 + n, lane // 8 * 2), lanes=32, accesses=8)
    reads = lds.Pattern.of("ds_load_b128", lambda lane, n: (lane % 16, 16 * n), lanes=32, accesses=2)
    found = lds.find_swizzle((64, 32), 2, stores, [reads], ["gfx1151"])
    assert found.count == 0
    assert found.xors
    for swizzle in found.xors:
        assert swizzle.bijective
        assert not swizzle.keeps_rows
        for pattern in (stores, reads):
            table = lds.phase_table("gfx1151", pattern.instruction)
            for place in pattern.addresses(swizzle).tolist():
                assert slow_conflicts.degrees(table.sets(32), table.banks, place, pattern.size) == [1] * len(
                    table.sets(32)
                )


def test_the_smallest_of_equal_paddings():
    """16-byte rows' chunks read by halves cannot be free; of the paddings that leave as little, the first is taken."""
    write = lds.Pattern.linear("ds_write_b128", 16, 128)
    halves = lds.Pattern.of("ds_read_b64", lambda lane, n: (lane % 16, lane // 16 * 8))
    found = lds.find_swizzle((16, 128), 1, write, [halves], ["gfx942", "gfx950"])
    assert not found.free
    left = {pad: sum(line.extra_passes for line in found.proof(lds.padding(16, 128, pad))) for pad in range(0, 257, 16)}
    assert found.padding_extra == min(left.values()) == 4
    assert found.padding.pad == min(pad for pad, extra in left.items() if extra == 4) == 16
    assert list(left.values()).count(4) > 1
    assert "4 extra passes on gfx942, gfx950" in found.hip()


# All 4096 linear maps of 16 rows onto 8 chunks.


def every_map():
    return itertools.product(range(8), repeat=4)


def map_to_swizzle(images):
    return lds.Swizzle(16, 128, lds.terms_of((7 + bit, image << 4) for bit, image in enumerate(images)))


def free_maps(sets, banks):
    """Maps without a conflict, by trying each one: vectorised over maps, obvious otherwise."""
    maps = np.array(list(every_map()))
    shift = np.zeros((len(maps), 16), np.int64)
    for row in range(16):
        for bit in range(4):
            if row >> bit & 1:
                shift[:, row] ^= maps[:, bit]
    free = np.ones(len(maps), bool)
    for chunk in (0, 4):
        for part in sets:
            rows = np.array([lane % 16 for lane in part])
            chunks = np.array([chunk + lane // 16 for lane in part])
            unit = (rows * 8 + (chunks ^ shift[:, rows])) % (banks // 4)
            free &= (np.diff(np.sort(unit, axis=1), axis=1) != 0).all(axis=1)
    return {tuple(images) for images in maps[free].tolist()}


@pytest.fixture(scope="module")
def free():
    return {
        "gfx950": free_maps(lds.lane_sets("X16", 64), 64),
        "contiguous": free_maps(lds.lane_sets("C16", 64), 64),
        "gfx942": free_maps(lds.lane_sets("X8", 64), 32),
    }


def test_counts_of_conflict_free_maps(free):
    assert len(free["gfx950"]) == 1344
    assert len(free["contiguous"]) == 1344
    assert len(free["gfx950"] & free["contiguous"]) == 576
    assert len(free["contiguous"] - free["gfx950"]) == 768
    assert (0, 2, 1, 4) in free["contiguous"] - free["gfx950"]
    assert len(free["gfx942"]) == 1344
    assert len(free["gfx950"] & free["gfx942"]) == 672
    assert (1, 2, 4, 0) in free["gfx950"] & free["gfx942"]


def test_the_search_counts_what_trying_every_map_counts(free):
    tables = {"gfx950": {"ds_read_b128": CONTIGUOUS_64}}
    for archs, given_tables, expected in [
        (["gfx950"], None, free["gfx950"]),
        (["gfx942"], None, free["gfx942"]),
        (["gfx942", "gfx950"], None, free["gfx950"] & free["gfx942"]),
        (["gfx950"], tables, free["contiguous"]),
    ]:
        found = lds.find_swizzle((16, 128), 1, None, [READ_16], archs, tables=given_tables)
        assert (found.count, found.maps) == (len(expected), 4096)
        fewest = min(len(lds.terms_of((7 + bit, image) for bit, image in enumerate(images))) for images in expected)
        assert len(found.best.terms) == fewest
        for swizzle in found.xors:
            if swizzle.keeps_rows:
                assert tuple(image >> 4 for image in swizzle.row_images) in expected


def test_conflicts_agrees_with_trying_every_map(free):
    """The public count on a sample of maps, and on the ones that only wrong phases would accept."""
    wrong = map_to_swizzle((0, 2, 1, 4))
    assert degrees(wrong, READ_16, "gfx950") == {2}
    checked = 0
    for images in itertools.islice(every_map(), 5, None, 23):
        swizzle = map_to_swizzle(images)
        for arch in ("gfx950", "gfx942"):
            assert (degrees(swizzle, READ_16, arch) == {1}) == (images in free[arch])
            checked += 1
    assert checked > 350


def test_cheapest_comes_first_and_is_proved():
    write = lds.Pattern.linear("ds_write_b128", 16, 128)
    found = lds.find_swizzle((16, 128), 1, write, [READ_16], ["gfx942", "gfx950"])
    assert found.best.terms == lds.swizzle("row_and_7").terms
    assert [swizzle.operations for swizzle in found.xors] == sorted(swizzle.operations for swizzle in found.xors)
    assert (found.padding.pad, found.padding_extra, found.linear_extra) == (32, 0, 72)
    proof = found.proof()
    assert len(proof) == 4
    assert all(line.free and line.extra_passes == 0 for line in proof)
    assert {line.arch for line in proof} == {"gfx942", "gfx950"}
    assert sum(line.extra_passes for line in found.proof(lds.linear(16, 128))) == 72
    assert "offset ^= ((offset >> 3) & 0x70);" in found.hip()


@pytest.mark.parametrize("archs", [["gfx942"], ["gfx950"], ["gfx942", "gfx950"], ["gfx950", "gfx90a"]])
@pytest.mark.parametrize(
    ("tile", "element", "write", "read"),
    [
        ((32, 64), 2, "ds_write_b128", ("ds_read_b128", 16)),
        ((32, 64), 2, "ds_write_b64", ("ds_read_b64", 32)),
        ((64, 128), 2, "ds_write_b128", ("ds_read_b128", 32)),
        ((64, 256), 2, "ds_write_b64", ("ds_read_b64", 16)),
        ((24, 128), 1, "ds_write_b64", ("ds_read_b64", 8)),
        ((32, 512), 4, "ds_write_b32", ("ds_read_b32", 32)),
        ((16, 160), 1, None, ("ds_read_b128", 16)),
    ],
)
def test_found_swizzles_hold_under_the_slow_count(tile, element, write, read, archs):
    name, across = read
    size = int(name.removeprefix("ds_read_b")) // 8
    steps = tile[1] // (64 // across * size) or 1
    pattern = lds.Pattern.of(
        name, lambda lane, n: (lane % across, (n * 64 // across * size + lane // across * size) % tile[1]),
        accesses=min(steps, 4),
    )  # fmt: skip
    writing = None if write is None else lds.Pattern.linear(write, *tile)
    patterns = [pattern] + ([writing] if writing else [])
    found = lds.find_swizzle(tile, element, writing, [pattern], archs)
    candidates = [*found.xors, *([found.padding] if not found.padding_extra else [])]
    assert candidates
    for swizzle in candidates:
        assert swizzle.bijective
        for arch, access in itertools.product(archs, patterns):
            table = lds.phase_table(arch, access.instruction)
            for place, active in zip(access.addresses(swizzle).tolist(), access.active, strict=True):
                slow = slow_conflicts.degrees(table.sets(64), table.banks, place, access.size, active)
                assert max(slow) == 1


def test_operands_of_matrix_instructions():
    """A tile of FP8 for 16x16x128: two b128 reads per lane and operand, free under the two-architecture swizzle."""
    op = mfmasim.instruction("gfx950", "v_mfma_f32_16x16x128_f8f6f4", a="e4m3fn", b="e4m3fn")
    for fragment in (op.A, op.B):
        pattern = lds.Pattern.operand("ds_read_b128", fragment)
        assert pattern.rows.shape == (2, 64)
        bytes_read = {
            (int(row), int(column) + byte)
            for row, column in zip(pattern.rows.ravel(), pattern.columns.ravel(), strict=True)
            for byte in range(16)
        }
        assert len(bytes_read) == 16 * 128
        assert degrees(lds.swizzle("row_and_7"), pattern, "gfx950") == {1}
    f16 = mfmasim.instruction("gfx942", "v_mfma_f32_32x32x8_f16")
    pattern = lds.Pattern.operand("ds_read_b64", f16.A, row=32, column=16)
    assert pattern.rows.min() == 32
    assert sorted(set(pattern.columns.ravel().tolist())) == [16, 24]
    assert lds.find_swizzle((64, 64), 2, lds.Pattern.linear("ds_write_b64", 64, 64), [pattern], ["gfx942"]).free
    # 16-byte stores tie the two halves of a chunk together, so 16 lanes that read the same half have 8 places to go.
    with pytest.raises(MfmasimError, match="no linear map"):
        lds.find_swizzle((64, 64), 2, lds.Pattern.linear("ds_write_b128", 64, 64), [pattern], ["gfx942"])
    with pytest.raises(MfmasimError, match="neighbouring bits"):
        lds.Pattern.operand("ds_read_b128", f16.A)
    with pytest.raises(MfmasimError, match="blocks"):
        lds.Pattern.operand("ds_read_b64", mfmasim.instruction("gfx942", "v_mfma_f32_4x4x4_16b_f16").A)


def test_operand_of_a_replicated_layout():
    op = mfmasim.instruction("gfx1151", "v_wmma_f32_16x16x16_f16")
    pattern = lds.Pattern.operand("ds_load_b128", op.A)
    assert pattern.rows.shape == (2, 32)
    assert (pattern.rows[:, :16] == pattern.rows[:, 16:]).all()
    assert degrees(lds.swizzle("wmma_ops_padding"), pattern, "gfx1151") == {1}


def test_one_side_only_is_seen():
    right, linear = lds.swizzle("row_and_7"), lds.linear(16, 128)
    assert not right.matches(linear)
    assert right.mismatches(linear) == 14 * 128  # rows 0 and 8 stay
    assert right.mismatches(right) == 0
    assert right.matches(right.named("other"))


def test_direct_to_lds_fills_in_lane_order_so_that_the_source_is_swizzled():
    """Lane l fills base + 16 l; it fetches what the swizzle puts there, and reads come out right."""
    swizzle = lds.swizzle("cdna4_gemm")
    tile = np.random.default_rng(1).integers(0, 256, (16, 128))
    memory = np.zeros(2048, np.int64)
    for wave in range(2):
        places = lds.direct_to_lds("gfx950", 16, m0=1024 * wave)
        row, column = lds.fetch(swizzle, places)
        for byte in range(16):
            memory[places + byte] = tile[row, column + byte]
    rows, columns = np.indices((16, 128))
    assert (memory[swizzle.place(rows, columns)] == tile).all()
    assert (memory.reshape(16, 128) != tile).any()


@pytest.mark.parametrize(
    ("base", "right_load", "right_read", "floats"),
    [(0, False, False, 64), (512, False, False, 0), (0, True, False, 4), (0, False, True, 4), (512, True, True, 256),
     (0, True, True, 256)],
)  # fmt: skip
def test_the_printed_copy_through_lds(base, right_load, right_read, floats):
    """T1: the offset of the load wants 16 bytes per lane, and the address of the read is in bytes already."""
    source = np.arange(256) + 1
    memory = np.zeros(16384, np.int64)  # in dwords
    allocated = slice(base // 4, base // 4 + 256)
    places = lds.direct_to_lds("gfx950", 16, base=base) // 4
    for dword in range(4):
        first = LANE * (4 if right_load else 1)
        memory[places + dword] = source[first + dword]
    read = base + LANE * 16 if right_read else (base + LANE * 16) * 4
    inside = (read >= base) & (read + 16 <= base + 1024)
    got = np.where(inside[:, None], memory[np.where(inside, read // 4, 0)[:, None] + np.arange(4)], 0).ravel()
    assert int((got == source).sum()) == floats
    assert int((~inside).sum()) == (0 if right_read else 64 if base else 48)
    assert memory[allocated].all()


@pytest.mark.parametrize(
    ("size", "step"), [(1, 4), (2, 4), (4, 4), (12, 16), (16, 16)]
)  # fmt: skip
def test_direct_to_lds_places(size, step):
    places = lds.direct_to_lds("gfx950", size, base=512, m0=64, offset=8)
    assert places.tolist() == [584 + lane * step for lane in range(64)]


# Properties.


@st.composite
def swizzles(draw):
    row_bits, column_bits = draw(st.integers(1, 6)), draw(st.integers(4, 8))
    low = draw(st.integers(0, column_bits - 1))
    images = draw(st.lists(st.integers(0, (1 << column_bits - low) - 1), min_size=row_bits, max_size=row_bits))
    terms = lds.terms_of((column_bits + bit, image << low) for bit, image in enumerate(images))
    return lds.Swizzle(1 << row_bits, 1 << column_bits, terms), images, low


@settings(max_examples=60, deadline=None)
@given(swizzles())
def test_row_to_column_maps_always_go_round(found):
    swizzle, images, low = found
    assert swizzle.bijective
    assert swizzle.self_inverse
    assert swizzle.keeps_rows
    assert swizzle.keeps_alignment(1 << low)
    assert swizzle.row_images == tuple(image << low for image in images)
    places = np.arange(swizzle.lds_bytes)
    assert (swizzle.of_offset(swizzle.source_of(places)) == places).all()


@settings(max_examples=40, deadline=None)
@given(swizzles())
def test_the_hip_expression_is_the_swizzle(found):
    """The statements are C and Python alike, but for the type and the suffixes."""
    swizzle, _, _ = found
    rows, columns = np.indices((swizzle.rows, swizzle.row_bytes))
    text = swizzle.hip().replace("unsigned ", "").replace(";", "")
    scope = {"row": rows, "column": columns}
    exec(text.replace(f"{swizzle.pitch}u", str(swizzle.pitch)), {}, scope)
    assert (scope["offset"] == swizzle.place(rows, columns)).all()


@settings(max_examples=40, deadline=None)
@given(swizzles(), st.data())
def test_a_degree_under_a_swizzle_is_between_1_and_the_lanes(found, data):
    swizzle, _, low = found
    size = next(size for size in (4, 8, 16) if size == 16 or low < size.bit_length())
    assume(1 << low >= size and swizzle.row_bytes >= size)
    rows = data.draw(st.lists(st.integers(0, swizzle.rows - 1), min_size=64, max_size=64))
    pattern = lds.Pattern.of(f"ds_read_b{8 * size}", lambda lane, n: (np.array(rows), lane * 0))
    counted = lds.conflicts("gfx942", pattern.instruction, pattern.addresses(swizzle))
    assert counted.degrees.min() >= 1
    assert counted.degrees.max() <= min(len(set(rows)), 32)


# Errors.


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: lds.swizzle("cdna4_gem"), "did you mean 'cdna4_gemm'"),
        (lambda: lds.row_xor(16, 96), "row_bytes 96 must be a power of two"),
        (lambda: lds.row_xor(16, 128, mask=8), "too wide for 8 chunks"),
        (lambda: lds.Swizzle(0, 128), "rows and bytes"),
        (lambda: lds.linear(16, 128).place(16, 0), "row 16 is not within 0..15"),
        (lambda: lds.linear(16, 128).place(0, -1), "column byte -1"),
        (lambda: lds.padding(16, 128, 16).source_of([130]), "offset 130"),
        (lambda: lds.Swizzle(4, 16, (lds.Term(0, 15, 0),)).source_of([0]), "no bijection"),
        (lambda: lds.linear(4, 16).mismatches(lds.linear(4, 32)), "cannot be compared"),
        (lambda: lds.padding(16, 100, 0).row_images, "not a power of two"),
        (lambda: READ_16.addresses(lds.linear(8, 128)), "outside the tile of 8x128 bytes"),
        (lambda: READ_16.addresses(lds.row_xor(16, 128, chunk=8)), "tears apart"),
        (lambda: lds.Pattern.linear("ds_write_b128", 4, 40), "whole ds_write_b128"),
        (lambda: lds.direct_to_lds("gfx942", 16), "no 16-byte load to LDS: 1, 2, 4 bytes per lane; gfx950 has it"),
        (lambda: lds.direct_to_lds("gfx950", 8), "gfx950 has no 8-byte load to LDS: 1, 2, 4, 12, 16"),
        (lambda: lds.direct_to_lds("gfx1201", 4), "no loads from global memory to LDS"),
        (lambda: lds.direct_to_lds("gfx950", 16, m0=163840), "outside 163840"),
        (lambda: lds.find_swizzle((16, 128), 1, None, [READ_16], []), "at least one architecture"),
        (lambda: lds.find_swizzle((16, 128), 1, None, [], ["gfx950"]), "at least one access pattern"),
        (lambda: lds.find_swizzle((16, 128), 1, None, [READ_16], ["gfx1100"]), None),
        (lambda: lds.find_swizzle((16, 128), 3, None, [READ_16], ["gfx950"]), "whole elements of 3 bytes"),
        (lambda: lds.find_swizzle((8, 128), 1, None, [READ_16], ["gfx950"]), "outside the tile"),
        (lambda: lds.find_swizzle((1024, 128), 1, None, [READ_16], ["gfx942"]), "does not fit the 65536 of gfx942"),
        (lambda: lds.find_swizzle((16, 136), 1, None, [READ_16], ["gfx950"]), "whole 16-byte accesses"),
    ],
)  # fmt: skip
def test_errors(call, text):
    if text is None:  # 64 lanes are a wave of gfx1100 too
        assert call().free
        return
    with pytest.raises(MfmasimError) as caught:
        call()
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_tile_that_cannot_be_swizzled_says_why():
    """Lanes of one phase that want the same bank of one row keep wanting it wherever the row's columns go."""
    one_row = lds.Pattern.of("ds_read_b32", lambda lane, n: (lane * 0, lane * 128))
    with pytest.raises(MfmasimError, match=r"within one row.*no padding up to 128 bytes"):
        lds.find_swizzle((4, 8192), 4, None, [one_row], ["gfx942"])
    off = lds.Pattern.of("ds_read_b128", lambda lane, n: (lane % 16, 8 + lane // 16 * 16))
    with pytest.raises(MfmasimError, match=r"starts at column byte 8.*no swizzle changes that"):
        lds.find_swizzle((16, 128), 1, None, [off], ["gfx942"])
    with pytest.raises(MfmasimError, match="two addresses"):
        lds.find_swizzle(
            (16, 128), 1, None, [lds.Pattern.of("ds_read2_b64", lambda lane, n: (lane % 16, lane * 0))], ["gfx942"]
        )


def test_rows_that_are_no_power_of_two_get_padding():
    found = lds.find_swizzle((16, 192), 1, None, [READ_16], ["gfx950"])
    assert not found.xors
    assert "not a power of two" in found.why
    assert found.free
    assert found.best.pad
    assert all(line.free for line in found.proof())


def test_a_tile_that_needs_nothing_gets_nothing():
    pattern = lds.Pattern.linear("ds_read_b128", 16, 128)
    found = lds.find_swizzle((16, 128), 1, pattern, [pattern], ["gfx942", "gfx950"])
    assert not found.best.terms
    assert not found.best.pad
    assert found.linear_extra == 0
