"""Every form of argument on every back end: the same bytes, or the same line. Run by test_hiprt_suites.py."""

import array
import ctypes
import math
import mmap
import os
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mfmasim
from mfmasim.devices.hip import HipDevice
from mfmasim.errors import MfmasimError

SOURCE = Path(__file__).with_name("arguments.hip")
EXAMPLES = int(os.environ.get("MFMASIM_TEST_EXAMPLES", "60"))
CODES = ("binary", "source")
"""Without the types of the source, and with them."""
RIGHT = (1.5, 2.5, -3, 4, -5, True)


@cache
def devices():
    """The back ends; opened on use, as doctests collect this file without a runtime."""
    return {"sim": mfmasim.device("sim"), "process": mfmasim.device("hip"), "here": HipDevice()}


@cache
def codes():
    compiled = mfmasim.compile(SOURCE, "gfx942")
    return {"source": compiled, "binary": mfmasim.load(compiled.object.data)}


class Derived(np.ndarray):
    """A class of its own."""


def as_numbers():
    """A number in every form that a caller may give one."""
    numbers = st.one_of(st.integers(-(2**33), 2**33), st.integers(-3, 3), st.booleans(), st.floats(width=32))
    dtypes = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?", "c8", ml_dtypes.bfloat16]

    @st.composite
    def one(draw):
        value = draw(numbers)
        form = draw(st.sampled_from(["python", "scalar", "zero", "swapped", "derived", "bytes", "none", "text"]))
        if form in ("python", "none", "text"):
            return {"python": value, "none": None, "text": str(value)}[form]
        dtype = np.dtype(draw(st.sampled_from(dtypes)))
        with np.errstate(all="ignore"):
            made = np.array(value if math.isfinite(value) and abs(value) < 100 else 7).astype(dtype)
        if form == "bytes":
            return made.tobytes()
        if form == "swapped" and dtype.kind != "V":
            return made.astype(dtype.newbyteorder(">"))
        return {"scalar": made[()], "derived": made.view(Derived)}.get(form, made)

    return one()


def words(form, count=4):
    """Memory, and an object that shows it in some form."""
    memory = np.arange(count, dtype=np.uint32)
    if form == "plain":
        return memory, memory
    if form == "zero":
        memory = np.array(9, np.uint32)
        return memory, memory
    if form == "zero derived":
        memory = np.array(9, np.uint32)
        return memory, memory.view(Derived)
    if form == "zero swapped":
        memory = np.array(9, ">u4")
        return memory, memory
    if form == "swapped":
        memory = memory.astype(">u4")
        return memory, memory
    if form == "swapped fields":
        memory = np.zeros(count, [("a", ">u2"), ("b", "<u2")])
        return memory, memory
    if form == "strided":
        memory = np.arange(2 * count, dtype=np.uint32)
        return memory, memory[::2]
    if form == "reversed":
        return memory, memory[::-1]
    if form == "column":
        memory = np.asfortranarray(memory.reshape(2, -1))
        return memory, memory
    if form == "read-only":
        memory.flags.writeable = False
        return memory, memory
    if form == "empty":
        return memory, memory[:0]
    if form == "derived":
        return memory, memory.view(Derived)
    if form == "matrix":
        return memory, memory.view(np.matrix)
    if form == "masked":
        return memory, np.ma.masked_array(memory, memory > 2)
    if form == "fields":
        return memory, memory.view([("a", "u2"), ("b", "u2")]).view(np.recarray)
    if form == "signed":
        return memory, memory.view(np.int32)
    if form == "floats":
        return memory, memory.view(np.float32)
    if form == "wide":
        return memory, memory.view(np.int64)
    if form == "memoryview":
        return memory, memoryview(memory)
    if form == "bytearray":
        memory = bytearray(4 * count)
        return memory, memory
    if form == "array":
        memory = array.array("I", range(count))
        return memory, memory
    if form == "ctypes":
        memory = (ctypes.c_uint * count)(*range(count))
        return memory, memory
    if form == "mmap":
        memory = mmap.mmap(-1, 4 * count)
        return memory, memory
    if form == "interface":
        return memory, type("Shown", (), {"__array_interface__": memory.__array_interface__, "kept": memory})()
    if form == "dlpack":
        shown = {"__dlpack__": lambda self, **o: memory.__dlpack__(**o), "__dlpack_device__": lambda self: (1, 0)}
        return memory, type("Packed", (), shown)()
    if form == "copies":
        return memory, type("Copies", (), {"__array__": lambda self, *a, **k: memory.copy()})()
    if form == "list":
        return memory, [np.uint32(3), np.uint32(4), memory, np.array(5, ">u4"), None]
    if form == "objects":
        return memory, np.array([None, 1], object)
    if form.startswith("tensor"):
        torch = pytest.importorskip("torch")
        memory = torch.arange(count, dtype=torch.int32)
        return memory, {"tensor": memory, "tensor zero": memory[1], "tensor strided": memory[::2]}[form]
    return memory, {"none": None, "number": 3, "scalar": np.uint32(3), "text": "abc"}[form]


