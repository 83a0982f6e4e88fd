"""Random encodings of an RDNA opcode: field values that instructions really have, drawn field by field."""

from __future__ import annotations

from mfmasim.isa.dialects import GFX1250
from mfmasim.isa.encodings_rdna import GFX10, GFX11, GFX12
from tests.isa.encode import sdwa_dword

ENCODINGS = {"gfx10": GFX10, "gfx11": GFX11, "gfx12": GFX12, "gfx1250": GFX1250}
_CONSTANTS = [*range(128, 209), *range(240, 249)]
_LITERALS = (0x3F800000, 0x3C00, 0x80000000, 0x3E22F983, 0xFFFFFFFF, 0xBFF00000, 0x12345678, 0x41, 0x5)
_SEGMENT = {"FLAT": 0, "SCRATCH": 1, "GLOBAL": 2}
_PROMOTED = {"VOPC": 0x000, "VOP2": 0x100, "VOP1": 0x180}
_TABLE = {"WMMA": "VOP3P", "VOPDX": "VOPD", "VOPDY": "VOPD", "VOPD3X": "VOPD3", "VOPD3Y": "VOPD3"}


def _vector(random):
    """A low and aligned register half of the time, so that 16-bit and wide operands occur."""
    return random.randrange(256) & random.choice((0xFF, 0x7E, 0x7C))


def _scalar(random):
    return random.choice(
        (4 * random.randrange(26), 2 * random.randrange(53), random.randrange(128), 106, 124, 125, 126)
    )


def _source(random):
    vector = 256 + _vector(random)
    return random.choice((vector, vector, vector, _scalar(random), random.choice(_CONSTANTS), 253, 255))


def _field(random, name, width):
    """A plausible value of one field."""
    if name.startswith("src") and width == 9:
        return _source(random)
    if (name.startswith("src") or name == "soffset") and width == 8 and not name.endswith(("x", "y")):
        return random.choice((_vector(random), _scalar(random), random.choice(_CONSTANTS), 255))
    if name in ("sdst", "sdata", "saddr", "soffset", "srsrc"):
        return random.choice((_scalar(random), _scalar(random), 124, 125)) & ((1 << width) - 1)
    if width == 8 and name not in ("offset0", "offset1"):
        return _vector(random)
    full = (1 << width) - 1
    return random.choice((0, 0, random.randrange(full + 1), full))


def _word(random, encodings, encoding, op, fixed, sparse):
    """One instruction word; `sparse` leaves most of the fields zero."""
    fmt = encodings.by_name[encoding]
    word = int(fmt.prefix, 2) << (32 - len(fmt.prefix)) | fmt.placed(op)
    for name, (low, width) in fmt.fields.items():
        value = fixed.get(name)
        if value is None:
            value = 0 if sparse and random.random() < 0.7 else _field(random, name, width)
        word |= value << low
    return word.to_bytes(fmt.size, "little")


def _dpp_dword(random, *, long_form):
    control = random.choice((random.randrange(256), random.randrange(0x100, 0x180), 0x150 + random.randrange(32)))
    word = random.randrange(128) | control << 8 | random.randrange(4) << 18 | random.getrandbits(8) << 24
    if not long_form:
        word |= random.choice((0, 0, 1, 2, 3, 4, 8, 12)) << 20
    return word.to_bytes(4, "little")


