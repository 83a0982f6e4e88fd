"""Inline assembly in a kernel's source that waits or synchronises without telling the compiler that memory changes.

An ``asm`` statement without the clobber ``"memory"`` does not order the loads and stores around it: the compiler may
move an LDS read above the wait for the direct-to-LDS load that it depends on (GCC manual, "Clobbers and Scratch
Registers"). Whether it does differs from compiler to compiler, so the source is examined, not the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mfmasim.observe import Finding

ASM = re.compile(r"\b(?:asm|__asm|__asm__)\s*(?:\b(?:volatile|__volatile__)\s*)?\(")
ORDERS = re.compile(r"\bs_(?:waitcnt(?:_\w*cnt)?|wait_\w*cnt|barrier\w*)\b|\blds\b")
"""Instructions that order memory operations, and loads that write the LDS behind the compiler's back."""
OWN = re.compile(r"\b(?:buffer|global|flat|scratch|ds|s)_(?:load|read)_\w+(?![^\n]*\blds\b)")
"""A load to a register in the same statement: its wait is for that load."""
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
LONGEST = 2_000
"""Characters of a statement that are looked through for its end."""


def unclobbered(text: str) -> Iterator[tuple[int, str]]:
    """Line and instruction of every such statement of a source."""
    code = COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)
    for start in ASM.finditer(code):
        body = _parenthesis(code, start.end())
        parts = re.split(r":", STRING.sub(lambda m: m[0].replace(":", " "), body))
        words = re.sub(r"\\.", " ", "".join(STRING.findall(parts[0])))
        found = ORDERS.search(words)
        if found and not OWN.search(words) and '"memory"' not in body:
            yield code.count("\n", 0, start.start()) + 1, found[0]


def _parenthesis(code: str, start: int) -> str:
    """What stands between an opening parenthesis and its end; strings may hold any."""
    depth = 1
    for part in re.finditer(r'"(?:\\.|[^"\\\n])*"|[()]', code[start : start + LONGEST]):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if not depth:
            return code[start : start + part.start()]
    return code[start : start + LONGEST]


def without_clobber(source: Path, kernel: str) -> list[Finding]:
    """A finding for each such statement of a kernel's source and of the files that it includes by a relative name.

    Args:
        source: the source; a code object has none.
        kernel: name of the kernel.

    Returns:
        The findings.
    """
    found, open_, seen = [], [source.resolve()], set()
    while open_:
        path = open_.pop()
        if path in seen or path.suffix in (".hsaco", ".co", ".o") or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(errors="replace")
        open_ += [(path.parent / name).resolve() for name in INCLUDE.findall(text)]
        for line, name in unclobbered(text):
            message = f'the asm statement with {name} has no clobber "memory": loads and stores may be moved across it'
            where = {"kernel": kernel, "source": f"{path.name}:{line}", "instruction": name}
            found.append(Finding("source", "warning", message, "source-asm-clobber", **where))  # type: ignore[arg-type]
    return found
