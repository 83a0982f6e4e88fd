"""Device code that prints through calls to the host, as AMD's hipcc and Triton compile printf, loaded by programs."""

import importlib.util

import pytest

from tests.hiprt.compiled import SOURCES, clang, hipcc, started
from tests.hiprt.inside import run
from tests.oracles import require

pytestmark = pytest.mark.oracle
ARCH = "gfx942"
EXPECTED = sorted(
    f"pid ({pid}, 0, 0) idx ({i:>2}) it is: (operand {operand}) {text}"
    for pid in (0, 1)
    for i in range(64)
    for operand, text in ((0, f"{3 * i}"), (1, f"{i / 2:f}"))
)
PROGRAM = """
import ctypes, sys
import numpy as np
from hip import hip

def check(answer):
    assert answer[0] == 0, answer
    return answer[1] if len(answer) == 2 else None

values = np.arange(64, dtype=np.int32) * 3
kernel = check(hip.hipModuleGetFunction(check(hip.hipModuleLoad(sys.argv[1].encode())), sys.argv[2].encode()))
data = check(hip.hipMalloc(values.nbytes))
check(hip.hipMemcpy(data, values, values.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
print("before")
given = (ctypes.c_void_p(int(data)), ctypes.c_void_p(0), ctypes.c_void_p(0))
check(hip.hipModuleLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, None, None, given))
check(hip.hipDeviceSynchronize())
print("after")
"""


@pytest.fixture(scope="module")
def printing(tmp_path_factory):
    """A code object and its kernel's name."""
    require("triton", importlib.util.find_spec("triton") is not None, "pip install --group oracles")
    from mfmasim.triton import compile as triton_compile
    from tests.triton import kernels

    code = triton_compile(kernels.says, {"x": "*i32"}, {"B": 64}, ARCH, num_warps=1)
    kernel = code[code.metadata.name]
    assert any(arg.value_kind == "hidden_hostcall_buffer" for arg in kernel.info.hidden_args)
    assert [arg.size for arg in kernel.args] == [8, 8, 8]
    path = tmp_path_factory.mktemp("printing") / "says.hsaco"
    path.write_bytes(code.object.data)
    return path, kernel.name


def judge(text):
    first, *lines, last = text.splitlines()
    assert (first, last) == ("before", "after")
    assert sorted(lines) == EXPECTED


def test_a_program_with_hip_python_prints(printing, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    judge(run(tmp_path / "program.py", *printing, MFMASIM_HIPRT_ARCH=ARCH).stdout)


def test_a_program_in_cpp_prints(printing, tmp_path):
    clang()
    hipcc("-Wall", "-Wextra", SOURCES / "printing.hip", "-o", tmp_path / "program")
    ran = started(tmp_path / "program", *printing, arch=ARCH)
    assert ran.returncode == 0, ran.stderr
    judge(ran.stdout)
