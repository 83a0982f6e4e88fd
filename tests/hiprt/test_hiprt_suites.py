"""Suites that run in a process that the simulated HIP runtime serves: the device suite, on the back end hip."""

import shutil

import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.lab.agreement.capture import read
from mfmasim.lab.calibration.fitting import fit
from mfmasim.lab.calibration.phase_fitting import fit_phases
from mfmasim.lab.calibration.phase_probes import timed
from mfmasim.lab.calibration.probes import observed
from mfmasim.matrix import instructions
from mfmasim.verify import families
from mfmasim.verify.files import WRONG
from tests.hiprt.inside import VERSIONS, run, suite
from tests.longtier import this_round
from tests.tiers import tiers

CDNA_ONLY = "tests/devices/test_device_launches.py::test_a_prebuilt_matrix_kernel_gives_the_golden_bits"


@pytest.mark.parametrize(
    ("arch", "checks", "options", "version"),
    [("gfx942", "all", "", ""), ("gfx1201", "bounds", f"--deselect {CDNA_ONLY}", ""), ("gfx942", "bounds", "", "7.2")],
)
def test_the_device_suite_passes_through_hip_python(arch, checks, options, version):
    variables = {"MFMASIM_TEST_DEVICE": "hip", "MFMASIM_HIPRT_ARCH": arch, "MFMASIM_HIPRT_CHECKS": checks}
    variables["PYTEST_ADDOPTS"] = options
    assert suite("tests/devices/test_device_launches.py", version, **variables) >= 23


@pytest.mark.parametrize("version", tiers(VERSIONS, [""]))
def test_programs_after_the_documentation_of_hip_python(version):
    variables = {"MFMASIM_HIPRT_ARCH": "gfx942,gfx1201", "MFMASIM_HIPRT_MEMORY": "64"}
    assert suite("tests/hiprt/inside_programs.py", version, **variables) >= 20


@pytest.mark.parametrize("version", VERSIONS)
def test_graphs_pools_and_registered_memory(version):
    variables = {"MFMASIM_HIPRT_ARCH": "gfx942,gfx1201", "MFMASIM_HIPRT_MEMORY": "64"}
    assert suite("tests/hiprt/inside_graphs.py", version, **variables) >= 10


def test_device_memory_that_was_never_written_is_found():
    variables = {"MFMASIM_HIPRT_MEMORY": "64", "MFMASIM_HIPRT_CHECKS": "bounds,uninitialised"}
    assert suite("tests/hiprt/inside_unwritten.py", **variables) == 23


@pytest.mark.parametrize("version", VERSIONS)
def test_faults_leave_nothing_behind(version):
    assert suite("tests/hiprt/inside_faults.py", version, MFMASIM_HIPRT_MEMORY="16") >= 86


def test_a_device_behind_a_process_is_like_the_others():
    variables = {"MFMASIM_HIPRT_ARCH": "gfx942", "MFMASIM_HIPRT_MEMORY": "64"}
    # Loops have to last long enough to be ended: no native code.
    assert suite("tests/hiprt/inside_isolated.py", MFMASIM_NATIVE="off", **variables) == 32


@pytest.mark.parametrize("examples", [2, pytest.param(60, marks=pytest.mark.long)])
def test_any_sequence_gives_the_same_on_every_device(examples):
    variables = {"MFMASIM_TEST_EXAMPLES": f"{examples}", "MFMASIM_HIPRT_ARCH": "gfx942", "MFMASIM_HIPRT_MEMORY": "64"}
    assert suite("tests/hiprt/inside_sequences.py", seconds=1500, **variables) == 2


@pytest.mark.parametrize("examples", [20, pytest.param(400, marks=pytest.mark.long)])
def test_every_form_of_argument_is_the_same_on_every_device(examples):
    variables = {"MFMASIM_TEST_EXAMPLES": f"{examples}", "MFMASIM_HIPRT_ARCH": "gfx942", "MFMASIM_HIPRT_MEMORY": "64"}
    assert suite("tests/hiprt/inside_arguments.py", seconds=1500, **variables) == 77


def test_kernels_that_call_the_host_get_a_buffer():
    assert suite("tests/hiprt/inside_hostcall.py", MFMASIM_HIPRT_ARCH="gfx942", MFMASIM_HIPRT_MEMORY="64") == 1


