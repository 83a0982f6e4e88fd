"""Kernels in strings of Python files: what the text is, which lines it has, and that the file is not executed."""

import re

import pytest

import mfmasim
from mfmasim import verify
from mfmasim.errors import MfmasimError
from mfmasim.verify.python_source import extracted

FILE = '''"""A submission."""
import torch

TILE = 64
HEAD = """
#include <torch/extension.h>
#include <cuda_runtime.h>
"""
SOURCE = HEAD + f"#define TILE {TILE}\\n" + r"""
__global__ void add(const float* a, float* c) {
  int i = blockIdx.x * TILE + threadIdx.x;
  c[i] = a[i + SURPLUS] + 1.0f;  // "\\n" stays
}
torch::Tensor launch(torch::Tensor a) {
  TORCH_CHECK(a.is_cuda(), "a tensor of the GPU");
  auto c = torch::empty({a.size(0)}, a.options());
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "add", [&] {
    add<<<a.numel() / TILE, TILE, 0, at::cuda::getCurrentCUDAStream()>>>(a.data_ptr<float>(), c.data_ptr<float>());
  });
  cudaDeviceSynchronize();
  return c;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("launch", &launch); }
"""
JOINED = ("int a;\\n"
          "int b;\\n"
          "int " + "c;")
MADE = SOURCE.replace("a", "b")
EMPTY = ""
raise SystemExit("executed")
'''
CASES = """
from mfmasim.verify import In, Out, case

@case("submission.py::SOURCE", kernel="_Z3addPKfPf", arch="gfx942", flags=["-DSURPLUS={surplus}"])
def add(n=128):
    return dict(grid=n // 64, block=64, args=[In("f32", (n,)), Out("f32", (n,))], expect=lambda a: a + 1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A submission, in a folder of its own with a cache of its own."""
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "submission.py").write_text(FILE)
    return tmp_path


def numbered(path):
    """Lines of an extracted source, by the number that the compiler gives them."""
    found, number = {}, 1
    for line in path.read_text().splitlines():
        directive = re.fullmatch(r'#line (\d+) "submission.py"', line)
        if directive:
            number = int(directive[1])
            continue
        found.setdefault(number, []).append(line)
        number += 1
    return found


@pytest.mark.parametrize("name", ["SOURCE", "JOINED"])
def test_every_line_has_the_number_that_it_has_in_the_file(folder, name):
    """The compiler counts as the Python file does, whatever the text is made of."""
    lines = numbered(extracted(f"submission.py::{name}", folder))
    wanted = dict(enumerate(FILE.splitlines(), 1))
    compared = 0
    for number, texts in lines.items():
        for text in texts:
            if text.strip() and "include" not in text and "#define" not in text and "hipDevice" not in text:
                part = text.removeprefix("int ") if name == "JOINED" else text
                assert part.strip() in wanted[number], (number, text)
                compared += 1
    assert compared == {"SOURCE": 13, "JOINED": 3}[name]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("submission.py::MADE", r"submission.py:28: SOURCE.replace\('a', 'b'\) is not worked out"),
        ("submission.py::SOURSE", "unknown name 'SOURSE' in submission.py; did you mean 'SOURCE'"),
        ("submission.py::EMPTY", "EMPTY is empty: nothing to compile"),
        ("missing.py::SOURCE", "missing.py: cannot be read"),
        ("broken.py::SOURCE", "broken.py: not a Python file"),
    ],
)
def test_bad_names_are_one_line(folder, source, message):
    """Each says the value, and what is allowed."""
    (folder / "broken.py").write_text("def")
    with pytest.raises(MfmasimError, match=message) as error:
        extracted(source, folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("surplus", [0, 1])
def test_a_case_names_a_text_and_findings_name_its_lines(folder, surplus):
    """The launcher's names of PyTorch and CUDA are parsed; a read past the end is found at the file's line."""
    (folder / "cases.py").write_text(CASES.replace("{surplus}", str(surplus)))
    (one,) = verify.load_file(folder / "cases.py")
    result = verify.verify_case(one, "gfx942")
    bounds = [finding.source for finding in result.findings if finding.id == "bounds-outside-buffer"]
    assert result.status == ("fail" if surplus else "pass"), result.findings
    assert bounds == (["submission.py:12"] if surplus else [])


def test_a_kernel_of_several_types_is_compiled_for_each(tmp_path):
    """The dispatch of PyTorch instantiates the kernel that a launcher names."""
    source = tmp_path / "a.hip"
    source.write_text(
        "#include <mfmasim/torch_names.h>\n"
        "template <class T> __global__ void f(T* a) { a[0] = static_cast<T>(float(a[0]) + 1.f); }\n"
        "void run(at::Tensor a) {\n"
        '  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "f",\n'
        "                                  [&] { f<<<1, 1>>>(a.data_ptr<scalar_t>()); });\n}\n"
    )
    assert len(mfmasim.compile(source, arch="gfx942").kernels) == 4
