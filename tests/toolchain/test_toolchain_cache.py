"""Results of compilations are kept, and used only while nothing they depend on has changed."""

import json
import os

import pytest

from mfmasim import program
from mfmasim.toolchain import cache, compilation
from mfmasim.toolchain.discovery import find_compiler

HEADER = "#pragma once\n#define VALUE 1\n"
SOURCE = '#include <hip/hip_runtime.h>\n#include "value.h"\nextern "C" __global__ void k(int *o) { *o = VALUE; }\n'


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compile a source in a folder; gives the bytes and whether a compiler ran."""
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(cache.OFF, raising=False)
    started = []
    run = compilation.run
    monkeypatch.setattr(compilation, "run", lambda command: started.append(command) or run(command))

    def one(folder, flags=(), include=()):
        started.clear()
        found = program.compile(folder / "k.hip", "gfx942", flags=list(flags), include=list(include))
        return found.object.data, bool(started)

    return one


def written(folder, source=SOURCE, header=HEADER):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "k.hip").write_text(source)
    if header is not None:
        (folder / "value.h").write_text(header)
    return folder


def test_a_second_compilation_takes_the_first_ones_result(compiled, tmp_path):
    one = written(tmp_path / "one")
    first, ran = compiled(one)
    assert ran
    assert compiled(one) == (first, False)
    assert compiled(written(tmp_path / "two")) == (first, False)  # no byte depends on the folder
    (tmp_path / "one" / "value.h").write_text(HEADER.replace("1", "2"))
    changed, ran = compiled(one)
    assert ran
    assert changed != first
    assert compiled(one, ["-DOTHER=3"])[1]


def test_a_header_above_the_folder_is_the_one_of_this_folder(compiled, tmp_path):
    source = SOURCE.replace("value.h", "../value.h")
    for name, value in (("one", "1"), ("two", "2")):
        written(tmp_path / name / "src", source, None)
        (tmp_path / name / "value.h").write_text(HEADER.replace("1", value))
    first, _ = compiled(tmp_path / "one" / "src")
    second, ran = compiled(tmp_path / "two" / "src")
    assert ran
    assert first != second


def test_a_header_that_comes_before_another_is_seen(compiled, tmp_path):
    home = written(tmp_path / "home", header=None)
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir()
    far.mkdir()
    (far / "value.h").write_text(HEADER)
    first, _ = compiled(home, include=[near, far])
    assert compiled(home, include=[near, far]) == (first, False)
    (near / "value.h").write_text(HEADER.replace("1", "7"))
    second, ran = compiled(home, include=[near, far])
    assert ran
    assert second != first


def test_declarations_are_kept_too(compiled, tmp_path):
    home = written(tmp_path / "home", SOURCE.replace("VALUE;", "VALUE; __shared__ float x[VALUE]; x[0] = *o;"))
    found, started = [], []
    for header in (HEADER, HEADER, HEADER.replace("1", "2")):
        (home / "value.h").write_text(header)
        with pytest.MonkeyPatch.context() as patch:
            run = compilation.run
            patch.setattr(compilation, "run", lambda command, run=run: started.append(command) or run(command))
            found.append(compilation.declarations(home / "k.hip", "gfx942"))
        started.append(None)
    assert [command is None for command in started] == [False, True, True, False, True]
    assert found[0] == found[1] != found[2]
    assert "[1 x float]" in found[0]
    assert "[2 x float]" in found[2]


def entries(tmp_path):
    return list((tmp_path / "cache" / "compiled").glob("*"))


@pytest.mark.parametrize(
    "source",
    [
        SOURCE.replace("VALUE;", "sizeof(__TIME__);"),
        SOURCE.replace('#include "v', '#if __has_include("more.h")\n#endif\n#include "v'),
        SOURCE + "#warning seen\n",
    ],
)
def test_a_result_that_depends_on_more_or_prints_something_is_not_kept(compiled, tmp_path, source):
    assert compiled(written(tmp_path / "home", source))[1]
    assert not entries(tmp_path)


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        (["-DX=1", "-O1", "-std=c++20", "-mcumode", "-mllvm", "-x", "-I", "/x", "-ffast-math", "-Wall"], True),
        (["-include", "value.h"], False),
        (["@flags"], False),
        (["-fplugin=x.so"], False),
        (["-Xclang", "-load"], False),
        (["value.h"], False),
    ],
)
def test_flags_that_may_read_files_prevent_it(tmp_path, flags, kept, monkeypatch):
    monkeypatch.delenv(cache.OFF, raising=False)
    source = written(tmp_path) / "k.hip"
    steps = [["clang", *flags, str(source)]]
    found = cache.entry_for(find_compiler(), steps, source, tmp_path / "x", flags, [], tmp_path)
    assert (found is not None) == kept


def test_damage_and_a_folder_that_cannot_be_written_only_cost_time(compiled, tmp_path, monkeypatch):
    home = written(tmp_path / "home")
    first, _ = compiled(home)
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    made = cache.Entry(entry, home / "k.hip", (home,), tmp_path / "own")
    assert made.read() == first
    for damaged in (b"", b"{}\n", whole[:-1], b"[1]\nx"):
        entry.write_bytes(damaged)
        assert made.read() is None
    entry.write_bytes(whole)
    monkeypatch.setenv(cache.OFF, "0")
    assert compiled(home) == (first, True)
    monkeypatch.delenv(cache.OFF)
    monkeypatch.setenv("MFMASIM_CACHE", os.devnull)
    assert compiled(home) == (first, True)


def test_an_entry_that_is_no_file_or_endless_is_none(compiled, tmp_path):
    """Nested JSON, a FIFO, a device that never ends, as the entry or as a file that it claims to depend on."""
    home = written(tmp_path / "home")
    first, _ = compiled(home)
    (entry,) = entries(tmp_path)
    head = json.loads(entry.read_bytes().partition(b"\n")[0])
    made = cache.Entry(entry, home / "k.hip", (home,), tmp_path / "own")
    os.mkfifo(tmp_path / "fifo")
    endless = json.dumps({**head, "read": {"/dev/zero": "0"}}).encode() + b"\n" + first
    waiting = json.dumps({**head, "read": {str(tmp_path / "fifo"): "0"}}).encode() + b"\n" + first
    for damaged in (b"[" * 100_000 + b"\n" + first, endless, waiting):
        entry.write_bytes(damaged)
        assert made.read() is None
    for target in ("/dev/zero", tmp_path / "fifo"):
        entry.unlink()
        entry.symlink_to(target)
        assert made.read() is None
    assert compiled(home) == (first, True)
    assert compiled(home) == (first, False), "it was replaced"


def test_entries_used_least_recently_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MOST", 2)
    home, own = written(tmp_path / "home"), tmp_path / "own"
    rules = tmp_path / "kernel.d"
    rules.write_text(f"kernel: {home}/k.hip \\\n  {home}/value.h\n")
    made = [cache.Entry(tmp_path / "kept" / name, home / "k.hip", (home, own), own) for name in "abc"]
    for number, entry in enumerate(made):
        entry.write(b"data", rules)
        os.utime(entry.path, ns=(number, number))
    made[2].write(b"data", rules)
    assert [entry.read() for entry in made] == [None, b"data", b"data"]
