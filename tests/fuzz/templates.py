"""A kernel for every architecture and wave size, with room for the instructions of an input.

The kernel loads every register from its arguments, runs the room, and stores what the registers hold. The kernels are
stored, so that replaying needs no assembler; ``python -m tests.fuzz.templates`` makes them again.
"""

import base64
import functools
import zlib
from pathlib import Path

import numpy as np

import mfmasim
from mfmasim.architectures import ARCHITECTURES, arch
from tests.machine import frame, harness
from tests.machine.spelling import spelled, split
from tests.machine.test_programs_hypothesis import registers

STORED = Path(__file__).with_name("templates.txt")
TARGETS = [f"{name}:{wave}" for name in ARCHITECTURES for wave in arch(name).wave_sizes]
DWORDS = 48
"""Room for an input."""
NOP = bytes.fromhex("000080bf")
SIZES = (8, 64, 96)
"""Work-items of the workgroup: a partial wave, whole ones, both."""


def make(target):
    """Assemble the kernel of a target."""
    end = ["s_cselect_b32 s66, 1, 0", "s_mov_b32 s67, exec_lo", "s_mov_b32 s68, exec_hi", "s_mov_b64 exec, s[60:61]"]
    end = spelled([*end, *frame.stores(registers(target), 0)], target)
    room = ["  s_nop 0"] * DWORDS
    body = "\n".join([frame.prologue(target), "room:", *room, *end, "  s_endpgm"])
    return harness.assemble(harness.source(body, target, "pppp", lds=frame.LDS_BYTES), target)


@functools.cache
def stored():
    """Code objects by target."""
    lines = (line.split() for line in STORED.read_text().splitlines())
    return {target: zlib.decompress(base64.b85decode(text)) for target, text in lines}


@functools.cache
def place(target):
    """Where in the file of a target its room lies."""
    found = stored()[target].index(NOP * DWORDS)
    assert found % 4 == 0
    return found


@functools.cache
def end(target):
    """The instruction that ends a wave of a target."""
    data = stored()[target]
    loaded = mfmasim.load(data, split(target)[0])["test"]
    return next(one.raw for one in loaded.instructions if one.name == "s_endpgm")


def kernel(target, code):
    """The kernel of a target with these instructions in its room."""
    assert len(code) <= 4 * DWORDS
    data = bytearray(stored()[target])
    data[place(target) : place(target) + len(code)] = code
    return mfmasim.load(bytes(data), split(target)[0])["test"]


@functools.cache
def inputs(target):
    """Arguments: vector inputs, scalars, memory, outputs of one workgroup."""
    *given, outputs = frame.inputs(np.random.default_rng(5), target)
    return *given, outputs[: frame.ITEMS]


if __name__ == "__main__":
    lines = (f"{target} {base64.b85encode(zlib.compress(make(target), 9)).decode()}\n" for target in TARGETS)
    STORED.write_text("".join(lines))
