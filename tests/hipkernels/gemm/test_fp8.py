"""hipkernels/gemm_fp8: every step of the ladder proved, on every shape, with all data, strides and factors."""

from dataclasses import replace

import pytest

from mfmasim.verify import find, select, verify_case
from tests.hipkernels.family import errors, passes, titled
from tests.longtier import turn

CASES = dict(find("gemm_fp8"))["gemm_fp8"]
RUNS = select(CASES, None)
DEGREES = {
    "none": {"gfx942": {4}, "gfx950": {4}},
    "pairs": {"gfx942": {2}, "gfx950": {1}},
    "offset": {"gfx942": {2}, "gfx950": {1}},
    "row": {"gfx942": {1}, "gfx950": {1}},
}
"""Of ds_read_b128, by swizzle: published for CDNA4, they are two-way on CDNA3."""
SWIZZLES = {"one_wave_tile": "none", "multi_wave_128x128_t512": "pairs", "general": "row"}


def run(name, arch, data=("integers", "normal"), **changes):
    """Outputs only: what an element's way is does not depend on the data."""
    ((case, _), *_) = select(CASES, arch, name)
    return verify_case(replace(case.with_parameters(changes), data=tuple(data), mapping=None), arch)


def alternate(case, arch):
    """One architecture of each case; the long tier takes both."""
    return arch == ("gfx942", "gfx950")[CASES.index(case) % 2]


@pytest.mark.parametrize(("case", "arch"), titled(RUNS, alternate))
def test_every_step_is_proved_and_its_bank_conflicts_are_as_published(case, arch):
    result = passes(case, arch)
    assert [f.check for f in result.findings if f.severity == "warning"] == []
    name = case.title.partition("[")[0]
    if case.mapping is None:
        return
    assert result.mapping["slots_checked"] > 0
    swizzle = SWIZZLES.get(name) or ("pairs" if name.startswith("multi_wave") else name.rpartition("_")[2])
    reads = [site["degrees"] for site in result.lds["sites"] if site["instruction"].startswith("ds_read_b128")]
    assert reads
    assert {degree for degrees in reads for degree in degrees} == DEGREES[swizzle][arch]
    # Four instructions share 128 of K on CDNA3 as the lanes' bytes lie, not as K runs.
    permuted = [f.id for f in result.findings if f.check == "mapping"]
    assert permuted == (["mapping-k-permuted"] if arch == "gfx942" else [])


CLASSES = ["integers", "normal", "one_hot", "special"]
SMALL = [
    ("naive", {}),
    ("lds_tiled_guarded", {}),
    ("one_wave_tile", {}),
    ("direct_pairs", {}),
    ("double_buffer_offset", {"K": 128}),
    ("general", {"M": 17, "N": 16, "K": 129}),
]


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize(("name", "changes"), SMALL, ids=[name for name, _ in SMALL])
def test_every_kind_of_data_is_right(name, changes, arch):
    result = run(name, arch, CLASSES, **changes)
    assert result.status == "pass", errors(result)
    assert len(result.compared_with) == len(CLASSES)


@pytest.mark.parametrize("beta", [0.0, 1.0, -1.0, 0.5])
@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, 0.5])
def test_factors(alpha, beta):
    """With beta 0 C holds NaNs before the launch and is not read; with alpha 0 the product still counts (NaN stays)."""
    for name, changes in (("naive", {}), ("direct_row", {"M": 32, "N": 32}), ("general", {"M": 17, "N": 5, "K": 31})):
        result = run(
            name, "gfx950" if alpha + beta < 1 else "gfx942", ["integers", "special"], alpha=alpha, beta=beta, **changes
        )
        assert result.status == "pass", (name, errors(result))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("naive", {"lda": 67, "ldb": 81, "ldc": 40, "offset_a": 3, "offset_b": 1, "offset_c": 2}),
        ("one_wave_tile", {"lda": 257, "ldb": 300, "ldc": 49, "offset_a": 5}),
        ("direct_offset", {"lda": 272, "ldb": 512, "ldc": 97, "offset_b": 16}),
        ("double_buffer_row", {"M": 64, "N": 64, "K": 128, "lda": 144, "ldb": 160, "ldc": 66}),
        ("general", {"M": 66, "N": 3, "K": 128, "lda": 129, "ldb": 128, "ldc": 5, "offset_a": 7}),
    ],
)
def test_strides_and_addresses(name, changes, arch):
    result = run(name, arch, **changes)
    assert result.status == "pass", errors(result)


