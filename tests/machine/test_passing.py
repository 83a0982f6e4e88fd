"""Arguments in order without padding, by name, by number, and as the bytes of the whole segment."""

import functools
import struct

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.verify.arguments import called
from tests.machine import harness

pytestmark = pytest.mark.oracle

BODY = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x10
  s_load_dwordx4 s[8:11], s[0:1], 0x20
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[8:9]
  s_waitcnt vmcnt(0)
  v_mul_lo_u32 v2, v2, s6
  v_add_u32 v2, s10, v2
  v_add_u32 v2, s11, v2
  global_store_dword v1, v2, s[4:5]
  s_endpgm
"""
"""out[i] = factor * in[i] + two dwords behind the pointer to in."""
SLOTS = ("ptr_out p", "pad 8", "factor 4", "pad 4", "pad 4", "pad 4", "ptr_in p", "pad 8")
"""Name and bytes, or p for a pointer, of arguments one after the other."""

KINDS = (
    "args: a list with one entry per argument, a dict by name, or the bytes of the whole segment is expected, not {}"
)


@functools.cache
def kernel(slots=SLOTS, size=48):
    """The kernel with a metadata of hand-written slots."""
    listed, offset = [], 0
    for slot in slots:
        name, width = slot.split(" ") if " " in slot else ("", slot)
        kind = "global_buffer, .address_space: global" if width == "p" else "by_value"
        width = 8 if width == "p" else int(width)
        named = f", .name: {name}" if name else ""
        listed.append(f"      - {{.offset: {offset}, .size: {width}, .value_kind: {kind}{named}}}")
        offset += width
    text = harness.source(BODY, "gfx942", "p" * (size // 8), name="scale")
    head, _, rest = text.partition("    .args:\n")
    text = head + "    .args:\n" + "\n".join(listed) + "\n" + rest[rest.index(".end_amdgpu_metadata") :]
    return mfmasim.load(harness.assemble(text, "gfx942"))["scale"]


def launched(args, program=None, **options):
    """What is written to `out` where arguments name it or hold it."""
    return mfmasim.device("sim").launch(program or kernel(), grid=1, block=64, args=args, checks="bounds", **options)


def arrays():
    return np.zeros(64, np.uint32), np.arange(64, dtype=np.uint32)


def test_padding_may_be_left_out_and_is_zero():
    out, data = arrays()
    assert launched([out, np.int32(3), data]).ok
    assert (out == 3 * np.arange(64)).all()


def test_padding_may_be_passed():
    out, data = arrays()
    launched([out, b"\0" * 8, 3, 0, 0, 0, data, 5 | 7 << 32])
    assert (out == 3 * np.arange(64) + 12).all()


def test_by_name_in_any_order_and_by_number():
    for name in ("factor", 2, np.int64(2)):
        out, data = arrays()
        assert launched({"ptr_in": data, name: np.int32(3), "ptr_out": out}).ok
        assert (out == 3 * np.arange(64)).all()
    out, data = arrays()
    launched({"ptr_in": data, "factor": 3, "ptr_out": out, 7: 40})
    assert (out == 3 * np.arange(64) + 40).all(), "padding by number"


def test_names_of_arguments_in_findings_and_of_undefined_buffers():
    out, data = arrays()
    report = launched({"ptr_in": data[:60], "factor": 1, "ptr_out": out})
    assert "argument 6 (ptr_in)" in report.findings[0].message
    args = {"ptr_in": data, "factor": 1, "ptr_out": out}
    report = mfmasim.device("sim").launch(kernel(), 1, 64, args, checks="uninitialised", undefined=["ptr_in"])
    assert "comes from ptr_in[0], which was never written" in report.findings[0].message


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"ptr_inn": 0}, "unknown argument 'ptr_inn' of scale; did you mean 'ptr_in'?"),
        ({"PTR_OUT": 0}, "unknown argument 'PTR_OUT' of scale; did you mean 'ptr_out'?"),
        ({"zzz": 0}, "unknown argument 'zzz' of scale; allowed: ptr_out, factor, ptr_in"),
        ({"pad": 0}, "unknown argument 'pad' of scale; allowed: ptr_out, factor, ptr_in"),
        ({"ptr_in": None}, "scale: 2 arguments are missing: argument 0 (ptr_out), argument 2 (factor)"),
        ({"ptr_in": None, 0: None}, "scale: an argument is missing: argument 2 (factor)"),
        ({"ptr_in": None, 6: None}, "argument 6 (ptr_in) is given twice, as 'ptr_in' and as 6"),
        ({8: None}, "argument 8: scale has arguments 0 to 7"),
        (
            {"ptr_in": None, "ptr_out": None, "factor": None},
            "argument 2 (factor) is a value of 4 bytes: a NumPy scalar, not NoneType",
        ),
        ([1], "scale takes 3 arguments (ptr_out, factor, ptr_in), or 8 with padding, 1 were given"),
        ({1, 2}, KINDS.format("set")),
        (np.zeros(48, np.uint8), KINDS.format("ndarray")),
        (bytes(40), "args: the segment of scale has 48 bytes; 40 given"),
    ],
)
def test_wrong_arguments_give_one_line(args, text):
    with pytest.raises(MfmasimError) as error:
        launched(args)
    assert str(error.value) == text


def test_only_repeated_names_are_padding():
    """A kernel of a compiler may have a parameter that is named pad: it has to be passed."""
    slots = ("ptr_out p", "other 8", "factor 4", "pad 4", "_pad_1 4", "_pad2 4", "ptr_in p", "last 8")
    out, data = arrays()
    with pytest.raises(MfmasimError, match=r"^scale takes 6 arguments \(ptr_out, other, factor, pad, ptr_in, last\)"):
        launched([out, 3, data], kernel(slots))
    assert launched([out, 0, 3, 0, data, 0], kernel(slots)).ok
    assert (out == 3 * np.arange(64)).all()


def test_names_that_several_arguments_have_or_none_has():
    slots = ("LSE p", "rest 8", "factor 4", "8", "4", "LSE p", "last 8")
    out, data = arrays()
    with pytest.raises(MfmasimError, match=r"several arguments 'LSE': name one by its number \(0, 5\)$"):
        launched({"LSE": out}, kernel(slots))
    launched({0: out, 5: data, "rest": 0, "factor": 3, 3: 0, 4: 0, "last": 0}, kernel(slots))
    assert (out == 3 * np.arange(64)).all()
    with pytest.raises(MfmasimError, match=r"^argument 'out': the metadata of scale names no arguments; pass a list"):
        launched({"out": out}, kernel(("p", "8", "4", "4", "8", "p", "8")))


def test_the_bytes_of_the_segment_and_the_addresses_in_them():
    out, data = arrays()
    raw = struct.pack("<QQIIIIQII", 0, 1, 3, 2, 2, 2, 0, 5, 7)
    report = launched(raw, buffers={0: out, 32: data})
    assert report.ok
    assert (out == 3 * np.arange(64) + 12).all()
    assert "argument 6 (ptr_in)" in launched(bytearray(raw), buffers={0: out, 32: data[:9]}).findings[0].message
    assert launched(raw).findings, "address 0 is no buffer"


def test_a_structure_behind_an_address_of_the_segment():
    out, data = arrays()
    raw = struct.pack("<QQIIIIQII", 0, 1, 3, 2, 2, 2, 0, 5, 7)
    report = launched(raw, buffers={0: out, 32: list(data)})
    assert report.ok
    assert (out == 3 * np.arange(64) + 12).all()


@pytest.mark.parametrize(
    ("args", "buffers", "text"),
    [
        (bytes(48), {44: 0}, "buffers: byte 44 has no room for an address in 48 bytes of arguments"),
        (bytes(48), {-8: 0}, "buffers: byte -8 has no room for an address in 48 bytes of arguments"),
        (bytes(48), {"ptr_in": 0}, "buffers: byte 'ptr_in' has no room for an address in 48 bytes of arguments"),
        (bytes(48), {8: 0}, "buffers: at byte 8 an array or a list is expected, not int"),
        (
            [None, 0, None],
            {8: 0},
            "buffers: only where args is the bytes of the whole segment; else arrays are arguments",
        ),
    ],
)
def test_wrong_buffers_give_one_line(args, buffers, text):
    with pytest.raises(MfmasimError) as error:
        launched(args, buffers=buffers)
    assert str(error.value) == text


@pytest.mark.parametrize(("count", "name"), [(3, "ptr_in"), (8, "factor")])
def test_a_case_that_leaves_out_padding_names_its_arguments(count, name):
    assert called(kernel(), "argument 2", count) == name
