"""Conflicts of kernels that ran: every access of every wave is counted, by source line, worst first."""

import re

import numpy as np
import pytest

import mfmasim

TRANSPOSE = """
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(256) void transpose(const float* in, float* out, int n) {{
  __shared__ float tile[32][32 + {pad}];
  int x = threadIdx.x & 31, y = threadIdx.x >> 5;
  for (int r = y; r < 32; r += 8) tile[r][x] = in[(blockIdx.y * 32 + r) * n + blockIdx.x * 32 + x];
  __syncthreads();
  for (int r = y; r < 32; r += 8) out[(blockIdx.x * 32 + r) * n + blockIdx.y * 32 + x] = tile[x][r];
}}
"""


@pytest.fixture(scope="module")
def transposed(tmp_path_factory):
    """Report of the transpose of 128x128 floats, by padding and architecture."""

    def run(pad, arch, **options):
        source = tmp_path_factory.mktemp("transpose") / "transpose.hip"
        source.write_text(TRANSPOSE.format(pad=pad))
        data = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
        out = np.zeros_like(data)
        kernel = mfmasim.compile(source, arch)["transpose"]
        report = mfmasim.device("sim").launch(kernel, (4, 4), 256, [data, out, 128], **options)
        assert (out == data.T).all()
        return report

    return run


# 16 workgroups of 4 waves, 4 stores and 4 loads each. Without padding the 32 lanes of a column lie in one of 32 banks:
# degree 32 in both phases of gfx942; in two of 64 banks on gfx950, whose one phase holds two columns: 32 too if the
# columns share their banks, and 16 as rows 0 and 1 lie 32 banks apart.
@pytest.mark.parametrize(("arch", "degrees"), [("gfx942", (32, 32)), ("gfx950", (16,))])
def test_every_access_of_a_transpose_is_counted(transposed, arch, degrees):
    report = transposed(0, arch)
    assert report.lds["accesses"] == 16 * 4 * 8
    worst, *others = report.lds["sites"]
    assert worst["instruction"] == "ds_read_b32"
    assert worst["source"].endswith("transpose.hip:8")
    assert worst["degrees"] == degrees
    reads = sum(site["executions"] for site in report.lds["sites"] if site["instruction"].startswith("ds_read"))
    assert reads == 16 * 4 * 4
    assert report.lds["extra_passes"] == reads * sum(degree - 1 for degree in degrees)
    assert all(site["extra_passes"] == 0 for site in others if site["instruction"].startswith("ds_write"))
    (finding,) = [f for f in report.findings if f.check == "conflicts"][:1]
    assert finding.severity == "info"
    assert "has no extra pass instead of" in finding.message
    assert report.ok


# Rows of 33 dwords: lane x of row r meets bank 33x + r. On 32 banks these differ; on 64 banks, two rows a phase, only
# lane 31 of the second row (33 * 31 + 1 = 1024) falls on a bank that is taken, that of lane 0.
@pytest.mark.parametrize(("arch", "extra"), [("gfx942", 0), ("gfx950", 16 * 4 * 4)])
def test_padding_frees_it(transposed, arch, extra):
    report = transposed(1, arch)
    assert report.lds["extra_passes"] == extra
    assert report.lds["accesses"] == 16 * 4 * 8
    assert len([f for f in report.findings if f.check == "conflicts"]) == (extra > 0)


