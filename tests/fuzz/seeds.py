"""First inputs of the corpus, made with the compiler: ``python -m tests.fuzz.seeds SURFACE...`` adds them."""

import io
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from mfmasim import isa
from mfmasim.archives import write_archive
from mfmasim.testing import stored
from tests.codeobject import old_versions
from tests.codeobject.codeobject_builds import QUALIFIERS, build
from tests.codeobject.test_codeobject_bundles import device, host_elf, pack, squeeze
from tests.codeobject.test_codeobject_lines_limits import program, with_line_section
from tests.fuzz import corpus, templates
from tests.fuzz.adapter import COMMANDS
from tests.fuzz.captures import recorded
from tests.fuzz.decoder import TARGETS
from tests.fuzz.interpreter import judged
from tests.fuzz.objects import EDIT
from tests.fuzz.runtime import NAMES
from tests.machine.fuzzing import pool

SMALL = (
    QUALIFIERS
    + """
__device__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void ids(int* p, short n) { *p = __builtin_amdgcn_workitem_id_x() * n + table[n & 3]; }
"""
)


def reader():
    """Code objects of every version, bundles of every kind, debug information of two versions."""
    small = build("gfx942", source=SMALL)
    yield small
    yield from (build(arch, source=SMALL) for arch in ("gfx908", "gfx1100", "gfx1201"))
    yield build("gfx942", "-gdwarf-4", source=SMALL)
    yield from (old_versions.version2(), old_versions.version3())
    both = pack({device("gfx942"): small, device("gfx1100"): build("gfx1100", source=SMALL)}, 1)
    yield both
    yield from (squeeze(both, version, method) for version, method in ((1, "zlib"), (2, "zstd"), (3, "zstd")))
    yield host_elf(both)
    yield with_line_section(program(b"\x21\x05\x01\0\x02\x04\x01\0\x01\x01"))
    yield from (b"", b"\x7fELF", b"CCOB", b"__CLANG_OFFLOAD_BUNDLE__")


def decoder():
    """One instruction of every target."""
    for number, (name, wave) in enumerate(TARGETS):
        yield bytes([number]) + next(raw for raw in pool(name, 3, 50) if isa.decode(raw, name, wave=wave))


def machine():
    """Random instructions that the machine executes, six a program, with all checks."""
    rng = np.random.default_rng(1)
    for number, target in enumerate(templates.TARGETS):
        for _ in range(6):
            code = b"".join(rng.choice(np.array(pool(target.partition(":")[0], 1, 200), object), 6))
            yield bytes([number, int(rng.integers(3)), 0xFF, 0x03, 0]) + code


def interpreter():
    """Random instructions of which every one is compared, eight a program."""
    rng = np.random.default_rng(2)
    for number, target in enumerate(templates.TARGETS):
        name, _, wave = target.partition(":")
        found = [isa.decode(raw, name, wave=int(wave)) for raw in pool(name, 2)]
        good = np.array([one.raw for one in found if judged(one, target)], object)
        for _ in range(5):
            yield bytes([number, 0, 0, 0, 0]) + b"".join(rng.choice(good, 8))


def runtime():
    """A program that loads, allocates, launches, copies and frees, on every architecture; one that captures a graph."""

    def call(name, *choices):
        return bytes([NAMES.index(name), *choices])

    last, before, third = 0x80, 0x81, 0x82  # what the runtime gave, the latest first: see Program.pointer
    for number in range(len(templates.TARGETS)):
        load = call("hipModuleLoadData", 1, number, 0) + call("hipModuleGetFunction", 1, last, 0)
        launch = call("hipModuleLaunchKernel", before, 1, 1, 1, 64, 1, 1, 0, third, 8, 0)
        stream = call("hipStreamCreate", 1)
        end = call("hipDeviceSynchronize") + call("hipFree", last) + call("hipModuleUnload", third)
        yield (
            bytes([number, number]) + stream + load + call("hipMalloc", 1, 10) + launch.replace(b"\x82", b"\x83") + end
        )
        copy = call("hipMemcpy", last, 0, 6, 1) + call("hipMemset", last, 7, 8) + call("hipFree", last)
        yield bytes([number, 1]) + call("hipMalloc", 1, 8) + copy + call("hipModuleLoadData", 1, number, 3) + bytes(9)
    stream = call("hipStreamCreate", 1) + call("hipMalloc", 1, 8) + call("hipStreamBeginCapture", before, 0)
    stream += call("hipMemsetAsync", last, 1, 2, before) + call("hipStreamEndCapture", before, 1)
    graph = call("hipGraphInstantiate", 1, last, 0, 0, 0) + call("hipGraphLaunch", last, 0)
    yield bytes([2, 0]) + stream + graph + call("hipGraphExecDestroy", last)
    yield bytes([2, 1]) + call("hipGraphCreate", 1, 0) + call("hipGraphAddEmptyNode", 1, last, 0, 0) * 2


def captures():
    """Descriptions and files of a recorded capture, golden files and arrays."""
    about = recorded()["about"].tobytes()
    yield from (bytes([way]) + about for way in (3, 4))
    for keys in ({"probes": ["f16_k16"], "tiles": 16}, {"phases": [{"row": "x"}], "tiles": 2}):
        yield b"\4" + json.dumps({**json.loads(about), **keys}).encode()
    for array in (np.zeros(3), np.zeros((2, 3), np.uint8, order="F"), np.array("text"), np.zeros((0, 2), bool)):
        file = io.BytesIO()
        np.save(file, array)
        yield b"\0" + file.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.npz")
        stored.store(path, np.arange(6).reshape(2, 3))
        yield b"\2" + path.read_bytes()
        write_archive(path, {"about": np.zeros(2, np.uint8), "code": np.zeros(1), "seal": np.zeros(32, np.uint8)})
        yield b"\1" + path.read_bytes()


def adapter():
    """Sessions of ten random requests, three that begin with each command, and what is no message."""
    rng = np.random.default_rng(3)
    for number in range(len(COMMANDS)):
        for _ in range(3):
            yield bytes([1, number]) + rng.bytes(60)
    yield from (b"\xff" + text for text in (b"", b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: 2\r\n\r\n[]"))


def objects():
    """Code objects with no edit, one and four, run in every way."""
    rng = np.random.default_rng(4)
    for number in range(60):
        yield bytes([number * 2, 0, number * 37 % 256]) + rng.bytes(EDIT * (0, 1, 4)[number % 3])


SURFACES = {one.__name__: one for one in (reader, decoder, machine, interpreter, captures, runtime, adapter, objects)}

if __name__ == "__main__":
    for name in sys.argv[1:] or SURFACES:
        print(name, len(corpus.add(name, SURFACES[name]())))
