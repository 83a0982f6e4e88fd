"""Compiling: the same bytes wherever the source lies, and one clear text when it does not go."""

import os
import re
import shutil

import pytest

import mfmasim
from mfmasim import load, resources
from mfmasim.errors import MfmasimError
from mfmasim.toolchain import compile_hip, declarations, discovery
from mfmasim.toolchain.compilers import probe
from tests.toolchain.toolchain_helpers import SOURCES, kernels, other_clang, section

KERNEL = """#include <hip/hip_runtime.h>
#include "tile.h"
#include "beside.h"
extern "C" __global__ void k(float* out) { out[threadIdx.x] = beside() + tile(out[blockIdx.x], __FILE__[0]); }
"""
TILE = "static __device__ float tile(float x, char c) { return x * 2.0f + c; }\n"
BESIDE = "static __device__ float beside() { return __FILE__[1]; }\n"


def checkout(folder):
    """A source with its own header, and a header in a folder beside."""
    (folder / "kernels").mkdir(parents=True)
    (folder / "more").mkdir()
    (folder / "kernels" / "k.hip").write_text(KERNEL)
    (folder / "kernels" / "tile.h").write_text(TILE)
    (folder / "more" / "beside.h").write_text(BESIDE)
    return folder


@pytest.fixture
def anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_compiler_is_asked_once_what_it_is(anywhere, monkeypatch):
    given = checkout(anywhere)
    asked = []
    monkeypatch.setattr(discovery, "_known", {})
    monkeypatch.setattr(discovery, "probe", lambda *args: asked.append(args) or probe(*args))
    first, second = (
        compile_hip(given / "kernels" / "k.hip", "gfx942", "ziglang", include=[given / "more"]) for _ in range(2)
    )
    assert len(asked) == 1
    assert first.data == second.data


def test_the_bytes_do_not_depend_on_any_folder(anywhere):
    first, second = checkout(anywhere / "a"), checkout(anywhere / "somewhere" / "else entirely")
    reference = compile_hip(first / "kernels" / "k.hip", "gfx942", "ziglang", include=[first / "more"])
    assert str(anywhere).encode() not in reference.data
    elsewhere = compile_hip(second / "kernels" / "k.hip", "gfx942", "ziglang", include=[second / "more"])
    assert elsewhere.data == reference.data
    os.chdir(first / "kernels")
    relative = compile_hip("k.hip", "gfx942", "ziglang", include=["../more"])
    assert relative.data == reference.data
    os.chdir(first)
    dotted = compile_hip("./more/../kernels/k.hip", "gfx942", "ziglang", include=["more"])
    assert dotted.data == reference.data
    flagged = compile_hip("kernels/k.hip", "gfx942", "ziglang", flags=["-isystem", str(first / "more")])
    assert section(flagged.data, ".text") == section(reference.data, ".text")
    assert str(anywhere).encode() not in flagged.data


def test_the_bytes_do_not_depend_on_the_users_variables(anywhere, monkeypatch):
    folder = checkout(anywhere / "a")
    compiled = [compile_hip(folder / "kernels" / "k.hip", "gfx942", "ziglang", include=[folder / "more"]).data]
    (anywhere / "trap").mkdir()
    (anywhere / "trap" / "tile.h").write_text("#error the trap\n")
    monkeypatch.setenv("CPATH", str(anywhere / "trap"))
    monkeypatch.setenv("CCC_OVERRIDE_OPTIONS", "+-O0")
    monkeypatch.setenv("HOME", str(anywhere))
    compiled.append(compile_hip(folder / "kernels" / "k.hip", "gfx942", "ziglang", include=[folder / "more"]).data)
    assert compiled[0] == compiled[1]


def test_the_result_says_what_made_it(anywhere):
    done = compile_hip(checkout(anywhere / "a") / "kernels" / "k.hip", "gfx950", "ziglang", include=["a/more"])
    assert done.kind == "explicit"
    assert re.fullmatch(r"clang \d+\.\d+\.\d+ \(ziglang \d+\.\d+\.\d+\)", done.compiler)
    assert done.compiler.startswith(f"clang {done.version} ")
    assert "--offload-arch=gfx950" in done.command
    assert done.code_object_version == 6
    assert done.data.startswith(b"\x7fELF")


@pytest.mark.parametrize(
    ("flags", "abi"), [([], 4), (["-mcode-object-version=5"], 3), (["-mcode-object-version=4"], 2)]
)
def test_code_object_version_is_stated_and_can_be_chosen(anywhere, flags, abi):
    folder = checkout(anywhere / "a")
    done = compile_hip(folder / "kernels" / "k.hip", "gfx942", "ziglang", flags=flags, include=[folder / "more"])
    assert done.data[8] == abi
    assert done.code_object_version == abi + 2


