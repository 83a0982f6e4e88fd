"""Packing and unpacking against a plain gather of the same size, and against whole execution: ratios in one run."""

import time

import numpy as np

import mfmasim
from tests.bench.measuring import least

CASES = [
    ("gfx942", "v_mfma_f32_32x32x16_fp8_fp8", {}),
    ("gfx942", "v_mfma_f32_16x16x16_f16", {}),
    ("gfx942", "v_mfma_f32_32x32x2_f32", {}),
    ("gfx950", "v_mfma_f32_16x16x128_f8f6f4", {"a": "fp4", "b": "fp6"}),
    ("gfx1100", "v_wmma_f32_16x16x16_f16", {}),
]
WAVES = 256


def main():
    rng = np.random.default_rng(0)
    print(f"{WAVES} waves; microseconds per wave, and share of execute")
    for arch, name, formats in CASES:
        op = mfmasim.instruction(arch, name, **formats)
        registers = [rng.integers(0, 2**30, (WAVES, f.vgprs, f.lanes), np.uint32) for f in (op.A, op.B, op.C)]
        unpack = least(lambda r=registers, o=op: [f.unpack(x) for f, x in zip((o.A, o.B, o.C), r, strict=True)], 5)
        d = op.C.unpack(registers[2])
        pack = least(lambda o=op, d=d: o.D.pack(d), 5)
        words = sum(x.size for x in registers) + d.size
        flat, index = np.zeros(words, np.uint32), rng.permutation(words)
        gather = least(lambda f=flat, i=index: f[i], 5)
        execute = least(lambda o=op, r=registers: o.execute(*r), 2)
        both = unpack + pack
        print(
            f"{arch} {name:32s} unpack {unpack / WAVES * 1e6:7.2f}  pack {pack / WAVES * 1e6:6.2f}  "
            f"execute {execute / WAVES * 1e6:8.1f}  layout/execute {both / execute:5.2f}  "
            f"layout/gather {both / gather:5.2f}"
        )
    start = time.perf_counter()
    for _ in range(10000):
        mfmasim.instruction("gfx942", "v_mfma_f32_16x16x16_f16")
    print(f"instruction(): {(time.perf_counter() - start) * 100:.2f} microseconds a call")


if __name__ == "__main__":
    main()
