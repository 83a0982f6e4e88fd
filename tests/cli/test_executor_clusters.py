"""``--executor``: the results of one process, whatever happens to workers; or one line that says why not."""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from mfmasim.cli import verify as verb
from mfmasim.cli.executors import identity as identities
from mfmasim.cli.executors.journal import Journal
from mfmasim.cli.executors.order import order_of, work
from mfmasim.errors import MfmasimError
from tests.oracles import module, require
from tests.tiers import tiers

ROOT = Path(__file__).resolve().parents[2]
CASES = """
    import os, pathlib
    from mfmasim.resources import folder
    from mfmasim.verify import A, B, C, case

    SOURCE = folder("hipkernels") / "intro" / "mfma_f32_32x32x2_f32.hip"
    HERE = pathlib.Path(__file__).parent


    def declare(name, before=lambda: None):
        def f():
            before()
            a, b, c = A("f32", (32, 2)), B("f32", (2, 32)), C("f32", (32, 32))
            return dict(grid=1, block=64, args=[a, b, c], expect=a @ b)

        f.__name__ = name
        case(SOURCE, kernel="mfma_f32_32x32x2_f32", arch="gfx942")(f)
"""
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


def mfmasim(folder, *arguments, start=subprocess.run, **more):
    """Run the program in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "mfmasim", *map(str, arguments)]
    return start(command, cwd=folder, env=environment, text=True, **more)


def outcome(folder, *arguments):
    """Exit code, output and errors."""
    done = mfmasim(folder, *arguments, capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def untimed(found):
    """JSON without what a run takes."""
    if isinstance(found, dict):
        return {name: untimed(value) for name, value in found.items() if name != "seconds"}
    return [untimed(value) for value in found] if isinstance(found, list) else found


@pytest.fixture
def cases(tmp_path):
    def write(text):
        (tmp_path / "my_cases.py").write_text(textwrap.dedent(CASES) + textwrap.dedent(text))
        return tmp_path

    return write


def args_of(target, **more):
    """Arguments of `verify`."""
    parser = argparse.ArgumentParser()
    verb.add(parser.add_subparsers())
    return argparse.Namespace(**{**vars(parser.parse_args(["verify", str(target), "--arch", "gfx942"])), **more})


@pytest.mark.oracle
@pytest.mark.parametrize("verb", tiers(["verify", "report", "explore"], ["verify"]))
def test_results_are_those_of_one_process(verb, cases):
    module("distributed")
    folder = cases(ONCE)
    (folder / "died").touch()
    arguments = (verb, "my_cases.py", *(["--trials", "3", "--seed", "1"] if verb == "explore" else []))
    wanted = outcome(folder, *arguments, "--json", "one.json", "--jobs", 1)
    assert wanted[0] == 0
    assert outcome(folder, *arguments, "--json", "other.json", "--executor", "dask://local?workers=2") == wanted
    one, other = (untimed(json.loads((folder / name).read_text())) for name in ("one.json", "other.json"))
    assert one == other


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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = cases("""
        import time
        late = (lambda: time.sleep(60)) if not (HERE / "late").exists() else lambda: None
        for name in ("first", "second", "third"):
            declare(name, late if name == "second" else lambda: None)
    """)
    dask = [sys.executable, "-m"]
    commands = (
        [*dask, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        [*dask, "distributed.cli.dask_worker", f"127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard"],
    )
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [subprocess.Popen(command, cwd=folder, env=environment, **quiet) for command in commands]
    try:
        arguments = ("verify", "my_cases.py", "--executor", f"dask://127.0.0.1:{port}", "--resume", "kept")
        running = mfmasim(folder, *arguments, start=subprocess.Popen, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        kept = folder / "kept"
        end = time.monotonic() + 120
        while time.monotonic() < end and running.poll() is None and (not kept.exists() or kept.stat().st_size < 200):
            time.sleep(0.1)
        os.killpg(started[0].pid, signal.SIGKILL)
        out, err = running.communicate(timeout=120)
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
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
        (["--executor", "dask://nowhere"], "one of dask://HOST:PORT, dask://local?workers=N, mpi is expected"),
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


def test_another_version_is_refused_with_both(cases, monkeypatch):
    order = order_of(args_of(cases(ALWAYS) / "my_cases.py"), verb._work, verb._verified)
    own = identities.identity()
    other = identities.Identity("0.0.1", own.code, own.numpy, own.ml_dtypes)
    monkeypatch.setattr(identities, "identity", lambda: other)
    with pytest.raises(MfmasimError) as error:
        work(order, 0)
    assert str(other) in str(error.value)
    assert str(own) in str(error.value)


def test_files_are_laid_out_elsewhere_and_messages_name_the_senders(cases, tmp_path_factory):
    folder = cases("""
        declare("right")
        case("missing.hip", kernel="k", arch="gfx942")(lambda: 0)
    """)
    (folder / "died").touch()
    args = args_of(folder / "my_cases.py")
    here = [verb._verified(args, task) for task in verb._work(args)]
    order = order_of(args, verb._work, verb._verified)
    moved = tmp_path_factory.mktemp("gone") / "x"
    folder.rename(moved)
    found = [work(order, number).result(number, order) for number in range(2)]
    moved.rename(folder)
    assert untimed([one.record() for one in found]) == untimed([one.record() for one in here])
    assert str(folder) in found[1].findings[0].message


def test_answers_of_another_task_or_damaged_are_noticed(cases):
    order = order_of(args_of(cases('declare("right")') / "my_cases.py"), verb._work, verb._verified)
    answer = work(order, 0)
    assert answer.result(0, order).status == "pass"
    with pytest.raises(MfmasimError, match="answered task 1 with the result of task 0"):
        answer.result(1, order)
    damaged = type(answer)(0, answer.order, answer.content[:-1] + b"?", answer.digest)
    with pytest.raises(MfmasimError, match="damaged the result of task 0"):
        damaged.result(0, order)


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