def random_code(random, generation, encoding, op, form, row):
    """Bytes that may be an instruction of this opcode, followed by what could be its literal.

    Args:
        random: source of randomness.
        generation: ``gfx10``, ``gfx11``, ``gfx12`` or ``gfx1250``.
        encoding: key of the opcode table.
        op: opcode in that table.
        form: "", or one of "VOP3" (the long form of a short opcode), "SDWA", "DPP", "DPP8", "VOP3 DPP", "VOP3 DPP8".
        row: the opcode's row.
    """
    if form == "SCALED":
        return scaled_code(random, op, row)
    encodings = ENCODINGS[generation]
    sparse = random.random() < 0.5
    tail = random.choice((*_LITERALS, random.getrandbits(32))).to_bytes(4, "little")
    if generation == "gfx1250":
        tail += random.choice((0, 0, 0xFFFFFFFF, random.getrandbits(32))).to_bytes(4, "little")
    fixed = {}
    if encoding in _PROMOTED and form.startswith("VOP3"):
        op += _PROMOTED[encoding]
        if row.dst and all(slot.type == "exec" for slot in row.dst):
            fixed["vdst"] = 126
        encoding = "VOP3"
    if encoding == "VOP3" and sum(slot.printed for slot in row.src) < 3 and random.random() < 0.8:
        fixed["src2"] = 0
    elif encoding in ("WMMA", "VOP3P"):
        fixed |= {"op_sel_hi": 3, "op_sel_hi2": 1} if random.random() < 0.7 else {}
        if encoding == "WMMA":
            fixed |= {f"src{i}": 256 + _vector(random) for i in (0, 1)}
            fixed |= {"op_sel": random.choice((0, 0, 0, 1, 4))}
            fixed |= _cdna5_matrix(random, row)
    elif encoding.startswith("VOPD3"):
        half, other = ("x", "y") if encoding.endswith("X") else ("y", "x")
        fixed |= {f"src2{other}": 0, f"neg{other}": 0, f"neg{half}": random.choice((0, 0, 1, 3))}
        if sum(slot.printed for slot in row.src) < 3:
            fixed[f"src2{half}"] = random.getrandbits(8) if "bitop2" in row.flags else 0
        elif row.src[-1].type == "vcc":
            fixed[f"src2{half}"] = random.choice((106, random.randrange(106)))
        if row.name == "v_mov_b32":
            fixed[f"src1{half}"] = 0
        fixed["opy"], op = (random.choice((0, 3, 4, 16)), op) if half == "x" else (op, 4)
    elif encoding == "VIMAGE":
        fixed |= {"vaddr0": 20, "vaddr1": 40, "vaddr4": 124, "dim": 1, "dmask": 1}
        fixed |= random.choice(({"vaddr2": 60, "vaddr3": 80}, {"vaddr2": 124, "vaddr3": 124}))
        fixed |= dict.fromkeys(("r128", "d16", "a16", "tfe", "vdata", "rsrc"), 0)
    elif encoding == "VOPDY":
        fixed["opy"], op = op, 0
    elif encoding == "VOPDX":
        fixed["opy"] = random.choice((0, 3, 4, 16))
    if row.name == "v_mov_b32" and encoding in ("VOPDX", "VOPDY"):
        fixed["src1" + encoding[-1].lower()] = 0
    if "format" in encodings.by_name.get(encoding, encodings.by_name["SOP1"]).fields and "format" not in row.flags:
        fixed["format"] = 1
    if "DPP" in form:
        fixed["src0"] = random.choice((233, 234)) if form.endswith("8") else 250
        tail = (
            random.getrandbits(32).to_bytes(4, "little")
            if form.endswith("8")
            else _dpp_dword(random, long_form=" " in form)
        )
    if form == "SDWA":
        fixed["src0"], tail = 249, sdwa_dword(random, compare=encoding == "VOPC")
    if (encoding in _SEGMENT and encoding not in encodings.by_name) or (
        encoding == "FLAT" and generation in ("gfx10", "gfx11")
    ):
        fixed["seg"], encoding = _SEGMENT[encoding], "FLAT"
    return _word(random, encodings, _TABLE.get(encoding, encoding), op, fixed, sparse) + tail


def _cdna5_matrix(random, row):
    """Fields of a matrix instruction that hold something else on CDNA5."""
    if "formats" in row.flags:
        b = random.randrange(5)
        return {"op_sel": random.randrange(5), "op_sel_hi": b & 3, "op_sel_hi2": b >> 2}
    if "scaled" in row.flags:
        return {"op_sel": 0, "op_sel_hi": 3, "op_sel_hi2": 1}
    if "reuse" in row.flags:
        low = random.choice((0, 4, 5)) if "index_key" in row.flags else random.choice((0, 4))
        return {"op_sel": low, "op_sel_hi": 3, "op_sel_hi2": random.randrange(2)}
    if "scales" in row.flags:
        fields = {"op_sel": random.choice((0, 1, 4, 5)), "op_sel_hi": random.randrange(2), "src2": 256}
        return fields | {"neg_lo": random.randrange(3), "neg_hi": random.randrange(3)}
    return {}


def scaled_code(random, op, row):
    """A matrix instruction of CDNA5 behind the prefix that brings its scales."""
    prefix = random.choice((0x35, 0x3A))
    fields = {"op_sel": random.choice((0, 1, 4, 5)), "op_sel_hi": random.randrange(2), "src2": 256, "clamp": 0}
    fields |= {"neg_lo": random.randrange(3), "neg_hi": random.randrange(3), "vdst": 0}
    fields |= {f"src{i}": 256 + 2 * random.randrange(120) for i in range(2)}
    first = _word(random, ENCODINGS["gfx1250"], "VOP3P", prefix, fields, sparse=False)
    return first + random_code(random, "gfx1250", "WMMA", op, "", row)


def forms_of(encoding, row):
    """The forms that an opcode row says it has."""
    forms = [""]
    forms += ["SCALED"] if "scaled" in row.flags else []
    forms += ["SDWA"] if "sdwa" in row.flags else []
    forms += ["DPP", "DPP8"] if "dpp" in row.flags else []
    forms += ["VOP3"] if "e64" in row.flags else []
    forms += ["VOP3 DPP", "VOP3 DPP8"] if "e64dpp" in row.flags else []
    return forms
