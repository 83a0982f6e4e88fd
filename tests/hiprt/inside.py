"""Running things on the simulated HIP runtime, in a process of their own."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from oracles import require

from mfmasim.hiprt import environment

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments, report=None, expect=0, **variables):
    """Run Python with arguments on the simulated runtime; its output, or the report where a file for it is given."""
    require("hip-python", importlib.util.find_spec("hip") is not None, "pip install 'mfmasim[hip]'")
    # The checkout is tested, whatever is installed.
    changes = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    if report:
        changes["MFMASIM_HIPRT_REPORT"] = str(report)
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment({**changes, **variables}),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return json.loads(Path(report).read_text()) if report else done


def suite(path, **variables):
    """Run a file of tests on the simulated runtime; how many passed. None may be skipped or fail."""
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / path, **variables)
    last = done.stdout.strip().splitlines()[-1]
    found = re.match(r"(\d+) passed(, \d+ deselected)? in", last)
    assert found, done.stdout
    return int(found[1])
