"""Compiler messages, rewritten to the user's file names."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

# "; gemm.hip:31:5" after a .loc directive, the comment that clang writes into its assembly text.
_LOCATION = re.compile(r"^\s*\.loc\s[^;]*;\s*(\S+:\d+:\d+)")


_FATAL = re.compile(r"fatal error: (?:error in backend: )?(.*)|LLVM ERROR: (.*)|Assertion `?(.*?)'? failed")
_INTRINSIC = re.compile(r"Cannot select: intrinsic %?(llvm\.[\w.]+)")
_FUNCTION = re.compile(r"on function '@([^']+)'")


@dataclass(frozen=True)
class Crash:
    """What a crashed compiler says of itself."""

    reason: str
    function: str = ""
    """Mangled name of what it was compiling."""
    intrinsic: str = ""
    """The intrinsic for which it found no instruction."""


def crash_of(text: str, code: int) -> Crash | None:
    """The cause of a compiler's crash, without its stack.

    Args:
        text: its messages.
        code: its exit code.

    Returns:
        The crash; None if the compiler refused the source in the usual way.
    """
    if code >= 0 and "Stack dump:" not in text and not _INTRINSIC.search(text) and "LLVM ERROR:" not in text:
        return None
    fatal, intrinsic, function = _FATAL.search(text), _INTRINSIC.search(text), _FUNCTION.search(text)
    reason = next(filter(None, fatal.groups()), "") if fatal else ""
    if intrinsic:
        reason = f"it has no instruction for {intrinsic[1]} with these arguments"
    elif not reason:
        reason = f"it was terminated by signal {-code}" if code < 0 else "it does not say why"
    return Crash(reason.strip(), function[1] if function else "", intrinsic[1] if intrinsic else "")


def in_terms_of_source(text: str, given: Path, source: Path, assembly: Path) -> str:
    """Rewrite a compiler's messages to name the source file as the user did.

    Errors in inline assembly are found when the assembly text is assembled and name a line of that temporary file;
    they are changed to the corresponding source line.

    Args:
        text: messages of the compiler, the assembler or the linker.
        given: the source's path as given by the user.
        source: the absolute path that was compiled.
        assembly: the temporary assembly text; it need not exist.

    Returns:
        The messages, without temporary paths.
    """
    lines = assembly.read_text(encoding="utf-8", errors="replace").splitlines() if assembly.is_file() else []

    def located(match: re.Match[str]) -> str:
        for line in reversed(lines[: int(match[1])]):
            if found := _LOCATION.match(line):
                place = found[1]
                return str(given) + place.removeprefix(source.name) if place.startswith(f"{source.name}:") else place
        return str(given)

    text = re.sub(re.escape(str(assembly)) + r":(\d+):\d+", located, text)
    text = text.replace(os.path.join(assembly.parent, ""), "")  # noqa: PTH118
    return text.replace(str(source), str(given)).strip()
