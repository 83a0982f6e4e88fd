"""hipkernels/wmma/streams: stream-K whose bytes depend on the number of workgroups alone."""

import numpy as np
import pytest

import mfmasim
from mfmasim.grids import segments, stream_workspace
from mfmasim.verify import find, product_by, select
from mfmasim.verify.contract import broken
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, errors, mutants, passes, titled

CASES = dict(find("wmma/streams"))["wmma/streams"]
QUICK = {
    "gfx1151": ("any_stream_k[workgroups=7]", "add_streams[workgroups=40]"),
    "gfx1201": ("stream_k_whole[workgroups=6]", "stream_k[workgroups=4]"),
}
RUNS = titled(select(CASES, None), lambda case, arch: case.title in QUICK[arch])
MUTANTS = mutants("wmma/streams")
TOLD = {"lds_not_awaited": {"races-no-barrier"}, "end_of_k_not_cut": {"outputs-differ", "bounds-outside-buffer"}}
"""Errors of wrong variants that are not different outputs alone."""


def multiplied(a, b, workgroups, schedule="usual"):
    """C by both kernels, in memory that is NaN before."""
    (m, k), n = a.shape, b.shape[1]
    kernels = code_for(CASES[0].source, "gfx1151")
    c = np.full((m, n), np.nan, np.float32)
    workspace = np.full(stream_workspace(workgroups) // 4, np.nan, np.float32)
    sizes = [np.int32(x) for x in (m, n, k)]
    sim = mfmasim.device("sim")
    first = [a, b, c, workspace, *sizes, np.int32(k), np.int32(n), np.int32(n)]
    tiles = -(-m // 64) * -(-n // 64)
    for name, grid, args in (
        ("any_stream_k", workgroups, first),
        ("add_streams", tiles, [workspace, c, *sizes, np.int32(n), np.int32(workgroups)]),
    ):
        report = sim.launch(kernels[name], grid, 128, args, checks=["bounds", "races"], schedule=schedule)
        assert errors(report) == []
    return c


def expected(a, b, workgroups):
    """The sums of the parts of each tile, added one after the other in f32."""
    (m, k), n = a.shape, b.shape[1]
    c, across = np.zeros((m, n), np.float32), -(-n // 64)
    for part in segments(-(-m // 64) * across, -(-k // 16), workgroups):
        rows, columns = (slice(64 * i, 64 * i + 64) for i in divmod(part.tile, across))
        codes = a[rows, 16 * part.first : 16 * part.last], b[16 * part.first : 16 * part.last, columns]
        sums = product_by("gfx1151", "v_wmma_f32_16x16x16_f16", *(x.view(np.uint16) for x in codes)).view(np.float32)
        c[rows, columns] = sums if part.first == 0 else c[rows, columns] + sums
    return c


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_proved_and_leaves_the_bits_of_its_parts(case, arch):
    result = passes(case, arch)
    if "whole" in case.title:
        assert result.mapping["slots_checked"] > 100_000
    else:
        assert result.compared_with == ("the reference function, bit for bit",)


def test_both_kernels_leave_the_sum_of_the_parts_whatever_the_number_of_workgroups():
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(67, 83)).astype(np.float16), rng.normal(size=(83, 70)).astype(np.float16)
    results = {}
    for workgroups in (1, 3, 5, 30):  # 4 tiles of 6 steps: 30 leave 6 idle
        results[workgroups] = multiplied(a, b, workgroups).view(np.uint32)
        assert (results[workgroups] == expected(a, b, workgroups).view(np.uint32)).all(), workgroups
    assert (results[1] != results[30]).any()  # another order of summation


def test_the_bytes_do_not_depend_on_who_comes_first():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(20, 150)).astype(np.float16), rng.normal(size=(150, 65)).astype(np.float16)
    results = [multiplied(a, b, 7, schedule).tobytes() for schedule in ("usual", "reversed", "random:3")]
    assert len(set(results)) == 1


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "added_backwards" else pytest.mark.long) for n in MUTANTS]
)
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    verdict = caught(*MUTANTS[name])
    assert {f.id for f in verdict.result.findings if f.severity == "error"} == TOLD.get(name, {"outputs-differ"})


def test_whole_tiles_have_as_many_workgroups_as_the_shape_has_tiles():
    """Other numbers cut a tile, whose parts go to the workspace that this case has none of."""
    whole = [case for case in CASES if case.title.startswith("any_stream_k_whole")]
    assert whole
    for case in whole:
        parameters = {**case.parameters, "M": 51, "N": 19}
        assert not broken(case.needs, {**parameters, "workgroups": 1})
        assert "workgroups" in broken(case.needs, {**parameters, "workgroups": 4})
