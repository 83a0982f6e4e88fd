"""Commands on one worker and on two, and on two of which one is killed: times, and hashes of all that they write.

    python -m tests.bench.bench_executors                 # every command of the table
    python -m tests.bench.bench_executors --middle        # commands of ten to thirty seconds
    python -m tests.bench.bench_executors --two           # without the other ways: wall time of one and two workers
    python -m tests.bench.bench_executors --only mutate   # commands whose name contains this
    python -m tests.bench.bench_executors overhead        # what a task that does nothing costs

Prints for each command the wall time, and the CPU time since the machine may be shared, with ``--jobs 1``, with one and
two workers of a Dask cluster of this machine, and with two of which one is killed once it has worked for some seconds
of CPU time; and whether all outputs (standard output, JSON, SARIF, HTML, captures) are the same bytes. Exits with 1
where they are not.
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
    "run": "run CODE --grid 1024 --arg u32:65536 --arg i32=16000 --arg u32=7 --json",
}
MIDDLE = {
    "verify": "verify gemm_fp8 --arch gfx942 --quiet --json F.json --sarif F.sarif --html F.html",
    "mutate": "mutate gemm_sparse --name index --json",
    "mutate --binary": "mutate intro --binary --limit 6 --json",
    "explore": "explore gemm_f16 --arch gfx942 --trials 30 --seed 1 --json F.json",
    "prove": "prove gemm_f16 --arch gfx942 --json F.json",
    "report": "report gemm_fp8 --arch gfx942 --json F.json --html F.html",
    "golden record": "gpu golden record gemm_fp8 --arch gfx942 --device sim --into captures",
}
TWO = {"verify of three families": "verify gemm_fp8 gemm_f16 zoo --quiet --json F.json"}
HEAD = (
    "command", "--jobs 1, s", "1 worker, s", "2 workers, s", "ratio", "CPU of 1, s", "CPU of 2, s",
    "one of 2 killed, s", "outputs",
)  # fmt: skip
WORKED = 4.0
"""CPU seconds of a command in a worker, imports included, after which the worker is killed."""
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


def timed(words, folder, worker=None):
    """Wall seconds, CPU seconds of all processes that ended, and the digest.

    Args:
        words: the command's.
        folder: it runs there.
        worker: a process (of psutil) that is killed once it has worked for `WORKED`.
    """
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    running, idle = start(words, folder), worker and sum(worker.cpu_times()[:2])
    while worker and running.poll() is None:
        if sum(worker.cpu_times()[:2]) > idle + WORKED:
            worker.kill()
            worker = None
        time.sleep(0.05)
    out, err = running.communicate()
    wall = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    if running.returncode not in (0, 1) or err.strip():
        sys.exit(f"{' '.join(words)}: exit code {running.returncode}: {err.decode()[-500:]}")
    return wall, cpu, digest(folder, out)


def working(started):
    """The process that works below the first worker's nanny."""
    import psutil

    (worker,) = [one for one in psutil.Process(started[1].pid).children() if "spawn_main" in " ".join(one.cmdline())]
    return worker


def row(name, words, scratch):
    """Measure one command in all four ways: whether the outputs are the same, and its row of the table."""
    place = scratch / name.replace(" ", "_")
    place.mkdir()
    ways = [
        timed([*words, "--jobs", "1"] if name != "run" else words, place / "jobs"),
        timed([*words, "--executor", f"{WORKERS}1"], place / "one"),
        timed([*words, "--executor", f"{WORKERS}2"], place / "two"),
    ]
    with cluster(scratch, [((), {}), ((), {})]) as (address, started):
        time.sleep(5)  # until the workers have joined
        worker = working(started)
        ways.append(timed([*words, "--executor", address], place / "killed", worker))
        killed = not worker.is_running()
    same = len({found for *_, found in ways}) == 1
    (alone, _, found), (one, one_cpu, _), (two, two_cpu, _), (last, *_) = ways
    return same, (
        f"| {name} | {alone:.1f} | {one:.1f} | {two:.1f} | **{two / one:.2f}** | {one_cpu:.1f} | {two_cpu:.1f} | "
        f"{last:.1f}{'' if killed else ' (none killed)'} | {found if same else [w[-1] for w in ways]} |"
    )


def two_workers():
    """Print wall and CPU time of one worker and of two, code objects compiled before; 1 where outputs differ."""
    right = True
    with tempfile.TemporaryDirectory() as folder:
        for name, text in TWO.items():
            place = Path(folder) / name
            place.mkdir()
            timed([*text.split(), "--jobs", "1"], place / "first")
            (one, one_cpu, found), (two, two_cpu, other) = (
                timed([*text.split(), "--executor", f"{WORKERS}{count}"], place / str(count)) for count in (1, 2)
            )
            right &= found == other
            both = f"one worker {one:.1f} s (CPU {one_cpu:.1f}), two {two:.1f} s (CPU {two_cpu:.1f})"
            print(f"{name}: {both}, {two / one:.3f}; {'the same bytes' if found == other else 'other bytes'}")
    return 0 if right else 1


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
    parser.add_argument("--middle", action="store_true")
    parser.add_argument("--two", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.what == "overhead":
        return overhead()
    if args.two:
        return two_workers()
    commands = COMMANDS | (MIDDLE if args.middle else {})
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
