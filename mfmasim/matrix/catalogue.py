"""Finding a matrix instruction by name."""

from __future__ import annotations

from functools import cache, lru_cache

from mfmasim.architectures import SIMULATED, Arch
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.matrix.instruction import MatrixInstruction
from mfmasim.matrix.request import F8F6F4
from mfmasim.matrix.rows import TABLES, Row, other_spelling, spelling

_SHORT = {"fp6": "e2m3fn", "bf6": "e3m2fn", "fp4": "e2m1fn"}


def instructions(arch: str | Arch) -> list[str]:
    """Names of an architecture's matrix instructions, sorted, in LLVM's spelling for it.

    >>> [name for name in instructions("gfx950") if "scale" in name]
    ['v_mfma_scale_f32_16x16x128_f8f6f4', 'v_mfma_scale_f32_32x32x64_f8f6f4']
    """
    found = find_arch(arch)
    return sorted(name for name in _names(rows_of(found))[0] if not found.lacks(name))


def rows_of(found: Arch) -> str:
    """Name of the architecture whose rows it has: its own, where its generation has a table for it alone."""
    return found.name if found.variant and found.name in SIMULATED else found.instruction_set


def instruction(
    arch: str | Arch, name: str, a: str | None = None, b: str | None = None, wave: int | None = None
) -> MatrixInstruction:
    """Look up a matrix instruction.

    Args:
        arch: architecture or its name.
        name: LLVM's spelling on that architecture, or the spelling of the other generations
            (``v_mfma_f32_32x32x8f16`` and ``v_mfma_f32_32x32x8_f16`` are one); case does not matter.
        a: number format of A, where the instruction leaves a choice: the five formats of f8f6f4 (e4m3fn unless
            given), i8 or u8, i4 or u4 for iu8 and iu4 (unsigned unless given, as with NEG = 0).
        b: number format of B.
        wave: lanes of the wave; the architecture's first wave size unless given.

    Returns:
        The instruction; the same object for the same arguments.

    Raises:
        MfmasimError: unknown name (with the nearest ones, and the architectures that have it), format or wave size.

    >>> op = instruction("gfx942", "v_mfma_f32_32x32x16_fp8_fp8")
    >>> op.A.layout.formula, op.A.locate(3, 9)
    ('lane = i%32 + 32*(k/8%2) ; item = k%8', [Place(lane=35, vgpr=0, bit=8)])
    """
    found = find_arch(arch)
    if found.lacks(str(name).lower()):
        error = unknown("matrix instruction", name, instructions(found), f"on {found.name}")
        raise MfmasimError(f"{error}; {found.elsewhere}") if found.elsewhere else error
    return _find(rows_of(found), str(name).lower(), a, b, wave)


@lru_cache(maxsize=4096)
def _find(arch_name: str, name: str, a: str | None, b: str | None, wave: int | None) -> MatrixInstruction:
    arch = SIMULATED[arch_name]
    names, aliases = _names(arch_name)
    row = names.get(name) or aliases.get(name)
    if row is None:
        raise _unknown(arch, name, names)
    if wave is None:
        wave = arch.wave_sizes[0]
    if wave not in arch.wave_sizes:
        allowed = " or ".join(map(str, arch.wave_sizes))
        raise MfmasimError(f"{arch.name} has no wave of {wave!r} lanes; it has {allowed}")
    table = TABLES[arch.generation]
    formats = (_format(arch, row, row.a, a, "a"), _format(arch, row, row.b, b, "b"))
    return _make(arch_name, spelling(row, joined=table.joined), *formats, wave)


@lru_cache(maxsize=4096)
def _make(arch_name: str, name: str, a: str, b: str, wave: int) -> MatrixInstruction:
    arch = SIMULATED[arch_name]
    return MatrixInstruction(arch, name, wave, a, b, _names(arch_name)[0][name], TABLES[arch.generation])


@cache
def _names(arch_name: str) -> tuple[dict[str, Row], dict[str, Row]]:
    """Rows by name and by alias."""
    table = TABLES[SIMULATED[arch_name].generation]
    names = {spelling(row, joined=table.joined): row for row in table.rows}
    aliases = {other_spelling(row, joined=table.joined) or "": row for row in table.rows}
    return names, {name: row for name, row in aliases.items() if name and name not in names}


def format_choices(word: str, arch: Arch) -> tuple[str, ...]:
    """Number formats that an operand of an instruction may have, by the word in the instruction's name."""
    if word == "f8f6f4":
        return F8F6F4
    if word in {"iu8", "iu4"}:
        return (f"u{word[2:]}", f"i{word[2:]}")
    return ({"fp8": arch.fp8_format, "bf8": arch.bf8_format, "f4": "e2m1fn"}.get(word, word),)


def _format(arch: Arch, row: Row, word: str, given: str | None, side: str) -> str:
    """Number format of A or B from the word in the name and the caller's choice."""
    choice = format_choices(word, arch)
    if given is None:
        return choice[0]
    fmt = {"fp8": arch.fp8_format, "bf8": arch.bf8_format}.get(given, _SHORT.get(given, given))
    if fmt not in choice:
        raise unknown("format", given, choice, f"for {side} of {spelling(row, joined=TABLES[arch.generation].joined)}")
    return fmt


def _unknown(arch: Arch, name: str, names: dict[str, Row]) -> MfmasimError:
    error = str(unknown("matrix instruction", name, names, f"on {arch.name}"))
    owners = [one.name for one in SIMULATED.values() if rows_of(one) == one.name]
    having = [other for other in owners if any(name in known for known in _names(other))]
    return MfmasimError(f"{error}; {', '.join(having)} {'have' if len(having) > 1 else 'has'} it" if having else error)
