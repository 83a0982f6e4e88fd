"""Programs of others, compiled by `mfmasim hipcc` and run: the table that `libraries` and `tiles` print."""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from mfmasim.hiprt import environment


@dataclass(frozen=True)
class Program:
    """One program: what compiles it, the arguments of each run, and patterns of its output that say what came out."""

    name: str
    command: Callable[[str, Path], list[str]]
    """Arguments of hipcc for an architecture and the program's path, of which ``-o`` is not one."""
    runs: tuple[str, ...] = ("",)
    right: str = ""
    wrong: str = r"(?i)fail|mismatch|incorrect"


BUDGET = str(10**9)
"""Instructions of a wave: a limit of time ends what one work-item does alone."""


def timed(words: list[str], seconds: float, env: dict[str, str] | None = None) -> tuple[int, str, float]:
    """Exit code, output and CPU seconds of a process; exit code 124 if it takes longer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    timer = ["timeout", "-k", "1", str(seconds), *words]
    ran = subprocess.run(timer, env=env, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran.returncode, (ran.stdout + ran.stderr).decode(errors="replace"), used


def build(program: Program, arch: str, to: Path, seconds: float) -> tuple[int, str, float]:
    """Compile a program; exit code, messages, CPU seconds."""
    words = [sys.executable, "-m", "mfmasim", "hipcc", f"--offload-arch={arch}", "-w", "-O3", "-o", str(to)]
    return timed([*words, *program.command(arch, to)], seconds)


def run(program: Program, words: str, arch: str, path: Path, checks: str, seconds: float) -> tuple[str, str, float]:
    """Run it: "right", "wrong", or the exit code; its output; CPU seconds."""
    settings = {"MFMASIM_HIPRT_ARCH": arch, "MFMASIM_HIPRT_CHECKS": checks, "MFMASIM_HIPRT_BUDGET": BUDGET}
    env = environment(settings)
    code, text, used = timed([str(path), *words.split()], seconds, env)
    wrong = re.search(program.wrong, text) or (program.right and not re.search(program.right, text))
    return f"exit {code}" if code else "wrong" if wrong else "right", text, used


def main(description: str | None, programs: Iterable[Program]) -> int:
    """Print one line for each run: its program and arguments, CPU seconds of compiler and run, result, findings."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*", help="parts of names; default: all")
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--checks", default="bounds")
    parser.add_argument("--keep", type=Path, help="folder for output, and for programs, of which it may have some")
    parser.add_argument("--compile", type=float, default=900, help="limit of the compiler in seconds")
    parser.add_argument("--run", type=float, default=300, help="limit of a run in seconds")
    args = parser.parse_args()
    place = args.keep or Path(tempfile.mkdtemp())
    place.mkdir(parents=True, exist_ok=True)
    for program in programs:
        if args.names and not any(name in program.name for name in args.names):
            continue
        path = place / f"{program.name.replace('/', '-')}.{args.arch}"
        code, text, took = (0, "", 0.0) if path.exists() else build(program, args.arch, path, args.compile)
        if code:
            path.with_name(f"{path.name}.err").write_text(text)
            print(f"| {program.name} | {took:.0f} | compiler {code} | | |", flush=True)
            continue
        for number, words in enumerate(program.runs):
            state, text, used = run(program, words, args.arch, path, args.checks, args.run)
            path.with_name(f"{path.name}.{args.checks}.{number}.txt").write_text(text)
            findings = len(re.findall(r"^mfmasim: (?:error|warning)", text, re.MULTILINE))
            print(f"| {program.name} {words} | {took:.0f} | {state} | {findings} | {used:.1f} |", flush=True)
    return 0
