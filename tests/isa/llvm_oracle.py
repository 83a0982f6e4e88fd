"""LLVM's disassembler and assembler as oracles: many instructions in one process."""

from __future__ import annotations

import os
import re
import subprocess

from tests.llvm import assembled, tool, true16

# Between two probes stand markers that no probe uses, because the disassembler of a list of bytes prints no addresses.
# On the probe's own line they show how many bytes it took: a longer instruction would swallow one.
_PAD, _PAD_BYTES, _PADS = "s_nop 0x7abd", "0xbd 0x7a 0x80 0xbf", 4
_END, _END_BYTES = "s_nop 0x7abc", "0xbc 0x7a 0x80 0xbf"
_BATCH = 2000


def _options(arch, wave, halves):
    return [*(true16(arch) if halves else []), *([f"-mattr=+wavefrontsize{wave}"] if wave else [])]


def _run_disassembler(codes, arch, wave, halves):
    lines = []
    for code in codes:
        lines.append(" ".join([*(f"0x{byte:02x}" for byte in code), *[_PAD_BYTES] * _PADS]))
        lines.append(_END_BYTES)
    command = [
        tool("llvm-mc"),
        "-triple=amdgcn-amd-amdhsa",
        f"-mcpu={arch}",
        *_options(arch, wave, halves),
        "-disassemble",
    ]
    # A crash would start llvm-symbolizer for the trace of LLVM's own stack, which takes longer than all the rest.
    environment = os.environ | {"LLVM_DISABLE_SYMBOLIZATION": "1"}
    text = "\n".join(lines) + "\n"
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environment)


def disassemble(codes, arch, *, exact=True, wave=None, halves=True):
    """Disassemble each byte string apart.

    Args:
        codes: the byte strings.
        arch: LLVM's processor name.
        wave: lanes of a wave, where the processor has a choice.
        exact: whether the instruction must take exactly the bytes given; else what follows it does not matter.
        halves: whether the halves of vector registers have names; without it, LLVM's default for the processor.

    Returns:
        One text per input, or None where LLVM refuses the bytes, marks a register as invalid, or crashes (version
        22.1 does on some reserved encodings). A text that starts with `size:` belongs to another size than given.
    """
    codes = list(codes)
    if len(codes) > _BATCH:
        return [
            x
            for i in range(0, len(codes), _BATCH)
            for x in disassemble(codes[i : i + _BATCH], arch, exact=exact, wave=wave, halves=halves)
        ]
    if not codes:
        return []
    done = _run_disassembler(codes, arch, wave, halves)
    if done.returncode < 0:
        if len(codes) == 1:
            return [None]
        half = len(codes) // 2
        return [
            x
            for part in (codes[:half], codes[half:])
            for x in disassemble(part, arch, exact=exact, wave=wave, halves=halves)
        ]
    # A refusal in column 1 means the first instruction of the line.
    refused = {int(n) for n in re.findall(r"^<stdin>:(\d+):1: warning", done.stderr, re.MULTILINE)}
    found, block = [], []
    for raw in done.stdout.splitlines():
        text = " ".join(raw.split())
        if text.startswith("."):
            continue
        if text != _END:
            block.append(text)
            continue
        first = block[0] if block else ""
        if not block or 2 * len(found) + 1 in refused or "/*" in first or first == _PAD:
            found.append(None)
        elif exact and block != [first] + [_PAD] * _PADS:
            found.append(f"size: {first}")
        else:
            found.append(first)
        block = []
    assert len(found) == len(codes), (len(found), len(codes), done.stderr[-300:])
    return found


def assemble(lines, arch, wave=None, *, halves=True):
    """Assemble each line apart; one entry per line: its bytes, or None where the assembler refuses it."""
    printed, bad = assembled(lines, arch, *_options(arch, wave, halves), "-show-encoding")
    encodings = re.findall(r"encoding: \[([^\]]*)\]", printed)
    if len(encodings) != len(lines) - len(bad):
        # Of some lines LLVM complains and encodes them nevertheless.
        printed, _ = assembled(
            [line for n, line in enumerate(lines) if n not in bad],
            arch,
            *_options(arch, wave, halves),
            "-show-encoding",
        )
        encodings = re.findall(r"encoding: \[([^\]]*)\]", printed)
    good = iter(bytes(int(x, 16) for x in e.split(",")) for e in encodings)
    return [None if n in bad else next(good) for n in range(len(lines))]
