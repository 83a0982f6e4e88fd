"""One trial: a fork of the process that holds the collected tests runs the chosen ones on a mutant until one fails."""

import json
import os
import resource
import signal
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests.mutation import ROOT

MEMORY = 8 << 30
"""Address space of a trial, in bytes: a mutant may allocate without end."""
OURS = ("mfmasim", "tests", "hipkernels", "golden")


class Watch:
    """A pytest plugin: the first failure, and how many tests ran."""

    def __init__(self):
        self.failure, self.ran = None, 0

    def pytest_collectreport(self, report):
        if report.failed and self.failure is None:
            self.failure = report.nodeid or "import"

    def pytest_runtest_logreport(self, report):
        self.ran += report.when == "call" and not report.skipped
        if report.failed and self.failure is None:
            self.failure = report.nodeid


def patched(live, items, path, source):
    """Run collected items with a change put into the live functions; None if that cannot be done."""
    if path is None:
        live.forget()
    elif not live.patch(path, source):
        return None
    for item in items:
        for report in runtestprotocol(item, nextitem=None, log=False):
            if report.failed:
                return item.nodeid, 1
    return None, len(items)


def anew(path, source):
    """Let everything of ours be imported again, a file with a change.

    Returns:
        Module of operations -> names of operations that it registers, filled in by the imports.
    """
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    get_code, execute, registered = SourceFileLoader.get_code, SourceFileLoader.exec_module, {}

    def changed(self, fullname):
        if path is not None and Path(self.path) == path:
            return compile(source, self.path, "exec")
        return get_code(self, fullname)

    def observed(self, module):
        execute(self, module)
        package, _, name = module.__name__.rpartition(".")
        table = sys.modules.get("mfmasim.machine.opcodes.registry")
        if package == "mfmasim.machine.ops" and table is not None:
            registered[name] = set(table.OPERATIONS) - set().union(*registered.values())

    SourceFileLoader.get_code, SourceFileLoader.exec_module = changed, observed
    return registered


def imported(tests, path, source):
    """Import everything of ours again with a changed file, and run tests by their node ids."""
    anew(path, source)
    watch = Watch()
    # Parameters are part of an id, and the change may alter them: then all parameters of the tests.
    for chosen in (tests, dict.fromkeys(test.partition("[")[0] for test in tests)):
        # Plain assertions: pytest would compile files with doctests, whose names it is given, itself.
        pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "--assert=plain", *chosen], plugins=[watch])
        if watch.ran or watch.failure is not None:
            break
    return watch.failure, watch.ran


def judged(path, source):
    """Import everything of ours again with a changed file of operations, and compare these with their slow models."""
    registered = anew(path, source)
    from tests.mutation.judged import differs

    return differs(path, registered)


def forked(work, seconds):
    """Run `work` in a fork of this process.

    Returns:
        "killed", "survived", "timeout" or "not run", and the test that failed. A process that dies is killed.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            signal.alarm(int(20 * seconds))
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            os.chdir(ROOT)
            os.write(writer, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as end:
        answer = end.read()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL)
        return ("timeout" if late else "killed"), f"signal {os.WTERMSIG(status)}"
    if not answer:
        return "killed", "the process ended"
    result = json.loads(answer)
    if result is None:
        return "not run", None
    failure, ran = result
    if failure is not None:
        return "killed", failure
    return ("survived" if ran else "not run"), None
