"""Suites that run in a process that the simulated HIP runtime serves: the device suite, on the back end hip."""

import pytest
from inside import suite

CDNA_ONLY = "tests/devices/test_device_launches.py::test_a_prebuilt_matrix_kernel_gives_the_golden_bits"


@pytest.mark.parametrize(("arch", "options"), [("gfx942", ""), ("gfx1201", f"--deselect {CDNA_ONLY}")])
def test_the_device_suite_passes_through_hip_python(arch, options):
    variables = {"MFMASIM_TEST_DEVICE": "hip", "MFMASIM_HIPRT_ARCH": arch, "PYTEST_ADDOPTS": options}
    assert suite("tests/devices/test_device_launches.py", **variables) >= 23
