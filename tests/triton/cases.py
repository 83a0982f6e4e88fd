"""What the kernels compute, from NumPy in double precision: arguments, grid, and the outputs that are expected."""

from __future__ import annotations

from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import torch

from tests.triton import kernels

ARCHS = ("gfx942", "gfx950", "gfx1151", "gfx1170", "gfx1201", "gfx1250")
TYPES = {
    "f32": (torch.float32, np.float32), "f16": (torch.float16, np.float16), "i32": (torch.int32, np.int32),
    "bf16": (torch.bfloat16, ml_dtypes.bfloat16), "e4m3fn": (torch.float8_e4m3fn, ml_dtypes.float8_e4m3fn),
    "e4m3fnuz": (torch.float8_e4m3fnuz, ml_dtypes.float8_e4m3fnuz), "e5m2": (torch.float8_e5m2, ml_dtypes.float8_e5m2),
}  # fmt: skip


@dataclass
class Case:
    """One launch: a kernel, its arguments, and each output with the values it has to hold and their tolerance."""

    kernel: object
    grid: tuple
    args: tuple
    expected: list
    constants: dict = field(default_factory=dict)

    def run(self):
        self.kernel[self.grid](*self.args, **self.constants)

    def wrong(self):
        """Elements that differ by more than the tolerance, in units of the largest expected value."""
        total = 0
        for tensor, values, tolerance in self.expected:
            found = tensor.cpu().to(torch.float64).numpy()
            total += int((~(np.abs(found - values) <= tolerance * np.abs(values).max())).sum())
        return total


def numbers(rng, shape, kind, most=3):
    """Small integers, which every format holds exactly, on the device."""
    return torch.from_numpy(rng.integers(-most, most + 1, shape).astype(np.float32)).to("cuda").to(TYPES[kind][0])


def f64(tensor):
    return tensor.cpu().to(torch.float64).numpy()


def add(rng, kind="f32"):
    x, y = numbers(rng, 1500, kind), numbers(rng, 1500, kind)
    z = torch.empty_like(x)
    return Case(kernels.add, (2,), (x, y, z, 1500), [(z, f64(x) + f64(y), 0)], {"B": 1024})


def softmax(rng, kind="f32"):
    x = torch.from_numpy(rng.standard_normal((3, 200)).astype(np.float32)).to("cuda")
    y = torch.empty_like(x)
    e = np.exp(f64(x) - f64(x).max(1, keepdims=True))
    return Case(kernels.softmax, (3,), (x, y, 200), [(y, e / e.sum(1, keepdims=True), 1e-6)], {"B": 256})


def matmul(rng, kind="f16"):
    a, b = numbers(rng, (64, 96), kind), numbers(rng, (96, 64), kind)
    c = torch.empty(64, 64, device="cuda")
    sizes = {"M": 32, "N": 64, "KB": 32}
    return Case(kernels.matmul, (2, 1), (a, b, c, 96, 96, 64, 64), [(c, f64(a) @ f64(b), 0)], sizes)


