"""Implicit GEMM convolutions that MIOpen has as assembly: assembled, launched, and compared with NumPy.

``python -m tests.foreign.igemm [--checks all] [--arch gfx942] [--stride 2] SOURCE.s ...`` prints a line for each kernel
of the sources in ``src/kernels/dynamic_igemm`` of ROCm/MIOpen (2d1fd997a), which clang 22 assembles. Comments of a
source name its tile (``igemm_codegen.py``). Arguments, grid and what a problem has to divide by: the host code,
``impl_gemm_dynamic.cpp`` and ``conv_asm_implicit_gemm_*.cpp``.

Three directions: ``fwd``, the convolution; ``bwd``, the gradient of its input; ``wrw``, the gradient of its filter.
``in``, ``wei`` and ``out`` are those of the convolution in all three.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from math import gcd, lcm
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import mfmasim
from mfmasim.toolchain import find_compiler

TYPES: dict[str, Any] = {"fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16}
SYMBOLS = {"ROCM_METADATA_VERSION": 5, "force_sc0_sc1": 0, "atomic_add_using_cas": 0, "igemm_fwd_fp16_alt_impl": 0,
           "igemm_bwd_fp16_alt_impl": 0, "igemm_wrw_fp16_alt_impl": 0}  # fmt: skip
"""What MIOpen defines for the assembler."""
ARCHS = {"gtcx_": "gfx908", "gtcx2_": "gfx90a", "gtcx3_": "gfx942"}
"""Architecture of a kernel's generation; older ones, with VALU alone, are for gfx906."""


