"""Triton's own HIP driver on the simulated HIP runtime."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracles import require
from tests.triton.needs import needed  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = re.search(r"```python\n(# own\.py\n.*?)```", (ROOT / "docs" / "triton.md").read_text(), re.DOTALL)[1]


def hiprt(arch, program, report, **variables):
    path = os.pathsep.join([variables.pop("first", ""), str(ROOT), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mfmasim",
            "hiprt",
            "--arch",
            arch,
            "--checks",
            "bounds",
            "--report",
            str(report),
            "--",
            sys.executable,
            str(program),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), json.loads(report.read_text())


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "gfx1250"])
def test_launches(tmp_path, arch):
    out, report = hiprt(arch, Path(__file__).with_name("own_driver.py"), tmp_path / "r.json")
    assert out == [arch, "add True", "matmul True", "meeting True", "described True"]
    assert report["launches"] == 4
    assert report["calls"]["hipGetProcAddress"] >= 10
    assert report["calls"]["hipModuleLaunchKernel"] == 3  # the cooperative one is another call
    assert (report["unserved"], report["findings"]) == ({}, [])


@pytest.mark.oracle
@pytest.mark.long
def test_the_example_of_the_page(tmp_path):
    program = tmp_path / "own.py"
    program.write_text(EXAMPLE)
    out, report = hiprt("gfx950", program, tmp_path / "r.json")
    assert (out, report["launches"], report["findings"]) == (["True"], 1, [])
    program.write_text(EXAMPLE.replace("y, 1500, B", "y, 2048, B"))
    out, report = hiprt("gfx950", program, tmp_path / "r.json")
    assert len(report["findings"]) == 2  # the read and the write past the end
    assert re.search(r"own\.py:\d+$", report["findings"][0]["source"])
    assert re.match(r"read of \d+ bytes outside every buffer", report["findings"][0]["message"])


@pytest.mark.oracle
@pytest.mark.long
def test_the_version_before(tmp_path):
    folder = os.environ.get("MFMASIM_TRITON_BEFORE", "")
    require("the Triton before the current one", folder, "pip install --target FOLDER; MFMASIM_TRITON_BEFORE=FOLDER")
    program = Path(__file__).with_name("own_driver.py")
    out, _ = hiprt("gfx950", program, tmp_path / "r.json", first=folder, TRITON_CACHE_DIR=str(tmp_path))
    assert out[1:] == ["add True", "matmul True", "meeting True", "described True"]
