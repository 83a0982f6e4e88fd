"""Code objects of earlier compilations, kept in the user's cache folder and used while nothing they depend on changed.

An entry is found by what determines the result: the compiler's file and version, the commands, the name and the text
of the source, but not its folder, on which no byte depends. It names every file that the compiler read, with its
SHA-256, the places where a header would have come before one of those, and the libraries of the compiler; all are
looked at before it is used. Compilations that print something, use ROCm's compilers or device libraries, a compiler
that is a script, flags that may read other files, or a source on which the preprocessor reports more
(`mfmasim.toolchain.unreported`), are not kept; nor is one of which a file changed while it ran.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file, replacing
from mfmasim.resources import cache_folder
from mfmasim.toolchain.programs import deciding, is_script, state, states
from mfmasim.toolchain.unreported import WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.toolchain.compilers import Compiler
    from mfmasim.toolchain.unreported import Unreported

OFF = "MFMASIM_COMPILE_CACHE"
"""Environment variable: 0 compiles anew every time."""
FORMAT = "2"
"""Changes with what an entry holds."""
MOST = 2000
"""Entries; beyond, those that were not used for the longest time are removed."""

# Flags that name no file beyond folders of headers; each value of the second ones follows separately.
_PLAIN = re.compile(
    r"-[DUOI].*|-W(?![apl],).*|-g[a-z0-9-]*|-std=.*|-(iquote|isystem|idirafter).+|-m[a-z][a-z0-9-]*(=[\w,+-]+)?"
    r"|-f(no-)?(fast-math|unroll-loops|math-errno|associative-math|reciprocal-math|signed-zeros|finite-math-only)"
    r"|-ffp-contract=\w+|-fgpu-\w+(-\w+)*"
)
_SEPARATE = ("-D", "-U", "-I", "-iquote", "-isystem", "-idirafter")
# Options of LLVM without a value that may be a file's name.
_LLVM = re.compile(r"-[\w-]+(=(\d+|true|false))?")


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
    tools: tuple[str, ...] = ()
    """The programs that make it."""
    started: int = 2**63
    """When the compilation began, in nanoseconds: a file that changed since may not be what was read."""

    def read(self) -> bytes | None:
        """The code object, if nothing that it depends on has changed."""
        try:
            head, _, data = read_file(self.path).partition(b"\n")
            known, home = json.loads(head), self.source.parent
            fresh = (
                hashlib.sha256(data).hexdigest() == known["data"]
                and all(state(name) == found for name, found in known["tools"].items())
                and not any(os.path.exists(os.path.join(home, name)) for name in known["absent"])  # noqa: PTH110, PTH118
                and all(_digest(self._place(name)) == digest for name, digest in known["read"].items())
            )
            if not fresh:
                return None
            with suppress(OSError):
                os.utime(self.path)  # used now
        except (MfmasimError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return data

    def write(self, data: bytes, rules: Path, seen: Unreported | None) -> None:
        """Keep a code object; a folder that cannot be written to leaves all as it is.

        Args:
            data: the code object.
            rules: the files that the compiler read, as it writes them for ``make``.
            seen: what it depends on besides.
        """
        if seen is None or seen.assembly or any(self._from_user(Path(name), seen) for name in seen.asked):
            return
        with suppress(MfmasimError, OSError, ValueError):
            names = self._read(rules)
            if any(_changed(self._place(name)) > self.started for name in names):
                return
            head = {
                "data": hashlib.sha256(data).hexdigest(),
                "read": {name: _digest(self._place(name)) for name in names},
                "absent": self._absent([self._place(name) for name in names], seen),
                "tools": states(self.tools),
            }
            with replacing(self.path, anything=True) as file:
                file.write(json.dumps(head).encode() + b"\n" + data)
            _prune(self.path.parent)

    def _read(self, rules: Path) -> list[str]:
        """The files that were read: relative where the source's folder, which may move, leads to them."""
        home = f"{self.source.parent}{os.sep}"
        return [name.removeprefix(home) for name in _prerequisites(os.fsdecode(rules.read_bytes()))]

    def _place(self, name: str) -> Path:
        return self.source.parent / name

    def _from_user(self, place: Path, seen: Unreported) -> bool:
        """Whether a file belongs neither to the compiler's installation nor to mfmasim."""
        within = [each for each in (*self.folders, *seen.folders, self.own) if place.is_relative_to(each)]
        nearest = max(within, key=lambda each: len(each.parts), default=self.source.parent)
        return nearest in self.folders and nearest != self.own

    def _absent(self, read: Sequence[Path], seen: Unreported) -> list[str]:
        """Places where a file would come before, or instead of, one that was read."""
        home = self.source.parent
        near = {home} | {file.parent for file in read if self._from_user(file, seen)}
        order = list(dict.fromkeys((*self.folders, *seen.folders)))
        missing = {each for each in order if not each.is_dir()}
        found: set[Path] = set()
        for file in read:
            holding = [each for each in order if file.is_relative_to(each)]
            names = {file.relative_to(each) for each in (*holding, *near) if file.is_relative_to(each)}
            before = order[: order.index(holding[-1])] if holding else order
            found |= {each / name for each in {*near, *before, *missing} for name in names or {Path(file.name)}}
        there = {_first_missing(str(f)) for f in found - {*read} if not f.exists()}
        return sorted(name.removeprefix(f"{home}{os.sep}") for name in there)


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
    llvm = {word for before, after in itertools.pairwise(flags) if before == "-mllvm" for word in (before, after)}
    allowed = {*separate, *_SEPARATE, *filter(_PLAIN.fullmatch, flags), *filter(_LLVM.fullmatch, llvm)}
    if os.environ.get(OFF) == "0" or tool.style == "rocm" or not allowed.issuperset(flags):
        return None
    if is_script(tool.program[0]) or any(word in flag for flag in flags for word in WORDS):
        return None
    home = source.parent
    try:
        tools = tool.program[0], tool.linker[0]
        parts = [
            FORMAT,
            tool.description,
            *(f"{name} {state(name)}" for name in tools),
            *deciding(tool.program[0]),
            *(word for step in steps for word in (*step, "")),
            *(str(name.relative_to(home)) if name.is_relative_to(home) else str(name) for name in folders),
        ]
        key = "\0".join(part.replace(str(scratch), "\1").replace(str(home), "\2") for part in parts)
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass") + source.read_bytes()).hexdigest()
        place = cache_folder() / "compiled" / digest
    except (OSError, RuntimeError):  # no home folder
        return None
    return Entry(place, source, (home, *folders, own), own, tools, time.time_ns())


def dependencies(rules: Path) -> list[str]:
    """Flags with which clang writes the files that it reads, those of the system, too (its driver ignores -MD here)."""
    words = ("-dependency-file", str(rules), "-MT", "kernel", "-sys-header-deps")
    return [flag for word in words for flag in ("-Xclang", word)]


def _first_missing(name: str) -> str:
    """The first folder of a path that does not exist, or the path: one that stands for all that would lie in it."""
    above = os.path.dirname(name)  # noqa: PTH120
    return name if os.path.exists(above) else _first_missing(above)  # noqa: PTH110


def _changed(path: Path) -> int:
    """When a file, or the link that leads to it, was changed or put in its place; in nanoseconds."""
    return max(path.stat().st_ctime_ns, path.lstat().st_ctime_ns)


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
