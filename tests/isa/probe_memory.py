"""Rows of DS, FLAT, GLOBAL, SCRATCH and MUBUF."""

from __future__ import annotations

import itertools

from tests.isa.probing import accepted, dwords, operands, register, row

MEMORY_TYPE = {
    "ubyte": "u8", "sbyte": "i8", "byte": "b8", "ushort": "u16", "sshort": "i16", "short": "b16",
    "u8": "u8", "i8": "i8", "b8": "b8", "u16": "u16", "i16": "i16", "b16": "b16",
}  # fmt: skip
BITS = {1: "b32", 2: "b64", 3: "b96", 4: "b128", 8: "b256", 32: "b32*32"}


def memory_type(name, width):
    """A sub-dword access has its own type; all other data are raw dwords."""
    if width == 1:
        for word in name.split("_"):
            if word in MEMORY_TYPE:
                return MEMORY_TYPE[word]
    return BITS[width]


_DS_FIELDS = ((10, 0), (20, 8), (80, 16), (40, 24))


def ds_rows(prober):
    rows = []
    # Try the fields from all used to none: LLVM wants unused fields to be zero.
    tries = [(dst, addr, d0, d1) for dst in (40, 0) for addr in (10, 0) for d1 in (80, 0) for d0 in (20, 0)]
    probes = {
        (op, gds): [
            dwords(0x36 << 26 | op << 17 | gds << 16 | 0x34 << 8 | 0x12, addr | d0 << 8 | d1 << 16 | dst << 24)
            for dst, addr, d0, d1 in tries
        ]
        for op in range(256)
        for gds in (0, 1)
    }
    prober.ask([code for codes in probes.values() for code in codes])
    prober.ask(
        [
            dwords(0x36 << 26 | op << 17 | 1 << 16, sum(n << s for n, s in fields))
            for op in range(256)
            for count in range(5)
            for fields in itertools.combinations(_DS_FIELDS, count)
        ]
    )
    for op in range(256):
        for gds in (0, 1):
            codes = probes[op, gds]
            answers = prober.ask(codes)
            found = next((answer for answer in answers if answer), None)
            if found:
                break
        else:
            # A few ignore even the offset.
            answers = prober.ask([dwords(0x36 << 26 | op << 17 | g << 16, 0) for g in (0, 1)])
            found = next((answer for answer in answers if answer), None)
            if not found:
                continue
        text = found
        name, parts = operands(text)
        regs = {r[1]: r[2] for r in map(register, parts) if r}
        dst = [memory_type(name, regs[40])] if 40 in regs else []
        src = ["addr:b32"] if 10 in regs else []
        src += [f"data0:{memory_type(name, regs[20])}"] if 20 in regs else []
        src += [f"data1:{memory_type(name, regs[80])}"] if 80 in regs else []
        flags = ["offset2"] if "offset0:" in text else (["offset"] if "offset:" in text else [])
        if "gds" in text:
            flags.append("gds_only")
        elif "gds" in (ds_text(prober, op, regs, 1) or ""):
            flags.append("gds")
        rows.append(row(op, name, dst, src, " ".join(flags)))
    return rows


def ds_text(prober, op, regs, gds):
    """What LLVM prints when only the row's own fields are set."""
    low = 0x36 << 26 | op << 17 | gds << 16
    high = sum(n << s for n, s in _DS_FIELDS if n in regs)
    return prober.text(dwords(low, high))


def flat_rows(prober, segment):
    """FLAT, GLOBAL and SCRATCH: the address forms belong to the encoding, the data to the row."""
    rows = []
    null = 0 if segment == 0 else 0x7F
    probes = {
        op: [
            dwords(0x37 << 26 | op << 18 | segment << 14 | sc0 << 16, addr | data << 8 | null << 16 | dst << 24)
            for dst in (40, 0)
            for data in (20, 0)
            for sc0 in (1, 0)
            for addr in (10, 0)
        ]
        for op in range(128)
    }
    prober.ask([code for codes in probes.values() for code in codes])
    for op, codes in probes.items():
        found = next((text for text in map(prober.text, codes) if text), None)
        if not found:
            continue
        name, parts = operands(found)
        regs = {r[1]: r[2] for r in map(register, parts) if r}
        data = memory_type(name, regs[20]) if 20 in regs else ""
        dst = memory_type(name, regs[40]) if 40 in regs else ""
        rows.append(row(op, name, returned(name, dst), ["addr", *([f"data:{data}"] if data else [])]))
    return rows


def returned(name, dst):
    """Destination of a memory operation: an atomic writes one only when it returns, and cmpswap returns one value."""
    if "atomic" not in name or not dst:
        return [dst] if dst else []
    return [f"rtn:{HALF[dst] if 'buffer_atomic_cmpswap' in name or name.startswith('s_atomic_cmpswap') else dst}"]


HALF = {"b64": "b32", "b128": "b64"}


def mubuf_rows(prober):
    rows = []
    prober.ask(
        [
            dwords(0x38 << 26 | op << 18 | extra, high)
            for op in range(128)
            for extra in (0, 1 << 15, 1 << 16)
            for high in (0, 10 | 20 << 8 | 4 << 16 | 30 << 24, 10 | 4 << 16 | 30 << 24)
        ]
    )
    for op in range(128):
        base = (0x38 << 26 | op << 18, 10 | 20 << 8 | 4 << 16 | 30 << 24)
        text = prober.text(dwords(*base)) or prober.text(dwords(base[0], 0))
        if not text:
            continue
        name, parts = operands(text)
        regs = {r[1]: r[2] for r in map(register, parts) if r and r[0] == "v"}
        data = memory_type(name, regs[20]) if 20 in regs else ""
        lds = prober.text(dwords(base[0] | 1 << 16, base[1] & ~(0xFF << 8)))
        flags = "lds" if lds and " lds" in lds else ""
        if not data:
            shown = sorted(accepted(prober, (base[0], 0), {"glc": (0, 14), "scc": (0, 15), "slc": (0, 17)}))
            rows.append(row(op, name, [], [], ":".join(["cache", *shown]) if shown else ""))
        elif "load" in name:
            rows.append(row(op, name, [data], ["addr"], flags))
        elif "atomic" in name:
            rows.append(row(op, name, returned(name, data), ["addr", f"data:{data}"], flags))
        else:
            rows.append(row(op, name, [], ["addr", f"data:{data}"], flags))
    return rows
