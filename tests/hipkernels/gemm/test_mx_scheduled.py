"""hipkernels/gemm_mx/scheduled: MXFP4 in the schedules of FP8, with the ends of M, N and K."""

from dataclasses import replace

import pytest

from mfmasim import MfmasimError
from mfmasim.lab.reports.profile import profile_case
from mfmasim.verify import find, select, verify_case
from tests.hipkernels.family import caught, mutants, passes, titled
from tests.longtier import turn

((_, CASES),) = find("gemm_mx/scheduled")
RUNS = select(CASES, None)
MUTANTS = mutants("gemm_mx/scheduled")
SHAPES = ((1, 16, 288), (300, 272, 800), (256, 512, 1024), (513, 48, 512), (33, 256, 1312))


@pytest.mark.parametrize(("case", "arch"), titled(RUNS, lambda case, _: case.title.startswith("mx_pingpong_shuffled[")))
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert result.mapping["slots_checked"] > 2_000_000
    assert result.lds["worst_degree"] == 1
    assert {f.severity for f in result.findings} <= {"info"}


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


@pytest.mark.long
@pytest.mark.parametrize(("case", "arch"), titled([run for run in RUNS if "[" not in run[0].title]))
def test_other_shapes(case, arch):
    shapes = turn(SHAPES, 2)
    assert len(shapes) >= 2
    for shape in shapes:
        passes(replace(case.with_parameters(dict(zip("MNK", shape, strict=True))), mapping=None), arch)


@pytest.mark.long
@pytest.mark.parametrize(("case", "arch"), titled([run for run in RUNS if "[" not in run[0].title]))
def test_claims_hold(case, arch):
    found = profile_case(case.with_parameters({"K": 2048, "beta": 0.0}), arch)
    assert [judged.claim.text for judged in found.claims if not judged.as_known] == []
    assert len(found.claims) == (2 if "pingpong" in case.title else 1)


def test_the_contract():
    case, arch = RUNS[0]
    for wrong in ({"K": 256}, {"K": 528}, {"N": 24}, {"M": 0}):
        with pytest.raises(MfmasimError):
            verify_case(case.with_parameters(wrong), arch)