def up(number: int, of: int) -> int:
    """The next multiple."""
    return -(-number // of) * of


@dataclass(frozen=True)
class Tile:
    """What the generator's comments state of a kernel."""

    name: str
    direction: str
    precision: str = "fp32"
    layout: str = "nchw"
    block: tuple[int, int, int] = (0, 0, 0)
    a: tuple[int, ...] = (1, 1, 1, 1)
    b: tuple[int, ...] = (1, 1, 1, 1)
    a_cluster: tuple[int, ...] = (1, 1, 1, 1)
    b_cluster: tuple[int, ...] = (1, 1, 1, 1)
    values: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> int:
        """A value that the comments have, or 0."""
        return self.values.get(name, 0)


@dataclass(frozen=True)
class Shape:
    """A convolution: images (n, c, hi, wi), filters (k, c, y, x)."""

    n: int
    c: int
    k: int
    hi: int
    wi: int
    y: int = 1
    x: int = 1
    pad: int = 0
    stride: int = 1

    @property
    def ho(self) -> int:
        """Rows of the result."""
        return (self.hi + 2 * self.pad - self.y) // self.stride + 1

    @property
    def wo(self) -> int:
        """Columns of the result."""
        return (self.wi + 2 * self.pad - self.x) // self.stride + 1


def tiles(text: str) -> list[Tile]:
    """The kernels of a source."""
    found = [_generated(part) for part in text.split("; starting of kernel ")[1:] if "; tensor_layout" in part[:400]]
    return found or [_older(name) for name in re.findall(r"\.amdhsa_kernel +(igemm_(?:v4r1|bwd_gtc)\w*)", text)]


def _generated(part: str) -> Tile:
    pairs = dict(re.findall(r"^; (\w+) +: '?([^'\n]+?)'?$", part[:3000], re.MULTILINE))
    lists = {key: tuple(map(int, re.findall(r"\d+", text))) for key, text in pairs.items() if text.startswith("[")}
    values = {key: int(text) for key, text in pairs.items() if text.isdigit()}
    sizes = (values["gemm_m_per_block"], values["gemm_n_per_block"], values["gemm_k_per_block"])
    lengths = [lists[f"tensor_{name}_lengths"] for name in ("a_thread", "b_thread", "a_cluster", "b_cluster")]
    kinds = pairs["direction"], pairs["precision"], pairs["tensor_layout"]
    return Tile(part.split(maxsplit=1)[0], *kinds, sizes, *lengths, values)


def _older(name: str) -> Tile:
    """A kernel of ``igemm_v4r1_*.s`` and ``igemm_bwd_gtc_dynamic.s``: its name has all, or it is the general one."""
    sizes = re.search(r"(\d+)x(\d+)x(\d+)", name)
    block = tuple(map(int, sizes.groups())) if sizes else (128, 128, 16)
    direction = "bwd" if name.startswith("igemm_bwd") else "wrw" if "_wrw_" in name else "fwd"
    unit = "_1x1_" in name or (direction == "bwd" and sizes is not None)
    repeat = 2 * int(name.split("_")[-3].split("x")[3]) if "v4r1" in name else 1
    return Tile(name, direction, block=block, values={"nxe": not unit, "older": 1, "repeat": repeat})  # type: ignore[arg-type]


def shape(tile: Tile, stride: int) -> Shape:
    """A small problem that a kernel takes; with what MIOpen requires, and no more where it pads."""
    m, n, k = tile.block
    filters = {"y": 3, "x": 3, "pad": 1, "stride": stride} if tile["nxe"] else {}
    nxb = max(tile["nxb"], 1)
    if tile["older"]:
        return _older_shape(tile, filters)
    if tile.layout == "nhwc":
        side = 7 * filters.get("stride", 1)
        vector = gcd(n, tile["vector_store"] or 8) if tile.precision != "fp32" else 1
        if tile.direction == "wrw":
            return Shape(2, up(max(n // 9, 1) + 1, tile.b[3]), up(max(m * 3 // 4, 1), tile.a[3]), 6, 6, **filters)
        whole = k << tile["gemm_k_global_split"]
        padded = tile.a[1] == 1 and (tile.b[1] == 1 if tile.direction == "fwd" else tile["merge_e"] == 1)
        deep = 6 if padded else whole
        if padded and tile["gemm_k_global_split"]:
            deep = whole
        wide = up(max(n * 3 // 4, 1), lcm(vector, 2))
        channels = (deep, wide) if tile.direction == "fwd" else (wide, deep)
        return Shape(2, *channels, side, side, **filters)
    if tile.direction == "wrw":
        flat = {"y": 3, "x": 3, "pad": 0} if filters and tile.b[1] > 1 else filters | {"stride": 1}
        rows, columns = max(k // 8, 1), lcm(8, tile.b[1])
        grow = 2 if flat.get("pad") == 0 and filters else 0
        flat = flat if filters else {}
        return Shape(2, n, m, rows + grow, columns + grow, **flat)
    if max(tile.b[1] if tile.direction == "fwd" else 1, tile.a[3] if tile.direction == "bwd" else 1) > 1:
        filters = {}
    area = lcm(nxb, tile.b[3] if tile.direction == "bwd" else 1)
    rows = 1 << (area.bit_length() - 1) // 2
    side = (rows, area // rows) if not filters else (rows * stride, area // rows * stride)
    channels = (k, m) if tile.direction == "fwd" else (m, k)
    return Shape(n // nxb, *channels, *side, **filters)


def _older_shape(tile: Tile, filters: dict[str, int]) -> Shape:
    m, n, k = tile.block
    filters = filters | {"stride": 1} if filters else {}
    if tile.direction == "fwd":
        return Shape(tile["repeat"], k, m, 4, n // tile["repeat"] // 4 or 1, **filters)
    if tile.direction == "wrw":
        images, rows = (4, 2) if tile.name.endswith("_16x16") else (2, 4)
        return Shape(images, n, m, rows, 4, **filters)
    square = "8x1x1x32x1" in tile.name or "_bt" not in tile.name
    images, side = (n // 16, 4) if square else (n, 1)
    return Shape(images, m, k, side, side, **filters)


def magic(divisor: int) -> tuple[int, int]:
    """Multiplier and shift by which a kernel divides."""
    shift = (divisor - 1).bit_length()
    return ((1 << 32) * ((1 << shift) - divisor)) // divisor + 1 & 0xFFFFFFFF, shift


def magics(divisors: list[int]) -> dict[str, int]:
    """Arguments by which a kernel divides; 0 stands for none."""
    pairs = [magic(divisor) if divisor else (0, 0) for divisor in divisors]
    values = {f"magic_{index}": value for index, (value, _) in enumerate(pairs)}
    for index in range(2):
        part = [shift for _, shift in pairs[4 * index : 4 * index + 4]]
        values[f"shift_pack_{index}"] = sum(shift << 8 * place for place, shift in enumerate(part))
    return values


@dataclass
class Launch:
    """Grid in workgroups, and arguments by name."""

    grid: tuple[int, int, int]
    values: dict[str, int]


def _plain(one: Shape) -> dict[str, int]:
    values = {name: getattr(one, name) for name in ("n", "c", "k", "hi", "wi", "ho", "wo", "y", "x")}
    for side in "hw":
        values |= {f"stride_{side}": one.stride, f"dilation_{side}": 1, f"pad_{side}": one.pad}
    return values | {"group": 1}


def _parts(tile: Tile, area: int) -> int:
    """NCHW: columns of the GEMM that a workgroup's images have, by which the kernel divides."""
    rest = tile.block[1] // tile["nxb"] // (tile.b_cluster[2] * tile.b[2])
    return area * rest // (tile.b_cluster[3] * tile.b[3])


def forward(tile: Tile, one: Shape) -> list[Launch]:
    """``MakeImplGemmDynamicForward...InvokerFactory``."""
    m, n, k = tile.block
    values = _plain(one)
    if tile["older"]:
        return [Launch((one.n * one.ho * one.wo // n * (one.k // m), 1, 1), values)]
    if tile.layout == "nchw":
        area = up(one.ho * one.wo, tile["nxb"]) if tile["nxe"] else one.ho * one.wo
        columns = one.n * area
        rows = up(one.k, m)
        divisors = [rows // m, _parts(tile, area), one.y * one.x, one.x, area, one.wo, columns * rows // (m * n)]
        values |= magics(divisors)
        return [Launch((rows // m * -(-columns // n), 1, 1), values)]
    rows, columns = -(-one.n * one.ho * one.wo // m), -(-one.k // n)
    divisors = [columns, one.ho * one.wo, one.wo, rows * columns]
    if tile["merge_e"]:
        divisors += [one.x * one.c, one.c]
        values["y"] |= k // (one.x * one.c) % one.y << 24
        values["x"] |= k // one.c % one.x << 24
        values["c"] |= k % one.c << 24
    else:
        divisors += [1, 1]
    values |= magics(divisors) | {"gemm_k_split": tile["gemm_k_global_split"]}
    return [Launch((rows * columns << tile["gemm_k_global_split"], 1, 1), values)]


def backward(tile: Tile, one: Shape) -> list[Launch]:
    """``MakeImplGemmDynamicBackwardData...InvokerFactory``: a launch by remainder of the stride, or one for all."""
    m, n, _ = tile.block
    step = one.stride
    tall, wide = (size + (filters + step - 2) // step for size, filters in ((one.ho, one.y), (one.wo, one.x)))
    left = max(0, one.pad - (step - 1)) // step
    high = min(tall, (one.pad + one.hi - 1 + step - 1) // step + 1) - left
    long = min(wide, (one.pad + one.wi - 1 + step - 1) // step + 1) - left
    values = _plain(one) | {"dtile_dy": 1, "dtile_dx": 1, "dtile_y": step, "dtile_x": step}
    values |= {"dslice_h": high, "dslice_w": long, "dslice_h_left": left, "dslice_w_left": left}
    if tile.layout == "nhwc":
        rows, columns = -(-one.n * high * long // m), -(-one.c // n)
        divisors = [columns, columns * rows, long if tile["nxe"] else one.wi, high * long]
        several = step * step > 1
        by_x, by_y, by_all = magic(step), magic(step), magic(rows * columns)
        values |= magics(divisors) | {"ks": tile["gemm_k_global_split"]}
        values |= dict(zip(("dtile_iy", "dtile_ix"), by_x if several else (0, 0), strict=True))
        values |= dict(zip(("dslice_y", "dslice_x"), by_y if several else (one.y, one.x), strict=True))
        values |= dict(zip(("dtile_h", "dtile_w"), by_all if several else (tall, wide), strict=True))
        parts = step * step if "_mh" in tile.name else 1
        return [Launch((rows * columns * parts << tile["gemm_k_global_split"], 1, 1), values)]
    area = high * long if tile["older"] or not tile["nxe"] else up(high * long, tile["nxb"])
    dot = -(-one.y // step), -(-one.x // step)
    grid = (-(-one.c // m) * -(-one.n * area // n), 1, 1)
    launches = []
    for index in range(step * step):
        at = index // step, index % step
        cut = [d if (i + 1) * d <= size else size % d for d, i, size in zip(dot, at, (one.y, one.x), strict=True)]
        if not cut[0] * cut[1]:
            continue
        given = values | {"dtile_iy": at[0], "dtile_ix": at[1], "dtile_h": tall, "dtile_w": wide}
        given |= {"dslice_y": cut[0], "dslice_x": cut[1]}
        if not tile["older"]:
            columns = one.n * area
            tiles_all = one.c * columns // (m * n)
            given |= magics([cut[0] * cut[1], cut[1], tiles_all, columns // n, _parts(tile, area), area, long])
        launches.append(Launch(grid, given))
    return launches


def weights(tile: Tile, one: Shape) -> list[Launch]:
    """``ComputeDynamicIGemmWrwKernelArgs...``."""
    m, n, k = tile.block
    values = _plain(one)
    if tile["older"]:  # a convolution of x with dy, whose filter is the image of dy: the names are those of that
        names = {"n": one.c, "c": one.n, "ho": one.y, "wo": one.x, "y": one.ho, "x": one.wo}
        parts = _older_parts(tile, one)
        grid = (one.k // m * (one.c * one.y * one.x // n) << parts, 1, 1)
        return [Launch(grid, values | names | {"k_gemmk_groups": parts})]
    if tile.layout == "nchw":
        parts = tile["gemm_k_global_split"]
        area = up(one.ho * one.wo, tile["nxb"])
        values |= {"gemm_k_global_split": parts, "_pack_0": -(-area // one.wo) if area <= k else one.ho}
        return [Launch((-(-one.k // m) * -(-one.c * one.y * one.x // n) << parts, 1, 1), values)]
    padded = up(one.c, tile.b[3]) * one.y * one.x
    least, step = (tile.a[1], tile.a_cluster[1]) if tile["nxe"] else (1, k)
    depth = -(-one.n // least) * one.ho * one.wo
    each = up(-(-depth // (3 if tile["gemm_k_global_split"] else 1)), step)
    parts = -(-depth // each)
    values |= {"gemm_k_global_split": parts, "_pack_0": each}
    return [Launch((-(-one.k // m) * -(-padded // n), 1, parts), values)]


def _older_parts(tile: Tile, one: Shape) -> int:
    """``GetImplicitGemmWrwV4R1DynamicGemmkGroups``."""
    depth, parts = one.n * one.ho * one.wo, 1
    for index in range(6):
        if one.n % (1 << index) or depth % ((one.n >> index) * tile.block[2]):
            break
        parts = index
    return parts


def slices(one: Shape) -> Any:
    """For each place of a filter: its row and column, and the padded image's pixels that it meets."""
    for i in range(one.y):
        for j in range(one.x):
            rows = slice(i, i + one.stride * (one.ho - 1) + 1, one.stride)
            yield i, j, rows, slice(j, j + one.stride * (one.wo - 1) + 1, one.stride)


def numpy_result(direction: str, one: Shape, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What a direction computes, from arrays in NCHW."""
    image, filters, out = (arrays[name].astype(float) for name in ("in", "wei", "out"))
    around = ((0, 0), (0, 0), (one.pad, one.pad + one.stride), (one.pad, one.pad + one.stride))
    padded = np.pad(image, around)
    result = np.zeros_like({"fwd": out, "bwd": padded, "wrw": filters}[direction])
    for i, j, rows, columns in slices(one):
        if direction == "fwd":
            result += np.einsum("nchw,kc->nkhw", padded[:, :, rows, columns], filters[:, :, i, j])
        elif direction == "bwd":
            result[:, :, rows, columns] += np.einsum("nkhw,kc->nchw", out, filters[:, :, i, j])
        else:
            result[:, :, i, j] = np.einsum("nkhw,nchw->kc", out, padded[:, :, rows, columns])
    if direction != "bwd":
        return result
    return result[:, :, one.pad : one.pad + one.hi, one.pad : one.pad + one.wi]


def widened(tile: Tile, parts: int) -> bool:
    """Whether the result is f32 although the operands are not: MIOpen converts it then."""
    if tile.precision == "fp32":
        return False
    if tile.direction == "wrw" and tile.layout == "nhwc":
        return tile.precision == "bf16" or tile.b[3] == 1 or tile["vector_store"] == 1
    if not parts:
        return False
    return tile.precision == "bf16" or tile["vector_store"] == 1 or tile.layout == "nchw"


def launch(code: Any, tile: Tile, checks: Any = "all", stride: int = 1) -> tuple[float, list[Any], Shape]:
    """Launch a kernel; the largest difference from NumPy, the findings, and the problem."""
    one = shape(tile, stride)
    rng = np.random.default_rng(1)
    kind = TYPES[tile.precision]
    dims = {"in": (one.n, one.c, one.hi, one.wi), "out": (one.n, one.k, one.ho, one.wo)}
    dims["wei"] = (one.k, one.c, one.y, one.x)
    written = {"fwd": "out", "bwd": "in", "wrw": "wei"}[tile.direction]
    arrays = {name: rng.integers(-2, 3, size).astype(kind) for name, size in dims.items()}
    want = numpy_result(tile.direction, one, arrays)
    launches = {"fwd": forward, "bwd": backward, "wrw": weights}[tile.direction](tile, one)
    parts = tile["gemm_k_global_split"] or (_older_parts(tile, one) if "_wrw_" in tile.name and tile["older"] else 0)
    groups = 1 << parts if tile["older"] else 1  # parts of a sum, which another kernel of MIOpen adds
    arrays[written] = np.zeros((groups, *dims[written]), np.float32 if widened(tile, parts) else kind)
    if tile.layout == "nhwc":
        arrays = {name: np.ascontiguousarray(np.moveaxis(value, -3, -1)) for name, value in arrays.items()}
    kernel = code[tile.name]
    order = ("in", "out", "wei") if tile["older"] and tile.direction == "wrw" else ("in", "wei", "out")
    found: list[Any] = []
    for each in launches:
        names = [re.sub(r"^__pack", "_pack", arg.name.rstrip("_")) for arg in kernel.args[3:]]
        args = [*(arrays[name] for name in order), *(np.uint32(each.values.get(name, 0)) for name in names)]
        block = kernel.info.metadata.max_flat_workgroup_size
        found += mfmasim.device("sim").launch(kernel, each.grid, block, args, checks=checks).findings
    got = arrays[written].astype(float).sum(0)
    if tile.layout == "nhwc":
        got = np.moveaxis(got, -1, -3)
    return float(np.abs(got - want).max() / max(np.abs(want).max(), 1)), found, one


def assembled(source: Path, arch: str, to: Path) -> Any:
    """Assemble a source; its code object."""
    symbols = [f"-Wa,-defsym,{name}={value}" for name, value in SYMBOLS.items()]
    words = [str(find_compiler().path), "-x", "assembler", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", *symbols]
    path = to / f"{source.stem}.co"
    words += [f"-I{source.parent}", str(source), "-o", str(path)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-400:]
    return mfmasim.load(path)


def architecture(name: str) -> str:
    """The processor that a kernel's name stands for."""
    return next((arch for part, arch in ARCHS.items() if part in name), "gfx906:xnack-")


def main() -> int:
    """Print a line for each kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--checks", default="all")
    parser.add_argument("--arch", help="default: what the name says")
    parser.add_argument("--stride", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for source in args.sources:
            every = tiles(source.read_text())
            code = assembled(source, args.arch or architecture(source.stem), Path(folder))
            for tile in every:
                begun = time.process_time()
                try:
                    off, findings, one = launch(code, tile, args.checks, args.stride)
                except Exception as error:  # noqa: BLE001 one line for each kernel
                    print(f"{tile.name} {type(error).__name__}: {str(error)[:300]}", flush=True)
                    continue
                kinds = Counter((item.severity, item.id) for item in findings if item.severity != "info")
                took = time.process_time() - begun
                print(f"{tile.name} {off:.1e} {took:.1f} s {dict(kinds)} {one}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
