"""Compiled programs whose kernels allocate, wait for one another, and call ROCm's functions by their own names."""

import pytest

from tests.hiprt.compiled import SOURCES, clang, hipcc, started

EXPECTED = """\
objects 0 wrong; heap of 1048576: 1 0 0 1 1
cooperative hipSuccess: 384 of 384
alone hipSuccess: 0 of 384
too large hipErrorCooperativeLaunchTooLarge
configured hipSuccess: 384 of 384
clusters {clusters}
items hipSuccess
part hipErrorNotSupported
names 24.75 640334
bfloat16 3f80 3f82 7f80 3f80 3f81 ff80
hip_bfloat16 1.5 7f81 7fc1 d
masks 64: 128 64, 64 128, 63
channels 16 16 16 16 kind 0
array hipErrorNotSupported
"""
CLUSTERS = {"gfx942": "hipErrorInvalidConfiguration: 0 of 384", "gfx1250": "hipSuccess: 384 of 384"}
LINES = (
    "hipLaunchCooperativeKernel: _Z5waitsPiS_i: 1048576 workgroups together",
    "hipExtModuleLaunchKernel: 385 work-items in workgroups of 64: the last would be smaller",
)


@pytest.fixture(scope="module", params=["gfx942", pytest.param("gfx1250", marks=pytest.mark.long)])
def built(request, tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("device") / "device"
    hipcc("-Wall", "-Wextra", f"--offload-arch={request.param}", SOURCES / "device.hip", "-o", path)
    return request.param, path


@pytest.mark.oracle
@pytest.mark.parametrize("checks", ["bounds", pytest.param("all", marks=pytest.mark.long)])
def test_kernels_allocate_wait_and_call_rocms_functions(built, checks):
    arch, path = built
    ran = started(path, arch=arch, checks=checks)
    assert ran.stdout == EXPECTED.format(clusters=CLUSTERS[arch])
    assert ran.returncode == 0, ran.stderr
    assert all(f"mfmasim: {line}\n" in ran.stderr for line in LINES)


@pytest.mark.oracle
@pytest.mark.parametrize(("part", "line"), [("twice", "free(given);"), ("texture", "tex2D<float4>")])
def test_what_a_kernel_may_not_do_ends_it_at_its_line(built, part, line):
    arch, path = built
    ran = started(path, part, arch=arch)
    assert ran.stdout == f"{part} hipErrorLaunchFailure\n"
    assert ran.returncode == 1
    number = int(ran.stderr.partition("device.hip:")[2].partition(":")[0])
    assert line in (SOURCES / "device.hip").read_text().splitlines()[number - 1]


@pytest.mark.oracle
def test_a_budget_ends_a_launch(built):
    arch, path = built
    ran = started(path, "twice", arch=arch, budget="5")
    assert ran.stdout == "twice hipErrorLaunchFailure\n"
    assert "a wave executed more than 5 instructions" in ran.stderr


@pytest.mark.oracle
def test_the_heap_of_kernels_has_the_size_that_the_program_chooses(built):
    arch, path = built
    ran = started(path, "limit", arch=arch, checks="all")
    assert ran.stdout == "chosen hipSuccess\nlate hipErrorInvalidValue\nheap of 4194304: 1 1\n"
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stderr.splitlines()
    assert "they have used it already" in line
