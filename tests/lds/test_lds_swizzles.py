"""Swizzles: what is published about them, checked byte by byte; what holds of every one; direct-to-LDS; errors."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mfmasim import lds
from mfmasim.errors import MfmasimError
from mfmasim.testing import lds_swizzles
from tests.lds.lds_probes import CONTIGUOUS_32, CONTIGUOUS_64, LANE, READ_16, pattern_degrees


def read_64_byte_rows(rows):
    return lds.Pattern.of("ds_read_b128", lambda lane, n: (lane % rows, lane // rows * 16))


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
    assert pattern_degrees(found, READ_16, "gfx950") == {cdna4}
    assert pattern_degrees(found, READ_16, "gfx950", CONTIGUOUS_64) == {contiguous}
    assert pattern_degrees(found, READ_16, "gfx942") == {cdna3}
    assert pattern_degrees(found, READ_16, "gfx942", CONTIGUOUS_32) == {contiguous_32}


def test_kittens():
    assert pattern_degrees(lds.swizzle("hk_st_16x32"), read_64_byte_rows(16), "gfx950") == {1}
    assert pattern_degrees(lds.swizzle("hk_st_16x32"), read_64_byte_rows(16), "gfx942") == {2}
    for rows in (16, 32):
        assert pattern_degrees(lds.swizzle("hk_st_32x32"), read_64_byte_rows(rows), "gfx950") == {1}


@pytest.mark.trap("T24")
@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_wmma_ops(arch):
    """T24: the printed exclusive-or changes nothing; padding and a higher row bit do. Both 8-lane rules agree."""

    def read(chunks):
        return lds.Pattern.of("ds_load_b128", lambda lane, n: (lane % 16, 16 * n), lanes=32, accesses=chunks)

    assert pattern_degrees(lds.linear(128, 32), read(2), arch) == {2}
    assert pattern_degrees(lds.swizzle("wmma_ops_xor"), read(2), arch) == {2}
    assert pattern_degrees(lds.swizzle("wmma_ops_padding"), read(2), arch) == {1}
    assert pattern_degrees(lds.swizzle("wmma_ops_xor_32_banks"), read(2), arch) == {1}
    assert pattern_degrees(lds.linear(128, 64), read(4), arch) == {4}
    assert pattern_degrees(lds.swizzle("wmma_ops_xor_k32"), read(4), arch) == {2}
    sixteen = lds.PhaseTable("C16", 64)
    assert pattern_degrees(lds.swizzle("wmma_ops_xor"), read(2), arch, sixteen) == {2}
    assert pattern_degrees(lds.swizzle("wmma_ops_xor_64_banks"), read(2), arch, sixteen) == {1}


@pytest.mark.filterwarnings("ignore::mfmasim.lds.LdsModelWarning")
def test_wmma_ops_scatter_of_b_is_8_way_whatever_the_layout():
    """T24: eight lanes store k = const of eight n each; 16-bit stores of one half8."""
    for name in ("wmma_ops_padding", "wmma_ops_xor", "wmma_ops_xor_32_banks"):
        stores = lds.Pattern.of("ds_store_b16", lambda lane, n: (lane % 8 * 8 + n, lane // 8 * 2), lanes=32, accesses=8)
        assert pattern_degrees(lds.swizzle(name), stores, "gfx1151") == {8}


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
    [
        (0, False, False, 64),
        (512, False, False, 0),
        (0, True, False, 4),
        (0, False, True, 4),
        (512, True, True, 256),
        (0, True, True, 256),
    ],
)
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


@pytest.mark.parametrize(("size", "step"), [(1, 4), (2, 4), (4, 4), (12, 16), (16, 16)])
def test_direct_to_lds_places(size, step):
    places = lds.direct_to_lds("gfx950", size, base=512, m0=64, offset=8)
    assert places.tolist() == [584 + lane * step for lane in range(64)]
    assert lds.direct_to_lds("gfx950", size).tolist() == [lane * step for lane in range(64)], "no base and no offset"


@pytest.mark.trap("T13", "T26")
def test_which_architecture_loads_how_much_to_the_lds():
    """16 bytes on gfx950 alone, 8 nowhere, and nothing on RDNA; no lane chooses its place."""
    sizes = {"gfx942": {1, 2, 4}, "gfx950": {1, 2, 4, 12, 16}, "gfx1100": set(), "gfx1151": set(), "gfx1201": set()}
    for arch, known in sizes.items():
        for size in (1, 2, 4, 8, 12, 16):
            if size in known:
                places = lds.direct_to_lds(arch, size, base=4096, m0=64, offset=8)
                step = 16 if size == 12 else max(size, 4)  # three dwords leave a gap for the fourth
                assert (places == 4096 + 64 + 8 + step * LANE).all()
            else:
                words = f"no {size}-byte load" if known else "no loads from global memory to LDS"
                with pytest.raises(MfmasimError, match=words):
                    lds.direct_to_lds(arch, size)


# Properties.


ALIGNED = st.integers(0, 7).flatmap(lambda low: st.tuples(lds_swizzles(1 << low), st.just(1 << low)))


@settings(max_examples=60, deadline=None)
@given(ALIGNED)
def test_row_to_column_maps_always_go_round(found):
    swizzle, alignment = found
    assert swizzle.bijective
    assert swizzle.self_inverse
    assert swizzle.keeps_rows
    assert swizzle.keeps_alignment(alignment)
    rows = 1 << np.arange(len(swizzle.row_images))
    assert (swizzle.place(rows, rows * 0) - rows * swizzle.pitch == swizzle.row_images).all()
    places = np.arange(swizzle.lds_bytes)
    assert (swizzle.of_offset(swizzle.source_of(places)) == places).all()


@settings(max_examples=40, deadline=None)
@given(lds_swizzles())
def test_the_hip_expression_is_the_swizzle(swizzle):
    """The statements are C and Python alike, but for the type and the suffixes."""
    rows, columns = np.indices((swizzle.rows, swizzle.row_bytes))
    text = swizzle.hip().replace("unsigned ", "").replace(";", "")
    scope = {"row": rows, "column": columns}
    exec(text.replace(f"{swizzle.pitch}u", str(swizzle.pitch)), {}, scope)
    assert (scope["offset"] == swizzle.place(rows, columns)).all()


@settings(max_examples=40, deadline=None)
@given(ALIGNED, st.data())
def test_a_degree_under_a_swizzle_is_between_1_and_the_lanes(found, data):
    swizzle, alignment = found
    size = next(size for size in (4, 8, 16) if size == 16 or alignment <= size)
    assume(alignment >= size)
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
        (lambda: lds.Swizzle(4, 16, (lds.Term(0, 15, 0),)).source_of([0]), "not a bijection"),
        (lambda: lds.linear(4, 16).mismatches(lds.linear(4, 32)), "cannot be compared"),
        (lambda: lds.padding(16, 100, 0).row_images, "not a power of two"),
        (lambda: READ_16.addresses(lds.linear(8, 128)), "outside the tile of 8x128 bytes"),
        (lambda: READ_16.addresses(lds.row_xor(16, 128, chunk=8)), "splits the 16 bytes"),
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
)
def test_errors(call, text):
    if text is None:  # 64 lanes are a wave of gfx1100 too
        assert call().free
        return
    with pytest.raises(MfmasimError) as caught:
        call()
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