SWIZZLED = """
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(256) void transpose(const float* in, float* out, int n) {{
  __shared__ float tile[32 * 32];
  char* lds = (char*)tile;
  int x = threadIdx.x & 31, y = threadIdx.x >> 5;
  for (int r = y; r < 32; r += 8) {{
    unsigned at = 4 * (32 * r + x);
    {write}
    *(float*)(lds + at) = in[(blockIdx.y * 32 + r) * n + blockIdx.x * 32 + x];
  }}
  __syncthreads();
  for (int r = y; r < 32; r += 8) {{
    unsigned at = 4 * (32 * x + r);
    {read}
    out[(blockIdx.x * 32 + r) * n + blockIdx.y * 32 + x] = *(float*)(lds + at);
  }}
}}
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1151", "gfx1201"])
def test_the_advised_exclusive_or_in_the_source_frees_every_access(arch, tmp_path):
    """The sentence of the finding, written into the kernel as it stands: right values and no extra pass."""

    def run(write, read):
        source = tmp_path / "swizzled.hip"
        source.write_text(SWIZZLED.format(write=write, read=read))
        data = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)
        out = np.zeros_like(data)
        kernel = mfmasim.compile(source, arch)["transpose"]
        report = mfmasim.device("sim").launch(kernel, (4, 4), 256, [data, out, 128])
        return report, (out == data.T).all()

    before, right = run("", "")
    assert right
    assert before.lds["extra_passes"] > 0
    (advice,) = {site["change"]["bytes"] for site in before.lds["sites"] if site["change"]}
    term = re.search(r"offset \^= (.+);  // byte offset of each access to bytes 0\.\.4095", advice).group(1)
    line = f"at ^= {term.replace('offset', 'at')};"
    after, right = run(line, line)
    assert right
    assert after.lds["accesses"] == before.lds["accesses"]
    assert after.lds["extra_passes"] == 0
    assert not [f for f in after.findings if f.check == "conflicts"]
    assert not run(line, "")[1], "on one side only, values are wrong"


def test_nothing_is_counted_when_the_check_is_off(transposed):
    report = transposed(0, "gfx942", checks="bounds")
    assert set(report.lds) == {"bytes"}


ARRAYS = """
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(64) void two(const int* in, int* out) {
  __shared__ int A[1024];
  __shared__ int B[1024];
  int t = threadIdx.x;
  int a = t % 32 * 32 + t / 32, b = t % 16 * 64 + t / 16;
  A[a] = in[t]; B[b] = in[t] + 1;
  __syncthreads();
  out[t] = A[a ^ 32] + A[a ^ 96] + B[b ^ 64];
}
"""


def test_a_line_and_array_is_one_finding_and_an_array_has_its_advice_once(tmp_path):
    source = tmp_path / "two.hip"
    source.write_text(ARRAYS)
    kernel = mfmasim.compile(source, "gfx942")["two"]
    data = np.arange(64, dtype=np.int32)
    report = mfmasim.device("sim").launch(kernel, 1, 64, [data, data.copy()], checks="conflicts")
    sites = [site for site in report.lds["sites"] if site["extra_passes"]]
    found = [(f.source.rpartition(":")[2], re.search(r"conflict in (\w+)", f.message)[1]) for f in report.findings]
    assert (len(set(found)), len(found), len(sites)) == (4, 4, 5)
    assert {array for _, array in found} == {"A", "B"}
    for array in "AB":
        own = [f.message for f, (_, name) in zip(report.findings, found, strict=True) if name == array]
        advised = report.findings[[name for _, name in found].index(array)].source
        assert own[0].count(f"// before each access to element i of {array}") == 1
        assert all(text.endswith(f"; the advice at {advised} is for this line, too") for text in own[1:])


def test_a_kernel_of_triton_gets_parameters_of_a_layout(transposed, monkeypatch):
    """Its compiler chooses the layout: no line of C++ could be pasted."""
    source_at = mfmasim.kernels.Kernel.source_at
    monkeypatch.setattr(
        mfmasim.kernels.Kernel, "source_at", lambda self, pc: source_at(self, pc).replace(".hip:", ".py:")
    )
    report = transposed(0, "gfx942")
    message = next(f.message for f in report.findings if f.check == "conflicts")
    assert (
        "; in a layout of swizzled_shared with vec = 4 bytes, maxPhase = 32, perPhase = the rows of 128 bytes"
        in message
    )
    assert "before each access" not in message
