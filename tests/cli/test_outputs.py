"""Every option that names an output: written whole, or the file that was there stays, with exit code 2 and one line."""

import argparse
import json
import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from mfmasim.cli import main
from mfmasim.cli.entry import build
from mfmasim.cli.output import OUTPUTS as TYPES
from mfmasim.cli.output import output_folder
from mfmasim.errors import MfmasimError
from mfmasim.files import replacing, write_file, write_text
from mfmasim.resources import folder

CODE = str(folder("golden") / "code" / "intro" / "mfma_f32_16x16x16_f16.gfx942.hsaco")
CASE = ["intro", "--case", "f16_16x16x16", "--arch", "gfx942"]
ARGS = [*("--arg", "f16:256=0") * 2, "--arg", "f32:256=0", "--block", "64"]
RUN = ["run", CODE, "--arch", "gfx942", *ARGS]
HIP = [sys.executable, "-c", "import ctypes as c; c.CDLL('libamdhip64.so').hipGetDeviceCount(c.byref(c.c_int()))"]
# The shortest command that writes what an option names; the option and the name follow where DO stands, or last.
DO = "DO"
COMMANDS = {
    "explorer --out": ["explorer"],
    **{f"verify {option}": ["verify", *CASE] for option in ("--json", "--sarif", "--html")},
    **{f"report {option}": ["report", *CASE] for option in ("--json", "--html")},
    **{f"cost {option}": ["cost", *CASE] for option in ("--json", "--html", "--trace")},
    "compare --json": ["compare", "gfx942", "gfx950", "--of", "intro", "--case", "f16", "--allow", "cost"],
    "explore --json": ["explore", *CASE, "--trials", "1"],
    **{f"prove {option}": ["prove", *CASE] for option in ("--json", "--sarif")},
    **{f"run {option}": RUN for option in ("--out", "--record")},
    "run --trace-file": [*RUN, "--trace"],
    **{f"debug {option}": ["debug", *CASE] for option in ("--record", "--page")},
    "sweep --sarif": ["sweep", CODE, "--jobs", "1", "--out", "{sweep}"],
    "hiprt --report": ["hiprt", "--arch", "gfx942", DO, "--", *HIP],
    **{f"triton {option}": ["triton", DO, "--", "true"] for option in ("--json", "--sarif", "--html")},
    "gpu golden record --into": ["gpu", "golden", "record", *CASE, "--device", "sim"],
    "gpu golden check --json": ["gpu", "golden", "check", "{golden}"],
    "gpu calibrate --record": ["gpu", "calibrate", "--device", "sim", "--arch", "gfx942", "--only", "xf32"],
    "gpu calibrate --json": ["gpu", "calibrate", "--replay", "{calibration}"],
    "gpu kit check --json": ["gpu", "kit", "check", "{kit}", "--jobs", "1"],
}
# What an option of this kind reads, or continues: a file that is appended to keeps what it has (`Journal`, `append`).
INPUTS = {
    *(f"{verb} -I" for verb in ("inspect", "verify", "report", "cost", "why", "explore", "run", "debug", "compare")),
    *(f"{verb} -I" for verb in ("prove", "mutate")),
    *(f"{verb} --source" for verb in ("inspect", "verify", "report", "cost", "why", "explore", "debug", "compare")),
    *("prove --source", "mutate --source", "debug --directory", "debug --commands"),
    *("inspect files", "cost --baseline", "learn check file"),
    *("learn grade folder", "gpu golden check captures", "gpu golden check --case-file", "gpu calibrate --replay"),
    *("gpu kit check file", "debug --socket", "mcp --root", "sweep folders"),
}
CONTINUED = {
    *(f"{verb} --resume" for verb in ("verify", "report", "mutate", "explore", "prove", "gpu kit check")),
    *("gpu golden record --resume", "gpu golden check --resume", "gpu kit --out"),
    "sweep --out",
}


