"""``--executor``: the results of one process, whatever happens to workers; or one line that says why not."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from mfmasim.cli import verify as verb
from mfmasim.cli.executors.batches import batches, completed
from mfmasim.cli.executors.journal import Journal
from mfmasim.cli.executors.order import Failed, order_of, read, work
from mfmasim.clusters import LostTaskError, remote
from mfmasim.clusters.identity import identity
from mfmasim.errors import MfmasimError
from tests.cli.clusters import ROOT, cluster, mfmasim, outcome, write
from tests.oracles import module, require
from tests.tiers import tiers

ONCE = """
    def die_once():
        mark = HERE / "died"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)


    for name in ("first", "second", "third", "fourth"):
        declare(name, die_once if name == "second" else lambda: None)
"""
ALWAYS = """
    for name in ("first", "second", "third"):
        declare(name, (lambda: os.kill(os.getpid(), 9)) if name == "second" else lambda: None)
"""


@pytest.fixture
def cases(tmp_path):
    return partial(write, tmp_path)


def args_of(target, **more):
    """Arguments of `verify`."""
    parser = argparse.ArgumentParser()
    verb.add(parser.add_subparsers())
    return argparse.Namespace(**{**vars(parser.parse_args(["verify", str(target), "--arch", "gfx942"])), **more})


COMMANDS = {
    "verify": ["verify", "my_cases.py", "--json", "F.json", "--sarif", "F.sarif", "--html", "F.html"],
    "report": ["report", "my_cases.py", "--json", "F.json", "--html", "F.html"],
    "explore": ["explore", "my_cases.py", "--trials", "3", "--seed", "1", "--json", "F.json"],
    "prove": ["prove", "my_cases.py", "--json", "F.json"],
    "mutate": ["mutate", "my_cases.py", "--binary", "--limit", "2"],
}


@pytest.mark.oracle
@pytest.mark.parametrize("verb", tiers(list(COMMANDS), ["verify"]))
def test_results_are_those_of_one_process(verb, cases):
    module("distributed")
    folder = cases(ONCE)
    (folder / "died").touch()
    (folder / "one").mkdir()
    (folder / "other").mkdir()

    def run(where, *options):
        return outcome(folder, *(one.replace("F.", f"{where}/F.") for one in COMMANDS[verb]), *options)

    wanted = run("one", "--jobs", 1)
    assert wanted[0] == 0, wanted
    assert wanted[1]
    assert run("other", "--executor", "dask://local?workers=2") == wanted
    files = sorted(path.name for path in (folder / "one").iterdir())
    assert len(files) == sum(one.startswith("F.") for one in COMMANDS[verb])
    for name in files:
        assert (folder / "one" / name).read_bytes() == (folder / "other" / name).read_bytes(), name


@pytest.mark.oracle
def test_mpi_ranks_give_the_results_of_one_process(cases):
    module("mpi4py")
    launcher = Path(sys.executable).with_name("mpiexec")
    require("an MPI launcher", launcher.exists(), "pip install --group oracles")
    folder = cases(ONCE)
    (folder / "died").touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        launcher,
        "-n",
        "2",
        sys.executable,
        "-m",
        "mpi4py.futures",
        "-m",
        "mfmasim",
        "verify",
        "my_cases.py",
        "--executor",
        "mpi",
    ]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert (done.returncode, done.stdout) == outcome(folder, "verify", "my_cases.py", "--jobs", 1)[:2], done.stderr


@pytest.mark.oracle
def test_a_task_whose_worker_ends_is_run_again(cases):
    module("distributed")
    folder = cases(ONCE)
    code, out, err = outcome(folder, "verify", "my_cases.py", "--executor", "dask://local?workers=2")
    assert (code, err) == (0, "")
    assert "4 pass" in out
    assert (folder / "died").exists()


@pytest.mark.oracle
def test_a_task_that_ends_every_worker_is_an_error_and_the_others_go_on(cases):
    module("distributed")
    folder = cases(ALWAYS)
    arguments = ("verify", "my_cases.py", "--executor", "dask://local?workers=2", "--json", "-")
    code, out, _ = outcome(folder, *arguments)
    assert code == 2
    results = json.loads(out)
    assert [result["status"] for result in results] == ["pass", "error", "pass"]
    assert "second was not executed: its worker ended 4 times" in results[1]["findings"][0]["message"]


@pytest.mark.oracle
def test_a_lost_scheduler_is_one_line_and_finished_cases_are_kept(cases):
    module("distributed")
    folder = cases("""
        import time
        late = (lambda: time.sleep(60)) if not (HERE / "late").exists() else lambda: None
        for name in ("first", "second", "third"):
            declare(name, late if name == "second" else lambda: None)
    """)
    with cluster(folder) as (address, started):
        arguments = ("verify", "my_cases.py", "--executor", address, "--resume", "kept")
        running = mfmasim(folder, *arguments, start=subprocess.Popen, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        kept = folder / "kept"
        end = time.monotonic() + 120
        while time.monotonic() < end and running.poll() is None and (not kept.exists() or kept.stat().st_size < 200):
            time.sleep(0.1)
        os.killpg(started[0].pid, signal.SIGKILL)
        out, err = running.communicate(timeout=120)
    assert running.returncode == 2, (out, err)
    assert err.count("\n") == 1, err
    assert "the scheduler is lost" in err
    assert "1 of 3 cases are finished; go on with --resume kept" in err
    (folder / "late").touch()
    code, out, err = outcome(folder, "verify", "my_cases.py", "--resume", "kept", "--jobs", 1)
    assert (code, err) == (0, "")
    assert "3 pass" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--executor", "dask://nowhere"],
            "one of dask://HOST:PORT, dask+tls://HOST:PORT, dask://local?workers=N, mpi is",
        ),
        (["--executor", "dask://local?workers=0"], "1 to 256 workers are expected"),
        (["--executor", "dask://127.0.0.1:1", "--jobs", "2"], "--executor dask://127.0.0.1:1 and --jobs exclude"),
    ],
)
def test_a_wrong_address_is_one_line(arguments, text, tmp_path):
    if "local" in arguments[1]:
        module("distributed")
    code, out, err = outcome(tmp_path, "verify", "intro", "--arch", "gfx942", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert text in err


def squares(numbers):
    """Work of an executor."""
    return [(number, number * number) for number in numbers]


def test_another_version_is_refused_with_both():
    refused = remote.call("mfmasim 0.0.1", 1, b"", {})
    with pytest.raises(MfmasimError) as error:
        remote.unpacked(refused, 1)
    assert identity() in str(error.value)
    assert "the command has mfmasim 0.0.1" in str(error.value)


def test_files_are_laid_out_elsewhere_and_messages_name_the_senders(cases, tmp_path_factory):
    folder = cases("""
        declare("right")
        case("missing.hip", kernel="k", arch="gfx942")(lambda: 0)
    """)
    (folder / "died").touch()
    args = args_of(folder / "my_cases.py")
    tasks = verb._work(args)
    here = [verb._verified(args, task) for task in tasks]
    order = order_of(args, verb._work, verb._verified, tasks)
    moved = tmp_path_factory.mktemp("gone") / "x"
    folder.rename(moved)
    found = read(work(order, [0, 1]))
    moved.rename(folder)
    assert [number for number, _ in found] == [0, 1]
    assert [one.record() for _, one in found] == [one.record() for one in here]
    assert str(folder) in found[1][1].findings[0].message


def test_sources_of_cases_travel_from_other_folders_too(cases, tmp_path_factory):
    source = tmp_path_factory.mktemp("kernels") / "other.hip"
    source.write_text("// a kernel")
    folder = cases(f'case({str(source)!r}, kernel="k", arch="gfx942")(lambda: 0)')
    args = args_of(folder / "my_cases.py")
    order = order_of(args, verb._work, verb._verified, verb._work(args))
    assert {Path(path).name for path, _ in order.files} == {"my_cases.py", "other.hip"}


def test_answers_of_another_call_or_damaged_are_noticed():
    reply = remote.call(identity(), 7, remote.packed(squares, ([3],))[0], {})
    assert remote.unpacked(reply, 7) == [(3, 9)]
    with pytest.raises(MfmasimError, match="answered call 8 with the result of call 7"):
        remote.unpacked(reply, 8)
    with pytest.raises(MfmasimError, match="damaged the result of call 7"):
        remote.unpacked(reply._replace(content=reply.content[:-1] + b"?"), 7)
    with pytest.raises(MfmasimError, match="lost the result of call 7"):
        remote.unpacked(None, 7)


class Lying(ThreadPoolExecutor):
    """An executor that answers once with something else."""

    def __init__(self, lie):
        super().__init__(1)
        self.lie, self.count, self.first = lie, 0, None

    def submit(self, function, /, *args):
        self.count += 1
        future = super().submit(function, *args)
        if self.count == 2:
            return self.lie(self.first)
        self.first = self.first or future
        return future


def again(first):
    other = Future()
    other.set_result(first.result())
    return other


def never(_first):
    other = Future()
    other.cancel()
    other.set_running_or_notify_cancel()
    return other


@pytest.mark.parametrize(
    ("lie", "text"),
    [
        (again, r"answered tasks \[1\] with the results of \[0\]"),
        (lambda first: first, r"gave tasks \[1\] and \[0\] the same result"),
        (never, r"lost tasks \[1\]"),
    ],
)
def test_an_executor_that_repeats_or_loses_results_is_one_line(lie, text):
    with Lying(lie) as executor, pytest.raises(MfmasimError, match=text):
        list(completed(lambda some: executor.submit(squares, some), list, range(4), 1))


def test_batches_hold_every_task_once_and_become_smaller():
    cut = list(batches(range(2000), 2))
    assert [number for batch in cut for number in batch] == list(range(2000))
    sizes = [len(batch) for batch in cut]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (8, 1)


def test_a_lost_batch_is_done_again_one_task_at_a_time():
    asked = []

    def submit(batch):
        asked.append(batch)
        future = Future()
        if 5 in batch:
            future.set_exception(LostTaskError("its worker ended 4 times"))
        else:
            future.set_result(squares(batch))
        return future

    found = dict(completed(submit, list, range(128), 1))
    assert sorted(found) == list(range(128))
    assert isinstance(found[5], Failed)
    assert found[6] == 36
    assert asked[1] == [4, 5, 6]
    assert asked[-3:] == [[4], [5], [6]]


def test_a_journal_goes_on_after_a_torn_write_and_refuses_what_is_not_its_own(tmp_path):
    path = tmp_path / "kept"
    journal = Journal(str(path), "a" * 64)
    journal.add(0, "zero")
    journal.add(2, "two")
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    again = Journal(str(path), "a" * 64)
    assert again.done == {0: "zero"}
    again.add(1, "one")
    assert Journal(str(path), "a" * 64).done == {0: "zero", 1: "one"}
    with pytest.raises(MfmasimError, match="other arguments, other files or another version"):
        Journal(str(path), "b" * 64)
    path.chmod(0o666)
    with pytest.raises(MfmasimError, match="others may write to it"):
        Journal(str(path), "a" * 64)
    path.chmod(0o600)
    path.write_text("{}")
    with pytest.raises(MfmasimError, match="not a file of results"):
        Journal(str(path), "a" * 64)
    with pytest.raises(MfmasimError, match="a file is expected"):
        Journal(str(tmp_path), "a" * 64)
