"""Assembly lines for packed integers, lanes and memory; `more` answers before the generators of lines.py."""

from __future__ import annotations

import lines
from slow_more_memory import PACKED

lines.SATURATES |= {"v_sad_hi_u8", "v_sad_u16", "v_msad_u8"}
lines._NO_HALVES |= {"v_ashr_pk_i8_i32", "v_ashr_pk_u8_i32"}  # op_sel selects a half of the destination only


def _packed(row, rng):
    """VOP3P of 16-bit integers: halves in any order, clamp where it can overflow."""
    count = len(row.src)
    texts = [lines._source(slot, rng, vector=0.7) for slot in row.src]
    tail = ""
    if rng.random() < 0.7:
        tail += f" op_sel:[{','.join(str(rng.randrange(2)) for _ in range(count))}]"
    if rng.random() < 0.7:
        tail += f" op_sel_hi:[{','.join(str(rng.randrange(2)) for _ in range(count))}]"
    if row.name.split("_")[2] in ("add", "sub", "mad") and rng.random() < 0.4:
        tail += " clamp"
    return lines.Probe(row.name, f"{row.name} v{lines.D}, {', '.join(texts)}{tail}", results=[f"v{lines.D}"])


def _half_of_destination(row, rng):
    probe = lines._long(row, rng, row.flags, "")
    if rng.random() < 0.5:
        probe.line += " op_sel:[0,0,0,1]"
    return probe


def more(encoding, row, rng, number):
    """One random line for a row of these families, None for another."""
    if row.name in PACKED:
        return _packed(row, rng)
    if row.name.startswith("v_ashr_pk"):
        return _half_of_destination(row, rng)
    return None
