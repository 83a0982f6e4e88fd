"""Commands on one worker and on two, and on two of which one is killed: times, and hashes of all that they write.

    python -m tests.bench.bench_executors                 # every command of the table
    python -m tests.bench.bench_executors --small         # small families
    python -m tests.bench.bench_executors --only mutate   # commands whose name contains this
    python -m tests.bench.bench_executors overhead        # what a task that does nothing costs

Prints for each command the wall time, and the CPU time since the machine may be shared, with ``--jobs 1``, with one and
two workers of a Dask cluster of this machine, and with two of which one is killed after the first result; and whether
all outputs (standard output, JSON, SARIF, HTML, captures) are the same bytes. Exits with 1 where they are not.
"""

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.cli.clusters import ROOT, cluster

COMMANDS = {
    "verify": "verify all --quiet --json F.json --sarif F.sarif --html F.html",
    "mutate": "mutate gemm_fp8 --json",
    "mutate --binary": "mutate intro --binary --limit 24 --json",
    "report": "report gemm_f16 --json F.json --html F.html",
    "explore": "explore intro gemm_f16 attention cast --trials 20 --seed 1 --json F.json",
    "prove": "prove gemm_f16 --json F.json",
    "golden record": "gpu golden record gemm_f16 --device sim --into captures",
    "golden check": "gpu golden check CAPTURES --json F.json",
    "kit check": "gpu kit check KIT --json F.json",
    "run": "run CODE --grid 64 --arg u32:4096 --arg i32=3000 --arg u32=7 --json",
}
SMALL = {
    "verify": "verify intro --quiet --json F.json --sarif F.sarif --html F.html",
    "mutate": "mutate intro --json",
    "mutate --binary": "mutate intro --binary --limit 6 --json",
    "report": "report intro --json F.json --html F.html",
    "explore": "explore intro cast --trials 3 --seed 1 --json F.json",
    "prove": "prove intro --limit 300 --json F.json",
    "golden record": "gpu golden record intro --device sim --into captures",
}
HEAD = (
    "command", "--jobs 1, s", "1 worker, s", "2 workers, s", "ratio", "CPU of 1, s", "CPU of 2, s",
    "one of 2 killed, s", "outputs",
)  # fmt: skip
HEADER = 100
"""Bytes of the file of ``--resume`` without a result."""
WORKERS = "dask://local?workers="


def digest(folder, output):
    """Hash of the standard output and of the files in a folder; of a capture without the time of its recording."""
    found = hashlib.sha256(output)
    for path in sorted(one for one in folder.rglob("*") if one.is_file() and ".hypothesis" not in one.parts):
        data = path.read_bytes()
        if path.suffix == ".npz":
            from mfmasim.lab.agreement.capture import read

            capture = read(path)
            capture.about.pop("captured")
            capture.about["environment"].pop("captured")
            arrays = [array.tobytes() for one in capture.launches for array in (*one.before, *one.after)]
            data = repr((capture.about, capture.code, [one.call for one in capture.launches], arrays)).encode()
        found.update(path.relative_to(folder).as_posix().encode() + data)
    return found.hexdigest()[:16]


def start(words, folder):
    """Start a command that writes into a folder."""
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "mfmasim", *words]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def timed(words, folder, kill=None):
    """Wall seconds, CPU seconds of all processes that ended, and the digest.

    Args:
        words: the command's.
        folder: it runs there.
        kill: called once, when the file ``../kept`` has a result.
    """
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    running, kept = start(words, folder), folder.parent / "kept"
    while kill and running.poll() is None:
        if kept.exists() and kept.stat().st_size > HEADER:
            kill()
            kill = None
        time.sleep(0.05)
    out, err = running.communicate()
    wall = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    if running.returncode not in (0, 1) or err.strip():
        sys.exit(f"{' '.join(words)}: exit code {running.returncode}: {err.decode()[-500:]}")
    return wall, cpu, digest(folder, out)


def kill_one(started):
    """Kill the process that works below the first worker's nanny."""
    import psutil

    (worker,) = [one for one in psutil.Process(started[1].pid).children() if "spawn_main" in " ".join(one.cmdline())]
    worker.kill()


