"""hipkernels/wmma: variants with other ways for the data, other roles of the waves, other orders of tiles."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfmasim.verify import select
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import passes
from tests.slow.wmma import ARCHS, BASIC, GEMMS, halves, launch, model

CASES = [case for case in GEMMS if case not in BASIC]
ANY = [case.title for case in GEMMS if case.title.startswith("any_")]
ALONE = {"opt_128x128", "shuffled_by_dpp", "zero_copy", "any_hilbert"}
"""Cases that are proved on both architectures by default."""
RUNS = [
    pytest.param(
        case,
        arch,
        id=f"{case.title}-{arch}",
        # The long tier has the others on RDNA4, and those for any shape, whose outputs are compared below.
        marks=[pytest.mark.long] if case.title not in ALONE and (arch == "gfx1201" or case.title in ANY) else [],
    )
    for case, arch in select(CASES, None)
]
LDS = {
    "zero_copy": 16384,
    "xor_gathered": 12288,
    "xor_optimised": 12288,
    "opt_128x128": 24576,
    "128x128": 24576,
    "256x64": 30720,
    "quad": 24576,
    "high_occupancy": 3072,
    "no_prefetch": 9216,
    "vector_c": 51200,
}
"""Bytes of the LDS where they are not those of the padded 128x64 tile, 18,432."""
READS = {"quad": {2}, "high_occupancy": {2}, "vector_c": {1, 2}}
"""Degrees of the reads of fragments, and of a tile of C, where they are not 1."""
SCATTERED = {
    "xor_gathered": set(),
    "xor_optimised": {("b32", 8)},
    "opt_128x128": {("b16", 16)},
    "128x128": {("b16", 16)},
    "high_occupancy": {("b16", 4)},
    "vector_c": {("b16", 8), ("b32", 2)},
}
"""Widths and degrees of the stores that transpose B, and of those of a tile of C, where they are not 8 of 16 bits."""


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_variant_is_proved(case, arch):
    result = passes(case, arch)
    assert result.mapping["slots_checked"] > 10_000
    assert result.matrix_fidelity == "hardware"
    base = case.title.removeprefix("any_")
    sites = result.lds["sites"]
    reads = {degree for s in sites if s["instruction"].startswith("ds_load_b128") for degree in s["degrees"]}
    assert reads == READS.get(base, {1})
    stores = {
        (width, degree)
        for s in sites
        for width in ("b16", "b32")
        if "ds_store" in s["instruction"] and width in s["instruction"]
        for degree in s["degrees"]
    }
    assert stores == SCATTERED.get(base, {("b16", 8)})
    assert code_for(case.source, arch)[case.kernel_name()].info.group_segment_fixed_size == LDS.get(base, 18432)


@pytest.mark.parametrize("arch", ARCHS)
def test_all_variants_leave_the_bytes_of_the_model(arch):
    rng = np.random.default_rng(8)
    a, b = halves(rng, (136, 64), special=True), halves(rng, (64, 40), special=True)
    want = model(arch, a, b)
    assert 0.05 < ((want & 0x7FFFFFFF) >= 0x7F800000).mean() < 0.7
    assert len(GEMMS) > 40
    for case in GEMMS:
        if arch == "gfx1201" and case.title in ANY:
            continue  # below
        assert (launch(case.title, arch, a, b, (8, 16, 4)) == want).all(), case.title


@pytest.mark.parametrize("arch", ARCHS)
def test_any_shape_with_nan_all_around(arch, monkeypatch):
    """Also in the LDS before the launch: whatever is multiplied beside the matrices has to be 0 in A and in B."""
    monkeypatch.setattr("mfmasim.machine.execution.initial_state.POISON_BYTE", 0xFF)
    sizes = st.one_of(st.integers(1, 40), st.integers(1, 140))

    @settings(max_examples=12, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(ANY), st.tuples(sizes, sizes, st.integers(1, 70)), st.tuples(*[st.integers(0, 3)] * 3))
    def holds(name, shape, gaps):
        m, n, k = shape
        rng = np.random.default_rng(m * 10_000 + n * 100 + k)
        a, b = halves(rng, (m, k), special=True), halves(rng, (k, n), special=True)
        assert (launch(name, arch, a, b, gaps, checks=["bounds", "uninitialised"]) == model(arch, a, b)).all()

    holds()
