"""Importing every module where Linux is not: on Windows and macOS. What needs Linux says so when it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Modules and names that Python has on Linux and not on the other system (docs.python.org, "Availability").
POSIX = ("fcntl", "resource", "pty", "termios", "tty", "pwd", "grp", "readline", "curses", "syslog")
NOT_WINDOWS = {
    "signal": ("SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGQUIT", "SIGSTOP",
               "setitimer", "alarm", "pthread_sigmask", "pthread_kill", "sigwait"),
    "os": ("fork", "forkpty", "killpg", "setsid", "getpgid", "setpgid", "getuid", "geteuid", "getgid", "uname",
           "wait", "waitid", "wait4", "WNOHANG", "mkfifo", "openpty", "nice", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK",
           "O_DIRECTORY", "chown", "sysconf", "statvfs", "getloadavg", "pread", "pwrite", "sendfile", "chroot"),
    "mmap": ("MAP_PRIVATE", "MAP_ANONYMOUS", "MAP_ANON", "MAP_SHARED", "PROT_READ", "PROT_WRITE", "PROT_EXEC",
             "MADV_DONTNEED"),
}  # fmt: skip
NOT_MACOS = {
    "signal": ("SIGRTMIN", "SIGRTMAX", "SIGSTKFLT", "SIGPWR", "sigtimedwait", "sigwaitinfo"),
    "mmap": ("MAP_NORESERVE", "MAP_POPULATE", "MAP_STACK", "MADV_DONTDUMP", "MADV_HUGEPAGE"),
}
LINUX = {"os": ("sched_getaffinity", "sched_setaffinity", "memfd_create", "pidfd_open", "eventfd", "O_TMPFILE",
                "O_PATH", "posix_fadvise", "getrandom", "setresuid", "copy_file_range")}  # fmt: skip

PROGRAM = """
import importlib, importlib.util, pkgutil, sys
# What belongs to others is imported first: it has its own ways on other systems.
import concurrent.futures.process, ctypes, multiprocessing, tempfile, numpy, ml_dtypes, msgpack, pytest, subprocess
import elftools.dwarf.lineprogram, elftools.elf.elffile, hypothesis
import rich.console, rich.progress, rich.status, rich.table
for name in ("torch", "triton"):
    if importlib.util.find_spec(name):
        importlib.import_module(name)
sys.platform = {platform!r}
for name in {modules!r}:
    sys.modules[name] = None
for name, attributes in {attributes!r}.items():
    module = importlib.import_module(name)
    for attribute in attributes:
        if hasattr(module, attribute):
            delattr(module, attribute)
import mfmasim
count = 0
for found in pkgutil.walk_packages(mfmasim.__path__, "mfmasim."):
    if not found.name.endswith("__main__") and "_bundled" not in found.name:
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if error.name not in ("torch", "triton"):
                raise
        count += 1
{then}
print(count)
"""


def run(platform, then=""):
    modules = POSIX if platform == "win32" else ()
    others = NOT_WINDOWS if platform == "win32" else {}
    attributes = {
        name: (*others.get(name, ()), *NOT_MACOS.get(name, ()), *LINUX.get(name, ()))
        for name in ("signal", "os", "mmap")
    }
    text = PROGRAM.format(platform=platform, modules=modules, attributes=attributes, then=then)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, check=False)


THEN = """
import mfmasim.cli
assert mfmasim.cli.main(["hiprt", "python", "program.py"]) == 2
assert mfmasim.cli.main(["verify", "intro", "--case", "x2", "--jobs", "1"]) == 0
"""


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_every_module_is_imported_and_a_kernel_runs(platform):
    """What needs Linux says so."""
    made = run(platform, THEN)
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("mfmasim: hiprt needs Linux")
    verified, count = made.stdout.rstrip().rpartition("\n")[::2]
    assert "2 pass" in verified
    assert int(count) > 500
