"""The host functions of the text: every one gives the bits of its kernel's arithmetic, for whole shapes and any."""

import numpy as np
import pytest

import mfmasim
from hipkernels.attention.reference import attention
from hipkernels.wmma import ops
from mfmasim import MfmasimError

WMMA = "v_wmma_f32_16x16x16_f16"
RNG = np.random.default_rng(7)


def operands(m, n, k):
    return RNG.normal(size=(m, k)).astype(np.float16), RNG.normal(size=(k, n)).astype(np.float16)


def by_instruction(a, b, arch="gfx1151"):
    """The product by the instruction's own arithmetic, 16 of K after the other; shorter sums are filled with zeros."""
    k = -(-a.shape[1] // 16) * 16
    wide, high = np.zeros((a.shape[0], k), np.float16), np.zeros((k, b.shape[1]), np.float16)
    wide[:, : a.shape[1]], high[: b.shape[0]] = a, b
    op = mfmasim.instruction(arch, WMMA)
    rows, columns = -(-a.shape[0] // 16) * 16, -(-b.shape[1] // 16) * 16
    x, y = np.zeros((rows, k), np.float16), np.zeros((k, columns), np.float16)
    x[: a.shape[0]], y[:, : b.shape[1]] = wide, high
    c = np.zeros((rows, columns), np.uint32)
    for i in range(0, rows, 16):
        for j in range(0, columns, 16):
            tile = np.zeros((16, 16), np.uint32)
            for z in range(0, k, 16):
                left = np.ascontiguousarray(x[i : i + 16, z : z + 16]).view(np.uint16)
                right = np.ascontiguousarray(y[z : z + 16, j : j + 16]).view(np.uint16)
                tile = op.multiply(left, right, tile)
            c[i : i + 16, j : j + 16] = tile
    return c.view(np.float32)[: a.shape[0], : b.shape[1]]


@pytest.mark.parametrize("name", [*ops.VARIANTS, "matmul_adaptive"])
def test_each_product_has_the_bits_of_its_instructions(name):
    for m, n, k in ((70, 40, 64), (5, 9, 7)):
        a, b = operands(m, n, k)
        assert (getattr(ops, name)(a, b).view(np.uint32) == by_instruction(a, b).view(np.uint32)).all()


@pytest.mark.parametrize("config", range(4))
def test_each_tile(config):
    a, b = operands(33, 24, 32)
    assert (ops.matmul_tiled(a, b, config).view(np.uint32) == by_instruction(a, b).view(np.uint32)).all()


@pytest.mark.parametrize("shape", [(40, 24, 32), (17, 11, 13)])
def test_scaled_products(shape):
    a, b = operands(*shape)
    old = RNG.normal(size=(shape[0], shape[1])).astype(np.float32)
    product = by_instruction(a, b).astype(np.float64)
    for found, wanted in (
        (ops.gemm(a, b, alpha=2.0), 2 * product),
        (ops.gemm(a, b, alpha=2.0, beta=0.5, C=old), 2 * product + 0.5 * old),
        (ops.gemm_adaptive(a, b, alpha=1.5, beta=0.25, C=old), 1.5 * product + 0.25 * old),
    ):
        assert np.abs(found - wanted).max() <= 2**-22 * np.abs(wanted).max()
    c = old.copy()
    assert ops.gemm_inplace(a, b, c, alpha=1.5, beta=0.25) is c
    assert (c == ops.gemm(a, b, alpha=1.5, beta=0.25, C=old)).all()


@pytest.mark.parametrize(("causal", "scale"), [(False, -1.0), (True, 0.1)])
def test_attention_is_within_its_bound(causal, scale):
    q = RNG.normal(size=(1, 2, 20, 64)).astype(np.float16)
    k, v = (RNG.normal(size=(1, 2, 33, 64)).astype(np.float16) for _ in "kv")
    found = ops.flash_attention(q, k, v, causal=causal, scale=scale).astype(np.float64)
    parts = (x.astype(np.float64) for x in (q, k, v))
    exact, bound = attention("f16", *parts, int(causal), None if scale == -1.0 else scale, tile=32, weights_in="f16")
    assert (np.abs(found - exact) <= bound).all()


def test_arguments_that_do_not_fit_are_refused_in_one_line():
    a, b = operands(4, 8, 16)
    for call, words in (
        (lambda: ops.matmul(a.astype(np.float32), b), "A is float32"),
        (lambda: ops.matmul(a, b[:8]), "columns of A"),
        (lambda: ops.matmul_tiled(a, b, 4), "1 \\(128x64\\)"),
        (lambda: ops.gemm(a, b, beta=1.0), "without a C"),
        (lambda: ops.gemm(a, b, 1.0, 1.0, np.zeros((4, 4), np.float32)), "shape \\(4, 8\\) is expected"),
        (lambda: ops.gemm_inplace(a, b, np.zeros((8, 4), np.float32).T), "in place"),
        (lambda: ops.flash_attention(a, a, a), "\\(B, H, N, D\\)"),
    ):
        with pytest.raises(MfmasimError, match=words) as error:
            call()
        assert "\n" not in str(error.value)
