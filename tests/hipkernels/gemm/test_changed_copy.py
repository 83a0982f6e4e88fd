"""A user copies a kernel of the ladder, changes it, and gets the same proof of the copy."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.resources import folder

FAMILY = folder("hipkernels") / "gemm_fp8"


def verify(tmp_path, *words):
    out = tmp_path / "results.json"
    code = main(["verify", *map(str, words), "--json", str(out)])
    return code, json.loads(out.read_text())


def copy(tmp_path, name, old="", new="", renamed=""):
    text = (FAMILY / name).read_text()
    assert old in text
    path = tmp_path / (renamed or name)
    path.write_text(text.replace(old, new) if old else text)
    return path


def test_a_copy_alone_is_proved_as_the_original_is(tmp_path, capsys):
    source = copy(tmp_path, "double_buffer.hip")
    words = ("--arch", "gfx950", "--case", "pairs", "--set", "M=64", "--set", "N=64")
    code, (found,) = verify(tmp_path, "gemm_fp8", "--source", source, *words, "--case", "double_buffer_pairs")
    assert code == 0
    assert found["status"] == "pass"
    assert found["mapping"]["slots_checked"] > 100_000
    assert "double_buffer_pairs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "checks"),
    [
        ("WAIT_DIRECT(0);  // next tile: fetched", "", {"races", "order"}),
        ("a_tile[slot], wave_m + 16 * i", "a_tile[slot], wave_m + 16 * i + 1", {"outputs", "mapping", "races"}),
        ("a[i], b[j])", "a[i], b[i])", {"outputs", "mapping"}),
        # As good, in another order than declared: a barrier too many for every wave.
        ("    WAIT_LDS();  // fragments", "    WAIT_LDS(); BARRIER();  // fragments", {"order"}),
    ],
)
def test_a_changed_copy_is_proved_or_refuted(tmp_path, old, new, checks):
    source = copy(tmp_path, "double_buffer.hip", old, new, renamed="mine.hip")
    words = ("--case", "double_buffer_row", "--arch", "gfx942", "--set", "N=64")
    code, (found,) = verify(tmp_path, "gemm_fp8", "--source", source, *words)
    errors = [f for f in found["findings"] if f["severity"] == "error"]
    assert {f["check"] for f in errors} == checks
    assert code == (1 if checks else 0)
    assert all("mine.hip" in f["source"] or "tile.h" in f["source"] for f in errors if f["pc"] is not None)


def test_a_header_beside_the_copy_is_the_one_used(tmp_path):
    source = copy(tmp_path, "one_tile.hip")
    copy(tmp_path, "tile.h", "(S::at(row, column) % TILE_K)", "(column)")
    copy(tmp_path, "gemm.h")
    code, results = verify(
        tmp_path, "gemm_fp8", "--source", source, "--case", "direct_pairs", "--arch", "gfx950", "--set", "K=128"
    )
    assert code == 1
    assert [r["status"] for r in results] == ["fail"]


def test_a_copied_family_is_a_family_of_its_own(tmp_path):
    """The whole folder, case file and all."""
    for path in FAMILY.glob("*.*"):
        (tmp_path / path.name).write_text(path.read_text())
    code, results = verify(tmp_path, tmp_path / "cases.py", "--case", "direct_row", "--arch", "gfx942")
    assert code == 0
    assert [r["status"] for r in results] == ["pass"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--source", "nowhere.hip"], "--source nowhere.hip: no such file"),
        (["--source", "mine.hip"], "the cases have 5 sources"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, words, said, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    copy(tmp_path, "simple.hip", renamed="mine.hip")
    assert main(["verify", "gemm_fp8", "--arch", "gfx942", "--case", "d", *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_copy_without_the_kernel_is_refused_by_name(tmp_path):
    source = copy(tmp_path, "double_buffer.hip", "GEMM(double_buffer_row", "GEMM(my_row")
    code, (found,) = verify(tmp_path, "gemm_fp8", "--source", source, "--case", "double_buffer_row", "--arch", "gfx942")
    assert code == 2
    assert "double_buffer_row" in found["findings"][0]["message"]
