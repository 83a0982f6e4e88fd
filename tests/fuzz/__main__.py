"""``python -m tests.fuzz SURFACE --minutes N``: fuzz, and add the inputs that reach new branches to the corpus.

What breaks a property is kept in the folder given by ``--finds`` and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz import corpus
from tests.fuzz.surfaces import SURFACES

RECORD = "record.json"
"""Inputs, seconds of CPU and branches of all runs, by surface: a file beside the corpus."""


def libfuzzer(surface: str, finds: Path, *options: str) -> str:
    """Run libFuzzer in a process of its own; its log."""
    command = [sys.executable, "-m", "tests.fuzz.target", surface, str(finds), *options]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    if done.returncode:
        raise SystemExit(f"{surface}: libFuzzer ended with {done.returncode}\n{done.stderr[-6000:]}")
    return done.stderr


def fuzz(surface: str, minutes: float, finds: Path) -> dict[str, int]:
    """Fuzz one surface and add to its corpus.

    Returns:
        Inputs that were tried, seconds of CPU, branches that the corpus reaches, lines added.
    """
    finds.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        old, new, best = (Path(name, one) for one in ("old", "new", "best"))
        for folder in (old, new, best):
            folder.mkdir()
        for number, data in enumerate(corpus.inputs(surface)):
            (old / f"{number}").write_bytes(data)
            (best / f"{number}").write_bytes(data)
        options = [f"-max_total_time={round(minutes * 60)}", f"-artifact_prefix={finds}/", "-print_final_stats=1"]
        log = libfuzzer(surface, finds, *options, str(new), str(old))
        merged = libfuzzer(surface, finds, "-merge=1", str(best), str(new))
        found = [path.read_bytes() for path in best.iterdir()]
    added = corpus.add(surface, found)
    tried = int(re.findall(r"number_of_executed_units: (\d+)", log)[-1])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = round(used.ru_utime + used.ru_stime)
    branches = int(re.findall(r"cov: (\d+)", log + merged)[-1])
    return {"inputs": tried, "seconds": seconds, "branches": branches, "added": len(added)}


def remember(surface: str, counts: dict[str, int]) -> None:
    """Add a run to the record of all runs."""
    path = corpus.FOLDER / RECORD
    record = json.loads(path.read_text()) if path.exists() else {}
    before = record.get(surface, {"inputs": 0, "seconds": 0, "branches": 0})
    record[surface] = {
        "inputs": before["inputs"] + counts["inputs"],
        "seconds": before["seconds"] + counts["seconds"],
        "branches": max(before["branches"], counts["branches"]),
    }
    path.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n")


def main() -> int:
    """Read the command line and fuzz."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("surface", choices=SURFACES)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--finds", type=Path, default=Path(".fuzz"), help="folder for inputs that break a property")
    parser.add_argument("--corpus", type=Path, default=corpus.FOLDER, help="folder of the corpus")
    args = parser.parse_args()
    corpus.FOLDER = args.corpus
    counts = fuzz(args.surface, args.minutes, args.finds / args.surface)
    remember(args.surface, counts)
    print(f"{args.surface}: " + ", ".join(f"{value:,} {key}" for key, value in counts.items()))
    broken = sorted((args.finds / args.surface).iterdir())
    for path in broken:
        print(f"  {path}")
    return bool(broken)


if __name__ == "__main__":
    raise SystemExit(main())
