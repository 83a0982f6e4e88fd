"""Gluon kernels for gfx1250's tensor data mover: rows by their indices, and a barrier in the LDS."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

tdm, mbarrier = gl.amd.cdna5.tdm, gl.amd.cdna5.mbarrier


@gluon.jit
def gathered(source, out, rows, M, N, R: gl.constexpr, C: gl.constexpr, bits: gl.constexpr):
    """R rows of a matrix in any order; indices of 16 or 32 bits."""
    shared: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[C, 8]], [R, C], [1, 0])
    lanes: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    lines: gl.constexpr = gl.SliceLayout(1, gl.BlockedLayout([R, 1], [1, 32], [1, 4], [1, 0]))
    tile = tdm.make_tensor_descriptor(base=source, shape=(M, N), strides=(N, 1), block_shape=(R, C), layout=shared)
    place = gl.allocate_shared_memory(tile.dtype, shape=tile.block_shape, layout=tile.layout)
    index = gl.load(rows + gl.arange(0, R, layout=lines))
    if bits == 16:
        tdm.async_gather(tile, index.to(gl.int16), place)
    else:
        tdm.async_gather(tile, index, place)
    tdm.async_wait(0)
    r, c = gl.arange(0, R, layout=gl.SliceLayout(1, lanes)), gl.arange(0, C, layout=gl.SliceLayout(0, lanes))
    gl.store(out + r[:, None] * C + c[None, :], place.load(layout=lanes))


@gluon.jit
def signalled(source, out, M, N, R: gl.constexpr, C: gl.constexpr, waits: gl.constexpr):
    """Tiles that arrive at a barrier in the LDS, for which the waves wait, or, wrong, do not."""
    shared: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[C, 8]], [R, C], [1, 0])
    lanes: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile = tdm.make_tensor_descriptor(base=source, shape=(M, N), strides=(N, 1), block_shape=(R, C), layout=shared)
    place = gl.allocate_shared_memory(tile.dtype, shape=tile.block_shape, layout=tile.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=4)
    r, c = gl.arange(0, R, layout=gl.SliceLayout(1, lanes)), gl.arange(0, C, layout=gl.SliceLayout(0, lanes))
    for k in range(3):
        tdm.async_load(tile, [0, k * C], place, mbarrier=arrived)
        if waits:
            mbarrier.wait(arrived, k & 1)
        gl.store(out + r[:, None] * N + c[None, :] + k * C, place.load(layout=lanes))
        gl.barrier()
