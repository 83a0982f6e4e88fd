"""Which kernel an adaptive product takes: as the published code says, as its README says, and what is taken here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mfmasim
from hipkernels.wmma.selection import WAYS, choose, described, published
from mfmasim.errors import MfmasimError
from mfmasim.verify import select, verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import passes
from tests.slow.wmma import ADAPTIVE

TABLE = {
    # shape: published code, README
    (256, 256, 256): ("64x64", "64x64"),
    (511, 511, 64): ("64x64", "64x64"),
    (512, 512, 512): ("128x64", "128x64"),
    (640, 640, 1024): ("128x64", "k_unrolled"),
    (768, 768, 512): ("k_unrolled", "128x64"),
    (1024, 1024, 1024): ("k_unrolled", "k_unrolled"),
    (1536, 64, 4096): ("k_unrolled", "128x64"),
    (1537, 64, 4096): ("128x64", "128x64"),
    (2048, 2048, 1024): ("128x64", "k_unrolled"),
    (2048, 2048, 2048): ("128x64", "128x64"),
    (4096, 4096, 4096): ("128x64", "128x64"),
    (4096, 1024, 64): ("128x64", "128x64"),
    (8192, 1024, 2048): ("64x64", "128x64"),
    (4096, 8192, 2048): ("256x64", "128x64"),
    (4096, 11008, 4096): ("256x64", "128x64"),
}
sizes = st.integers(1, 1 << 15)


@pytest.mark.trap("T29")
@pytest.mark.parametrize("shape", TABLE)
def test_the_published_code_and_the_readme(shape):
    assert (published(*shape), described(*shape)) == TABLE[shape]


def test_both_differ_on_some_shapes():
    assert sum(one != other for one, other in TABLE.values()) == 7


def test_no_shape_takes_the_widest_tile():
    edges = [1, 511, 512, 767, 768, 1024, 1536, 1537, 2047, 2048, 4095, 4096, 8191, 8192, 16384, 40000]
    taken = {published(m, n, k) for m in edges for n in edges for k in (16, 511, 512, 4096)}
    assert taken == {"64x64", "128x64", "256x64", "k_unrolled"}


@given(sizes, sizes, sizes)
def test_what_is_taken_fits_the_shape(m, n, k):
    name, source, kernel, whole = choose(m, n, k)
    way = WAYS[name]
    assert (source, kernel) == ((way.source, way.kernel) if whole else way.any_shape)
    assert not whole or (n % 8 == 0 and k % way.k == 0)
    assert whole or n % 8 or k % 16
    assert name == published(m, n, k) or (published(m, n, k), name) == ("k_unrolled", "128x64")


def test_the_published_code_takes_a_kernel_that_cannot_do_the_shape():
    shape = (1024, 1024, 1040)
    assert published(*shape) == "k_unrolled"
    assert 1040 % WAYS["k_unrolled"].k == 16
    assert choose(*shape)[:3] == ("128x64", "tiles.hip", "tile_128x64")
    assert choose(1024, 1020, 1040)[2] == "any_128x64"
    assert choose(1024, 1024, 1041)[2] == "any_k_unrolled"


def test_the_unrolled_kernel_reads_outside_where_the_published_code_would_take_it():
    """K = 48 stands for 1040, 16 beyond whole tiles of 32: A's next row, then nothing; rows of B that are not there."""
    m, n, k = 16, 16, 48
    a, b = np.ones((m, k), np.float16), np.ones((k, n), np.float16)
    c = np.full((m, n), np.nan, np.float32)
    source = ADAPTIVE[0].source.with_name(WAYS["k_unrolled"].source)
    kernel = code_for(source, "gfx1151")["k_unrolled"]
    args = [a, b, c, *map(np.int32, (m, n, k, k, n, n))]
    report = mfmasim.device("sim").launch(kernel, (1, 1), WAYS["k_unrolled"].threads, args)
    errors = {f.id for f in report.findings if f.severity == "error"}
    assert errors == {"bounds-outside-buffer"}
    assert (c != k).all()


@pytest.mark.parametrize(("case", "arch"), select(ADAPTIVE, "gfx1151"))
def test_adaptive_products_are_proved(case, arch):
    result = passes(case, arch)
    assert result.kernel == choose(*(case.parameters[x] for x in "MNK"))[2]


def test_the_cases_take_every_way_but_the_largest():
    assert {choose(*(case.parameters[x] for x in "MNK"))[2] for case in ADAPTIVE} == {
        "tile_64x64",
        "tile_128x64",
        "k_unrolled",
        "any_128x64",
    }


def test_another_shape_is_refused_if_it_takes_another_kernel():
    (case,) = [case for case in ADAPTIVE if case.title == "adaptive[40x40x48]"]
    with pytest.raises(MfmasimError, match=r"\(1024, 40, 512\) takes k_unrolled, not tile_64x64"):
        verify_case(case.with_parameters({"M": 1024, "K": 512}), "gfx1151")
