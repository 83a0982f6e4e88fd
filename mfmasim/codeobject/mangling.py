"""Mangled C++ names: the function, its template arguments and the types of its parameters.

Source: Itanium C++ ABI, section 5.1 "External Names". What kernels do not need (operators, expressions, pointers to
members, local functions) is left mangled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mfmasim.codeobject.ctypes import BUILTINS, CType, array_of, named, pointer_to, qualified, vector_of

# Names nest as deep as templates in templates; no kernel nests this deep.
_DEEPEST = 60
# Substitutions repeat text: a short damaged name could stand for gigabytes.
_LONGEST = 4096

_STD = {"a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream", "o": "std::ostream",
        "d": "std::iostream"}  # fmt: skip


class _UnreadableError(Exception):
    """The name uses mangling that kernel names do not need, or is damaged."""


@dataclass(frozen=True)
class Signature:
    """A function as its mangled name describes it."""

    name: str
    """Qualified, without template arguments: ``ns::gemm``."""
    full: str
    """Qualified, with template arguments: ``ns::gemm<float, 3>``."""
    parameters: tuple[CType, ...] | None
    """Types of the parameters; None where the name does not say."""


@dataclass(frozen=True)
class _Name:
    plain: str
    full: str
    arguments: tuple[CType, ...] | None = None
    """Template arguments of the last part."""


@lru_cache(maxsize=1024)
def signature(symbol: str) -> Signature | None:
    """Read a mangled name.

    Args:
        symbol: such as ``_ZN2ns4gemmIfLi3EEEvPT_``.

    Returns:
        The function; None where the symbol is not mangled, or mangled in a way that kernels do not need.

    >>> signature("_Z2gkIfLi3EEvPKT_PS0_").full
    'gk<float, 3>'
    >>> [type.text for type in signature("_Z4copyPKfPfi").parameters]
    ['const float*', 'float*', 'int']
    """
    if not symbol.startswith("_Z"):
        return None
    reader = _Reader(symbol[2:])
    try:
        name = reader.name()
    except (_UnreadableError, RecursionError):
        return None
    if not name.plain:
        return None
    try:
        parameters = reader.parameters(name)
    except (_UnreadableError, RecursionError):
        parameters = None
    return Signature(name.plain, name.full, parameters)


class _Reader:
    """Reads one mangled name from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth, self.spent = text, 0, 0, 0
        self.known: list[CType | _Name] = []
        """Substitution candidates, in order."""
        self.template: tuple[CType, ...] = ()
        """What T_, T0_, ... stand for."""

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def take(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def need(self, token: str) -> None:
        if not self.take(token):
            raise _UnreadableError

    def number(self) -> int:
        start = self.at
        while self.peek().isdecimal() and self.at - start < 6:
            self.at += 1
        if start == self.at:
            raise _UnreadableError
        return int(self.text[start : self.at])

    def until(self, mark: str) -> str:
        start, end = self.at, self.text.find(mark, self.at)
        if end < 0:
            raise _UnreadableError
        self.at = end + len(mark)
        return self.text[start:end]

    def place(self) -> int:
        """The number of a back reference: nothing is 0, then base 36 from 1."""
        digits = self.until("_")
        try:
            return int(digits, 36) + 1 if digits else 0
        except ValueError:
            raise _UnreadableError from None

    def keep(self, found: CType | _Name) -> None:
        self.spent += len(found.text if isinstance(found, CType) else found.full)
        if self.spent > _LONGEST * 16 or len(self.known) > _LONGEST:
            raise _UnreadableError
        self.known.append(found)

    def name(self) -> _Name:
        """A nested or unscoped name with its template arguments."""
        if self.take("N"):
            return self.nested()
        if self.peek() == "S" and self.peek(2) != "St":
            known = self.substitution()
            found = known if isinstance(known, _Name) else _Name(known.text, known.text)
        else:
            scope = "std::" if self.take("St") else ""
            word = scope + self.word()
            found = _Name(word, word)
            if self.peek() == "I":
                self.keep(found)
        return self.with_arguments(found) if self.peek() == "I" else found

    def nested(self) -> _Name:
        while self.peek() in ("r", "V", "K", "R", "O"):
            self.at += 1
        found: _Name | None = None
        kept = False
        while not self.take("E"):
            if self.peek() == "S" and self.peek(2) != "St":
                known = self.substitution()
                found, kept = (known if isinstance(known, _Name) else _Name(known.text, known.text)), True
                continue
            if self.peek() == "I":
                if found is None:
                    raise _UnreadableError
                found = self.with_arguments(found)
            else:
                std = found is None and self.take("St")
                word = self.word()
                before = "std::" if std else f"{found.full}::" if found else ""
                plain = "std::" if std else f"{found.plain}::" if found else ""
                found = _Name(plain + word, before + word)
            self.keep(found)
            kept = False
        if found is None:
            raise _UnreadableError
        if not kept:
            self.known.pop()  # the whole is kept where it is a type, not as a function
        return found

    def with_arguments(self, found: _Name) -> _Name:
        arguments = self.template_arguments()
        listed = ", ".join(argument.text for argument in arguments if argument.text)
        return _Name(found.plain, f"{found.full}<{listed}>", arguments)

    def word(self) -> str:
        self.take("L")  # internal linkage
        length = self.number()
        found = self.peek(length)
        if not length or len(found) != length:
            raise _UnreadableError
        self.at += length
        while self.take("B"):  # abi tag
            tag = self.number()
            self.at += tag
        return "(anonymous namespace)" if found.startswith("_GLOBAL__N") else found

    def substitution(self) -> CType | _Name:
        self.need("S")
        if self.peek() in _STD and self.peek():
            text = _STD[self.peek()]
            self.at += 1
            return _Name(text, text)
        number = self.place()
        if number >= len(self.known):
            raise _UnreadableError
        return self.known[number]

    def parameters(self, name: _Name) -> tuple[CType, ...] | None:
        """Types of a function's parameters, to the end of the name; a template's result comes before them."""
        if name.arguments is not None:
            self.template = name.arguments
            self.type()
        if self.at >= len(self.text):
            return None
        found = []
        while self.at < len(self.text) and self.peek() != ".":  # a clone has a suffix
            found.append(self.type())
        return () if len(found) == 1 and found[0].kind == "void" else tuple(found)

    def template_arguments(self) -> tuple[CType, ...]:
        self.need("I")
        found: list[CType] = []
        while not self.take("E"):
            found += self.argument()
        self.template = tuple(found)
        return self.template

    def argument(self) -> list[CType]:
        self.enter()
        if self.take("J"):  # a parameter pack
            found = []
            while not self.take("E"):
                found += self.argument()
        elif self.take("L"):
            found = [self.literal()]
        elif self.peek() == "X":  # an expression
            raise _UnreadableError
        else:
            found = [self.type()]
        self.depth -= 1
        return found

    def literal(self) -> CType:
        """A value: digits, a sign, or the hexadecimal digits of a float."""
        if self.peek() == "_":  # the name of a function or variable
            raise _UnreadableError
        kind = self.type()
        value = self.until("E")
        value = "-" + value[1:] if value.startswith("n") else value
        if kind.kind == "bool":
            value = {"0": "false", "1": "true"}.get(value, value)
        elif kind.kind not in ("int", "uint"):
            value = f"({kind.text}){value}"
        return CType(value, "other")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _UnreadableError

    def type(self) -> CType:
        self.enter()
        found = self._type()
        self.depth -= 1
        if len(found.text) > _LONGEST:
            raise _UnreadableError
        return found

    def _type(self) -> CType:
        code = self.peek(2) if self.peek() == "D" else self.peek()
        if code in BUILTINS:
            self.at += len(code)
            return named(BUILTINS[code])
        if code == "DF":
            return self.float_by_bits()
        if code == "S" and self.peek(2) != "St":
            known = self.substitution()
            if isinstance(known, CType):
                return known
            if self.peek() != "I":
                return named(known.full)
            found = named(self.with_arguments(known).full)
        else:
            found = self.compound(code)
        self.keep(found)
        return found

    def float_by_bits(self) -> CType:
        self.at += 2
        bits = self.number()
        if self.take("b"):
            return named("__bf16")
        self.need("_")
        return named({16: "_Float16", 32: "float", 64: "double"}.get(bits, f"_Float{bits}"))

    def compound(self, code: str) -> CType:
        """A type that later ones may refer back to."""
        marks = {"P": "*", "R": "&", "O": "&&"}
        if code in marks and code:
            self.at += 1
            return pointer_to(self.type(), marks[code])
        if code in ("K", "V", "r") and code:
            words = []
            for letter, word in (("r", ""), ("V", "volatile"), ("K", "const")):
                if self.take(letter):
                    words.append(word)
            inner = self.type()
            for word in filter(None, words):
                inner = qualified(inner, word)
            return inner
        if self.take("A"):
            count = int(self.until("_") or 0)
            return array_of(self.type(), count)
        if self.take("Dv"):  # Dv<count>_<element>
            count = self.number()
            self.need("_")
            return vector_of(self.type(), count)
        if self.take("Dp"):  # a pack expansion
            return self.type()
        if self.take("U"):  # an address space and other vendor qualifiers, which say nothing about the bytes
            self.word()
            return self.type()
        if self.take("u"):
            return named(self.word())
        if self.take("T"):
            number = self.place()
            if number >= len(self.template):
                raise _UnreadableError
            return self.template[number]
        if self.take("F"):
            self.take("Y")
            result = self.type()
            taken = [self.type() for _ in iter(lambda: self.take("E"), True)]
            return CType(f"{result.text} ({', '.join(part.text for part in taken if part.kind != 'void')})", "other")
        return named(self.name().full)
