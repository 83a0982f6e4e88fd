"""Fragments of running kernels beside the layouts that Triton's compiler states."""

import pytest

from mfmasim.verify import A, B, C, ScaleA, ScaleB
from tests.triton.needs import HAVE, mt, needed  # noqa: F401  (a fixture)

if HAVE:
    from tests.triton import kernels

SIGNATURE = {
    "a": "*fp16:16",
    "b": "*fp16:16",
    "c": "*fp32:16",
    "K": "i32",
    "sa": "i32:16",
    "sb": "i32:16",
    "sc": "i32:16",
}
SIZES = {"M": 32, "N": 32, "KB": 32}


def product(arch):
    """Two tiles of rows, two steps along K, four waves."""
    code = mt.compile(kernels.matmul, SIGNATURE, SIZES, arch, num_warps=4)
    a, b, c = A("f16", (64, 64)), B("f16", (64, 32)), C("f32", (64, 32))
    return code, (2, [a, b, c, 64, 64, 32, 32], a @ b)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "arch",
    ["gfx950", *(pytest.param(arch, marks=pytest.mark.long) for arch in ("gfx942", "gfx1151", "gfx1201", "gfx1250"))],
)
def test_every_fragment_holds_what_the_layout_says(arch):
    code, run = product(arch)
    proof = mt.prove(code, *run)
    assert proof.ok, (proof.others, proof.mapping.findings)
    operation = proof.dots[0].operation
    steps = 64 * 32 * 64 // (operation.m * operation.n * operation.k)
    # Waves beyond the instructions' tiles repeat others' work.
    assert proof.fragments >= 2 * steps
    assert proof.fragments % (2 * steps) == 0
    assert proof.mapping.slots_checked > 0


@pytest.mark.oracle
def test_another_layout_than_the_codes_is_found():
    code, run = product("gfx1201")
    assert mt.prove(code, *run).ok
    code.asm["ttgir"] = code.asm["ttgir"].replace("kWidth = 8", "kWidth = 4")
    proof = mt.prove(code, *run)
    assert not proof.ok
    assert proof.holding < proof.fragments
    assert "kernels.py:" in proof.others[0]
    assert "operand" in proof.others[0]


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx950", "gfx1250"])
def test_scaled_products(arch):
    types = dict.fromkeys("ab", "*fp8e4nv:16") | dict.fromkeys("pq", "*u8:16") | {"c": "*fp32:16"}
    m, n, k = 64, 64, 128
    code = mt.compile(kernels.scaled, types, {"M": m, "N": n, "K": k, "P": 1, "F": "e4m3"}, arch, num_warps=4)
    a, b, c = A("e4m3fn", (m, k)), B("e4m3fn", (k, n)), C("f32", (m, n))
    p, q = ScaleA((m, k // 32)), ScaleB((k // 32, n), order="column")
    proof = mt.prove(code, 1, [a, p, b, q, c])
    assert {dot.verdict for dot in proof.dots} == {"equal"}
    assert {one.operand for one in proof.dots[0].operands} == {"A", "B", "D", "scale_A", "scale_B"}
    assert 0 < proof.fragments == proof.holding
    assert proof.ok, proof.mapping.findings


@pytest.mark.oracle
@pytest.mark.long
def test_text_that_triton_does_not_read():
    """It prints layouts of one wave without that wave."""
    from mfmasim.triton.layouts.ttgir import read

    ((dots, shared),) = read(["module {"], "gfx950", 64)
    assert "Triton cannot read the text" in dots[0].unread
    assert not shared
