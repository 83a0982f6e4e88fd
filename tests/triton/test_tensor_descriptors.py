"""Programs of Triton that move tiles with gfx1250's tensor data mover, as its compiler describes and orders them."""

import importlib.metadata
import struct

import numpy as np
import pytest

from tests.triton.needs import HAVE, errors_of, mt, needed  # noqa: F401  (a fixture)

if HAVE:
    import torch

    from tests.triton import kernels
    from tests.triton.cases import f64, numbers

OLD = HAVE and tuple(map(int, importlib.metadata.version("triton").split(".")[:2])) < (3, 9)
if HAVE and not OLD:
    from tests.triton import tensor_kernels

new = pytest.mark.skipif(OLD, reason="before Triton 3.9 descriptors were no tensor instructions here")


@pytest.mark.oracle
@new
@pytest.mark.parametrize(
    "stages", [pytest.param(1, marks=pytest.mark.long), 2, pytest.param(3, marks=pytest.mark.long)]
)
def test_a_product_by_descriptors(stages):
    """Tiles that extend beyond every edge, in one, two and three slots of the LDS; nothing is found."""
    m, n, k = 80, 48, 96
    rng = np.random.default_rng(stages)
    with mt.session(arch="gfx1250", checks="all") as session:
        a, b = numbers(rng, (m, k), "f16"), numbers(rng, (n, k), "f16")
        c = torch.full((m, n), 77.0, device="cuda")
        grid = (-(-m // 32), -(-n // 32))
        done = kernels.described_product[grid](a, b, c, m, n, k, 32, 32, 32, num_stages=stages)
    assert (f64(c) == f64(a) @ f64(b).T).all()
    assert "tensor_load_to_lds" in done.asm["amdgcn"]
    assert "tensor_store_from_lds" in done.asm["amdgcn"]
    errors = errors_of(session, "gfx1250")
    assert not errors, errors[0].lines()


@pytest.mark.oracle
@new
@pytest.mark.parametrize("bits", [16, pytest.param(32, marks=pytest.mark.long)])
def test_rows_by_their_indices(bits):
    """Any order and repetitions; a list that needs several instructions."""
    rng = np.random.default_rng(bits)
    with mt.session(arch="gfx1250", checks="all") as session:
        source = numbers(rng, (40, 64), "f32", most=1000)
        rows = torch.from_numpy(rng.integers(0, 40, 32).astype(np.int32)).to("cuda")
        out = torch.zeros((32, 64), device="cuda")
        tensor_kernels.gathered[(1,)](source, out, rows, 40, 64, 32, 64, bits, num_warps=4)
    assert (f64(out) == f64(source)[f64(rows).astype(int)]).all()
    assert not [finding for finding in session.findings if finding.severity == "error"]


@pytest.mark.oracle
@new
@pytest.mark.parametrize("waits", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_barrier_in_the_lds(waits):
    """The wait for the barrier is all that completes the tiles: without it, each read is too early."""
    with mt.session(arch="gfx1250", checks="races") as session:
        source = numbers(np.random.default_rng(1), (32, 192), "f32", most=1000)
        out = torch.zeros((32, 192), device="cuda")
        tensor_kernels.signalled[(1,)](source, out, 32, 192, 32, 64, waits, num_warps=4)
    assert (f64(out) == f64(source)).all()
    found = {finding.id for finding in session.findings if finding.severity == "error"}
    assert found == (set() if waits else {"races-own-in-flight", "races-not-done-at-barrier"})


class Described:
    """A descriptor as a program holds it."""

    def __init__(self, shape, strides):
        self.shape, self.strides, self.base = shape, strides, self

    def data_ptr(self):
        return 0x7F0012345680


@pytest.mark.parametrize(
    ("block", "waves", "tiles"),
    [([100], 8, [13]), ([32, 32], 4, [32, 8]), ([2, 64], 8, [16, 1]), ([4, 2, 8], 16, [4, 1, 1])],
)
def test_the_hosts_descriptor_has_a_waves_part_of_the_block(block, waves, tiles):
    """Expected by hand: the first dimension is halved as long as two elements are left, then the next."""
    from mfmasim.triton.tiles import host_tile

    strides = [1000 ** (len(block) - 1 - n) for n in range(len(block))]
    about = {"block_size": block, "elem_bits": 16, "interval_padding_pairs": [[32, 8]]}
    made = host_tile(Described([7 + n for n in range(len(block))], strides), about, waves)
    words = struct.unpack("<20I", made.packed())
    whole = [sum(word << 32 * n for n, word in enumerate(words[a:b])) for a, b in ((0, 4), (4, 12), (12, 16), (16, 20))]
    assert whole[0] == 1 | 0x7F0012345680 << 64 | 2 << 126
    assert whole[1] & 0x1FFFFFFFF == 1 << 16 | 1 << 20 | 3 << 22 | 3 << 25
    sizes, steps = [*(6 + n for n in range(len(block), 0, -1)), 0, 0], [1000, 1000000][: len(block) - 1]
    assert [whole[1] >> 48 & 0xFFFFFFFF, whole[1] >> 80 & 0xFFFFFFFF, whole[2] & 0xFFFFFFFF] == sizes[:3]
    assert [whole[1] >> 112 + 16 * n & 0xFFFF for n in range(3)] == [*tiles, 0, 0][:3]
    assert [whole[1] >> 160 + 48 * n & (1 << 48) - 1 for n in range(2)] == [*steps, 0, 0][:2]
    assert whole[3] == 0
