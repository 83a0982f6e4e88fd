"""%%hip in a notebook: compile and show, run on the notebook's arrays, grade."""

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.learn import exercise
from mfmasim.learn.magics import hip
from mfmasim.program import Kernel

DOUBLE = """#include <hip/hip_runtime.h>
extern "C" __global__ void twice(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
"""


def test_a_cell_is_compiled_and_shown():
    names = {}
    (kernel,) = hip("--arch gfx950 --name mine", DOUBLE, names)
    assert isinstance(kernel, Kernel)
    assert names["mine"].arch.name == "gfx950"
    assert "global_load_dword" in kernel._repr_html_()


def test_a_launch_shows_outputs_and_findings():
    names = {"a": np.arange(256, dtype=np.float32), "b": np.zeros(256, np.float32)}
    report, output = hip('--arch gfx950 --launch "4, 64" --args a b 256', DOUBLE, names)
    assert output is names["b"]
    assert (output == 2 * names["a"]).all()
    assert names["report"] is report
    assert report.findings == []
    wrong = DOUBLE.replace("i < n", "true")
    short = {"a": names["a"], "b": np.zeros(200, np.float32)}
    report, _ = hip('--arch gfx950 --launch "(4, 1), 64" --args a b 200', wrong, short)
    assert {finding.id for finding in report.findings} == {"bounds-outside-buffer"}


def test_a_cell_is_graded():
    asked = exercise("load_a")
    assert hip("--exercise load_a", asked.solution, {})[0].startswith("load_a: solved on gfx942")
    text, finding, hint = hip("--exercise load_a", asked.unsolved, {})
    assert text.startswith("load_a: not yet. on gfx942")
    assert finding.id == asked.start
    assert hint.startswith("Hint: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--arch gfx951", "unknown architecture 'gfx951'"),
        ("--arhc gfx950", "%%hip: unrecognized arguments: --arhc gfx950"),
        ("--exercise load", "unknown exercise 'load'"),
        ("--args a b 256", "%%hip: --arch is missing, such as --arch gfx950"),
        ("--arch gfx942 --args c b 256", "unknown argument 'c' among the arrays of the notebook, and not a number"),
        ("--arch gfx942 --launch 4 --args a b 1", "--launch '4': expected workgroups and work-items, such as '4, 256'"),
        ("--arch gfx942 --kernel thrice --args a b 1", "unknown kernel 'thrice' in this cell; --kernel names one"),
    ],
)
def test_bad_input_is_one_line(line, message):
    names = {"a": np.zeros(4, np.float32), "b": np.zeros(4, np.float32)}
    with pytest.raises(MfmasimError) as error:
        hip(line, DOUBLE, names)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_ipython_loads_the_extension(capsys):
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "mfmasim")
    shell.run_cell_magic("hip", "--exercise load_a", exercise("load_a").solution)
    assert "load_a: solved" in capsys.readouterr().out
    shell.run_cell("%%hip --arch gfx951\nint x;")
    said = "".join(capsys.readouterr())
    assert "unknown architecture 'gfx951'" in said
    assert "Traceback" not in said
