"""What a compilation depends on that no dependency file of the compiler names, seen in one run of its preprocessor.

A dependency file names what was read. It does not name what a source looked for in vain (``__has_include``,
``__has_embed``), the time that it asked for, what assembly in it makes the assembler read, or the folders in which a
header would have been found before. The words are poisoned, so that the preprocessor itself reports each use, however
it is spelled, pasted or passed through macros. Assembly is looked at after all macros: only directives make the
assembler read files, and only those in `HARMLESS` are taken.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfmasim.toolchain.compilers import run

WORDS = ("__has_include", "__has_include_next", "__has_embed", "__DATE__", "__TIME__", "__TIMESTAMP__")
"""Builtin macros that depend on more than the files that are read."""
HARMLESS = frozenset(
    ("rept", "endr", "p2align", "byte", "short", "int", "long", "quad", "set", "if", "else", "endif", "text")
)
"""Directives of the assembler that read no file and define no macro, from which others could be pasted."""

_PRAGMAS = re.compile(
    r"\s*(clang|GCC|STDC|unroll|nounroll|pack|once|message|push_macro|pop_macro|omp|region|endregion)\b"
)
_POISONED = re.compile(r"^(.*):\d+:\d+: error: attempt to use a poisoned identifier$", re.MULTILINE)
_ERROR = re.compile(r": (?:fatal )?error: (?!attempt to use a poisoned identifier$)", re.MULTILINE)
_SEARCHED = re.compile(r"^#include <?.+ search starts here:\n((?:(?!End of search list|#include).*\n)*)", re.MULTILINE)
_IGNORED = re.compile(r'^ignoring nonexistent directory "(.*)"$', re.MULTILINE)
_TOKEN = re.compile(
    r'(?P<raw>(?:u8|[uUL])?R"(?P<end>[^()\\\s"]*)\((?P<inside>.*?)\)(?P=end)")'
    r'|(?P<text>(?:u8|[uUL])?"(?P<quoted>(?:[^"\\\n]|\\.)*)")'
    r"|'(?:[^'\\\n]|\\.)*'|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:'?[\w.])*)|(?P<sign>[^\s\w])",
    re.DOTALL,
)
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\\": "\\", r"\'": "'"}
# A dot that begins a directive, or may once operands and alternatives are put in: not of a number, a label or alone.
_DIRECTIVE = re.compile(r"\.(?![0-9]|L\w|[\s+\-*/,()\[\]:;=<>&^!~]|$)(\w*)")


@dataclass(frozen=True)
class Unreported:
    """What a run of the preprocessor shows."""

    folders: tuple[Path, ...]
    """Where headers are looked for, in order; folders that do not exist too."""
    asked: frozenset[str]
    """Files that use one of `WORDS`."""
    assembly: bool
    """Whether the assembler, or the linker, may read files."""


def unreported(front: Sequence[str], source: Path, scratch: Path) -> Unreported | None:
    """Run the preprocessor of a compilation; None if it refuses the source.

    Args:
        front: the command that compiles, without its output.
        source: absolute path of the source.
        scratch: a folder to write to.
    """
    poison = scratch / "poison.h"
    poison.write_text(f"#pragma GCC poison {' '.join(WORDS)}\n")
    # Values of -D are read before the poison; they are words of the command, which no line can splice.
    ran = run([*front, "-E", "-v", "-include", str(poison), "-ferror-limit=0", "-o", "-", str(source)])
    found = [line.strip() for part in _SEARCHED.findall(ran.stderr) for line in part.splitlines()]
    if _ERROR.search(ran.stderr) or not ran.stdout or not found:
        return None
    folders = [Path(name) for name in (*found, *_IGNORED.findall(ran.stderr))]
    return Unreported(tuple(folders), frozenset(_POISONED.findall(ran.stderr)), may_read(ran.stdout))


def may_read(text: str) -> bool:
    r"""Whether assembly or pragmas of a preprocessed source may make the assembler or the linker read files.

    Args:
        text: C++ after the preprocessor.

    >>> may_read('void f() { asm volatile("s_nop 0\\n .rept 2\\n s_nop 1\\n .endr"); }')
    False
    >>> may_read('__asm__(".inc" "bin \\"data\\"");'), may_read('asm(R"(.include "f.s")");')
    (True, True)
    """
    pragmas = re.findall(r"^\s*#\s*pragma\b(.*)$", text, re.MULTILINE)
    if not all(_PRAGMAS.match(words) for words in pragmas):
        return True
    return any(_reads(words) for words in _assembly(text))


def _reads(words: str | None) -> bool:
    return words is None or any(found.lower() not in HARMLESS for found in _DIRECTIVE.findall(words))


def _assembly(text: str) -> Iterator[str | None]:
    """The strings of every assembly statement, those beside each other joined; None for one that begins with none."""
    tokens = _TOKEN.finditer(text)
    for token in tokens:
        if token["word"] not in ("asm", "__asm", "__asm__"):
            continue
        begun = next((one for one in tokens if one["word"] is None), None)  # behind volatile, goto, inline
        inside, depth = [], 1
        for one in tokens:
            depth += {"(": 1, ")": -1}.get(one["sign"] or "", 0)
            if depth == 0:
                break
            inside.append(_string(one))
        if begun is None or begun["sign"] != "(" or not inside or inside[0] is None:
            yield None  # a block, or an expression that gives the text
        for strings, group in itertools.groupby(inside, lambda one: one is not None):
            if strings:
                yield "".join(part for part in group if part is not None)


def _string(token: re.Match[str]) -> str | None:
    r"""The text of a string literal; with an escape that may spell any character, one that no rule takes."""
    if token["raw"] is not None:
        return token["inside"]
    if token["text"] is None:
        return None
    return re.sub(r"\\(?:.|\n)", lambda found: _ESCAPES.get(found[0], ".?"), token["quoted"])
