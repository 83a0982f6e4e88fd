"""variables: one past the end of a variable in the LDS lies in the next one."""

import numpy as np
import pytest

import mfmasim

SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void turn(const float* a, float* b) {{
  __shared__ float first[256];
  __shared__ float second[256];
  unsigned t = threadIdx.x;
  {body}
  __syncthreads();
  b[t] = first[t ^ 1] + second[t ^ 3];
}}
"""
FILL = "first[t] = a[t]; second[t] = a[t] + 1;"
# Body: words of the finding, or none.
BODIES = {
    "right": (FILL, None),
    "one past the end": (
        "first[t] = 0; second[t] = a[t] + 1; __syncthreads(); first[t + 1] = a[t];", "1 element of 4 bytes past",
    ),
    "a loop that ends late": (
        "second[t] = a[t]; __syncthreads(); for (unsigned i = t; i <= 256; i += 64) first[i] = a[i & 255];",
        "lands in second[0] (byte 1024 of the LDS)",
    ),
    "one before the beginning": (
        "first[t] = a[t]; second[t] = 0; __syncthreads(); second[int(t) - 1] = a[t];", "before the beginning of second",
    ),
    "either, by the wave": (
        "float* one = t < 128 ? first : second; for (unsigned i = 0; i < 2; ++i) one[t % 128 + 128 * i] = a[t];", None
    ),
    "a part of either": ("float* one = t & 1 ? first : second; first[t] = second[t] = 0; one[t % 64] = a[t];", None),
    "both, as one": (
        "for (unsigned k = t; k < 512; k += 256) (k < 256 ? first[k] : second[k - 256]) = a[t];", None
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_programs(name, arch, tmp_path):
    body, words = BODIES[name]
    source = tmp_path / "turn.hip"
    source.write_text(SOURCE.format(body=body))
    code = mfmasim.compile(source, arch=arch)
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    report = mfmasim.device("sim").launch(code["turn"], grid=2, block=256, args=[x, out], checks="variables")
    assert len(report.findings) == (words is not None), report.findings
    for finding in report.findings:
        assert (finding.id, finding.severity) == ("variables-past-end", "warning")
        assert words in finding.message
        assert "first" in finding.message
        assert "second" in finding.message
        assert finding.source.endswith("turn.hip:7")
        assert finding.workgroup == (0, 0, 0)
