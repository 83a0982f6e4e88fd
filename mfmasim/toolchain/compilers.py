"""Properties of a compiler: its program, its version, and which headers it uses."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mfmasim.errors import MfmasimError
from mfmasim.toolchain.programs import environment

Kind = Literal["explicit", "hipcc", "clang", "ziglang"]
Style = Literal["rocm", "clang", "zig"]

MINIMUM_CLANG = 21
"""Oldest major version of clang with gfx950, gfx1151 and gfx1201, and the oldest tested with the device headers."""

TIMEOUT_SECONDS = 600.0
TIMEOUT_VARIABLE = "MFMASIM_COMPILE_SECONDS"
"""Environment variable: seconds that one run of a compiler may take, instead of `TIMEOUT_SECONDS`."""


@dataclass(frozen=True)
class Compiler:
    """A compiler that was found and identified."""

    kind: Kind
    """How it was found: named by the user, in ROCm, a clang, or the ziglang wheel."""
    style: Style
    """How it is used: ``rocm`` with ROCm's headers in one step, ``clang`` and ``zig`` with mfmasim's in three."""
    program: tuple[str, ...]
    """The compiler's command: a path, followed by ``clang`` for zig."""
    linker: tuple[str, ...]
    """The command of ld.lld; empty if the compiler driver links."""
    version: str
    """Version of the clang inside, such as ``22.1.8``."""
    description: str
    """Description without paths: ``clang 22.1.8 (ziglang 0.17.0)``."""

    @property
    def path(self) -> Path:
        """The program's file."""
        return Path(self.program[0])


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a tool without a shell and without environment variables that would change its output.

    Args:
        command: program and arguments.

    Returns:
        The completed process with its output as text.

    Raises:
        MfmasimError: the program cannot be started, or does not end in time.
    """
    return _start(command, environment(command[0]))


def _start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    seconds = compile_seconds()
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # so that the programs which a driver starts end with it
        )
    except OSError as error:
        raise MfmasimError(f"cannot run {command[0]}: {error.strerror or error}") from None
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                text = f"{command[0]} did not end within {seconds:g} seconds; {TIMEOUT_VARIABLE} sets another time"
                raise MfmasimError(text) from None
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a process and what it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def compile_seconds() -> float:
    """Seconds that one run of a compiler may take.

    Raises:
        MfmasimError: the environment variable is not a positive number.
    """
    text = os.environ.get(TIMEOUT_VARIABLE, "")
    try:
        seconds = float(text) if text else TIMEOUT_SECONDS
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise MfmasimError(f"{TIMEOUT_VARIABLE}={text}: a positive number of seconds is expected")
    return seconds


def probe(path: Path, kind: Kind) -> Compiler:
    """Identify a compiler and its linker.

    Args:
        path: the program's file: hipcc, amdclang++, a clang or zig.
        kind: how it was found.

    Returns:
        The compiler, ready for `mfmasim.toolchain.compile_hip`.

    Raises:
        MfmasimError: it cannot be started, is not a HIP compiler, is too old, or has no linker.
    """
    if path.stem == "zig":
        return _probe_zig(path, kind)
    banner = run([str(path), "--version"])
    text = banner.stdout + banner.stderr
    found = re.search(r"clang version (\d+(?:\.\d+)*)", text)
    if found is None or banner.returncode != 0:
        raise MfmasimError(f"{path} is not a HIP compiler: --version prints no clang version")
    version = found[1]
    if _is_rocm(path, text):
        hip = re.search(r"HIP version: (\S+)", text)
        return Compiler(
            kind, "rocm", (str(path),), (), version, f"AMD clang {version}" + (f" (HIP {hip[1]})" if hip else "")
        )
    _require_version(path, version)
    if not re.search(r"^\s*amdgcn\b", run([str(path), "--print-targets"]).stdout, re.MULTILINE):
        raise MfmasimError(f"{path} (clang {version}) was built without the AMDGPU target")
    return Compiler(kind, "clang", (str(path),), (_lld_of(path, version),), version, f"clang {version}{_vendor(text)}")


def _probe_zig(path: Path, kind: Kind) -> Compiler:
    release = run([str(path), "version"])
    found = re.search(r"clang version (\d+(?:\.\d+)*)", run([str(path), "clang", "--version"]).stdout)
    if found is None or release.returncode != 0:
        raise MfmasimError(f"{path} is not a zig with a built-in clang")
    _require_version(path, found[1])
    program, linker = (str(path), "clang"), (str(path), "ld.lld")
    return Compiler(kind, "zig", program, linker, found[1], f"clang {found[1]} (ziglang {release.stdout.strip()})")


def _is_rocm(path: Path, banner: str) -> bool:
    """Whether the driver has ROCm's headers: hipcc always, AMD's clang if they are in a folder above it."""
    if path.stem == "hipcc" or "HIP version:" in banner:
        return True
    if "AMD clang" not in banner:
        return False
    return any((above / "include" / "hip" / "hip_runtime.h").is_file() for above in path.resolve().parents)


def _require_version(path: Path, version: str) -> None:
    if int(version.partition(".")[0]) < MINIMUM_CLANG:
        raise MfmasimError(f"{path} is clang {version}; mfmasim needs clang {MINIMUM_CLANG} or newer")


def _lld_of(path: Path, version: str) -> str:
    """The ld.lld of the same major version: an older one writes a different ELF ABI version."""
    major = version.partition(".")[0]
    named = run([str(path), "-print-prog-name=ld.lld"]).stdout.strip()
    for name in (named, f"ld.lld-{major}", "ld.lld"):
        candidate = shutil.which(name) if name else None
        if candidate is None:
            continue
        found = re.search(r"LLD (\d+)", run([candidate, "--version"]).stdout)
        if found is not None and found[1] == major:
            return candidate
    raise MfmasimError(f"{path} (clang {version}) lacks its linker: install ld.lld {major} (Debian: lld-{major})")


def _vendor(banner: str) -> str:
    """A distributor's version, such as `` (Debian 1~deb12u1)``."""
    found = re.search(r"^(\w+) clang version \S+(?: \((\S+)\))?", banner, re.MULTILINE)
    return f" ({' '.join(part for part in found.groups() if part)})" if found else ""
