"""Every rule by which two expressions are one: both sides executed on drawn operands, special values among them."""

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES
from mfmasim.formats import format as number_format
from mfmasim.matrix import instructions
from mfmasim.prove.equality.computed import COMMUTES, PACKED, PRODUCTS, SAME
from mfmasim.prove.equality.matrices import STEPPED
from mfmasim.toolchain import find_compiler
from tests.oracles import require
from tests.tiers import tiers

WORDS = 4096
CONSTANT = "0x3fa00000"

PAIRS = {
    "v_fmac_f32": ("v_fma_f32 {d}, {x}, {y}, {z}", "v_mov_b32 {d}, {z}\\nv_fmac_f32 {d}, {x}, {y}"),
    "v_fmaak_f32": (f"v_mov_b32 {{d}}, {CONSTANT}\\nv_fma_f32 {{d}}, {{x}}, {{y}}, {{d}}",
                    f"v_fmaak_f32 {{d}}, {{x}}, {{y}}, {CONSTANT}"),
    "v_fmamk_f32": (f"v_mov_b32 {{d}}, {CONSTANT}\\nv_fma_f32 {{d}}, {{x}}, {{d}}, {{z}}",
                    f"v_fmamk_f32 {{d}}, {{x}}, {CONSTANT}, {{z}}"),
    "constant times": ("v_mul_f32 {d}, 2.0, {x}", "v_mul_f32_e64 {d}, {x}, 2.0"),
    "constant plus": ("v_add_f32 {d}, 0.5, {x}", "v_add_f32_e64 {d}, {x}, 0.5"),
    "constant fused": ("v_fma_f32 {d}, 4.0, {x}, {y}", "v_fma_f32 {d}, {x}, 4.0, {y}"),
    **{name: (f"{name} {{d}}, {{x}}, {{y}}", f"{name} {{d}}, {{y}}, {{x}}")
       for name in sorted(COMMUTES) if name.startswith("v_") and "_nc_" not in name},
}  # fmt: skip


def drawn(seed, count=WORDS):
    """Words of any bits, with zeros, infinities, NaNs, denormals and small integers among them."""
    rng = np.random.default_rng(seed)
    special = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 1, 0x80000001, 0x007FFFFF]
    words = rng.integers(0, 1 << 32, count, np.uint32)
    some = rng.random(count)
    words = np.where(some < 0.4, rng.choice(np.array(special, np.uint32), count), words)
    near = (rng.normal(size=count) * 4).astype(np.float32).view(np.uint32)
    return np.where(some > 0.7, near, words).astype(np.uint32)


def compiled(folder, source):
    """The kernel of a source, for gfx942."""
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    path = folder / "one.hip"
    path.write_text(source)
    return mfmasim.compile(path, "gfx942")["one"]


