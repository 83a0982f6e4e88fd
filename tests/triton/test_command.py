"""``mfmasim triton`` and the option of pytest, on programs in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mfmasim.triton.versions import TESTED
from tests.oracles import require
from tests.triton.needs import needed  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(__file__).with_name("program.py"))


def command(*args, cwd=ROOT, **variables):
    done = subprocess.run(
        [sys.executable, "-m", "mfmasim", "triton", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **variables},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.oracle
def test_a_right_program(tmp_path):
    code, _, err = command("--arch", "gfx950", "--json", str(tmp_path / "a.json"), "--", "python", PROGRAM)
    assert code == 0, err
    assert "1 launch of 1 kernel," in err, err
    assert "PASS  gfx950   double  1x" in err
    assert "not time of a GPU" in err
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["exit"] == 0
    (launch,) = found["launches"]
    # The first configuration, and no measurement.
    assert (launch["kernel"], launch["arch"], launch["grid"]) == ("double", "gfx950", [4, 1, 1])
    assert {"block", "instructions", "findings", "fidelity", "stopped"} <= launch.keys()


@pytest.mark.oracle
def test_the_version_before(tmp_path):
    folder = os.environ.get("MFMASIM_TRITON_BEFORE", "")
    require("the Triton before the current one", folder, "pip install --target FOLDER; MFMASIM_TRITON_BEFORE=FOLDER")
    path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    said = ["python", "-c", "import triton; print(triton.__version__)"]
    code, out, err = command("--", *said, PYTHONPATH=path)
    assert code == 0, err
    assert out.startswith(f"{TESTED[0]}."), out
    cache = {"PYTHONPATH": path, "TRITON_CACHE_DIR": str(tmp_path)}
    code, _, err = command("--arch", "gfx950", "--", "python", PROGRAM, "bounds", **cache)
    assert code == 1
    assert "past the end of x (4000 bytes)" in err


@pytest.mark.oracle
def test_an_access_outside_names_the_line(tmp_path):
    reports = [f"--{kind}={tmp_path / kind}" for kind in ("sarif", "html", "json")]
    code, _, err = command("--arch", "gfx1201", *reports, "--", PROGRAM, "bounds")
    assert code == 1
    line = next(n for n, text in enumerate(Path(PROGRAM).read_text().splitlines(), 1) if "tl.load(x + i) *" in text)
    assert f"program.py:{line}" in err
    assert "past the end of x (4000 bytes)" in err
    assert "x[1000]" in err  # elements of four bytes
    rules = {one["ruleId"] for one in json.loads((tmp_path / "sarif").read_text())["runs"][0]["results"]}
    assert "bounds-outside-buffer" in rules
    assert "unmasked" in (tmp_path / "html").read_text()
    assert json.loads((tmp_path / "json").read_text())["exit"] == 1


PRODUCT = """
import torch
from tests.triton import kernels

a, b, c = (torch.ones((64, 64), dtype=t, device="cuda") for t in (torch.float16, torch.float16, torch.float32))
kernels.matmul[(1, 1)](a, b, c, 64, 64, 64, 64, M=64, N=64, KB=64)
"""


@pytest.mark.oracle
def test_layouts(tmp_path):
    code, _, err = command(
        "--arch", "gfx942", "--layouts", "--json", str(tmp_path / "a"), "--", "python", "-c", PRODUCT
    )
    assert code == 0, err
    assert "EQUAL        gfx942   kernels.py:" in err
    assert "v_mfma_f32_32x32x8_f16" in err
    assert "A as B             8,192 of 8,192 places agree" in err
    assert "Bank conflicts, by line:" in err
    assert "layout: amd_rotating_shared<{vec = 4" in err
    (dot,) = (row["dot"] for row in json.loads((tmp_path / "a").read_text())["layouts"] if "dot" in row)
    assert (dot["verdict"], dot["exchanged"]) == ("equal", True)


@pytest.mark.oracle
@pytest.mark.long
def test_the_programs_own_exit_code_is_kept():
    code, _, err = command("--", "python", PROGRAM, "fails")
    assert code == 5, err


@pytest.mark.oracle
@pytest.mark.long
def test_all_configurations_run_if_asked():
    code, _, err = command("--arch", "gfx950", "--autotune", "--", "python", PROGRAM)
    assert code == 0, err
    assert "3 launches of 1 kernel," in err  # two measured, then the better one


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "a command is expected"),
        (["--arch", "gfx9420", "--", "true"], "gfx942"),
        (["--checks", "bound", "--", "true"], "did you mean 'bounds'"),
        (["--schedule", "lat", "--", "true"], "late"),
        (["--memory", "process", "--checks", "races", "--", "true"], "bounds or none"),
        (["--memory", "process", "--schedule", "late", "--", "true"], "runs a checked launch twice"),
        (["--benchmarks", "one", "--", "true"], "first"),
        (["--", "no-such-program"], "cannot start no-such-program"),
    ],
)
def test_bad_input_is_one_line(args, text, capsys):
    from mfmasim.cli import main

    assert main(["triton", *args]) == 2
    err = capsys.readouterr().err
    assert text in err
    assert len(err.splitlines()) == 1


@pytest.mark.oracle
def test_pytest_option(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import torch\nfrom tests.triton import kernels\n\n"
        "def run(n):\n"
        "    x = torch.ones(n, device='cuda')\n"
        "    z = torch.zeros(256, device='cuda')\n"
        "    kernels.unmasked[(1,)](x, z, B=256)\n"
        "    return z\n\n"
        "def test_right():\n    assert run(256).sum() == 256\n\n"
        "def test_wrong():\n    run(200)\n\n"
        "def child(n):\n"
        "    import subprocess, sys\n"
        "    code = f'import test_it; print(test_it.run({n}).sum())'\n"
        "    return subprocess.run([sys.executable, '-c', code], cwd=__file__.rpartition('/')[0], text=True,\n"
        "                          capture_output=True).stdout\n\n"
        "def test_a_right_child():\n    assert child(256) == 'tensor(256.)\\n'\n\n"
        "def test_a_wrong_child():\n    assert child(200)\n"
    )
    (tmp_path / "conftest.py").write_text("import torch\nassert torch.cuda.is_available()\n")  # as a skip asks
    plugins = ("-p", "no:mfmasim", "-p", "mfmasim.testing.plugin", "-p", "no:cacheprovider")
    options = [*plugins, "--mfmasim-triton", "gfx950", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--rootdir", str(tmp_path), "-c", "/dev/null", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=_environment(),
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert done.stdout.count("read of 4 bytes outside every buffer") >= 2
    assert {line.split()[1].rpartition("::")[2] for line in done.stdout.splitlines() if line.startswith("FAILED")} == {
        "test_wrong",
        "test_a_wrong_child",
    }
    assert "mfmasim: 4 launches on gfx950, checks all;" in done.stdout


def _environment():
    import os

    return {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
