"""What benchmarks measure with: the least time of some runs, and where the time of a profiled run went."""

import argparse
import pstats
import time
from collections import Counter
from pathlib import Path

from mfmasim.cli.output import add_formats, table, wanted_format

LARGE = ("matrix", "machine", "observe")
"""Packages that are shown by what is in them."""


def least(call, repeats, clock=time.perf_counter):
    """Seconds of the fastest of some runs; `clock` is the wall's or `time.process_time`."""
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def print_shares(profile):
    """Own seconds by package, most first; what NumPy does itself stands for its own, with its callers' ufuncs."""
    seconds = Counter()
    for (path, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():
        parts = Path(path).parts
        if "mfmasim" in parts:
            place = parts[len(parts) - 1 - parts[::-1].index("mfmasim") + 1 :]
            seconds["/".join(place[:2]) if place[0] in LARGE else place[0]] += own
        else:
            seconds["NumPy" if "numpy" in path or path == "~" else "other"] += own
    for name, own in seconds.most_common(8):
        print(f"{name:24} {own:7.2f} s")


def print_measured(about, columns, measure, words=None):
    """The command of a benchmark: print its rows. A missed goal is shown and is no error, because machines differ."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    add_formats(parser)
    args = parser.parse_args(words)
    rows = measure(quick=args.quick)
    print(table(columns, [[row[name] for name in columns] for row in rows], wanted_format(args)), end="")
