"""The process in which a question is answered: without network, with few files, limited in time and memory.

With bubblewrap the process sees the system's programs, Python, this package and the folders that the server may read,
all of them read-only; its own files are in memory and end with it. There are no other processes, no network, no
variables of the environment beyond a fixed few. Without bubblewrap the limits of `mfmasim.agents.worker` alone hold:
a source may then include files that the user can read.
"""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mfmasim
from mfmasim.errors import MfmasimError, unknown

__all__ = ["KINDS", "Sandbox", "sandbox"]

KINDS = ("auto", "bubblewrap", "limits")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/opt/rocm")
"""What programs of the system need."""
KEPT = ("PATH", "ROCM_PATH", "MFMASIM_HIP_COMPILER", "LANG")
"""Variables that the process sees, beside those that are set for it."""
MEMORY_OF_FILES = 1 << 30
"""Bytes of files that it may write, which are in memory."""


@dataclass(frozen=True)
class Sandbox:
    """How processes are started."""

    kind: str
    """``bubblewrap`` or ``limits``."""
    prefix: tuple[str, ...]
    """What stands before the command."""
    cache: Path
    """Folder of compiled code, this server's own."""
    package: Path

    def command(self) -> list[str]:
        """The command of a worker."""
        return [*self.prefix, sys.executable, "-m", "mfmasim.agents.worker"]

    def environment(self, seconds: float) -> dict[str, str]:
        """Its environment.

        Args:
            seconds: that a compiler may take.
        """
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        inside = self.kind == "bubblewrap"
        paths = [str(self.package), *(path for path in _python_paths() if path != str(self.package))]
        return {
            **kept,
            "HOME": "/tmp" if inside else str(self.cache),  # noqa: S108  (the sandbox's own)
            "MFMASIM_CACHE": "/cache" if inside else str(self.cache),
            "MFMASIM_COMPILE_SECONDS": f"{seconds:g}",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONSAFEPATH": "1",
        }


def sandbox(kind: str, roots: Sequence[Path], cache: Path) -> Sandbox:
    """Choose how processes are started.

    Args:
        kind: one of `KINDS`; ``auto`` takes bubblewrap where it works.
        roots: folders that the process may read.
        cache: an existing folder that it may write.

    Raises:
        MfmasimError: bubblewrap is demanded, and does not work here.
    """
    if kind not in KINDS:
        raise unknown("sandbox", kind, KINDS)
    package = Path(mfmasim.__file__).resolve().parent.parent
    limits = Sandbox("limits", (), cache, package)
    if kind == "limits":
        return limits
    program = shutil.which("bwrap")
    if program is not None:
        made = Sandbox("bubblewrap", tuple(_bubblewrap(program, roots, cache, package)), cache, package)
        if _works(made):
            return made
    if kind == "bubblewrap":
        why = "it is not installed" if program is None else "it cannot make namespaces here"
        raise MfmasimError(f"--sandbox bubblewrap: {why}; --sandbox limits works without it, and isolates less")
    return limits


def _works(made: Sandbox) -> bool:
    """Whether Python starts in it."""
    command = [*made.prefix, sys.executable, "-c", "import numpy"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=60, env=made.environment(60))
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _bubblewrap(program: str, roots: Sequence[Path], cache: Path, package: Path) -> Iterator[str]:
    yield from (program, "--unshare-all", "--die-with-parent", "--new-session")
    yield from ("--proc", "/proc", "--dev", "/dev", "--size", str(MEMORY_OF_FILES), "--tmpfs", "/tmp")  # noqa: S108
    shown: list[Path] = []
    names: list[str | Path] = [*SYSTEM, sys.prefix, sys.base_prefix, *_python_paths(), *_compilers(), package, *roots]
    for name in names:
        path = Path(name)
        if not path.exists() or any(path.is_relative_to(one) for one in shown if not one.is_symlink()):
            continue
        shown.append(path)
        yield from ("--ro-bind", str(path), str(path))
    yield from ("--bind", str(cache), "/cache", "--chdir", "/tmp")  # noqa: S108


def _python_paths() -> list[str]:
    """Folders of Python's path, those of ``.pth`` files too."""
    own = [path for path in sys.path if path and Path(path).is_absolute() and Path(path).exists()]
    return list(dict.fromkeys([*own, *site.getsitepackages()]))


def _compilers() -> Iterator[Path]:
    """Folders of compilers that are not among the system's."""
    from mfmasim.toolchain import find_compiler

    try:
        found = find_compiler()
    except MfmasimError:  # a code object needs none; a source is refused where it is compiled
        return
    for name in (found.program[0], *found.linker[:1]):
        path = Path(name).resolve()
        yield path.parents[1] if path.parent.name == "bin" else path.parent
