"""Build and run compiled programs."""

import subprocess
import sys
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import environment
from mfmasim.hiprt.build import libpython
from mfmasim.toolchain import find_compiler
from tests.oracles import require

SOURCES = Path(__file__).parent / "programs"


def clang():
    """A compiler for host and device code."""
    try:
        tool = find_compiler()
    except MfmasimError:
        tool = None
    able = tool is not None and tool.style != "zig" and "/" in str(libpython())
    require("a clang with lld, libpython", able, "apt install clang-22 lld-22 libpython3-dev")
    return tool


def hipcc(*words, cwd=None):
    """Run `mfmasim hipcc`."""
    made = subprocess.run(
        [sys.executable, "-m", "mfmasim", "hipcc", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert "warning" not in made.stderr
    return made


def started(*words, **variables):
    """Run a program in the environment of the simulated runtime, under the check bounds unless others are named."""
    changes = {"MFMASIM_HIPRT_CHECKS": "bounds"} | {
        f"MFMASIM_HIPRT_{name.upper()}": value for name, value in variables.items()
    }
    done = subprocess.run(
        list(map(str, words)), env=environment(changes), capture_output=True, text=True, check=False, timeout=600
    )
    # The line about checks that did not run follows from those named here.
    lines = done.stderr.splitlines(keepends=True)
    done.stderr = "".join(line for line in lines if not line.startswith("mfmasim: checks that ran: "))
    return done
