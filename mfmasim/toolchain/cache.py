"""Code objects of earlier compilations, kept in the user's cache folder and used while nothing they depend on changed.

An entry is found by what determines the result: the compiler's file and version, the commands, the name and the text
of the source, but not its folder, on which no byte depends. It names every file that the compiler read, with its
SHA-256, and the places where a header would have come before one of those; all are looked at before it is used.
Compilations that print something, use ROCm's compilers or device libraries, or flags or text that may read other
files, are not kept.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file
from mfmasim.resources import cache_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.toolchain.compilers import Compiler

OFF = "MFMASIM_COMPILE_CACHE"
"""Environment variable: 0 compiles anew every time."""
FORMAT = "1"
"""Changes with what an entry holds."""
MOST = 2000
"""Entries; beyond, those that were not used for the longest time are removed."""

# Flags that name no file beyond folders of headers; each value of the second ones follows separately.
_PLAIN = re.compile(
    r"-[DUOIW].*|-g[a-z0-9-]*|-std=.*|-(iquote|isystem|idirafter).+|-m[a-z][a-z0-9-]*(=[\w,+-]+)?"
    r"|-f(no-)?(fast-math|unroll-loops|math-errno|associative-math|reciprocal-math|signed-zeros|finite-math-only)"
    r"|-ffp-contract=\w+|-fgpu-\w+(-\w+)*"
)
_SEPARATE = ("-D", "-U", "-I", "-iquote", "-isystem", "-idirafter", "-mllvm")
# What makes the result depend on more than the files that are read.
_OTHER = re.compile(rb"__(DATE|TIME|TIMESTAMP)__|__has_include|incbin")


@dataclass(frozen=True)
class Entry:
    """The place of one compilation's result."""

    path: Path
    source: Path
    """Absolute path of the source."""
    folders: tuple[Path, ...]
    """Folders in which headers are looked for, in order; the first is the source's."""
    own: Path
    """Folder of mfmasim's headers."""

    def read(self) -> bytes | None:
        """The code object, if nothing that it depends on has changed."""
        try:
            head, _, data = read_file(self.path).partition(b"\n")
            known = json.loads(head)
            fresh = (
                hashlib.sha256(data).hexdigest() == known["data"]
                and not any(self._place(name).exists() for name in known["absent"])
                and all(_digest(self._place(name)) == digest for name, digest in known["read"].items())
            )
            if not fresh:
                return None
            with suppress(OSError):
                os.utime(self.path)  # used now
        except (MfmasimError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return data

    def write(self, data: bytes, rules: Path) -> None:
        """Keep a code object; a folder that cannot be written to leaves all as it is.

        Args:
            data: the code object.
            rules: the files that the compiler read, as it writes them for ``make``.
        """
        with suppress(OSError, ValueError):
            texts = {name: self._place(name).read_bytes() for name in self._read(rules)}
            if any(_OTHER.search(text) for name, text in texts.items() if self._from_user(name)):
                return
            read = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
            head = {"data": hashlib.sha256(data).hexdigest(), "read": read, "absent": self._absent(list(texts))}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            unfinished.write_bytes(json.dumps(head).encode() + b"\n" + data)
            unfinished.replace(self.path)
            _prune(self.path.parent)

    def _read(self, rules: Path) -> list[str]:
        """The files that were read: relative where the source's folder, which may move, leads to them."""
        home = f"{self.source.parent}{os.sep}"
        return [name.removeprefix(home) for name in _prerequisites(rules.read_text("utf-8"))]

    def _place(self, name: str) -> Path:
        return self.source.parent / name

    def _from_user(self, name: str) -> bool:
        place = self._place(name)
        return any(place.is_relative_to(each) for each in self.folders if each != self.own)

    def _absent(self, read: Sequence[str]) -> list[str]:
        """Places where a file would come before, or instead of, one that was read."""
        there = {self._place(name) for name in read}
        names = {Path(file.name) for file in there}
        names |= {file.relative_to(each) for file in there for each in self.folders if file.is_relative_to(each)}
        home = self.source.parent
        found = {place / name for place in self.folders for name in names} - there
        return sorted(str(f.relative_to(home) if f.is_relative_to(home) else f) for f in found if not f.exists())


def entry_for(
    tool: Compiler,
    steps: Sequence[Sequence[str]],
    source: Path,
    scratch: Path,
    flags: Sequence[str],
    folders: Sequence[Path],
    own: Path,
) -> Entry | None:
    """The entry of a compilation, or None where its result is not to be kept.

    Args:
        tool: the compiler.
        steps: its commands.
        source: absolute path of the source.
        scratch: folder of what the commands write.
        flags: the user's flags.
        folders: the user's folders of headers, in order.
        own: folder of mfmasim's headers.
    """
    separate = (after for before, after in itertools.pairwise(flags) if before in _SEPARATE)
    allowed = {*separate, *filter(_PLAIN.fullmatch, flags)}
    if os.environ.get(OFF) == "0" or tool.style == "rocm" or not allowed.issuperset(flags):
        return None
    home = source.parent
    try:
        programs = {name: Path(name).stat() for name in (tool.program[0], tool.linker[0])}
        parts = [
            FORMAT,
            tool.description,
            *sorted(f"{name} {there.st_size} {there.st_mtime_ns}" for name, there in programs.items()),
            *(word for step in steps for word in (*step, "")),
            *(str(name.relative_to(home)) if name.is_relative_to(home) else str(name) for name in folders),
        ]
        key = "\0".join(part.replace(str(scratch), "\1").replace(str(home), "\2") for part in parts)
        digest = hashlib.sha256(key.encode() + source.read_bytes()).hexdigest()
        place = cache_folder() / "compiled" / digest
    except (OSError, RuntimeError):  # no home folder
        return None
    return Entry(place, source, (home, *folders, own), own)


def dependencies(rules: Path) -> list[str]:
    """Flags with which clang writes the files that it reads, those of the system, too (its driver ignores -MD here)."""
    words = ("-dependency-file", str(rules), "-MT", "kernel", "-sys-header-deps")
    return [flag for word in words for flag in ("-Xclang", word)]


def _digest(path: Path) -> str:
    return hashlib.sha256(read_file(path)).hexdigest()


def _prerequisites(text: str) -> list[str]:
    """The files that a rule of ``make`` names after its target."""
    words = re.findall(r"(?:\\[ #]|\$\$|[^\s])+", text.partition(":")[2].replace("\\\n", " "))
    return [re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words]


def _prune(folder: Path) -> None:
    """Remove entries beyond `MOST`."""
    with os.scandir(folder) as found:
        ages = sorted((entry.stat().st_mtime_ns, entry.path) for entry in found)
    for _, path in ages[: max(0, len(ages) - MOST)]:
        with suppress(OSError):
            Path(path).unlink()
