"""Assembly lines of the operations that need operands of their own kind: MODE fields."""

from __future__ import annotations

import lines

MODE = "hwreg(HW_REG_MODE)"
RESTORE = f"s_setreg_imm32_b32 {MODE}, 0x3f0"


def _field(rng):
    offset = rng.randrange(0, 24)
    return f"hwreg(HW_REG_MODE, {offset}, {rng.randrange(1, 33 - offset)})"


def _mode(row, rng):
    """Read a field of MODE, or write one and look at all of it and at what an addition makes of it."""
    if row.name == "s_getreg_b32":
        value = f"s_setreg_b32 {MODE}, s{rng.choice(lines.S_POOL)}"
        return lines.Probe(row.name, f"{row.name} s70, {_field(rng)}", [value], [RESTORE], ["s70"])
    value = f"s{rng.choice(lines.S_POOL)}" if row.name == "s_setreg_b32" else rng.choice(lines.LITERALS)
    after = [f"s_getreg_b32 s70, {MODE}", f"v_add_f32_e32 v100, v{rng.choice(lines.V_FLOAT)}, v40", RESTORE]
    return lines.Probe(row.name, f"{row.name} {_field(rng)}, {value}", [], after, ["s70", "v100"])


def probe(encoding, row, rng, number):
    """A line for the rows that are these generators' business, else None."""
    if row.name in ("s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32"):
        return _mode(row, rng)
    if row.name in ("v_madak_f16", "v_madmk_f16"):
        first, second, half = (
            lines._source(row.src[0], rng),
            lines._vgpr(row.src[1], rng),
            f"0x{rng.randrange(1 << 16):04x}",
        )
        order = (first, half, second) if row.name == "v_madmk_f16" else (first, second, half)
        return lines.Probe(row.name, f"{row.name} v100, {', '.join(order)}", results=["v100"])
    return None


lines.GENERATORS.append(probe)
