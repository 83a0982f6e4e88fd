"""hipkernels/cast on large tensors: the published shapes as they are launched, and indices beyond 2^31 elements.

A tensor of more than 2^31 elements fits no test machine. Here the kernel's arguments tell its full size, and the
pointers are moved back by what is not there, so that only a window of it lies in memory: the launch is that of the
whole tensor, of which the workgroups of the window are executed.
"""

import numpy as np
import pytest

import mfmasim
from hipkernels.cast import operands, reference
from hipkernels.cast.plan import AT_ONCE, MANY, Part, plan_many, plan_transpose, table
from mfmasim.machine.execution.run import Machine
from mfmasim.machine.launch.layout import prepare
from mfmasim.observe.bounds import Bounds
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for
from tests.longtier import turn

SOURCE = folder("hipkernels") / "cast"
BYTES = {"f32": 4, "f16": 2, "bf16": 2}
POINTER = 8
ROWS, COLS = 1 << 17, (1 << 14) + 128
"""2^31 + 2^24 elements."""
HIGH, SCALE = 256, 0.6


class Window:
    """A launch over a matrix of bf16 whose last rows and columns alone lie in memory."""

    def __init__(self, rows, cols, wide):
        """Memory for the last `HIGH` rows of input and output, and the last `wide` columns of the transposed one."""
        self.x = np.resize(operands.values("bf16", 100_003, "special"), (HIGH, cols))
        self.out, self.turned = np.zeros((HIGH, cols), np.uint8), np.zeros((wide, rows), np.uint8)
        self.numbers = [operands.one(n) for n in (SCALE, 0.0, 7.5)]
        self.missing = [(rows - HIGH) * cols * 2, (rows - HIGH) * cols, (cols - wide) * rows]

    def run(self, kernel, blocks, threads, args, workgroups, pointers=(0, POINTER, 2 * POINTER)):
        """Execute some workgroups of the launch; ids of what goes outside every buffer.

        `pointers` are the places of input, output and transposed output among the bytes of the arguments.
        """
        launch = prepare(kernel, blocks, threads, args)
        given = launch.memory.view(launch.kernarg)
        for place, gone in zip(pointers, self.missing, strict=True):
            address = given[place : place + POINTER].view(np.uint64)
            address -= np.uint64(gone)
        bounds = Bounds(launch)
        machine = Machine(launch, [bounds])
        machine.run(workgroups.start, len(workgroups))
        assert not machine.outcome.stopped
        launch.collect()
        return {f.id for f in bounds.findings()}

    def wrong(self, high, wide):
        """Codes that differ, when the last `high` rows and `wide` columns are cast and all others stay 0."""
        out, turned = np.zeros_like(self.out), np.zeros_like(self.turned)
        fmt = reference.target_format("e4m3", "gfx950")
        out[-high:, -wide:] = reference.cast(self.x[-high:, -wide:], SCALE, fmt, "clamp")
        turned[-wide:, -high:] = out[-high:, -wide:].T
        return int((self.out != out).sum() + (self.turned != turned).sum())


def by_part(code, part, rows, cols, workgroups, wide=128):
    """Workgroups of one part of a plan; what goes outside, and the window."""
    window = Window(rows, cols, wide)
    down, across = part.tiles(2)
    size = [np.int32(down)] if part.load else [np.int64(part.rows), np.int64(part.cols)]
    places = [np.int64(n) for n in (rows, cols, part.first_row, part.first_col)]
    args = [window.x, window.out, window.turned, None, *window.numbers, *places, *size]
    blocks = down * across
    chosen = range(blocks + workgroups.start, blocks)
    return window.run(code[part.kernel("bf16", "e4m3")], blocks, part.threads, args, chosen), window


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """The same kernels with indices of 32 bits."""
    where = tmp_path_factory.mktemp("narrow")
    text = (SOURCE / "transpose.h").read_text()
    for old, new in (
        ("const int64_t at = row * cols + col;", "const int at = (int)(row * cols + col);"),
        ("const int64_t at = col * rows + row;", "const int at = (int)(col * rows + row);"),
        ("[row * cols + col]", "[(int)(row * cols + col)]"),
        ("[col * rows + row]", "[(int)(col * rows + row)]"),
    ):
        assert old in text
        text = text.replace(old, new)
    for name in ("convert.h", "transpose_bf16.hip", "multi.hip"):
        (where / name).write_text((SOURCE / name).read_text())
    (where / "transpose.h").write_text(text)
    return mfmasim.compile(where / "transpose_bf16.hip", arch="gfx950")


def test_tiles_reach_beyond_2_to_the_31():
    (part,) = plan_transpose(ROWS, COLS, 2)
    assert (part.load, part.store, part.tiles(2)) == (8, 8, (512, 129))
    assert ROWS * COLS > 1 << 31
    outside, window = by_part(code_for(SOURCE / "transpose_bf16.hip", "gfx950"), part, ROWS, COLS, range(-1, 0))
    assert outside == set()
    assert window.wrong(256, 128) == 0


def test_single_elements_reach_beyond_2_to_the_31():
    cols = COLS + 37
    *_, part = plan_transpose(ROWS, cols, 2)
    assert part == Part(0, 0, 0, ROWS, COLS, 37)
    outside, window = by_part(code_for(SOURCE / "transpose_bf16.hip", "gfx950"), part, ROWS, cols, range(-37, 0), 37)
    assert outside == set()  # 37 workgroups are 256 rows of 37
    assert window.wrong(256, 37) == 0


