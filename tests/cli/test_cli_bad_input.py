"""Bad input on the command line: exit code 2 and one line that names the value and what is allowed."""

import json
import os
import subprocess
import sys
import time

import pytest

from mfmasim.cli import main
from mfmasim.errors import unknown
from mfmasim.resources import folder

FILE = str(folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco")
BUFFERS = ("--arg", "f32:64", "--arg", "f32:64", "--arg", "f32:1024")
OPERAND = ("--write", "ds_write_b128", "--operand", "ds_read_b128", "v_mfma_f32_32x32x16_f16", "A")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lds", "gfx942", "ds_read_b128", "--stride", "9" * 30), ("9" * 30, "65536")),
        (("lds", "find", "--tile", "1000000x1000000", "--arch", "gfx950", *OPERAND), ("1000000x1000000", "163,840")),
        (("lds", "find", "--tile", "1000x128", "--arch", "gfx942", *OPERAND), ("1000x128", "65,536")),
        (("lds", "find", "--tile", "\u00b2x128", "--arch", "gfx942", *OPERAND), ("ROWSxBYTES",)),
        (("lds", "find", "--tile", f"{'9' * 5000}x128", "--arch", "gfx942", *OPERAND), ("ROWSxBYTES",)),
        (("verify", FILE), (FILE, ".py")),
        (("verify", "."), ("a folder",)),
        (("verify", "intro", "--arch", "gfx942", "--device", "hop"), ("'hop'", "hip")),
        (("run", FILE, "--block", "x"), ("--block 'x'",)),
        (("verify", "intro", "--max-findings", "-3"), ("--max-findings -3", "0 or more")),
        (("explore", "intro", "--trials", "9" * 30), ("--trials 9", "from 1 to 1,000,000")),
        (("run", FILE, "--max-seconds", "nan"), ("--max-seconds nan", "above 0")),
        (("list", "gfx942", "--units", "9" * 30, "--mhz", "2100"), ("--units 9", "1,000,000")),
        (("list", "gfx942", "--units", "9"), ("--mhz", "both")),
        (("lds", "find", "--tile", "16x64", "--limit", "0"), ("--limit 0", "1 or more")),
        (("lds", "grid", "xcd", "--rows", "32768", "--cols", "32768"), ("32768 x 32768", "16,777,216")),
        (("lds", "grid", "xcd", "--rows", "4096", "--cols", "4096", "--workgroups", "4"), ("1,048,576",)),
        (("show", "nosuch"), ("'nosuch'", "gfx942", "e4m3fn", "v_mfma")),
        (("show", "v_mfma_f32_16x16x16f17"), ("matrix instruction", "'v_mfma_f32_16x16x16f16'")),
        (("run", FILE, "--arg", "f32:-4"), ("f32:-4", "positive")),
        (("run", FILE, "--compiler", "ziglang"), ("--compiler", FILE, "compiled already")),
        (("run", FILE, "-D", "N=1"), ("-D", FILE, "compiled already")),
        (("run", FILE, *BUFFERS, "--trace-limit", "5"), ("--trace-limit", "--trace")),
        (("show", "e4m3fn", "--arch", "gfx999"), ("gfx999", "gfx950")),
        (("show", "e4m3fn", "--overflow", "saturate"), ("--overflow", "--encode")),
        (("show", "formats", "--encode", "1"), ("--encode", "a format")),
        (("lds", "gfx950", "ds_read_b128", "--active", "lane < 8"), ("--active", "--stride")),
        (("lds", "gfx950", "ds_read_b128", "--stride", "16", "--element-bytes", "2"), ("--element-bytes", "--layout")),
        (("verify", "intro", "--executor", "x\ny"), ("x\\ny", "dask://HOST:PORT")),
        (("lds", "gfx950", "--address", "lane"), ("--address", "an instruction")),
    ],
)
def test_one_line_says_what_is_wrong(capsys, arguments, words):
    assert main(list(arguments)) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "internal" not in message
    assert all(word in message for word in words), message


