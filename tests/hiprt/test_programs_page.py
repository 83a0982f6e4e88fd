"""The first program of docs/programs.md, its debugging session, and build lines that take programs apart."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.hiprt.compiled import SOURCES, clang, hipcc, started

PAGE = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()
DEVICE = """\
  .type __hip_fatbin,@object
  .section .hip_fatbin,"a",@progbits
  .globl __hip_fatbin
  .p2align 12
__hip_fatbin:
  .incbin "bundle.hipfb"
"""


def built(folder, source):
    """Compile a source as the page does; the path of the program."""
    (folder / "first.hip").write_text(source)
    (commands,) = re.findall(r"```sh\n(mfmasim hipcc first\.hip.*?)```", PAGE, re.DOTALL)
    compiling, running = commands.splitlines()
    hipcc("-Wno-unused-value", *compiling.split()[2:], cwd=folder)
    assert running == "mfmasim hiprt --arch gfx942 --checks all -- ./first"
    return folder / "first"


@pytest.mark.oracle
def test_the_first_program_and_its_mistake(tmp_path):
    clang()
    (source,) = re.findall(r"```cpp\n(.*?)```", PAGE, re.DOTALL)
    ran = started(built(tmp_path, source), arch="gfx942", checks="all")
    assert (ran.stdout, ran.stderr, ran.returncode) == ("2 4 6 8\n", "", 0)
    assert "prints `2 4 6 8`" in PAGE
    wrong = source.replace("twice<<<1, 4>>>(device)", "twice<<<1, 8>>>(device)")
    assert wrong != source
    ran = started(built(tmp_path, wrong), arch="gfx942", checks="all")
    assert ran.returncode == 1
    assert ran.stdout == "1 2 3 4\n"
    assert "prints `1 2 3 4`" in PAGE
    (shown,) = re.findall(r"```\n(mfmasim: error bounds-.*?)\n```", PAGE, re.DOTALL)
    pattern = re.escape(shown).replace(re.escape("..."), ".*")
    assert re.match(pattern, ran.stderr.replace(f"{tmp_path}/", "")), ran.stderr


@pytest.mark.oracle
@pytest.mark.long
def test_a_program_is_assembled_bundled_and_linked_by_separate_commands(tmp_path):
    """As the examples of ROCm do which show what the compiler makes of a program."""
    clang()
    tools = Path(hipcc("--print-root").stdout.strip()) / "bin"

    def run(*words):
        made = subprocess.run([*map(str, words)], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    arch = run(tools / "amdgpu-arch")
    source = SOURCES.parents[2] / "docs" / "example" / "programs" / "saxpy.hip"
    hipcc("--cuda-host-only", "-c", source, "-o", "host.o", cwd=tmp_path)
    hipcc("--cuda-device-only", "-S", f"--offload-arch={arch}", source, "-o", "device.s", cwd=tmp_path)
    run(tools / "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "device.s", "-o", "device.o")
    targets = f"-targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--{arch}"
    inputs = ("-input=/dev/null", "-input=device.o")
    run(tools / "clang-offload-bundler", "-type=o", "-bundle-align=4096", targets, *inputs, "-output=bundle.hipfb")
    (tmp_path / "device.mcin").write_text(DEVICE)
    run(tools / "llvm-mc", "-triple", "x86_64-unknown-linux-gnu", "-o", "code.o", "device.mcin", "--filetype=obj")
    libraries = ("-lamd_comgr", "-lhsa-runtime64", "-lhiprtc", "-lhiprtc-builtins")
    linked = [tools / "hipcc", "host.o", "code.o", "-o", "saxpy", *libraries]
    run(*linked)
    assert started(tmp_path / "saxpy").stdout == "0 of 1000 wrong\n"


@pytest.mark.oracle
@pytest.mark.long
def test_cmake_projects_of_the_older_kind(tmp_path):
    clang()
    place = Path(hipcc("--print-root").stdout.strip())
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(older CXX)\nfind_package(hip REQUIRED)\n"
        "set(OPTIONS -DSTATED=7)\n"
        "hip_add_executable(older main.cpp HIPCC_OPTIONS ${OPTIONS} CLANG_OPTIONS NVCC_OPTIONS -Xptxas)\n"
        "target_link_libraries(older amd_comgr hsa-runtime64::hsa-runtime64)\n"
    )
    (tmp_path / "main.cpp").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int *out) { *out = STATED; }\n"
        "int main() {\n  int *out, value = 0;\n  (void)hipMalloc(&out, 4);\n  k<<<1, 1>>>(out);\n"
        "  (void)hipMemcpy(&value, out, 4, hipMemcpyDeviceToHost);\n  return value;\n}\n"
    )
    for words in (["cmake", f"-DCMAKE_PREFIX_PATH={place}", "."], ["make"]):
        made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr
    assert started(tmp_path / "older").returncode == 7
