"""A scheduler, workers and case files of the tests of executors."""

import os
import socket
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = """
    import os, pathlib
    from mfmasim.resources import folder
    from mfmasim.verify import A, B, C, case

    SOURCE = folder("hipkernels") / "intro" / "mfma_f32_32x32x2_f32.hip"
    HERE = pathlib.Path(__file__).parent


    def declare(name, before=lambda: None):
        def f():
            before()
            a, b, c = A("f32", (32, 2)), B("f32", (2, 32)), C("f32", (32, 32))
            return dict(grid=1, block=64, args=[a, b, c], expect=a @ b)

        f.__name__ = name
        case(SOURCE, kernel="mfma_f32_32x32x2_f32", arch="gfx942")(f)
"""


def mfmasim(folder, *arguments, start=subprocess.run, command=None, more=None, **options):
    """Run the program, or another command, in a folder and an environment."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", **(more or {})}
    command = command or [sys.executable, "-m", "mfmasim", *map(str, arguments)]
    return start(command, cwd=folder, env=environment, text=True, **options)


def outcome(folder, *arguments, more=None):
    """Exit code, output and errors."""
    done = mfmasim(folder, *arguments, more=more, capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def write(folder, text):
    """A case file."""
    (folder / "my_cases.py").write_text(textwrap.dedent(CASES) + textwrap.dedent(text))
    return folder


def free_port():
    """A port of the loopback address without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def cluster(folder, workers=(((), {}),), tls=()):
    """A scheduler and workers, each in a session of its own, so that a signal reaches one of them.

    Args:
        folder: their working folder.
        workers: options and additional environment of each.
        tls: options of all.
    """
    port, protocol = free_port(), "tls" if tls else "tcp"
    python = [sys.executable, "-m"]
    scheduler = [*python, "distributed.cli.dask_scheduler", "--host", f"{protocol}://127.0.0.1", "--port", str(port)]
    worker = [*python, "distributed.cli.dask_worker", f"{protocol}://127.0.0.1:{port}", "--nthreads", "1", *tls]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True, "cwd": folder}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [subprocess.Popen([*scheduler, "--no-dashboard", *tls], env=environment, **quiet)]
    for options, more in workers:
        added = {**environment, **more}
        started.append(subprocess.Popen([*worker, "--no-dashboard", *options], env=added, **quiet))
    try:
        yield f"dask{'+tls' * bool(tls)}://127.0.0.1:{port}", started
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, 9)
            process.wait()
