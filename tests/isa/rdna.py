"""Probes of RDNA instructions: encodings put together from field values, and what LLVM answers."""

from __future__ import annotations

from mfmasim.architectures import arch as find_arch
from mfmasim.isa.dialects import DIALECTS, GFX1250
from mfmasim.isa.encodings_rdna import DPP8_WORD, DPP16_WORD, GFX10, GFX11, GFX12
from tests.isa.probing import operands, register

V = 256
EXEC = 126
DPP16, DPP8 = 250, 233


def null(arch):
    """Operand code of NULL."""
    return DIALECTS[find_arch(arch).encoding].codes.null


def words(encodings, name, op, **fields):
    """An instruction of the encoding `name` with the given fields, the others zero, and four more bytes."""
    fmt = encodings.by_name[name]
    word = int(fmt.prefix, 2) << (32 - len(fmt.prefix)) | fmt.placed(op)
    for field, value in fields.items():
        low, width = fmt.fields[field]
        assert 0 <= value < 1 << width, (name, field, value)
        word |= value << low
    return word.to_bytes(fmt.size, "little") + b"\x77\0\0\0"


def dpp_word(layout, **fields):
    """The dword of DPP controls."""
    word = 0
    for field, value in fields.items():
        low, width = layout[field]
        assert 0 <= value < 1 << width, (field, value)
        word |= value << low
    return word.to_bytes(4, "little")


def with_dpp16(code, **fields):
    fields = {"dpp_src0": 40, "dpp_ctrl": 0x1B, "bank_mask": 15, "row_mask": 15} | fields
    return code[:-4] + dpp_word(DPP16_WORD, **fields)


def with_dpp8(code):
    return code[:-4] + dpp_word(DPP8_WORD, dpp_src0=40, dpp8=0x053977)


def register_widths(parts):
    """First number to width of every register that a text names."""
    return {r[1]: r[2] for r in map(register, parts) if r}


def name_of(text):
    return operands(text)[0]


def generation(arch):
    """The key of an architecture in `GENERATIONS`."""
    name = find_arch(arch).instruction_set
    return name if name in GENERATIONS else name[:5]


GENERATIONS = {"gfx10": GFX10, "gfx11": GFX11, "gfx12": GFX12, "gfx1250": GFX1250}
