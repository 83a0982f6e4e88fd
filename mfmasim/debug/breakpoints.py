"""Breakpoints: a line, a kernel, a mnemonic, an address, with a condition and a hit count."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mfmasim.debug.expressions import parsed
from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    from mfmasim.debug.lines import Lines
    from mfmasim.debug.recorder import Entry


LINE = re.compile(r"(?:(.*):)?(\d+)")


@dataclass
class Breakpoint:
    """A place where execution stops."""

    number: int
    text: str
    """The breakpoint in lists."""
    addresses: frozenset[int] = frozenset()
    pattern: str = ""
    """Pattern of mnemonics."""
    condition: str = ""
    ignore: int = 0
    """Further hits that do not stop."""
    wave: int | None = None
    """Only this wave stops."""
    enabled: bool = True
    hits: int = 0
    _indices: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)

    def indices(self, entry: Entry) -> tuple[int, ...]:
        """Indices of the block's instructions before which execution stops."""
        found = self._indices.get(id(entry))
        if found is None:
            if self.pattern:
                chosen = (k for k, ins in enumerate(entry.instructions) if fnmatchcase(ins.name, self.pattern))
            else:
                chosen = (entry.pcs[pc] for pc in self.addresses if pc in entry.pcs)
            found = self._indices[id(entry)] = tuple(sorted(chosen))
        return found

    @property
    def replayed(self) -> bool:
        """Whether the decision to stop needs registers."""
        return bool(self.condition)


def breakpoint_at(number: int, text: str, lines: Lines) -> tuple[Breakpoint, str]:
    """A breakpoint, and a remark on it.

    Args:
        number: number of the breakpoint.
        text: ``31``, ``gemm.hip:31``, ``*0x1a40``, a kernel's or function's name, a pattern of mnemonics; each also
            with ``if CONDITION`` and ``wave N``.
        lines: of the kernel.

    Raises:
        MfmasimError: the place does not exist; or the condition does not parse.
    """
    place, _, condition = text.partition(" if ") if not text.startswith("if ") else ("", "", text[3:])
    place, condition = place.strip(), condition.strip()
    wave = re.search(r"\s+wave\s+(\d+)$", place)
    if wave is not None:
        place = place[: wave.start()].strip()
    if condition:
        parsed(condition)
    kernel, remark = lines.kernel, ""
    made = Breakpoint(number, place, condition=condition, wave=int(wave[1]) if wave else None)
    line = LINE.fullmatch(place)
    if place.startswith(("*", "0x")):
        address = _address(place)
        made.addresses = frozenset([kernel.code.instruction_at(address, kernel.wave).pc])
        made.text = f"*{address:#x}"
    elif line is not None:
        wanted = int(line[2])
        found, made.addresses = lines.addresses(line[1] or "", wanted)
        name = line[1] or next(row.file.removeprefix("./") for row in lines.rows if row.start in made.addresses)
        made.text = f"{name}:{found}"
        if found != wanted:
            remark = f"line {wanted} has no code; the breakpoint is at line {found}"
    elif place in (kernel.name, kernel.title, kernel.title.partition("(")[0]):
        made.addresses = frozenset([kernel.info.entry])
    elif (functions := [one for one in lines.information.scopes if one.frame and one.name == place]) and place:
        made.addresses = frozenset(min(low for low, _ in one.ranges) for one in functions)
    elif any(fnmatchcase(ins.name, place) for ins in kernel.reachable) and place:
        made.pattern = place
    else:
        known = [kernel.name, *(one.name for one in lines.information.scopes if one.frame)]
        names = sorted({ins.name for ins in kernel.reachable})
        raise (
            unknown("place", place, [*known, *names])
            if place
            else MfmasimError("break: a line, *address, kernel, function or mnemonic is expected")
        )
    return made, remark


def _address(text: str) -> int:
    try:
        return int(text.lstrip("*").strip(), 0)
    except ValueError:
        raise MfmasimError(f"{text!r}: an address such as *0x1a40 is expected") from None
