"""`python -m tests.mutation [--sample N] [--seed S] [--retry] [PACKAGE ...]`: trials of mutants, and the score."""

import argparse
import json
import multiprocessing
import os
from collections import Counter
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.mutation import PACKAGES, ROOT
from tests.mutation.mutants import Mutant, draw
from tests.mutation.reach import Reach
from tests.mutation.session import Trials, control, results_of

OPEN = ("survived", "not run")
FIELDS = ("package", "path", "operator", "occurrence", "line", "end")


def register_profile():
    """Fixed examples and no shrinking: a trial is repeatable and ends at the first failure."""
    settings.register_profile(
        "mutation",
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    os.environ["HYPOTHESIS_PROFILE"] = "mutation"


@cache
def one_line(path):
    """A file's lines without indentation, one space between them, as changes are shown."""
    return " ".join(line.strip() for line in path.read_text().splitlines())


def rows(path):
    """The outcomes in a file, the last one of each mutant; without mutants of lines that are gone since."""
    if not path.exists():
        return []
    found = [json.loads(line) for line in path.read_text().splitlines()]
    found = [row for row in found if row["before"] in one_line(ROOT / row["path"])]
    return list({(row["path"], row["operator"], row["before"], row["after"]): row for row in found}.values())


def trials(package, number, options):
    """Run the trials of one package; outcomes are written to its file."""
    register_profile()
    path = results_of(package, options.seed)
    done = rows(path)
    if options.retry:
        again = [(Mutant(*(row[name] for name in FIELDS)), row) for row in done if row["outcome"] in OPEN]
        found = [mutant for mutant, row in again if mutant.change == (row["before"], row["after"])]
    else:
        tried = {tuple(row[name] for name in FIELDS) for row in done}
        drawn = draw(package, number, options.seed)
        found = [mutant for mutant in drawn if tuple(getattr(mutant, name) for name in FIELDS) not in tried]
    plugin = Trials(Reach(package, options.instances, options.slowest), found, path)
    tier = ["-m", "not long"] if options.commit else []
    # No tracebacks: pytest cannot format one of a test that was ended between two lines.
    pytest.main(["-q", "--tb=no", "-p", "no:cacheprovider", *tier, *PACKAGES[package]], plugins=[plugin])


def show_control(killers):
    """Print which of the killers fail on the unchanged package."""
    register_profile()
    wrong = control(killers)
    print(f"  {len(killers)} tests killed; on the unchanged package {len(wrong)} of them fail", *wrong, sep="\n    ")


def main():
    """Draw, try, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(PACKAGES)}; default: all")
    parser.add_argument("--sample", type=int, default=500, metavar="N", help="mutants over all packages (500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--retry", action="store_true", help="try what was not killed once more, with new tests")
    parser.add_argument("--commit", action="store_true", help="use the tests of the second tier too")
    parser.add_argument("--instances", type=int, default=16, metavar="N", help="parameters used of each test (16)")
    parser.add_argument("--slowest", type=float, default=0.7, metavar="S", help="seconds of the slowest test (0.7)")
    parser.add_argument("--control", action="store_true", help="run the tests that killed on the unchanged package")
    options = parser.parse_args()
    unknown = set(options.packages) - set(PACKAGES)
    if unknown:
        parser.error(f"no package {', '.join(sorted(unknown))}; there are {', '.join(PACKAGES)}")
    packages = options.packages or list(PACKAGES)
    total = Counter()
    for package in packages:
        number = options.sample // len(packages)
        # A process of its own: what a package's tests import and cache does not reach the next one's.
        process = multiprocessing.get_context("fork").Process(target=trials, args=(package, number, options))
        process.start()
        process.join()
        found = rows(results_of(package, options.seed))
        count = Counter(row["outcome"] for row in found)
        total += count
        print(f"{package:12}", ", ".join(f"{number} {name}" for name, number in sorted(count.items())))
        for row in found:
            if row["outcome"] in OPEN:
                print(f"  {row['outcome']} {row['path']}:{row['line']}\n    - {row['before']}\n    + {row['after']}")
        if options.control:
            killers = {row["killer"] for row in found if "::" in str(row["killer"])}
            process = multiprocessing.get_context("fork").Process(target=show_control, args=(sorted(killers),))
            process.start()
            process.join()
    killed, judged = total["killed"] + total["timeout"], total.total() - total["equivalent"]
    print(f"killed: {killed} of {judged} that are not equivalent ({killed / max(judged, 1):.1%})")


if __name__ == "__main__":
    main()
