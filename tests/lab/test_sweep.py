"""Sweeps: what is found, what is judged, what is taken up again, and that nothing passes unjudged."""

import io
import json
import shutil
import tarfile
import zipfile

import jsonschema
import pytest

from mfmasim.cli import main
from mfmasim.lab.sweeping import judging
from mfmasim.lab.sweeping.finding import bytes_at, found_in
from mfmasim.lab.sweeping.sarif import sarif_of
from mfmasim.resources import folder
from mfmasim.schemas import schema

CODE = folder("golden") / "code"
GOOD = CODE / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco"
OTHER = CODE / "intro" / "mfma_f32_32x32x2_f32.gfx950.hsaco"
LOOP = CODE / "calibrate" / "fill.gfx942.hsaco"


def swept(capsys, *words):
    """Exit code and what was printed."""
    code = main(["sweep", *map(str, words), "--jobs", "1"])
    return code, capsys.readouterr().out


def records(path):
    """Records of a file, each valid."""
    judge = jsonschema.Draft202012Validator(schema("sweep"))
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for one in found:
        judge.validate(one)
    return found


def test_a_folder_is_swept_and_taken_up(capsys, tmp_path, monkeypatch):
    shutil.copytree(CODE / "intro", tmp_path / "in", ignore=lambda _, names: [n for n in names if n != GOOD.name])
    shutil.copy(GOOD, tmp_path / "in" / "again.hsaco")
    (tmp_path / "in" / "notes.txt").write_text("no code object")
    out = tmp_path / "out.jsonl"
    code, said = swept(capsys, tmp_path / "in", "--out", out)
    assert (code, said.splitlines()[-1]) == (0, "1 code object: 1 pass")
    (first,) = records(out)
    assert first["files"] == ["again.hsaco", GOOD.name]
    shutil.copy(OTHER, tmp_path / "in")
    judged = []
    own = judging.judged
    monkeypatch.setattr(judging, "judged", lambda found, seconds: judged.append(found.sha256) or own(found, seconds))
    (tmp_path / "in" / "again.hsaco").unlink()
    code, said = swept(capsys, tmp_path / "in", "--out", out)
    assert code == 0
    assert "2 code objects, 1 of them known" in said
    assert len(judged) == 1
    assert first["sha256"] not in judged
    assert [one["files"] for one in records(out) if one["sha256"] == first["sha256"]] == [[GOOD.name]]
    swept(capsys, tmp_path / "in", "--out", out, "--limit", "19")
    assert len(judged) == 3


