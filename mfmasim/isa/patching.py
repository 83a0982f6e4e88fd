"""One instruction turned into another by changing a field or the opcode, for mutants of compiled code.

The new instruction has the same size and decodes; where no such instruction exists, the result is None.
"""

from __future__ import annotations

from mfmasim.errors import MfmasimError
from mfmasim.isa.decoder import decode, encoding_of, find_row
from mfmasim.isa.encodings import MAI, Encoding
from mfmasim.isa.family import family
from mfmasim.isa.instruction import Instruction


def _main(instruction: Instruction) -> int:
    """First byte of the instruction proper: after a scale prefix, if there is one."""
    return 8 if instruction.encoding == "MAI" and instruction.size == 16 else 0


def _encoding(instruction: Instruction) -> tuple[Encoding, dict[str, tuple[int, int]]]:
    """The microcode format, and its fields by name."""
    found = encoding_of(family(instruction.arch), instruction.raw[_main(instruction) :])
    return found, found.fields | (MAI if instruction.encoding == "MAI" else {})


def _replaced(instruction: Instruction, word: int, size: int, wave: int | None) -> bytes | None:
    """The bytes with another word instead of the instruction proper, if they decode to the same size."""
    start = _main(instruction)
    raw = instruction.raw[:start] + word.to_bytes(size, "little") + instruction.raw[start + size :]
    try:
        changed = decode(raw, instruction.arch, wave=wave)
    except MfmasimError:
        return None
    # A field that neither reads changes nothing.
    same = raw == instruction.raw or changed.ignored != instruction.ignored
    return raw if changed.size == instruction.size and not same else None


def field(instruction: Instruction, name: str) -> int | None:
    """Value of an encoding's field; None where no field has that name."""
    encoding, fields = _encoding(instruction)
    if name not in fields:
        return None
    low, width = fields[name]
    start = _main(instruction)
    return int.from_bytes(instruction.raw[start : start + encoding.size], "little") >> low & ((1 << width) - 1)


def with_fields(instruction: Instruction, values: dict[str, int], wave: int | None = None) -> bytes | None:
    """The instruction with other values in some fields of its encoding.

    Args:
        instruction: what to change.
        values: new values by the field's name in `mfmasim.isa.encodings`.
        wave: lanes of a wave; without it the architecture's default size.

    Returns:
        Its bytes; None when a field is missing or too narrow, nothing changes, or the result is not an instruction.
    """
    encoding, fields = _encoding(instruction)
    start = _main(instruction)
    word = int.from_bytes(instruction.raw[start : start + encoding.size], "little")
    for name, value in values.items():
        low, width = fields.get(name, (0, 0))
        if not 0 <= value < 1 << width:
            return None
        word = word & ~(((1 << width) - 1) << low) | value << low
    return _replaced(instruction, word, encoding.size, wave)


def with_operation(instruction: Instruction, name: str, wave: int | None = None) -> bytes | None:
    """The instruction with another operation of the same encoding and the same operands' fields.

    Args:
        instruction: what to change.
        name: base mnemonic of the other operation.
        wave: lanes of a wave; without it the architecture's default size.

    Returns:
        Its bytes; None when the encoding has no such operation, or the result is not an instruction of the same size.
    """
    found = family(instruction.arch, wave)
    encoding, _ = _encoding(instruction)
    start = _main(instruction)
    word = int.from_bytes(instruction.raw[start : start + encoding.size], "little")
    old = encoding.opcode(word)
    kind, _, promoted = find_row(found, encoding, old, word)
    base = found.dialect.promoted[promoted] if promoted else 0
    op = next((row.op + base for row in found.rows[promoted or kind].values() if row.name == name), None)
    if op is None:
        return None
    return _replaced(instruction, word & ~encoding.placed(old) | encoding.placed(op), encoding.size, wave)
