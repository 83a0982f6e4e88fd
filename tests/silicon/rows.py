"""Literal results of GPUs: golden/hardware/rows.csv, executed."""

from functools import cache

import numpy as np

from tests.captures import table
from tests.silicon.execute import run


@cache
def groups(capture, arch):
    """By instruction and MODE: sources, VCC and results."""
    found = {}
    for row in table("rows.csv"):
        if (row["capture"], row["arch"]) == (capture, arch):
            found[row["instruction"], int(row["mode"], 16)] = [_parsed(text) for text in row["rows"].split("; ")]
    return found


def _parsed(text):
    left, _, right = text.partition(" = ")
    words = left.split()
    return [int(x, 16) for x in words if x != "vcc"], "vcc" in words, int(right, 16)


def _of_lanes(instruction):
    """An instruction on scalar registers, s20 from s4 and s6, for each lane of a wave of 32."""
    if not instruction.startswith("s_"):
        return instruction
    copies = [f"v_readlane_b32 s{k}, v{k}, {{lane}}" for k in (4, 6)]
    lines = "\n".join([*copies, instruction.replace("{", "{{"), "v_writelane_b32 v20, s20, {lane}"])
    return "\n".join(lines.format(lane=lane) for lane in range(32))


def differences(capture, arch):
    """What differs, a line for each value, and how many values were compared."""
    parts, wanted = [], []
    for (instruction, mode), rows in sorted(groups(capture, arch).items(), key=lambda item: item[0][1]):
        for sources, vcc, result in rows:
            parts.append((mode, *[*sources, 0, 0, 0][:3], vcc))
            wanted.append((instruction, result))
    # A wave has one MODE: its rows are filled up to whole waves.
    order, waves = [], []
    for mode in sorted({part[0] for part in parts}):
        chosen = [k for k, part in enumerate(parts) if part[0] == mode]
        fill = -len(chosen) % 32
        order += [*chosen, *[chosen[-1]] * fill]
        waves += [True] * len(chosen) + [False] * fill
    lines = sorted({instruction for instruction, _ in wanted})
    mode, *sources, vcc = (np.array(column, np.uint64) for column in zip(*(parts[k] for k in order), strict=True))
    bodies, modes = [_of_lanes(line) for line in lines], mode.astype(np.uint32)
    results, _ = run(bodies, sources, arch=arch, modes=modes, vcc=vcc, start=sources[2])
    found, compared = [], 0
    for place, (number, counts) in enumerate(zip(order, waves, strict=True)):
        instruction, result = wanted[number]
        width = 16 if "v20.l" in instruction else 64 if "v[20:21]" in instruction else 32
        if "mixhi" in instruction:
            out = int(results[lines.index(instruction), place]) >> 16 << 16 & 0xFFFFFFFF
        else:
            width = 16 if "mixlo" in instruction else width
            out = int(results[lines.index(instruction), place]) & (1 << width) - 1
        compared += counts
        if counts and out != result:
            given = " ".join(f"{s[place]:x}" for s in sources)
            found.append(f"{instruction}, MODE {mode[place]:#x}, {given}: {out:#x}, hardware {result:#x}")
    return found, compared
