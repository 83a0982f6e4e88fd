"""hipkernels/gemm_blockscale: scales in f32 beside FP8, experts, and the quantising epilogue."""

from dataclasses import replace

import numpy as np
import pytest

from hipkernels.gemm_blockscale import reference
from hipkernels.gemm_blockscale.cases import MATRIX
from mfmasim.verify import find, product_by, select
from tests.hipkernels.family import caught, mutants, one_of_each, passes, titled
from tests.longtier import turn
from tests.tiers import tiers

((_, CASES),) = find("gemm_blockscale")
RUNS = select(CASES, None)
MUTANTS = mutants("gemm_blockscale")
QUICK = one_of_each(MUTANTS)
SHAPES = ((1, 384, 512), (257, 128, 1024), (300, 256, 640), (129, 512, 256))


LONG = ("grouped_gate", "grouped_xcd", "grouped_wave32")


@pytest.mark.parametrize(
    ("case", "arch"),
    titled(RUNS, lambda case, arch: "[" in case.title or (arch != "gfx942" and case.title not in LONG)),
)
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert case.mapping is None or result.mapping["slots_checked"] > 300_000
    degrees = {
        d
        for site in result.lds["sites"]
        if site["instruction"].startswith(("ds_read", "ds_load"))
        for d in site["degrees"]
    }
    assert degrees == {1}


@pytest.mark.parametrize("name", tiers(MUTANTS, QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


@pytest.mark.long
@pytest.mark.parametrize(("case", "arch"), titled([run for run in RUNS if "[" not in run[0].title]))
def test_larger_shapes(case, arch):
    if case.title.startswith("grouped"):
        shapes = [{"counts": (300, 1, 0, 129), "fold": 2, "N": 512, "K": 384}, {"counts": (64,) * 8, "fold": 8}]
    else:
        shapes = [{"M": m, "N": n, "K": k} for m, n, k in turn(SHAPES, 2)]
    assert len(shapes) == 2
    for shape in shapes:
        passes(replace(case.with_parameters(shape), mapping=None), arch)


def test_the_order_of_b_is_aiters():
    """`shuffle_weight` of aiter/ops/shuffle.py with (16, 16): a view in six axes, permuted 0 1 3 4 2 5."""
    b = np.random.default_rng(0).integers(0, 256, (3, 64, 128), np.uint8)
    theirs = b.reshape(-1, 64 // 16, 16, 128 // 32, 32 // 16, 16).transpose(0, 1, 3, 4, 2, 5).reshape(b.shape)
    assert np.array_equal(reference.shuffled(b), theirs)
    assert np.array_equal(reference.by_rows(theirs), b)


def test_a_block_on_cdna4_is_one_instruction():
    """There the order of K within a block is the instruction's own; the general reference takes it in turn."""
    rng = np.random.default_rng(1)
    a, b = (reference.mfmasim.format("e4m3fn").encode(rng.normal(size=(16, 128))).astype(np.uint8) for _ in "ab")
    ((part,),) = reference.blocks("gfx950", a, b)[None]
    order = np.arange(128).reshape(2, 4, 16).swapaxes(0, 1).reshape(-1)
    whole = product_by("gfx950", MATRIX.partition("(")[0] + "128_f8f6f4", a[:, order], b[:, order].T)
    assert np.array_equal(part.view(np.uint32), whole)


def test_the_list_of_experts():
    entries, experts = reference.experts_of((130, 0, 5), 135, 7, empty=1)
    assert experts.tolist() == [0, 0, 2, -1]
    assert sorted(entries[entries < 135]) == list(range(135))
    assert (entries[entries >= 135] == 135).all()
    assert [(part < 135).sum() for part in entries.reshape(-1, 128)] == [128, 2, 5, 0]