def named(parser, verbs=()):
    """Every argument of a parser that names a file or a folder, by its verb and its option."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                group = () if verbs or name not in ("golden", "calibrate", "kit") else ("gpu",)
                yield from named(each, (*group, *verbs, name))
        elif action.metavar in ("FILE", "FOLDER", "DIR", "PATH"):
            yield " ".join((*verbs, (action.option_strings or [action.dest])[0])), action


NAMED = dict(named(build()))
OUTPUTS = {name for name, action in NAMED.items() if action.type in TYPES}


def test_every_option_that_names_a_file_is_an_output_or_known_to_read():
    """A new option is one or the other; an output has a command below, and its type says so to the parser."""
    assert set(NAMED) - OUTPUTS == (INPUTS | CONTINUED - OUTPUTS) & set(NAMED)
    assert {*COMMANDS, "gpu kit --out", "sweep --out"} == OUTPUTS
    written = {"write", "draw"}
    assert all(not {*(action.help or "").split()} & written for name, action in NAMED.items() if name in INPUTS)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Files that some commands read."""
    from mfmasim.hiprt.build import library
    from mfmasim.lab.kit.records import append

    home = tmp_path_factory.mktemp("inputs")
    library()
    only = ["--arch", "gfx942", "--device", "sim"]
    assert main(["gpu", "golden", "record", "intro", "--case", "f16_16x16x16", *only, "--into", str(home / "g")]) == 0
    assert main(["gpu", "calibrate", *only, "--only", "xf32", "--record", str(home / "c.npz")]) == 0
    assert main(["sweep", CODE, "--jobs", "1", "--out", str(home / "sweep")]) == 0
    append(home / "kit", {"kit": 1, "arch": "gfx942", "device": {"product": "p", "target": "t", "simulated": True}})
    return {
        "golden": str(home / "g"),
        "calibration": str(home / "c.npz"),
        "kit": str(home / "kit"),
        "sweep": str(home / "sweep"),
    }


@contextmanager
def full():
    """No file of this process, or of one that it starts, can grow beyond what `tempfile` tries."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def ran(name, value, inputs, capsys):
    """Exit code and lines of standard error of a command."""
    words = [word.format(**inputs) if word.startswith("{") else word for word in COMMANDS[name]]
    at = words.index(DO) if DO in words else len(words)
    words = [*words[:at], name.split()[-1], str(value), *words[at + 1 :]]
    if words[0] != "hiprt":
        code = main(words)
        return code, capsys.readouterr().err.splitlines()
    done = subprocess.run([sys.executable, "-m", "mfmasim", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_full_file_system_destroys_nothing(name, inputs, tmp_path, capsys):
    into = tmp_path / "out"
    folder_ = NAMED[name].type is output_folder
    code, err = ran(name, into, inputs, capsys)
    assert code in ((2,) if name == "gpu kit check --json" else (0, 1)), err
    files = sorted(into.iterdir()) if folder_ else [into]
    assert files
    old = {file: file.read_bytes() + b"old" for file in files}
    for file, content in old.items():
        file.write_bytes(content)
    with full():
        code, err = ran(name, into, inputs, capsys)
    assert code == 2, err
    assert sum("cannot be written: File too large" in line for line in err) == 1, err
    assert not any("Traceback" in line for line in err)
    assert {file: file.read_bytes() for file in files} == old
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == files, "nothing is left beside them"


@pytest.mark.parametrize("name", sorted(name for name in COMMANDS if NAMED[name].type is not output_folder))
def test_a_full_device_is_one_line(name, inputs, capsys):
    code, err = ran(name, "/dev/full", inputs, capsys)
    assert code == 2, err
    assert sum("/dev/full: cannot be written: No space left on device" in line for line in err) == 1, err


def test_a_kit_file_that_cannot_grow_keeps_what_it_has(tmp_path):
    from mfmasim.lab.kit.records import append

    path = tmp_path / "kit"
    append(path, {"kit": 1})
    before = path.read_bytes()
    with full(), pytest.raises(MfmasimError, match="cannot be written"):
        append(path, {"probe": "x"})
    assert path.read_bytes() == before


def test_links_devices_descriptors_and_permissions_stay(tmp_path):
    """A file is written to its place through a link; a pipe and ``/dev/stdout`` are written to as they are."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to("real")
    write_text(link, "new \udcff")
    assert link.is_symlink()
    assert real.read_bytes() == b"new \\udcff"
    assert real.stat().st_mode & 0o777 == 0o640
    write_file(Path("/dev/null"), b"x")
    assert not Path("/dev/null").is_file()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    write_file(fifo, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert fifo.is_fifo()
    long = tmp_path / ("n" * 250)
    write_file(long, b"x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(MfmasimError, match="cannot be written"):
        write_file(tmp_path / "loop", b"x")


def test_a_writer_that_is_interrupted_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")

    def interrupted(error):
        with replacing(path) as file:
            file.write(b"half")
            raise error

    for error in (KeyboardInterrupt, ValueError, RuntimeError):
        with pytest.raises(error):
            interrupted(error)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_arrays_of_a_launch_are_whole(tmp_path):
    assert main([*RUN, "--out", str(tmp_path)]) == 0
    assert [np.load(tmp_path / f"arg{n}.npy").shape for n in range(3)] == [(256,)] * 3


def test_json_to_standard_output_is_as_before(capsys):
    assert main([*COMMANDS["prove --json"], "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out[:].split("\n]\n")[0] + "\n]")
