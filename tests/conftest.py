"""Profiles of hypothesis; the tiers, and the part of the long one that MFMASIM_LONG_PART names."""

import atexit
import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests import longtier, oracles
from tests.browser import browser  # noqa: F401 (a fixture)

# Tests start hundreds of Python processes. Where the environment forbids bytecode, each would compile the package anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Machines differ in speed, so no deadline; CI draws the same examples every time, a developer new ones.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# Programs for environments of their own, which import there what is not installed here.
collect_ignore = ["extensions/inside_ranks.py", "foreign/dsl/tiles_of_tilelang.py"]

PART = pytest.StashKey()
"""What the report says about the part."""
COSTS = pytest.StashKey()
"""File to which each test's CPU seconds are appended."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Tests of one file share a process, and with it what the file makes once; dear ones are dealt out one by one."""
    if getattr(config.option, "dist", "no") == "load" and longtier.VARIABLE not in os.environ:
        config.option.dist = "loadfile"


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """What the collection makes stays to the end: the garbage collector need not walk it, a second each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        atexit.register(gc.unfreeze)  # some extension modules complain of what is left at the very end
        gc.set_threshold(100_000, 20, 20)  # a hundredth of the walks over what code objects and models keep
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """The tiers; then, after -m has taken its choice, the part of the long one."""
    quick = [item for item in items if not item.get_closest_marker("long")]
    mark(config, quick, "long", longtier.beyond((item.nodeid for item in quick), longtier.QUICK))
    quick = [item for item in quick if not item.get_closest_marker("long")]
    if not any("::" in argument for argument in config.args):
        mark(config, quick, "commit", longtier.beyond((i.nodeid for i in quick), longtier.FIRST, longtier.ALONE))
    result = yield
    choose_part(config, items)
    return result


def mark(config, items, tier, tests):
    """Mark the items of these node ids; what -k asks for by its name runs in any tier."""
    word = config.option.keyword
    for item in items:
        if item.nodeid in tests and not (word and word in item.name):
            item.add_marker(getattr(pytest.mark, tier))


def choose_part(config, items):
    """Leave the tests of the part that MFMASIM_LONG_PART names."""
    # Taken out of the environment: a pytest that a test starts runs all it is given, and is counted with that test.
    config.stash[COSTS] = os.environ.pop(longtier.RECORD, None)
    part = os.environ.pop(longtier.VARIABLE, None)
    if not part:
        return
    try:
        number, parts = longtier.chosen(part)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    tests = [item.nodeid for item in items if item.get_closest_marker("long")]
    seconds, mine = longtier.divide(tests, parts)[number - 1]
    kept = set(mine)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    known = longtier.costs()
    items[:] = [item for item in items if item.nodeid in kept]
    items.sort(key=lambda item: longtier.begin_of(item.nodeid, known))
    config.stash[PART] = (
        f"long tier: part {part}, {len(mine)} of {len(tests)} tests, {seconds:.0f} CPU seconds expected; "
        f"{longtier.ROUND}={longtier.this_round()}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Append what the test took, with its fixtures, to the file that MFMASIM_COSTS names."""
    start = longtier.cpu_seconds()
    result = yield
    if path := item.config.stash[COSTS]:
        with Path(path).open("a") as file:  # a line is written whole, also by several processes
            tier = "long" if item.get_closest_marker("long") else "quick"  # of `commit` tests, too
            file.write(f"{longtier.cpu_seconds() - start:.2f} {tier} {item.nodeid}\n")
    return result


def pytest_report_collectionfinish(config):
    return config.stash.get(PART, [])


def pytest_terminal_summary(terminalreporter):
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ())]
    for line in oracles.absent(reasons):
        terminalreporter.write_line(line)
