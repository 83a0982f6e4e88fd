"""What kernels print: each conversion as C's library prints it, the buffer's frames, and assertions."""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfmasim
from mfmasim.cli import main
from mfmasim.machine.launch import printf as buffers
from mfmasim.machine.launch.printf import CONVERSION, formatted
from tests.oracles import require

SOURCE = r"""
#include <hip/hip_runtime.h>
#include <cassert>
#include <cstdio>

__global__ void everything(const char *name, const char *format, int *returned) {
  const char *none = "";
  returned[0] = printf("%d %u %x %#o %c %5s|%-5s|%.2s|%%\n", -5, 4000000000u, 255, 8, 'z', "ab", "cd", "efgh");
  returned[1] = printf("%f %.3e %g %a %8.2f\n", 1.5, 12345.678, 1e-7, 0.75, (double)-2.25f);
  returned[2] = printf("%lld %hhd %llu %*d %.*f\n", -(1ll << 40), (signed char)-3, ~0ull, 6, 42, 2, 3.14159);
  returned[3] = printf("[%s] [%s] %p\n", name, none, (void *)0x1234);
  returned[4] = printf(format, 7, name);
  printf("%g", (_Float16)0.5);
}

__global__ void lanes(int count) {
  int lane = threadIdx.x;
  if (lane % 3 == 0 && lane < count) printf("block %d lane %d\n", (int)blockIdx.x, lane);
}

__global__ void checked(const int *values) {
  int value = values[threadIdx.x];
  assert(value != 13 && "unlucky");
}

__global__ void flood(int lines) {
  for (int i = 0; i < lines; ++i) printf("line %d of a long story\n", i);
}
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1201"])
def code(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("printf") / "printing.hip"
    file.write_text(SOURCE)
    return mfmasim.compile(file, request.param, compiler="ziglang")


def text(value):
    return np.frombuffer(value.encode() + b"\0", np.uint8).copy()


def launch(kernel, args, grid=1, block=1):
    return mfmasim.device("sim").launch(kernel, grid, block, args)


def test_every_kind_of_argument_arrives(code):
    returned = np.full(5, -9, np.int32)
    report = launch(code["everything"], [text("a name"), text("%d means %s\n"), returned])
    assert report.printed == [
        "-5 4000000000 ff 010 z    ab|cd   |ef|%",
        "1.500000 1.235e+04 1e-07 0x1.8p-1    -2.25",
        "-1099511627776 -3 18446744073709551615     42 3.14",
        "[a name] [] 0x1234",
        "7 means a name",
        "0.5",
    ]
    assert report.findings == []
    assert returned.tolist() == [0] * 5


def test_lanes_and_workgroups_print_once_each(code):
    report = launch(code["lanes"], [np.int32(40)], grid=3, block=64)
    expected = [f"block {block} lane {lane}" for block in range(3) for lane in range(0, 40, 3)]
    assert sorted(report.printed) == sorted(expected)
    assert [line for line in report.printed if line.startswith("block 0")] == expected[:14]


def test_an_assertion_prints_its_line_and_stops_the_kernel(code):
    values = np.arange(64, dtype=np.int32)
    report = launch(code["checked"], [values], block=64)
    assert len(report.printed) == 1
    line, said = report.printed[0].split(": ", 1)
    number = SOURCE.splitlines().index('  assert(value != 13 && "unlucky");') + 1
    assert line == f"printing.hip:{number}"
    assert 'void checked(const int *): Device-side assertion `value != 13 && "unlucky"\' failed.' in said
    assert [finding.check for finding in report.findings] == ["trap"]
    assert f"printing.hip:{number}" in report.findings[0].message
    values[13] = 0
    report = launch(code["checked"], [values], block=64)
    assert (report.printed, report.findings) == ([], [])


def test_an_executor_prints_the_same(code):
    with ThreadPoolExecutor(2) as executor:
        report = mfmasim.device("sim").launch(code["lanes"], 3, 64, [np.int32(40)], checks="none", executor=executor)
    assert report.printed == launch(code["lanes"], [np.int32(40)], grid=3, block=64).printed


def test_the_command_line_prints_what_the_kernel_prints(tmp_path, capsys):
    source = tmp_path / "hello.hip"
    source.write_text(
        '#include <hip/hip_runtime.h>\n__global__ void k() { printf("hello %d\\n", (int)threadIdx.x); }\n'
    )
    arguments = ["run", str(source), "--arch", "gfx942", "--block", "2"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["hello 0", "hello 1"]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["printed"] == ["hello 0", "hello 1"]


def test_a_full_buffer_is_a_finding_and_loses_only_the_end(code, monkeypatch):
    monkeypatch.setattr("mfmasim.machine.launch.layout.PRINTF_BYTES", 400)
    report = launch(code["flood"], [np.int32(50)])
    frame = 4 + 8 + 8
    kept = (400 - buffers.HEADER_BYTES) // frame
    assert report.printed == [f"line {i} of a long story" for i in range(kept)]
    assert [(finding.check, finding.severity) for finding in report.findings] == [("printf", "warning")]
    assert "400 bytes is full" in report.findings[0].message
    assert launch(code["flood"], [np.int32(kept - 2)]).findings == []


def test_a_frame_that_was_never_filled_is_a_finding():
    whole = struct.pack("<I", 20 << 2 | 2) + struct.pack("<QQ", 0xABC, 5)
    buffer = struct.pack("<II", 60, 1000) + whole + bytes(40) + whole
    said, wrong = buffers.printed(buffer, {0xABC: "n=%d\n"}, lambda _: b"")
    assert said == "n=5\n"
    assert wrong == "the frame at byte 28 of the printf buffer was never filled in"


def test_a_hash_without_a_format_is_said():
    frame = struct.pack("<I", 12 << 2 | 2) + struct.pack("<Q", 0x1234)
    said, wrong = buffers.printed(struct.pack("<II", 12, 1000) + frame, {}, lambda _: b"")
    assert (said, wrong) == ("(printf format 0000000000001234 is not in the code object's metadata)\n", "")


FLAGS = st.lists(st.sampled_from("-+ #0"), unique=True).map("".join)
WIDTH = st.one_of(st.just(""), st.integers(1, 30).map(str))
PRECISION = st.one_of(st.just(""), st.just("."), st.integers(0, 25).map(lambda n: f".{n}"))
SIZES = {"hh": ctypes.c_int, "h": ctypes.c_int, "": ctypes.c_int, "l": ctypes.c_long, "ll": ctypes.c_longlong}
INTEGERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-300, 300))


def in_c(specification, value):
    """C's own opinion."""
    require("C's library", sys.platform.startswith("linux"), "snprintf of glibc")
    room = ctypes.create_string_buffer(4096)
    ctypes.CDLL(None).snprintf(room, ctypes.c_size_t(4096), specification.encode(), value)
    return room.value.decode()


