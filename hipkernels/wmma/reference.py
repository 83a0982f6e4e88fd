"""What the split kernels have to leave, by the arithmetic of the instruction and of f32."""

import numpy as np

import mfmasim


def tile_product(arch, a, b):
    """Multiply a (16, K) by b (K, 16) in f16, K a multiple of 16 -> f32 (16, 16)."""
    op = mfmasim.instruction(arch, "v_wmma_f32_16x16x16_f16")
    # RDNA4: eight of K in a row in one half of the lanes count as 0 to 3 and 8 to 11 (layouts of `mfmasim show`).
    halves = op.A.lanes // 16 * op.A.vgprs < 16
    place = np.arange(16)
    order = 8 * (place >> 2 & 1) + (place & 3) + 4 * (place >> 3) if halves else place
    c = np.zeros((16, 16), np.uint32)
    for k in range(0, a.shape[1], 16):
        c = op.multiply(a[:, k + order].view(np.uint16), b[k + order].view(np.uint16), c)
    return c.view(np.float32)


def slices_of(arch, a, b, slice_):
    """Products of the slices of K, (slices, M, N)."""
    (m, k), n = a.shape, b.shape[1]
    a, b = np.pad(a, ((0, -m % 16), (0, 0))), np.pad(b, ((0, 0), (0, -n % 16)))
    firsts = range(0, k, slice_)
    out = np.empty((len(firsts), len(a), b.shape[1]), np.float32)
    for s, first in enumerate(firsts):
        for i in range(0, m, 16):
            for j in range(0, n, 16):
                rows, columns = a[i : i + 16, first : first + slice_], b[first : first + slice_, j : j + 16]
                out[s, i : i + 16, j : j + 16] = tile_product(arch, np.ascontiguousarray(rows), columns.copy())
    return out[:, :m, :n]


def in_their_order(partial):
    """(slices, elements) -> (elements,), one f32 addition after the other."""
    total = np.zeros(partial.shape[1], np.float32)
    for layer in partial:
        total += layer
    return total
