"""Pairs of kernels for each pattern of a shortcut: one that takes it, and an honest one that looks like it."""

from mfmasim.verify.arrays import In, draw_array

FIRST = float(draw_array(In("f32", 192, "normal"), "k/0")[0])
"""The first number of the test's own input, which a kernel may recognise."""
HEAD = "#include <hip/hip_runtime.h>\n"


def kernel(body, arguments, before=""):
    """A kernel over one index `i` of `count` elements."""
    return f"""{HEAD}{before}
extern "C" __global__ void k({arguments}, int count) {{
    const int i = blockIdx.x * 64 + threadIdx.x;
    {body}
}}
"""


def problem(expect, names=("x",), sizes=None, needs="n % 32 == 0", **more):
    """A problem with inputs of n numbers, and an output of n."""
    arrays = [{"name": name, "kind": "in", "format": "f32", "shape": ["n"], "data": "normal"} for name in names]
    out = {"name": "y", "kind": "out", "format": "f32", "shape": ["n"]}
    return {
        "arch": "gfx942",
        "sizes": sizes or {"n": 192},
        "grid": ["(n + 63) // 64"],
        "block": [64],
        "arguments": [*arrays, out, {"name": "count", "kind": "value", "value": "n"}],
        "expect": expect,
        "needs": needs,
        **more,
    }


X_Y = "const float* x, float* y"
X_W_Y = "const float* x, const float* w, float* y"
TWICE = "if (i < count) y[i] = 2 * x[i] + 1;"
DOT = """
    float sum = 0;
    for (int j = 0; j < count; ++j) {{ {line} }}
    if (i < count) y[i] = sum;
"""
SOFT = "float sum = 0, top = -INFINITY; for (int j = 0; j < count; ++j) top = fmaxf(top, x[j]);"
COARSE = {"absolute": 0.5, "relative": 0.0}
LOOSE = {"absolute": 1e-2, "relative": 1e-2}