def ours(specification, value):
    match = CONVERSION.fullmatch(specification)
    return formatted(match, [], value)


@pytest.mark.oracle
@settings(max_examples=400, deadline=None)
@given(FLAGS, WIDTH, PRECISION, st.sampled_from(sorted(SIZES)), st.sampled_from("diouxX"), INTEGERS)
def test_integers_print_as_in_c(flags, width, precision, length, kind, value):
    specification = f"%{flags}{width}{precision}{length}{kind}"
    bits = value if length in ("l", "ll") else ctypes.c_int(value).value
    assert ours(specification, bits & (2**64 - 1)) == in_c(specification, SIZES[length](bits))


@pytest.mark.oracle
@settings(max_examples=400, deadline=None)
@given(FLAGS, WIDTH, PRECISION, st.sampled_from("fFeEgGaA"), st.one_of(st.floats(), st.floats(-1000, 1000)))
def test_floats_print_as_in_c(flags, width, precision, kind, value):
    specification = f"%{flags}{width}{precision}{kind}"
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    assert ours(specification, bits) == in_c(specification, ctypes.c_double(value))


@pytest.mark.oracle
@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["", "-"]), WIDTH, PRECISION, st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_strings_print_as_in_c(flags, width, precision, value):
    specification = f"%{flags}{width}{precision}s"
    assert ours(specification, value) == in_c(specification, ctypes.c_char_p(value.encode()))
