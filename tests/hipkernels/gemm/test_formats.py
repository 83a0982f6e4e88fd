"""hipkernels/gemm_f16 and gemm_mx: the four shapes of 16-bit matrix instructions, and the formats with block scales."""

from dataclasses import replace

import pytest

from hipkernels.gemm_mx.cases import BITS
from mfmasim.verify import find, select
from tests.hipkernels.family import caught, mutants, one_of_each, passes, titled
from tests.longtier import turn
from tests.tiers import tiers

HALF, SCALED = (dict(find(name))[name] for name in ("gemm_f16", "gemm_mx"))
RUNS = select(HALF, None) + select(SCALED, None)
MUTANTS = mutants("gemm_f16", "gemm_mx")
QUICK = one_of_each(MUTANTS)

# Of the reads of fragments, where the swizzle does not fit the shape: 8 bytes a lane, or 32 rows.
DEGREES = {
    ("16x16x16", "gfx942"): 2,
    ("16x16x16", "gfx950"): 2,
    ("32x32x8", "gfx942"): 2,
    ("32x32x8", "gfx950"): 4,
    ("16x16x32", "gfx950"): 1,
    ("32x32x16", "gfx950"): 2,
}


def two_way(case):
    """Whether reads of 32 rows conflict: with padding for 16 rows, and 6 bits in places that are right for 16."""
    if case.title.startswith("scaled_32x32x64"):
        return True
    return case.title.startswith("tiled_32x32x64") and {6} & {BITS[case.parameters[name]] for name in "ab"}


@pytest.mark.parametrize(("case", "arch"), titled(RUNS))
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert result.mapping["slots_checked"] > 90_000
    reads = [site["degrees"] for site in result.lds["sites"] if site["instruction"].startswith("ds_read")]
    wanted = 2 if two_way(case) else DEGREES.get((case.title.partition("_")[2], arch), 1)
    assert reads
    assert max(degree for degrees in reads for degree in degrees) == wanted


@pytest.mark.parametrize(
    "name",
    [
        "f16_16x16x16",
        "bf16_32x32x8",
        "scaled[a=e4m3fn,b=e4m3fn]",
        "scaled[a=e2m1fn,b=e2m3fn]",
        "scaled_32x32x64[a=e2m3fn,b=e5m2]",
        "tiled[a=e5m2,b=e3m2fn]",
    ],
)
def test_other_data_factors_and_strides(name):
    ((case, arch), *_) = [run for run in RUNS if run[0].title == name]
    for changes in ({"beta": 0.0, "ldc": 131}, {"alpha": -1.0, "beta": 1.0, "lda": 384, "ldb": 512}):
        varied = replace(case.with_parameters(changes), data=("integers", "one_hot", "special", "normal"), mapping=None)
        passes(varied, arch)


@pytest.mark.parametrize("name", tiers(MUTANTS, QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


# Of the pairs of formats, those alike: the others differ in how they are read alone.
LARGER = [(case, arch) for case, arch in RUNS if case.parameters.get("a") == case.parameters.get("b")]


@pytest.mark.long
@pytest.mark.parametrize(("case", "arch"), titled(LARGER))
def test_larger_shapes(case, arch):
    shapes = turn(((128, 256, 768), (384, 128, 512), (256, 384, 256), (512, 512, 256)), 2)
    assert len(shapes) == 2
    for m, n, k in shapes:
        varied = replace(case.with_parameters({"M": m, "N": n, "K": k}), mapping=None)
        passes(varied, arch)
