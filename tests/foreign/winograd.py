"""Winograd convolutions that MIOpen has as assembly: launched, and compared with NumPy.

``python -m tests.foreign.winograd [--checks all] FILE.co ...`` prints a line for each. The sources are in
``src/kernels/Conv_Winograd_*.s`` of ROCm/MIOpen (2d1fd997a), which clang 22 assembles with
``-mcpu=ARCH:xnack- -Wa,-defsym,ROCM_METADATA_VERSION=5 -Wa,-defsym,FORCE_CACHE_BYPASS_ON_STORE=0`` and, for gfx11,
``-mwavefrontsize64``. The end of a name says what is computed: ``stride2``, or ``dilation2``, the gradient of a
convolution with stride 2: zeros stand between the values of the input.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import mfmasim

FLAGS = 1 << 9 | 1 << 10 | 1 << 14
"""Strides are given, and tensors have offsets (``F_USE_...`` of MIOpen's ``conv_winograd``)."""


def convolution(x: np.ndarray, w: np.ndarray, pad: int, stride: int) -> np.ndarray:
    """A convolution of images (n, c, h, w) with filters (k, c, r, s)."""
    (n, _, height, width), (k, _, r, s) = x.shape, w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    out = np.zeros((n, k, height + 2 * pad - r + 1, width + 2 * pad - s + 1))
    for i in range(r):
        for j in range(s):
            part = padded[:, :, i : i + out.shape[2], j : j + out.shape[3]]
            out += np.einsum("nchw,kc->nkhw", part, w[:, :, i, j])
    return out[:, :, ::stride, ::stride]


def launch(path: Path, checks: Any = "all", c: int = 8, size: int = 12, k: int = 8, pad: int = 1) -> tuple[float, Any]:
    """The largest difference, as a part of the largest result, and the report."""
    code = mfmasim.load(path)
    kernel = code[code.kernels[0]]
    rng = np.random.default_rng(1)
    kind: Any = np.float16 if "fp16" in path.name else np.float32
    x = rng.integers(-2, 3, (1, c, size, size)).astype(kind)
    w = rng.integers(-2, 3, (k, c, 3, 3)).astype(kind)
    wide = x.astype(float)
    if "dilation2" in path.name:
        wide = np.zeros((1, c, 2 * size - 1, 2 * size - 1))
        wide[:, :, ::2, ::2] = x
    want = convolution(wide, w.astype(float), pad, 2 if "stride2" in path.name else 1)
    out = np.zeros(want.shape, kind)
    rows, columns = out.shape[2:]
    values: dict[str, Any] = {
        "BATCHSIZE": 1,
        "C": c,
        "H": size,
        "W": size,
        "K": k,
        "n_groups": 1,
        "flags": FLAGS,
        "in": x,
        "weights": w,
        "out": out,
        "R": 3,
        "S": 3,
        "pad_h": pad,
        "pad_w": pad,
        "out_h": rows,
        "out_w": columns,
        "G": 1,
        "alpha": np.float32(0),
        "beta": np.float32(0),
    }
    for name, axes, shape in (("d", "NCHW", x.shape), ("f", "KCRS", w.shape), ("o", "NKHW", out.shape)):
        sizes = np.cumprod([x.itemsize if "_v21_" in path.name else 1, *shape[:0:-1]])[::-1]
        values |= {f"{name}_{axis}_stride": int(step) for axis, step in zip(axes, sizes, strict=True)}
        values[f"{name}_G_stride"] = int(sizes[0]) * shape[0]
    given = {arg.name: values.get(arg.name, None if arg.is_pointer else bytes(arg.size)) for arg in kernel.args}
    block = kernel.info.metadata.max_flat_workgroup_size
    report = mfmasim.device("sim").launch(kernel, 1, block, given, checks=checks)
    return float(np.abs(out - want).max() / np.abs(want).max()), report


def main() -> int:
    """Print a line for each code object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--checks", default="all")
    args = parser.parse_args()
    for path in args.files:
        begun = time.process_time()
        try:
            off, report = launch(path, args.checks)
        except Exception as error:  # noqa: BLE001 one line for each file
            print(f"{path.stem} {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        found = Counter((one.severity, one.id) for one in report.findings if one.severity != "info")
        print(f"{path.stem} {off:.1e} {time.process_time() - begun:.1f} s {dict(found)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
