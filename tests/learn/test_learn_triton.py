"""The layout that the exercise `triton_layout` prints is the one that Triton has."""

import re
import subprocess
import sys

import pytest

from mfmasim.learn import exercise
from tests.oracles import require
from tests.triton.needs import HAVE

PROGRAM = """
from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon.language.amd import AMDMFMALayout
context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
layout = AMDMFMALayout(version=3, instr_shape=[32, 32, 8], transposed=True, warps_per_cta=[2, 2])
found = builder.to_linear_layout(layout._to_ir(builder), [64, 64])
print([found.reg_bases, found.lane_bases, found.warp_bases])
"""


@pytest.mark.long
@pytest.mark.oracle
def test_the_layout_is_tritons():
    require("triton", HAVE, "pip install triton torch")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    printed = re.findall(r"^(?:register|lane|warp) +?= (\[\[.*\]\])$", exercise("triton_layout").text, re.MULTILINE)
    assert done.stdout.splitlines()[0] == f"[{', '.join(printed)}]"
    assert all(line in exercise("triton_layout").solution for line in printed)
