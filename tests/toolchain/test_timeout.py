"""A compiler that does not end is ended, and what it started, too."""

import sys
import time
from pathlib import Path

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.toolchain.compilers import TIMEOUT_SECONDS, TIMEOUT_VARIABLE, compile_seconds, run

DRIVER = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(child.pid))
child.wait()
"""


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_compiler_that_does_not_end(tmp_path, monkeypatch):
    (tmp_path / "driver.py").write_text(DRIVER)
    monkeypatch.setenv(TIMEOUT_VARIABLE, "3")
    start = time.monotonic()
    with pytest.raises(MfmasimError, match=r"did not end within 3 seconds; MFMASIM_COMPILE_SECONDS sets another time"):
        run([sys.executable, str(tmp_path / "driver.py"), str(tmp_path / "pid")])
    assert time.monotonic() - start < 60
    child = (tmp_path / "pid").read_text()
    for _ in range(100):
        if not running(child):
            break
        time.sleep(0.1)
    assert not running(child)


def test_the_time_that_is_allowed(monkeypatch):
    monkeypatch.delenv(TIMEOUT_VARIABLE, raising=False)
    assert compile_seconds() == TIMEOUT_SECONDS
    for bad in ("0", "-1", "nan", "inf", "soon"):
        monkeypatch.setenv(TIMEOUT_VARIABLE, bad)
        with pytest.raises(MfmasimError, match="a positive number of seconds"):
            compile_seconds()


def test_output_and_code_of_a_program_that_ends():
    ran = run([sys.executable, "-c", "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"])
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, "a\n", "b\n")