def test_flags_reach_compiler_and_assembler(anywhere):
    source = anywhere / "k.hip"
    source.write_text('#include <hip/hip_runtime.h>\nextern "C" __global__ void k(int* o) { *o = N + warpSize; }\n')
    for wave, flag in ((32, "-mno-wavefrontsize64"), (64, "-mwavefrontsize64")):
        flags = ["-DN=7", flag, "-mllvm", "-amdgpu-early-inline-all"]
        done = compile_hip(source, "gfx1201", "ziglang", flags=flags)
        assert kernels(done.data) == {"k"}
        # Bit 10 of the descriptor's properties: wave32.
        assert bool(section(done.data, ".rodata")[57] >> 2 & 1) is (wave == 32)


def test_target_features_reach_compiler_and_assembler(anywhere):
    """Halves of registers have names that the assembler of gfx12 takes with this feature alone."""
    source = anywhere / "k.hip"
    source.write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void k(_Float16* o) {\n'
        "  _Float16 a = o[threadIdx.x], b = o[threadIdx.x + 64]; o[threadIdx.x + 128] = a * b + a; }\n"
    )
    for arch, sign in (("gfx1201", "+"), ("gfx1151", "-")):
        changed = ["-Xclang", "-target-feature", "-Xclang", f"{sign}real-true16"]
        halves = []
        for flags in ([], changed):
            code = load(compile_hip(source, arch, "ziglang", flags=flags).data)
            halves.append(
                any(ins.name.startswith("v_") and ins.modifiers.get("op_sel") for ins in code["k"].instructions)
            )
        assert halves == [sign == "-", sign == "+"], arch


def test_target_features_are_kept(anywhere):
    folder = checkout(anywhere / "a")
    done = compile_hip(folder / "kernels" / "k.hip", "gfx942:sramecc+:xnack-", "ziglang", include=[folder / "more"])
    assert b"amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-" in done.data


def test_warnings_are_passed_on(anywhere):
    (anywhere / "k.hip").write_text('#warning look here\nextern "C" __attribute__((global)) void k() {}\n')
    assert compile_hip("k.hip", "gfx942", "ziglang").warnings.startswith("k.hip:1:2: warning: look here")


def refusal(*args, **options):
    with pytest.raises(MfmasimError) as caught:
        compile_hip(*args, **options)
    return str(caught.value)


def test_a_failing_compile_shows_the_compilers_message(anywhere):
    (anywhere / "sub").mkdir()
    (anywhere / "sub" / "k.hip").write_text("__global__ void k(float* x) {\n  x[0] = nonsense;\n}\n")
    text = refusal("sub/k.hip", "gfx942", "ziglang")
    assert text.splitlines()[0].startswith("sub/k.hip does not compile for gfx942 with clang ")
    assert re.search(r"^sub/k\.hip:2:10: error: use of undeclared identifier 'nonsense'", text, re.MULTILINE)
    assert "__global__'" not in text
    assert str(anywhere) not in text


def test_inline_assembly_errors_name_the_source_line(anywhere):
    (anywhere / "k.hip").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(float* x) {\n  x[1] = x[2];\n"
        '  asm volatile("v_nonsense_b32 %0, 1" : "=v"(x[0]));\n}\n'
    )
    text = refusal("k.hip", "gfx942", "ziglang")
    assert re.search(r"^k\.hip:4:\d+: error: invalid instruction", text, re.MULTILINE)
    assert "kernel.s" not in text


def test_a_function_without_a_body_is_named(anywhere):
    (anywhere / "k.hip").write_text(
        "#include <hip/hip_runtime.h>\n__device__ float elsewhere(float);\n"
        "__global__ void k(float* x) { x[0] = elsewhere(x[1]); }\n"
    )
    text = refusal("k.hip", "gfx942", "ziglang")
    assert "undefined hidden symbol: elsewhere(float)" in text
    assert "k.hip:3" in text
    assert "mfmasim-" not in text


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda folder: folder / "nosuch.hip", "no file '.*nosuch.hip'"),
        (lambda folder: folder, "is a folder, not a HIP source file"),
        (lambda folder: (folder / "empty.hip").touch() or folder / "empty.hip", "empty.hip is empty"),
        (lambda folder: folder / "k.hip\0", "cannot read"),
        (lambda folder: folder / ("k" * 5000), "cannot read"),
    ],
)
def test_what_is_no_source_file_is_one_line(anywhere, make, expected):
    text = refusal(make(anywhere), "gfx942", "ziglang")
    assert re.search(expected, text)
    assert "\n" not in text


