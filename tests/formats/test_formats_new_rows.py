"""A row is all that a format takes: formats of no table are decoded, encoded, packed, explained and drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import find

from mfmasim import formats
from mfmasim.cli import format as verb
from mfmasim.figures.format_table import format_svg
from mfmasim.formats import FormatRow
from mfmasim.testing.drawn_codes import codes
from tests.formats.test_formats_decode import all_codes, same
from tests.formats.test_formats_encode import midpoints
from tests.slow import formats as slow

ROWS = [
    FormatRow("e3m4", 8, 3, 4, 3, "fn"),
    FormatRow("e4m3b11", 8, 4, 3, 11, "fnuz"),
    FormatRow("e4m2", 7, 4, 2, 7, "finite"),
    FormatRow("e5m6", 12, 5, 6, 15, "ieee"),
    FormatRow("e8m3", 12, 8, 3, 127, "ieee"),
    FormatRow("e8m4u2", 13, 8, 4, 127, "ieee", unread_bits=2),
    FormatRow("e6", 6, 6, 0, 31, "scale"),
    FormatRow("e4m4u", 8, 4, 4, 7, "fnu"),
    FormatRow("i12", 12, 0, 0, 0, "signed"),
]


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def fmt(request):
    return formats.format(request.param)


def test_every_code_decodes(fmt):
    wrong = [code for code, value in enumerate(fmt.decode(all_codes(fmt))) if not same(value, slow.decode(fmt, code))]
    assert not wrong


@pytest.mark.parametrize("rounding", ["nearest_even", "toward_zero", "up"])
@pytest.mark.parametrize("overflow", ["saturate", "infinity_or_nan"])
def test_values_around_every_midpoint_encode(fmt, rounding, overflow):
    bits = np.arange(-5000, 5000).astype(np.float32).view(np.uint32) if fmt.integer else midpoints(fmt, 1)
    bits = bits[:: len(bits) // 300]
    f32 = formats.format("f32")
    ours = fmt.encode(bits.view(np.float32), rounding, overflow).tolist()
    theirs = [slow.encode(fmt, slow.decode(f32, int(code)), rounding, overflow) for code in bits]
    assert ours == theirs


def test_codes_pack_and_unpack(fmt):
    every = np.resize(all_codes(fmt), 384)
    dwords = formats.pack(every, fmt)
    assert dwords.size == every.size * fmt.bits // 32
    np.testing.assert_array_equal(formats.unpack(dwords, fmt), every)
    together = sum(int(code) << place * fmt.bits for place, code in enumerate(every))
    assert sum(int(dword) << 32 * place for place, dword in enumerate(dwords)) == together


def test_codes_are_explained_shown_and_drawn(fmt):
    table = formats.value_table(fmt)
    assert [row.code for row in table] == all_codes(fmt).tolist()
    assert all(fmt.name in "\n".join(row.lines()) for row in table)
    if fmt.bits <= 8:
        assert fmt.name in format_svg(fmt)
    assert fmt.name in str(verb.limit_rows(fmt))


def test_codes_can_be_drawn(fmt):
    assert 0 < find(codes(fmt), bool) <= fmt.mask
