"""The assembler of LLVM 24, which Triton brings: the oracle for processors that LLVM 22 does not know.

It has no disassembler, so instructions are compared by the way from text to bytes. The library runs in a process of its
own: it writes to the error output of its process, and ends the process where it refuses code of a compiler.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import json
import mmap
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

from tests.oracles import module

TRIPLE = "amdgcn-amd-amdhsa"
PROCESSORS = ("gfx1154", "gfx1170", "gfx1171", "gfx1172")
"""Processors of mfmasim that LLVM 24 knows and LLVM 22 does not."""

# The whole text is one function of the library, which gives nothing where it refuses a line.
_WORKER = """
import json, sys
from triton._C.libtriton import amd, llvm
request = json.load(sys.stdin)
llvm.init_targets()
if request["ir"]:
    made = llvm.translate_to_asm(*request["arguments"], [], False, request["object"], False)
    made = made if isinstance(made, bytes) else made.encode()
else:
    made = amd.assemble_amdgcn(*request["arguments"])
open(request["out"], "wb").write(made)
"""


@functools.cache
def _triton():
    return module("triton")


def _call(arguments, *, ir=False, binary=True):
    """(bytes, text of the error output); no bytes where the library refuses, or has no such processor."""
    _triton()
    with tempfile.NamedTemporaryFile() as out:
        request = {"arguments": arguments, "ir": ir, "object": binary, "out": out.name}
        command = [sys.executable, "-c", _WORKER]
        done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False)
        assert done.returncode <= 0 or "triton" not in done.stderr, done.stderr[-2000:]
        return out.read(), done.stderr


def assembled_object(text, arch, features="", triple=TRIPLE):
    """The ELF file that the assembler makes of a text; empty where it refuses.

    Args:
        text: assembly.
        arch: LLVM's processor name; empty where the triple has the processor.
        features: target features, such as ``+wavefrontsize64,+xnack``.
        triple: target triple.
    """
    made, said = _call([text, triple, arch, features])
    return b"" if "not a recognized processor" in said else made


def compiled(ir, arch, features="", *, binary=True):
    """What the back end makes of LLVM's intermediate language, an object file or assembly; empty where it refuses."""
    return _call([ir, TRIPLE, arch, features], ir=True, binary=binary)[0]


def flags(elf):
    """``e_flags`` of an ELF file."""
    return int.from_bytes(elf[48:52], "little")


def assemble(lines, arch, wave=None, *, halves=True):
    """Assemble each line apart; one entry per line: its bytes, or None where the assembler refuses it.

    The arguments are those of `tests.isa.llvm_oracle.assemble`.
    """
    features = [f"+wavefrontsize{wave}"] if wave else []
    features += ["+real-true16"] if halves and arch.startswith(("gfx11", "gfx12")) else []
    found = [None] * len(lines)
    for good, elf in _apart(dict(enumerate(lines)), arch, ",".join(features)):
        file = ELFFile(io.BytesIO(elf))
        code, at = file.get_section_by_name(".text").data(), 0
        for n, size in zip(good, file.get_section_by_name(".sizes").data(), strict=True):
            found[n], at = code[at : at + size], at + size
    return found


def _apart(lines, arch, features):
    """Numbers of lines that the assembler takes, and an object of them with their sizes; no line that crashes it."""
    while lines:
        text = "".join(f".Ls{n}:\n{line} // {n}\n.Le{n}:\n" for n, line in lines.items())
        labels = {label for line in lines.values() for label in re.findall(r"\.L\w+", line)}
        text += "".join(f"{label}:\n" for label in sorted(labels))
        sizes = "".join(f".byte .Le{n}-.Ls{n}\n" for n in lines)
        elf, said = _call([f'{text}.section .sizes,"",@progbits\n{sizes}', TRIPLE, arch, features])
        assert "not a recognized processor" not in said, said
        if elf:
            yield list(lines), elf
            return
        refused = {int(n) for n in re.findall(r"error: .*\n.* // (\d+)$", said, re.MULTILINE)}
        if not refused:
            assert "Assertion" in said, said[-2000:]
            every = list(lines)
            for half in (every[: len(every) // 2], every[len(every) // 2 :]) if len(every) > 1 else ():
                yield from _apart({n: lines[n] for n in half}, arch, features)
            return
        lines = {n: line for n, line in lines.items() if n not in refused}


def mnemonics(arch):
    """Every mnemonic that the assembler knows on a processor, its aliases included.

    The library's table of all mnemonics stands in its file, each behind a byte with its length.
    """
    path = Path(importlib.util.find_spec("triton._C.libtriton").origin)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        known = b"v_wmma_f32_16x16x16_f16"
        start = data.find(bytes([len(known)]) + known)
        every = [known.decode(), *_names(data, start + 1 + len(known)), *_names_before(data, start)]
    _, said = _call(["".join(f"{name} @\n" for name in every), TRIPLE, arch, ""])
    refused = set(re.findall(r"error: (?:instruction not supported|invalid instruction)[^\n]*\n(\S+) @", said))
    return set(every) - refused


def _names(data, at):
    while re.fullmatch(rb"[a-z][a-z0-9_.]*", name := data[at + 1 : at + 1 + data[at]]):
        yield name.decode()
        at += 1 + len(name)


def _names_before(data, at):
    while at >= 0:
        sizes = (size for size in range(1, 64) if data[at - 1 - size] == size)
        at = next((at - 1 - n for n in sizes if re.fullmatch(rb"[a-z][a-z0-9_.]*", data[at - n : at])), -1)
        if at >= 0:
            yield data[at + 1 : at + 1 + data[at]].decode()