@pytest.mark.trap("T44c")
def test_indices_of_32_bits_wrap_and_leave_every_buffer(narrow):
    (part,) = plan_transpose(ROWS, COLS, 2)
    outside, window = by_part(narrow, part, ROWS, COLS, range(-1, 0))
    assert outside == {"bounds-outside-buffer"}
    assert not window.out.any()
    assert not window.turned.any()
    *_, rest = plan_transpose(ROWS, COLS + 37, 2)
    outside, window = by_part(narrow, rest, ROWS, COLS + 37, range(-37, 0), 37)
    assert outside == {"bounds-outside-buffer"}
    assert not window.out.any()


def test_below_2_to_the_31_the_same_kernel_is_right(narrow):
    rows = ROWS // 2
    (part,) = plan_transpose(rows, COLS, 2)
    outside, window = by_part(narrow, part, rows, COLS, range(-1, 0))
    assert outside == set()
    assert window.wrong(256, 128) == 0


def test_one_of_many_tensors_reaches_beyond_2_to_the_31():
    window = Window(ROWS, COLS, 128)
    (launch,) = plan_many([(ROWS, COLS)])
    args = [
        table([[a] for a in (window.x, window.out, window.turned, *window.numbers)], [(ROWS, COLS)], launch.first),
        None,
    ]
    kernel = code_for(SOURCE / "multi.hip", "gfx950")["multi_bf16_e4m3"]
    places = [each * AT_ONCE * POINTER for each in range(3)]
    chosen = range(launch.blocks - 2, launch.blocks)
    assert window.run(kernel, launch.blocks, 512, args, chosen, places) == set()
    assert window.wrong(256, 128) == 0


def test_a_flat_cast_reaches_beyond_2_to_the_31():
    """A grid in which every thread goes round once; its last workgroup is executed."""
    window = Window(ROWS, COLS, 128)
    kernel = code_for(SOURCE / "cast.hip", "gfx950")["cast_bf16_e4m3_clamp"]
    args = [window.x, window.out, None, *window.numbers, np.int64(ROWS * COLS)]
    blocks = ROWS * COLS // 4096
    window.missing = window.missing[:2]
    assert window.run(kernel, blocks, 256, args, range(blocks - 1, blocks), (0, POINTER)) == set()
    out = window.out.reshape(-1)
    want = reference.cast(window.x.reshape(-1)[-4096:], SCALE, reference.target_format("e4m3", "gfx950"), "clamp")
    assert np.array_equal(out[-4096:], want)
    assert not out[:-4096].any()


@pytest.mark.parametrize(
    ("rows", "cols", "size", "text"),
    [
        (1 << 16, 1 << 19, 2, None),
        ((1 << 16) + 1, 1 << 16, 4, None),
        ((1 << 32) + 31, 1, 4, "16777216 workgroups of 256 threads: fewer than 2\\^32 threads"),
    ],
)
def test_a_plan_holds_what_a_dispatch_can_count(rows, cols, size, text):
    if text is None:
        assert all(np.prod(part.tiles(size)) * part.threads < 1 << 32 for part in plan_transpose(rows, cols, size))
        return
    with pytest.raises(ValueError, match=text):
        plan_transpose(rows, cols, size)


LARGE = [
    # rows, columns, input, launches as they are executed
    (2048, 12288, "f32", [("load16_store8", 8 * 96)]),
    (65536, 128, "bf16", [("load8_store8", 256)]),
    (256, 65536, "bf16", [("load8_store8", 512)]),
    (256, 65536, "f32", [("load16_store8", 512)]),
    (65536, 128, "f32", [("load16_store8", 256)]),
    (131072, 5760, "f32", [("load16_store8", 512 * 45)]),
]


@pytest.mark.parametrize(
    ("rows", "cols", "given", "launches"),
    [pytest.param(*row, marks=() if number == 1 else pytest.mark.long) for number, row in enumerate(LARGE)],
)
def test_large_shapes_are_launched_as_planned(rows, cols, given, launches):
    """Every workgroup is executed; of 755 million elements, a quarter of the columns each round (10 GB)."""
    arch = "gfx942"
    pattern = operands.values(given, 1_000_003, "special")  # it repeats, so that its codes do
    codes = reference.cast(pattern, SCALE, reference.target_format("e4m3", arch), "clamp")
    x, want = (np.resize(each, (rows, cols)) for each in (pattern, codes))
    out, turned = np.zeros((rows, cols), np.uint8), np.zeros((cols, rows), np.uint8)
    numbers = [operands.one(n) for n in (SCALE, 0.0, 7.5)]
    code, done = code_for(SOURCE / f"transpose_{given}.hip", arch), []
    for part in plan_transpose(rows, cols, BYTES[given]):
        down, across = part.tiles(BYTES[given])
        kernel, places = code[part.kernel(given, "e4m3")], [np.int64(n) for n in (rows, cols, 0, 0)]
        assert (part.first_row, part.first_col) == (0, 0)
        args = [x, out, turned, None, *numbers, *places, np.int32(down)]
        launch = prepare(kernel, down * across, part.threads, args)
        machine = Machine(launch, [])
        bands = {0, *turn(range(across), 4)} if rows * cols > MANY else range(across)
        for first, count in [(0, None)] if len(bands) == across else [(band * down, down) for band in bands]:
            machine.run(first, count)
        assert not machine.outcome.stopped
        launch.collect()
        done.append((kernel.name.removeprefix(f"cast_transpose_{given}_e4m3_"), down * across))
        width = cols // across
        for band in range(across):
            columns = slice(band * width, (band + 1) * width)
            expected = want[:, columns] if band in bands else np.uint8(0)
            assert (out[:, columns] == expected).all()
            assert (expected == turned[columns].T).all()
    assert done == launches
    assert np.isnan(numbers[1][0])
    assert numbers[2][0] == reference.scale_inv(SCALE)
