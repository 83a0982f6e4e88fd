"""A product and an attention that IREE's compiler writes for an AMD GPU: python -m tests.foreign.iree IREE_COMPILE.

``pip install iree-base-compiler`` brings the compiler, which needs neither a GPU nor ROCm. Each dispatch is launched
under all checks; the product is exact, attention has a tolerance.
"""

import argparse
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mfmasim

ARCHITECTURES = ("gfx942", "gfx950", "gfx1201")
M, N, K = 256, 128, 512
HEADS, ROWS, SIZE = 2, 128, 64
PRODUCT = f"""
func.func @product(%a: tensor<{M}x{K}xf16>, %b: tensor<{K}x{N}xf16>) -> tensor<{M}x{N}xf32> {{
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<{M}x{N}xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%room : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  %c = linalg.matmul ins(%a, %b : tensor<{M}x{K}xf16>, tensor<{K}x{N}xf16>)
      outs(%zeros : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  return %c : tensor<{M}x{N}xf32>
}}
"""
_TENSOR = f"tensor<{HEADS}x{ROWS}x{SIZE}xf16>"
_MAPS = ", ".join(f"affine_map<(h, m, n, k, p) -> ({of})>" for of in ("h, m, k", "h, n, k", "h, n, p", "", "h, m, p"))
ATTENTION = f"""
func.func @attention(%q: {_TENSOR}, %k: {_TENSOR}, %v: {_TENSOR}) -> {_TENSOR} {{
  %scale = arith.constant {SIZE**-0.5} : f16
  %room = tensor.empty() : {_TENSOR}
  %o = iree_linalg_ext.attention <{{indexing_maps = [{_MAPS}]}}>
      ins(%q, %k, %v, %scale : {_TENSOR}, {_TENSOR}, {_TENSOR}, f16) outs(%room : {_TENSOR}) {{
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  }} -> {_TENSOR}
  return %o : {_TENSOR}
}}
"""
TEXTS = {"product": PRODUCT, "attention": ATTENTION}


def compiled(compiler, text, arch, folder):
    """Compile a function of one dispatch.

    Returns:
        Its code object, and the tile of a workgroup.
    """
    source = Path(folder, "given.mlir")
    source.write_text(text)
    options = ["--iree-hal-target-device=hip", f"--iree-rocm-target={arch}"]
    dump = f"--iree-hal-dump-executable-files-to={folder}"
    subprocess.run([compiler, *options, dump, source, "-o", Path(folder, "made.vmfb")], check=True)
    (binary,) = Path(folder).glob("*.hsaco")
    (configured,) = Path(folder).glob("configured_*.mlir")
    tile = re.search(r"workgroup = \[([0-9, ]*)\]", configured.read_text())
    return mfmasim.load(binary), [int(size) for size in tile[1].split(",")]


def right(name, code, tile):
    """Launch a kernel on drawn operands; whether it is right, and the report."""
    draw = np.random.default_rng(1)
    kernel = code[code.kernels[0]]
    block = tuple(kernel.info.metadata.reqd_workgroup_size)
    device = mfmasim.device("sim")
    if name == "product":
        a, b = (draw.integers(-4, 5, shape).astype(np.float16) for shape in ((M, K), (K, N)))
        c = np.zeros((M, N), np.float32)
        grid = math.prod(-(-size // part) for size, part in zip((M, N), tile, strict=False) if part)
        report = device.launch(kernel, grid, block, [a, b, c], checks="all")
        return bool((c == a.astype(np.float64) @ b.astype(np.float64)).all()), report
    q, k, v = (draw.standard_normal((HEADS, ROWS, SIZE)).astype(np.float16) for _ in range(3))
    o = np.zeros_like(q)
    sizes = zip((HEADS, ROWS, ROWS, SIZE, SIZE), tile, strict=False)
    grid = math.prod(-(-size // part) for size, part in sizes if part)
    report = device.launch(kernel, grid, block, [q, k, v, o], checks="all")
    scores = np.einsum("hmk,hnk->hmn", *(one.astype(np.float64) for one in (q, k))) * SIZE**-0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (weights / weights.sum(-1, keepdims=True)) @ v.astype(np.float64)
    return bool(np.allclose(o.astype(np.float64), expected, atol=4e-3, rtol=4e-3)), report


def main():
    """Compile and run all; the exit code is the number of those that are not right or have findings."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("compiler", help="path of iree-compile")
    given = parser.parse_args()
    bad = 0
    for arch in ARCHITECTURES:
        for name, text in TEXTS.items():
            with tempfile.TemporaryDirectory() as folder:
                code, tile = compiled(given.compiler, text, arch, folder)
                begin = time.process_time()
                good, report = right(name, code, tile)
            print(f"{arch} {name}: right {good}, {time.process_time() - begin:.1f} s, tile {tile}")
            for finding in report.findings:
                if finding.severity != "info":
                    print("  ", finding.line())
            bad += not good or not report.ok
    return bad


if __name__ == "__main__":
    sys.exit(main())
