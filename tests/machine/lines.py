"""Assembly lines for every operation, drawn from the decoder's rows: operands of all kinds, all forms, all modifiers.

The frame around them (see frame.py) fixes the registers: v10..v41 and s20..s51 are inputs, v100.. and s70.. results.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mfmasim.architectures import arch as architecture
from mfmasim.isa.family import family
from mfmasim.machine.opcodes.registry import OPERATIONS
from tests.machine.spelling import split

V_INTEGER, V_FLOAT, V_WIDE, V_HALF = range(10, 18), range(18, 26), range(26, 34), range(34, 38)
V_RANDOM = range(38, 42)
S_POOL = range(20, 52)
S_TYPED = {"f32": range(28, 36), "f16": range(38, 42)}
"""Scalars that hold numbers of a type."""

FORMS = {
    # form: a line that has it
    "special scalar source": "s_cselect_b32 s70, s20, src_execz",
    "integer clamp": "v_add_u32_e64 v100, v10, v11 clamp",
    "sdwa sign-extended result": "v_not_b32_sdwa v100, v10 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0",
    "dpp": "v_mov_b32_dpp v100, v10 row_shl:1 row_mask:0xf bank_mask:0xf",
    "dpp with arithmetic": "v_fmac_f32_dpp v100, v10, v11 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf",
}
"""Forms that a machine may refuse as a whole; the lines below have only those that it takes."""


@dataclass(frozen=True)
class Target:
    """Whom the lines are for."""

    rdna: bool = False
    gfx10: bool = False
    gfx12: bool = False
    lanes: int = 64
    returning: str = "sc0"
    """The bit of an atomic that wants the old value, on CDNA."""
    cdna5: bool = False
    one_counter: bool = False
    """DS_APPEND and DS_CONSUME of all waves of a workgroup have one counter, as they do not add M0."""


target = Target()
"""The architecture that lines are drawn for; `aim` sets it."""
duals = {}
"""Encoding of a side of VOPD: names of its operations."""
encoding = ""
"""The encoding of the row that is being drawn."""


def aim(arch, rows=()):
    """Draw for an architecture such as ``gfx1151`` or ``gfx1201:64``, whose rows are name -> [(encoding, row)]."""
    global target  # noqa: PLW0603
    name, lanes = split(arch)
    returning = family(name).dialect.cache.get("glc", "")
    target = Target(
        name.startswith("gfx1"),
        name.startswith("gfx10"),
        name.startswith("gfx12"),
        lanes,
        "sc0" if name.startswith("gfx1") else returning,
        cdna5=name == "gfx1250",
        one_counter=not architecture(name).lds.append_adds_m0,
    )
    for side in ("VOPDX", "VOPDY"):
        duals[side] = sorted(found for found in rows if any(encoding == side for encoding, _ in rows[found]))
        if target.cdna5:  # the dot products are those of the matrix instructions, which have other judges
            duals[side] = [found for found in duals[side] if not found.startswith("v_dot2")]


taken = set(FORMS)
"""Forms to draw; the test fills it with what the machine takes."""
_NO_HALVES = {"v_alignbit_b32", "v_alignbyte_b32"}
"""They decode op_sel, but have no 16-bit operand that it could select."""
LDS_OWN, LDS_STRIDED, LDS_OUTSIDE, GLOBAL_PAIR, GLOBAL_OFFSET = "v42", "v43", "v44", "v[6:7]", "v45"
SDATA, GLOBAL_BASE = "s[6:7]", "s[12:13]"
D, S = 100, 70
INLINE = (0, 1, 2, 5, 31, 32, 33, 63, 64, -1, -2, -16)
INLINE_FLOAT = ("0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494")
LITERALS = (
    "0x80000000",
    "0x7fffffff",
    "0xffffff80",
    "0x12345678",
    "0x7f800001",
    "0xff800000",
    "0x00400000",
    "0x3f800001",
)


@dataclass
class Probe:
    """One instruction under test, what goes before it, and the registers to look at afterwards."""

    name: str
    line: str
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    """VGPRs or SGPRs, one dword each."""


def span(file, first, count):
    """LLVM's spelling of consecutive registers."""
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def _width(slot):
    return slot.count


