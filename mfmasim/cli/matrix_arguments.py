"""Arguments shared by `show` and `where`: the instruction, its formats, its modifiers, the operand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from mfmasim.matrix import Fragment, MatrixInstruction

OPERANDS = ("A", "B", "C", "D", "scale_A", "scale_B", "index")

BUILTIN = "__builtin_amdgcn_"
_MODIFIERS = {
    "cbsz": "broadcast size of A's blocks",
    "abid": "block of A that is broadcast, or set of sparse indices",
    "blgp": "lane-group permutation of B",
    "op_sel": "half of 16-bit C and D (4: upper), or set of sparse indices",
    "scale_a_byte": "byte of A's scale register",
    "scale_b_byte": "byte of B's scale register",
    "scale_a_row": "CDNA5: 1 takes A's scales from lanes 16 to 31",
    "scale_b_row": "CDNA5: 1 takes B's scales from lanes 16 to 31",
    "scale_a_format": "CDNA5: format of A's scales, 0 E8M0, 1 E5M3, 2 E4M3",
    "scale_b_format": "CDNA5: format of B's scales, 0 E8M0, 1 E5M3, 2 E4M3",
}


def add_instruction(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add architecture, instruction, formats, wave size and modifiers."""
    parser.add_argument("arch", help="architecture or product, such as gfx942 or mi300x")
    count = None if required else "?"
    parser.add_argument("instruction", nargs=count, help="matrix instruction, such as v_mfma_f32_32x32x8_f16")
    parser.add_argument("--a", metavar="FORMAT", help="number format of A, for instructions with a choice")
    parser.add_argument("--b", metavar="FORMAT", help="number format of B, for instructions with a choice")
    parser.add_argument("--wave", type=int, metavar="LANES", help="lanes of the wave, 32 or 64 on RDNA")
    for name, text in _MODIFIERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=0, metavar="N", help=text)


def given_options(args: argparse.Namespace, names: Iterable[str] = ("a", "b", "wave", *_MODIFIERS)) -> list[str]:
    """Given options of formats, wave and modifiers, with their values."""
    values = {name: getattr(args, name) for name in names}
    return [f"--{name.replace('_', '-')} {value}" for name, value in values.items() if value not in (None, 0)]


def check_unused_modifiers(args: argparse.Namespace, op: MatrixInstruction) -> None:
    """Refuse modifiers without an operand, as they only affect operands.

    Raises:
        MfmasimError: the instruction does not take the value, or the output does not depend on it.
    """
    given = given_options(args, _MODIFIERS)
    if given:
        find_operand(args, op, "A")
        raise MfmasimError(
            f"{given[0]} changes operands of {op.name}, not its properties: it needs --operand "
            f"{', '.join(op.operands)}, or an element"
        )


def completed(args: argparse.Namespace) -> None:
    """Fill in the architecture of an instruction without one: the first that has the instruction.

    Raises:
        MfmasimError: no architecture has the instruction, or an element is asked for where the instruction is missing.
    """
    import sys

    from mfmasim.architectures import ARCHITECTURES
    from mfmasim.matrix import instructions

    word = args.arch
    if word.startswith(("v_", BUILTIN)):
        spelled = {arch: _spelled(arch, word) for arch in ARCHITECTURES}
        having = [arch for arch, name in spelled.items() if name in instructions(arch)]
        if not having:
            raise unknown("matrix instruction", word, {name for arch in ARCHITECTURES for name in instructions(arch)})
        args.asked = [*([args.instruction] if args.instruction else []), *args.asked]
        args.arch, args.instruction = having[0], spelled[having[0]]
        others = f", which {', '.join(having[1:])} {'has' if len(having) == 2 else 'have'} too" if having[1:] else ""
        print(f"{args.instruction} on {having[0]}{others}", file=sys.stderr)
    elif re.match(r"(?:[ABCD]|scale_[AB]|index)\[", word):
        raise MfmasimError(
            f"{word!r} is an element of a matrix: name the instruction first, as in mfmasim show "
            f"v_mfma_f32_16x16x16_f16 {word!r}; mfmasim why my_case.py {word!r} explains one of a kernel's result"
        )
    elif args.instruction and re.match(r"(?:[ABCD]|scale_[AB]|index)\b", args.instruction):
        raise MfmasimError(
            f"{args.instruction!r} is an element: the instruction is missing, as in mfmasim show {word} INSTRUCTION "
            f"'{args.instruction}'; mfmasim list {word} has them"
        )


def _spelled(arch: str, name: str) -> str:
    """LLVM's mnemonic for a name that may be Clang's builtin; the name itself without a match."""
    from mfmasim.matrix import instructions

    if not name.startswith(BUILTIN):
        return name
    plain = re.sub(r"(_w32|_w64)?(_gfx\d+\w*)?$", "", name.removeprefix(BUILTIN)).replace("_", "")
    return next((found for found in instructions(arch) if found.removeprefix("v_").replace("_", "") == plain), name)


def find_instruction(args: argparse.Namespace) -> MatrixInstruction:
    """The instruction given by the arguments."""
    from mfmasim.matrix import instruction

    return instruction(args.arch, _spelled(args.arch, args.instruction), args.a, args.b, args.wave)


def find_operand(args: argparse.Namespace, op: MatrixInstruction, name: str, *, contiguous: bool = False) -> Fragment:
    """Find an operand's layout.

    Args:
        args: parsed arguments with the modifiers.
        op: the instruction.
        name: one of `OPERANDS`.
        contiguous: number k so that every lane holds consecutive k, instead of the manual's numbering.

    Raises:
        MfmasimError: the instruction has no such operand or modifier, or `contiguous` is combined with modifiers.
    """
    modifiers = {field: getattr(args, field) for field in _MODIFIERS}
    if contiguous:
        if any(modifiers.values()):
            raise MfmasimError("--numbering contiguous cannot be combined with modifiers")
        return op.contiguous(name)
    return op.operand(name, **modifiers)
