"""Scalar memory: loads of dwords, bytes and halves into SGPRs, from addresses and from buffer resources.

Source: CDNA3 ISA manual, chapter 8; RDNA3.5 and RDNA4 ISA manuals, chapter 8 and the opcodes of SMEM.
"""

from __future__ import annotations

from tests.slow.machine.atomics import ATOMICS
from tests.slow.machine.scalar_alu import signed
from tests.slow.machine.storage import MEMORY, WORDS
from tests.slow.machine.vector_memory import field

INTEGER = ("swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec")


def scalar_load(wave, ins):
    """S_LOAD_DWORD*: the two low bits of every part of the address are ignored."""
    base, soffset = ins.src[:2]
    offset = ins.modifiers.get("offset", 0) & ~3
    if soffset.kind == "s":
        offset += wave.s[soffset.index] & ~3
    address = (wave.pair(base.index) & ~3) + offset
    count = WORDS[ins.name.removeprefix("s_load_")]
    words = [wave.memory.load(address + 4 * k, 4) for k in range(count)]
    for k, word in enumerate(words):
        wave.s[ins.dst[0].index + k] = word


def _resource(wave, first):
    """(base, stride, records); CDNA5 has its own places for them (9.6)."""
    places = ((0, 57), (108, 14), (57, 45)) if wave.arch == "gfx1250" else ((0, 48), (48, 14), (64, 32))
    return tuple(field(wave, first, *place) for place in places)


def _size(wave, stride, records, unit):
    """Bytes of a resource; RDNA4 rounds them down to what a load takes (8.1.2, m_size)."""
    size = (stride or 1) * records
    return size // unit * unit if wave.facts.split_barrier else size


def _scalar_buffer(wave, ins):
    """S_BUFFER_LOAD: dwords from a resource, 0 beyond its range."""
    first, soffset = ins.src[0].index, ins.src[1]
    base, stride, records = _resource(wave, first)
    offset = ins.modifiers.get("offset", 0) + (wave.s[soffset.index] if soffset.kind == "s" else 0)
    base &= ~3
    words = []
    for k in range(ins.dst[0].count):
        at = (offset & ~3) + 4 * k
        words.append(wave.memory.load(base + at, 4) if at < _size(wave, stride, records, 4) else 0)
    wave.s[ins.dst[0].index : ins.dst[0].index + len(words)] = words


def _write_place(wave, ins, k):
    """(address of the k-th dword, whether it is in range): every part of an address loses its two low bits."""
    base, soffset = ins.src[:2]
    offset = wave.s[soffset.index] * (64 if "scratch" in ins.name else 1) if soffset.kind == "s" else 0
    offset = (ins.modifiers.get("offset", 0) & ~3) + (offset & ~3) + 4 * k
    if base.count == 2:
        return (wave.pair(base.index) & ~3) + offset, True
    stride, records = field(wave, base.index, 48, 14), field(wave, base.index, 64, 32)
    return (field(wave, base.index, 0, 48) & ~3) + offset, offset < records * (stride or 1)


def _store(wave, ins):
    """S_STORE_*, S_BUFFER_STORE_*, S_SCRATCH_STORE_*: dword by dword."""
    data = ins.src[2]
    for k in range(data.count):
        address, fine = _write_place(wave, ins, k)
        if fine:
            wave.memory.store(address, wave.s[data.index + k], 4)


def _atomic(wave, ins):
    """S_ATOMIC_*, S_BUFFER_ATOMIC_*: the old value comes back with GLC."""
    size, function = ATOMICS[ins.name.split("_atomic_")[1]]
    data = ins.src[2]
    words = [wave.s[data.index + k] for k in range(data.count)]
    values = words if size == 4 else [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
    address, fine = _write_place(wave, ins, 0)
    fine = fine and _write_place(wave, ins, size // 4 - 1)[1]
    old = wave.memory.load(address, size) if fine else 0
    if fine:
        wave.memory.store(address, function(old, *values), size)
    for k in range(size // 4 if ins.dst else 0):
        wave.s[ins.dst[0].index + k] = old >> 32 * k & 0xFFFFFFFF


def _scratch_load(wave, ins):
    """S_SCRATCH_LOAD_*: the SGPR offset counts 64 bytes."""
    words = [wave.memory.load(_write_place(wave, ins, k)[0], 4) for k in range(ins.dst[0].count)]
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
        start, stride, records = _resource(wave, base.index)
        fine = offset < _size(wave, stride, records, size)
    raw = wave.memory.load((start & cut) + offset, size) if fine else 0
    wave.write_scalar(ins.dst[0], signed(raw, 8 * size) if sign else raw)


MEMORY |= {f"s_load_{what}": scalar_load for what in WORDS if what.startswith("dword")}
MEMORY |= {f"s_buffer_load_{what}": _scalar_buffer for what in WORDS if what.startswith("dword")}
MEMORY |= {
    f"s_{unit}store_{what}": _store for unit in ("", "buffer_", "scratch_") for what in ("dword", "dwordx2", "dwordx4")
}
MEMORY |= {f"s_scratch_load_{what}": _scratch_load for what in ("dword", "dwordx2", "dwordx4")}
MEMORY |= {
    f"s_{unit}atomic_{what}": _atomic
    for unit in ("", "buffer_")
    for what in ATOMICS
    if what.split("_")[0] in INTEGER and not what.endswith(("f32", "f64"))
}
MEMORY |= {f"s_{unit}load_{what}": _part for unit in ("", "buffer_") for what in _SMALL}
