"""lanes: exchanges that read lanes which are off, or of the other half of a wave: right and wrong kernels."""

import numpy as np
import pytest

import mfmasim
from tests.observe.small_kernels import compiled, first_line, symbol

HEAD = "#include <hip/hip_runtime.h>\n"
REDUCE = "for (int o = 16; o; o >>= 1) "
DPP = "__builtin_amdgcn_update_dpp(0, v, 0x101, 0xf, 0xf,"
# Twenty work-items of a wave are in the branch. v is an element of x, w one of f.
WRONG = {
    "one lane": "int r = __shfl(v, 25); y[t] = r + 1;",
    "a lane further on": "int r = __shfl(v, t + 3); y[t] = r + 1;",
    "dpp": f"int r = {DPP} false); y[t] = r * 3;",
    "dpp that reads 0": f"int r = {DPP} true); y[t] = r * 3;",
    "swizzle": "int r = __builtin_amdgcn_ds_swizzle(v, 0x401f); y[t] = r - 3;",
    "minimum": REDUCE + "{ int r = __shfl_xor(v, o); v = r < v ? r : v; } y[t] = v;",
    "maximum below 0": "v = -1 - v; " + REDUCE + "{ int r = __shfl_xor(v, o); v = r > v ? r : v; } y[t] = v;",
    "product": REDUCE + "v *= __shfl_xor(v, o); y[t] = v;",
    "address": "int r = __shfl(t, t + 3); y[t] = x[r & 31];",
    "branch": "int r = __shfl(v, 25); if (r > 3) y[t] = x[t];",
    "sum with another": "int r = __shfl(v, t + 3); y[t] = r + x[t + 32];",
}
RIGHT = {
    "sum": REDUCE + "v += __shfl_xor(v, o); y[t] = v;",
    "sum of floats": REDUCE + "w += __shfl_down(w, o); if (t == 0) f[0] = w;",
    "maximum above 0": REDUCE + "w = fmaxf(w, __shfl_xor(w, o)); f[t] = w;",
    "guarded": REDUCE + "{ int r = __shfl_down(v, o); if (t + o < 20) v = r < v ? r : v; } if (t == 0) y[0] = v;",
    "selected": REDUCE + "{ int r = __shfl_xor(v, o); r = (t ^ o) < 20 ? r : 0x7fffffff; v = min(v, r); } y[t] = v;",
    "place of the maximum": "int i = t; "
    + REDUCE
    + "{ int r = __shfl_xor(v, o), j = __shfl_xor(i, o); if (r > v) { v = r; i = j; } } y[t] = i;",
    "dpp sum": f"v += {DPP} false); v += {DPP} true); y[t] = v;",
    "not used": "int r = __shfl(v, t + 3); y[t] = t < 17 ? r : v;",
}


def code(arch):
    bodies = [
        (name, f"int t = threadIdx.x, v = x[t]; float w = f[t]; if (t < 20) {{ {body} }}")
        for name, body in {**WRONG, **RIGHT}.items()
    ]
    shared = "__shared__ int s[64]; int t = threadIdx.x, v = x[t]; s[t] = 0; __syncthreads(); "
    bodies.append(
        ("through the lds", shared + "if (t < 20) s[t] = __shfl(v, t + 3) * 2; __syncthreads(); y[t] = s[t ^ 1];")
    )
    bodies.append(("before the branch", "int t = threadIdx.x, r = __shfl(x[t], 25); if (t < 20) y[t] = r;"))
    bodies.append(("read lane", "int t = threadIdx.x, r = __builtin_amdgcn_readlane(x[t], 25); if (t < 20) y[t] = r;"))
    return compiled(HEAD, "int *x, int *y, float *f", tuple(bodies), arch)[0]


def found(name, arch, **options):
    kernel = code(arch)[symbol(name)]
    x = np.random.default_rng(0).integers(1, 1000, 64).astype(np.int32)
    args = [x, np.zeros(64, np.int32), np.random.default_rng(1).random(64).astype(np.float32)]
    report = mfmasim.device("sim").launch(kernel, 1, kernel.wave, args, checks="lanes", **options)
    return [(one.id, one.severity, one.message) for one in report.findings]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1201", "gfx1250"])
def test_wrong_kernels_are_named_and_right_ones_are_not(arch):
    for name in [*WRONG, "through the lds"]:
        findings = found(name, arch)
        assert {(id_, severity) for id_, severity, _ in findings} == {("lanes-off", "warning")}, name
        assert all("EXEC has off" in message and "which asks lane" in message for _, _, message in findings)
    for name in [*RIGHT, "before the branch", "read lane"]:
        assert not found(name, arch), name


def test_the_absent_lanes_are_named():
    assert "lanes 20 to 22," in found("a lane further on", "gfx942")[0][2]
    assert "lane 25," in found("one lane", "gfx1201")[0][2]


