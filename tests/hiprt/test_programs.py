"""Compiled programs: built by hipcc, run on the simulated runtime."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mfmasim.hiprt.hipcc import clang_command, command
from mfmasim.observe import Finding
from tests.hiprt import make_api
from tests.hiprt.compiled import SOURCES, clang, hipcc, started
from tests.oracles import require

EXAMPLES = Path(__file__).parents[2] / "docs" / "example" / "programs"
ALL = """\
before
kernel: 100
scaled 302
managed 42
symbols 5 16 3 1
fill 63.5 0.5
count 93 resident 1 block 1024 1024 cooperative 1
device gfx942 64 1
by name 0 1
volume 7 7 0
image hipErrorInvalidImage
bundle hipErrorInvalidImage
symbol hipErrorInvalidSymbol
kernel hipErrorInvalidDeviceFunction
texts unknown error / hipErrorUnknown
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("program") / "program"
    hipcc("-Wall", "-Wextra", "-std=c++17", SOURCES / "program.hip", "-o", path)
    return path


@pytest.mark.oracle
def test_a_program_refers_to_its_device_code_in_every_way(program, tmp_path):
    report = tmp_path / "report.json"
    ran = started(program, "all", checks="all", report=str(report))
    assert ran.stdout == ALL
    assert ran.returncode == 0
    found = json.loads(report.read_text())
    assert found["findings"] == []
    assert found["launches"] == 5
    assert len(ran.stderr.splitlines()) == 5  # one line for each error that needs one


@pytest.mark.oracle
@pytest.mark.parametrize("flags", [(), ("-mwavefrontsize64",)])
def test_the_same_program_on_rdna2(flags, tmp_path):
    """gfx1030, in waves of 32 and of 64 lanes."""
    clang()
    hipcc("--offload-arch=gfx1030", *flags, "-std=c++17", SOURCES / "program.hip", "-o", tmp_path / "program")
    ran = started(tmp_path / "program", "all", arch="gfx1030", checks="all")
    assert ran.stdout == ALL.replace("gfx942 64", "gfx1030 32")
    ran = started(tmp_path / "program", "compiled", arch="gfx1030", checks="all")
    assert ran.stdout == "compiled HIPRTC_SUCCESS\npower 125 events 1 7\n", ran.stderr


@pytest.mark.oracle
def test_a_program_compiles_kernels_itself(program):
    ran = started(program, "compiled", checks="all")
    assert ran.stdout == "compiled HIPRTC_SUCCESS\npower 125 events 1 7\n", ran.stderr
    assert ran.returncode == 0


@pytest.mark.oracle
def test_threads_have_devices_of_their_own(program):
    ran = started(program, "threads", arch="gfx942,gfx942")
    assert ran.returncode == 0, ran.stderr
    assert [line for line in ran.stdout.splitlines() if line.startswith("thread")] == [
        f"thread 194 {t % 2}" for t in range(4)
    ]


@pytest.mark.oracle
def test_a_child_of_fork_works_and_reports_for_itself(program, tmp_path):
    report = tmp_path / "report.json"
    ran = started(program, "forks", report=str(report))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "child 5 parent 1"
    (other,) = tmp_path.glob("report.json.*")
    assert json.loads(report.read_text())["launches"] == 2
    assert json.loads(other.read_text())["launches"] == 1


@pytest.mark.oracle
def test_threads_and_children_that_make_the_first_call_together(program):
    for _ in range(2):
        ran = started(program, "races")
        assert (ran.stdout.splitlines()[-1], ran.stderr, ran.returncode) == ("threads 12 children 3", "", 0)


@pytest.mark.oracle
def test_exit_in_a_thread_keeps_its_code(program, tmp_path):
    ran = started(program, "exit", report=os.path.relpath(tmp_path / "report.json"))
    assert ran.returncode == 3
    assert json.loads((tmp_path / "report.json").read_text())["launches"] == 1


@pytest.mark.oracle
@pytest.mark.parametrize(("part", "code"), [("stray", ""), ("stale", "77"), ("stray", "0")])
def test_findings_decide_the_exit_code(program, part, code):
    ran = started(program, part, **({"exit_code": code} if code else {}))
    assert ran.returncode == int(code or 1)
    line, last = ran.stderr.splitlines()
    assert last == "mfmasim: next: mfmasim explain bounds-outside-buffer"
    assert "program.hip" in line
    assert "outside every buffer" in line
    assert bool(re.search(r"byte 0 of hipMalloc \d+ \(64 bytes\), which was freed", line)) == (part == "stale")
    assert ran.stdout == ("hipErrorIllegalAddress\n" if part == "stray" else "")


