"""hipkernels/gemm_fp8/streams: tiles that several workgroups share, each product summed exactly once."""

import numpy as np
import pytest

import mfmasim
from hipkernels.gemm_fp8.streams.reference import slices, stream
from mfmasim.verify import find, select
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, errors, mutants, passes, titled
from tests.tiers import tiers

CASES = dict(find("gemm_fp8/streams"))["gemm_fp8/streams"]
QUICK = {"gfx942": ("split_k_in_turn[parts=2]", "stream_k_atomic[parts=3]"), "gfx950": ("stream_k_whole[parts=4]",)}
RUNS = titled(select(CASES, None), lambda case, arch: case.title in QUICK[arch])
MUTANTS = mutants("gemm_fp8/streams")
M, N, K = 256, 16, 384
"""Two tiles of three steps."""


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert result.lds["worst_degree"] == 1
    if "whole" in case.title:
        assert result.mapping["slots_checked"] > 300_000
    elif "atomic" not in case.title:
        assert result.compared_with == ("the reference function, bit for bit",)


@pytest.mark.parametrize("name", tiers(MUTANTS, ("one_range_twice",)))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


def launched(kernel, parts, a, b, schedule="usual", **options):
    """C, and the report, of a launch in which nothing is to be reported."""
    c = np.zeros((len(a), len(b)), np.uint16 if kernel in ("split_k", "split_k_by_columns") else np.float32)
    tiles = -(-len(a) // 128) * -(-len(b) // 128)
    flags = np.zeros(max(tiles, parts), np.uint32)
    workspace = np.full((tiles * parts, 128, 128), np.nan, np.float32)
    shared = [] if "atomic" in kernel else [flags] if "turn" in kernel else [workspace, flags]
    sizes = [np.int32(n) for n in (len(a), len(b), a.shape[1], a.shape[1], a.shape[1], len(b))]
    grid = (tiles, parts) if kernel.startswith("split") else parts
    code = code_for(CASES[0].source, "gfx950")[kernel]
    args = [a, b, c, *shared, *sizes, np.float32(1)]
    report = mfmasim.device("sim").launch(code, grid, 512, args, schedule=schedule, **options)
    assert errors(report) == []
    assert not report.stopped
    assert not flags.any()  # as another launch needs them
    return c if c.dtype == np.float32 else (c.astype(np.uint32) << 16).view(np.float32)


def counted(kernel, parts):
    """How often each product is summed: in row r of a tile K 3 r + turn alone is 1 in A; all of B is 1."""
    one = mfmasim.format("e4m3fn").encode(np.ones(1)).item()
    b, rows = np.full((N, K), one, np.uint8), np.arange(M)
    found = []
    for turn in range(K // 128):
        a = np.zeros((M, K), np.uint8)
        a[rows, K // 128 * (rows % 128) + turn] = one
        found.append(launched(kernel, parts, a, b, checks="races" if turn == 0 else "none"))
    return np.stack(found)


@pytest.mark.parametrize(
    ("kernel", "numbers"),
    [
        ("stream_k", (3, 7)),
        pytest.param("stream_k", (1, 2, 4, 5, 6, 8), marks=pytest.mark.long),
        pytest.param("stream_k_atomic", range(1, 9), marks=pytest.mark.long),
        *(pytest.param(name, (1, 2, 3), marks=pytest.mark.long) for name in ("split_k", "split_k_in_turn")),
        pytest.param("split_k_atomic", (1, 2, 3), marks=pytest.mark.long),
        pytest.param("split_k_by_columns", (1, 3), marks=pytest.mark.long),
        pytest.param("stream_k_atomic_shares", (5, 9, 17), marks=pytest.mark.long),
    ],
)
def test_every_product_of_every_tile_is_summed_exactly_once(kernel, numbers):
    """On the executed code: of one workgroup up to more than there are steps, of one part up to one a step."""
    counts = {parts: counted(kernel, parts) for parts in numbers}
    assert len(counts) == len(numbers)
    for parts, found in counts.items():
        assert found.shape == (K // 128, M, N)
        assert (found == 1).all(), (kernel, parts, np.unique(found))


def test_every_step_is_in_exactly_one_segment():
    seen = 0
    for tiles in range(1, 6):
        for depth in range(1, 8):
            for parts in range(1, tiles * depth + 4):
                plans = [stream(tiles, depth, parts)] + ([slices(tiles, depth, parts)] if parts <= depth else [])
                for plan in plans:
                    counts = np.zeros((tiles, depth), int)
                    for part in plan:
                        assert part.first < part.last
                        counts[part.tile, part.first : part.last] += 1
                    assert (counts == 1).all()
                    seen += 1
                slots = [part.slot for part in plans[0] if part.slot is not None]
                assert len(slots) == len(set(slots))  # a workgroup stores one partial tile at most
    assert seen > 600


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["stream_k", "split_k", "split_k_in_turn"])
def test_the_bytes_depend_on_the_parts_alone(kernel):
    """In every order of workgroups, also one at a time, where none may wait for a higher number."""
    fmt, rng = mfmasim.format("e4m3fn"), np.random.default_rng(3)
    a, b = (fmt.encode(rng.normal(size=(rows, K))).astype(np.uint8) for rows in (130, 40))
    orders = [{}, {"schedule": "reversed"}, {"schedule": "random:5"}, {"max_waves": 8}]
    results = [launched(kernel, 3, a, b, checks="none", **order).tobytes() for order in orders]
    assert len(results) == 4
    assert len(set(results)) == 1