FORMS = [
    "plain", "zero", "zero derived", "zero swapped", "swapped", "swapped fields", "strided", "reversed", "column",
    "read-only", "empty", "derived", "matrix", "masked", "fields", "signed", "floats", "wide", "memoryview",
    "bytearray", "array", "ctypes", "mmap", "interface", "dlpack", "copies", "list", "objects", "none", "number",
    "scalar", "text",
]  # fmt: skip
TENSORS = ["tensor", "tensor zero", "tensor strided"]


def bytes_of(memory):
    if hasattr(memory, "numpy"):
        memory = memory.numpy()
    return memory.tobytes() if hasattr(memory, "tobytes") else bytes(memory)


def outcome(device, code, make):
    """What a launch left in memory, or its error; `make` gives name of kernel, arguments and the memory."""
    kernel, args, memories = make()
    try:
        report = device.launch(code[kernel], 1, 1, args)
    except MfmasimError as error:
        return " and a line ".join(str(error).splitlines())
    return report.ok, [bytes_of(memory) for memory in memories]


def same(code, make):
    """The outcome, which is the same on every device."""
    found = {name: outcome(device, codes()[code], make) for name, device in devices().items()}
    assert found["process"] == found["sim"]
    assert found["here"] == found["sim"]
    assert " and a line " not in found["sim"], "a refusal is one line"
    return found["sim"]


def launch_of(numbers, form, count):
    def make():
        out = np.zeros(8, np.uint32)
        memory, shown = words(form)
        return "bits", [*numbers, out, shown, count], [out, memory] if form != "objects" else [out]

    return make


@given(st.sampled_from(CODES), st.integers(0, 5), as_numbers())
@settings(max_examples=EXAMPLES, deadline=None)
@example("source", 0, 3)
@example("source", 0, True)
@example("source", 0, -2)
@example("source", 1, -2)
@example("binary", 2, np.array(5, ">i4"))
@example("binary", 0, 1e39)
@example("source", 0, np.array(1.5, ">f4"))
@example("source", 0, np.array(3, np.int32))
def test_a_number_in_any_form(code, place, value):
    numbers = list(RIGHT)
    numbers[place] = value
    same(code, launch_of(numbers, "plain", np.int32(4)))


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("form", FORMS + TENSORS)
def test_an_array_in_any_form(code, form):
    count = 0 if form in ("empty", "none") else 1 if "zero" in form else 4
    found = same(code, launch_of([np.float32(1), 2.0, 3, np.uint16(4), np.int64(5), True], form, np.int32(count)))
    if form in ("plain", "derived", "bytearray", "tensor", "dlpack", "zero", "zero derived", "mmap", "array"):
        assert found[0] is True, found
        assert int.from_bytes(found[1][1][:4], "little") == {"zero": 10, "zero derived": 10}.get(
            form, 1 + int.from_bytes(bytes_of(words(form)[0])[:4], "little")
        )


@given(st.data())
@settings(max_examples=EXAMPLES, deadline=None)
def test_views_of_one_memory_in_any_overlap(data):
    spans = [sorted(data.draw(st.tuples(st.integers(0, 12), st.integers(0, 12)))) for _ in range(2)]
    dtypes = data.draw(st.tuples(*[st.sampled_from(["u4", "u2", "u1", ">u4"])] * 2))

    def make():
        memory = np.arange(64, dtype=np.uint32)
        halves = (memory[8:], memory)
        parts = zip(halves, spans, dtypes, strict=True)
        out, shown = (half[first:last].view(dtype) for half, (first, last), dtype in parts)
        return "bits", [*RIGHT, out, shown, np.int32(0)], [memory]

    if spans[0][1] - spans[0][0] >= 8:
        same("binary", make)


def test_a_result_without_dimensions_comes_back():
    def make():
        out = np.array(0, np.uint32)
        return "half", [1.5, out], [out]

    assert same("source", make) == (True, [np.float32(1.5).tobytes()])


@pytest.mark.parametrize(("value", "bits"), [(3, 3.0), (True, 1.0), (-2, -2.0), (np.array(1.5, ">f4"), 1.5)])
def test_a_number_for_a_float_is_its_value(value, bits):
    def make():
        out = np.zeros(1, np.uint32)
        return "half", [value, out], [out]

    assert same("source", make) == (True, [np.float32(bits).tobytes()])
