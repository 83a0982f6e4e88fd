"""Outputs, findings and counts of a launch depend on its input alone: not on the process, its hash seed or its past."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import hashlib, sys
import numpy as np
import mfmasim
from mfmasim.resources import folder

code = folder("golden") / "code"

def told(path, grid, block, args):
    loaded = mfmasim.load(code / path)
    report = mfmasim.device("sim").launch(loaded[loaded.kernels[0]], grid, block, args, checks="all")
    digest = hashlib.sha256(b"".join(a.tobytes() for a in args if isinstance(a, np.ndarray) and a.ndim)).hexdigest()
    lines = [line for one in report.findings for line in one.lines()]
    return digest, lines, list(report.counts.items()), list(report.executed.items()), report.fidelity

def loop():
    return told("bench/valu_loop.gfx942.hsaco", 6, 64, [np.zeros(350, np.uint32), np.int32(3), np.uint32(7)])

def gemm():
    a = np.arange(1 << 12, dtype=np.float32)
    given = [a, a + 1, np.zeros(1 << 10, np.float32), np.int32(64), np.int32(64)]
    return told("bench/tiled_gemm.gfx942.hsaco", 2, 256, given)

first = loop() if sys.argv[1] == "loop" else None
print(gemm())
print(first or loop())
assert len((first or loop())[1]) >= 1
"""


def test_a_report_is_the_same_in_every_process():
    texts = set()
    for seed, order in (("0", "loop"), ("1", "gemm"), ("4242", "loop")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", PROGRAM, order]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        texts.add(done.stdout)
    assert len(texts) == 1
    assert "outside" in texts.pop()
