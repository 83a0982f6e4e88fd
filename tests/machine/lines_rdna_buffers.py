"""Buffer resources of gfx11 and gfx12: two bits choose the check, two bits the swizzle."""

from __future__ import annotations


def resource(rng):
    """(lines that build a resource in s[80:83] over the wave's memory, address registers, modifiers, kind)."""
    kind = rng.choice(["raw", "raw", "short", "structured", "indexed", "unchecked", "tid", "swizzled"])
    lanes = ["v_subrev_u32_e32 v104, s86, v45"]
    index = [*lanes, "v_lshrrev_b32_e32 v104, 6, v104", "v_and_b32_e32 v105, 0, v45"]
    before, address, tail, stride, swizzle, check, flags = lanes, "v104", "offen", 0, 0, 3, 0
    records = 96 * 64 * 2
    if kind == "raw":
        # Without an index neither the stride nor a swizzle counts.
        stride, swizzle = rng.choice([(0, 0), (0, 0), (64, 0), (64, 1), (64, 3)])
    elif kind == "short":
        records = rng.choice([0, 100, 102, 2048, 1021])
    elif kind == "unchecked":
        records, check = rng.choice([0, 1]), 2
    elif kind in ("structured", "indexed"):
        # The offset may not leave the record, or only the index counts.
        stride, records, check = 64, rng.choice([3, 20, 192]), 0 if kind == "structured" else 1
        before, (address, tail) = index, rng.choice([("v104", "idxen"), ("v[104:105]", "idxen offen")])
    elif kind == "tid":
        stride, records, check, flags, before, address, tail = 64, rng.choice([0, 20, 50]), 1, 1 << 23, [], "off", ""
        if rng.random() < 0.3:
            before, address, tail = index, "v104", "idxen"
    elif kind == "swizzled":
        stride, records, swizzle, flags = 64, 192, rng.choice([1, 3]), rng.randrange(2) << 21
        before, address, tail = index, "v104", "idxen"
    flags |= rng.choice([20, 20, 20, 20, 20, 20, 20, 0]) << 12  # a format; without one the resource is unbound
    setup = [
        "v_readlane_b32 s86, v45, 0",
        "s_sub_u32 s86, s86, 32",
        "s_add_u32 s80, s12, s86",
        "s_addc_u32 s81, s13, 0",
        "s_and_b32 s81, s81, 0xffff",
        f"s_or_b32 s81, s81, {(stride | swizzle << 14) << 16:#x}",
        f"s_mov_b32 s82, {records}",
        f"s_mov_b32 s83, {flags | check << 28:#x}",
        f"s_mov_b32 s84, {rng.choice([0, 0, 4])}",
    ]
    return setup + before, address, tail, kind