def test_general_takes_every_small_shape():
    """Tails in M, N and K, alone and together, in both paths (16 bytes at a time and byte by byte)."""
    checked = 0
    for m, n, k in [(1, 1, 1), (15, 64, 15), (64, 17, 16), (16, 16, 127), (3, 65, 128), (65, 2, 129), (5, 7, 255)]:
        for lda in (0, (k + 31) // 16 * 16):
            arch = "gfx942" if m % 2 else "gfx950"
            result = run("general", arch, ["integers"], M=m, N=n, K=k, lda=lda, ldb=lda)
            assert result.status == "pass", (m, n, k, errors(result))
            checked += result.outputs["elements"]
    assert checked > 2500


@pytest.mark.trap("T10")
def test_naive_and_tiled_kernels_give_the_same_bits():
    """The products are exact and summed in the same order; rounding happens at the same places."""
    import numpy as np

    import mfmasim
    from mfmasim.verify.prebuilt import code_for

    rng = np.random.default_rng(5)
    for arch in ("gfx942", "gfx950"):
        a, b = rng.integers(0, 256, (2, 32, 64), np.uint8)
        a[(a & 0x7F) == 0x7F] = 1
        b[(b & 0x7F) == 0x7F] = 2
        found = []
        for name in ("naive", "lds_tiled", "lds_tiled_guarded"):
            c = np.full((32, 32), 0x7FC0, np.uint16)
            ((case, _), *_) = select(CASES, arch, name)
            kernel = code_for(case.source, arch)[name]
            args = [a, b, c, 32, 32, 64, 64, 64, 32, 0.75, 0.0]
            assert mfmasim.device("sim").launch(kernel, (2, 2), (16, 16), args).findings == []
            found.append(c)
        assert (found[0] == found[1]).all()
        assert (found[0] == found[2]).all()


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_all_shapes_that_the_contract_allows(case, arch):
    # Kernels without matrix instructions take the longest, and work on single elements or 16x16 tiles.
    scalar = case.source.name == "simple.hip"
    sizes = (16, 17, 32, 48, 63, 64, 96, 128) if scalar else (16, 17, 127, 128, 129, 256, 384, 512)
    if arch not in case.arch:
        pytest.skip(f"{case.title} is not for {arch}")
    if case.title.startswith("general[M=65") or case.title.startswith("general[M=127"):
        pytest.skip("the same kernel as the first of them")
    from mfmasim.verify.contract import broken

    shapes = []
    for number, (m, n, k) in enumerate((m, n, k) for m in sizes for n in sizes for k in sizes):
        # Every pair of sizes, and not every triple: 64 of 512, in an order that mixes them.
        if (sizes.index(m) + sizes.index(n) + 3 * sizes.index(k)) % 8:
            continue
        changed = {**case.parameters, "M": m, "N": n, "K": k, "lda": 0, "ldb": 0, "ldc": 0}
        if not broken(case.needs, changed):
            shapes.append((changed, CLASSES[number % len(CLASSES)], (sizes.index(m) // 2 + sizes.index(n)) % 2))
    # Both architectures together take every pair, each of them every size; the golden bits hold both on other shapes.
    half = ("gfx942", "gfx950").index(arch)
    chosen = [(changed, data) for changed, data, side in shapes if side == half or len(shapes) <= 16]
    # A quarter of them each round.
    chosen = turn(chosen, 4) or chosen[:1]
    assert chosen
    for changed, data in chosen:
        passes(replace(case, parameters=changed, data=(data,)), arch)
