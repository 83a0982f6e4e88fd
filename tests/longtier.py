"""Three tiers by cost, and the last one in parts: a person runs the first, CI the first two and one part of the third.

A function whose tests take long together has `FIRST` seconds of them in the first tier and `QUICK` seconds in the
first two, chosen by their names; the others are marked ``commit`` or join those that are marked ``long``.

``MFMASIM_LONG_PART=3/8 pytest -m long`` runs part 3 of 8. Parts are balanced by the costs in costs.txt: CPU seconds
of one test of each function, and how many tests that function has; tests that take much longer than the others of their
function have a line of their own. A test whose function is not listed counts as `UNKNOWN`. Tests that draw have another
share each *round*, which is each time that all parts have run: `turn`.

``MFMASIM_COSTS=FILE pytest -m long`` appends what each test took to a file, also where it is interrupted, and
``python -m tests.longtier record FILE`` records the costs anew; ``python -m tests.longtier part [NUMBER]`` prints the
part that a number, or else the number of commits, selects. CPU time is counted and not the clock's, so that a busy
machine records the same.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

COSTS = Path(__file__).with_name("costs.txt")
VARIABLE = "MFMASIM_LONG_PART"
RECORD = "MFMASIM_COSTS"
"""Variable that names the file to which each test's CPU seconds are appended."""
ROUND = "MFMASIM_LONG_ROUND"
"""Variable that names the round, to run again what failed; without it the commit does."""
PARTS = 36
"""Parts that CI deals the tier out to."""
MINUTES = 6
"""Limit of one part in CI, on two processors."""
QUICK = 3.0
"""CPU seconds of the tests of one function in the first two tiers; a function has one test there at least."""
FIRST = 0.5
"""CPU seconds of the tests of one function in the first tier."""
ALONE = 0.5
"""CPU seconds of one test above which its function has no test in the first tier."""
UNKNOWN = 5.0
"""CPU seconds of a test whose function is not listed."""
DEAR = 4.0
"""CPU seconds, and twice the mean of its function, above which a test has a line of its own."""
TOGETHER = 30.0
"""CPU seconds of consecutive tests of one function that stay in one part, where they share fixtures."""


@dataclass(frozen=True)
class Cost:
    """What the tests of one function take."""

    seconds: float
    """CPU seconds of one test; of a function, those of its tests without a line of their own."""
    tests: int
    estimated: bool = False
    """Whether it was never recorded; costs.txt marks it by ~."""


def function_of(test):
    """Node id without parameters."""
    return test.partition("[")[0]


def costs():
    """Recorded cost of each function, and of each test that takes much longer than others of its function."""
    rows = [line.split(" ", 2) for line in COSTS.read_text().splitlines() if line and line[0] != "#"]
    return {name: Cost(float(time.lstrip("~")), int(tests), time[0] == "~") for time, tests, name in rows}


def beyond(tests, limit, most=math.inf, known=None):
    """Tests beyond what a tier has of each function: of dear functions, what comes last by a hash of the names.

    Parameters are often cases by architectures: a hash takes some of each.

    Args:
        tests: node ids.
        limit: CPU seconds of the tests of one function in the tier, which has one test of it at least.
        most: CPU seconds of one test above which the tier has none of its function.
        known: costs; by default those that are recorded.
    """
    known = costs() if known is None else known
    by_function = defaultdict(list)
    for test in tests:
        by_function[function_of(test)].append(test)
    found = set()
    for name, some in by_function.items():
        if name in known:
            mixed = sorted(some, key=lambda test: (zlib.crc32(test.encode()), test))
            usual = [test for test in mixed if test == name or test not in known] or mixed
            kept = max(1, int(limit / max(known[name].seconds, 1e-3))) if seconds_of(usual[0], known) <= most else 0
            found |= set(some) - set(usual[:kept])
    return found


def seconds_of(test, known):
    """CPU seconds of a test, by its own line or its function's."""
    cost = known.get(test) or known.get(function_of(test))
    return cost.seconds if cost else UNKNOWN


def units(tests, known):
    """Tests that stay together, each with its cost: (seconds, tests)."""
    by_function = defaultdict(list)
    for test in sorted(tests):
        by_function[test if test in known else function_of(test)].append(test)
    for some in by_function.values():
        seconds = seconds_of(some[0], known)
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


def begin_of(test, known):
    """What the tests of a part are sorted by: dear ones begin first, the others stay beside those of their file.

    One that begins last would keep one process busy, perhaps beyond the limit, while the others have nothing left.
    """
    return min(-seconds_of(test, known), -TOGETHER)


def chosen(text):
    """Number and count of ``3/8``."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{VARIABLE}={text!r}: a part such as 3/8 is expected, from 1/{PARTS} to {PARTS}/{PARTS}")
    return int(match[1]), int(match[2])


def cpu_seconds():
    """CPU seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])


def recorded(files):
    """Costs of functions in files that ``MFMASIM_COSTS`` named: a line a test, its seconds, tier and node id.

    Functions without a long test are left out where all their tests fit into the first tier.
    """
    seconds, long = defaultdict(dict), set()
    for path in files:
        for line in Path(path).read_text().splitlines():
            time, tier, test = line.split(" ", 2)
            seconds[function_of(test)][test] = float(time)
            long |= {function_of(test)} if tier == "long" else set()
    found = {}
    for name, of in seconds.items():
        if name not in long and sum(of.values()) <= FIRST:
            continue
        limit = max(DEAR, 2 * sum(of.values()) / len(of))
        alone = {test: Cost(one, 1) for test, one in of.items() if one > limit}
        rest = [one for test, one in of.items() if test not in alone]
        found |= {name: Cost(sum(rest) / len(rest), len(rest))} | alone
    return found


def counted(known):
    """Number of recorded tests of each function."""
    found = Counter()
    for name, cost in known.items():
        found[function_of(name)] += cost.tests
    return found


def record(files):
    """Write the costs that the files have; functions that they lack, or of which they have fewer tests, keep theirs."""
    before, after = costs(), recorded(files)
    fewer = {name for name, tests in counted(after).items() if tests < counted(before)[name]}
    new = {name: cost for name, cost in after.items() if function_of(name) not in fewer}
    known = {name: cost for name, cost in before.items() if function_of(name) not in new} | new
    head = [line for line in COSTS.read_text().splitlines() if line.startswith("#")]
    rows = [f"{'~' * cost.estimated}{cost.seconds:.2f} {cost.tests} {name}" for name, cost in sorted(known.items())]
    COSTS.write_text("\n".join([*head, *rows]) + "\n")


def commits():
    """Number of commits here; a shallow clone does not know how many there are, and its hash draws a number."""

    def git(*arguments):
        command = ["git", "-C", str(COSTS.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        shallow = git("rev-parse", "--is-shallow-repository") == "true"
        return int(git("rev-parse", "HEAD")[:7], 16) if shallow else int(git("rev-list", "--count", "HEAD"))
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        return 0


def part_of(number):
    """The part that the commit of a number runs: commits one after the other run all parts."""
    return number % PARTS + 1


@cache
def this_round():
    """Number of this round: commits that run all parts once are of the same."""
    return int(os.environ.get(ROUND) or commits() // PARTS)


def turn(items, turns):
    """The share of items that this round has; `turns` rounds one after the other have all."""
    return list(items)[this_round() % turns :: turns]


if __name__ == "__main__":
    verb, *given = sys.argv[1:]
    if verb == "record":
        record(given)
    else:
        print(part_of(int(given[0]) if given else commits()), PARTS, MINUTES)
