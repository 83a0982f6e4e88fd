"""``--jobs``: the same bytes whatever the number of processes, and no process that outlives the command."""

import argparse
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mfmasim.cli import jobs, main
from mfmasim.devices.workers import available
from mfmasim.errors import MfmasimError
from tests.devices.test_workers_end import ended

VERBS = {
    "verify": ["verify", "intro", "--case", "x2", "--case", "x16"],
    "report": ["report", "intro", "--case", "f16", "--case", "f32"],
    "mutate": ["mutate", "intro", "--name", "k_"],
    "explore": ["explore", "intro", "attention", "--case", "f32", "--case", "online", "--examples", "1", "--seed", "1"],
}


def output(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    taken = capsys.readouterr()
    return code, taken.out, taken.err


@pytest.mark.parametrize("verb", VERBS)
def test_the_output_is_the_same_bytes_with_any_number_of_processes(capsys, verb):
    one, several = (output(capsys, *VERBS[verb], "--jobs", count) for count in (1, 3))
    assert one == several
    assert one[1]


def test_captures_are_recorded_and_compared_alike(capsys, tmp_path):
    cases = ["--case", "f32", "--case", "f16", "--arch", "gfx942"]
    for count in (1, 2):
        assert (
            output(
                capsys,
                "golden",
                "record",
                "intro",
                *cases,
                "--device",
                "sim",
                "--into",
                tmp_path / str(count),
                "--jobs",
                count,
            )[0]
            == 0
        )
    names = [sorted(path.name for path in (tmp_path / str(count)).iterdir()) for count in (1, 2)]
    assert names[0] == names[1]
    assert len(names[0]) == 2
    one, two = (output(capsys, "golden", "check", tmp_path / "1", "--json", "-", "--jobs", n) for n in (1, 2))
    assert one == two
    assert len(json.loads(one[1])["captures"]) == 2


def numbers(_args):
    return list(range(6))


def squared(_args, number):
    time.sleep(0.01 * (6 - number))  # later ones are done first
    return number, number * number, os.getpid()


def failing(_args, number):
    if number == 3:
        raise MfmasimError("the third")
    return number


def failing_while_others_sleep(_args, number):
    if number == 0:
        raise MfmasimError("the first")
    time.sleep(600)


def dying(_args, number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_results_come_in_order_from_several_processes():
    found = list(jobs.in_order(argparse.Namespace(jobs=3), numbers, squared))
    assert [row[:2] for row in found] == [(n, n * n) for n in range(6)]
    assert os.getpid() not in {row[2] for row in found}
    assert {row[2] for row in jobs.in_order(argparse.Namespace(jobs=1), numbers, squared)} == {os.getpid()}


def test_an_error_is_raised_where_it_stands_in_the_order():
    found = []
    with pytest.raises(MfmasimError, match="the third"):
        found += jobs.in_order(argparse.Namespace(jobs=2), numbers, failing)
    several = jobs.in_order(argparse.Namespace(jobs=2), numbers, failing)
    assert [next(several) for _ in range(3)] == [0, 1, 2]
    several.close()
    assert not multiprocessing.active_children()


def test_an_error_does_not_wait_for_the_other_tasks():
    start = time.monotonic()
    with pytest.raises(MfmasimError, match="the first"):
        list(jobs.in_order(argparse.Namespace(jobs=3), numbers, failing_while_others_sleep))
    assert time.monotonic() - start < 60
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_one_clear_line():
    with pytest.raises(MfmasimError, match="a process ended unexpectedly"):
        list(jobs.in_order(argparse.Namespace(jobs=2), numbers, dying))


@pytest.mark.parametrize("count", [0, -1, 257])
def test_the_number_of_processes_has_a_range(capsys, count):
    code, _, err = output(capsys, "verify", "intro", "--jobs", count)
    assert code == 2
    assert f"--jobs {count}: a whole number from 1 to 256 is expected" in err


def test_the_processors_available_are_the_default():
    assert 1 <= available() <= (os.cpu_count() or 1)


SLEEPER = """
import argparse, os, signal, sys, time
from mfmasim.cli import jobs

def tasks(args):
    return list(range(4))

def one(args, task):
    os.write(1, b"%d\\n" % os.getpid())  # in one piece
    time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
try:
    list(jobs.in_order(argparse.Namespace(jobs=2), tasks, one))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_command(tmp_path, number):
    file = tmp_path / "sleeper.py"
    file.write_text(SLEEPER)
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as process:
        workers = [int(process.stdout.readline()) for _ in range(2)]
        process.send_signal(number)
        process.stdout.read()  # ends when the last process that holds the pipe has ended
        error = process.stderr.read()
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert not error
    assert ended(workers)
