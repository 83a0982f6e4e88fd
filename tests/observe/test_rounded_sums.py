"""numerics: sums in F32 that a loop rounds to F16 or BF16, and conversions to 8 bits that lose most values."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mfmasim
from mfmasim.observe.rounded_sums import rounded_sums
from tests.machine import harness
from tests.observe.small_kernels import compiled, symbol

HEAD = """#include <hip/hip_runtime.h>
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));
#define T threadIdx.x
"""
PARAMETERS = "const float* x, const _Float16* h, float* y, _Float16* z, int n"
SUM = "float s = 0;\nfor (int i = 0; i < n; ++i) {}\ny[T] = s;"
# Bodies; what is found on the line that has the words.
BODIES = {
    "rounded": (SUM.format("s = (float)(_Float16)(s + x[i * 64 + T]);"), "F16"),
    "narrow state": (
        "_Float16 s = 0;\nfor (int i = 0; i < n; ++i) s = (_Float16)((float)s + x[i * 64 + T]);\nz[T] = s;",
        "F16",
    ),
    "products": (
        "_Float16 s = 0;\nfor (int i = 0; i < n; ++i) s = (_Float16)((float)s + x[i] * x[i * 64 + T]);\nz[T] = s;",
        "F16",
    ),
    "two packed": (
        (
            "float s = 0, t = 0;\nfor (int i = 0; i < n; ++i) {\n"
            "auto p = __builtin_amdgcn_cvt_pkrtz(s + x[i * 64 + T], t + x[i]); s = p[0]; t = p[1]; }\ny[T] = s * t;"
        ),
        "F16",
    ),
    "a scaled sum": (SUM.format("s = (float)(_Float16)(s * x[i] + x[i * 64 + T]);"), "F16"),
    "rounded once": ("float s = 0;\nfor (int i = 0; i < n; ++i) s += x[i * 64 + T];\nz[T] = (_Float16)s;", ""),
    "widened data": (SUM.format("s += (float)h[i * 64 + T];"), ""),
    "rounded data": (SUM.format("s += (float)(_Float16)x[i * 64 + T];"), ""),
    "narrow by choice": ("_Float16 s = 0;\nfor (int i = 0; i < n; ++i) s += h[i * 64 + T];\nz[T] = s;", ""),
    "stored sums": (SUM.format("{ s += x[i * 64 + T]; z[i * 64 + T] = (_Float16)s; }"), ""),
    "a copy that is squared": (
        (
            "float s = 0, q = 0;\nfor (int i = 0; i < n; ++i) { s += x[i * 64 + T]; float r = (float)(_Float16)x[i];"
            "\nq += r * r; }\ny[T] = s + q;"
        ),
        "",
    ),
    "a residual and its norm": (
        SUM.format("{ _Float16 r = (_Float16)(x[i] + x[i * 64 + T]); z[i * 64 + T] = r; s += (float)r * (float)r; }"),
        "",
    ),
    "tiles": (
        (
            "for (int k = 0; k < n; ++k) { float s = 0;\nfor (int i = 0; i < n; ++i) s += x[i * 64 + T + k];"
            "\nz[k * 64 + T] = (_Float16)s; }"
        ),
        "",
    ),
}


def matrix(half, result, call, count):
    """Kernels whose loop multiplies fragments; what is found."""
    start = f"{result} a = {{}};\nfor (int i = 0; i < n; ++i) {{ {half} p = *(const {half}*)(h + T * {count}), q;\n"
    each, end = f"for (int k = 0; k < {count}; ++k)", f"}}\n*({result}*)(y + {count} * (T % 32)) = a;"
    products = f"{result} d = {call('p', 'p', f'{result}{{}}')};\n"
    texts = {
        "rounded accumulators": (f"a = {call('p', 'p', 'a')};\n{each} a[k] = (float)(_Float16)a[k];", "F16"),
        "rounded products": (f"{products}{each} a[k] += (float)(_Float16)d[k];", "F16"),
        "a rounded factor": (f"{products}{each} q[k] = (_Float16)__expf(d[k]);\na = {call('q', 'p', 'a')};", ""),
        "a state that is a factor": (f"{each} q[k] = (_Float16)a[k];\na = {call('q', 'p', f'{result}{{}}')};", ""),
    }
    return {name: (f"{start}{text} {end}", kind) for name, (text, kind) in texts.items()}


MATRIX = matrix("half4", "float4_", "__builtin_amdgcn_mfma_f32_16x16x16f16({}, {}, {}, 0, 0, 0)".format, 4)
WMMA = matrix("half8", "float8", "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12({}, {}, {})".format, 8)
BF16 = {"rounded to BF16": (SUM.format("s = (float)(__bf16)(s + x[i * 64 + T]);"), "BF16")}
KERNELS = {"gfx942": BODIES | MATRIX, "gfx950": BODIES | MATRIX | BF16, "gfx1100": BODIES, "gfx1201": BODIES | WMMA}


def found(arch, name, n=3, **options):
    bodies = KERNELS[arch]
    code, lines = compiled(HEAD, PARAMETERS, tuple((each, body) for each, (body, _) in bodies.items()), arch)
    x, h, y, z = (
        np.ones(1024, np.float32),
        np.ones(1024, np.float16),
        np.zeros(256, np.float32),
        np.zeros(1024, np.float16),
    )
    report = mfmasim.device("sim").launch(code[symbol(name)], grid=1, block=64, args=[x, h, y, z, n], **options)
    return [f for f in report.findings if f.check == "numerics"], lines


@pytest.mark.parametrize(("arch", "name"), [(arch, name) for arch, bodies in KERNELS.items() for name in bodies])
def test_kernels(arch, name):
    body, kind = KERNELS[arch][name]
    findings, lines = found(arch, name)
    assert [f.id for f in findings] == ["numerics-rounded-sum"] * bool(kind)
    for finding in findings:
        line = lines[int(finding.source.rpartition(":")[2]) - 1]
        assert line in body
        assert any(word in line for word in ("(_Float16)", "(__bf16)", "cvt_pkrtz"))
        assert f" {kind}" in finding.message
        assert finding.severity == "info"
        assert ("adds that to a sum" in finding.message) == (name == "rounded products")


def test_a_loop_that_is_not_executed_and_selected_checks():
    assert found("gfx942", "rounded", n=0)[0] == []
    assert found("gfx942", "rounded", checks="bounds")[0] == []
    for checks in ("numerics", "numerics:origin", "numerics:losses", "bounds,all", ["all", "numerics"]):
        assert [f.id for f in found("gfx942", "rounded", checks=checks)[0]] == ["numerics-rounded-sum"]


# What a loop executes between its first addition and its branch; conversions that are found.
LOOPS = {
    "the upper half by SDWA": (
        "v_cvt_f16_f32_sdwa v4, v4 dst_sel:WORD_1\nv_cvt_f32_f16_sdwa v4, v4 src0_sel:WORD_1",
        1,
    ),
    "the other half": ("v_cvt_f16_f32_sdwa v5, v4 dst_sel:WORD_1\nv_cvt_f32_f16_sdwa v4, v5 src0_sel:WORD_0", 0),
    "packed, and the right one": ("v_cvt_pkrtz_f16_f32 v5, v6, v4\nv_lshrrev_b32 v5, 16, v5\nv_cvt_f32_f16 v4, v5", 1),
    "packed, and its neighbour": ("v_cvt_pkrtz_f16_f32 v5, v4, v6\nv_lshrrev_b32 v5, 16, v5\nv_cvt_f32_f16 v4, v5", 0),
    "packed later": (
        (
            "v_cvt_f16_f32 v5, v4\nv_cvt_f16_f32 v7, v6\nv_pack_b32_f16 v5, v7, v5\nv_and_b32 v5, 0xffff0000, v5\n"
            "v_lshrrev_b32 v5, 16, v5\nv_cvt_f32_f16 v4, v5"
        ),
        1,
    ),
    "through an AGPR": (
        "v_cvt_f16_f32 v5, v4\nv_accvgpr_write_b32 a3, v5\nv_accvgpr_read_b32 v5, a3\nv_cvt_f32_f16 v4, v5",
        1,
    ),
    "overwritten": ("v_cvt_f16_f32 v5, v4\nv_mov_b32 v5, v6\nv_cvt_f32_f16 v4, v5", 0),
    "mixed": ("v_cvt_f16_f32 v5, v4\nv_fma_mix_f32 v4, v5, 1.0, v6 op_sel_hi:[1,0,0]", 1),
    "mixed, the other half": (
        "v_cvt_f16_f32 v5, v4\nv_fma_mix_f32 v4, v5, 1.0, v6 op_sel:[1,0,0] op_sel_hi:[1,0,0]",
        0,
    ),
    "two registers": (
        (
            "v_pk_add_f32 v[4:5], v[4:5], v[6:7]\nv_cvt_f16_f32 v5, v5\nv_cvt_f32_f16 v5, v5\n"
            "v_pk_add_f32 v[4:5], v[6:7], v[4:5] op_sel:[0,1] op_sel_hi:[1,0]"
        ),
        1,
    ),
    "two registers, not exchanged": (
        (
            "v_pk_add_f32 v[8:9], v[8:9], v[6:7]\nv_cvt_f16_f32 v10, v9\nv_cvt_f32_f16 v10, v10\n"
            "v_pk_add_f32 v[8:9], v[8:9], v[6:7]"
        ),
        0,
    ),
    "an exponential": ("v_exp_f32 v5, v4\nv_cvt_f16_f32 v5, v5\nv_cvt_f32_f16 v4, v5", 0),
    "a selection": ("v_cvt_f16_f32 v5, v4\nv_cvt_f32_f16 v5, v5\nv_cndmask_b32 v4, v6, v5, vcc", 1),
    "a dot product that is rounded": (
        ("v_dot2_f32_f16 v5, v6, v7, 0\nv_cvt_f16_f32 v5, v5\nv_cvt_f32_f16 v5, v5\nv_add_f32 v4, v4, v5"),
        1,
    ),
    "a dot product of another sum": ("v_dot2_f32_f16 v5, v6, v7, v4\nv_cvt_f16_f32 v5, v5\nv_cvt_f32_f16 v4, v5", 1),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_in_assembly(name):
    body, count = LOOPS[name]
    text = f"L:\nv_add_f32 v4, v4, v6\n{body}\ns_cbranch_vccnz L\ns_endpgm"
    kernel = harness.kernel(text, "gfx942", "p")
    assert len(rounded_sums(kernel)) == count
    straight = harness.kernel(text.replace("s_cbranch_vccnz L", "s_nop 0"), "gfx942", "p")
    assert rounded_sums(straight) == []


def test_a_branch_around_the_conversion():
    text = "L:\nv_add_f32 v4, v4, v6\ns_cbranch_scc0 M\n{}\nM:\ns_cbranch_vccnz L\ns_endpgm"
    both = "v_cvt_f16_f32 v5, v4\nv_cvt_f32_f16 v4, v5"
    (one,) = rounded_sums(harness.kernel(text.format(both), "gfx1201", "p"))
    assert (one.narrow, one.partial, one.pc - one.added) == ("F16", False, 8)
    assert rounded_sums(harness.kernel(text.format("v_cvt_f16_f32 v5, v4"), "gfx1201", "p")) == []


# Values of the lanes, of which the last 32 have another one; whether the conversion loses much.
FP8 = [("2.0", "1.0", False), ("0x39800000", "2.0", False), ("0x39ff0000", "0x3d000000", True),
       ("0x39800000", "0x39800000", True), ("0", "1.0", False),
       ("0", "0", False), ("0x46000000", "1.0", True), ("0x7f800000", "1.0", False)]  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize(("low", "high", "loses"), FP8)
def test_conversions_that_lose_most_values(arch, low, high, loses):
    body = (
        f"v_mov_b32 v4, {low}\nv_mov_b32 v5, {high}\nv_cmp_lt_u32 vcc, 31, v0\ns_nop 4\nv_cndmask_b32 v4, v4, v5, vcc\n"
        "v_cvt_pk_fp8_f32 v6, v4, v4\ns_endpgm"
    )
    kernel, out = harness.kernel(body, arch, "p"), np.zeros(64, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[out])
    assert [f.id for f in report.findings] == ["numerics-losses"] * loses
    if loses:
        with ThreadPoolExecutor(2) as pool:
            parts = mfmasim.device("sim").launch(kernel, grid=4, block=64, args=[out], executor=pool, parts=2)
        (one,) = parts.findings
        assert one.message.startswith("512 values to e4m3fn")
