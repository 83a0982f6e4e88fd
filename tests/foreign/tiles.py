"""Composable Kernel's ck_tile examples, compiled for an architecture and run: a table of what came out.

``MFMASIM_LIBRARIES=FOLDER python -m tests.foreign.tiles [--arch gfx950] [--checks all] [NAME ...]``, where
``FOLDER/composable_kernel`` has ``include`` and ``example/ck_tile`` (also in PyPI's wheel amd-aiter 0.1.7, below
``aiter_meta/3rdparty``). Examples validate themselves with a reference on the host. Instances that the library's
generators write, of which there are thousands, are restricted by the generators' own filters.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mfmasim.hiprt import environment
from tests.foreign.libraries import FOLDER, timed

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


@dataclass(frozen=True)
class Example:
    """One example: sources in its folder, a generator's command, and the arguments of each run."""

    folder: str
    sources: str
    runs: tuple[str, ...]
    flags: str = ""
    generator: str = ""

    @property
    def name(self) -> str:
        """The folder without its number."""
        return self.folder.partition("_")[2]


EXAMPLES_TRIED = [
    Example(
        "01_fmha", "example_fmha_fwd.cpp",
        tuple(f"-b=1 -h=2 -d=64 -prec=fp16 {ONCE} {more}" for more in ("-s=128", "-s=100 -s_k=160", "-s=96 -mask=1")),
        f"{ATTENTION} {APIS}", f"{FORWARD} *d64_fp16_batch*_psskddv{PLAIN}",
    ),
    Example("03_gemm", "gemm_basic.cpp", (f"-m=256 -n=256 -k=96 {GEMM}", f"-m=128 -n=128 -k=64 -prec=bf16 {GEMM}")),
    Example("05_reduce", "reduce.cpp", (f"-n=4 -h=3 -w=3 -c=64 {ONCE}", f"-n=2 -h=3 -w=3 -c=40 -prec=bf16 {ONCE}")),
    Example(
        "09_topk_softmax", "topk_softmax.cpp topk_softmax_api.cpp",
        tuple(f"-seed=7 {ONCE} {more}" for more in (
            "-t=80 -e=17", "-t=31 -e=19 -k=15 -pr_i=bf16", "-t=99 -e=180", "-t=127 -e=99 -k=19 -st_i=233 -st_o=31",
            "-t=20 -e=64 -k=8 -activation=sigmoid")),
    ),
    Example("10_rmsnorm2d", "example_rmsnorm2d_fwd.cpp", ("-m=10 -n=256", "-m=7 -n=300 -s=1")),
    Example("39_copy", "copy_basic.cpp", (f"-m=128 -n=8 {ONCE}",)),
]  # fmt: skip


def build(example: Example, arch: str, to: Path, seconds: float = 900) -> tuple[int, str, float]:
    """Generate its instances and compile it; exit code, messages, CPU seconds."""
    here = EXAMPLES / example.folder
    made = to.with_name(f"{to.name}.instances")
    sources = [str(here / source) for source in example.sources.split()]
    if example.generator:
        made.mkdir(exist_ok=True)
        words = [word.format(here=here, arch=arch, to=made) for word in example.generator.split()]
        subprocess.run([sys.executable, *words[1:]], check=True, capture_output=True)
        sources += sorted(map(str, made.rglob("*.cpp")))
    defined = f"-DCK_TILE_USE_WMMA={int(not arch.startswith('gfx9'))}"
    flags = [
        *(word for flag in FLAGS.split() for word in ("-mllvm", flag)),
        defined,
        "-DNDEBUG",  # an assertion of 03_gemm names what is not declared there
        *(["-DCK_TILE_USE_OCP_FP8"] if arch.startswith(OCP) else []),
        *example.flags.split(),
    ]
    includes = [f"-I{TILES / 'include'}", f"-I{here}", f"-I{made}"]
    words = [sys.executable, "-m", "mfmasim", "hipcc", f"--offload-arch={arch}", "-std=c++20", "-w", "-O3"]
    return timed([*words, "-Xarch_host", "-O1", *includes, *flags, *sources, "-o", str(to)], seconds)


def run(example: Example, number: int, arch: str, path: Path, checks: str) -> tuple[str, str, float]:
    """Run it: "right", "wrong", or the exit code; its output; CPU seconds."""
    env = environment({"MFMASIM_HIPRT_ARCH": arch, "MFMASIM_HIPRT_CHECKS": checks})
    code, text, used = timed([str(path), *example.runs[number].split()], 300, env)
    right = re.search(RIGHT, text) and not re.search(WRONG, text)
    return f"exit {code}" if code else "right" if right else "wrong", text, used


def main() -> int:
    """Print one line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; default: all")
    parser.add_argument("--arch", default="gfx942")
    parser.add_argument("--checks", default="bounds")
    parser.add_argument("--keep", type=Path, help="folder for the programs and their output")
    args = parser.parse_args()
    place = args.keep or Path(tempfile.mkdtemp())
    place.mkdir(parents=True, exist_ok=True)
    for example in EXAMPLES_TRIED:
        if args.names and not any(name in example.folder for name in args.names):
            continue
        path = place / f"{example.name}.{args.arch}"
        code, text, took = (0, "", 0.0) if path.exists() else build(example, args.arch, path)
        if code:
            path.with_name(f"{path.name}.err").write_text(text)
            print(f"| {example.name} | {took:.0f} | compiler {code} | | |", flush=True)
            continue
        for number, words in enumerate(example.runs):
            state, text, used = run(example, number, args.arch, path, args.checks)
            path.with_name(f"{path.name}.{args.checks}.{number}.txt").write_text(text)
            findings = len(re.findall(r"^mfmasim: (?:error|warning)", text, re.MULTILINE))
            print(f"| {example.name} {words} | {took:.0f} | {state} | {findings} | {used:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