@pytest.mark.parametrize(
    ("arch", "near"),
    [
        ("gfx951", "gfx950"),
        ("gfx94", "gfx942"),
        ("MI300", None),
        ("", None),
        ("gfx942,gfx950", "gfx942"),
        ("-O3", None),
    ],
)
def test_an_unknown_architecture_is_one_line_with_the_nearest(arch, near):
    text = refusal(SOURCES / "ocp.hip", arch, "ziglang")
    assert text.startswith(f"unknown architecture {arch!r} for clang ")
    assert "\n" not in text
    if near:
        assert "did you mean 'gfx9" in text


def test_a_missing_include_folder_is_one_line(anywhere):
    folder = checkout(anywhere / "a")
    text = refusal(folder / "kernels" / "k.hip", "gfx942", "ziglang", include=["nosuch"])
    assert re.fullmatch(r"no include folder '.*nosuch'", text)


def test_a_compiler_that_is_killed_is_no_traceback(anywhere, monkeypatch):
    fake = anywhere / "clang-99"
    fake.write_text(
        f"""#!/bin/sh
case $1 in
--version) echo clang version 99.0.0;;
--print-targets) echo '  amdgcn - AMD GCN GPUs';;
-print-prog-name=*) echo {anywhere}/ld.lld;;
*) kill -9 $$;;
esac
"""
    )
    lld = anywhere / "ld.lld"
    lld.write_text("#!/bin/sh\necho LLD 99.0.0\n")
    for program in (fake, lld):
        program.chmod(0o755)
    text = refusal(SOURCES / "ocp.hip", "gfx942", fake)
    assert "terminated by signal 9" in text


@pytest.mark.oracle
def test_rocm_style_compiles_in_one_step_with_the_compilers_own_headers(anywhere):
    # A stand-in for hipcc: its own headers (here ours, given by itself) and its driver that links.
    clang, headers = other_clang(), resources.HEADERS
    hipcc = anywhere / "hipcc"
    hipcc.write_text(
        f"""#!/bin/sh
if [ "$1" = --version ]; then
  echo 'HIP version: 7.1.0-fake'
  echo 'AMD clang version 22.0.0git'
else
  exec {shutil.which(clang)} -nogpuinc -nogpulib -isystem "{headers}" "$@"
fi
"""
    )
    hipcc.chmod(0o755)
    done = compile_hip(SOURCES / "runtime.hip", "gfx942", hipcc)
    assert done.compiler == "AMD clang 22.0.0 (HIP 7.1.0-fake)"
    assert "-nogpuinc" not in done.command
    assert len(kernels(done.data)) == 7
    assert done.code_object_version == 6


def test_the_sources_own_folder_is_no_include_folder_in_lines(tmp_path):
    source = tmp_path / "k.hip"
    source.write_text('extern "C" __attribute__((global)) void k(int *y) {\n  *y = 7;\n}\n')
    kernel = mfmasim.compile(source, "gfx942", flags=[f"-iquote{tmp_path}"])["k"]
    assert {kernel.source_at(ins.pc).rpartition(":")[0] for ins in kernel.instructions} <= {"k.hip", ""}
    assert "k.hip:2" in {kernel.source_at(ins.pc) for ins in kernel.instructions}


def test_the_standard_headers_that_hipcc_implies_are_there(anywhere):
    source = anywhere / "k.hip"
    source.write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void k(float* x) { *x = std::max(*x, 1.0f); }\n'
    )
    assert kernels(compile_hip(source, "gfx942").data) == {"k"}
    assert "void @k(" in declarations(source, "gfx942")
    source.write_text(source.read_text().replace("std::max", "std::maximum"))
    with pytest.raises(MfmasimError, match="no member named 'maximum' in namespace 'std'"):
        compile_hip(source, "gfx942")
    assert declarations(source, "gfx942") == ""


@pytest.mark.parametrize(
    ("arch", "flavours"), [("gfx942", (1, 0)), ("gfx950", (0, 1)), ("gfx1201", (0, 1)), ("gfx90a", (1, 1))]
)
def test_the_flavours_of_fp8_that_a_target_declares(anywhere, arch, flavours):
    """Source: ROCm's amd_hip_fp8.h, where both are 1 on the host and on every other architecture."""
    source = anywhere / "k.hip"
    source.write_text(
        "#include <hip/hip_fp8.h>\n#if defined(__HIP_DEVICE_COMPILE__)\n"
        f"static_assert(HIP_FP8_TYPE_FNUZ == {flavours[0]} && HIP_FP8_TYPE_OCP == {flavours[1]});\n"
        '#endif\nextern "C" __global__ void k() {}\n'
    )
    assert kernels(compile_hip(source, arch).data) == {"k"}
