"""Random encodings of an opcode: field values that instructions really have, drawn field by field."""

from __future__ import annotations

from mfmasim.isa.encodings import GFX9

BY_NAME = GFX9.by_name
_SEGMENT = {"FLAT": 0, "SCRATCH": 1, "GLOBAL": 2}
_CONSTANTS = [*range(128, 209), *range(240, 249)]
_LITERALS = (0x3F800000, 0x3C00, 0x80000000, 0x3E22F983, 0xFFFFFFFF, 0xBFF00000, 0x12345678, 0x41, 0x5)


def _register(random):
    """An aligned register half of the time, so that wide operands occur."""
    number = random.randrange(256)
    return number & random.choice((0xFF, 0xFE, 0x7C))


def _scalar(random):
    return random.choice(
        (
            4 * random.randrange(24),
            2 * random.randrange(50),
            random.randrange(102),
            106,
            124,
            126,
            random.randrange(108, 124),
        )
    )


def _field(random, encoding, name, width):
    """A plausible value of one field."""
    if name in ("src0", "src1", "src2") and width == 9:
        return random.choice(
            (
                256 + _register(random),
                256 + _register(random),
                256 + _register(random),
                _scalar(random),
                random.choice(_CONSTANTS),
                253,
                255,
            )
        )
    if name in ("src0", "src1", "soffset") and width == 8 and encoding in ("SOP1", "SOP2", "SOPC", "MUBUF", "MTBUF"):
        return random.choice((_scalar(random), _scalar(random), random.choice(_CONSTANTS), 251, 255))
    if width >= 7 and name in ("sdst", "sdata", "saddr", "soffset"):
        return random.choice((_scalar(random), _scalar(random), 127, 0))
    if width == 8 and name not in ("offset0", "offset1"):
        return _register(random)
    full = (1 << width) - 1
    return random.choice((0, 0, random.randrange(full + 1), full))


def _word(random, encoding, op, fixed, sparse):
    """One instruction word; `sparse` leaves about half of the fields zero."""
    fmt = BY_NAME[encoding]
    word = int(fmt.prefix, 2) << (32 - len(fmt.prefix)) | fmt.placed(op)
    for name, (low, width) in fmt.fields.items():
        value = fixed.get(name)
        if value is None:
            value = 0 if sparse and random.random() < 0.7 else _field(random, encoding, name, width)
        word |= value << low
    return word.to_bytes(fmt.size, "little")


def sdwa_dword(random, *, compare=False):
    """The dword of SDWA controls; of a compare half of the time without a scalar destination."""
    if compare and random.random() < 0.5:
        return (random.randrange(256) | random.randrange(7) << 16 | random.randrange(7) << 24).to_bytes(4, "little")
    part = random.choice((6, 6, random.randrange(7)))
    second = random.randrange(256) | part << 8 | random.randrange(3) << 11 | random.choice((0, 0, 1, 4)) << 13
    second |= random.randrange(7) << 16 | random.choice((0, 8, 16, 1, 2)) << 19
    second |= random.choice((0, random.randrange(7) | random.choice((0, 8, 16, 32)))) << 24
    return second.to_bytes(4, "little")


def random_code(random, encoding, op, form=""):
    """Bytes that may be an instruction of this opcode, followed by what could be its literal.

    Args:
        random: source of randomness.
        encoding: key of the opcode table.
        op: opcode in that table.
        form: "", "SDWA", "DPP", "VOP3" (the long form of a short opcode) or "SCALED" (with a scale prefix).
    """
    sparse = random.random() < 0.5
    tail = random.choice((*_LITERALS, random.getrandbits(32))).to_bytes(4, "little")
    if form == "VOP3":
        op += {"VOPC": 0x000, "VOP2": 0x100, "VOP1": 0x140}[encoding]
        return _word(random, "VOP3", op, {}, sparse) + tail
    if form == "SDWA":
        second = sdwa_dword(random)
        return _word(random, encoding, op, {"src0": 249}, sparse) + second
    if form == "DPP":
        control = random.choice((random.randrange(256), random.randrange(0x100, 0x160), 0x150 + random.randrange(16)))
        second = random.randrange(256) | control << 8 | random.randrange(2) << 19 | random.getrandbits(8) << 24
        second |= random.choice((0, 0, 1, 2, 3, 4, 8, 12)) << 20
        return _word(random, encoding, op, {"src0": 250}, sparse) + second.to_bytes(4, "little")
    if form == "SCALED":
        vgprs = {"src0": 256 + random.randrange(256), "src1": 256 + random.randrange(256)}
        prefix = _word(random, "VOP3P", 0x2C, dict.fromkeys(BY_NAME["VOP3P"].fields, 0) | vgprs, sparse)
        prefix = (int.from_bytes(prefix, "little") | random.randrange(4) << 11 | random.randrange(4) << 59).to_bytes(
            8, "little"
        )
        low = {"op_sel": 1, "op_sel_hi2": 0, "neg_hi": random.randrange(5), "neg_lo": random.randrange(5)}
        return prefix + _word(random, "VOP3P", op, low, sparse)
    if encoding in _SEGMENT:
        return _word(random, "FLAT", op, {"seg": _SEGMENT[encoding]}, sparse)
    if encoding == "MAI":
        vgprs = {"src0": 256 + _register(random), "src1": random.choice((0, 256 + _register(random)))}
        return _word(random, "VOP3P", op, vgprs, sparse)
    return _word(random, encoding, op, {}, sparse) + tail


def forms_of(encoding, row):
    """The forms that an opcode row says it has."""
    forms = [""]
    forms += ["VOP3"] if "e64" in row.flags else []
    forms += ["SDWA"] if "sdwa" in row.flags else []
    forms += ["DPP"] if "dpp" in row.flags or "dpp64" in row.flags else []
    forms += ["SCALED"] if encoding == "MAI" and row.src[0].type == "f8f6f4" else []
    return forms