def scaled(rng, kind="e2m1"):
    m = n = 32
    k, packed = 128, 2 if kind == "e2m1" else 1
    p = rng.integers(125, 130, (m, k // 32)).astype(np.uint8)
    q = rng.integers(125, 130, (n, k // 32)).astype(np.uint8)
    if packed == 2:
        codes_a, codes_b = (rng.integers(0, 16, shape).astype(np.uint8) for shape in ((m, k), (k, n)))
        table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
        a, b = table[codes_a], table[codes_b]
        raw_a, raw_b = codes_a[:, ::2] | codes_a[:, 1::2] << 4, codes_b[::2] | codes_b[1::2] << 4
    else:
        a, b = (rng.integers(-3, 4, shape).astype(np.float64) for shape in ((m, k), (k, n)))
        raw_a, raw_b = (v.astype(np.float32).astype(ml_dtypes.float8_e4m3fn).view(np.uint8) for v in (a, b))
    left = a * np.exp2(np.repeat(p, 32, 1) - 127.0)
    right = b * np.exp2(np.repeat(q, 32, 1).T - 127.0)
    c = torch.empty(m, n, device="cuda")
    tensors = [torch.from_numpy(np.ascontiguousarray(v)).to("cuda") for v in (raw_a, p, raw_b, q)]
    sizes = {"M": m, "N": n, "K": k, "P": packed, "F": "e2m1" if packed == 2 else "e4m3"}
    return Case(kernels.scaled, (1,), (*tensors, c), [(c, left @ right, 0)], sizes)


def attention(rng, kind="f16"):
    q, k, v = (torch.from_numpy(rng.standard_normal((64, 64))).to(TYPES[kind][0]).to("cuda") for _ in range(3))
    o = torch.empty_like(q)
    s = f64(q) @ f64(k).T * 0.18
    p = np.exp2(s - s.max(1, keepdims=True))
    expected = p / p.sum(1, keepdims=True) @ f64(v)
    return Case(kernels.attention, (2,), (q, k, v, o, 64, 0.18), [(o, expected, 1e-2)], {"D": 64, "M": 32, "N": 32})


def layer_norm(rng, kind="f16"):
    x = torch.from_numpy(rng.standard_normal((3, 200))).to(torch.float16).to("cuda")
    w, b = (torch.from_numpy(rng.standard_normal(200).astype(np.float32)).to("cuda") for _ in range(2))
    y = torch.empty(3, 200, device="cuda")
    v = f64(x) - f64(x).mean(1, keepdims=True)
    expected = v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-5) * f64(w) + f64(b)
    return Case(kernels.layer_norm, (3,), (x, w, b, y, 200, 1e-5), [(y, expected, 1e-6)], {"B": 256})


def scan(rng, kind="i32"):
    x = numbers(rng, 256, kind)
    y = torch.empty_like(x)
    return Case(kernels.scan, (1,), (x, y), [(y, np.cumsum(f64(x)), 0)], {"B": 256})


def sort(rng, kind="f32"):
    x = numbers(rng, 256, kind, 500)
    y = torch.empty_like(x)
    return Case(kernels.sort, (1,), (x, y), [(y, np.sort(f64(x)), 0)], {"B": 256})


def histogram(rng, kind="i32"):
    x = torch.from_numpy(rng.integers(0, 64, 1024).astype(np.int32)).to("cuda")
    y = torch.zeros(64, dtype=torch.int32, device="cuda")
    expected = np.bincount(x.cpu().numpy(), minlength=64).astype(np.float64)
    return Case(kernels.histogram, (2,), (x, y), [(y, expected, 0)], {"B": 512, "H": 64})


def atomics(rng, kind="f32"):
    x, y = numbers(rng, 600, kind), torch.zeros(64, dtype=TYPES[kind][0], device="cuda")
    expected = np.zeros(64)
    np.add.at(expected, np.arange(600) % 64, f64(x))
    return Case(kernels.atomics, (3,), (x, y, 600), [(y, expected, 0)], {"B": 256})


def described(rng, kind="f16"):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = numbers(rng, (48, 64), kind)  # a tile and a half: the rest is cut off
    y = torch.zeros_like(x)
    args = tuple(TensorDescriptor.from_tensor(each, [32, 32]) for each in (x, y))
    return Case(kernels.copy_described, (2, 2), args, [(y, 2 * f64(x), 0)], {"M": 32, "N": 32})


def through_table(rng, kind="f32"):
    parts = [numbers(rng, 64, kind) for _ in range(3)]
    table = torch.tensor([part.data_ptr() for part in parts], dtype=torch.int64, device="cuda")
    out = torch.empty(64, device="cuda")
    case = Case(kernels.through_table, (1,), (table, out), [(out, sum(map(f64, parts)), 0)], {"B": 64})
    case.parts = parts  # kept alive
    return case


def pair_sum(rng, kind="f32"):
    x, y = numbers(rng, 64, kind), numbers(rng, 64, kind)
    z = torch.empty_like(x)
    return Case(kernels.pair_sum, (1,), ((x, y), z), [(z, f64(x) + f64(y), 0)], {"B": 64})


def meeting(rng, kind="i32"):
    counter, out = (torch.zeros(size, dtype=torch.int32, device="cuda") for size in (1, 40))
    options = {"launch_cooperative_grid": True, "num_warps": 1}
    return Case(kernels.meeting, (40,), (counter, out, 40), [(out, np.arange(1.0, 41.0), 0)], options)


CASES = [
    (add, "f32"), (add, "f16"), (softmax, "f32"), (matmul, "f16"), (matmul, "bf16"), (matmul, "f32"),
    (matmul, "e4m3fn"), (matmul, "e4m3fnuz"), (matmul, "e5m2"), (scaled, "e2m1"), (scaled, "e4m3"), (attention, "f16"),
    (attention, "bf16"), (layer_norm, "f16"), (scan, "i32"), (scan, "f32"), (sort, "f32"), (sort, "i32"),
    (histogram, "i32"), (atomics, "f32"), (atomics, "i32"), (described, "f16"), (through_table, "f32"),
    (pair_sum, "f32"), (meeting, "i32"),
]  # fmt: skip
QUICK = {(add, "f32"), (matmul, "f16"), (through_table, "f32"), (described, "f16"), (pair_sum, "f32"), (meeting, "i32")}
"""Cases of the quick tier, on two architectures."""


def exact(make, kind, arch):
    """Whether sums of small integers have no rounding: RDNA3's WMMA on 16-bit floats, by which Triton multiplies 8-bit
    ones too, rounds on the way."""
    return arch != "gfx1151" or kind == "f32" or make not in (matmul, scaled)


def supported(make, kind, arch):
    """Whether Triton's compiler takes this format on this architecture."""
    return not (kind == "e4m3fnuz" and arch != "gfx942")
