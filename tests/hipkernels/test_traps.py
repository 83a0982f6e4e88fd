"""Traps of published kernels that one mutant or one case shows: what sees it, and what cannot (docs/traps.md)."""

from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.verify import find, verify_case
from mfmasim.verify.compare import bit_exact
from tests.hipkernels.family import caught, mutants


def verdict(family, name):
    """The verdict of a declared mutant, which is the declared one."""
    return caught(*mutants(family)[name])


def cases(family, name):
    """Cases of a family whose title begins with a name, on gfx950."""
    return [
        case for _, found in find(family) for case in found if case.title.startswith(name) and "gfx950" in case.arch
    ]


@pytest.mark.trap("T14b")
@pytest.mark.long
def test_k_permuted_alike_shows_in_the_mapping_alone():
    found = verdict("gemm_fp8", "k_permuted_alike")
    assert found.caught == ()
    assert found.result.outputs["mismatches"] == 0
    assert [f.severity for f in found.result.findings if f.id == "mapping-k-permuted"] == ["info"]


@pytest.mark.trap("T45")
@pytest.mark.long
def test_the_k_map_of_another_format_needs_the_mapping_or_distinct_scales():
    assert verdict("gemm_mx", "k_map_of_fp4_uniform").caught == ("mapping",)
    assert set(verdict("gemm_mx", "k_map_of_fp4").caught) == {"mapping", "outputs"}


@pytest.mark.trap("T18")
def test_the_limit_of_the_remap_may_be_included_or_not():
    """Of the remap in maps.h, for every grid up to 40 x 40; mutants.py of the family declares it as equivalent."""
    tiles, xcds, chunk = (x.ravel() for x in np.meshgrid(np.arange(1, 1601), np.arange(1, 9), np.arange(1, 33)))
    block = xcds * chunk
    limit = tiles // block * block
    local = limit // xcds
    assert (local // chunk * block + limit % xcds * chunk + local % chunk == limit).all()


@pytest.mark.trap("T21a")
@pytest.mark.long
def test_truncation_to_bf16_is_another_number_than_rounding():
    assert verdict("gemm_fp8", "truncated_to_bf16").caught == ("outputs",)
    value = np.array([1.99999, np.float32(0)], np.float32)
    bits = value.view(np.uint32)
    nan = np.array([0x7F800001], np.uint32)
    assert (bits >> 16 << 16).view(np.float32)[0] == 1.9921875
    assert mfmasim.format("bf16").decode(mfmasim.format("bf16").encode(value))[0] == 2.0
    assert np.isinf((nan >> 16 << 16).view(np.float32))[0], "a NaN becomes infinity"


@pytest.mark.trap("T25")
@pytest.mark.long
def test_a_column_of_a_is_seen_where_a_is_symmetric():
    found = verdict("wmma", "column_of_a_symmetric")
    assert found.caught == ("mapping",)
    assert found.result.outputs["mismatches"] == 0


@pytest.mark.trap("T37")
@pytest.mark.long
def test_the_first_version_of_the_cast_saturates_in_its_tail_alone():
    found = verdict("cast", "first_version")
    (difference,) = [f for f in found.result.findings if f.id == "outputs-differ"]
    assert (difference.expected, difference.actual) == ("0x7e (448)", "0x7f (nan)")


@pytest.mark.trap("T40")
@pytest.mark.long
def test_amax_of_a_nan_is_a_nan_in_every_kernel():
    every = [*cases("cast", "cast_amax_nan"), *cases("cast", "transpose_amax_nan")]
    assert len(every) >= 2
    for case in every:
        assert verify_case(case, "gfx950").status == "pass", case.title


@pytest.mark.parametrize(("arch", "clause"), [("gfx942", ""), ("gfx950", ", as when a block scale is off by two")])
def test_a_factor_of_four_names_only_causes_that_can_be(arch, clause, tmp_path):
    """No argument is FP8, so that none is of the other flavour; CDNA3 has no block scales."""
    (case,) = [case for case in cases("intro", "f16_16x16x16") if case.title == "f16_16x16x16"]
    source = tmp_path / case.source.name
    source.write_text(case.source.read_text().replace("+ line] = c[r];", "+ line] = 4 * c[r];"))
    result = verify_case(replace(case, source=source), arch)
    found = next(one for one in result.findings if one.id == "outputs-differ")
    assert found.message.endswith(f"nearly all are 4 times what they should be{clause}")


@pytest.mark.trap("T50")
def test_another_flavour_of_fp8_names_itself_by_its_factor():
    e4m3, out = mfmasim.format("e4m3fn"), mfmasim.format("bf16")
    codes = np.arange(1, 0x7E, dtype=np.uint8)
    right, other = (f.decode(codes) for f in (e4m3, mfmasim.format("e4m3fnuz")))
    for have, want, factor in ((other, right, "0.5"), (right**2, other**2, "4")):
        actual, expected = out.encode(have), out.encode(want)
        text = bit_exact(actual, expected, out).worst(actual, expected)
        assert f"nearly all are {factor} times what they should be, as when FP8 of OCP is read as FNUZ" in text
    for have, named in (
        (right * 8, "nearly all are 8 times what they should be"),
        (right + 1, ""),
        (right[:5] * 2, ""),
    ):
        actual, expected = out.encode(have), out.encode(right[: len(have)])
        text = bit_exact(actual, expected, out).worst(actual, expected)
        assert text.partition("; ")[2] == named


@pytest.mark.long
@pytest.mark.parametrize(("name", "factor"), [("fnuz_data_on_ocp_hardware", 4), ("ocp_data_on_fnuz_hardware", 0.25)])
def test_kernels_that_read_another_flavour_are_named(name, factor):
    (found,) = [f for f in verdict("gemm_fp8", name).result.findings if f.id == "outputs-differ"]
    assert f"nearly all are {factor} times what they should be, as when FP8" in found.message


@pytest.mark.trap("T52")
@pytest.mark.long
def test_exchanged_nibbles_are_seen_even_if_both_factors_have_them():
    assert set(verdict("intro", "nibbles_swapped_in_b").caught) == {"mapping", "outputs"}
    found = verdict("intro", "nibbles_swapped_in_both")
    assert found.caught == ()
    assert found.result.outputs["mismatches"] == 0
    assert any(f.id == "mapping-k-permuted" for f in found.result.findings)
