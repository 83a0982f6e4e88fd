"""The pytest plugin: the example project of the documentation, and a project in which everything goes wrong."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.resources import folder as shipped
from mfmasim.testing import assert_same_bits
from mfmasim.testing.bits import difference
from mfmasim.testing.stored import load, store
from mfmasim.toolchain import find_compiler
from mfmasim.verify import load_file
from tests.oracles import module, require

ROOT = Path(__file__).resolve().parents[2]
# The installed package may announce the plugin, or another version of it: name the checkout's.
PYTEST = ("-p", "no:mfmasim", "-p", "mfmasim.testing.plugin", "-p", "no:cacheprovider", "-p", "no:xdist")


def project(folder, *options, start=()):
    """Run pytest in a folder: exit code and output."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import pytest; sys.exit(pytest.main({[*PYTEST, *options]}))"
    done = subprocess.run(
        [*start, sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def test_the_example_of_the_documentation(tmp_path):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    folder = shutil.copytree(ROOT / "docs" / "example", tmp_path / "example")
    code, text = project(folder)
    assert code == 0, text
    assert "7 passed" in text or "11 passed" in text  # the latter with PyTorch
    source = folder / "scale.hip"
    source.write_text(
        source.read_text().replace("if (i < n) y[i]", "if (i <= n) y[i]").replace("factor *", "2 * factor *")
    )
    code, text = project(folder, "--mfmasim-arch", "gfx942", "-k", "64 or 100 or always")
    assert code == 1
    assert "3 failed" in text
    # 64 elements leave no work-item to spare, so that only values are wrong there; and 2 * 0 is 0.
    assert "64 of 64 elements differ, by at most " in text
    assert re.search(r"always_gave_gfx942.npz: 63 of 64 elements differ, by at most \d+ ulp", text)
    assert "scale on sim (gfx942): 1 finding\n" in text
    assert "bounds-outside-buffer  scale.hip:9" in text


TESTS = """
import numpy as np
import pytest

FILE = "mfma_f32_32x32x2_f32.gfx942.hsaco"


def matrices():
    return [np.ones((32, 2), np.float32), np.ones((2, 32), np.float32), np.zeros((32, 32), np.float32)]


@pytest.fixture
def kernel(mfmasim_compile):
    return mfmasim_compile(FILE)["mfma_f32_32x32x2_f32"]


def test_short_buffer(mfmasim_device, kernel):
    a, b, c = matrices()
    mfmasim_device.launch(kernel, 1, 64, [a, b, c[:16]])


@pytest.mark.mfmasim(fail_on="never")
def test_short_buffer_that_is_meant(mfmasim_device, kernel):
    a, b, c = matrices()
    assert mfmasim_device.launch(kernel, 1, 64, [a, b, c[:16]]).findings


@pytest.mark.mfmasim(checks="none")
def test_checks_that_are_off(mfmasim_device, kernel):
    a, b, c = matrices()
    assert not mfmasim_device.launch(kernel, 1, 64, [a, b, c[:16]]).findings


@pytest.mark.parametrize("which", ["same", "other", "damaged", "none"])
def test_golden(mfmasim_device, kernel, mfmasim_golden, which):
    a, b, c = matrices()
    mfmasim_device.launch(kernel, 1, 64, [a, b, c])
    mfmasim_golden.check(c)


@pytest.mark.mfmasim(arch="gfx1201")
def test_of_another_architecture(mfmasim_arch):
    assert False


class TestNearest:
    pytestmark = pytest.mark.mfmasim(fail_on="never")

    @pytest.mark.mfmasim(checks="bounds")
    def test_markers_add_up(self, mfmasim_device, kernel):
        a, b, c = matrices()
        assert mfmasim_device.launch(kernel, 1, 64, [a, b, c[:16]]).findings
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "test_wrong.py").write_text(TESTS)
    name = "mfma_f32_32x32x2_f32.gfx942.hsaco"
    shutil.copy(ROOT / "golden" / "code" / "intro" / name, folder / name)
    for which in ("same", "other", "damaged"):
        values = np.full((32, 32), 2, np.float32)
        if which == "other":
            values[3, 5:8] = 1.75
        path = folder / "golden" / f"test_golden_gfx942-{which}.npz"
        store(path, values)
        if which == "damaged":
            path.write_bytes(path.read_bytes()[:-40])
    return folder


def test_failures_are_told_in_words(wrong):
    code, text = project(wrong, "--mfmasim-arch", "gfx942", "-rA")
    assert code == 1
    found = re.findall(r"^(PASSED|FAILED) test_wrong\.py::(\S+)", text, re.MULTILINE)
    outcome = {name: what for what, name in found}
    assert outcome == {
        "test_short_buffer[gfx942]": "FAILED",
        "test_short_buffer_that_is_meant[gfx942]": "PASSED",
        "test_checks_that_are_off[gfx942]": "PASSED",
        "test_golden[gfx942-same]": "PASSED",
        "test_golden[gfx942-other]": "FAILED",
        "test_golden[gfx942-damaged]": "FAILED",
        "test_golden[gfx942-none]": "FAILED",
        "TestNearest::test_markers_add_up[gfx942]": "PASSED",
    }
    assert "1 skipped" in text
    assert "mfma_f32_32x32x2_f32 on sim (gfx942): " in text
    assert "bounds-outside-buffer  mfma_f32_32x32x2_f32.hip:" in text
    assert "past the end of argument 2" in text
    assert "test_golden_gfx942-other.npz: 3 of 1024 elements differ" in text
    assert "  all of them in row 3\n" in text
    assert "  [3, 5]    0x3fe00000 (1.75)               0x40000000 (2)" in text
    assert "damaged, or not a golden file" in text
    assert "no such golden file; --mfmasim-update-golden writes it" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--mfmasim-device", "gpu"), "--mfmasim-device: unknown device 'gpu'"),
        (("--mfmasim-arch", "gfx94"), "unknown architecture 'gfx94'"),
    ],
)
def test_options_that_mean_nothing_are_told(wrong, options, text):
    code, found = project(wrong, *options)
    assert code
    assert text in found
    assert "INTERNALERROR" not in found
    assert "plugin.py" not in found  # a line, not a traceback


@pytest.mark.parametrize("marker", ["check='all'", "fail_on='always'", "'bounds'"])
def test_unknown_markers_are_reported(tmp_path, marker):
    (tmp_path / "test_x.py").write_text(
        f"import pytest\n@pytest.mark.mfmasim({marker})\ndef test_x(mfmasim_device, mfmasim_arch):\n    pass\n"
    )
    code, found = project(tmp_path)
    assert code
    assert "@pytest.mark.mfmasim: " in found
    assert "INTERNALERROR" not in found


def test_golden_files_are_written_and_compared(tmp_path):
    path = tmp_path / "golden" / "x.npz"
    with pytest.raises(MfmasimError, match="no such golden file"):
        load(path)
    values = np.arange(12, dtype=np.uint16).reshape(3, 4)
    store(path, values)
    assert np.array_equal(load(path), values)
    assert load(path).dtype == np.uint16
    np.savez(path, values=values + 1, sha256=np.load(path)["sha256"])
    with pytest.raises(MfmasimError, match="does not match the contents"):
        load(path)


def test_a_golden_file_survives_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    store(path, np.zeros(3))
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mfmasim.files.os.fsync", full)
    with pytest.raises(MfmasimError, match="No space left"):
        store(path, np.ones(3))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("actual", "expected", "options", "text"),
    [
        (np.float32([[1, 2], [3, 4]]), np.float32([[1, 3], [2, 4]]), {}, "rows and columns are exchanged"),
        (np.float32([[1, 2], [3, 5]]), np.float32([[1, 2], [3, 4]]), {}, "all of them in row 1"),
        (np.float32([[1, 2], [9, 5]]).T, np.float32([[1, 2], [3, 4]]).T, {}, "all of them in column 1"),
        (np.full(9, 0xA5A5, np.uint16), np.zeros(9, np.uint16), {}, "never written"),
        (np.float32([0.0]), np.float32([-0.0]), {}, "1 of 1 elements differ"),
        (np.uint8([1, 2]), np.uint8([1, 0x82]), {"format": "e4m3fn"}, "0x82 (-0.00390625)"),
        (np.int64([1 << 60]), np.int64([1]), {}, "0x0000000000000001 (1)"),
        (np.float64([1.0]), np.float64([1.0000000000000009]), {"ulp": 3}, "by at most 4 ulp"),
        (np.zeros(100, np.int32), np.ones(100, np.int32), {"shown": 2}, "  and 98 more"),
        (np.array(3, np.int32), np.array(4, np.int32), {}, "[0]       0x00000004 (4)"),
    ],
)
def test_differences_are_shown(actual, expected, options, text):
    assert text in difference(actual, expected, **options)
    with pytest.raises(AssertionError, match=re.escape(text)):
        assert_same_bits(actual, expected, **options)


def test_what_is_the_same():
    nan = np.array([0x7FC00000, 0x7F800001], np.uint32).view(np.float32)
    assert_same_bits(nan, nan[::-1])
    assert_same_bits(np.float16([1, 2]), np.float16([1, 2.002]), ulp=1)
    assert_same_bits(np.uint16([0x7FC0]), np.uint16([0xFFFF]), format="bf16")


@pytest.mark.parametrize(
    ("actual", "expected", "options", "text"),
    [
        (np.zeros(3, np.float32), np.zeros(3, np.float64), {}, "actual is float32 (3,), expected is float64 (3,)"),
        (np.zeros(3), np.zeros((3, 1)), {}, "expected is float64 (3, 1)"),
        (np.zeros(3, np.uint8), np.zeros(3, np.uint8), {"format": "bf16"}, "bf16 has 16 bits per element"),
        (np.zeros(3, np.uint8), np.zeros(3, np.uint8), {"format": "e4m3"}, "unknown format 'e4m3'"),
    ],
)
def test_what_cannot_be_compared(actual, expected, options, text):
    with pytest.raises(MfmasimError, match=re.escape(text)):
        difference(actual, expected, **options)


def test_hypothesis_needs_no_setting_and_prints_the_falsifying_example(tmp_path):
    """One object of the device serves all examples; a failure has the test's line, and what Hypothesis adds."""
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    (tmp_path / "scale.hip").write_text(
        (ROOT / "docs" / "example" / "scale.hip").read_text().replace("if (i < n) y", "y")
    )
    (tmp_path / "test_scale.py").write_text(
        "import numpy as np\nfrom hypothesis import given, settings, strategies as st\n"
        "@settings(max_examples=20, deadline=None, derandomize=True, database=None)\n"
        "@given(n=st.integers(1, 200))\n"
        "def test_property(mfmasim_device, mfmasim_compile, n):\n"
        "    x, y = np.ones(n, np.float32), np.zeros(n, np.float32)\n"
        "    kernel = mfmasim_compile('scale.hip')['scale']\n"
        "    mfmasim_device.launch(kernel, -(-n // 64), 64, [x, y, np.float32(2), np.int32(n)])\n"
        "    assert len(mfmasim_device.reports) >= 1\n"
        "def test_another(mfmasim_device):\n"
        "    assert mfmasim_device.reports == []\n"
    )
    code, text = project(tmp_path)
    assert code == 1
    assert "FailedHealthCheck" not in text
    assert re.search(r"(Falsifying example|Failing test case): test_property", text)
    assert "n=1," in text
    assert "mfmasim_device.launch(kernel" in text
    assert "past the end of argument" in text
    assert "1 failed, 1 passed" in text


def test_architectures_of_the_configuration_are_for_tests_without_any(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\nmfmasim_arch = "gfx1201"\n')
    (tmp_path / "test_x.py").write_text(
        "import pytest\n@pytest.mark.mfmasim(arch=['gfx942', 'gfx950'])\ndef test_marked(mfmasim_arch):\n"
        "    assert mfmasim_arch in ('gfx942', 'gfx950')\n"
        "def test_plain(mfmasim_arch):\n    assert mfmasim_arch == 'gfx1201'\n"
    )
    code, text = project(tmp_path)
    assert code == 0, text
    assert "3 passed" in text


def test_a_case_file_that_imports_another_has_its_own_cases_only(tmp_path):
    case = (
        "from mfmasim.verify import case, Out\n@case('k.hip', kernel='k', arch='gfx942')\ndef {}():\n"
        "    return dict(grid=1, block=64, args=[Out('f32', 64)], expect=lambda: 0)\n"
    )
    (tmp_path / "first.py").write_text(case.format("one"))
    (tmp_path / "second.py").write_text("import first\nfrom first import one\n" + case.format("two"))
    assert [case.name for case in load_file(tmp_path / "second.py")] == ["two"]
    assert [case.name for case in load_file(tmp_path / "first.py")] == ["one"]


SPREAD = """
import numpy as np

def test_loop(mfmasim_device, mfmasim_compile):
    out = np.zeros(350, np.uint32)
    kernel = mfmasim_compile("valu_loop.gfx942.hsaco")["valu_loop"]
    mfmasim_device.launch(kernel, 6, 64, [out, np.int32(3), np.uint32(7)])

def test_name_of_the_process_that_ran_it(mfmasim_device, mfmasim_compile, monkeypatch):
    from mfmasim.machine.execution.run import Machine
    def never(*_):
        raise AssertionError("in this process")
    monkeypatch.setattr(Machine, "run", never)
    out = np.zeros(384, np.uint32)
    report = mfmasim_device.launch(
        mfmasim_compile("valu_loop.gfx942.hsaco")["valu_loop"], 6, 64, [out, np.int32(3), np.uint32(7)]
    )
    assert out.all() and not report.notes and report.waves == 6
"""


@pytest.mark.oracle
@pytest.mark.long
def test_launches_are_spread_over_an_executor(tmp_path):
    module("distributed")
    shutil.copy(shipped("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco", tmp_path)
    (tmp_path / "test_spread.py").write_text(SPREAD)
    assert project(tmp_path)[1].count("in this process") > 0
    code, text = project(tmp_path, "--mfmasim-executor", "dask://local?workers=2")
    assert code == 1, text
    assert "1 failed, 1 passed" in text
    assert "valu_loop on sim (gfx942): 1 finding\n" in text
    code, text = project(tmp_path, "--mfmasim-executor", "dask://nowhere")
    assert code != 0
    assert "--mfmasim-executor dask://nowhere: one of dask://HOST:PORT" in text


WRONG = """
import numpy as np
from mfmasim.testing import assert_same_bits

FILE = "mfma_f32_32x32x2_f32.gfx942.hsaco"


def test_few(mfmasim_device, mfmasim_compile):
    mfmasim_device.launch(mfmasim_compile(FILE)["mfma_f32_32x32x2_f32"], 1, 64, [np.ones(3, np.float32)])


def test_type(mfmasim_device, mfmasim_compile):
    mfmasim_device.launch(mfmasim_compile(FILE)["mfma_f32_32x32x2_f32"], 1, 64, ["a", "b", "c"])


def test_bits():
    assert_same_bits(np.ones(3, np.float32), np.zeros(3, np.float32))
"""


def test_what_is_wrong_with_an_argument_is_shown_at_the_line_of_the_test(tmp_path):
    (tmp_path / "test_wrong.py").write_text(WRONG)
    shutil.copy(shipped("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco", tmp_path)
    code, text = project(tmp_path, "-q", "--mfmasim-arch", "gfx942")
    assert code == 1
    _, *parts = re.split(r"^_{5,} (test_\w+).* _{5,}$", text.partition("short test summary")[0], flags=re.MULTILINE)
    shown = dict(zip(parts[::2], parts[1::2], strict=True))
    assert len(shown) == 3
    for name, part in shown.items():
        assert len(part.strip().splitlines()) <= 15, part
        assert "test_wrong.py:" in part, name
        assert "During handling" not in part
    assert "takes 3 arguments (" in text
    code, text = project(tmp_path, "-q", "--mfmasim-arch", "gfx942", "--full-trace", "-k", "few")
    assert "argument_passing.py" in text
