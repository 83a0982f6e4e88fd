"""Scalar memory: loads of dwords, bytes and halves into SGPRs, from addresses and from buffer resources.

Source: CDNA3 ISA manual, chapter 8; RDNA3.5 and RDNA4 ISA manuals, chapter 8 and the opcodes of SMEM.
"""

from __future__ import annotations

from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.storage import MEMORY, WORDS
from tests.slow.machine.vector_memory import field


def scalar_load(wave, ins):
    """S_LOAD_DWORD*: the two low bits of every part of the address are ignored."""
    base, soffset = ins.src[:2]
    offset = ins.modifiers.get("offset", 0)
    if soffset.kind == "s":
        offset += wave.s[soffset.index]
    address = (wave.pair(base.index) & ~3) + (offset & ~3)
    count = WORDS[ins.name.removeprefix("s_load_")]
    words = [wave.memory.load(address + 4 * k, 4) for k in range(count)]
    for k, word in enumerate(words):
        wave.s[ins.dst[0].index + k] = word


def _scalar_buffer(wave, ins):
    """S_BUFFER_LOAD: dwords from a resource, 0 beyond its range."""
    first, soffset = ins.src[0].index, ins.src[1]
    stride, records = field(wave, first, 48, 14), field(wave, first, 64, 32)
    offset = ins.modifiers.get("offset", 0) + (wave.s[soffset.index] if soffset.kind == "s" else 0)
    base = field(wave, first, 0, 48) & ~3
    words = []
    for k in range(ins.dst[0].count):
        at = (offset & ~3) + 4 * k
        words.append(wave.memory.load(base + at, 4) if at < (records * stride if stride else records) else 0)
    wave.s[ins.dst[0].index : ins.dst[0].index + len(words)] = words


_SMALL = {"u8": (1, False), "i8": (1, True), "u16": (2, False), "i16": (2, True)}


def _part(wave, ins):
    """S_LOAD_U8 ... S_BUFFER_LOAD_I16: each part of the address is cut to the size of the data."""
    size, sign = _SMALL[ins.name.rsplit("_", 1)[1]]
    cut = ~(size - 1)
    base, soffset = ins.src[:2]
    offset = (ins.modifiers.get("offset", 0) & cut) + (wave.scalar(soffset) & cut if soffset.kind == "s" else 0)
    fine, start = True, wave.pair(base.index)
    if "buffer" in ins.name:
        stride, records = field(wave, base.index, 48, 14), field(wave, base.index, 64, 32)
        start, fine = field(wave, base.index, 0, 48), offset < (stride or 1) * records
    raw = wave.memory.load((start & cut) + offset, size) if fine else 0
    wave.write_scalar(ins.dst[0], signed(raw, 8 * size) if sign else raw)


MEMORY |= {f"s_load_{what}": scalar_load for what in WORDS if what.startswith("dword")}
MEMORY |= {f"s_buffer_load_{what}": _scalar_buffer for what in WORDS if what.startswith("dword")}
MEMORY |= {f"s_{unit}load_{what}": _part for unit in ("", "buffer_") for what in _SMALL}
