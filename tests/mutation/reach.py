"""Which tests reach which lines: each test is run once with a coverage context of its own."""

import ast
import json
import signal
import time
from collections import defaultdict
from contextlib import contextmanager
from itertools import zip_longest

import coverage

from tests.mutation import ROOT, STATE

LIMIT = 40
"""Tests that a mutant of a function is tried with in one stage, at most."""
TABLE_LIMIT = 200
"""Tests that a mutant of a table is tried with, at most: nothing says which of them read its row."""


class TooSlowError(BaseException):
    """Ends a test; not an Exception, so that a test does not take it for one of the package's."""


@contextmanager
def limited(seconds):
    """Raise after some seconds of CPU, but never within coverage, which would keep its lock for ever."""

    def ring(_signal, frame):
        while frame is not None:
            if "/coverage/" in frame.f_code.co_filename:
                signal.setitimer(signal.ITIMER_PROF, 0.01)
                return
            frame = frame.f_back
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def function(test):
    """Node id without parameters."""
    return test.partition("[")[0]


def thinned(items, most):
    """Items with at most so many of each test function, spread over its parameters."""
    groups = defaultdict(list)
    for item in items:
        groups[function(item.nodeid)].append(item)
    chosen = set()
    for group in groups.values():
        count = min(len(group), most)
        chosen |= {group[i * len(group) // count] for i in range(count)}
    return [item for item in items if item in chosen]


def executed(path, first, last):
    """The lines themselves; for lines of a function's head (decorators, defaults), those of the function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            start = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if start <= first < node.body[0].lineno:
                return start, node.end_lineno
    return first, last


class Reach:
    """The record of one package: seconds of each test, and the tests that reach each line.

    Attributes:
        package: Folder under `mfmasim`.
        instances: How many of a test's parameters are used.
        slowest: A test that needs more seconds of CPU than this, under coverage, is not used.
    """

    def __init__(self, package, instances, slowest):
        self.instances, self.slowest = instances, slowest
        STATE.mkdir(exist_ok=True)
        name = package.replace("/", "-")
        self.package = package
        self.database, self.times = STATE / f"{name}.coverage", STATE / f"{name}.seconds.json"
        self.seconds = json.loads(self.times.read_text()) if self.times.exists() else {}
        """Test -> seconds of CPU; None for a test that failed, was skipped or was too slow."""
        self.data = None

    def record(self, items, run_item, forget):
        """Run the items that are not recorded yet.

        Args:
            items: Collected tests.
            run_item: Runs one; returns whether it passed.
            forget: Empties caches, so that a test reaches what an earlier one has called already.
        """
        missing = [item for item in thinned(items, self.instances) if item.nodeid not in self.seconds]
        if missing:
            source = [str(ROOT / "mfmasim" / self.package)]
            run = coverage.Coverage(data_file=str(self.database), source=source, config_file=False, messages=False)
            if self.database.exists():
                run.load()
            slow = set()
            run.start()
            for item in missing:
                if function(item.nodeid) in slow:
                    self.seconds[item.nodeid] = None
                    continue
                forget()
                run.switch_context(item.nodeid)
                start = time.process_time()
                try:
                    with limited(self.slowest):
                        passed = run_item(item)
                except TooSlowError:
                    passed = False
                    slow.add(function(item.nodeid))
                self.seconds[item.nodeid] = time.process_time() - start if passed else None
            run.stop()
            run.save()
            self.times.write_text(json.dumps(self.seconds, indent=0))
            lost = [item.nodeid for item in missing if self.seconds[item.nodeid] is None]
            print(f"recorded {len(missing)} tests; slow, skipped or failing: {len(lost)}", flush=True)
        present = {item.nodeid for item in items}
        self.seconds = {test: time for test, time in self.seconds.items() if time is not None and test in present}
        self.data = coverage.CoverageData(basename=str(self.database))
        self.data.read()

    def order(self, tests):
        """The fastest test of each test function, then the second of each, and so on: different tests come first."""
        groups = defaultdict(list)
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            groups[function(test)].append(test)
        turns = zip_longest(*sorted(groups.values(), key=lambda group: self.seconds[group[0]]))
        return [test for turn in turns for test in turn if test is not None]

    def within(self, tests, seconds, limit=LIMIT):
        """The first of the tests, up to a number and a sum of recorded seconds; the first one always."""
        chosen, spent = [], 0.0
        for test in tests:
            if chosen and spent + self.seconds[test] > seconds:
                continue
            chosen.append(test)
            spent += self.seconds[test]
            if len(chosen) == limit:
                break
        return chosen

    def stages(self, mutant):
        """Tests to try a mutant with: those that reach its lines, then others that reach its file.

        A line that only imports reach (a table) is tried with the tests that reach its file, and with the package's.
        """
        known = self.data.contexts_by_lineno(str(ROOT / mutant.path))
        lines = {line: {test for test in tests if test in self.seconds} for line, tests in known.items()}
        first, last = executed(ROOT / mutant.path, mutant.line, mutant.end)
        near = set().union(*(lines.get(line, ()) for line in range(first, last + 1)))
        file = set().union(*lines.values()) - near
        if not near:
            return [self.within(self.order(file) + self.order(set(self.seconds) - file), 12, TABLE_LIMIT)]
        first = self.within(self.order(near), 5)
        return [first, self.within(self.order(near - set(first)) + self.order(file), 3)]
