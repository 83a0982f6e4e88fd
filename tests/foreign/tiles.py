"""Composable Kernel's ck_tile examples, compiled for an architecture and run: a table of what came out.

``MFMASIM_LIBRARIES=FOLDER python -m tests.foreign.tiles [--arch gfx950] [--checks all] [NAME ...]``, where
``FOLDER/composable_kernel`` has ``include`` and ``example/ck_tile`` (also in PyPI's wheel amd-aiter 0.1.7, below
``aiter_meta/3rdparty``). Examples validate themselves with a reference on the host. Instances that the library's
generators write, of which there are thousands, are restricted by the generators' own filters.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.foreign import programs
from tests.foreign.libraries import FOLDER

TILES = FOLDER / "composable_kernel"
EXAMPLES = TILES / "example" / "ck_tile"
ONCE = "-warmup=0 -repeat=1"
GEMM = f"{ONCE} -v=1 -flush_cache=false -rotating_count=1"
FLAGS = "-enable-post-misched=0 -amdgpu-early-inline-all=true -amdgpu-function-calls=false"
"""Of the options in Composable Kernel's CMakeLists.txt those that the compiler of today knows."""
ATTENTION = "-DCK_TILE_FMHA_FWD_FAST_EXP2=1 -fgpu-flush-denormals-to-zero"
APIS = " ".join(f"-DCK_TILE_FMHA_FWD_{name}_API=0" for name in ("SPLITKV", "APPENDKV", "PAGEDKV"))
FORWARD = "python {here}/generate.py --targets {arch} --api fwd --optdim 32,64,128,256 -o {to} -f"
PLAIN = "_nlogits_nbias_*mask_nlse_ndropout_nskip_nsquant*"
OCP = ("gfx950", "gfx12")
RIGHT = r"valid:y|result is: ?correct"
WRONG = r"valid:n|is: ?fail|[Nn]ot support"


def command(folder: str, sources: str, flags: str, generator: str, arch: str, to: Path) -> list[str]:
    """Generate instances beside the program; arguments of hipcc."""
    here, made = EXAMPLES / folder, to.with_name(f"{to.name}.instances")
    if generator:
        made.mkdir(exist_ok=True)
        words = [word.format(here=here, arch=arch, to=made) for word in generator.split()]
        subprocess.run([sys.executable, *words[1:]], check=True, capture_output=True)
    return [
        "-std=c++20",
        *("-Xarch_host", "-O1"),
        *(word for flag in FLAGS.split() for word in ("-mllvm", flag)),
        f"-DCK_TILE_USE_WMMA={int(not arch.startswith('gfx9'))}",
        "-DNDEBUG",  # an assertion of 03_gemm names what is not declared there
        *(["-DCK_TILE_USE_OCP_FP8"] if arch.startswith(OCP) else []),
        *flags.split(),
        *(f"-I{place}" for place in (TILES / "include", here, made)),
        *(str(here / source) for source in sources.split()),
        *sorted(map(str, made.rglob("*.cpp"))),
    ]


def example(folder: str, sources: str, runs: tuple[str, ...], flags: str = "", generator: str = "") -> programs.Program:
    """One example: its folder and the sources in it, the arguments of each run, a generator's command."""
    return programs.Program(folder, partial(command, folder, sources, flags, generator), runs, RIGHT, WRONG)


EXAMPLES_TRIED = [
    example(
        "01_fmha", "example_fmha_fwd.cpp",
        tuple(f"-d=64 -prec=fp16 {ONCE} {more}" for more in (
            "-b=1 -h=2 -s=100 -s_k=160", "-b=1 -h=2 -s=96 -mask=1", "-b=1 -h=1 -s=300 -mask=t:40,10",
            "-b=2 -h=4 -h_k=2 -s=70 -s_k=200 -iperm=0 -operm=0", "-b=1 -h=2 -s=33 -s_k=500 -mask=2")),
        f"{ATTENTION} {APIS}", f"{FORWARD} *d64_fp16_batch*_psskddv{PLAIN}",
    ),
    example("03_gemm", "gemm_basic.cpp", (f"-m=256 -n=256 -k=96 {GEMM}", f"-m=128 -n=128 -k=64 -prec=bf16 {GEMM}")),
    example("05_reduce", "reduce.cpp", (f"-n=4 -h=3 -w=3 -c=64 {ONCE}", f"-n=2 -h=3 -w=3 -c=40 -prec=bf16 {ONCE}")),
    example(
        "09_topk_softmax", "topk_softmax.cpp topk_softmax_api.cpp",
        tuple(f"-seed=7 {ONCE} {more}" for more in (
            "-t=80 -e=17", "-t=31 -e=19 -k=15 -pr_i=bf16", "-t=99 -e=180", "-t=127 -e=99 -k=19 -st_i=233 -st_o=31",
            "-t=20 -e=64 -k=8 -activation=sigmoid")),
    ),
    example("10_rmsnorm2d", "example_rmsnorm2d_fwd.cpp", ("-m=10 -n=256", "-m=7 -n=300 -s=1")),
    example(
        "13_moe_sorting", "moe_sorting.cpp moe_sorting_api.cpp",
        tuple(f"{ONCE} {more}" for more in ("-t=80 -e=17 -k=3", "-t=31 -e=64 -k=8 -unit=16", "-t=1 -e=8 -k=4",
                                            "-t=127 -e=40 -k=4", "-t=600 -e=32 -k=5")),
    ),
    example(
        "16_batched_gemm", "batched_gemm.cpp",
        (f"-m=256 -n=64 -k=96 -batch_count=2 -batch_stride_a=24576 -batch_stride_b=6144 -batch_stride_c=16384 {ONCE}",),
    ),
    example(
        "35_batched_transpose", "batched_transpose_example.cpp batched_transpose_api.cpp",
        tuple(f"-N=2 -H=1 {ONCE} {more}" for more in ("-C=64 -W=32", "-C=40 -W=70 -pr=fp32", "-C=64 -W=128 -pipeline=1",
                                                      "-C=32 -W=96 -layout_in=NHWC -layout_out=NCHW")),
    ),
    example("39_copy", "copy_basic.cpp", (f"-m=128 -n=8 {ONCE}",)),
]  # fmt: skip


if __name__ == "__main__":
    sys.exit(programs.main(__doc__, EXAMPLES_TRIED))