def _vgpr(slot, rng):
    if slot.count == 1:
        pools = {"f32": V_FLOAT, "f16": V_HALF, "u16": V_INTEGER, "i16": V_INTEGER}
        pool = rng.choice([pools.get(slot.type, V_INTEGER), V_RANDOM, V_INTEGER, V_FLOAT])
        return f"v{rng.choice(pool)}"
    pools = (V_WIDE, V_FLOAT, V_INTEGER, V_RANDOM)
    starts = [n for pool in rng.choices(pools, (5, 1, 1, 1)) for n in pool if n % 2 == 0 and n + slot.count - 1 in pool]
    return span("v", rng.choice(starts), slot.count)


def _sgpr(slot, rng):
    if slot.type in S_TYPED and rng.random() < 0.6:
        return f"s{rng.choice(S_TYPED[slot.type])}"
    step = 1 if slot.count == 1 else 2 if slot.count == 2 else 4
    return span("s", rng.choice([n for n in S_POOL if n % step == 0 and n + slot.count - 1 in S_POOL]), slot.count)


def _constant(slot, rng, literal):
    kinds = (
        ["integer"] * 3 + (["float"] * 2 if slot.type[0] in "fb" else ["float"]) + (["literal"] * 2 if literal else [])
    )
    kind = rng.choice(kinds)
    if kind == "integer":
        return str(rng.choice(INLINE))
    if kind == "literal":
        return rng.choice(LITERALS) if slot.type != "f16" else "0x" + rng.choice(LITERALS)[-4:]
    return rng.choice(INLINE_FLOAT)


def _signs(text, slot, rng, chance=0.35):
    if not slot.signed or text[0] == "-" or rng.random() > chance:
        return text
    return rng.choice([f"-{text}", f"|{text}|", f"-|{text}|"])


def _source(slot, rng, *, vector=0.55, literal=False, signs=False):
    """A source of the 9-bit operand space."""
    if slot.file == "a":
        return f"a{rng.randrange(8)}"
    if slot.file == "v":
        return _vgpr(slot, rng)
    if slot.file == "s":
        return rng.choice([_sgpr(slot, rng), str(rng.choice(INLINE))])
    point = rng.random()
    text = (
        _vgpr(slot, rng)
        if point < vector
        else _sgpr(slot, rng)
        if point < vector + 0.2
        else _constant(slot, rng, literal)
    )
    return _signs(text, slot, rng) if signs else text


def _destinations(row, mask):
    """(texts, results): vector results from v100, masks in `mask`, scalars from s70."""
    texts, results = [], []
    for slot in row.dst:
        if slot.type == "exec":
            results += ["exec_lo", "exec_hi"]
        elif slot.type == "vcc":
            texts.append(mask)
            results += ["vcc_lo", "vcc_hi"] if mask == "vcc" else [f"s{S}", f"s{S + 1}"]
        elif slot.file == "s":
            texts.append(span("s", S, slot.count))
            results += [f"s{S + i}" for i in range(slot.count)]
        elif slot.file == "src0":
            continue
        else:
            file = "a" if slot.file == "a" else "v"
            texts.append(span(file, D, slot.count))
            results += [f"{file}{D + i}" for i in range(slot.count)]
    return texts, results


def clamps(row):
    """Whether the clamp modifier has a meaning, and one that is drawn."""
    if row.dst[0].type[0] == "f" or row.dst[0].type.startswith("pk_f"):
        return True
    operation = OPERATIONS.get(row.name)
    return operation is not None and operation.saturates and "integer clamp" in taken


GENERATORS = []
"""Functions of (encoding, row, random, number), asked in this order; the families' files add theirs."""


def probe(encoding, row, rng, number):
    """One random line for a row, or None where no generator knows its encoding."""
    return next((p for generator in GENERATORS if (p := generator(encoding, row, rng, number)) is not None), None)
