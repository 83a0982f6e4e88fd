"""The line of C++ that the advice on bank conflicts gives: pasted into the kernel, it removes them and nothing else."""

import re

import numpy as np
import pytest

import mfmasim

FLAT = """
#include <hip/hip_runtime.h>
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void turn(const {kind}* a, {kind}* b) {{
  __shared__ int before[7];
  __shared__ {kind} tile[{size}];
  unsigned t = threadIdx.x;
  if (t < 7) before[t] = 0;
  for (unsigned k = 0; k < 16; ++k) {{ unsigned i = k * 64 + t; {line} tile[i] = a[k * 64 + t]; }}
  __syncthreads();
  for (unsigned k = 0; k < 16; ++k) {{
    unsigned i = t % 32 * 32 + k * 2 + t / 32;
    {line} b[k * 64 + t] = tile[i] + ({number})before[t % 7];
  }}
}}
"""
DYNAMIC = FLAT.replace("__shared__ {kind} tile[{size}]", "extern __shared__ {kind} tile[]")
SQUARE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void turn(const {kind}* a, {kind}* b) {{
  __shared__ {kind} tile[32][32];
  for (unsigned k = 0; k < 16; ++k) {{
    unsigned row = k * 2 + threadIdx.x / 32, col = threadIdx.x % 32, at = row * 32 + col;
    {line} tile[row][col] = a[at];
  }}
  __syncthreads();
  for (unsigned k = 0; k < 16; ++k) {{
    unsigned row = threadIdx.x % 32, col = k * 2 + threadIdx.x / 32;
    {line} b[k * 64 + threadIdx.x] = tile[row][col];
  }}
}}
"""


@pytest.mark.parametrize(
    ("text", "arch", "kind"),
    [
        (FLAT, "gfx942", "float"),
        (FLAT, "gfx1201", "double"),
        (FLAT, "gfx950", "f16x8"),
        (DYNAMIC, "gfx942", "f16x8"),
        (DYNAMIC, "gfx1201", "float"),
        (SQUARE, "gfx942", "float"),
        (SQUARE, "gfx1201", "double"),
    ],
    ids=["flat-float", "flat-double", "flat-f16x8", "dynamic-f16x8", "dynamic-float", "square-float", "square-double"],
)
def test_the_pasted_line_removes_the_conflicts(text, arch, kind, tmp_path):
    """In the units of the declaration: an index of vectors of 16 bytes is no index of dwords."""
    source = tmp_path / "turn.hip"
    dtype, parts = {"float": ("f4", 1), "double": ("f8", 1), "f16x8": ("f2", 8)}[kind]
    data = np.repeat(np.arange(1024, dtype=dtype), parts)
    squares = data.reshape(32, 32, parts)
    right = np.concatenate([squares[:, 2 * k : 2 * k + 2].swapaxes(0, 1).reshape(-1) for k in range(16)])

    def run(line):
        source.write_text(text.format(kind=kind, number="_Float16" if parts > 1 else kind, line=line, size=1024))
        out = np.zeros_like(data)
        kernel = mfmasim.compile(source, arch)["turn"]
        shared = data.nbytes if text == DYNAMIC else 0
        report = mfmasim.device("sim").launch(
            kernel, 1, 64, [data.copy(), out], checks="conflicts", shared_bytes=shared
        )
        assert (out == right).all()
        return report

    before = run("")
    sites = [site for site in before.lds["sites"] if site["change"] and site["extra_passes"]]
    assert before.lds["extra_passes"] > 0
    line = sites[0]["change"]["cpp"]
    head, pasted, left = before.findings[0].message.split("\n")
    assert "bank conflict in tile" in head
    assert pasted == line
    assert re.fullmatch(r"with it, a sample of [\d,]+ accesses has no extra pass instead of [\d,]+", left)
    assert all("\n" not in finding.message for finding in before.findings[1:]), "the advice is stated once"
    assert "tile" in line
    assert run(re.sub(r"//.*", "", line)).lds["extra_passes"] == 0


def test_the_reason_is_stated_where_there_is_no_advice(tmp_path):
    source = tmp_path / "k.hip"
    source.write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void k(const int* at, int* b) {\n'
        "  __shared__ int tile[2048]; int t = threadIdx.x;\n"
        "  for (int k = 0; k < 32; ++k) tile[k * 64 + t] = t;\n  __syncthreads(); b[t] = tile[at[t]]; }\n"
    )
    places = np.random.default_rng(3).integers(0, 2048, 64).astype(np.int32)
    kernel = mfmasim.compile(source, "gfx942")["k"]
    report = mfmasim.device("sim").launch(kernel, 1, 64, [places, np.zeros(64, np.int32)], checks="conflicts")
    (finding,) = report.findings
    assert re.search(
        r"no advice: of \d+ exclusive-ors and paddings of bytes 0\.\.8191 the best leaves", finding.message
    )
