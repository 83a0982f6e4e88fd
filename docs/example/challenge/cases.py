"""The kernels of the three submissions as cases: `mfmasim verify cases.py`."""

import numpy as np

import mfmasim
from mfmasim.verify import A, B, C, In, InOut, Out, case


def decoded(name, codes):
    return mfmasim.format(name).decode(codes)


@case("fp8_mm.py::CUDA_SRC", kernel="fp8_mm", arch="gfx942", needs="K % 128 == 0", each=[{}, {"M": 37, "N": 150}])
def fp8_mm(M=64, N=192, K=256):
    blocks = -(-N // 128)
    a, b = In("e4m3fnuz", (K, M), "normal"), In("e4m3fnuz", (K, N), "normal")
    sa, sb = In("f32", (K // 128, M), "normal"), In("f32", (K // 128, blocks), "normal")

    def expect(a, b, sa, sb):
        a = decoded("e4m3fnuz", a) * np.repeat(sa, 128, 0)
        b = decoded("e4m3fnuz", b) * np.repeat(np.repeat(sb, 128, 0), 128, 1)[:, :N]
        return a.T @ b

    c = Out("bf16", (M, N), relative=2e-2, absolute=1e-3)  # the challenge's tolerance
    return dict(grid=(-(-N // 32), -(-M // 32)), block=256, args=[a, b, sa, sb, c, M, N, K], expect=expect)


@case("fp8_mm.py::CUDA_SRC", kernel="fp8_mm", arch="gfx942", needs="K % 128 == 0")
def fp8_mm_elements(M=64, N=64, K=256):
    """Every slot of every matrix instruction holds its element: scales of 1 leave a plain product."""
    a, b, c = A("fp8", (M, K), order="column"), B("fp8", (K, N)), C("bf16", (M, N))
    ones = [np.float32(1)] * (K // 128)
    args = [a, b, ones * M, ones * -(-N // 128), c, M, N, K]
    return dict(grid=(-(-N // 32), -(-M // 32)), block=256, args=args, expect=a @ b)


@case("moe.py::CUDA_SRC", kernel="silu_mul", arch=["gfx942", "gfx950"])
def silu_mul(count=777):
    def expect(gate, up):
        return gate.astype(float) / (1 + np.exp(-gate.astype(float))) * up

    gate, up = In("f16", (count,), "normal"), In("f16", (count,), "normal")
    out = Out("f16", (count,), relative=2e-3, absolute=1e-6)
    return dict(grid=-(-count // 256), block=256, args=[gate, up, out, count], expect=expect)


@case("moe.py::CUDA_SRC", kernel="combine", arch=["gfx942", "gfx950"])
def combine(tokens=5, hidden=300, experts=2):
    places = np.random.default_rng(1).permutation(tokens * experts).astype(np.int32).reshape(tokens, experts)
    shared, routed = In("f16", (tokens, hidden), "normal"), In("f16", (tokens * experts, hidden), "normal")
    weights, out = In("f32", (tokens, experts), "normal"), Out("f16", (tokens, hidden), relative=2e-3, absolute=1e-3)

    def expect(shared, routed, places, weights):
        return shared + (weights[:, :, None].astype(float) * routed.astype(float)[places]).sum(1)

    args = [shared, routed, In("i32", places.shape, places), weights, out, tokens, hidden, experts]
    return dict(grid=(-(-hidden // 256), tokens), block=256, args=args, expect=expect)


@case("mla_decode.py::CUDA_SRC", kernel="rope", arch=["gfx942", "gfx950"], needs="width % 2 == 0")
def rope(rows=7, width=64):
    half, positions = width // 2, np.array([3, 0, 9, 9, 1, 4, 5], np.int32)[:rows]
    angles = np.arange(10)[:, None] * 10000.0 ** (-np.arange(half) / half)
    cosine, sine = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)

    def expect(x, cosine, sine, positions):
        x = decoded("bf16", x)
        a, b, c, s = x[:, :half], x[:, half:], cosine[positions], sine[positions]
        return np.concatenate([a * c - b * s, b * c + a * s], 1)

    x = InOut("bf16", (rows, width), "normal", relative=2**-8, absolute=1e-6)
    tables = [In("f32", cosine.shape, cosine), In("f32", sine.shape, sine), In("i32", positions.shape, positions)]
    return dict(grid=rows, block=half, args=[x, *tables, width], expect=expect)


@case(
    "mla_decode.py::CUDA_SRC",
    kernel="softmax",
    arch=["gfx942", "gfx950"],
    needs="columns >= 1",
    each=[{}, {"columns": 300}],
)
def softmax(rows=3, columns=77):
    def expect(x):
        e = np.exp(0.125 * decoded("bf16", x))
        return e / e.sum(1, keepdims=True)

    x, out = In("bf16", (rows, columns), "normal"), Out("bf16", (rows, columns), relative=2**-7, absolute=1e-6)
    return dict(grid=rows, block=256, args=[x, out, columns, 0.125], expect=expect)
