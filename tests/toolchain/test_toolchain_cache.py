"""Results of compilations are kept, and used only while nothing they depend on has changed."""

import json
import os
import resource
from concurrent.futures import ThreadPoolExecutor

import pytest

from mfmasim import program
from mfmasim.toolchain import cache, compilation, programs
from mfmasim.toolchain.discovery import find_compiler
from mfmasim.toolchain.unreported import Unreported, may_read

NOTHING = Unreported((), frozenset(), assembly=False)
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
        SOURCE.replace('#include "v', '#if __has_embed("more.h")\n#endif\n#include "v'),
        SOURCE.replace('#include "v', '#define CAT(a) __has_##a\n#if CAT(include)("more.h")\n#endif\n#include "v'),
        SOURCE.replace('#include "v', '#ifdef __has_\\\nembed\n#endif\n#include "v'),
        SOURCE.replace("*o =", 'asm(".include \\"/dev/null\\""); *o ='),
        SOURCE.replace("*o =", 'asm(".inc" "bin \\"/dev/null\\""); *o ='),
        '#define DO(x) asm("." #x " \\"/dev/null\\"")\n' + SOURCE.replace("*o =", "DO(incbin); *o ="),
        SOURCE.replace("*o =", 'asm(".macro m a\\n .\\\\a \\"/dev/null\\"\\n.endm\\n m incbin"); *o ='),
        SOURCE + "#warning seen\n",
    ],
)
def test_a_result_that_depends_on_more_or_prints_something_is_not_kept(compiled, tmp_path, source):
    assert compiled(written(tmp_path / "home", source))[1]
    assert not entries(tmp_path)


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        (["-DX=1", "-O1", "-std=c++20", "-mcumode", "-mllvm", "-x=1", "-I", "/x", "-ffast-math", "-Wall"], True),
        (["-include", "value.h"], False),
        (["@flags"], False),
        (["-fplugin=x.so"], False),
        (["-Xclang", "-load"], False),
        (["-mllvm", "-sample-profile-file=x"], False),
        (["-mllvm", "-amdgpu-kernarg-preload-count=16"], True),
        (["-Wa,-Ix"], False),
        (["-DHAS=__has_include"], False),
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
        entry.write(b"data", rules, NOTHING)
        os.utime(entry.path, ns=(number, number))
    made[2].write(b"data", rules, NOTHING)
    assert [entry.read() for entry in made] == [None, b"data", b"data"]


def test_a_header_beside_the_one_that_includes_it_comes_first(compiled, tmp_path):
    """A quoted name is looked for in the folder of the file that names it, which need not be one that a flag names."""
    home = written(tmp_path / "home", SOURCE.replace("value.h", "part/first.h"), None)
    (home / "part").mkdir()
    (home / "part" / "first.h").write_text('#include "value.h"\n')
    (home / "value.h").write_text("#error not this one\n")
    far = tmp_path / "far"
    far.mkdir()
    (far / "value.h").write_text(HEADER)
    (home / "value.h").unlink()
    first, _ = compiled(home, include=[far])
    assert compiled(home, include=[far]) == (first, False)
    (home / "part" / "value.h").write_text(HEADER.replace("1", "7"))
    second, ran = compiled(home, include=[far])
    assert ran
    assert second != first


def test_a_header_that_changes_while_the_compiler_runs_is_not_taken_for_what_was_read(compiled, tmp_path, monkeypatch):
    home = written(tmp_path / "home")
    run = compilation.run

    def changing(command):
        done = run(command)
        (home / "value.h").write_text(HEADER.replace("1", "2"))
        return done

    monkeypatch.setattr(compilation, "run", changing)
    first, _ = compiled(home)
    monkeypatch.setattr(compilation, "run", run)
    second, _ = compiled(home)
    assert second != first


def test_only_directives_that_read_nothing_are_taken():
    """A directive may be made of operands, alternatives and escapes; expressions and blocks are not read."""
    harmless = ["s_nop 0", "v_mov_b32 %0, 0.5", "s_branch .Lx\\n.Lx:", ".rept 2\\n s_nop 0\\n .endr", "s_branch .+4"]
    doubtful = [".%0 x", ".{include|x} f", ".in\\143bin f", ".\\x69ncbin f", "s_nop 0; .INCLUDE f", ".macro m"]
    assert not any(may_read(f'void f() {{ asm volatile("{words}" : "=v"(x) : "v"(y)); }}') for words in harmless)
    assert all(may_read(f'void f() {{ asm volatile("{words}"); }}') for words in doubtful)
    assert all(
        may_read(text)
        for text in ("asm((g()));", "__asm { nop }", 'asm(R"(.incbin "f")");', '#pragma comment(lib, "m")')
    )
    assert not may_read('void f() { printf("a.b"); }\n#pragma unroll 4\n#pragma clang fp contract(off)\n')


def test_a_changed_library_of_the_compiler_or_another_folder_of_libraries_is_seen(compiled, tmp_path, monkeypatch):
    home = written(tmp_path / "home")
    compiled(home)
    (entry,) = entries(tmp_path)
    head, _, data = entry.read_bytes().partition(b"\n")
    known = json.loads(head)
    tool = find_compiler()
    assert {tool.program[0], tool.linker[0]} <= set(known["tools"])
    made = cache.Entry(entry, home / "k.hip", (home,), tmp_path / "own")
    assert made.read() == data
    library = list(known["tools"])[-1]
    known["tools"][library][1] += 1
    entry.write_bytes(json.dumps(known).encode() + b"\n" + data)
    assert made.read() is None
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert compiled(home)[1]


def test_tools_see_a_fixed_choice_of_variables(tmp_path, monkeypatch):
    for name in ("CPATH", "CCC_OVERRIDE_OPTIONS", "LIBRARY_PATH", "SOME_NEW_VARIABLE"):
        monkeypatch.setenv(name, str(tmp_path))
    program = find_compiler().program[0]
    assert not {"CPATH", "CCC_OVERRIDE_OPTIONS", "LIBRARY_PATH", "SOME_NEW_VARIABLE"} & set(
        programs.environment(program)
    )
    script = tmp_path / "clang"
    script.write_text("#!/bin/sh\n")
    assert programs.is_script(str(script))
    assert "SOME_NEW_VARIABLE" in programs.environment(str(script))
    assert "CPATH" not in programs.environment(str(script))


def test_writers_of_one_entry_and_a_full_disk_leave_a_whole_entry_or_none(tmp_path):
    """Threads of one process write it at once; then a write that fails leaves nothing beside it."""
    home, own = written(tmp_path / "home"), tmp_path / "own"
    rules = tmp_path / "kernel.d"
    rules.write_text(f"kernel: {home}/k.hip \\\n  {home}/value.h\n")
    made = cache.Entry(tmp_path / "kept" / "a", home / "k.hip", (home, own), own)
    data = [bytes([number]) * 3_000_000 for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda one: made.write(one, rules, NOTHING), data))
    assert made.read() in data
    assert [path.name for path in made.path.parent.iterdir()] == ["a"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        made.write(data[0], rules, NOTHING)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert made.read() in data
    assert [path.name for path in made.path.parent.iterdir()] == ["a"]
