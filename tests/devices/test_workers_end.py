"""Worker processes do not survive the process that started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import multiprocessing, sys, time
from mfmasim.devices.workers import follow, pool

def burn(_):
    while True:
        pass

if __name__ == "__main__":
    if len(sys.argv) > 1:
        multiprocessing.set_start_method(sys.argv[1])
    workers = pool(2)
    for number in range(2):
        workers.submit(burn, number)
    while len(workers._processes) < 2:
        time.sleep(0.05)
    print(*workers._processes, flush=True)
    time.sleep(600)
"""


def running(pid):
    """Whether a process executes; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ended(pids, seconds=20):
    """Whether all processes end in time."""
    end = time.monotonic() + seconds
    while any(map(running, pids)):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_survives_its_parent(number, method, tmp_path):
    (tmp_path / "p.py").write_text(PROGRAM)
    with subprocess.Popen([sys.executable, tmp_path / "p.py", method], stdout=subprocess.PIPE, text=True) as parent:
        pids = [int(text) for text in parent.stdout.readline().split()]
        try:
            assert len(pids) == 2
            time.sleep(1 if method != "fork" else 0.2)  # some time to start, and burn
            assert all(map(running, pids))
            parent.send_signal(number)
            parent.wait(20)
            assert ended(pids)
        finally:
            parent.kill()
            for pid in filter(running, pids):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_command_line_uses_such_workers(number):
    """``mfmasim run --workers``: a loop that lasts minutes; the signal reaches the first process alone."""
    from mfmasim.resources import folder

    kernel = folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco"
    words = [
        "run",
        kernel,
        "--grid",
        "8",
        "--arg",
        "u32:512",
        "--arg",
        "i32=2000000000",
        "--arg",
        "u32=7",
        "--budget",
        "1000000000000",
        "--checks",
        "none",
        "--workers",
        "2",
    ]
    taken = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}  # ignored in background
    with subprocess.Popen([sys.executable, "-m", "mfmasim", *words], **taken) as parent:
        pids = []
        try:
            end = time.monotonic() + 60
            while len(pids) < 2 and time.monotonic() < end:
                time.sleep(0.1)
                pids = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
            assert len(pids) >= 2
            time.sleep(0.5)
            parent.send_signal(number)
            parent.wait(20)
            assert ended(pids)
        finally:
            parent.kill()
            for pid in filter(running, pids):
                os.kill(int(pid), signal.SIGKILL)
