"""A debugger that waits for an editor, in a process of its own: where, and with which token."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def waiting(*arguments):
    """`mfmasim debug --dap` with arguments."""
    command = [sys.executable, "-m", "mfmasim", "debug", "--dap", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def listening(process):
    """Where it listens."""
    while "listening on " not in (line := process.stderr.readline()):
        assert line
    return line.rpartition("listening on ")[2].strip()


def told(process):
    """Port and token that it prints."""
    port = int(listening(process).rsplit(":", 1)[1])
    words = process.stderr.readline().split()
    assert words[:2] == ["DAP:", "token"]
    return port, words[2]
