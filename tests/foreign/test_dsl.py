"""Languages for kernels from their wheels: what their compilers make for AMD's GPUs is right under all checks.

Each is in a virtual environment of its own, in which mfmasim is installed as well:

* ``pip install tilelang``: MFMASIM_TILELANG names its Python.
* ``pip install flydsl``: MFMASIM_FLYDSL names its Python, MFMASIM_FLYDSL_EXAMPLES the folder ``examples`` of
  ROCm/FlyDSL.
* ``pip install iree-base-compiler``: MFMASIM_IREE names iree-compile.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracles import require

pytestmark = [pytest.mark.oracle, pytest.mark.long]

TILES = Path(__file__).parent / "dsl" / "tiles_of_tilelang.py"
EXAMPLES = {
    "01-vectorAdd.py": "PASS",
    "02-tiledCopy.py": "Result correct: True",
    "03-tiledMma.py": "Result correct: True",
    "05-gather_scatter.py": "PASS: 2D TiledCopy row scatter correct",
}


def named(variable, how):
    """What an environment variable names."""
    found = os.environ.get(variable, "")
    require(variable, bool(found), how, installed=False)
    return found


def ran(arch, *command, **variables):
    """Run a program on simulated devices under all checks; what it prints, and what mfmasim reports."""
    whole = [sys.executable, "-m", "mfmasim", "hiprt", "--arch", arch, "--checks", "all", "--", *map(str, command)]
    done = subprocess.run(
        whole, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, re.findall(r"^mfmasim: (?:error|warning) .*", done.stderr, re.MULTILINE)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("kernel", ["float16", "bfloat16", "fp8", "int8", "attention"])
def test_tilelang(arch, kernel, tmp_path):
    """Its headers include rocWMMA's for the type hip_bfloat16 alone, which HIP has."""
    python = named("MFMASIM_TILELANG", "pip install tilelang mfmasim, and the path of that Python")
    header = tmp_path / "rocwmma" / "rocwmma.hpp"
    header.parent.mkdir()
    header.write_text("#include <hip/hip_bfloat16.h>\n")
    cache = str(tmp_path / "cache")
    said, findings = ran(arch, python, TILES, arch, kernel, CPATH=str(tmp_path), TILELANG_CACHE_DIR=cache)
    assert "right True" in said
    assert not findings


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_flydsl(arch, name):
    python = named("MFMASIM_FLYDSL", "pip install flydsl mfmasim, and the path of that Python")
    folder = named("MFMASIM_FLYDSL_EXAMPLES", "the folder examples of a clone of ROCm/FlyDSL")
    said, findings = ran(arch, python, Path(folder) / name)
    assert EXAMPLES[name] in said
    assert not findings


def test_iree():
    compiler = named("MFMASIM_IREE", "pip install iree-base-compiler, and the path of iree-compile")
    done = subprocess.run(
        [sys.executable, "-m", "tests.foreign.iree", compiler], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("right True")) == (0, 6), done.stdout + done.stderr
