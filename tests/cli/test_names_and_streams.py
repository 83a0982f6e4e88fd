"""Names of files that are no UTF-8 or steer a terminal, and standard streams that are closed, full or not read."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from mfmasim.toolchain import find_compiler
from tests.oracles import require

SOURCE = Path(__file__).parents[1] / "debug" / "swizzle_missing.hip"
EVIL = "k\x1b[31m<img src=x onerror=alert(1)>\"'&|`]( \x07\u202e\udcff.hip"
"""Escape sequences, markup of HTML and Markdown, a change of direction, and a byte that is no UTF-8."""
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae")
ARGS = [word for name in ("a=f16", "b=f16", "c=f32") for word in ("--arg", f"{name}:32x32=0")]
VERIFY = ["verify", "intro", "--case", "f16_16x16x16", "--arch", "gfx942"]
CASE = """
from mfmasim.verify import case, A, B, C
@case({name!r}, kernel="gemm", arch=["gfx942"])
def one():
    a, b, c = A("f16", (32, 32)), B("f16", (32, 32)), C("f32", (32, 32))
    return dict(grid=1, block=64, args=[a, b, c], expect=a @ b)
"""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def mfmasim(*words, folder=None, variables=(), **options):
    """Run the program; bytes of its output and errors."""
    environment = {**os.environ, "MFMASIM_TRACEBACK": "1", **dict(variables)}
    command = [sys.executable, "-m", "mfmasim", *words]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, cwd=folder, env=environment, check=False, timeout=100, **given)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    home = tmp_path_factory.mktemp("names")
    (home / EVIL).write_bytes(SOURCE.read_bytes())
    (home / "k\u00e9rnel.hip").write_bytes(SOURCE.read_bytes())
    (home / "case.py").write_text(CASE.format(name=EVIL))
    return home


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["run", EVIL, "gemm", "--arch", "gfx942", *ARGS, "--record", "run.html"], 0),
        (["run", EVIL, "gemm", "--arch", "gfx942", *ARGS, "--trace", "--coverage"], 0),
        (["inspect", EVIL, "--arch", "gfx942"], 0),
        (["debug", EVIL, "gemm", "--arch", "gfx942", *ARGS, "--record", "recording"], 0),
        (["debug", EVIL, "gemm", "--arch", "gfx942", *ARGS, "--page", "page.html"], 0),
        (["prove", "case.py", "--sarif", "prove.sarif"], 1),
        (["verify", "case.py", "--html", "verify.html", "--sarif", "verify.sarif", "--json", "verify.json"], 1),
        (["cost", "case.py", "--html", "cost.html", "--trace", "cost.json"], 0),
        (["report", "case.py", "--html", "report.html"], 1),
    ],
)
@pytest.mark.parametrize("locale", ["UTF-8", "C"])
def test_a_name_of_any_bytes(folder, words, code, locale):
    done = mfmasim(*words, folder=folder, variables=ASCII if locale == "C" else {})
    text = done.stdout + done.stderr
    if locale == "C" and "case.py" in words:  # the case file's own text cannot be the name of a file there
        assert done.returncode == 2, text
        assert len(done.stderr.splitlines()) == 1, text
        assert b"can't encode characters" in done.stderr
        return
    assert done.returncode == code, text
    assert not CONTROL.search(text)
    for word in words:
        if word.endswith((".html", ".json", ".sarif")):
            written = (folder / word).read_bytes()
            assert not CONTROL.search(written)
            assert b"<img src=x" not in written or not word.endswith(".html")
            assert word.endswith(".html") or json.loads(written)
        if word.endswith(".sarif"):
            results = json.loads(written)["runs"][0]["results"]
            places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results}
            assert {os.fsencode(folder / os.fsdecode(unquote_to_bytes(place))) for place in places} == {
                os.fsencode(folder / EVIL)
            }


def test_a_name_beyond_the_locale(folder):
    done = mfmasim("run", "k\u00e9rnel.hip", "gemm", "--arch", "gfx942", *ARGS, folder=folder, variables=ASCII)
    assert done.returncode == 0, done.stderr


def test_a_line_break_in_a_name_is_refused(folder):
    """Clang names the file in a comment of its assembly text; what comes after the break would be assembled."""
    name = 'k\n.incbin "/etc/passwd"\n.hip'
    (folder / name.replace("/", "_")).write_bytes(SOURCE.read_bytes())
    done = mfmasim("inspect", name.replace("/", "_"), "--arch", "gfx942", folder=folder)
    assert done.returncode == 2
    assert b"the name of a source holds a line break" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def closed(*numbers):
    def close():
        for number in numbers:
            os.close(number)

    return close


@pytest.mark.parametrize("words", [["list"], VERIFY, ["debug", "intro", "--case", "f16_16x16x16", "--arch", "gfx942"]])
@pytest.mark.parametrize("numbers", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_streams_are_empty_ones(words, numbers, tmp_path):
    options = {"preexec_fn": closed(*numbers), "stdin": subprocess.DEVNULL}
    done = mfmasim(*words, folder=tmp_path, **options)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr + done.stdout


def test_a_file_does_not_get_the_number_of_a_closed_stream(tmp_path):
    done = mfmasim(*VERIFY, "--json", "out", folder=tmp_path, preexec_fn=closed(0, 1, 2), stdin=subprocess.DEVNULL)
    assert done.returncode == 0
    assert json.loads((tmp_path / "out").read_text())
    done = mfmasim(*VERIFY, "--json", "-", folder=tmp_path, preexec_fn=closed(1))
    assert done.returncode == 2
    assert done.stderr.endswith(b"mfmasim: -: cannot be written: standard output is closed\n")


@pytest.mark.parametrize("words", [["list"], ["show", "gfx942", "v_mfma_f32_16x16x16_f16"], VERIFY])
def test_a_full_device_and_a_closed_pipe(words):
    with Path("/dev/full").open("wb") as device:
        done = mfmasim(*words, stdout=device)
        assert (done.returncode, done.stderr) == (2, b"mfmasim: [Errno 28] No space left on device\n")
        assert mfmasim("nosuch", stderr=device).returncode == 2
        assert mfmasim(*words, stderr=device).returncode == 0
    reader, writer = os.pipe()
    os.close(reader)
    done = mfmasim(*words, stdout=writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert mfmasim("nosuch", stderr=writer).returncode == 2
    assert mfmasim(*words, stdout=writer, stderr=writer).returncode == 0
    os.close(writer)


def test_memory_that_is_not_there_is_one_line():
    """Under a limit of addresses, in whatever place an allocation fails."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (900 << 20,) * 2)

    code = "golden/code/intro/mfma_f32_32x32x2_f32.gfx942.hsaco"
    words = ["run", code, "--arch", "gfx942", "--block", "64"]
    given = [word for size in ("1073741824", "64", "1024") for word in ("--arg", f"f32:{size}=0")]
    done = mfmasim(
        *words, *given, folder=Path(__file__).parents[2], preexec_fn=limit, variables={"OPENBLAS_NUM_THREADS": "1"}
    )
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert b"memory" in done.stderr.lower() or b"allocate" in done.stderr.lower()
