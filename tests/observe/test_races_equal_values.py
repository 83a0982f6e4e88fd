"""races: waves that write equal values to the same bytes of the LDS are information, for every width."""

import pytest

from mfmasim.observe.ordering import values
from tests.observe.test_races import BARRIER, WAIT, reported

# v6: 16 bytes for each lane of a wave, the same for both waves; v[8:11]: equal data. s14: the wave. v12: its own data.
REPLICATED = [
    "v_and_b32_e32 v6, 63, v0", "v_add_u32_e32 v8, 3, v6", "v_mul_u32_u24_e32 v9, 0x10305, v6", "v_not_b32_e32 v10, v9",
    "v_mov_b32_e32 v11, 7", "v_lshlrev_b32_e32 v6, 4, v6", "v_lshrrev_b32_e32 v12, 6, v0",
    "v_readfirstlane_b32 s14, v12",
]  # fmt: skip
WIDTHS = {
    "ds_write_b8 v6, {data}": "v9", "ds_write_b8_d16_hi v6, {data}": "v9", "ds_write_b16 v6, {data}": "v9",
    "ds_write_b16_d16_hi v6, {data}": "v9", "ds_write_b32 v6, {data}": "v9", "ds_write_b64 v6, {data}": "v[8:9]",
    "ds_write_b96 v6, {data}": "v[8:10]", "ds_write_b128 v6, {data}": "v[8:11]",
    "ds_write2_b32 v6, {data}, v8 offset1:2": "v9", "ds_write2_b64 v6, {data}, v[10:11] offset1:1": "v[8:9]",
}  # fmt: skip
CHANGED = {"v9": "v9", "v[8:9]": "v9", "v[8:10]": "v10", "v[8:11]": "v11"}
HIGH = "v_lshl_or_b32 {register}, v12, {bit}, {register}"


@pytest.fixture(autouse=True, params=[values.KEPT, 0], ids=["kept", "at-once"])
def _when(request, monkeypatch):
    """Writes are kept until their values matter, or followed at once."""
    monkeypatch.setattr(values, "KEPT", request.param)


def severities(body, grid=3):
    return [(f.id, f.severity) for f in reported([*REPLICATED, *body], grid=grid)]


@pytest.mark.parametrize("write", WIDTHS)
def test_equal_values_are_information(write):
    data = WIDTHS[write]
    store = write.format(data=data)
    found = severities([store, WAIT, "ds_read_b32 v4, v6", WAIT, BARRIER, "ds_read_b32 v4, v6"])
    assert set(found) == {("races-same-value", "info")}
    # One bit of the last register differs between the waves: the lowest that every width stores.
    bit = 16 if "d16_hi" in write else 0
    register = CHANGED[data]
    differing = [f"v_and_b32_e32 {register}, 0xfffefffe, {register}", HIGH.format(register=register, bit=bit)]
    assert ("races-no-barrier", "error") in severities([*differing, store, WAIT, BARRIER])


def test_a_wave_that_has_not_written_the_value_may_not_read_it():
    body = ["s_cmp_eq_u32 s14, 1", "s_cbranch_scc1 .Lread", "ds_write_b32 v6, v9", ".Lread:", "ds_read_b32 v4, v6"]
    assert severities(body) == [("races-no-barrier", "error")]


@pytest.mark.parametrize(("value", "expected"), [("v9", ("same-value", "info")), ("v8", ("no-barrier", "error"))])
def test_a_wave_reads_what_it_has_written_itself(value, expected):
    """Each wave writes to its own place; later wave 0 writes to that of wave 1, which reads it."""
    body = [
        "ds_write_b32 v2, v9",
        WAIT,
        BARRIER,
        "s_cmp_eq_u32 s14, 0",
        "s_cbranch_scc1 .Lwrite",
        "ds_read_b32 v4, v2",
        "s_branch .Lend",
        ".Lwrite:",
        f"ds_write_b32 v3, {value}",
        ".Lend:",
    ]
    assert severities(body) == [(f"races-{expected[0]}", expected[1])]


def test_values_are_compared_in_every_workgroup():
    """In all workgroups but the last one both waves write 0."""
    part = ["s_cmp_eq_u32 s2, {last}", "s_cselect_b32 s14, s14, 0", "v_mov_b32_e32 v9, s14", "ds_write_b32 v6, v9"]
    assert severities([line.format(last=7) for line in part]) == [("races-same-value", "info")]
    assert severities([line.format(last=2) for line in part]) == [("races-no-barrier", "error")]


def test_registers_that_change_after_the_write():
    """Both waves store the same value, and use its register again before the block is over."""
    body = ["ds_write_b32 v6, v9", "v_mov_b32_e32 v9, v12"]
    assert severities(body) == [("races-same-value", "info")]
    body = ["v_mov_b32_e32 v10, v9", "v_mov_b32_e32 v9, v12", "ds_write_b32 v6, v9", "v_mov_b32_e32 v9, v10"]
    assert severities(body) == [("races-no-barrier", "error")]


def test_an_atomic_operation_is_no_equal_value():
    assert ("races-no-barrier", "error") in severities(["ds_write_b32 v6, v9", "ds_or_b32 v6, v9"])
