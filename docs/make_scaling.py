"""Where `verify all` and `mutate` stop to scale: measured times of their tasks on 1 to 256 workers, on paper.

`python -m docs.make_scaling` fills in the table of docs/machine.md; `... measure STRIDE` first measures the CPU time of
one of STRIDE tasks in this process and writes docs/scaling.csv: the command, its tasks, milliseconds of each measured.
"""

import argparse
import heapq
import sys
import time

from docs import DOCS
from mfmasim.cli.executors.batches import batches

PAGE = DOCS / "machine.md"
TIMES = PAGE.with_name("scaling.csv")

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BEGIN = 5.0
"""Seconds of a command before its first task: Dask's client, and a worker's imports, code hash and list of cases."""
CENTRAL, REMOTE = 0.0043, 0.0048
"""CPU seconds of a batch: of client and scheduler, which are one process at a time, and of its worker."""
SLOW, EACH = 3, 16
"""Stragglers: how many times slower every so many-th worker is."""


def measured():
    """Of each command: how many tasks were measured, and the seconds of all tasks in their order."""
    found = {}
    for line in TIMES.read_text().splitlines():
        command, count, *times = line.split(",")
        all_tasks = range(int(count))
        found[command] = len(times), [int(times[task * len(times) // int(count)]) / 1000 for task in all_tasks]
    return found


def finished(times, workers, stragglers=False):
    """Seconds from the command's start to its last result.

    A worker takes the next batch as soon as it is free; client and scheduler handle one batch at a time.
    """
    free = [(BEGIN, number) for number in range(workers)]
    heapq.heapify(free)
    central = BEGIN
    end = 0.0
    for batch in batches(range(len(times)), workers):
        at, number = heapq.heappop(free)
        central = max(at, central) + CENTRAL
        slow = SLOW if stragglers and number % EACH == EACH - 1 else 1
        at = central + slow * (REMOTE + sum(times[task] for task in batch))
        heapq.heappush(free, (at, number))
        end = max(end, at)
    return end


def limits(times, workers):
    """Seconds that the command takes at least, by reason."""
    cost = sum(times) + REMOTE * sum(1 for _ in batches(times, workers))
    return {
        "work": BEGIN + cost / workers,
        "client and scheduler": BEGIN + CENTRAL * sum(1 for _ in batches(times, workers)),
        "longest task": BEGIN + max(times),
    }


def rows():
    """The table: for each command and number of workers the time, and the share of the workers that it uses."""
    for command, (sample, times) in measured().items():
        yield (
            f"`{command}`: {len(times):,} tasks, {sample} of them measured: {sum(times):,.0f} s of CPU, "
            f"mean {1000 * sum(times) / len(times):,.0f} ms, longest {max(times):.1f} s."
        )
        yield ""
        yield "| workers | time | share of the workers used | with stragglers | batches | at least, because of |"
        yield "|---|---|---|---|---|---|"
        for count in WORKERS:
            end = finished(times, count)
            slow = f"{finished(times, count, stragglers=True):,.1f} s" if count >= EACH else "–"
            used = sum(times) / (count * end)
            least = limits(times, count)
            why = max(least, key=least.get)
            cut = sum(1 for _ in batches(times, count))
            yield f"| {count} | {end:,.1f} s | {used:.0%} | {slow} | {cut:,} | {least[why]:,.1f} s, {why} |"
        yield ""


def page():
    """The page with its table as it should be."""
    before, start, rest = PAGE.read_text().partition("<!-- scaling -->\n")
    _, end, after = rest.partition("<!-- end -->")
    assert start
    assert end
    return before + start + "\n".join(rows()) + end + after


def measure(stride):
    """Measure every so many-th task of both commands."""
    import importlib

    from mfmasim.errors import MfmasimError
    from mfmasim.verify import families

    lines = []
    for command, one, targets in (("verify all", "_verified", ["all"]), ("mutate of all families", "_run", families())):
        name = command.split()[0]
        verb = importlib.import_module(f"mfmasim.cli.{name}")
        parser = argparse.ArgumentParser()
        verb.add(parser.add_subparsers())
        tasks = []
        for target in targets:
            args = parser.parse_args([name, target])
            try:
                tasks += [(args, task) for task in vars(verb)["_work"](args)]
            except MfmasimError:  # a family without mutants
                continue
        times = []
        for args, task in tasks[::stride]:
            start = time.process_time()
            vars(verb)[one](args, task)
            times.append(round(1000 * (time.process_time() - start)))
        lines.append(",".join([command, str(len(tasks)), *map(str, times)]))
        TIMES.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(int(sys.argv[2]))
    else:
        PAGE.write_text(page())
