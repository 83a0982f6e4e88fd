"""Running things on the simulated HIP runtime, in a process of their own."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from mfmasim.hiprt import environment
from tests.oracles import require

ROOT = Path(__file__).resolve().parents[2]
OLDER = "MFMASIM_HIP_PYTHON_7"
"""Environment variable: a folder into which ``pip install --target`` put hip-python 7.2; .ci/run sets it."""
VERSIONS = ("", "7.2")
"""Versions of hip-python that suites run with: the one that is installed, and the one before 10."""


def folder_of(version):
    """Folder that makes a version of hip-python the one that programs import; none for the installed one."""
    if not version:
        require("hip-python", importlib.util.find_spec("hip") is not None, "pip install -e '.[test]'")
        return []
    folder = os.environ.get(OLDER, "")
    how = f"pip install --no-deps --target FOLDER 'hip-python=={version}.*' and set {OLDER}=FOLDER"
    require(f"hip-python {version}", bool(folder), how)
    return [str(Path(folder).resolve())]


def run(*arguments, report=None, expect=0, version="", seconds=500, **variables):
    """Run Python with arguments on the simulated runtime; its output, or the report where a file for it is given."""
    # The checkout is tested, whatever is installed.
    places = [*folder_of(version), str(ROOT), os.environ.get("PYTHONPATH", "")]
    changes = {"PYTHONPATH": os.pathsep.join(places), "MFMASIM_TEST_HIP_PYTHON": version}
    if report:
        changes["MFMASIM_HIPRT_REPORT"] = str(report)
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment({**changes, **variables}),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(Path(report).read_text()) if report else done


def suite(path, version="", seconds=500, marks="not long", **variables):
    """Run a file of tests on the simulated runtime; how many passed. None may be skipped or fail.

    They test the runtime, not the checks of kernels: the check bounds is enough, unless `variables` say otherwise.
    """
    variables = {"MFMASIM_HIPRT_CHECKS": "bounds", **variables}
    done = run(
        "-m",
        "pytest",
        "-q",
        "-m",
        marks,
        "-p",
        "no:cacheprovider",
        ROOT / path,
        version=version,
        seconds=seconds,
        **variables,
    )
    last = done.stdout.strip().splitlines()[-1]
    found = re.match(r"(\d+) passed(, \d+ deselected)? in", last)
    assert found, done.stdout
    return int(found[1])