def test_a_capture_survives_every_fault_of_the_next_one(tmp_path):
    record = ("-m", "mfmasim", "gpu", "golden", "record", "intro", "--case", "f16", "--into", tmp_path)
    run(*record)
    (path,) = tmp_path.glob("intro.f16_16x16x16.gfx942.hip.*.npz")  # with a hash of the UUID
    before = path.read_bytes()
    for fault in ("hipMalloc#2=hipErrorOutOfMemory", "hipModuleLaunchKernel#3=719@sync", "hipMemcpy#9=100@forever"):
        report = run(*record, report=tmp_path / "report", expect=2, MFMASIM_HIPRT_FAULTS=fault)
        assert report["live"] == []
        assert report["handles"] == {}
    (tmp_path / "report").unlink()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before
    checked = run("-m", "mfmasim", "gpu", "golden", "check", tmp_path)
    assert "simulator, device and reference agree" in checked.stdout


def test_captures_of_outputs_with_a_tolerance(tmp_path):
    """The reference judges within the declared bound, simulator and device are compared bit for bit."""
    shutil.copytree("docs/example/norms", tmp_path / "norms")
    cases, into = tmp_path / "norms" / "cases.py", tmp_path / "made"
    run("-m", "mfmasim", "gpu", "golden", "record", cases, "--case", "softmax", "--into", into)
    check = ("-m", "mfmasim", "gpu", "golden", "check", into, "--case-file", cases)
    assert "simulator, device and reference agree" in run(*check).stdout
    text = cases.read_text()
    cases.write_text(text.replace("absolute=1e-6, relative=1e-5", "absolute=1e-9, relative=1e-9"))
    assert "simulator and device agree, the reference differs from both" in run(*check, expect=1).stdout


def test_calibration_finds_parameters_that_the_runtime_hides(tmp_path):
    path = tmp_path / "probes.npz"
    hidden = "cdna4_16bit.group=16,cdna4_fp8.product_bits=22,cdna4_fp8.final_rounding=truncate"
    hidden += ",cdna4_f32.flush_inputs=positive,cdna4_f32.nan_invalid=0x7fffffff,cdna4_f32.nan_factor=0x7fffffff"
    only = ("--only", "f16_k16,f16_k32,fp8,f32,scaled_fp8")
    run(
        "-m",
        "mfmasim",
        "gpu",
        "calibrate",
        *only,
        "--record",
        path,
        MFMASIM_HIPRT_ARCH="gfx950",
        MFMASIM_HIPRT_MODELS=hidden,
    )
    found = {one.probe.name: fit(one) for one in observed(read(path))}
    assert all(one.exact for one in found.values())
    assert found["f16_k16"].differs == found["f16_k32"].differs == {"group": (8, 16)}
    assert found["fp8"].differs == {"product_bits": (24, 22), "final_rounding": ("floor", "truncate")}
    assert found["f32"].differs.pop("flush_inputs") == ("", "positive")
    assert found["f32"].differs == dict.fromkeys(("nan_factor", "nan_invalid"), (0x7FC00000, 0x7FFFFFFF))
    assert found["scaled_fp8"].differs == {}


def test_calibration_finds_phases_that_the_runtime_hides(tmp_path):
    """Through hip-python: other phases than the tables', and clocks that are late by chance."""
    path = tmp_path / "probes.npz"
    only = ("--only", "read_b32,write_b64", "--times", "3")
    hidden = {"MFMASIM_HIPRT_ARCH": "gfx950", "MFMASIM_HIPRT_NOISE": "6"}
    hidden["MFMASIM_HIPRT_PHASES"] = "read b32=C32/32; write b64=X16/64"
    run("-m", "mfmasim", "gpu", "calibrate", *only, "--record", path, **hidden)
    found = [fit_phases(one) for one in timed(read(path))]
    assert [(one.names, one.banks, one.fits) for one in found] == [(("C32",), 32, False), (("X16",), 64, False)]
    assert all(one.scatter for one in found)
    run("-m", "mfmasim", "gpu", "calibrate", "--only", "read_b32", "--record", path, MFMASIM_HIPRT_ARCH="gfx1151")
    (one,) = (fit_phases(one) for one in timed(read(path)))
    assert "a clock that does not show it" in one.undecided[0]


def test_a_capture_changes_trust_only_through_the_tables(tmp_path):
    """docs/calibrate.md, from a capture to a table: fitting changes nothing, pasting the rows alone raises no trust."""
    path, rows = tmp_path / "probes.npz", tmp_path / "rows.json"
    hidden = {"MFMASIM_HIPRT_MODELS": "cdna4_fp8.group=8", "MFMASIM_HIPRT_PHASES": "read b32=C32/32"}
    only = ("--only", "fp8,read_b32")
    run("-m", "mfmasim", "gpu", "calibrate", *only, "--record", path, MFMASIM_HIPRT_ARCH="gfx950", **hidden)
    run("-m", "mfmasim", "gpu", "calibrate", "--replay", path, "--json", rows, expect=1)
    script = ("tests/hiprt/inside_paste.py", path)
    assert run(*script).stdout == "1 assumed assumed C64 64 measured\n"
    assert run(*script, rows).stdout == "0 assumed assumed C32 32 unknown\n"
    assert run(*script, rows, "reviewed").stdout == "0 hardware specified C32 32 measured\n"


