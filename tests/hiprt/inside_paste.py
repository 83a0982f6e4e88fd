"""Run on its own, as ``inside_paste.py CAPTURE [ROWS [reviewed]]``: what becomes of a capture.

ROWS is what ``mfmasim gpu calibrate --replay --json`` wrote; its rows are pasted, as a person would, before
the tables are read. Prints the exit code of a replay, the fidelity of the row and of a launch, and an LDS row.
"""

import json
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

import mfmasim
from mfmasim import lds
from mfmasim.cli import main
from mfmasim.lab.calibration import phase_probes
from mfmasim.matrix import models


def paste(rows, *, reviewed):
    """The rows as they are printed; or with the words that a reviewer writes in their place."""
    for one in rows["fits"]:
        text = one["row"].replace("'assumed'", "'hardware'") if reviewed else one["row"]
        models.MODELS[one["model"]] = eval(text, {"Model": models.Model})
    for one in rows["phases"]:
        (text,) = one["paste"]
        row = eval(text.replace('"unknown"', '"measured"') if reviewed else text)[0]
        known = mfmasim.arch("gfx950").lds
        object.__setattr__(known, "phases", (*(old for old in known.phases if old[0] != row[0]), row))


def show(capture):
    """One line; a launch reports the lowest of its operations, which here are some that the manual specifies."""
    with redirect_stdout(StringIO()):
        code = main(["gpu", "calibrate", "--replay", capture])
    kernel = mfmasim.compile(phase_probes.source(), "gfx950")["probe_fp8"]
    registers = [np.zeros((1, count, 64), np.uint32) for count in (2, 2, 1, 1, 4, 4)]
    report = mfmasim.device("sim").launch(kernel, 1, 64, registers)
    table = lds.phase_table("gfx950", "ds_read_b32")
    op = mfmasim.instruction("gfx950", "v_mfma_f32_16x16x32_fp8_fp8")
    print(code, op.fidelity, report.fidelity, table.lanes, table.banks, table.confidence)


if __name__ == "__main__":
    if sys.argv[2:]:
        paste(json.loads(Path(sys.argv[2]).read_text()), reviewed=sys.argv[3:] == ["reviewed"])
    show(sys.argv[1])
