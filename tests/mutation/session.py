"""All trials of a package within one pytest session: collect, record what is new, then one fork for each mutant."""

import json
from dataclasses import asdict

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation import ROOT, STATE
from tests.mutation.equivalents import reason
from tests.mutation.judged import SECONDS
from tests.mutation.patching import Live
from tests.mutation.trial import forked, imported, judged, patched

FRESH_FILES = 16
"""Test files that a trial imports again, at most."""


class Trials:
    """A pytest plugin in place of the usual loop over the tests."""

    def __init__(self, reach, mutants, results):
        self.reach, self.mutants, self.results = reach, mutants, results

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        self.reach.record(session.items, passes, Live().forget)
        live = Live()
        with self.results.open("a") as out:
            for mutant in self.mutants:
                outcome, killer, tried = self.try_one(mutant, items, live)
                before, after = mutant.change
                why = reason(mutant.path, before, after) if outcome != "killed" else None
                row = {**asdict(mutant), "before": before, "after": after, "outcome": "equivalent" if why else outcome}
                out.write(json.dumps({**row, "killer": killer, "tests": tried, "reason": why}) + "\n")
                out.flush()
        return True

    def try_one(self, mutant, items, live):
        """Outcome, the test that killed, and how many were run; a survivor is tried again with all imported anew."""
        path, tried = ROOT / mutant.path, 0
        stages = [stage for stage in self.reach.stages(mutant) if stage]
        if not stages:
            return "not run", None, 0
        for stage in stages:
            chosen = [items[test] for test in stage]
            outcome, killer = forked(
                lambda chosen=chosen: patched(live, chosen, path, mutant.source), self.limit(stage)
            )
            if outcome in ("killed", "timeout"):
                return outcome, killer, tried + len(stage)
            if outcome == "not run":
                break
            tried += len(stage)
        if mutant.package == "machine/ops":
            outcome, killer = forked(lambda: judged(path, mutant.source), SECONDS)
            if outcome in ("killed", "timeout"):
                return outcome, killer, tried
        fresh = few_files(stages[0])  # every stage was survived, or nothing ran yet
        outcome, killer = forked(lambda: imported(fresh, path, mutant.source), 20 + self.limit(fresh))
        return outcome, killer, max(tried, len(fresh))

    def limit(self, tests):
        """Seconds of CPU for some tests on a mutant."""
        return 10 + 4 * sum(self.reach.seconds[test] for test in tests)


def few_files(tests):
    """The tests of the files that come first."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))[:FRESH_FILES]
    return [test for test in tests if test.partition("::")[0] in files]


def passes(item):
    """Run one item in this process; whether it passed."""
    return all(report.passed for report in runtestprotocol(item, nextitem=None, log=False))


def control(killers):
    """The killers that fail on the unchanged package too, so that what they killed does not count."""
    failing = []
    left = list(killers)
    while left:
        outcome, killer = forked(lambda: imported(left, None, None), 600)
        if outcome == "survived":
            break
        failing.append(killer or outcome)
        if killer not in left:
            break
        left.remove(killer)
    return failing


def results_of(package, seed):
    """Where the outcomes of a package's sample are written, one JSON object a line."""
    return STATE / f"{package.replace('/', '-')}-{seed}.jsonl"