@pytest.mark.oracle
def test_a_program_for_another_architecture_says_so(program):
    ran = started(program, "stale", arch="gfx1201")
    first, second, last = ran.stderr.splitlines()
    assert "no code for gfx1201" in first
    assert "error launch-failed program.hip" in second
    assert "failed with hipErrorNoBinaryForGpu, and the program never asked" in second
    assert last == "mfmasim: next: mfmasim explain launch-failed"
    assert ran.returncode == 1


@pytest.mark.oracle
def test_where_a_nan_was_made_is_printed_and_changes_no_exit_code(tmp_path):
    clang()
    (tmp_path / "norm.hip").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void norm(float *out, const float *x) {\n"
        "  out[threadIdx.x] = 1.0f - __builtin_amdgcn_rcpf(x[threadIdx.x]);\n}\n"
        "int main() {\n  float h[64] = {1, 2, 0, 4}, *a;\n  (void)hipMalloc((void **)&a, sizeof h);\n"
        "  (void)hipMemcpy(a, h, sizeof h, hipMemcpyHostToDevice);\n  norm<<<1, 4>>>(a, a);\n"
        "  return hipDeviceSynchronize();\n}\n"
    )
    hipcc("norm.hip", "-o", "norm", cwd=tmp_path)
    ran = started(tmp_path / "norm", checks="numerics:origin", report=str(tmp_path / "report.json"))
    (whole,) = [line for line in ran.stderr.splitlines() if "is made by" in line]
    line = whole.replace(f"{tmp_path}/", "")
    assert "info numerics-origin norm.hip:3: Inf is made by v_rcp_f32" in line
    assert line.endswith(" [v_rcp_f32, workgroup (0, 0, 0), wave 0, lane 2]")
    assert "byte 8 of hipMalloc 1 hold it; from there: v_sub_f32 (norm.hip:3), global_store_dword (norm.hip:3)" in line
    found = json.loads((tmp_path / "report.json").read_text())
    assert (ran.returncode, found["findings"]) == (0, [])
    assert whole.removeprefix("mfmasim: ") in [Finding.of_record(one).line() for one in found["remarks"]]


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["/nowhere/libpython.so", "libpython"])
def test_a_missing_libpython_is_named(program, name):
    ran = started(program, "stray", libpython=name)
    assert ran.returncode == 9
    assert "needs Python in this program: " in ran.stderr
    assert name in ran.stderr
    assert "the simulated HIP runtime could not be started" in ran.stdout


@pytest.mark.oracle
def test_objects_are_linked_and_run_without_the_command(tmp_path):
    clang()
    (tmp_path / "part.cpp").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void two(int *out) { *out = 2; }\n"
        "void launch(int *out) { hipLaunchKernelGGL(two, 1, 1, 0, 0, out); }\n"
    )
    (tmp_path / "main.c").write_text(
        "#include <hip/hip_runtime_api.h>\nvoid launch_c(int *);\nint main(void) {\n  int *out, value = 0;\n"
        "  hipMalloc((void **)&out, 4);\n  launch_c(out);\n"
        "  hipMemcpy(&value, out, 4, hipMemcpyDeviceToHost);\n  return value;\n}\n"
    )
    (tmp_path / "glue.cc").write_text('void launch(int *);\nextern "C" void launch_c(int *out) { launch(out); }\n')
    for name in ("part.cpp", "main.c", "glue.cc"):
        hipcc("-c", name, cwd=tmp_path)
    hipcc("part.o", "main.o", "glue.o", "-o", "linked", cwd=tmp_path)
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("MFMASIM_HIPRT", "LD_LIB"))}
    assert subprocess.run([tmp_path / "linked"], env=bare, check=False).returncode == 2


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("kind", ["make", "cmake"])
def test_the_examples_are_built_and_run(tmp_path, kind):
    clang()
    require(kind, shutil.which(kind) is not None, f"apt install {kind}")
    place = Path(hipcc("--print-root").stdout.strip())
    shutil.copytree(EXAMPLES, tmp_path / "programs")
    folder = tmp_path / "programs" / kind
    if kind == "make":
        commands = [["make", f"HIPCC={place}/bin/hipcc", "check"]]
    else:
        chosen = {"COMPILER": place / "bin" / "clang++", "COMPILER_ROCM_ROOT": place}
        commands = [
            ["cmake", *(f"-DCMAKE_HIP_{name}={path}" for name, path in chosen.items()), "."],
            ["make", "all", "test"],
        ]
    for one in commands:
        ran = subprocess.run(one, cwd=folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 of 1000 wrong" in ran.stdout or "100% tests passed" in ran.stdout


@pytest.mark.oracle
@pytest.mark.long
def test_a_library_that_python_loads(tmp_path):
    """Its destructors run after the end of Python, and call the runtime."""
    clang()
    (tmp_path / "a.hip").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int *out) { *out *= 3; }\n"
        'extern "C" int triple(int x) {\n  int *out;\n  (void)hipMallocManaged(&out, 4);\n  *out = x;\n'
        "  k<<<1, 1>>>(out);\n  (void)hipDeviceSynchronize();\n  return *out;\n}\n"
    )
    hipcc("-fPIC", "--shared", "a.hip", "-o", "liba.so", cwd=tmp_path)
    code = f"import ctypes; print(ctypes.CDLL({str(tmp_path / 'liba.so')!r}).triple(5))"
    ran = started(sys.executable, "-c", code)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "15\n", "")


