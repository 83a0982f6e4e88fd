"""LLVM's disassembler and assembler as oracles: many instructions in one process."""

from __future__ import annotations

import re
import shutil
import subprocess

MC = shutil.which("llvm-mc-22") or shutil.which("llvm-mc")
OBJDUMP = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump")
CLANG = shutil.which("clang-22")
LLD = shutil.which("ld.lld-22")
HOW = "apt install llvm-22 clang-22 lld-22"

# A marker between two probes: an instruction that no probe uses, because the disassembler of a list of bytes
# prints no addresses.
_MARK = "s_nop 0x7abc"
_MARK_BYTES = {"gfx9": "0xbc 0x7a 0x80 0xbf", "gfx11": "0xbc 0x7a 0x80 0xbf"}
_BATCH = 20000


def _command(arch, *options):
    return [MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", *options]


def _marker(arch):
    return _MARK_BYTES["gfx9" if arch.startswith("gfx9") else "gfx11"]


def _run_disassembler(codes, arch):
    lines = []
    for code in codes:
        lines.append(" ".join(f"0x{byte:02x}" for byte in code))
        lines.append(_marker(arch))
    return subprocess.run(
        _command(arch, "-disassemble", "-show-encoding"),
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )


def disassemble(codes, arch):
    """Disassemble each byte string apart.

    Returns:
        One entry per input: (text, size in bytes) of its first instruction, or None where LLVM refuses the bytes,
        marks a register as invalid, or crashes (version 22.1 does on some reserved encodings).
    """
    codes = list(codes)
    if len(codes) > _BATCH:
        return [x for i in range(0, len(codes), _BATCH) for x in disassemble(codes[i : i + _BATCH], arch)]
    if not codes:
        return []
    done = _run_disassembler(codes, arch)
    if done.returncode < 0:
        if len(codes) == 1:
            return [None]
        half = len(codes) // 2
        return disassemble(codes[:half], arch) + disassemble(codes[half:], arch)
    # A refusal in column 1 means the first instruction of the line; what follows on the line does not matter.
    refused = {int(n) for n in re.findall(r"^<stdin>:(\d+):1: warning", done.stderr, re.MULTILINE)}
    found, block = [], []
    for raw in done.stdout.splitlines():
        text, _, encoding = raw.partition("; encoding: [")
        text = " ".join(text.split())
        if text.startswith("."):
            continue
        if text == _MARK:
            line = 2 * len(found) + 1
            if not block or line in refused or "/*" in block[0][0]:
                found.append(None)
            else:
                # The re-encoded bytes may differ in ignored bits; their number is the instruction's size.
                found.append(block[0])
            block = []
        else:
            block.append((text, encoding.count("0x") or encoding.count(",") + 1))
    assert len(found) == len(codes), (len(found), len(codes))
    return found


def assemble(lines, arch):
    """Assemble each line apart; one entry per line: its bytes, or None where the assembler refuses it."""
    source = "\n".join(lines) + "\n"
    done = subprocess.run(_command(arch, "-show-encoding"), input=source, capture_output=True, text=True, check=False)
    bad = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.MULTILINE)}
    encodings = re.findall(r"encoding: \[([^\]]*)\]", done.stdout)
    good = iter(bytes(int(x, 16) for x in e.split(",")) for e in encodings)
    return [None if n in bad else next(good) for n in range(1, len(lines) + 1)]