def test_simulator_device_and_reference_agree_through_hip_python():
    """Drawn matrices, on the architecture that has every kernel of the family."""
    variables = {"MFMASIM_TEST_DEVICE": "hip", "MFMASIM_HIPRT_ARCH": "gfx950"}
    assert suite("tests/verify/test_three_way.py", PYTEST_ADDOPTS="-k agree", **variables) == 1


@pytest.mark.parametrize("arch", tiers([name for name in ARCHITECTURES if instructions(name)], ["gfx90a", "gfx908"]))
def test_the_suite_for_gpus_draws_trials_on_every_architecture(arch):
    """Nothing of it is skipped, also where no family of kernels has one for the architecture."""
    variables = {"MFMASIM_TEST_DEVICE": "hip", "MFMASIM_HIPRT_ARCH": arch, "MFMASIM_TEST_EXAMPLES": "40"}
    assert suite("tests/verify/test_three_way.py", PYTEST_ADDOPTS="-k 'not family'", **variables) == 2


def test_the_suite_for_gpus_runs_on_rdna():
    """The intro family has no kernel for it: a trial of another; those of all are in `inside_trials.py`."""
    variables = {"MFMASIM_TEST_DEVICE": "hip", "MFMASIM_HIPRT_ARCH": "gfx1201"}
    assert suite("tests/verify/test_three_way.py", PYTEST_ADDOPTS="-k 'trial and cast'", **variables) == 1


@pytest.mark.parametrize("arch", tiers([name for name in ARCHITECTURES if instructions(name)], ["gfx90a", "gfx1201"]))
def test_products_agree_three_ways_on_every_architecture(arch):
    variables = {"MFMASIM_TEST_DEVICE": "hip", "MFMASIM_HIPRT_ARCH": arch, "MFMASIM_TEST_EXAMPLES": "10"}
    assert suite("tests/verify/test_three_way_products.py", **variables) == 3


@pytest.mark.parametrize("arch", tiers(["gfx942", "gfx950", "gfx1151", "gfx1201"], ["gfx1201"]))
def test_casts_and_attention_agree_three_ways(arch):
    variables = {"MFMASIM_TEST_DEVICE": "hip", "MFMASIM_HIPRT_ARCH": arch, "MFMASIM_TEST_EXAMPLES": "6"}
    chosen, count = EACH[arch]
    variables["PYTEST_ADDOPTS"] = f"-k '{chosen}'"
    assert suite("tests/verify/test_three_way_kernels.py", marks="", **variables) == count


CASTS = "(casts and not scales) or attention"
FP8 = " or fp8"
EACH = {
    "gfx942": (CASTS + FP8, 5),
    "gfx950": ("casts or attention" + FP8, 8),
    "gfx1151": ("attention", 1),
    "gfx1201": (CASTS, 3),
}
"""Which tests an architecture has, and how many: two casts, three with scales, attention, in FP8, on golden data."""
RIGHT = [family for family in families() if family not in WRONG]
SHARES = 12
"""Processes that the families are dealt out to."""
ALL = {"MFMASIM_HIPRT_ARCH": "gfx942,gfx950,gfx1151,gfx1201,gfx1250", "MFMASIM_HIPRT_CHECKS": "none"}


@pytest.mark.parametrize("share", tiers(range(SHARES), [0, 6]))
def test_trials_of_every_family_agree_three_ways(share):
    passed = suite("tests/hiprt/inside_trials.py", MFMASIM_TEST_SHARE=f"{share}/{SHARES}", **ALL)
    assert passed == len(RIGHT[share::SHARES])


@pytest.mark.long
@pytest.mark.parametrize("share", range(len(RIGHT)))
def test_many_trials_of_every_family_agree_three_ways(share):
    """Other trials each round, under every check, and with shapes up to twice as large; one family at a time."""
    variables = {"MFMASIM_TEST_SHARE": f"{share}/{len(RIGHT)}", "MFMASIM_TEST_LONG": f"{this_round()}", **ALL}
    assert suite("tests/hiprt/inside_trials.py", seconds=900, **variables) == 1


def test_hidden_arguments_are_the_same_through_every_entrance():
    assert suite("tests/hiprt/inside_hidden.py", MFMASIM_HIPRT_ARCH="gfx942", MFMASIM_HIPRT_MEMORY="64") == 4
