"""Any sequence of calls of the simulated HIP runtime: each returns an error code, and nothing beside the memory that
the program hands over is written.

As in C, what a program passes as a pointer to its memory has to be one: such arguments are null, its own memory, or
what the runtime gave it. Sizes, handles, enumerations, names, code objects and device addresses are anything.
"""

import contextlib
import ctypes
import inspect
import io
import itertools
import mmap
from pathlib import Path

from mfmasim.hiprt import calls
from mfmasim.hiprt.heap import PAGE
from mfmasim.hiprt.registry import CALLS
from mfmasim.hiprt.runtime import Runtime
from mfmasim.hiprt.settings import Settings
from mfmasim.hiprt.tables.errors import ERRORS
from tests.fuzz import templates

calls.load()
NAMES = Path(__file__).with_name("calls.txt").read_text().split()
"""The calls; inputs have their places in this list, so that new ones are added at its end. Left out are those that call
functions of the program, read files, or compile."""
MEMORY = {"out", "params", "extra", "before", "options", "values", "first", "then", "count", "number", "major", "minor",
          "least", "greatest", "flags", "active", "free", "total", "base", "size", "pitch", "grid", "block", "log",
          "wrong", "given", "location", "value", "nodes", "mode"}  # fmt: skip
"""Names of parameters that point to memory of the program, where their type is Pointer."""
PLACES = {"to", "source", "address"}
"""Names of parameters that point to memory of the program or of the device."""
SIZES = (0, 1, 4, 7, 16, 64, 255, 256, 4096, 4097, 65536)
HUGE = (1 << 20, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, (1 << 64) - 4096, (1 << 64) - 1)
ROOM = 1 << 21
"""Bytes of the program's memory, more than any size that is not among the huge ones."""
MOST = 24
"""Calls of an input."""
TEXTS = [ctypes.create_string_buffer(text) for text in (b"test", b"", b"0000:00:00.0", b"\xff\x1b[2J", b"test.kd")]
ANSWERS = {"hipGetErrorName", "hipGetErrorString", "hiprtcGetErrorString"}
"""Calls that return an address."""


class Program:
    """A program's memory and what the runtime has given it."""

    def __init__(self, data):
        self.data, self.at = data, 0
        self.given = [0x7F0000001000, 2, 1, 0]
        self.memory = mmap.mmap(-1, ROOM + PAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.image = mmap.mmap(-1, 1 << 16)

    def byte(self):
        """The input's next byte; zeros behind its end."""
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def fill(self, heap):
        """Every word of the memory is its address; the first one is that of memory of the device, if there is any."""
        words = (ctypes.c_uint64 * 512).from_buffer(self.memory)
        words[:] = [self.start] * 512
        words[0] = next((word for word in reversed(self.given) if heap.at(word)), self.start)
        return words[0]

    def code(self):
        """Address of a code object: a good one, a damaged one, or bytes of the input."""
        target = templates.TARGETS[self.byte() % len(templates.TARGETS)]
        data = bytearray(templates.stored()[target])
        edits = self.byte()
        if edits == 255:
            data = bytearray(self.data[self.at :])
            self.at = len(self.data)
        for _ in range(edits % 4 if edits != 255 else 0):
            data[(self.byte() | self.byte() << 8) % len(data)] = self.byte()
        # The file ends where readable memory ends.
        self.image.seek(0)
        self.image.write(bytes(len(self.image)))
        start = len(self.image) - len(data)
        self.image[start:] = bytes(data)
        return ctypes.addressof(ctypes.c_char.from_buffer(self.image)) + start

    def pointer(self, name, heap):
        """A word for a parameter of type Pointer."""
        if name == "image":
            return self.code()
        choice = self.byte()
        if name in MEMORY:
            return self.start + 8 * (choice & 8) if choice else 0
        if choice < 32:
            return self.start
        word = self.given[-1 - choice % 8 % len(self.given)]
        if name in PLACES and not heap.holds(word):
            return self.start
        return word + SIZES[choice >> 4 & 7] if choice & 8 else word

    def word(self, call, parameter, heap):
        """A word for a parameter."""
        if parameter.annotation == "Pointer":
            return self.pointer(parameter.name, heap)
        if parameter.annotation == "Text":
            return ctypes.addressof(TEXTS[self.byte() % len(TEXTS)])
        choice = self.byte()
        if parameter.annotation == "Size":
            flat = "2D" in call and parameter.name in ("width", "height", "pitch", "to_pitch")
            huge = ("Alloc" in call or "Memset" in call) and not flat
            known = SIZES[:8] if flat else SIZES + HUGE if huge else SIZES
            return known[choice % len(known)]
        if parameter.name.startswith("grid_"):
            return choice % 4 if choice < 192 else (1 << 32) - 256 + choice  # few workgroups, or far too many
        return choice if choice < 192 else (1 << 32) - 256 + choice


def calling(runtime, program):
    """The calls of an input; anything that is raised is a failure."""
    for _ in range(MOST):
        if program.at >= len(program.data):
            return
        name = NAMES[program.byte() % len(NAMES)]
        parameters = list(inspect.signature(CALLS[name].function).parameters.values())[1:]
        first = program.fill(runtime.heap)
        words = [program.word(name, parameter, runtime.heap) & (1 << 64) - 1 for parameter in parameters]
        code = runtime.answer(name, words)
        assert name in ANSWERS or code in ERRORS, (name, code)
        word = int.from_bytes(program.memory[:8], "little")
        if code == 0 and word != first:
            program.given.append(word)


def run(data):
    program = Program(data)
    # The device is that of the first byte; with all checks for an odd second byte.
    target = templates.TARGETS[program.byte() % len(templates.TARGETS)].partition(":")[0]
    checks = "all" if program.byte() & 1 else "bounds"
    settings = {"ARCH": target, "MEMORY": "16", "CHECKS": checks}
    runtime = Runtime(Settings.read({f"MFMASIM_HIPRT_{name}": value for name, value in settings.items()}))
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        calling(runtime, program)
        runtime.report()
    assert all(line.isprintable() for line in err.getvalue().splitlines())
    held = [(one.address, one.address + one.size) for one in runtime.heap.allocations]
    assert all(first[1] < second[0] for first, second in itertools.pairwise(held))
    assert not any(program.memory[ROOM:])
