"""Headers of other folders, macros and flags: every verb that compiles a source takes them, from any folder."""

import json

import numpy as np
import pytest

import mfmasim
from mfmasim.cli import main

KERNEL = """#include <hip/hip_runtime.h>
#include "mine.h"
extern "C" __global__ void add(const float* x, float* out) { out[threadIdx.x] = plus(x[threadIdx.x], STEP); }
"""
CASE = """from mfmasim.verify import In, Out, case
@case("add.hip", kernel="add", arch="gfx942"{flags})
def add():
    return dict(grid=1, block=64, args=[In("f32", 64, "integers"), Out("f32", 64)], expect=lambda x: x + 2)
"""
VERBS = [["verify"], ["report"], ["cost"], ["explore", "--trials", "1"]]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A case, its kernel, and a header in another folder; the current folder is a third one."""
    for name in ("inc", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "inc" / "mine.h").write_text("static __device__ float plus(float a, float b) { return a + b; }\n")
    (tmp_path / "add.hip").write_text(KERNEL)
    (tmp_path / "case.py").write_text(CASE.format(flags=""))
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_a_case_takes_folders_and_macros(home, verb, capsys):
    assert main([*verb, str(home / "case.py"), "-I", "../inc", "-D", "STEP=2"]) == 0
    capsys.readouterr()


def test_flags_of_a_case_count_from_its_source(home, capsys):
    for flags in ('["-Iinc", "-DSTEP=2"]', '["-I", "inc", "-DSTEP=2"]'):
        (home / "case.py").write_text(CASE.format(flags=f", flags={flags}"))
        assert main(["verify", str(home / "case.py"), "--quiet"]) == 0, capsys.readouterr().out


def test_what_is_missing_says_how_to_name_its_folder(home, capsys):
    assert main(["verify", str(home / "case.py")]) == 2
    assert "'mine.h' file not found" in (text := capsys.readouterr().out)
    assert "name its folder: -I DIR, or flags=['-IDIR'] of a case" in text


def test_a_source_is_inspected_run_and_costed_as_it_is(home, capsys):
    options = [str(home / "add.hip"), "-I", "../inc", "-DSTEP=2"]
    launch = ["--arg", "x=f32:64=1", "--arg", "out=f32:64"]
    assert main(["inspect", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["arch"] == "gfx942"
    assert main(["run", *options, *launch, "--quiet", "--out", "here"]) == 0
    assert np.load("here/arg1.npy").tolist() == [3.0] * 64
    capsys.readouterr()
    assert main(["cost", *options, *launch, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["kernel"]


def test_what_is_compiled_already_takes_none_of_them(home, capsys):
    (home / "add.hsaco").write_bytes(b"")
    for verb in ("inspect", "cost", "run"):
        assert main([verb, str(home / "add.hsaco"), "-I", "../inc"]) == 2
        assert "is compiled already" in capsys.readouterr().err


def test_findings_name_a_header_where_it_is(home):
    """Code has ``include0/mine.h`` for it, so that its bytes do not depend on the folder."""
    for folder, name in ((home / "inc", "inc/mine.h"), (home / "elsewhere" / "far", f"{home}/elsewhere/far/mine.h")):
        folder.mkdir(exist_ok=True)
        (folder / "mine.h").write_text("static __device__ float plus(float a, float b) { return a + b; }\n")
        source = home / ("add.hip" if folder.name == "inc" else "elsewhere/sub/add.hip")
        source.parent.mkdir(exist_ok=True)
        source.write_text(KERNEL)
        kernel = mfmasim.compile(source, "gfx942", flags=["-DSTEP=2"], include=[folder])["add"]
        files = {kernel.source_at(one.pc).rpartition(":")[0] for one in kernel.instructions}
        assert name in files
        assert not any(file.startswith("include") for file in files)


def test_a_launch_is_reported_as_a_case_is(home, capsys):
    launch = ["--arg", "x=f32:64=1", "--arg", "out=f32:64", "-I", "../inc", "-DSTEP=2"]
    assert main(["report", str(home / "add.hip"), *launch, "--json", "-"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["kernel"], found["arch"], found["waves"]) == ("add", "gfx942", 1)
    assert [(one["name"], one["read"], one["written"]) for one in found["traffic"]["buffers"]] == [
        ("x", 256, 0),
        ("out", 0, 256),
    ]
    assert found["bound"]["cycles"] > 0
    small = ["--arg", "x=f32:64=1", "--arg", "out=f32:8", *launch[4:]]
    assert main(["report", str(home / "add.hip"), *small, "--json", "-"]) == 1, "a store outside is an error"
    assert json.loads(capsys.readouterr().out)[0]["status"] == "fail"
    assert main(["report", str(home / "add.hip"), *launch]) == 0
    assert "Resources" in capsys.readouterr().out


def test_options_of_a_launch_need_one(home, capsys):
    for verb in ("cost", "report"):
        assert main([verb, str(home / "case.py"), "--arg", "1"]) == 2
        assert "--arg needs a code object or a source in place of cases" in capsys.readouterr().err
        assert main([verb, str(home / "add.hip"), "--case", "x", "-I", "../inc"]) == 2
        assert "--case needs a case file" in capsys.readouterr().err


def test_report_takes_parameters(home, capsys):
    text = (home / "case.py").read_text().replace("def add():", "def add(n=1):").replace("grid=1", "grid=n")
    (home / "case.py").write_text(text)
    assert main(["report", str(home / "case.py"), "-I", "../inc", "-DSTEP=2", "--set", "n=1", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["waves"] == 1
    assert main(["report", str(home / "case.py"), "--set", "m=3", "-I", "../inc", "-DSTEP=2"]) == 2
    assert "unknown parameter 'm'" in capsys.readouterr().err
