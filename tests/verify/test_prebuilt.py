"""Prebuilt code objects: their hashes hold, and the same compiler makes the same bytes."""

import hashlib
import json
import shutil

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.lab import rebuild
from mfmasim.resources import folder
from mfmasim.toolchain import find_compiler
from mfmasim.verify import prebuilt
from mfmasim.verify.prebuilt import code_for
from tests.oracles import require

CODE = folder("golden") / "code"
ENTRIES = json.loads((CODE / "manifest.json").read_text())["entries"]


def test_files_are_those_of_the_manifest():
    listed = {entry["file"] for entry in ENTRIES}
    assert {p.relative_to(CODE).as_posix() for p in CODE.rglob("*.hsaco")} == listed
    for entry in ENTRIES:
        assert hashlib.sha256((CODE / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]


def test_sources_are_up_to_date():
    assert len(ENTRIES) == len({entry["file"] for entry in ENTRIES}) >= 9
    for entry in ENTRIES:
        assert prebuilt.source_hash(folder("hipkernels") / entry["source"]) == entry["source_sha256"], (
            f"{entry['source']} or a header changed: python -m mfmasim.lab.rebuild"
        )


@pytest.mark.oracle
@pytest.mark.long
def test_rebuilding_gives_the_same_bytes():
    compiler = find_compiler("ziglang")
    same = all(entry["compiler"] == compiler.description for entry in ENTRIES)
    require(
        "the compiler of the prebuilt code objects", same, f"pip install mfmasim[compile]: {ENTRIES[0]['compiler']}"
    )
    entries, files = rebuild.build()
    assert entries == ENTRIES
    assert all((CODE / name).read_bytes() == data for name, data in files.items())
    assert len(files) >= 20


def test_a_damaged_file_is_refused(tmp_path, monkeypatch):
    copy = tmp_path / "golden"
    shutil.copytree(CODE, copy / "code")
    entry = ENTRIES[0]
    path = copy / "code" / entry["file"]
    path.write_bytes(path.read_bytes()[:-1] + b"\0\1"[:1])
    monkeypatch.setattr(prebuilt, "folder", lambda name: copy if name == "golden" else folder(name))
    path.write_bytes(b"damaged")
    with pytest.raises(MfmasimError, match="damaged"):
        prebuilt._made.__wrapped__(folder("hipkernels") / entry["source"], entry["arch"], None, (), ())


def test_a_changed_source_is_compiled_anew(tmp_path):
    source = tmp_path / "kernel.hip"
    source.write_text((folder("hipkernels") / ENTRIES[0]["source"]).read_text())
    code = code_for(source, "gfx942")
    assert "prebuilt" not in code.made_by


def test_a_source_or_header_that_changed_is_compiled_anew(tmp_path):
    """In one process, as in a notebook: the text has the same length."""
    source, header = tmp_path / "k.hip", tmp_path / "k.h"
    header.write_text("#define VALUE 1\n")
    source.write_text('#include "k.h"\nextern "C" __attribute__((global)) void k(int *y) { *y = VALUE + 3; }\n')

    def value():
        y = np.zeros(1, np.int32)
        mfmasim.device("sim").launch(code_for(source, "gfx942")["k"], 1, 1, [y])
        return int(y[0])

    assert value() == 4
    same = code_for(source, "gfx942")
    assert code_for(source, "gfx942") is same
    source.write_text(source.read_text().replace("+ 3", "+ 5"))
    assert value() == 6
    header.write_text("#define VALUE 2\n")
    assert value() == 7


@pytest.mark.parametrize("flags", [("-I{}",), ("-I", "{}"), ("-isystem", "{}"), ("-include", "{}/k.h")])
def test_a_header_that_a_flag_names_is_compiled_anew(flags, tmp_path):
    header, source = tmp_path / "headers" / "k.h", tmp_path / "k.hip"
    header.parent.mkdir()
    header.write_text("#define VALUE 1\n")
    include = "" if flags[0] == "-include" else "#include <k.h>\n"
    source.write_text(include + 'extern "C" __attribute__((global)) void k(int *y) { *y = VALUE; }\n')
    given = tuple(flag.format(header.parent) for flag in flags)
    first = code_for(source, "gfx942", flags=given)
    assert code_for(source, "gfx942", flags=given) is first
    header.write_text("#define VALUE 2\n")
    y = np.zeros(1, np.int32)
    mfmasim.device("sim").launch(code_for(source, "gfx942", flags=given)["k"], 1, 1, [y])
    assert y[0] == 2


def test_headers_that_include_each_other_through_their_parent_folder(tmp_path):
    """As those of rocWMMA do: paths that are not normalised grow at each turn."""
    (tmp_path / "u").mkdir()
    (tmp_path / "u" / "a.h").write_text('#pragma once\n#include "../u/b.h"\n')
    (tmp_path / "u" / "b.h").write_text('#pragma once\n#include "../u/a.h"\n')
    source = tmp_path / "k.hip"
    source.write_text('#include "u/a.h"\n')
    assert {name for name, *_ in prebuilt._stamps(source, ())} == {
        str(tmp_path / name) for name in ("k.hip", "u/a.h", "u/b.h")
    }
