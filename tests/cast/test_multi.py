"""hipkernels/cast over many tensors: plans and ranges, whole lists as they are launched, wrong kernels and tables."""

import numpy as np
import pytest

from hipkernels.cast.plan import AT_ONCE, TILE, Many, plan_many
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.mutants import mutants_of, run_mutant

((_, CASES),) = find("cast")
RUNS = select([case for case in CASES if case.source.name == "multi.hip"], None)
MUTANTS = {m.name: (m, case) for m, case in mutants_of("cast") if case.source.name == "multi.hip"}
QUICK = {"search_off_by_one", "table_one_late", "tensor_257_lost"}


@pytest.mark.parametrize(
    ("case", "arch"),
    [
        pytest.param(case, arch, id=f"{case.title}-{arch}", marks=() if (i + i // 2) % 3 == 0 else pytest.mark.long)
        for i, (case, arch) in enumerate(RUNS)
    ],
)
def test_right_kernels_pass(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", [f.message for f in result.findings if f.severity == "error"]
    assert all(f.severity == "info" for f in result.findings)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.long) for n in MUTANTS])
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    mutant, case = MUTANTS[name]
    verdict = run_mutant(mutant, case)
    assert verdict.as_expected, (verdict.caught, [f.message for f in verdict.result.findings])


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 512, 513])
def test_a_launch_takes_256_tensors(count):
    launches = plan_many([(1, 1)] * count)
    assert [len(launch.tensors) for launch in launches] == [256] * (count // 256) + [count % 256] * (count % 256 > 0)
    assert [each for launch in launches for each in launch.tensors] == list(range(count))
    assert AT_ONCE == 256


def test_ranges_hold_the_tiles_of_each_tensor():
    shapes = [(1, 1), (0, 9), (129, 128), (128, 129), (300, 300), (7, 0), (128, 128)]
    (launch,) = plan_many(shapes)
    assert launch == Many(range(7), (0, 1, 1, 3, 5, 14, 14, 15))
    for (rows, cols), wide in zip(shapes, np.diff(launch.first), strict=True):
        assert wide == len(range(0, rows, TILE)) * len(range(0, cols, TILE))
    assert launch.blocks == 15


def test_tensors_without_elements_still_take_a_workgroup_together():
    (launch,) = plan_many([(0, 5), (3, 0)])
    assert launch.first == (0, 0, 0)
    assert launch.blocks == 1


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ([(-1, 4)], "-1 x 4 elements: 0 to 2147483647 rows"),
        ([(1, 1 << 31)], "1 x 2147483648 elements"),
        ([(1 << 20, 1 << 18)], "16777216 workgroups of 512 threads: fewer than 2\\^32"),
    ],
)
def test_what_a_launch_cannot_hold_is_refused(shapes, text):
    with pytest.raises(ValueError, match=text):
        plan_many(shapes)
