"""Two tiers by cost, and the long tier in parts: CI runs the quick one, and one part a commit of the other.

A function whose tests take long together has `QUICK` seconds of them in the quick tier, chosen by their names; the
others join those that are marked ``long``.

``MFMASIM_LONG_PART=3/16 pytest -m long`` runs part 3 of 16. Parts are balanced by the costs in costs.txt: CPU seconds
of one test of each function, and how many tests that function has. A test whose function is not listed counts as
`UNKNOWN`. ``MFMASIM_COSTS=FILE pytest -m long`` appends what each test took to a file, also where it is interrupted,
and ``python -m tests.longtier record FILE`` records the costs anew; ``python -m tests.longtier part COUNT`` prints the
part that a number of commits selects. CPU time is counted and not the clock's, so that a busy machine records the same.
"""

from __future__ import annotations

import os
import re
import sys
import zlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

COSTS = Path(__file__).with_name("costs.txt")
VARIABLE = "MFMASIM_LONG_PART"
RECORD = "MFMASIM_COSTS"
"""Variable that names the file to which each test's CPU seconds are appended."""
PARTS = 16
"""Parts that CI deals the tier out to."""
MINUTES = 12
"""Limit of one part in CI, on two processors."""
QUICK = 12.0
"""CPU seconds of the tests of one function in the quick tier; a function has one test there at least."""
UNKNOWN = 5.0
"""CPU seconds of a test whose function is not listed."""
TOGETHER = 30.0
"""CPU seconds of consecutive tests of one function that stay in one part, where they share fixtures."""


@dataclass(frozen=True)
class Cost:
    """What the tests of one function take."""

    seconds: float
    """CPU seconds of one test."""
    tests: int
    estimated: bool = False
    """Whether it was never recorded; costs.txt marks it by ~."""


def function_of(test):
    """Node id without parameters."""
    return test.partition("[")[0]


def costs():
    """Recorded cost of each function."""
    rows = [line.split() for line in COSTS.read_text().splitlines() if line and line[0] != "#"]
    return {name: Cost(float(time.lstrip("~")), int(tests), time[0] == "~") for time, tests, name in rows}


def later(tests, known=None):
    """Tests that the quick tier leaves to the long one: of dear functions, what comes last by a hash of the names.

    Parameters are often cases by architectures: a hash takes some of each.
    """
    known = costs() if known is None else known
    by_function = defaultdict(list)
    for test in tests:
        by_function[function_of(test)].append(test)
    return {
        test
        for name, some in by_function.items()
        if name in known
        for test in sorted(some, key=lambda test: (zlib.crc32(test.encode()), test))[
            max(1, int(QUICK / max(known[name].seconds, 1e-3))) :
        ]
    }


def units(tests, known):
    """Tests that stay together, each with its cost: (seconds, tests)."""
    by_function = defaultdict(list)
    for test in sorted(tests):
        by_function[function_of(test)].append(test)
    for name, some in by_function.items():
        seconds = known[name].seconds if name in known else UNKNOWN
        size = max(1, int(TOGETHER / max(seconds, 1e-3)))
        for start in range(0, len(some), size):
            chunk = some[start : start + size]
            yield seconds * len(chunk), chunk


def divide(tests, parts, known=None):
    """Node ids in parts of about the same cost: (seconds, ids) each; the order of the tests does not matter.

    The dearest unit first, always to the part that has least so far.
    """
    loads = [0.0] * parts
    found = [[] for _ in range(parts)]
    for seconds, chunk in sorted(
        units(tests, costs() if known is None else known), key=lambda unit: (-unit[0], unit[1])
    ):
        least = loads.index(min(loads))
        loads[least] += seconds
        found[least] += chunk
    return list(zip(loads, found, strict=True))


def chosen(text):
    """Number and count of ``3/16``."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{VARIABLE}={text!r}: a part such as 3/16 is expected, from 1/16 to 16/16")
    return int(match[1]), int(match[2])


def cpu_seconds():
    """CPU seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])


def recorded(files):
    """Costs of functions in files that ``MFMASIM_COSTS`` named: a line a test, its seconds, tier and node id.

    Functions of the quick tier are left out where all their tests fit into it.
    """
    seconds, long = defaultdict(dict), set()
    for path in files:
        for line in Path(path).read_text().splitlines():
            time, tier, test = line.split(" ", 2)
            seconds[function_of(test)][test] = float(time)
            long |= {function_of(test)} if tier == "long" else set()
    found = {name: Cost(sum(of.values()) / len(of), len(of)) for name, of in seconds.items()}
    return {name: cost for name, cost in found.items() if name in long or cost.seconds * cost.tests > QUICK}


def record(files):
    """Write the costs that the files have; functions that they lack keep theirs."""
    known = costs() | recorded(files)
    head = [line for line in COSTS.read_text().splitlines() if line.startswith("#")]
    rows = [f"{'~' * cost.estimated}{cost.seconds:.2f} {cost.tests} {name}" for name, cost in sorted(known.items())]
    COSTS.write_text("\n".join([*head, *rows]) + "\n")


def part_of(commits):
    """The part that a commit runs: commits one after the other run all parts."""
    return commits % PARTS + 1


if __name__ == "__main__":
    verb, *given = sys.argv[1:]
    if verb == "record":
        record(given)
    else:
        print(part_of(int(given[0])), PARTS, MINUTES)
