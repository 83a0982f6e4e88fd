"""Mix and coverage of a compiled kernel: lines that ran how often, lines that never did."""

from __future__ import annotations

import os

import numpy as np

import mfmasim
from mfmasim.devices.coverage import FAMILIES, SOURCE_BYTES, Coverage, Line

SOURCE = """\
#include <hip/hip_runtime.h>
extern "C" __global__ void branchy(unsigned* out, int n) {
  unsigned sum = 0;
#pragma clang loop unroll(disable) vectorize(disable)
  for (int i = 0; i < n; i++)
    sum += out[i * 64 + threadIdx.x];
  if (n > 100) {
    asm volatile("s_nop 7");
    sum ^= 0x55;
  }
  out[threadIdx.x] = sum;
}
"""


def test_debug_information_cannot_name_any_file(tmp_path):
    """Only sources are listed: a device never ends, and other files are no business of a code object."""
    (tmp_path / "k.hip").write_text("int a;\nint b;\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    os.mkfifo(tmp_path / "pipe.hip")
    with (tmp_path / "large.hip").open("wb") as file:
        file.truncate(SOURCE_BYTES + 1)
    for name, listed in {
        "k.hip": True,
        "elsewhere/k.hip": True,
        "secret.txt": False,
        "/dev/zero": False,
        "pipe.hip": False,
        "large.hip": False,
        "a" * 5000 + ".hip": False,
        "\0.hip": False,
    }.items():
        lines = Coverage({name: {1: Line(2, 1)}}).annotated([tmp_path])
        assert any("int b;" in line for line in lines) == listed
        assert not any("secret" in line and "secret.txt" not in line for line in lines)


def test_lines_and_families(tmp_path):
    path = tmp_path / "branchy.hip"
    path.write_text(SOURCE)
    kernel = mfmasim.compile(path, "gfx942")["branchy"]
    data = np.ones((7, 64), np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[data, np.int32(7)])
    assert (data[0] == 7).all()
    coverage = report.coverage
    (lines,) = [lines for name, lines in coverage.files.items() if name.endswith("branchy.hip")]
    assert lines[6].executions == 7
    assert lines[8].executions == 0
    assert lines[11].executions == 1
    assert lines[8].compiled >= 1
    assert any(line.endswith("branchy.hip:8") for line in coverage.never)
    assert 0.5 < coverage.share < 1
    assert sum(line.instructions for one in coverage.files.values() for line in one.values()) + (
        coverage.unattributed
    ) == sum(report.counts.values())
    text = coverage.annotated([tmp_path])
    assert any(line.split()[:2] == ["#####", "8"] and "s_nop" in line for line in text)
    assert set(report.mix) <= set(FAMILIES)
    assert report.mix["VMEM"] == 8
    assert sum(report.mix.values()) == sum(report.counts.values())