def executed(text, folder):
    """What one instruction sequence makes of drawn operands."""
    placed = text.format(d="%0", x="%1", y="%2", z="%3")
    source = f"""#include <hip/hip_runtime.h>
extern "C" __global__ void one(unsigned *o, const unsigned *x, const unsigned *y, const unsigned *z) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned d = z[i];
    __asm__ volatile("{placed}" : "=&v"(d) : "v"(x[i]), "v"(y[i]), "v"(z[i]) : "vcc");
    o[i] = d;
}}"""
    kernel = compiled(folder, source)
    out = np.zeros(WORDS, np.uint32)
    report = mfmasim.device("sim").launch(kernel, WORDS // 256, 256, [out, drawn(1), drawn(2), drawn(3)], checks="none")
    assert report.ok
    return out


@pytest.mark.parametrize("name", PAIRS)
def test_two_spellings_are_one_function(name, tmp_path):
    first, second = (executed(text, tmp_path) for text in PAIRS[name])
    assert np.array_equal(first, second)
    assert {"v_fmac_f32", "v_fmaak_f32", "v_fmamk_f32"} <= set(SAME)
    assert set(PRODUCTS) == {"v_mul_f32", "v_add_f32", "v_fma_f32"}


@pytest.mark.parametrize("name", PACKED)
def test_half_of_a_packed_operation_is_the_operation(name, tmp_path):
    """The instruction on two F32 beside the same one on each."""
    third = ", %3" if "fma" in name else ""
    source = f"""#include <hip/hip_runtime.h>
typedef float two __attribute__((ext_vector_type(2)));
extern "C" __global__ void one(two *o, float *single, const two *x, const two *y, const two *z) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    two d;
    __asm__ volatile("{name} %0, %1, %2{third}" : "=&v"(d) : "v"(x[i]), "v"(y[i]), "v"(z[i]));
    o[i] = d;
    float low, high;
    __asm__ volatile("{PACKED[name]} %0, %1, %2{third}" : "=&v"(low) : "v"(x[i].x), "v"(y[i].x), "v"(z[i].x));
    __asm__ volatile("{PACKED[name]} %0, %1, %2{third}" : "=&v"(high) : "v"(x[i].y), "v"(y[i].y), "v"(z[i].y));
    single[2 * i] = low;
    single[2 * i + 1] = high;
}}"""
    kernel = compiled(tmp_path, source)
    out, single = np.zeros(WORDS, np.uint32), np.zeros(WORDS, np.uint32)
    args = [out, single, drawn(1), drawn(2), drawn(3)]
    assert mfmasim.device("sim").launch(kernel, WORDS // 512, 256, args, checks="none").ok
    assert np.array_equal(out, single)


def stepped(arch):
    """Instructions whose results are chains of steps, by model and formats."""
    found = {}
    for name in instructions(arch):
        op = mfmasim.instruction(arch, name) if "f8f6f4" not in name else None
        if op is None or op.row.sparse or op.row.scaled or op.D.format != "f32" or op.D.blocks > 1:
            continue
        if op.model.algorithm in STEPPED:
            found.setdefault((op.model.name, op.A.format, op.B.format), []).append(op)
    return found


@pytest.mark.parametrize(
    "arch", tiers([name for name in ARCHITECTURES if instructions(name)], ["gfx942", "gfx950", "gfx1201"])
)
def test_two_shapes_are_one_chain_of_steps(arch):
    """A shape of more products is the shapes of fewer, one after the other; sorted steps in any order."""
    rng, compared = np.random.default_rng(7), 0
    for (_, first, second), shapes in stepped(arch).items():
        whole = max(shapes, key=lambda op: op.A.cols)
        k = whole.A.cols
        a, b = codes(rng, first, (32, k)), codes(rng, second, (k, 32))
        c = drawn(int(rng.integers(1 << 30)), 1024).reshape(32, 32)
        c[(c & 0x7F800000) == 0x7F800000] = 0x3F800000
        wanted = product(whole, a, b, c)
        sorts = whole.model.algorithm == "exact" or (
            whole.model.algorithm == "aligned" and whole.model.partial_sums == 1
        )
        for op in shapes:
            size = op.A.cols
            if size % op.model.group and size != k:
                continue
            found = c
            for start in range(0, k, size):
                part = np.arange(start, start + size)
                if sorts and size <= op.model.group:
                    part = rng.permutation(part)
                found = product(op, a[:, part], b[part], found)
            rows, cols = min(op.D.rows, whole.D.rows), min(op.D.cols, whole.D.cols)
            assert np.array_equal(found[:rows, :cols], wanted[:rows, :cols]), (whole, op)
            compared += 1
    assert compared >= 1


def codes(rng, name, shape):
    """Finite numbers of a format, near one another."""
    fmt = number_format(name)
    return fmt.encode(rng.normal(size=shape)).astype(np.uint32)


def product(op, a, b, c):
    """D of an instruction, in place of its part of C."""
    out = c.copy()
    rows, cols = op.D.rows, op.D.cols
    out[:rows, :cols] = op.multiply(a[:rows], b[:, :cols], c[:rows, :cols])
    return out
