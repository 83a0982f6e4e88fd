"""HIP programs by compilers without an offload bundler."""

import pytest

from mfmasim.codeobject.bundle import bundled, split
from mfmasim.hiprt import hipcc, two_passes
from mfmasim.hiprt.build import libpython
from mfmasim.toolchain import find_compiler
from mfmasim.toolchain.discovery import VARIABLE
from tests.hiprt.compiled import started
from tests.oracles import require
from tests.tiers import tiers

PROGRAM = """#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#include "value.h"
static __device__ int hidden = VALUE;
__global__ void k(int *out) { out[threadIdx.x] = threadIdx.x * 3 + hidden; }
int main() {
  int *out;
  (void)hipMallocManaged(&out, 256);
  k<<<1, 64>>>(out);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  std::vector<int> v(out, out + 64);
  printf("%d %d\\n", v[0], v[63]);
}
"""


def test_bundles_are_read_as_they_are_written():
    entries = [
        ("host-x86_64-unknown-linux-gnu-", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx942", b"one"),
        ("hipv4-amdgcn-amd-amdhsa--gfx1201", b"x" * 5000),
    ]
    found = split(bundled(entries), "a bundle")
    assert [(entry.identifier, bytes(entry.data)) for entry in found] == entries[1:]


def test_compilers_without_a_bundler_need_two_passes(monkeypatch):
    assert two_passes.wanted(find_compiler("ziglang"))
    monkeypatch.setattr(two_passes.shutil, "which", lambda *_, **__: None)
    tool = find_compiler("ziglang")
    clang = type(tool)("clang", "clang", ("/nowhere/clang",), ("/nowhere/ld.lld",), "22.1.8", "clang 22.1.8")
    assert two_passes.wanted(clang)
    monkeypatch.setattr(two_passes.shutil, "which", lambda *_, **__: "/nowhere/clang-offload-bundler")
    assert not two_passes.wanted(clang)


@pytest.mark.parametrize("option", ["-E", "-fgpu-rdc"])
def test_an_option_that_needs_a_bundler_is_one_line(option, tmp_path):
    with pytest.raises(two_passes.MfmasimError, match=f"hipcc: {option} needs a clang with clang-offload-bundler"):
        two_passes.run(find_compiler("ziglang"), [option, "a.hip"], ["gfx942"], ["-lamdhip64"], tmp_path)


@pytest.mark.oracle
@pytest.mark.parametrize("compiler", tiers(["ziglang", "clang"], quick=["clang"]))
def test_a_program_runs(compiler, tmp_path, monkeypatch):
    """The wheel of ziglang alone is enough, without any clang on PATH."""
    require("libpython", "/" in str(libpython()), "apt install libpython3-dev")
    if compiler == "ziglang":
        monkeypatch.setenv(VARIABLE, "ziglang")
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        tool = find_compiler()
        require("a clang with lld", tool.style == "clang", "apt install clang-22 lld-22")
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "value.h").write_text("#define VALUE 5\n")
    (tmp_path / "a.hip").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(two_passes, "wanted", lambda tool: True)
    assert hipcc.run_compiler(["-I", "headers", "-c", "a.hip", "-o", "a.o"]) == 0
    assert hipcc.run_compiler(["a.o", "-o", "program"]) == 0
    ran = started(tmp_path / "program")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "5 194\n", "")