HALVES = {
    "other half": "y[t] = __builtin_amdgcn_ds_bpermute(4 * (t ^ 32), v);",
    "push to the other half": "y[t] = __builtin_amdgcn_ds_permute(4 * (t ^ 32), v);",
    "one lane for all": "y[t] = __builtin_amdgcn_ds_bpermute(4 * (t >> 6) + 12, v);",
    "maximum": "y[t] = max(v, __builtin_amdgcn_ds_bpermute(4 * (t ^ 32), v));",
    "own half": "y[t] = __builtin_amdgcn_ds_bpermute(4 * (t ^ 5), v);",
    "without the upper bit": "y[t] = __builtin_amdgcn_ds_bpermute(4 * ((t & 31) ^ 5), v);",
    "exchanged halves": "int want = (t * 7 + 3) & 63, s = __builtin_amdgcn_permlane64(v);\n"
    " int a = __builtin_amdgcn_ds_bpermute(4 * want, v), b = __builtin_amdgcn_ds_bpermute(4 * want, s);\n"
    " y[t] = (t ^ want) & 32 ? b : a;",
}
CROSSING = {"other half", "push to the other half", "one lane for all", "maximum"}
"""Those that are wrong where the halves do not reach each other."""


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_the_other_half_of_a_wave(arch, tmp_path):
    """RDNA3 permutes each half of a wave64 by itself, RDNA4 the whole wave."""
    text = HEAD
    for name, body in HALVES.items():
        text += (
            f'extern "C" __global__ void {symbol(name)}(int *x, int *y) {{ int t = threadIdx.x, v = x[t]; {body} }}\n'
        )
    (tmp_path / "k.hip").write_text(text)
    kernels = mfmasim.compile(tmp_path / "k.hip", arch, flags=["-mwavefrontsize64"])
    x, lane = np.arange(64, dtype=np.int32), np.arange(64)
    for name in HALVES:
        y = np.zeros(64, np.int32)
        report = mfmasim.device("sim").launch(kernels[symbol(name)], 1, 64, [x, y], checks="lanes")
        wrong = arch == "gfx1100" and name in CROSSING
        assert {f.id for f in report.findings} == ({"lanes-other-half"} if wrong else set()), name
        assert (str(report.fidelity).startswith("assumed")) == (arch == "gfx1100")
        if name == "other half":
            assert (y == (lane if arch == "gfx1100" else lane ^ 32)).all()
        if name == "exchanged halves" and arch == "gfx1100":
            assert (y == (lane * 7 + 3) % 64).all()


BEYOND = {
    "wide shuffle": ("for (int o = 32; o; o >>= 1) v += __shfl_down(v, o, 64); y[t] = v;", True),
    "wide exchange": ("y[t] = max(v, __shfl_xor(v, 32, 64));", True),
    "rotation": ("y[t] = __builtin_amdgcn_ds_bpermute(4 * (t + 1), v);", False),
    "broadcast of the last": ("y[t] = __shfl(v, 31, 64);", False),
    "not stored": ("int r = __shfl_down(v, 32, 64); y[t] = t < 64 ? v : r;", False),
    "half a wave": ("for (int o = 16; o; o >>= 1) v += __shfl_xor(v, o); y[t] = v;", False),
}


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1250"])
def test_lanes_that_a_wave_of_32_does_not_have(arch):
    bodies = tuple((name, f"int t = threadIdx.x, v = x[t]; {body}") for name, (body, _) in BEYOND.items())
    kernels = compiled(HEAD, "int *x, int *y", bodies, arch)[0]
    for name, (_, wrong) in BEYOND.items():
        args = [np.arange(1, 33, dtype=np.int32), np.zeros(32, np.int32)]
        findings = mfmasim.device("sim").launch(kernels[symbol(name)], 1, 32, args, checks="lanes").findings
        assert {one.id for one in findings} == ({"lanes-beyond"} if wrong else set()), name
        assert all("of a wave of 32" in one.message for one in findings)


def test_places_of_a_finding():
    arch = "gfx942"
    bodies = (("here", "int t = threadIdx.x, v = x[t];\nif (t < 20) {\n int r = __shfl(v, t + 3);\n y[t] = r + 1;\n}"),)
    kernels, lines = compiled(HEAD, "int *x, int *y", bodies, arch)
    args = [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)]
    (finding,) = mfmasim.device("sim").launch(kernels["here"], 1, 64, args, checks="lanes").findings
    first = first_line(lines, "here")
    assert finding.source.endswith(f"k.hip:{first + 5}")
    assert finding.other.endswith(f"k.hip:{first + 4}")
    assert (finding.workgroup, finding.wave, finding.lane, finding.count) == ((0, 0, 0), 0, 17, 3)
