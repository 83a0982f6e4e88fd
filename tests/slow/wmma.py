"""A slow model of the WMMA kernels, tile after tile of K, and their launch with NaN all around."""

import numpy as np

import mfmasim
from mfmasim.verify import find
from mfmasim.verify.prebuilt import code_for

ARCHS = ("gfx1151", "gfx1201")
INSTRUCTION = "v_wmma_f32_16x16x16_f16"
SOURCES = ("tiles", "variants", "any_shape", "swizzled", "roles", "epilogue", "any_variants")
DECLARED = dict(find("wmma"))["wmma"]
ADAPTIVE = [case for case in DECLARED if case.title.startswith("adaptive")]
GEMMS = [case for case in DECLARED if case.source.stem in SOURCES and case not in ADAPTIVE]
"""Cases of kernels that compute C = A B, all with the same arguments."""
BASIC = [case for case in GEMMS if case.source.stem in SOURCES[:4] and not case.title.startswith(("xor", "any_xor"))]
"""Those of the tiles, of the order of loads and of the places in the LDS."""


def halves(rng, shape, special=False):
    """f16 codes: normal numbers, or now and then an extreme one."""
    codes = rng.normal(size=shape).astype(np.float16).view(np.uint16)
    if special:
        extremes = np.array([0, 0x8000, 1, 0x8001, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01], np.uint16)
        codes = np.where(rng.random(shape) < 0.01, rng.choice(extremes, shape), codes)
    return codes


def in_order(arch, codes):
    """(..., 16) of K as a kernel takes it from a line of the LDS, in the order in which the instruction counts K."""
    if arch == "gfx1151":
        return codes
    place = np.arange(16)  # RDNA4: eight in a row in one half of the lanes count as 0 to 3 and 8 to 11
    return codes[..., 8 * (place >> 2 & 1) + (place & 3) + 4 * (place >> 3)]


def model(arch, a, b):
    """A (M, K) times B (K, N), both f16 codes, tile after tile of K by the arithmetic of the instruction -> f32."""
    op = mfmasim.instruction(arch, INSTRUCTION)
    (m, k), n = a.shape, b.shape[1]
    rows, depth, columns = -(-m // 16), -(-k // 16), -(-n // 16)
    wide_a = np.zeros((16 * rows, 16 * depth), np.uint16)
    wide_b = np.zeros((16 * columns, 16 * depth), np.uint16)
    wide_a[:m, :k], wide_b[:n, :k] = a, b.T
    tiles_a = in_order(arch, wide_a.reshape(rows, 1, 16, depth, 16))
    tiles_b = in_order(arch, wide_b.reshape(1, columns, 16, depth, 16))
    c = np.zeros((rows, columns, 16, 16), np.uint32)
    for step in range(depth):
        x, y = (np.broadcast_to(t[:, :, :, step], c.shape) for t in (tiles_a, tiles_b))
        c = op.multiply(x, y.swapaxes(-1, -2), c)
    return c.swapaxes(1, 2).reshape(16 * rows, 16 * columns)[:m, :n]


def launch(name, arch, a, b, gaps=(0, 0, 0), checks=None):
    """C of a kernel with NaN everywhere around the matrices."""
    (case,) = [case for case in GEMMS if case.title == name]
    (m, k), n = a.shape, b.shape[1]
    lda, ldb, ldc = k + gaps[0], n + gaps[1], n + gaps[2]
    wide_a, wide_b = np.full((m, lda), 0x7E00, np.uint16), np.full((k, ldb), 0x7E00, np.uint16)
    wide_a[:, :k], wide_b[:, :n] = a, b
    c = np.full((m, ldc), 0x7FC00000, np.uint32)
    built = case.with_parameters({"M": m, "N": n, "K": k}).make()
    args = [wide_a, wide_b, c, *map(np.int32, (m, n, k, lda, ldb, ldc))]
    kernel = code_for(case.source, arch)[case.kernel_name()]
    report = mfmasim.device("sim").launch(kernel, built.grid, built.block, args, checks=checks)
    assert [f.message for f in report.findings if f.severity == "error"] == []
    assert (c[:, n:] == 0x7FC00000).all()
    return c[:, :n]
