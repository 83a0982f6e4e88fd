"""hipkernels/cast, with transposition: every tile, whole plans as they are launched, bank conflicts, wrong kernels."""

import numpy as np
import pytest

import mfmasim
from hipkernels.cast import operands, reference
from hipkernels.cast.plan import Part, plan_cascade, plan_transpose
from mfmasim.resources import folder
from mfmasim.verify import verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.cast.family import caught, passes, right, runs, wrong

QUICK = {"tile_read_before_it_is_written", "transposed_not_saturated", "strides_exchanged", "rest_one_too_many"}
BYTES = {"f32": 4, "f16": 2, "bf16": 2}


@pytest.mark.parametrize(("case", "arch"), right("transpose_", lambda i, *_: (i + i // 2) % 3 == 0))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", wrong("transpose_", QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught("transpose_", name)


PLANS = [
    # rows, columns, bytes of an element, launches: load, store, first row, rows, first column, columns
    (320, 2880, 2, [(8, 2, 0, 320, 0, 2816), (4, 2, 0, 320, 2816, 64)]),
    (320, 2880, 4, [(8, 2, 0, 320, 0, 2880)]),
    (496, 2880, 2, [(0, 0, 0, 496, 0, 2880)]),
    (2048, 2880, 2, [(8, 8, 0, 2048, 0, 2816), (4, 8, 0, 2048, 2816, 64)]),
    (2048, 2880, 4, [(8, 8, 0, 2048, 0, 2880)]),
    (640, 128, 2, [(8, 8, 0, 512, 0, 128), (8, 4, 512, 128, 0, 128)]),
    (576, 128, 2, [(8, 8, 0, 512, 0, 128), (8, 2, 512, 64, 0, 128)]),
    (1481, 677, 2, [(8, 8, 0, 1280, 0, 640), (0, 0, 0, 1280, 640, 37), (0, 0, 1280, 201, 0, 677)]),
    (131072, 5760, 4, [(16, 8, 0, 131072, 0, 5760)]),
    (1, 3221, 4, [(0, 0, 0, 1, 0, 3221)]),
    (64, 33, 2, [(0, 0, 0, 64, 0, 33)]),
    (0, 128, 2, []),
    (128, 0, 4, []),
    (2048, 12288, 4, [(16, 8, 0, 2048, 0, 12288)]),
    (768, 1024, 4, [(16, 8, 0, 768, 0, 1024)]),
    (256, 65536, 2, [(8, 8, 0, 256, 0, 65536)]),
    (120, 2080, 2, [(0, 0, 0, 120, 0, 2080)]),
    (2333, 1, 4, [(0, 0, 0, 2304, 0, 1), (0, 0, 2304, 29, 0, 1)]),
]


@pytest.mark.parametrize(("rows", "cols", "size", "launches"), PLANS)
def test_the_plan_of_each_shape(rows, cols, size, launches):
    assert plan_transpose(rows, cols, size) == [Part(*launch) for launch in launches]


def test_every_plan_covers_each_element_once():
    for size in (2, 4):
        for rows in (1, 31, 64, 128, 256, 320, 496, 511, 512, 576, 577, 640, 1481):
            for cols in (1, 2, 31, 32, 33, 64, 96, 128, 160, 192, 224, 256, 677):
                seen = np.zeros((rows, cols), np.int8)
                parts, cascade = plan_transpose(rows, cols, size), plan_cascade(rows, cols, size)
                for part in parts + cascade:
                    seen[part.first_row :, part.first_col :][: part.rows, : part.cols] += 1
                    down, across = part.tiles(size)
                    if part.load:
                        assert down * 32 * part.store == part.rows
                        assert across * 32 * part.load // size == part.cols
                assert (seen == 2).all(), (rows, cols, size)
                assert len(parts) <= 4
                assert len(cascade) <= 10


@pytest.mark.trap("T44b")
@pytest.mark.parametrize(
    ("title", "sizes"),
    [
        ("transpose_part[part=odd,kernel=cast_transpose_f32_e4m3_load8_store2]", {"write of 2"}),
        ("transpose_part[part=corner,kernel=cast_transpose_f32_e4m3_rest]", set()),
        ("transpose_part[part=wide,kernel=cast_transpose_f32_e4m3_load16_store4]", {"write of 4"}),
        ("transpose[given=bf16,load=8,store=8]", set()),
    ],
)
def test_stores_at_odd_strides_are_told(title, sizes):
    result = verify_case(next(case for case, _ in runs("transpose_") if case.title == title), "gfx950")
    found = [f for f in result.findings if f.check == "alignment"]
    assert {" ".join(f.message.split()[:3]) for f in found} == sizes
    assert {f.id for f in found} <= {"alignment-global"}
    assert all(f.severity == "info" for f in found)


def execute(arch, given, target, rows, cols, data="special", checks="all", plan=plan_transpose):
    """Launch a whole plan over one matrix; outputs, and what was launched as the reports tell it."""
    x = operands.values(given, rows * cols, data).reshape(rows, cols)
    code, short = (code_for(folder("hipkernels") / "cast" / f"transpose_{name}.hip", arch) for name in (given, "ways"))
    device = mfmasim.device("sim")
    out, turned = (np.full(shape, operands.SENTINEL, np.uint8) for shape in ((rows, cols), (cols, rows)))
    scale, amax, inverse = np.array([0.6], np.float32), np.zeros(1, np.float32), np.full(1, 7.5, np.float32)
    launched = []
    for part in plan(rows, cols, BYTES[given]):
        down, across = part.tiles(BYTES[given])
        size = [np.int32(down)] if part.load else [np.int64(part.rows), np.int64(part.cols)]
        places = [np.int64(n) for n in (rows, cols, part.first_row, part.first_col)]
        args = [x, out, turned, None, scale, amax, inverse, *places, *size]
        kernel = (short if part.store == 1 else code)[part.kernel(given, target)]
        report = device.launch(kernel, down * across, 512 if part.load else 256, args, 0, checks)
        assert not [f for f in report.findings if f.severity != "info"]
        launched.append((report.kernel, report.grid[0]))
    want = reference.cast(x, scale[0], reference.target_format(target, arch), "clamp")
    np.testing.assert_array_equal(out, want)
    assert turned.tobytes() == out.T.tobytes()
    highest = reference.amax(x, 0.0)
    assert amax[0] == highest or np.isnan(amax[0]) == np.isnan(highest) == True  # noqa: E712
    assert inverse[0] == reference.scale_inv(scale[0])
    return launched


SMALL = [
    (1, 1),
    (8, 8),
    (43, 43),
    (1, 768),
    (768, 1),
    (64, 33),
    (256, 43),
    (43, 256),
    (256, 256),
    (640, 128),
    (576, 128),
]


@pytest.mark.parametrize(("rows", "cols"), SMALL)
def test_whole_plans_of_small_shapes(rows, cols):
    turn = rows + cols
    given, arch = ("f32", "bf16", "f16")[turn % 3], ("gfx942", "gfx950")[turn % 2]
    given = "f16" if (rows, cols) == (640, 128) else given  # published for 16 bits
    planned = plan_transpose(rows, cols, BYTES[given])
    launched = execute(arch, given, ("e4m3", "e5m2")[turn % 2], rows, cols)
    assert [name for name, _ in launched] == [part.kernel(given, ("e4m3", "e5m2")[turn % 2]) for part in planned]


@pytest.mark.trap("T38")
def test_320_rows_of_2880_take_tiles_and_not_the_general_kernel():
    """The published text says that this shape falls back to the general kernel; two launches of tiles are executed."""
    assert execute("gfx950", "bf16", "e4m3", 320, 2880, checks=["bounds"]) == [
        ("cast_transpose_bf16_e4m3_load8_store2", 5 * 22),
        ("cast_transpose_bf16_e4m3_load4_store2", 5 * 1),
    ]


def test_the_full_cascade_of_496_rows_takes_five_launches():
    """256, 128, 64, 32 rows by tiles, and 16 by the kernel without."""
    launched = execute("gfx950", "bf16", "e4m3", 496, 128, plan=plan_cascade)
    stores = ["load8_store8", "load8_store4", "load8_store2", "load8_store1", "rest"]
    assert launched == [
        (f"cast_transpose_bf16_e4m3_{tail}", blocks) for tail, blocks in zip(stores, [1, 1, 1, 1, 8], strict=True)
    ]


@pytest.mark.long
@pytest.mark.parametrize("given", ["f32", "bf16"])
@pytest.mark.parametrize(
    ("rows", "cols"),
    [
        (320, 2880),
        (496, 2880),
        (2048, 2880),
        (1481, 677),
        (1, 3221),
        (2333, 1),
        (120, 2080),
        (768, 1024),
        (640, 128),
        (576, 128),
        (64, 33),
    ],
)
def test_whole_plans_of_large_shapes(rows, cols, given):
    launched = execute("gfx942", given, "e4m3", rows, cols, checks=["bounds"])
    assert [name for name, _ in launched] == [p.kernel(given, "e4m3") for p in plan_transpose(rows, cols, BYTES[given])]


# CDNA4 has 64 banks and takes all lanes of a 4-byte read at once: with 33 words to a row, lanes 0 and 63 meet.
DEGREES = [
    ("gfx942", 8, 1, 16), ("gfx942", 4, 1, 32), ("gfx942", 2, 2, 16),
    ("gfx950", 8, 1, 16), ("gfx950", 4, 2, 32), ("gfx950", 2, 2, 16),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "store", "padded", "bare"), DEGREES)
def test_what_the_padding_is_good_for(arch, store, padded, bare):
    """The worst degree of an access to the LDS, with and without the column of padding."""
    for degree, title in (
        (padded, f"transpose[given=f32,load=16,store={store}]"),
        (bare, f"transpose_unpadded[store={store}]"),
    ):
        case = next(case for case, _ in runs("transpose") if case.title == title)
        assert verify_case(case, arch).lds["worst_degree"] == degree
