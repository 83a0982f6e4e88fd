"""DPP: which lane a vector instruction reads its first source from."""

from __future__ import annotations

import dataclasses

SKIP, ZERO = "skip", "zero"
"""The lane is not written; the source counts as 0."""

_DPP_ROWS = {0x142: 0x30, 0x143: 0x20}


def dpp_lane(control, lane):
    """The lane that a DPP control reads for `lane`; None when there is none (CDNA3 and RDNA4 manuals, DPP_CTRL)."""
    row, place, count = lane & ~15, lane & 15, control & 15
    kind = control >> 4
    if control < 0x100:
        return (lane & ~3) + (control >> 2 * (lane & 3) & 3)
    if kind == 0x10:
        return lane + count if place < 16 - count else None
    if kind == 0x11:
        return lane - count if place >= count else None
    if kind == 0x12:
        return row + (place - count) % 16
    if kind == 0x15:
        return row + count
    if kind == 0x16:
        return row + (place ^ count)
    if control in _DPP_ROWS:
        source = (lane & _DPP_ROWS[control]) - 1
        return source if source >= 0 else None
    return {
        0x130: lane + 1 if lane < 63 else None,
        0x134: (lane + 1) % 64,
        0x138: lane - 1 if lane else None,
        0x13C: (lane - 1) % 64,
        0x140: row + 15 - place,
        0x141: (lane & ~7) + 7 - (lane & 7),
    }[control]


def origin(wave, ins, lane):
    """None without DPP; the lane to read, SKIP or ZERO.

    Disabled lanes of the masks are not written. A lane outside of its row (DPP16) or disabled in EXEC gives 0 with
    BOUND_CTRL and else disables the write; FI reads disabled lanes as if they were active (RDNA3 and RDNA4 manuals,
    fields of DPP16). DPP8 has no bounds, and reads 0 from disabled lanes unless FI is set.
    """
    modifiers = ins.modifiers
    if "dpp8" in modifiers:
        found = (lane & ~7) + (modifiers["dpp8"] >> 3 * (lane & 7) & 7)
        return found if modifiers.get("fi") or wave.exec_ >> found & 1 else ZERO
    if "dpp_ctrl" not in modifiers:
        return None
    if not (modifiers["row_mask"] >> (lane >> 4) & 1 and modifiers["bank_mask"] >> (lane >> 2 & 3) & 1):
        return SKIP
    found = dpp_lane(modifiers["dpp_ctrl"], lane)
    if found is not None and (modifiers.get("fi") or wave.exec_ >> found & 1):
        return found
    return ZERO if modifiers["bound_ctrl"] else SKIP


_FIELDS = {"dpp_ctrl", "dpp8", "row_mask", "bank_mask", "bound_ctrl", "fi"}


def moved(wave, ins, run):
    """Run an operation that knows nothing of DPP: its first source is moved into a register of its own before."""
    origins = {lane: origin(wave, ins, lane) for lane in wave.active()}
    enabled, before = wave.exec_, wave.v[ins.src[0].index]
    own = dataclasses.replace(ins.src[0], index=len(wave.v))
    wave.exec_ = sum(1 << lane for lane, found in origins.items() if found is not SKIP)
    read = [origins.get(lane, SKIP) for lane in range(len(before))]
    wave.v.append([0 if found in (SKIP, ZERO) else before[found] for found in read])
    plain = {key: value for key, value in ins.modifiers.items() if key not in _FIELDS}
    run(wave, dataclasses.replace(ins, modifiers=plain, src=(own, *ins.src[1:])))
    wave.exec_ = enabled
    wave.v.pop()
