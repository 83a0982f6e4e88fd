"""Programs that misuse the runtime end in an error code or as they would on a GPU, not in a hang or a traceback."""

import pytest

from tests.hiprt.compiled import SOURCES, clang, hipcc, started


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("hostile") / "hostile"
    hipcc("-Wall", "-Wextra", "-std=c++17", SOURCES / "hostile.hip", "-o", path)
    return path


@pytest.mark.oracle
def test_an_exception_that_leaves_a_host_function_ends_the_program(hostile):
    """As on a GPU, where host functions run on threads of the runtime; the caller's handler is not reached."""
    ran = started(hostile, "throwing")
    assert ran.returncode == -6, "SIGABRT"
    assert "out of a host function" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


@pytest.mark.oracle
def test_host_functions_nest_to_a_limit(hostile):
    ran = started(hostile, "nested")
    assert ran.stdout == "depth 64 refused 1 hipSuccess hipErrorNotSupported\n"
    (line,) = ran.stderr.splitlines()
    assert "hipLaunchHostFunc: called by host functions that are nested 64 deep" in line
    assert ran.returncode == 0


@pytest.mark.oracle
def test_absurd_numbers_of_dependencies_are_refused(hostile):
    ran = started(hostile, "counts")
    assert ran.stdout == "hipErrorInvalidValue hipErrorInvalidValue\n" * 3
    lines = ran.stderr.splitlines()
    assert len(lines) == 6
    assert all("1,048,576 are read" in line for line in lines)
    assert ran.returncode == 0