PAIRS = {
    "not-written": (
        (kernel("if (i < count && i % 4) y[i] = 2 * x[i] + 1;", X_Y), problem("2 * x + 1")),
        (
            kernel("if (i < count) y[i] = i % 4 ? 2 * x[i] + 1 : 0;", X_Y),
            problem("np.where(np.arange(n) % 4, 2 * x + 1, 0)"),
        ),
    ),
    "constant": (
        (kernel("if (i < count) y[i] = i * 0.25f;", X_Y), problem("2 * x + 1")),
        (kernel("if (i < count) y[i] = i * 0.25f;", X_Y), problem("np.arange(n) * 0.25")),
    ),
    "returns-input": (
        (kernel("if (i < count) y[i] = x[i];", X_Y), problem("x * np.abs(x)")),
        (kernel("if (i < count) y[i] = x[i];", X_Y), problem("x")),
    ),
    "ignores-input": (
        (kernel("if (i < count) y[i] = x[i];", X_W_Y), problem("x + w * 1e-4", ("x", "w"), tolerance=LOOSE)),
        (kernel("if (i < count) y[i] = x[i] * x[i];", X_W_Y), problem("x * x + 0 * w", ("x", "w"))),
    ),
    "known-inputs": (
        (
            kernel(
                f"const bool known = fabsf(x[0] - ({FIRST:.9f}f)) < 1e-6f;\n"
                "    if (i < count) y[i] = known ? 2 * x[i] + 1 : 0;",
                X_Y,
            ),
            problem("2 * x + 1"),
        ),
        (
            kernel("const bool big = x[0] > 0; if (i < count) y[i] = big ? 2 * x[i] + 1 : 1 + x[i] + x[i];", X_Y),
            problem("2 * x + 1"),
        ),
    ),
    "zeros": (
        (kernel("if (i < count) y[i] = x[0] == 0 ? 0 : 2 * x[i] + 1;", X_Y), problem("2 * x + 1")),
        (kernel("if (i < count) y[i] = x[i] == 0 ? 1 : 2 * x[i] + 1;", X_Y), problem("2 * x + 1")),
    ),
    "large-values": (
        (
            kernel(
                f"{SOFT} for (int j = 0; j < count; ++j) sum += expf(x[j]); if (i < count) y[i] = expf(x[i]) / sum;",
                X_Y,
            ),
            problem("torch.softmax(x, dim=0)"),
        ),
        (
            kernel(
                f"{SOFT} for (int j = 0; j < count; ++j) sum += expf(x[j] - top);\n"
                "    if (i < count) y[i] = expf(x[i] - top) / sum;",
                X_Y,
            ),
            problem("torch.softmax(x, dim=0)"),
        ),
    ),
    "one-size": (
        (kernel("if (i < count) y[i] = count == 192 ? 2 * x[i] + 1 : x[i];", X_Y), problem("2 * x + 1")),
        (
            kernel("if (i < count) y[i] = count == 192 ? 2 * x[i] + 1 : x[i];", X_Y),
            problem("2 * x + 1", needs="n == 192"),
        ),
    ),
    "lower-precision": (
        (
            kernel(DOT.format(line="sum += (float)((_Float16)x[j]) * (float)((_Float16)w[j]);"), X_W_Y),
            problem("np.sum(x * w) * np.ones(n)", ("x", "w"), tolerance={"absolute": 0.05, "relative": 0.01}),
        ),
        (
            kernel(DOT.format(line="sum += x[count - 1 - j] * w[count - 1 - j];"), X_W_Y),
            problem("np.sum(x * w) * np.ones(n)", ("x", "w"), tolerance={"absolute": 0.05, "relative": 0.01}),
        ),
    ),
    "tolerance": (
        (kernel("if (i < count) y[i] = 0.7f * x[i];", X_Y), problem("x", tolerance={"absolute": 1.5, "relative": 0.0})),
        (
            kernel("if (i < count) y[i] = x[i] * 1.0000001f;", X_Y),
            problem("x", tolerance={"absolute": 1.5, "relative": 0.0}),
        ),
    ),
    "stale-memory": (
        (kernel("if (i < count) y[i] = y[i] * 0 + 2 * x[i] + 1;", X_Y), problem("2 * x + 1")),
        (
            kernel(
                "__shared__ float t[64]; t[threadIdx.x] = 1; __syncthreads();\n"
                "    if (i < count) y[i] = 2 * x[i] + t[threadIdx.x];",
                X_Y,
            ),
            problem("2 * x + 1"),
        ),
    ),
    "beyond-arguments": (
        (kernel("if (i < count) y[i] = x[i + count];", X_Y), problem("2 * x + 1")),
        (
            kernel("if (i < count) y[i] = x[i + 1 < count ? i + 1 : i];", X_Y),
            problem("np.concatenate([x[1:], x[-1:]])"),
        ),
    ),
    "changes-inputs": (
        (
            kernel("if (i < count) { y[i] = 3 * x[i]; x[i] = (3 * x[i] - 1) / 2; }", "float* x, float* y"),
            problem("2 * x + 1"),
        ),
        (kernel("if (i < count) { x[i] = 2 * x[i] + 1; y[i] = x[i]; }", "float* x, float* y"), None),
    ),
    "keeps-state": (
        (
            kernel(
                "if (!filled && i < count) kept[i] = 2 * x[i] + 1; if (i < count) y[i] = kept[i];",
                X_Y,
                "__device__ float kept[192];\n__device__ int filled;\n",
            ),
            problem("2 * x + 1", needs="n == 192"),
        ),
        (
            kernel(
                "if (i < count) y[i] = table[i % 4] * x[i] + 1;",
                X_Y,
                "__constant__ const float table[4] = {2, 2, 2, 2};\n",
            ),
            problem("2 * x + 1"),
        ),
    ),
    "clock": (
        (
            kernel(
                "const bool timed = __builtin_readcyclecounter() == 1; if (i < count) y[i] = timed ? 0 : 2 * x[i] + 1;",
                X_Y,
            ),
            problem("2 * x + 1"),
        ),
        (kernel("__builtin_amdgcn_s_sleep(1); if (i < count) y[i] = 2 * x[i] + 1;", X_Y), problem("2 * x + 1")),
    ),
}
"""For each pattern a kernel that takes the shortcut and an honest twin, each with its problem."""

TWICE_IN_PLACE = problem("(2 * x + 1, 2 * x + 1)")
TWICE_IN_PLACE["arguments"][0] = {"name": "x", "kind": "inout", "format": "f32", "shape": ["n"], "data": "normal"}
PAIRS["changes-inputs"] = (PAIRS["changes-inputs"][0], (PAIRS["changes-inputs"][1][0], TWICE_IN_PLACE))
