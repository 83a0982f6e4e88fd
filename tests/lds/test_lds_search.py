"""The search for swizzles, against going through every map and counting slowly."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim import lds
from mfmasim.errors import MfmasimError
from mfmasim.lds.linear_maps import Collision, Space
from tests.lds.lds_probes import CONTIGUOUS_64, READ_16, pattern_degrees
from tests.slow import lds_conflicts


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
                assert lds_conflicts.degrees(table.sets(32), table.banks, place, pattern.size) == [1] * len(
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


def span(vectors):
    """Everything that exclusive-ors of the vectors give."""
    held = {0}
    for vector in vectors:
        held |= {one ^ vector for one in held}
    return held


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


def test_six_row_bits_are_still_counted():
    """gfx950 reads b128 by cosets of span(1, 2, 12, 20) of the lanes; here lane bit 1 is row bit 1, 5 or 6.

    An odd row of 128 bytes is on the other half of the 64 banks, so that row bit 0 may have any of 8 images; the 8**6
    choices for the others are tried directly.
    """
    patterns = [
        lds.Pattern.of(
            "ds_read_b128", lambda lane, n, bit=bit: (lane & 61 & ~(1 << bit) | (lane >> 1 & 1) << bit, lane * 0)
        )
        for bit in (1, 5, 6)
    ]
    maps = np.arange(8**6)
    free = np.ones(len(maps), bool)
    for bit in (1, 5, 6):
        for difference in span((1 << bit, 12, 20)) - {0}:
            image = np.zeros_like(maps)
            for row in range(6):
                if difference >> row + 1 & 1:
                    image ^= maps >> 3 * row & 7
            free &= image != 0
    found = lds.find_swizzle((128, 128), 1, None, patterns, ["gfx950"])
    assert (found.count, found.maps) == (8 * int(free.sum()), 8**7)
    assert found.count > 0


def cheapest_maps(low, line, targets, sources, collision):
    """Images without a collision on the fewest diagonals, in the order of their distances, by trying each map."""
    needed = [d for d in collision.differences.tolist() if d >> line]
    idle = [bit for bit in range(sources) if not any(d >> line + bit & 1 for d in needed)]
    found = []
    for images in itertools.product(range(1 << targets), repeat=sources):
        moved = [d ^ (image_of(images, d >> line) << low) for d in collision.differences.tolist()]
        if all(value & collision.mask for value in moved) and not any(images[bit] for bit in idle):
            entries = [(bit, place) for bit in range(sources) for place in range(targets) if images[bit] >> place & 1]
            distances = tuple(sorted({line + bit - low - place for bit, place in entries}))
            found.append((len(distances), distances, tuple(image << low for image in images)))
    found.sort()
    return [images for count, _, images in found if count == found[0][0]]


def image_of(images, high):
    """The image of a sum of source bits."""
    value = 0
    for bit, image in enumerate(images):
        value ^= image * (high >> bit & 1)
    return value


def test_the_cheapest_maps_are_those_of_trying_every_map():
    """Random differences of offsets of 3 + 3 bits above 2 that stay; a limit cuts the list and changes no order."""
    generator, lengths = np.random.default_rng(5), set()
    for _ in range(30):
        differences = np.unique(generator.integers(1, 1 << 8, generator.integers(1, 40))) & -4
        collision = Collision(0x1C, differences[differences != 0])
        expected = cheapest_maps(2, 5, 3, 3, collision)
        space = Space(2, 5, 8, [collision])
        assert space.cheapest(1000) == expected
        assert space.cheapest(2) == expected[:2]
        lengths.add(len(expected))
    assert {0, 1} < lengths


def test_conflicts_agrees_with_trying_every_map(free):
    """The public count on a sample of maps, and on the ones that only wrong phases would accept."""
    wrong = map_to_swizzle((0, 2, 1, 4))
    assert pattern_degrees(wrong, READ_16, "gfx950") == {2}
    checked = 0
    for images in itertools.islice(every_map(), 5, None, 23):
        swizzle = map_to_swizzle(images)
        for arch in ("gfx950", "gfx942"):
            assert (pattern_degrees(swizzle, READ_16, arch) == {1}) == (images in free[arch])
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
        name,
        lambda lane, n: (lane % across, (n * 64 // across * size + lane // across * size) % tile[1]),
        accesses=min(steps, 4),
    )
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
                slow = lds_conflicts.degrees(table.sets(64), table.banks, place, access.size, active)
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
        assert pattern_degrees(lds.swizzle("row_and_7"), pattern, "gfx950") == {1}
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
    assert pattern_degrees(lds.swizzle("wmma_ops_padding"), pattern, "gfx1151") == {1}


def test_one_side_only_is_seen():
    right, linear = lds.swizzle("row_and_7"), lds.linear(16, 128)
    assert not right.matches(linear)
    assert right.mismatches(linear) == 14 * 128  # rows 0 and 8 stay
    assert right.mismatches(right) == 0
    assert right.matches(right.named("other"))


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


def test_columns_of_dwords_are_freed_by_the_row_number():
    """32 lanes in 32 rows of 128 bytes: the one map onto 32 banks by a single term is the row into the column."""
    rows = lds.Pattern.linear("ds_write_b32", 32, 128)
    columns = lds.Pattern.of("ds_read_b32", lambda lane, n: (lane % 32, lane // 32 * 4))
    found = lds.find_swizzle((32, 128), 4, rows, [columns], ["gfx942"])
    assert found.best.terms == (lds.Term(7, 31, 2),)
    assert found.linear_extra == 2 * 31, "all lanes of each of two phases on one bank"


@pytest.mark.parametrize("element", [0, -1, 3])
def test_elements_that_do_not_fill_rows_are_refused(element):
    with pytest.raises(MfmasimError, match=f"rows of 128 bytes do not hold whole elements of {element} bytes"):
        lds.find_swizzle((16, 128), element, None, [READ_16], ["gfx950"])


def test_the_proof_of_an_access_without_lanes_has_no_pass():
    idle = replace(READ_16, active=np.zeros_like(READ_16.active))
    (line,) = lds.prove(lds.linear(16, 128), [idle], ["gfx950"])
    assert (line.degree, line.extra_passes) == (0, 0)
    assert line.free


def test_a_search_does_not_warn():
    """Tables that are guesses are named in the proof; hundreds of counts in a search would warn hundreds of times."""
    stores = lds.Pattern.of("ds_store_b16", lambda lane, n: (lane % 16, lane // 16 * 2), lanes=32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lds.find_swizzle((16, 32), 2, stores, [], ["gfx1151"])
        assert {line.confidence for line in found.proof()} - {"vendor", "measured"}


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
