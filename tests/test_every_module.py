"""Every module can be imported by itself: what a version of Python or of a library lacks at import shows here."""

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mfmasim
from tests.oracles import absent
from tests.triton.needs import HAVE

ROOT = Path(__file__).resolve().parents[1]


def test_every_module_can_be_imported():
    names = [found.name for found in pkgutil.walk_packages(mfmasim.__path__, "mfmasim.")]
    names = [name for name in names if not name.endswith("__main__") and "._bundled" not in name]
    assert len(names) >= 300
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:  # the driver for Triton is a class of Triton's, its tensors are PyTorch's
            inside = name.startswith(("mfmasim.triton.", "mfmasim.extensions."))
            if HAVE or not inside or error.name not in ("triton", "torch"):
                raise


@pytest.mark.long
def test_every_module_of_the_tests_without_optional_packages():
    """What the README's second command collects, where nothing but the extra `test` is installed."""
    words = [
        "-m",
        "pytest",
        "-p",
        "tests.hidden",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "-qq",
        *("-m", "not long"),
    ]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    collected = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines() if re.search(r": \d+$", line))
    assert sum(map(int, collected.values())) >= 5000


def test_one_line_for_what_is_missing():
    reasons = [f"Skipped: tool {n} is not available: apt install tools" for n in range(6)]
    reasons += ["Skipped: triton is not available: pip install it", "Skipped: no such case"]
    assert absent(reasons) == [
        "tool 0, tool 1, tool 2, 3 more: 6 tests skipped; apt install tools",
        "triton: 1 tests skipped; pip install it",
        "other reasons: 1 tests skipped; pytest -rs",
    ]
    assert absent([]) == []
