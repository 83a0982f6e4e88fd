"""Shapes, broadcasting, sparse selection, memory and bad input of the matrix arithmetic."""

import tracemalloc

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.matrix.arithmetic.batches import merge
from mfmasim.matrix.models import MODELS
from mfmasim.matrix.request import Operands
from tests.matrix.flat import multiply

ALL = [
    ("cdna3_f32", "f32", "f32"),
    ("cdna_f64", "f64", "f64"),
    ("cdna1_f16", "f16", "f32"),
    ("cdna2_f16", "f16", "f32"),
    ("cdna3_16bit", "f16", "f32"),
    ("cdna3_fp8", "e4m3fnuz", "f32"),
    ("rdna3_f16", "f16", "f32"),
    ("rdna4_bf16_out", "bf16", "bf16"),
    ("cdna_i8", "i8", "i32"),
]
UNSIGNED = {"f64": "u8", "f32": "u4", "i32": "u4", "f16": "u2", "bf16": "u2", "e4m3fnuz": "u1", "i8": "u1"}


def some(source, fmt, shape):
    """Random codes without the highest exponents, so that NaN does not hide differences."""
    codes = source.integers(0, 1 << 16, shape)
    return (codes << {"u8": 46, "u4": 14, "u2": 0, "u1": 0}[UNSIGNED[fmt]] & ((1 << 62) - 1)).astype(UNSIGNED[fmt])


@pytest.mark.parametrize(("model", "fmt", "d_format"), ALL)
def test_leading_axes_broadcast(model, fmt, d_format):
    source = np.random.default_rng(1)
    a, b = some(source, fmt, (3, 1, 4, 8)), some(source, fmt, (5, 8, 2))
    c = some(source, d_format, (2, 1, 1, 4, 2))
    d = multiply(MODELS[model], fmt, fmt, d_format, a, b, c)
    assert d.shape == (2, 3, 5, 4, 2)
    assert d.dtype == np.dtype(UNSIGNED[d_format])
    for place in np.ndindex(2, 3, 5):
        alone = multiply(MODELS[model], fmt, fmt, d_format, a[place[1], 0], b[place[2]], c[place[0], 0, 0])
        np.testing.assert_array_equal(d[place], alone)


@pytest.mark.parametrize(("model", "fmt", "k"), [("cdna3_fp8", "e4m3fnuz", 16), ("cdna3_16bit", "f16", 16)])
def test_tiles_of_one_product_may_be_joined(model, fmt, k):
    """A as a column of tiles, B as a row of tiles: the same bits as the one large product."""
    source = np.random.default_rng(3)
    a, b = some(source, fmt, (2, 6 * 16, k)), some(source, fmt, (2, k, 5 * 16))
    c = some(source, "f32", (2, 96, 80))
    whole = multiply(MODELS[model], fmt, fmt, "f32", a, b, c)
    tiles_a = a.reshape(2, 6, 1, 16, k)
    tiles_b = np.moveaxis(b.reshape(2, 1, k, 5, 16), 3, 2)
    tiles_c = np.swapaxes(c.reshape(2, 6, 16, 5, 16), 2, 3)
    d = multiply(MODELS[model], fmt, fmt, "f32", tiles_a, tiles_b, tiles_c)
    assert d.shape == (2, 6, 5, 16, 16)
    np.testing.assert_array_equal(np.swapaxes(d, 2, 3).reshape(2, 96, 80), whole)
    without = multiply(MODELS[model], fmt, fmt, "f32", tiles_a, tiles_b, np.zeros((16, 16), np.uint32))
    assert without.shape == (2, 6, 5, 16, 16)


def test_tiles_are_joined_where_a_has_columns_of_them_and_b_rows():
    a, b = np.arange(2 * 6 * 4 * 8).reshape(2, 6, 1, 4, 8), np.arange(2 * 5 * 8 * 3).reshape(2, 1, 5, 8, 3)
    c = np.arange(2 * 6 * 5 * 4 * 3).reshape(2, 6, 5, 4, 3)
    joined, shape = merge(Operands(a, b, c), (2, 6, 5))
    assert shape == (2, 6, 4, 5, 3)
    np.testing.assert_array_equal(joined.a, a.reshape(2, 24, 8))
    for x, y in np.ndindex(6, 5):
        np.testing.assert_array_equal(joined.b[:, :, 3 * y : 3 * y + 3], b[:, 0, y])
        np.testing.assert_array_equal(joined.c[:, 4 * x : 4 * x + 4, 3 * y : 3 * y + 3], c[:, x, y])
    for left, right in (
        (a[0, 0], b),
        (a, b[0, 0]),
        (a[:, :1], b),
        (a, b[:, :, :1]),
        (a.repeat(5, 2), b),
        (a, b.repeat(6, 1)),
    ):
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2], c.shape[:-2])
        assert merge(Operands(left, right, c), batch) is None
    assert merge(Operands(a, b, c[:, None]), (2, 2, 6, 5)) is not None
    assert merge(Operands(a[:, :3], b, c), (2, 6, 5)) is None


@pytest.mark.parametrize(
    ("model", "fmt", "d_format"),
    [("cdna3_sparse_16bit", "f16", "f32"), ("rdna4_sparse_bf16_out", "bf16", "bf16"), ("cdna_i8", "i8", "i32")],
)
def test_sparse_selects_rows_of_b(model, fmt, d_format):
    source = np.random.default_rng(4)
    a, b = some(source, fmt, (3, 4, 8)), some(source, fmt, (3, 16, 5))
    c = some(source, d_format, (3, 4, 5))
    pairs = np.sort(np.argsort(source.random((3, 4, 4, 4)), axis=-1)[..., :2], axis=-1)
    selection = (pairs + 4 * np.arange(4)[:, None]).reshape(3, 4, 8)
    d = multiply(MODELS[model], fmt, fmt, d_format, a, b, c, selection=selection)
    for tile, row in np.ndindex(3, 4):
        rows = b[tile, selection[tile, row]]
        one = multiply(MODELS[model], fmt, fmt, d_format, a[tile, row : row + 1], rows, c[tile, row : row + 1])
        np.testing.assert_array_equal(d[tile, row], one[0])


