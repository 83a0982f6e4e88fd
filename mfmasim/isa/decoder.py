"""Bytes to instructions."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable

from mfmasim.architectures import Arch
from mfmasim.errors import UnsupportedError
from mfmasim.isa import dual, memory, packed, scalar, vector
from mfmasim.isa.encodings import Encoding
from mfmasim.isa.family import Family, family
from mfmasim.isa.fields import Fields, Refused
from mfmasim.isa.instruction import Instruction
from mfmasim.isa.parts import Parts
from mfmasim.isa.rows import Row

# Most bytes that one instruction has: a scale prefix and its matrix instruction.
_LONGEST = 16
_MOST_CACHED = 1 << 16

_BUILD: dict[str, Callable[[Fields], Parts]] = {
    "SOP1": scalar.sop,
    "SOP2": scalar.sop,
    "SOPC": scalar.sop,
    "SOPK": scalar.sopk,
    "SOPP": scalar.sopp,
    "SMEM": scalar.smem,
    "VOP1": vector.short_form,
    "VOP2": vector.short_form,
    "VOPC": vector.short_form,
    "VOP3": vector.long_form,
    "VINTERP": vector.interpolation,
    "VOP3P": packed.packed,
    "MAI": packed.matrix,
    "DS": memory.ds,
    "FLAT": memory.flat,
    "SCRATCH": memory.flat,
    "GLOBAL": memory.flat,
    "MUBUF": memory.mubuf,
    "SMEM_RDNA": scalar.smem_rdna,
    "VFLAT": memory.vflat,
    "VBUFFER": memory.mubuf,
    "WMMA": packed.wmma,
    "VOPD": dual.vopd,
    "VOPD3": dual.vopd3,
    "TENSOR": memory.tensor,
}


def decode(
    code: bytes | memoryview, arch: str | Arch, pc: int = 0, offset: int = 0, wave: int | None = None
) -> Instruction:
    """Decode one instruction.

    Args:
        code: machine code.
        arch: architecture, by name or as data.
        pc: address of the instruction, for branch targets and errors.
        offset: where the instruction starts in `code`, in bytes.
        wave: lanes of a wave, as the kernel descriptor says; without it the architecture's default size.

    Returns:
        The instruction; its `size` says where the next one starts.

    Raises:
        MfmasimError: the bytes are not an instruction of this architecture, or are truncated. The message names the
            address, the bytes and the architecture.

    >>> decode(bytes.fromhex("01050002"), "gfx942").text
    'v_add_f32_e32 v0, v1, v2'
    """
    found = family(arch, wave)
    data = bytes(code[offset : offset + _LONGEST])
    return _placed(_template(found, _CACHES[found.arch.name, found.arch.target, found.wave], data, 0, pc), pc)


def decode_range(
    code: bytes | memoryview, arch: str | Arch, base: int = 0, wave: int | None = None
) -> list[Instruction]:
    """Decode consecutive instructions until the end of `code`.

    Args:
        code: machine code.
        arch: architecture, by name or as data.
        base: address of the first byte.
        wave: see `decode`.

    Returns:
        The instructions in order. If the text of any has to name halves of registers (``v0.l``), all texts do.

    Raises:
        MfmasimError: see `decode`.
    """
    found = family(arch, wave)
    cache = _CACHES[found.arch.name, found.arch.target, found.wave]
    data = bytes(code)
    templates = []
    offset = 0
    while offset < len(data):
        template = _template(found, cache, data, offset, base + offset)
        templates.append(template)
        offset += template.size
    if any(template.named_halves for template in templates):
        named = {template.raw: _with_names(template) for template in templates}
        templates = [named[template.raw] for template in templates]
    instructions = []
    for template in templates:
        instructions.append(_placed(template, base))
        base += template.size
    return instructions


def _with_names(instruction: Instruction) -> Instruction:
    if instruction.named_halves or not _has_halves(instruction):
        return instruction
    return dataclasses.replace(instruction, named_halves=True)


def _has_halves(found: Instruction | Parts) -> bool:
    return any(operand.half for operand in (*found.dst, *found.src))


class _Cache:
    """Instructions of one family by their bytes, at address 0. The same bytes recur, and decoding is slow."""

    def __init__(self) -> None:
        self.sizes: dict[bytes, int] = {}
        """First dword to the size of the whole instruction, or to 0 where the second one is needed too; then both."""
        self.templates: dict[bytes, Instruction] = {}


_CACHES: defaultdict[tuple[str, str, int], _Cache] = defaultdict(_Cache)


def _template(found: Family, cache: _Cache, data: bytes, offset: int, pc: int) -> Instruction:
    """The instruction at an offset of `data`, set to address 0; `pc` is its address in errors."""
    sizes = cache.sizes
    size = sizes.get(data[offset : offset + 4], _LONGEST) or sizes.get(data[offset : offset + 8], _LONGEST)
    template = cache.templates.get(data[offset : offset + size])
    return _learn(found, cache, data[offset : offset + _LONGEST], pc) if template is None else template


def _learn(found: Family, cache: _Cache, data: bytes, pc: int) -> Instruction:
    """Decode the first instruction of `data` and keep it."""
    try:
        template = _build(found, data)
        if found.withheld:
            _check_target(found, template)
    except Refused as reason:
        words = " ".join(f"{int.from_bytes(data[i : i + 4], 'little'):08x}" for i in range(0, min(len(data), 8), 4))
        raise UnsupportedError(
            f"cannot decode {words or 'nothing'} at {pc:#x} for {found.arch.name}: {reason}"
        ) from None
    if len(cache.templates) >= _MOST_CACHED:
        cache.templates.clear()
        cache.sizes.clear()
    encoding = encoding_of(found, data)
    if encoding.name == "VOP3P" and _opcode_field(encoding, data) in found.dialect.scale_ops:
        pass  # the following bytes determine whether the prefix belongs to the instruction
    elif found.dialect.long_literals and template.size >= 8 and encoding.size == 8:
        # The sources in the second dword determine whether a literal follows.
        cache.sizes[data[:4]] = 0
        cache.sizes[data[:8]] = template.size
    else:
        cache.sizes[data[:4]] = template.size
    cache.templates[template.raw] = template
    return template


def _opcode_field(encoding: Encoding, data: bytes) -> int:
    return encoding.opcode(int.from_bytes(data[:8], "little"))


def _placed(template: Instruction, pc: int) -> Instruction:
    """An instruction at its address."""
    # Copying the dictionary takes a third of the time of the frozen dataclass's constructor.
    instruction: Instruction = object.__new__(Instruction)
    state = template.__dict__.copy()
    object.__setattr__(instruction, "__dict__", state)
    state["pc"] = pc
    state["_template"] = template
    if template.target is not None:
        state["target"] = template.target + pc
    if template.halves:
        state["halves"] = tuple(dataclasses.replace(half, pc=pc) for half in template.halves)
    return instruction


def _check_target(found: Family, instruction: Instruction) -> None:
    """Refuse operations that the generic target of the code lacks."""
    for part in (instruction, *instruction.halves):
        if part.name in found.withheld:
            raise Refused(found.arch.absent(part.name))


def _build(found: Family, data: bytes) -> Instruction:
    if len(data) < 4:
        raise Refused("the code ends inside the instruction")
    dword = int.from_bytes(data[:4], "little")
    encoding = encoding_of(found, data)
    size = encoding.size
    if encoding.name in ("VOP1", "VOP2", "VOPC") and dword & 0x1FF in found.dialect.second_dword:
        size = 8
    if len(data) < size:
        raise Refused("the code ends inside the instruction")
    word = int.from_bytes(data[:size], "little")
    op = encoding.opcode(word)
    if "MAI" in found.rows and encoding.name == "VOP3P" and op == packed.SCALE_OP:
        return _build_scaled(found, encoding, word, data)
    if op in found.dialect.scale_ops and encoding.name == "VOP3P" and (scaled := _scaled_row(found, encoding, data)):
        return _build_prefixed(found, encoding, scaled, data)
    kind, row, promoted = find_row(found, encoding, op, word)
    fields = Fields(word, size, encoding.fields, data[size:], row, found, kind)
    fields.ignore("reserved", word & encoding.reserved)
    parts = (
        vector.long_form(fields, promoted=promoted)
        if promoted
        else _BUILD[kind if kind in ("MAI", "WMMA") else encoding.reader](fields)
    )
    fields.finish()
    return _freeze(found, data, fields.size, parts, encoding.name, row, fields.ignored)


def encoding_of(found: Family, data: bytes) -> Encoding:
    """The microcode format of the instruction that `data` begins with.

    Raises:
        Refused: no format has its prefix, or the format is not decoded.
    """
    encoding = found.dialect.encodings.identify(int.from_bytes(data[:4], "little"))
    if encoding is None:
        raise Refused("no encoding has this prefix")
    if encoding.refused:
        raise Refused(f"{encoding.name} instructions are not decoded")
    return encoding


def find_row(found: Family, encoding: Encoding, op: int, word: int) -> tuple[str, Row, str]:
    """The row of an opcode.

    Args:
        found: instruction set.
        encoding: microcode format of the instruction.
        op: its opcode field.
        word: the whole instruction, which may contain a segment.

    Returns:
        Key of the table, row, and of a VOP3 form the short encoding that the operation has too (else empty).

    Raises:
        Refused: the opcode does not exist.
    """
    kind = encoding.name
    if kind == "VOP3" and op in found.promoted:
        promoted, row = found.promoted[op]
        return kind, row, promoted
    if kind == "VOP3P":
        kind = next((name for name in ("MAI", "WMMA") if op in found.rows.get(name, ())), kind)
    if "seg" in encoding.fields:
        kind, rows = memory.flat_rows(found, word >> encoding.fields["seg"][0] & 3)
    elif kind in ("VOPD", "VOPD3"):
        rows = found.rows[f"{kind}X"]
    else:
        rows = found.rows[kind]
    row_or_none = rows.get(op)
    if row_or_none is None:
        raise Refused(f"{kind} has no opcode {op:#x}")
    return kind, row_or_none, ""


def _build_scaled(found: Family, encoding: Encoding, word: int, data: bytes) -> Instruction:
    """The 16-byte form: scale prefix, then an f8f6f4 matrix instruction."""
    second = int.from_bytes(data[8:16], "little")
    row = found.rows["MAI"].get(encoding.opcode(second))
    if len(data) < 16 or not encoding.matches(second & 0xFFFFFFFF) or row is None or row.src[0].type != "f8f6f4":
        raise Refused("a scale prefix must be followed by an f8f6f4 matrix instruction")
    prefix = Fields(word, 8, encoding.fields, b"", row, found)
    fields = Fields(second, 8, encoding.fields, b"", row, found)
    parts = packed.scaled_matrix(prefix, fields)
    prefix.finish()
    fields.finish()
    ignored = [(f"scale_{name}", value) for name, value in prefix.ignored]
    return _freeze(found, data, 16, parts, "MAI", row, ignored + fields.ignored)


def _scaled_row(found: Family, encoding: Encoding, data: bytes) -> Row | None:
    """The row of the WMMA that takes the scales which the code begins with, if that is what follows."""
    row = found.rows["WMMA"].get(_opcode_field(encoding, data[8:]))
    follows = len(data) >= _LONGEST and encoding.matches(int.from_bytes(data[8:12], "little"))
    return row if follows and row is not None and "scaled" in row.flags else None


def _build_prefixed(found: Family, encoding: Encoding, row: Row, data: bytes) -> Instruction:
    """VOP3PX2 of CDNA5: the first half has the scales of the WMMA in the second."""
    word, second = (int.from_bytes(data[at : at + 8], "little") for at in (0, 8))
    prefix = Fields(word, 8, encoding.fields, b"", row, found)
    fields = Fields(second, 8, encoding.fields, b"", row, found)
    parts = packed.prefixed_matrix(prefix, fields, found.dialect.scale_ops[_opcode_field(encoding, data)])
    prefix.finish()
    fields.finish()
    ignored = [(f"scale_{name}", value) for name, value in prefix.ignored]
    return _freeze(found, data, 16, parts, "WMMA", row, ignored + fields.ignored)


def _freeze(
    found: Family, data: bytes, size: int, parts: Parts, encoding: str, row: Row, ignored: list[tuple[str, int]]
) -> Instruction:
    return Instruction(
        0,
        size,
        data[:size],
        parts.opcode or row.opcode,
        parts.encoding or encoding,
        tuple(parts.dst),
        tuple(parts.src),
        parts.modifiers,
        parts.target,
        found.arch.name,
        parts.form,
        tuple(
            Instruction(
                0,
                size,
                data[:size],
                half,
                "VOPD",
                tuple(part.dst),
                tuple(part.src),
                part.modifiers,
                arch=found.arch.name,
            )
            for half, part in parts.halves
        ),
        _names_halves(parts, row),
        tuple(ignored),
    )


def _names_halves(parts: Parts, row: Row) -> bool:
    """Whether LLVM has this instruction only with names of halves: by default, or as it omits one without them."""
    if not _has_halves(parts):
        return False
    shown = "".join(row.flags["plain"]) if "plain" in row.flags and parts.form in ("", "_e64", "_e64_dpp") else ""
    hidden = parts.modifiers.get("op_sel", 0) & ~sum(1 << int(bit) for bit in shown)
    return "plain" not in row.flags or bool(hidden)
