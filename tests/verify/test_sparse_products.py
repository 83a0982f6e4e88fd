"""Products with a 4:2 sparse A: what is declared, the exact result, and what the mapping check says of the index."""

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.errors import MfmasimError
from mfmasim.formats import format as number_format
from mfmasim.verify import A, B, Index, sparse
from mfmasim.verify.data import draw
from mfmasim.verify.exact import as_floats, evaluate, magnitude
from mfmasim.verify.roles import bytes_of, codes_of

GFX942 = arch("gfx942")
M, N, K = 5, 7, 24


def declared():
    return A("f16", (M, K // 2)), Index((M, K // 2)), B("f16", (K, N), order="column")


def slow(kept, index, b):
    """Sums of the products that hardware makes: kept element c with row 4 (c // 2) + index of B."""
    out = np.zeros((M, N))
    for m in range(M):
        for n in range(N):
            for c in range(K // 2):
                out[m, n] += kept[m, c] * b[4 * (c // 2) + index[m, c], n]
    return out


@pytest.mark.parametrize("data", ["integers", "one_hot"])
def test_the_exact_product_is_the_sum_of_selected_products(data):
    a, index, b = declared()
    codes = {t.name: draw(t, data, "test", GFX942) for t in (a, index, b)}
    decode = number_format("f16").decode
    wanted = slow(decode(codes["A"]), codes["index"], decode(codes["B"]))
    found = as_floats(evaluate(sparse(a, index) @ b, codes, GFX942))
    assert wanted.any()
    assert (found == wanted).all()
    assert (magnitude(sparse(a, index) @ b, codes, GFX942) >= abs(wanted)).all()


def test_an_infinity_that_the_index_does_not_select_takes_no_part():
    a, index, b = declared()
    codes = {t.name: draw(t, "integers", "test", GFX942) for t in (a, index, b)}
    codes["index"][0, :2] = 1, 3
    codes["A"][0, :2] = number_format("f16").encode(np.array([2.0, 0.0]))
    codes["B"][0, 0] = 0x7C00  # not selected by row 0
    found = as_floats(evaluate(sparse(a, index) @ b, codes, GFX942))
    assert np.isfinite(found[0]).all()
    codes["B"][3, 0] = 0x7C00  # selected, times 0
    assert np.isnan(as_floats(evaluate(sparse(a, index) @ b, codes, GFX942))[0, 0])


def test_positions_are_pairs_in_order_and_stored_lowest_first():
    index = Index((40, 16))
    codes = draw(index, "integers", "test", GFX942)
    assert (codes[:, ::2] < codes[:, 1::2]).all()
    assert {tuple(pair) for pair in codes.reshape(-1, 2).tolist()} == {
        (i, j) for i in range(4) for j in range(i + 1, 4)
    }
    stored = bytes_of(index, codes, GFX942)
    assert len(stored) == 40 * 16 // 4
    assert stored[0] == codes[0, 0] | codes[0, 1] << 2 | codes[0, 2] << 4 | codes[0, 3] << 6
    assert (codes_of(index, stored, GFX942) == codes).all()


def test_wrong_declarations_are_one_line():
    a, index, b = declared()
    with pytest.raises(MfmasimError, match="takes A and an Index, not B"):
        sparse(b, index)
    with pytest.raises(MfmasimError, match="takes A and an Index, not A"):
        sparse(a, a)
    with pytest.raises(MfmasimError, match=r"kept elements \(5, 12\) need an index of that shape, not \(5, 24\)"):
        sparse(a, Index((M, K)))
    with pytest.raises(MfmasimError, match="an even number is expected"):
        sparse(A("f16", (M, 3)), Index((M, 3)))
    with pytest.raises(MfmasimError, match="inner sizes differ"):
        sparse(a, index) @ B("f16", (K // 2, N))