def test_nothing_passes_unjudged(capsys, tmp_path):
    """A damaged object, one that is not proved, and one whose judge fails: each fails the sweep."""
    (tmp_path / "in").mkdir()
    data = GOOD.read_bytes()
    (tmp_path / "in" / "cut.hsaco").write_bytes(data[: len(data) // 2])
    (tmp_path / "in" / "empty.hsaco").write_bytes(b"")
    shutil.copy(LOOP, tmp_path / "in")
    out, log = tmp_path / "out.jsonl", tmp_path / "out.sarif"
    code, said = swept(capsys, tmp_path / "in", "--out", out, "--sarif", log)
    assert code == 1
    assert said.splitlines()[-1] == "3 code objects: 1 unknown, 2 error"
    found = {one["files"][0]: one for one in records(out)}
    assert found["cut.hsaco"]["verdict"] == found["empty.hsaco"]["verdict"] == "error"
    assert found[LOOP.name]["verdict"] == "unknown"
    results = json.loads(log.read_text())["runs"][0]["results"]
    assert sorted(one["level"] for one in results) == ["error", "error", "warning"]
    assert swept(capsys, tmp_path / "in", "--out", out, "--allow", "unknown")[0] == 1
    assert swept(capsys, tmp_path / "in", "--out", out, "--allow", "unknown", "--allow", "error")[0] == 0


def test_a_judge_that_fails_is_an_error(tmp_path, monkeypatch):
    shutil.copy(GOOD, tmp_path)
    (one,) = found_in(tmp_path)
    monkeypatch.setattr(judging, "_kernels", lambda *_: 1 // 0)
    record = judging.judged(one, 5.0)
    assert record["verdict"] == "error"
    assert "internal error: ZeroDivisionError" in record["why"]
    monkeypatch.undo()
    left = judging.judged(one, 1e-9)
    assert left["verdict"] == "unknown"
    assert "time of the object was over" in left["why"]
    assert sarif_of([left], "0")["runs"][0]["results"][0]["level"] == "warning"


def test_too_much_lds_fails(tmp_path):
    """What Triton's JSON asks for beside what the code object has."""
    shutil.copy(GOOD, tmp_path / "k.hsaco")
    (tmp_path / "k.json").write_text(json.dumps({"num_warps": 1, "warp_size": 64, "shared": 65_792}))
    (one,) = found_in(tmp_path)
    assert (one.block, one.shared) == (64, 65_792)
    record = judging.judged(one, 5.0)
    assert record["verdict"] == "fail"
    assert record["why"].endswith("65,792 bytes of LDS, gfx942 has 65,536")
    (tmp_path / "k.json").write_text("{}")
    assert found_in(tmp_path)[0].shared == 0


def test_archives(tmp_path):
    """A wheel and a tar file hold the same object, and one that occurs once."""
    with zipfile.ZipFile(tmp_path / "a-1-py3-none-any.whl", "w") as wheel:
        wheel.write(GOOD, "lib/k.hsaco")
        wheel.writestr("a.py", "x = 1")
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as tar:
        tar.add(GOOD, "k.hsaco")
        data = OTHER.read_bytes()
        info = tarfile.TarInfo("other.hsaco")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    (tmp_path / "c.zip").write_bytes(b"PK\x03\x04 not a zip file")
    found = found_in(tmp_path)
    names = sorted(tuple(one.files) for one in found)
    assert names == [("a-1-py3-none-any.whl!lib/k.hsaco", "b.tar.gz!k.hsaco"), ("b.tar.gz!other.hsaco",), ("c.zip",)]
    for one in found:
        if not one.why:
            assert bytes_at(one.place) in (GOOD.read_bytes(), OTHER.read_bytes())
    assert [bool(one.why) for one in found if one.files == ["c.zip"]] == [True]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not json\n{}\n", "not a line of JSON"),
        ("[1]\n", "not a record of a sweep"),
        ('{"verdict": "pass"}\n', "not a record of a sweep"),
    ],
)
def test_a_file_of_something_else_is_kept(capsys, tmp_path, text, why):
    out = tmp_path / "out.jsonl"
    out.write_text(text)
    assert main(["sweep", str(GOOD), "--out", str(out), "--jobs", "1"]) == 2
    assert why in capsys.readouterr().err
    assert out.read_text() == text


def test_a_line_that_was_cut_off_is_judged_again(capsys, tmp_path):
    out = tmp_path / "out.jsonl"
    assert swept(capsys, GOOD, "--out", out)[0] == 0
    whole = out.read_text()
    out.write_text(whole[: len(whole) // 2])
    assert swept(capsys, GOOD, "--out", out)[0] == 0
    assert out.read_text() == whole
    out.chmod(0o666)
    assert main(["sweep", str(GOOD), "--out", str(out)]) == 2
    assert "other users may write to it" in capsys.readouterr().err


def test_bad_input(capsys, tmp_path):
    for words, why in (((tmp_path / "none",), "no such file or folder"), ((tmp_path,), "no code object")):
        assert main(["sweep", *map(str, words), "--out", str(tmp_path / "o.jsonl")]) == 2
        assert why in capsys.readouterr().err


@pytest.mark.long
def test_all_prebuilt_objects_twice_by_two_processes(capsys, tmp_path):
    """The same bytes of the file from one process and from two, in every run."""
    outs = [tmp_path / f"{n}.jsonl" for n in range(2)]
    for jobs, out in zip(("1", "2"), outs, strict=True):
        main(["sweep", str(CODE / "intro"), str(CODE / "zoo"), "--out", str(out), "--jobs", jobs])
        capsys.readouterr()
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert len(records(outs[0])) > 80