@pytest.mark.oracle
def test_the_folder_is_one_that_mlir_links_with():
    clang()
    place = Path(hipcc("--print-root").stdout.strip())
    assert (place / "llvm" / "bin" / "ld.lld").is_file()
    assert not list((place / "amdgcn" / "bitcode").glob("*.bc"))
    assert (place / "amdgcn" / "bitcode").is_dir()


@pytest.mark.oracle
@pytest.mark.long
def test_device_code_is_linked_over_files(tmp_path):
    clang()
    (tmp_path / "a.hip").write_text("#include <hip/hip_runtime.h>\n__device__ int triple(int x) { return 3 * x; }\n")
    (tmp_path / "b.hip").write_text(
        "#include <hip/hip_runtime.h>\n__device__ int triple(int);\n"
        "__global__ void k(int *out) { *out = triple(*out); }\n"
        "int main() {\n  int *out;\n  (void)hipMallocManaged(&out, 4);\n  *out = 5;\n  k<<<1, 1>>>(out);\n"
        "  (void)hipDeviceSynchronize();\n  return *out;\n}\n"
    )
    hipcc("-fgpu-rdc", "-c", "a.hip", "b.hip", cwd=tmp_path)
    hipcc("-fgpu-rdc", "a.o", "b.o", "-o", "linked", cwd=tmp_path)
    assert started(tmp_path / "linked").returncode == 15


@pytest.mark.oracle
def test_command_lines():
    tool = clang()

    def words(*arguments):
        made = command(arguments, tool)
        return made[made.index("--end-no-unused-arguments") + 1 :]

    assert words("-c", "a.cpp")[:4] == ["-c", "-x", "hip", "a.cpp"]
    assert words("a.hip", "b.o", "-lm")[:6] == ["-x", "hip", "a.hip", "-x", "none", "b.o"]
    assert words("-c", "-o", "a.cpp", "x.c") == ["-c", "-o", "a.cpp", "-x", "c", "x.c"]
    assert words("-xc++", "-c", "a.cpp") == ["-xc++", "-c", "a.cpp"]
    full = command(["--offload-arch=gfx950", "--amdgpu-target=gfx1100,gfx942", "-O1", "-g", "a.o"], tool)
    assert [word for word in full if word.startswith("--offload-arch")] == [
        "--offload-arch=gfx950",
        "--offload-arch=gfx1100",
        "--offload-arch=gfx942",
    ]
    assert "-O3" not in full
    assert "-lamdhip64" in full
    assert "-lamdhip64" not in command(["-c", "a.cpp"], tool)
    assert "--offload-device-only" in command(["--genco", "a.hip"], tool)
    assert clang_command(["-c", "a.cpp"], tool)[-2:] == ["-c", "a.cpp"]
    assert "-nogpulib" in clang_command(["-x", "hip", "-c", "a.cpp"], tool)


@pytest.mark.oracle
def test_the_declarations_are_those_of_hip_python():
    try:
        differ = make_api.main(check=True)
    except SystemExit:
        differ = None
    require("hip-python", differ is not None, "pip install -e '.[test]'")
    assert differ == []


@pytest.mark.oracle
def test_products_of_hipblas(tmp_path):
    clang()
    path = tmp_path / "blas"
    hipcc("-Wall", "-Wextra", "-std=c++17", SOURCES / "blas.hip", "-o", path, "-lhipblas")
    ran = started(path, checks="all")
    assert ran.stdout == "4 2 18 8\n2 2\n2 2\n3 7\n72 products, 0 wrong\n", ran.stderr
    assert ran.returncode == 0
    assert len(ran.stderr.splitlines()) == 2  # the two calls that cannot be served
