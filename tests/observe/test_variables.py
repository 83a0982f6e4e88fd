"""variables: one past the end of a variable in the LDS lies in the next one."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.lds_shapes import declared_lds

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


PARTS = """
#include <hip/hip_runtime.h>
extern "C" __global__ void parts(const float* a, float* b) {{
  extern __shared__ float all[];
  float *first = all, *second = all + 256;
  unsigned t = threadIdx.x;
  first[t] = a[t]; second[t] = a[t] + 1; __syncthreads();
  {body}
  __syncthreads();
  b[t] = first[t ^ 1] + second[t ^ 3];
}}
"""
FIRST, SECOND = ("f32", (16, 16)), ("f32", 256)


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_declared_parts_of_dynamic_lds(arch, tmp_path):
    bodies = {"right": "first[t] = 0;", "wrong": "first[t + 1] = 0;", "before": "second[int(t) - 1] = 0;"}
    found = {}
    for name, body in bodies.items():
        source = tmp_path / f"{name}.hip"
        source.write_text(PARTS.format(body=body))
        kernel = mfmasim.compile(source, arch=arch)["parts"]
        for lds in (None, {"X": FIRST, "Y": SECOND}, {"Y": (*SECOND, 1024), "X": (*FIRST, 0)}):
            x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
            report = mfmasim.device("sim").launch(kernel, 1, 256, [x, out], 2048, "variables", lds=lds)
            found[name, lds and len(lds["X"])] = [finding.message for finding in report.findings]
    assert not any(found[name, None] or found["right", n] for name in bodies for n in (2, 3))
    for n in (2, 3):
        (past,), (before,) = found["wrong", n], found["before", n]
        assert past.endswith("up to 1 element of 4 bytes past the end of X: that lands in Y[0] (byte 1024 of the LDS)")
        assert "before the beginning of Y: that lands in X[15][15] (byte 1020 of the LDS)" in before


@pytest.mark.parametrize(
    ("lds", "words"),
    [
        ([("x", 1)], "a dict is expected"),
        ({"x": "f32"}, "is not possible"),
        ({1: ("f32", 4)}, "is not possible"),
        ({"x": ("f33", 4)}, "unknown format 'f33' of the LDS variable x"),
        ({"x": ("e2m1fn", 4)}, "unknown format 'e2m1fn' of the LDS variable x"),
        ({"x": ("f32", ())}, "positive sizes"),
        ({"x": ("f32", -4)}, "positive sizes"),
        ({"x": ("f32", (1 << 20, 1 << 20))}, "positive sizes"),
        ({"x": ("f32", 4, -1)}, "has 16 bytes from byte -1"),
        ({"x": ("f32", 4, "0")}, "has 16 bytes from byte '0'"),
        ({"x": ("f32", 1024)}, "has 4,096 bytes from byte 0, the LDS of the launch has 2,048"),
        ({"x": ("f32", 100), "y": ("u8", 1, 399)}, "y begins at byte 399, within x (bytes 0 to 399)"),
        ({"x": ("f32", 512), "y": ("u8", 1)}, "y has 1 bytes from byte 2048"),
    ],
)
def test_a_declaration_that_does_not_fit(lds, words):
    with pytest.raises(MfmasimError) as error:
        declared_lds(lds, 2048, 0)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
