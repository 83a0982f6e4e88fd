"""The library of the simulated runtime in the cache: whole, or built again."""

import ctypes

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import build
from mfmasim.hiprt.sites import Sites
from mfmasim.toolchain import clibrary


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv(build.CACHE, str(tmp_path))
    return build.library()


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "missing", "no seal", "another seal"])
def test_a_damaged_library_is_built_again(path, damage):
    whole = path.read_bytes()
    seal = path.parents[1] / "sha256"
    if damage == "missing":
        path.unlink()
    elif damage == "no seal":
        seal.unlink()
    elif damage == "another seal":
        seal.write_bytes(b"\xff\xfe")
    else:
        flipped = whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]
        path.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "flipped": flipped}[damage])
    assert build.library() == path
    ctypes.CDLL(str(path))
    assert path.stat().st_size == len(whole)
    assert {one.name for one in path.parent.iterdir()} == {build.LIBRARY, *build.OTHERS}


def test_a_whole_library_is_kept(path, monkeypatch):
    monkeypatch.setattr(build, "build_library", None)
    assert build.library() == path


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fills_up_leaves_no_library(tmp_path, monkeypatch, call):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setenv(build.CACHE, str(tmp_path))
    monkeypatch.setattr("os.fsync" if call == "fsync" else "pathlib.Path.replace", full)
    with pytest.raises(MfmasimError, match="cannot be built there: No space left on device"):
        build.library()
    monkeypatch.undo()
    assert not list(tmp_path.rglob(build.LIBRARY))


def test_the_library_of_an_older_version_is_said_in_one_line(tmp_path):
    """A program keeps the library that it was linked with; that of an older mfmasim lacks what this one asks."""
    source, old = tmp_path / "old.c", tmp_path / "libamdhip64.so"
    source.write_text("int mfmasim_hiprt_serve(void) { return 0; }")
    clibrary.build_library(source, old)
    with pytest.raises(MfmasimError, match=r"was built by an older mfmasim .*`mfmasim hiprt -- PROGRAM`"):
        Sites(str(old))
    Sites("")
