"""mfmasim learn grade: a folder of answers, whose they are, and exit codes."""

import csv
import io

import pytest

from mfmasim.cli import main
from mfmasim.learn import exercise
from mfmasim.learn.submissions import COLUMNS, submissions


def grade(capsys, *arguments):
    """Exit code, rows, standard error."""
    code = main(["learn", "grade", *map(str, arguments), "--csv"])
    text, error = capsys.readouterr()
    return code, list(csv.DictReader(io.StringIO(text))), error


def written(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.hip").write_text(text)
    return folder


def test_a_class_is_graded(capsys, tmp_path):
    one = exercise("waitcnt")
    (tmp_path / "eve").mkdir()
    written(tmp_path / "eve", waitcnt=one.solution)
    # Bob's file says it answers another exercise, which does not count.
    written(tmp_path, ann_waitcnt=one.unsolved, waitcnt_bob=exercise("load_a").solution, cy_waitcnt="int x = ;")
    code, rows, _ = grade(capsys, tmp_path)
    assert code == 1
    assert tuple(rows[0]) == COLUMNS
    assert {row["student"]: row["state"] for row in rows} == {
        "ann": "not yet",
        "bob": "error",
        "cy": "error",
        "eve": "solved",
    }
    found = {row["student"]: row for row in rows}
    assert found["ann"]["finding"] == "waits-read-in-flight"
    assert found["bob"]["message"].startswith("unknown kernel 'waitcnt'")
    assert "does not compile" in found["cy"]["message"]
    assert found["eve"]["file"] == "eve/waitcnt.hip"


def test_a_table_says_whose_files_are(capsys, tmp_path):
    written(tmp_path, x1=exercise("waitcnt").solution)
    table = tmp_path / "table.csv"
    table.write_text("file,student,exercise\nx1.hip,Ann,waitcnt\n")
    code, rows, _ = grade(capsys, tmp_path, "--table", table)
    assert code == 0
    assert [(row["student"], row["exercise"], row["state"]) for row in rows] == [("Ann", "waitcnt", "solved")]
    table.write_text("file,student,exercise\nx1.hip,Ann,waitcnt\nx2.hip,Bob,waitcnt\n")
    code, rows, _ = grade(capsys, tmp_path, "--table", table)
    assert code == 1
    assert (rows[1]["state"], rows[1]["message"]) == (
        "error",
        f"{tmp_path / 'x2.hip'}: cannot be read: No such file or directory",
    )


def test_inputs_depend_on_the_student_and_the_seed(capsys, tmp_path, monkeypatch):
    written(tmp_path, ann_waitcnt="", bob_waitcnt="")
    seeds = []

    def noted(one, path, compiler, *, seed):
        seeds.append(seed)
        raise KeyError

    monkeypatch.setattr("mfmasim.learn.submissions.grade", noted)
    from mfmasim.learn.submissions import row_of

    for seed in ("", "a"):
        for one in submissions(tmp_path):
            with pytest.raises(KeyError):
                row_of(one, seed)
    assert len(set(seeds)) == 4


@pytest.mark.parametrize(
    ("name", "student", "of"),
    [
        ("load_a", "", "load_a"),
        ("ann-load_a", "ann", "load_a"),
        ("load_a_bob_c", "bob_c", "load_a"),
        ("ann_wmma_rdna4", "ann", "wmma_rdna4"),
        ("lanes.k", "k", "lanes"),
    ],
)
def test_names(name, student, of, tmp_path):
    written(tmp_path, **{name: ""})
    (found,) = submissions(tmp_path)
    assert (found.student, found.exercise.name) == (student, of)


@pytest.mark.parametrize(
    ("files", "arguments", "words"),
    [
        ({}, (), ("no answers", ".hip")),
        ({"ann.hip": ""}, (), ("ann.hip", "STUDENT_EXERCISE.hip")),
        ({"lane_ann.hip": ""}, (), ("no exercise",)),
        ({"t.csv": "file,student\n"}, ("--table", "t.csv"), ("'exercise'",)),
        ({"t.csv": "file,student,exercise\nx,y,load_b\n"}, ("--table", "t.csv"), ("'load_b'", "load_a")),
        ({"t.csv": "file,student,exercise\nx\n"}, ("--table", "t.csv"), ("row 1 has no student",)),
        ({}, ("--table", "t.csv"), ("t.csv", "cannot be read")),
    ],
)
def test_bad_folders_are_one_line(files, arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    code, _, error = grade(capsys, ".", *arguments)
    assert code == 2
    assert error.count("\n") == 1
    assert all(word in error for word in words), error


def test_a_folder_that_is_not_there(capsys, tmp_path):
    assert "not a folder" in grade(capsys, tmp_path / "x")[2]


def test_a_spreadsheet_takes_no_cell_for_a_formula(capsys, tmp_path):
    written(
        tmp_path, **{"=HYPERLINK(1)_waitcnt": exercise("waitcnt").solution, "ann_waitcnt": exercise("waitcnt").solution}
    )
    code, rows, _ = grade(capsys, tmp_path)
    assert code == 0
    assert [row["student"] for row in rows] == ["'=HYPERLINK(1)", "ann"]
    assert rows[0]["file"] == "'=HYPERLINK(1)_waitcnt.hip"
