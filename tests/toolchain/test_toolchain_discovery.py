"""Which compiler is found, in which order, and what is said when there is none."""

import importlib.util

import pytest

from mfmasim.errors import MfmasimError
from mfmasim.toolchain import discovery, find_compiler


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def fake_clang(folder, name, version="22.1.0", banner="clang version {}", targets="amdgcn", lld="same"):
    """A program that answers what a clang is asked, and its linker."""
    linker = folder / f"ld.lld-for-{name}"
    if lld:
        program(linker, f"echo LLD {version if lld == 'same' else lld}")
    return program(
        folder / name,
        f"""case $1 in
--version) echo "{banner.format(version)}";;
--print-targets) echo "    {targets} - something";;
-print-prog-name=ld.lld) echo "{linker if lld else "ld.lld"}";;
esac""",
    )


def fake_hipcc(path):
    return program(path, 'echo "HIP version: 7.1.2"; echo "AMD clang version 20.0.0git"')


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A machine on which nothing is installed: empty PATH, no ROCm, no ziglang, no variables."""
    for name in (discovery.VARIABLE, "ROCM_PATH"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "ziglang" else real(name, *rest)
    )
    return folder


def test_nothing_there_says_how_to_get_one(bare):
    with pytest.raises(MfmasimError) as caught:
        find_compiler()
    text = str(caught.value)
    assert "pip install ziglang" in text
    assert "hipcc" in text
    assert "\n" not in text


def test_the_order_is_named_variable_rocm_clang_ziglang(bare, monkeypatch):
    monkeypatch.undo()
    monkeypatch.delenv(discovery.VARIABLE, raising=False)
    monkeypatch.delenv("ROCM_PATH", raising=False)
    monkeypatch.setenv("PATH", str(bare))
    assert find_compiler().kind == "ziglang"
    fake_clang(bare, "clang-21", "21.1.0")
    assert (find_compiler().kind, find_compiler().version) == ("clang", "21.1.0")
    fake_clang(bare, "clang-22", "22.1.0")
    assert find_compiler().version == "22.1.0"
    fake_clang(bare, "clang", "21.1.8")
    assert find_compiler().version == "21.1.8"
    root = bare.parent / "rocm"
    fake_hipcc(root / "bin" / "hipcc")
    assert find_compiler().kind == "clang"
    monkeypatch.setenv("ROCM_PATH", str(root))
    found = find_compiler()
    assert (found.kind, found.style, found.description) == ("hipcc", "rocm", "AMD clang 20.0.0 (HIP 7.1.2)")
    on_path = fake_hipcc(bare / "hipcc")
    assert find_compiler().path == on_path
    monkeypatch.setenv(discovery.VARIABLE, str(bare / "clang-21"))
    assert (find_compiler().kind, find_compiler().version) == ("explicit", "21.1.0")
    assert find_compiler("clang-22").version == "22.1.0"
    assert find_compiler("ziglang").style == "zig"
    assert find_compiler(bare / "hipcc").kind == "explicit"


def test_amdclang_uses_rocms_headers_only_where_they_are(bare):
    fake_clang(bare.parent / "rocm" / "bin", "amdclang++", "22.0.0", banner="AMD clang version {}git (roc-7.2.0)")
    path = bare.parent / "rocm" / "bin" / "amdclang++"
    assert find_compiler(path).style == "clang"
    header = bare.parent / "rocm" / "include" / "hip" / "hip_runtime.h"
    header.parent.mkdir(parents=True)
    header.touch()
    assert find_compiler(path).style == "rocm"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"version": "19.1.7"}, "is clang 19.1.7; mfmasim needs clang 21 or newer"),
        ({"targets": "x86-64"}, "was built without the AMDGPU target"),
        ({"lld": ""}, "lacks its linker: install ld.lld 22"),
        ({"lld": "14.0.6"}, "lacks its linker: install ld.lld 22"),
        ({"banner": "gcc (Debian) 12"}, "--version prints no clang version"),
    ],
)
def test_an_unfit_clang_is_passed_over_and_named(bare, options, reason):
    fake_clang(bare, "clang", **options)
    with pytest.raises(MfmasimError, match="no HIP compiler found") as caught:
        find_compiler()
    assert reason in str(caught.value)
    with pytest.raises(MfmasimError) as caught:
        find_compiler("clang")
    assert reason in str(caught.value)
    fake_clang(bare, "clang-22", "22.1.0")
    assert find_compiler().path == bare / "clang-22"


def test_a_wrong_time_is_the_only_reason_that_is_given(bare, monkeypatch):
    fake_clang(bare, "clang", "22.1.0")
    monkeypatch.setenv("MFMASIM_COMPILE_SECONDS", "nan")
    with pytest.raises(MfmasimError, match=r"^MFMASIM_COMPILE_SECONDS=nan: a positive number of seconds is expected$"):
        find_compiler()


def test_a_named_compiler_that_is_not_there_is_an_error(bare, monkeypatch):
    with pytest.raises(
        MfmasimError, match="no compiler 'nosuch'; expected a program's path, its name on PATH, or 'ziglang'"
    ):
        find_compiler("nosuch")
    with pytest.raises(MfmasimError, match="the ziglang wheel is not installed: pip install ziglang"):
        find_compiler("ziglang")
    fake_hipcc(bare / "hipcc")
    monkeypatch.setenv(discovery.VARIABLE, "/nosuch/hipcc")
    with pytest.raises(MfmasimError, match=r"^MFMASIM_HIP_COMPILER: no compiler '/nosuch/hipcc'"):
        find_compiler()


def test_a_file_that_cannot_run_is_an_error(bare):
    broken = bare / "clang"
    broken.write_bytes(b"\x7fELF not really")
    broken.chmod(0o755)
    with pytest.raises(MfmasimError, match=r"cannot run .*clang"):
        find_compiler(broken)