@pytest.mark.parametrize(("model", "fmt", "d_format"), ALL)
def test_empty_batches_are_fine(model, fmt, d_format):
    a, b, c = (np.zeros(s, UNSIGNED[f]) for s, f in (((0, 4, 8), fmt), ((0, 8, 2), fmt), ((0, 4, 2), d_format)))
    assert multiply(MODELS[model], fmt, fmt, d_format, a, b, c).shape == (0, 4, 2)


@pytest.mark.parametrize(
    ("model", "fmt", "shape", "megabytes"),
    [
        ("cdna3_fp8", "e4m3fnuz", (4096, 16, 16, 32), 60),
        ("cdna3_16bit", "f16", (4096, 16, 16, 16), 60),
        ("cdna1_f16", "f16", (2048, 16, 16, 16), 60),
        ("rdna4_16bit", "f16", (1024, 16, 16, 16), 60),
        ("cdna1_f16", "f16", (1, 1024, 1024, 4), 90),
    ],
)
def test_memory_is_bounded(model, fmt, shape, megabytes):
    """Every product at once would take hundreds of megabytes; operands and result are excluded or small."""
    n, rows, columns, k = shape
    source = np.random.default_rng(0)
    a, b = some(source, fmt, (n, rows, k)), some(source, fmt, (n, k, columns))
    c = np.zeros((n, rows, columns), np.uint32)
    tracemalloc.start()
    multiply(MODELS[model], fmt, fmt, "f32", a, b, c)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < megabytes * 1e6


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"a_format": "fp9"}, "unknown matrix element format 'fp9'"),
        ({"d_format": "f8"}, "unknown format of C and D 'f8'"),
        ({"a": np.zeros((16, 15), np.uint16)}, "a has K = 15 (shape (16, 15)) but b has K = 16"),
        ({"c": np.zeros((16, 8), np.uint32)}, "c must end in (16, 16) (M, N), but has shape (16, 8)"),
        ({"a": np.zeros(16, np.uint16)}, "a must have at least two axes"),
        ({"a": np.zeros((16, 16), np.float16)}, "a must be raw f16 codes in an unsigned integer array, not float16"),
        ({"a": np.full((16, 16), 1 << 16)}, "a holds 65536, which is not a code of f16 (16 bits)"),
        ({"b": np.full((16, 16), -1)}, "b holds -1, which is not a code of f16 (16 bits)"),
        (
            {"a": np.zeros((2, 16, 16), np.uint16), "c": np.zeros((3, 16, 16), np.uint32)},
            "leading axes of the operands do not fit together: (2,), (), (3,)",
        ),
        ({"scale_a": np.zeros((16, 1), np.uint8)}, "model cdna3_16bit has no block scales"),
        ({"b": np.zeros((32, 16), np.uint16), "index": np.zeros((16, 15), np.uint8)}, "one position per kept element"),
        ({"b": np.zeros((32, 16), np.uint16), "index": np.zeros((16, 16))}, "index must be raw 2-bit positions"),
        ({"b": np.zeros((32, 16), np.uint16), "index": np.full((16, 16), 4)}, "index holds 4, which is not a code of"),
        ({"index": np.zeros((16, 16), np.uint8)}, "a has K = 32 (shape (16, 16)) but b has K = 16"),
    ],
)
def test_bad_input_is_one_clear_line(change, text):
    call = {
        "a_format": "f16",
        "b_format": "f16",
        "d_format": "f32",
        "a": np.zeros((16, 16), np.uint16),
        "b": np.zeros((16, 16), np.uint16),
        "c": np.zeros((16, 16), np.uint32),
        **change,
    }
    with pytest.raises(MfmasimError) as caught:
        multiply(MODELS["cdna3_16bit"], **call)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_scales_and_chains():
    model = MODELS["cdna4_f8f6f4_scale"]
    a, b, c = np.zeros((4, 64), np.uint8), np.zeros((64, 4), np.uint8), np.zeros((4, 4), np.uint32)
    with pytest.raises(MfmasimError, match=r"scale_a must end in \(4, 2\)"):
        multiply(model, "e2m1fn", "e2m1fn", "f32", a, b, c, scale_a=np.zeros((4, 3), np.uint8))
    with pytest.raises(MfmasimError, match="K of an instruction must be at least 1, not 0"):
        multiply(model, "e2m1fn", "e2m1fn", "f32", a, b, c, k=0)
    with pytest.raises(MfmasimError, match="integer products accumulate in i32, not f32"):
        multiply(MODELS["cdna_i8"], "i8", "i8", "f32", a, b, c)


def test_operands_are_left_alone():
    source = np.random.default_rng(6)
    for model, fmt, d_format in ALL:
        a, b = some(source, fmt, (60, 4, 8)), some(source, fmt, (60, 8, 4))
        c = some(source, d_format, (60, 4, 4))
        copies = [x.copy() for x in (a, b, c)]
        first = multiply(MODELS[model], fmt, fmt, d_format, a, b, c)
        kept = first.copy()
        multiply(MODELS[model], fmt, fmt, d_format, b.swapaxes(1, 2), a.swapaxes(1, 2), c)
        np.testing.assert_array_equal(first, kept)
        for before, after in zip(copies, (a, b, c), strict=True):
            np.testing.assert_array_equal(before, after)
