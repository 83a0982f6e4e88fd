"""Scopes, inlined frames and variables of debug information.

Sources: DWARF 5, sections 2.17, 3.3, 4.1; read with pyelftools. A code object may be hostile: reading is bounded, and
unreadable parts count as absent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mfmasim.codeobject.elf import open_elf
from mfmasim.codeobject.guard import parsing
from mfmasim.debug.types import Type, Types
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


LARGEST = 1 << 23
"""Bytes of a section of debug information that are read."""
ENTRIES = 1 << 17
"""Entries that are read."""
DEEPEST = 200
FRAMES = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")


@dataclass(frozen=True)
class Variable:
    """A variable, parameter or constant."""

    name: str
    type: Type | None
    parameter: bool
    line: int
    locations: tuple[tuple[int, int, bytes], ...] = ()
    """First address, end and expression of each location; the end 0 means all addresses."""
    constant: int | None = None
    frame_base: bytes = b""

    def location(self, pc: int) -> bytes | None:
        """The expression at an address; None if the variable has no place there."""
        return next((expr for low, high, expr in self.locations if not high or low <= pc < high), None)


@dataclass
class Scope:
    """A function, an inlined call of one, or a block within."""

    number: int
    name: str
    ranges: tuple[tuple[int, int], ...]
    frame: bool
    """Whether it is a function or an inlined call."""
    call_file: str = ""
    call_line: int = 0
    variables: list[Variable] = field(default_factory=list)
    inner: list[Scope] = field(default_factory=list)

    def covers(self, pc: int) -> bool:
        """Whether an address belongs to it."""
        return any(low <= pc < high for low, high in self.ranges)


class Information:
    """The debug information of a code object."""

    def __init__(self) -> None:
        """Nothing."""
        self.functions: list[Scope] = []
        self.scopes: list[Scope] = []
        self.globals: list[Variable] = []

    @classmethod
    def read(cls, data: bytes, name: str) -> Information:
        """Read the debug information of a file; it is empty if the file is damaged or too large."""
        found = cls()
        try:
            elf = open_elf(data, name)
            with parsing(name, "debug information"):
                section = elf.get_section_by_name(".debug_info")
                if section is not None and max(section["sh_size"], section.data_size) <= LARGEST:
                    _Reader(found, elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)).run()
        except MfmasimError:
            return cls()
        return found

    def path(self, pc: int) -> list[Scope]:
        """Scopes around an address, from the function inwards."""
        out: list[Scope] = []
        level: Iterable[Scope] = self.functions
        while (inner := next((one for one in level if one.covers(pc)), None)) is not None:
            out.append(inner)
            level = inner.inner
        return out

    def frames(self, pc: int) -> list[Scope]:
        """Function and inlined calls around an address, the innermost first."""
        return [scope for scope in self.path(pc) if scope.frame][::-1]

    def visible(self, pc: int, frame: int = 0) -> Iterator[Variable]:
        """Variables of a frame at an address, inner scopes first; those of the file follow.

        Args:
            pc: the address.
            frame: 0 is the innermost frame, 1 the one that called it.
        """
        groups: list[list[Scope]] = []
        for scope in self.path(pc):
            if scope.frame or not groups:
                groups.append([])
            groups[-1].append(scope)
        if frame < len(groups):
            for scope in groups[::-1][frame][::-1]:
                yield from scope.variables
        yield from self.globals

    @property
    def has_variables(self) -> bool:
        """Whether the compiler described any local variable."""
        return any(scope.variables for scope in self.scopes)


class _Reader:
    """Fills an `Information`."""

    def __init__(self, found: Information, info: Any) -> None:
        self.found, self.info, self.left = found, info, ENTRIES
        self.types = Types()

    def run(self) -> None:
        for unit in self.info.iter_CUs():
            top = unit.get_top_DIE()
            self.files = self._files(unit)
            for child in top.iter_children():
                if child.tag == "DW_TAG_variable":
                    self.found.globals += self._variable(child, b"")
            self._functions(top, 0)

    def _files(self, unit: Any) -> list[str]:
        program = self.info.line_program_for_CU(unit)
        if program is None:
            return []
        entries = program.header["file_entry"]
        names = [one.name.decode("utf-8", "replace") for one in entries]
        return names if program.header["version"] >= 5 else ["", *names]

    def _functions(self, parent: Any, depth: int) -> None:
        for child in parent.iter_children():
            self._count(depth)
            if child.tag == "DW_TAG_subprogram":
                scope = self._scope(child, b"", depth + 1)
                if scope is not None:
                    self.found.functions.append(scope)
            elif child.tag in ("DW_TAG_namespace", "DW_TAG_structure_type", "DW_TAG_class_type"):
                self._functions(child, depth + 1)

    def _count(self, depth: int) -> None:
        self.left -= 1
        if self.left < 0 or depth > DEEPEST:
            raise ValueError("more entries than are read")

    def _scope(self, die: Any, base: bytes, depth: int) -> Scope | None:
        ranges = self._ranges(die)
        if not ranges:
            return None
        if "DW_AT_frame_base" in die.attributes:
            base = bytes(die.attributes["DW_AT_frame_base"].value)
        frame = die.tag in FRAMES
        scope = Scope(len(self.found.scopes), self.text(die, "DW_AT_name") if frame else "", ranges, frame)
        self.found.scopes.append(scope)
        if die.tag == "DW_TAG_inlined_subroutine":
            number = die.attributes.get("DW_AT_call_file")
            line = die.attributes.get("DW_AT_call_line")
            if number is not None and number.value < len(self.files):
                scope.call_file = self.files[number.value]
            scope.call_line = line.value if line is not None else 0
        for child in die.iter_children():
            self._count(depth)
            if child.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
                scope.variables += self._variable(child, base)
            elif child.tag in ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine"):
                inner = self._scope(child, base, depth + 1)
                if inner is not None:
                    scope.inner.append(inner)
        return scope

    def _ranges(self, die: Any) -> tuple[tuple[int, int], ...]:
        low, high = die.attributes.get("DW_AT_low_pc"), die.attributes.get("DW_AT_high_pc")
        if low is not None and high is not None:
            end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
            return ((low.value, end),)
        listed = die.attributes.get("DW_AT_ranges")
        if listed is None:
            return ()
        lists, unit = self.info.range_lists(), die.cu
        top = unit.get_top_DIE()
        first = top.attributes.get("DW_AT_low_pc")
        base = first.value if first is not None else 0
        offset = listed.value
        found = []
        for entry in lists.get_range_list_at_offset(offset, unit):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                shift = 0 if getattr(entry, "is_absolute", False) else base
                found.append((entry.begin_offset + shift, entry.end_offset + shift))
        return tuple(found)

    def text(self, die: Any, attribute: str) -> str:
        """A name of the entry, or of the entry that it refers to."""
        value = self._attribute(die, attribute)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""

    def _attribute(self, die: Any, attribute: str) -> Any:
        for _ in range(8):
            if attribute in die.attributes:
                return die.attributes[attribute].value
            link = next((a for a in ("DW_AT_abstract_origin", "DW_AT_specification") if a in die.attributes), None)
            if link is None:
                return None
            die = die.get_DIE_from_attribute(link)
        return None

    def _variable(self, die: Any, base: bytes) -> list[Variable]:
        name = self.text(die, "DW_AT_name")
        if not name or name.startswith("__hip"):
            return []
        owner = die
        while "DW_AT_type" not in owner.attributes and "DW_AT_abstract_origin" in owner.attributes:
            owner = owner.get_DIE_from_attribute("DW_AT_abstract_origin")
        kind = self.types.of(owner)
        constant = self._attribute(die, "DW_AT_const_value")
        line = self._attribute(die, "DW_AT_decl_line") or 0
        return [
            Variable(
                name,
                kind,
                die.tag == "DW_TAG_formal_parameter",
                line,
                self._locations(die),
                constant if isinstance(constant, int) else None,
                base,
            )
        ]

    def _locations(self, die: Any) -> tuple[tuple[int, int, bytes], ...]:
        given = die.attributes.get("DW_AT_location")
        if given is None:
            return ()
        if given.form in ("DW_FORM_exprloc", "DW_FORM_block", "DW_FORM_block1", "DW_FORM_block2", "DW_FORM_block4"):
            return ((0, 0, bytes(given.value)),)
        unit = die.cu
        first = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = first.value if first is not None else 0
        out = []
        for entry in self.info.location_lists().get_location_list_at_offset(given.value, die):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                shift = 0 if getattr(entry, "is_absolute", False) else base
                out.append((entry.begin_offset + shift, entry.end_offset + shift, bytes(entry.loc_expr)))
        return tuple(out)