def row(name, words, scratch):
    """Measure one command in all four ways: whether the outputs are the same, and its row of the table."""
    place = scratch / name.replace(" ", "_")
    place.mkdir()
    ways = [
        timed([*words, "--jobs", "1"] if name != "run" else words, place / "jobs"),
        timed([*words, "--executor", f"{WORKERS}1"], place / "one"),
        timed([*words, "--executor", f"{WORKERS}2"], place / "two"),
    ]
    killed = []
    with cluster(scratch, [((), {}), ((), {})]) as (address, started):
        time.sleep(5)  # until the workers have joined
        more = ["--executor", address, *(["--resume", str(place / "kept")] if name != "run" else [])]
        ways.append(timed([*words, *more], place / "killed", lambda: killed.append(kill_one(started))))
    same = len({found for *_, found in ways}) == 1
    (alone, _, found), (one, one_cpu, _), (two, two_cpu, _), (last, *_) = ways
    return same, (
        f"| {name} | {alone:.1f} | {one:.1f} | {two:.1f} | **{two / one:.2f}** | {one_cpu:.1f} | {two_cpu:.1f} | "
        f"{last:.1f}{'' if killed else ' (none killed)'} | {found if same else [w[-1] for w in ways]} |"
    )


def nothing(args):
    """Tasks that do nothing."""
    return list(range(args.count))


def done(_args, task):
    """The result of one."""
    return task


def overhead():
    """Print what a task costs beside itself: CPU of client and scheduler (this process) and of the workers."""
    import importlib

    from mfmasim.cli import jobs
    from mfmasim.cli.executors import batches

    here = importlib.import_module("tests.bench.bench_executors")  # functions of a module, as workers find them

    def used(count):
        start, before = time.perf_counter(), [resource.getrusage(who) for who in (0, resource.RUSAGE_CHILDREN)]
        args = argparse.Namespace(count=count, jobs=None, executor=f"{WORKERS}2")
        assert list(jobs.in_order(args, here.nothing, here.done)) == list(range(count))
        after = [resource.getrusage(who) for who in (0, resource.RUSAGE_CHILDREN)]
        own = [b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True)]
        return [time.perf_counter() - start, *own]

    most = batches.TOGETHER
    for together in (1, most):
        batches.TOGETHER = together
        few, many = used(20), used(2020)
        wall, client, workers = (1000 * (b - a) / 2000 for a, b in zip(few, many, strict=True))
        print(f"batches of {together} at most: a task costs {wall:.2f} ms of time, {client:.2f} ms of CPU of client")
        print(f"  and scheduler, {workers:.2f} ms of the workers'; load {os.getloadavg()[0]:.1f}", flush=True)


def prepared(scratch, names, record):
    """Files that commands read: captures, made by the words `record`, and a kit file of the simulated runtime."""
    made = {"CODE": str(ROOT / "golden" / "code" / "bench" / "valu_loop.gfx942.hsaco")}
    if "golden check" in names:
        timed(record.split(), scratch / "recorded")
        made["CAPTURES"] = str(scratch / "recorded" / "captures")
    if "kit check" in names:
        made["KIT"] = str(scratch / "gfx942.kit")
        kit = ["gpu", "kit", "--out", made["KIT"], "--quick", "--only", "operations"]
        timed(
            ["hiprt", "--arch", "gfx942", "--phases", "tables", "--", sys.executable, "-m", "mfmasim", *kit],
            scratch / "kit",
        )
    return made


def main():
    """Print the table; 1 where outputs differ."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=("table", "overhead"), default="table")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.what == "overhead":
        return overhead()
    commands = COMMANDS | (SMALL if args.small else {})
    chosen = {name: text for name, text in commands.items() if args.only in name}
    right = True
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        made = prepared(scratch, chosen, commands["golden record"])
        print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
        for name, text in chosen.items():
            same, line = row(name, [made.get(word, word) for word in text.split()], scratch)
            right &= same
            print(line, flush=True)
    print(f"load {os.getloadavg()}, {os.cpu_count()} processors")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
