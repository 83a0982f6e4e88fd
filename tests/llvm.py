"""The tools of LLVM 22, oracles of many tests."""

import functools
import re
import shutil
import subprocess

from mfmasim.toolchain.triples import triple
from tests.oracles import require


@functools.cache
def tool(name):
    """Path of a tool, such as ``llvm-mc``."""
    path = shutil.which(f"{name}-22") or shutil.which(f"/usr/lib/llvm-22/bin/{name}")
    require(f"{name} 22", path is not None, "apt install llvm-22 clang-22 lld-22")
    return path


def true16(arch):
    """Options of llvm-mc and llvm-objdump that give the halves of vector registers names (v0.l, v0.h).

    LLVM 22 has them by default on gfx11 but not on gfx12, where it refuses instructions and omits some halves.
    """
    return ["--mattr=+real-true16"] if arch.startswith(("gfx11", "gfx12")) else []


def assembled(lines, arch, *options):
    """What the assembler prints of lines, each with its end, and the numbers of those that it refuses, from 0."""
    command = [tool("llvm-mc"), f"-triple={triple(arch, '22')}", f"-mcpu={arch}", *options]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    refused = re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.MULTILINE)
    return done.stdout, {int(number) - 1 for number in refused}
