"""Assembly lines for LDS and global loads and stores."""

from __future__ import annotations

from tests.machine.lines import (
    GLOBAL_BASE,
    GLOBAL_OFFSET,
    GLOBAL_PAIR,
    LDS_OUTSIDE,
    LDS_OWN,
    LDS_STRIDED,
    D,
    Probe,
    _vgpr,
    span,
)


def _read_back():
    """The parts of the LDS that a lane owns."""
    return [
        f"ds_read_b128 v[104:107], {LDS_OWN}",
        f"ds_read_b128 v[108:111], {LDS_OWN} offset:16",
        f"ds_read2st64_b64 v[112:115], {LDS_STRIDED} offset1:1",
        f"ds_read2st64_b64 v[116:119], {LDS_STRIDED} offset0:2 offset1:3",
        "s_waitcnt lgkmcnt(0)",
    ]


def _lds(row, rng):
    """DS loads and stores, each lane in a place of its own, or outside of the LDS."""
    strided = "st64" in row.name
    address = LDS_STRIDED if strided else LDS_OWN
    if rng.random() < 0.2:
        address = LDS_OUTSIDE
    size = {"b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}[
        next(part for part in reversed(row.name.split("_")) if part[0] in "bui" and part[1:].isdigit())
    ]
    if "offset2" in row.flags:
        most = 4 if strided else 32 // size
        offset = f" offset0:{rng.randrange(most)} offset1:{rng.randrange(most)}"
        if row.name.startswith("ds_write"):
            # Two stores to one place have no defined order: keep all places of all lanes apart.
            step = 512 // (64 * size) if strided else 1
            first = rng.randrange(most)
            offset = f" offset0:{step * first} offset1:{step * ((first + 1 + rng.randrange(most - 1)) % most)}"
    else:
        step = size if size != 12 else 16
        offset = f" offset:{step * rng.randrange(32 // step)}"
    texts, results = [], []
    for slot in row.dst:
        texts.append(span("v", D, slot.count))
        results += [f"v{D + i}" for i in range(slot.count)]
    texts.append(address)
    texts += [
        _vgpr(slot, rng) if slot.count < 3 else span("v", 4 * rng.randrange(3, 10), slot.count) for slot in row.src[1:]
    ]
    if row.dst:
        return Probe(row.name, f"{row.name} {', '.join(texts)}{offset}", [], ["s_waitcnt lgkmcnt(0)"], results)
    return Probe(
        row.name, f"{row.name} {', '.join(texts)}{offset}", [], _read_back(), [f"v{n}" for n in range(104, 120)]
    )


def _global(row, rng):
    """GLOBAL loads and stores in 64 bytes of the lane's own, by address or by base and offset."""
    size = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2}.get(row.name.split("_")[2], 4)
    total = size if size < 4 else 4 * (row.dst or row.src[-1:])[0].count
    offset = rng.choice(range(-32, 33 - total, size))
    tail = rng.choice(
        [f"{GLOBAL_PAIR}, {{}}off offset:{offset}", f"{GLOBAL_OFFSET}, {{}}{GLOBAL_BASE} offset:{offset}"]
    )
    if row.dst:
        count = row.dst[0].count
        results = [f"v{D + i}" for i in range(count)]
        return Probe(
            row.name, f"{row.name} {span('v', D, count)}, {tail.format('')}", [], ["s_waitcnt vmcnt(0)"], results
        )
    slot = row.src[-1]
    data = _vgpr(slot, rng) if slot.count < 3 else span("v", 4 * rng.randrange(3, 10), slot.count)
    after = [
        f"global_load_dwordx4 v[{104 + 4 * i}:{107 + 4 * i}], {GLOBAL_PAIR}, off offset:{16 * i - 32}" for i in range(4)
    ]
    results = [f"v{n}" for n in range(104, 120)]
    return Probe(
        row.name,
        f"{row.name} {tail.format(data + ', ')}",
        ["s_waitcnt vmcnt(0)"],
        [*after, "s_waitcnt vmcnt(0)"],
        results,
    )


def probe(encoding, row, rng, _number):
    """A line for plain loads and stores of DS and GLOBAL."""
    if encoding == "DS" and row.name.startswith(("ds_read", "ds_write")) and "tr_" not in row.name:
        return _lds(row, rng)
    if encoding == "GLOBAL" and row.name.startswith(("global_load", "global_store")) and "lds" not in row.name:
        return _global(row, rng)
    return None
