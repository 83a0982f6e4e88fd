"""Inline assembly in a kernel's source that orders memory behind the compiler's back, or loads and never waits.

An ``asm`` statement without the clobber ``"memory"`` does not order the loads and stores around it: the compiler may
move an LDS read above the wait for the direct-to-LDS load that it depends on (GCC manual, "Clobbers and Scratch
Registers"). Compilers differ in this, so the source is examined, not the code. Nor does
the compiler count a load of an ``asm`` statement: it adds no wait before the result is used. An ``asm`` label of a
declaration, ``void f(int) __asm("llvm.amdgcn...");``, names a symbol and is no statement (GCC manual, "Controlling
Names Used in Assembler Code").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mfmasim.files import is_object
from mfmasim.observe import Finding

ASM = re.compile(
    r"\b(?:asm|__asm|__asm__)\s*((?:\b(?:volatile|__volatile__|__volatile|goto|inline|__inline__|__inline)\s*)*)\("
)
"""The beginning of a statement or a label; a label has no qualifier."""
SYMBOL = re.compile(r"[\w$]+(?:\.[\w$]+)+")
"""A name with dots, such as that of an LLVM intrinsic; no mnemonic has a dot."""
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
MACRO = re.compile(r"[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)]*\))?")
CONTROL = re.compile(r"\b(?:if|else|for|while|do|switch|case|default|return|goto)\b")
ATTRIBUTE = re.compile(r"\b(?:__attribute__|__attribute|__declspec|alignas|noexcept|throw|_Pragma)\s*\(\)|\[\]")
DECLARATOR = re.compile(
    r"[\w*&>,]\s*(?:\b\w+\s*|(?<=\w)\s*\(\)\s*(?=\())(?:\(\)\s*)?(?:(?:const|noexcept|override|final)\s*)*$"
)
"""The end of a declaration: a name after a type, another name or a comma, or ``type (*name)``; then its parameters."""
ORDERS = re.compile(r"\bs_(?:waitcnt(?:_\w*cnt)?|wait_\w*cnt|barrier\w*)\b|\blds\b")
"""Instructions that order memory operations, and loads that write the LDS behind the compiler's back."""
OWN = re.compile(r"\b(?:buffer|global|flat|scratch|ds|s)_(?:load|read)_\w+(?![^\n]*\blds\b)")
"""A load to a register in the same statement: its wait is for that load."""
WAITS = re.compile(r"wait", re.IGNORECASE)
"""A wait anywhere in a source: in assembly, as a builtin function, or a macro."""
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
CLOBBER = 'the asm statement with {} has no clobber "memory": loads and stores may be moved across it'
LOAD = (
    "the asm statement with {} loads, and nothing in this source waits: the compiler adds no wait after inline "
    "assembly; add s_waitcnt (s_wait_* on gfx12) to the statement"
)
LONGEST = 2_000
"""Most characters of a statement."""


def unclobbered(text: str) -> Iterator[tuple[int, str]]:
    """Line and instruction of every statement of a source that orders memory without the clobber."""
    for line, words, body in _statements(_code(text)):
        found = ORDERS.search(words)
        if found and not OWN.search(words) and '"memory"' not in body:
            yield line, found[0]


def loads(text: str) -> Iterator[tuple[int, str]]:
    """Line and instruction of every statement of a source that loads to a register."""
    for line, words, _ in _statements(_code(text)):
        if found := OWN.search(words):
            yield line, found[0].strip()


def _code(text: str) -> str:
    """The source with blanks in place of comments."""
    return COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)


def _statements(code: str) -> Iterator[tuple[int, str, str]]:
    """Line, assembly and all of every ``asm`` statement."""
    blank = STRING.sub(lambda m: '"' + " " * (len(m[0]) - 2) + '"', code)
    for start in ASM.finditer(code):
        body = _parenthesis(code, start.end())
        parts = re.split(r":", STRING.sub(lambda m: m[0].replace(":", " "), body))
        words = re.sub(r"\\.", " ", "".join(STRING.findall(parts[0])))
        bare = not start[1] and len(parts) == 1
        if bare and (SYMBOL.fullmatch(words.strip()) or _declares(blank, start.start())):
            continue
        yield code.count("\n", 0, start.start()) + 1, words, body


def _declares(code: str, end: int) -> bool:
    """Whether a declaration stands before a place of a source whose comments and strings are blank."""
    begin = max(0, end - LONGEST)
    for line in DIRECTIVE.finditer(code, begin, end + 1):
        head = MACRO.match(code, line.start())
        if line.end() >= end and head:  # the body of a macro
            begin = min(head.end(), end)
    text = DIRECTIVE.sub("", code[begin:end]).replace("\\\n", " ")
    depth, kept = 0, []
    for at in range(len(text) - 1, -1, -1):
        letter = text[at]
        if letter in ")]":
            depth += 1
        elif letter in "([":
            depth -= 1
            if depth < 0:
                break
        if depth == 0 and (
            letter in ";{}" or (letter == ":" and ":" not in (text[at - 1 : at], text[at + 1 : at + 2]))
        ):
            break
        if depth == (letter in ")]") or (letter in "([" and depth == 0):
            kept.append(letter)
    words = ATTRIBUTE.sub(" ", re.sub(r'"\s*"', " ", "".join(reversed(kept))))
    return not CONTROL.search(words) and DECLARATOR.search(words) is not None


def _parenthesis(code: str, start: int) -> str:
    """The text between an opening parenthesis and its closing one; strings may contain parentheses."""
    depth = 1
    for part in re.finditer(r'"(?:\\.|[^"\\\n])*"|[()]', code[start : start + LONGEST]):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if not depth:
            return code[start : start + part.start()]
    return code[start : start + LONGEST]


def inline_assembly(source: Path, kernel: str) -> list[Finding]:
    """A finding for each statement that lacks its clobber, and for each load where nothing waits.

    Args:
        source: the source; a code object has none. Files that it includes by a relative name belong to it.
        kernel: name of the kernel.

    Returns:
        The findings.
    """
    texts: dict[Path, str] = {}
    open_ = [source.resolve()]
    while open_:
        path = open_.pop()
        if path in texts or is_object(path) or not path.is_file():
            continue
        texts[path] = path.read_text(errors="replace")
        open_ += [(path.parent / name).resolve() for name in INCLUDE.findall(texts[path])]
    waits = any(WAITS.search(_code(text)) for text in texts.values())  # the check `waits` decides whether they suffice
    found = []
    for path, text in texts.items():
        kinds = [("source-asm-clobber", CLOBBER, unclobbered(text)), ("source-asm-load", LOAD, loads(text))]
        # A header may have statements that this source does not use.
        for kind, message, statements in kinds[: 1 if waits or path != source.resolve() else 2]:
            for line, name in statements:
                where = {"kernel": kernel, "source": f"{path.name}:{line}", "instruction": name}
                found.append(Finding("source", "warning", message.format(name), kind, **where))  # type: ignore[arg-type]
    return found