def test_a_listing_is_json_when_asked_for(capsys):
    assert main(["run", FILE, "--disassemble", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    assert listing[0]["text"].split()[0] == "s_load_dwordx4"
    assert listing[0]["bytes"] == "00010ac000000000"
    assert [row["pc"] + len(row["bytes"]) // 2 for row in listing[:-1]] == [row["pc"] for row in listing[1:]]


@pytest.mark.parametrize("words", [("list", "gfx950", "--units", "9" * 5000), ("run", "x" * 5000), ("x" * 5000,)])
def test_a_value_without_end_does_not_fill_the_screen(capsys, words):
    assert main(list(words)) == 2
    assert len(capsys.readouterr().err) < 1000


def test_the_error_of_a_case_file_is_one_line(capsys, tmp_path):
    file = tmp_path / "lines.py"
    file.write_text("raise ValueError('no\\nway')\n")
    assert main(["verify", str(file)]) == 2
    assert capsys.readouterr().err == f"mfmasim: {file}:1: ValueError: no way\n"


def test_a_missing_case_file_names_the_nearest(capsys, tmp_path):
    (tmp_path / "my_cases.py").touch()
    for word, end in (("my_case.py", "; did you mean 'my_cases.py'?"), ("else.py", "")):
        assert main(["verify", str(tmp_path / word)]) == 2
        assert capsys.readouterr().err == f"mfmasim: {tmp_path / word}: no such case file{end}\n"


def test_what_is_no_regular_file_is_said_in_one_line(capsys, tmp_path):
    """A circle of links exists in no sense, a pipe would block, and a name may have two lines."""
    (tmp_path / "a.py").symlink_to("b.py")
    (tmp_path / "b.py").symlink_to("a.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "two\nlines.py").write_text("1 / 0")
    for name, words in (
        ("a.py", "a link that leads to no file"),
        ("pipe.py", "not a regular file"),
        ("two\nlines.py", "two\\nlines.py:1: ZeroDivisionError"),
    ):
        assert main(["verify", str(tmp_path / name)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert words in line


def test_an_empty_architecture_does_not_mean_all(capsys):
    """As with a variable of the shell that is not set."""
    assert main(["verify", "intro", "--arch", ""]) == 2
    assert "unknown architecture ''" in capsys.readouterr().err


def test_a_pipe_that_is_closed_before_the_end_is_no_error():
    """A short text is written at the end only, when its reader has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "mfmasim", "list", "--json"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=buffered, timeout=100, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_program_in_place_of_a_case_file_is_answered_with_the_verb(tmp_path, capsys):
    program = tmp_path / "prog.py"
    program.write_text("import math  # a program that would import triton\nassert math.pi > 4, 'no GPU'\n")
    assert main(["report", str(program)]) == 2
    said = capsys.readouterr().err
    assert "prog.py:2: AssertionError: no GPU; it declares no case: run a program by mfmasim triton" in said
    program.write_text(program.read_text() + "# @case(...)\n")
    assert main(["report", str(program)]) == 2
    assert capsys.readouterr().err.rstrip().endswith("no GPU")


@pytest.mark.parametrize(("place", "why"), [("", "Is a directory"), ("file/x.json", "Not a directory")])
def test_a_report_that_cannot_be_written_is_refused_before_the_work(place, why, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["verify", "intro", "--json", str(tmp_path / place)]) == 2
    seen = capsys.readouterr()
    assert (seen.out, why in seen.err) == ("", True)


def test_the_folder_of_a_report_is_made(tmp_path, capsys):
    path = tmp_path / "new" / "results.json"
    assert main(["verify", "intro", "--case", "f32_32x32x2", "--arch", "gfx942", "--json", str(path)]) == 0
    assert '"status": "pass"' in path.read_text(), capsys.readouterr()


def test_an_empty_file_and_a_case_file_are_named(tmp_path, capsys):
    (tmp_path / "a.hsaco").write_bytes(b"")
    (tmp_path / "a.py").write_text("")
    assert main(["inspect", str(tmp_path / "a.hsaco")]) == main(["run", str(tmp_path / "a.py")]) == 2
    seen = capsys.readouterr().err
    assert "not a code object: an empty file" in seen
    assert "mfmasim verify" in seen


def test_run_takes_a_kernel_by_option_too(capsys):
    assert main(["run", FILE, "--kernel", "mfma_f32_32x32x2_f32", "--disassemble"]) == 0
    assert "v_mfma_f32_32x32x2" in capsys.readouterr().out
    assert main(["run", FILE, "--kernel", "nothing", "--disassemble"]) == 2


class Dropping:
    """An object whose end is interrupted: Python drops what is raised there."""

    def __del__(self):
        raise KeyboardInterrupt


def test_an_interruption_that_python_drops_comes_again(monkeypatch, capfd):
    """As one within a callback of the collector, which hypothesis installs."""

    def run(_):
        Dropping()
        time.sleep(10)

    monkeypatch.setattr("mfmasim.cli.list.run", run)
    begun = time.monotonic()
    assert main(["list"]) == 130
    assert time.monotonic() - begun < 5
    assert capfd.readouterr().err == "mfmasim: interrupted\n"


def test_where_no_name_is_allowed_the_error_says_so():
    assert str(unknown("parameter", "n", [], "in --set")) == "unknown parameter 'n' in --set; there is none"


def test_a_beginning_of_many_names_has_no_nearest_one():
    said = str(unknown("architecture", "gfx1", ["gfx908", "gfx1100", "gfx1151", "gfx1200", "gfx1251"]))
    assert said == "unknown architecture 'gfx1'; allowed: gfx908, gfx1100, gfx1151, gfx1200, gfx1251"
    assert "did you mean 'gfx950'?" in str(unknown("architecture", "gfx95", ["gfx950", "gfx908"]))
    assert "did you mean 'e4m3fn'?" in str(unknown("format", "e4m3", ["e4m3fn", "e4m3fnuz", "f16"]))
