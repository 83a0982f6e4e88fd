"""mfmasim learn: files, progress, hints, exit codes, and one line for bad input."""

import io
import json
import os
import resource
import signal

import pytest

from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.learn import exercise


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learn(capsys, *arguments):
    """Exit code, standard output, standard error."""
    code = main(["learn", *arguments])
    return code, *capsys.readouterr()


def states(capsys):
    return {row["name"]: row["state"] for row in json.loads(learn(capsys, "list", "--json")[1])}


def test_a_learner_works_through_an_exercise(capsys, folder):
    assert set(states(capsys).values()) == {"open"}
    code, text, _ = learn(capsys, "start", "load_a")
    assert code == 0
    assert "# Load A of 32x32x2" in text
    assert (folder / "load_a.hip").read_text() == exercise("load_a").unsolved
    assert states(capsys)["load_a"] == "started"
    assert "show gfx942" in learn(capsys, "hint", "load_a")[1]  # nothing was found yet

    code, text, _ = learn(capsys, "check", "load_a.hip")
    assert code == 1
    assert "needs A[" in text
    first, second = exercise("load_a").hints["mapping-wrong-element"]
    assert f"Hint: {first}" in text
    assert learn(capsys, "hint", "load_a.hip")[1] == f"Hint 2 of 2 about mapping-wrong-element: {second}\n"
    assert "Hint 2 of 2" in learn(capsys, "hint", "load_a")[1]  # there is no further one

    _, solution, _ = learn(capsys, "solution", "load_a", "--yes")
    (folder / "mine.hip").write_text(solution)  # the mark in the file says which exercise it is
    code, text, _ = learn(capsys, "check", "mine.hip")
    assert code == 0
    assert text.startswith("SOLVED  load_a: on gfx942, outputs 2,048/2,048, slots 3,200/3,200\n")
    assert "Next: mfmasim learn start lanes" in text
    assert states(capsys)["load_a"] == "solved"
    assert learn(capsys, "hint", "load_a")[1] == "load_a is solved\n"

    (folder / "mine.hip").write_text(solution.replace("+ half]", "+ 1 - half]"))  # to see what happens
    assert learn(capsys, "check", "mine.hip")[0] == 1
    assert states(capsys)["load_a"] == "solved"
    assert "mapping-wrong-element" in learn(capsys, "hint", "load_a")[1]


def test_check_takes_a_name_and_gives_json(capsys, folder):
    (folder / "rows_of_d.hip").write_text(exercise("rows_of_d").unsolved)
    code, text, _ = learn(capsys, "check", "rows_of_d", "--json")
    record = json.loads(text)
    assert (code, record["name"], record["solved"]) == (1, "rows_of_d", False)
    assert record["findings"][0]["id"] == "mapping-wrong-output"
    assert record["results"][0]["status"] == "fail"


def test_start_keeps_what_exists(capsys, folder):
    (folder / "lanes.hip").write_text("mine")
    code, _, error = learn(capsys, "start")  # the first exercise
    assert code == 2
    assert "lanes.hip exists and is not overwritten" in error
    assert (folder / "lanes.hip").read_text() == "mine"
    assert learn(capsys, "start", "lanes", "--force")[0] == 0
    assert (folder / "lanes.hip").read_text() == exercise("lanes").unsolved


@pytest.mark.parametrize(
    ("answer", "code", "shown"),
    [("y\n", 0, True), ("Yes\n", 0, True), ("\n", 0, False), ("n\n", 0, False), ("", 2, False)],
)
def test_solution_asks(capsys, monkeypatch, answer, code, shown):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    found, text, error = learn(capsys, "solution", "lanes")
    assert found == code
    assert error.startswith("Show the solution of lanes? [y/N]")
    assert text == (exercise("lanes").solution if shown else "")


def test_start_says_what_checking_needs(capsys, monkeypatch):
    def missing():
        raise MfmasimError("no compiler")

    monkeypatch.setattr("mfmasim.toolchain.find_compiler", missing)
    code, _, error = learn(capsys, "start", "lanes")
    assert code == 0
    assert "pip install ziglang" in error


@pytest.mark.parametrize(
    ("arguments", "files", "words"),
    [
        (("start", "load_b"), {}, ("load_b", "load_a")),
        (("show", "x"), {}, ("exercise 'x'", "small_gemm")),
        (("check", "lanes.hip"), {}, ("no such file", "learn start lanes")),
        (("check", "lanes"), {}, ("lanes.hip", "no such file")),
        (("check", "nothing"), {}, ("exercise 'nothing'",)),
        (("check", "."), {}, ("a folder",)),
        (("check", "other.hip"), {"other.hip": b"int main() {}"}, ("other.hip", "// exercise: NAME")),
        (("check", "other.hip"), {"other.hip": b"// exercise: lane"}, ("'lane'", "lanes")),
        (("check", "lanes.hip"), {"lanes.hip": b"\xff\xfe"}, ("UTF-8",)),
        (("check", "lanes.hip"), {"lanes.hip": b" " * 2_000_000}, ("bytes",)),
        (("check", "lanes.hip"), {"lanes.hip": b"// nothing"}, ("no kernel 'lanes'",)),
        (("list",), {".mfmasim-learn.json": b"[]"}, (".mfmasim-learn.json", "delete it")),
        (("list",), {".mfmasim-learn.json": b'{"exercises": {"lanes": {"hints": "x"}}}'}, ("delete it",)),
        (("hint", "x.hip"), {}, ("x.hip",)),
        ((), {}, ("ACTION",)),
    ],
)
def test_bad_input_is_one_line(capsys, folder, arguments, files, words):
    for name, data in files.items():
        (folder / name).write_bytes(data)
    code, _, error = learn(capsys, *arguments)
    assert code == 2
    assert error.count("\n") == 1
    assert "internal" not in error
    assert all(word in error for word in words), error


def test_files_that_never_end_are_refused(capsys, folder):
    os.mkfifo("lanes.hip")
    (folder / "load_a.hip").symlink_to("/dev/zero")
    for name in ("lanes.hip", "load_a.hip"):
        code, _, text = learn(capsys, "check", name)
        assert (code, text) == (2, f"mfmasim: {name}: cannot be read: not a regular file\n")
    for target in ("/dev/zero", folder / "lanes.hip"):
        (folder / ".mfmasim-learn.json").unlink(missing_ok=True)
        (folder / ".mfmasim-learn.json").symlink_to(target)
        code, _, text = learn(capsys, "list")
        assert code == 2
        assert "not a regular file" in text
        (folder / ".mfmasim-learn.json").unlink()


def test_a_failed_write_loses_nothing(capsys, folder):
    """As on a full disk: progress and the learner's file stay what they were."""
    learn(capsys, "start", "lanes")
    progress, file = (folder / name for name in (".mfmasim-learn.json", "lanes.hip"))
    file.write_text("// mine\n")
    before = progress.read_bytes()
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        forced = main(["learn", "start", "lanes", "--force"])
        hinted = main(["learn", "hint", "lanes"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert (forced, hinted) == (2, 2)
    assert "progress is as before" in capsys.readouterr().err
    assert (file.read_text(), progress.read_bytes()) == ("// mine\n", before)
    assert sorted(path.name for path in folder.iterdir()) == [".mfmasim-learn.json", "lanes.hip"]
