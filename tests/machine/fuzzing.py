"""Damaged code objects and random instructions: how they are made, and what loading and launching them may end in."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass, field

import numpy as np

import mfmasim
import mfmasim.isa
import mfmasim.machine.ops  # fills OPERATIONS
from mfmasim.errors import MfmasimError
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.observe.registry import CHECKS
from mfmasim.resources import folder

BUDGET = 300
CORPUS = sorted(path for path in (folder("golden") / "code").rglob("*.hsaco") if path.parent.name != "zoo")
"""Prebuilt code objects, but for those of kernels that are wrong on purpose, whose workgroups are of any size."""


@dataclass
class Tally:
    """How launches ended."""

    refused: int = 0
    stopped: int = 0
    finished: int = 0
    reasons: set = field(default_factory=set)

    @property
    def total(self):
        """All of them."""
        return self.refused + self.stopped + self.finished


def arguments(kernel):
    """Arguments of the right kinds: buffers of 4096 bytes, small values."""
    out = []
    for arg in kernel.args:
        if arg.is_pointer:
            out.append(np.arange(1024, dtype=np.uint32))
        else:
            out.append(bytes([1]) + bytes(max(0, arg.size - 1)))
    return out


def attempt(data, tally, *, arch=None, block=64, which=0):
    """Load some bytes and launch one of their kernels; anything but a clear error or a report is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            code = mfmasim.load(bytes(data), arch)
            tally.refused += not code.kernels  # nothing is left that could run
            for name in code.kernels[which % max(1, len(code.kernels)) :][:1]:
                kernel = code[name]
                report = mfmasim.device("sim").launch(
                    kernel, grid=2, block=block, args=arguments(kernel), budget=BUDGET, checks=list(CHECKS)
                )
                assert report.coverage.share <= 1
                assert sum(report.mix.values()) == sum(report.counts.values())
                for finding in report.findings:
                    assert finding.lines()
                    assert finding.message.replace("\n", "").isprintable()
                tally.stopped += bool(report.stopped)
                tally.finished += not report.stopped
                tally.reasons |= {finding.check for finding in report.findings}
        except MfmasimError as error:
            text = str(error)
            assert text
            assert "\n" not in text, text
            assert len(text) < 2000, text
            tally.refused += 1


def sections(data):
    """Name to (offset, size) of the sections of an ELF file that a fuzzer wants."""
    import io

    from elftools.elf.elffile import ELFFile

    found = {}
    for section in ELFFile(io.BytesIO(data)).iter_sections():
        if section["sh_size"] and section["sh_type"] != "SHT_NOBITS":
            found[section.name] = (section["sh_offset"], section["sh_size"])
    return found


def mutate(data, rng, where=None):
    """Change a few bytes of a section, or of the whole file: flipped bits, dwords of another place, extremes."""
    out = bytearray(data)
    offset, size = sections(data)[where] if where else (0, len(data))
    for _ in range(int(rng.integers(1, 5))):
        at = offset + int(rng.integers(size))
        kind = int(rng.integers(4))
        if kind == 0:
            out[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            out[at] = int(rng.choice([0, 1, 0x7F, 0x80, 0xFF]))
        elif kind == 2:
            at -= (at - offset) % 4
            out[at : at + 4] = rng.bytes(4)[: len(out) - at]
        else:
            at -= (at - offset) % 4
            other = offset + int(rng.integers(size)) // 4 * 4
            out[at : at + 4] = out[other : other + 4]
    return bytes(out)


def splice(data, rng):
    """Runs of instructions of a kernel change places, or stand in a second one as well; it keeps its size."""
    code = mfmasim.load(data)
    if not code.kernels:
        return data
    kernel = code[code.kernels[int(rng.integers(len(code.kernels)))]]
    raws = [ins.raw for ins in kernel.instructions]
    before = b"".join(raws)
    for _ in range(int(rng.integers(1, 4))):
        a, b, c, d = np.sort(rng.integers(0, len(raws) + 1, 4)).tolist()
        c, d = min(c, b + 8), min(d, c + 8)
        a = max(a, b - 8)
        again = raws[a:b] if rng.random() < 0.3 else raws[c:d]
        raws[a:b], raws[c:d] = again, raws[a:b]
    offset, size = sections(data)[".text"]
    start = data.index(before, offset, offset + size)
    after = b"".join(raws)[: len(before)]
    return data[:start] + after + data[start + len(after) :]


def random_text(data, rng, dwords):
    """The code object with its first instructions replaced by `dwords` of random bits under real encodings."""
    out = bytearray(data)
    offset, size = sections(data)[".text"]
    count = min(dwords, size // 4)
    words = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    # Most random dwords are no instruction: take the upper halves of real ones for every second one.
    real = np.frombuffer(data[offset : offset + size // 4 * 4], np.uint32)
    kept = rng.random(count) < 0.7
    words = np.where(kept, (rng.choice(real, count) & np.uint32(0xFFFF0000)) | (words & np.uint32(0xFFFF)), words)
    start = offset if rng.random() < 0.5 else offset + int(rng.integers(size // 8)) * 4
    raw = words.astype(np.uint32).tobytes()[: offset + size - start]
    out[start : start + len(raw)] = raw
    return bytes(out)


@functools.cache
def pool(arch, seed, size=1500):
    """Random bits that are instructions of an architecture which the machine executes; few of them jump."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < size:
        words = rng.integers(0, 1 << 32, 4, dtype=np.uint32)
        if rng.random() < 0.5:  # operands that are likely to exist: small registers and constants
            words &= np.uint32(0xFFFF9F9F)
        try:
            ins = mfmasim.isa.decode(words.tobytes(), arch)
        except MfmasimError:
            continue
        jumps = ins.name.startswith(("s_endpgm", "s_setpc", "s_swappc", "s_call", "s_trap", "s_cbranch", "s_branch"))
        if ins.name in OPERATIONS and (not jumps or rng.random() < 0.03):
            found.append(ins.raw)
    return found


def random_program(data, rng, instructions):
    """The code object with random instructions, one after the other, where its kernel was; all registers are there."""
    out = bytearray(data)
    code = mfmasim.load(data)
    kernel = code[code.kernels[0]]
    offset, size = sections(data)[".text"]
    chosen = rng.choice(np.array(pool(kernel.arch.name, 5), object), instructions)
    raw = b"".join(chosen)[: (size - 4) // 4 * 4]
    raw += next(ins.raw for ins in kernel.instructions if ins.name == "s_endpgm")
    out[offset : offset + len(raw)] = raw
    where, _ = sections(data)[".rodata"]
    # compute_pgm_rsrc1: granulated_workitem_vgpr_count; compute_pgm_rsrc3: accum_offset (gfx90a and later).
    for at in (48, 44) if kernel.arch.unified_vgprs else (48,):
        out[where + at] |= 63
    return bytes(out)
