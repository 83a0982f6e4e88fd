"""The state of some waves of one workgroup before an instruction: registers, EXEC, facts, and the trace."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.isa.operands import EXEC
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.polynomial import Polynomial, TooLarge
from mfmasim.prove.words import Word, bits, known, literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction, Operand
    from mfmasim.observe.flights import Flight
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.prove.trace import Block

__all__ = ["Carry", "State"]


@dataclass(frozen=True)
class Carry:
    """The carry of a sum of two words 0, with the polynomials of the words if they are known; a borrow has none."""

    a: Polynomial
    b: Polynomial
    under: Mask | None = None
    """Lanes that added; the carry of other lanes is 0. None means all lanes."""

    @property
    def lanes(self) -> NDArray[np.bool_] | None:
        """The carry of each lane, if the operands are constants; else None."""
        if not (self.a.is_constant and self.b.is_constant):
            return None
        words = [np.asarray(p.constant, np.int64) & 0xFFFFFFFF for p in (self.a, self.b)]
        return np.atleast_2d((words[0] + words[1]) >> 32 != 0)


@dataclass
class State:
    """Waves that execute together."""

    waves: NDArray[np.intp]
    """Their numbers in the workgroup."""
    exec: Mask
    pc: int
    v: dict[tuple[str, int], Word] = field(default_factory=dict)
    s: dict[int, Word] = field(default_factory=dict)
    c: dict[tuple[str, int, int], Word] = field(default_factory=dict)
    """Contents of bytes of registers and of the LDS (`mfmasim.prove.contents`), valid in all lanes."""
    masks: dict[int, Mask | Carry] = field(default_factory=dict)
    """Lane masks in SGPRs, by the first of their registers."""
    scc: Any = None
    facts: list[Polynomial] = field(default_factory=list)
    """Polynomials that are not negative; of facts that differ in the constant alone, the strongest."""
    gained: list[Polynomial] = field(default_factory=list)
    """All facts that the path has added, in order."""
    decisions: dict[Condition, bool] = field(default_factory=dict)
    flights: list[Flight] = field(default_factory=list)
    trace: list[Any] = field(default_factory=list)
    """Steps of the path, in order (`mfmasim.prove.trace`)."""
    turns: dict[int, int] = field(default_factory=dict)
    """How often the path has entered each loop, by the address of its header."""
    rounds: bool = True
    """Whether MODE rounds f32 to nearest even."""
    blocks: dict[int, Block] = field(default_factory=dict)
    """Blocks that a branch skips for some of the waves, by the address at which the ways meet."""
    put: set[tuple[str, int]] = field(default_factory=set)
    """Registers that the rules of the current instruction have written, with a known or an unknown value."""

    @property
    def lanes(self) -> int:
        """Lanes of a wave."""
        return int(self.exec.on.shape[1])

    def copy(self) -> State:
        """An independent copy."""
        return replace(
            self,
            v=dict(self.v),
            s=dict(self.s),
            c=dict(self.c),
            masks=dict(self.masks),
            facts=list(self.facts),
            gained=list(self.gained),
            decisions=dict(self.decisions),
            flights=list(self.flights),
            trace=list(self.trace),
            turns=dict(self.turns),
            blocks=dict(self.blocks),
            put=set(self.put),
        )

    def chosen(self, which: NDArray[np.intp]) -> State:
        """The state of some waves, by their indices in `waves`."""
        out = self.copy()
        pick = lambda c: c[which] if c.shape[0] > 1 else c  # noqa: E731

        def word(old: Word) -> Word:
            under, rest = old.under, old.rest
            return Word(
                old.value.mapped(pick),
                old.part,
                None if under is None else under.chosen(which),
                None if rest is None else word(rest),
            )

        out.waves = self.waves[which]
        out.exec = self.exec.chosen(which)
        out.v = {r: word(w) for r, w in self.v.items()}
        out.s = {r: word(w) for r, w in self.s.items()}
        # Stores of the other waves to the LDS are not seen from here on.
        alone = len(which) == len(self.waves)
        out.c = {r: w if r[0] == "lds" else word(w) for r, w in self.c.items() if alone or r[0] != "lds"}
        out.masks = {
            r: m.chosen(which)
            if isinstance(m, Mask)
            else Carry(m.a.mapped(pick), m.b.mapped(pick), None if m.under is None else m.under.chosen(which))
            for r, m in self.masks.items()
        }
        if isinstance(self.scc, np.ndarray) and self.scc.shape[0] > 1:
            out.scc = self.scc[which]
        elif isinstance(self.scc, Carry):
            out.scc = Carry(self.scc.a.mapped(pick), self.scc.b.mapped(pick))
        elif isinstance(self.scc, tuple):
            out.scc = (self.scc[0].chosen(which), self.scc[1])
        out.blocks = {at: block.chosen(which) for at, block in self.blocks.items()}
        out.facts = [f.mapped(pick) for f in self.facts]
        out.gained = [f.mapped(pick) for f in self.gained]
        return out

    def learn(self, fact: Polynomial) -> None:
        """Add a fact; facts that differ in the constant alone and are weaker are dropped."""
        self.gained.append(fact)
        if fact.is_constant:
            return
        left = []
        for other in self.facts:
            gap = other - fact
            if gap.is_constant and isinstance(gap.constant, int):
                if gap.constant <= 0:
                    return
                continue
            left.append(other)
        self.facts = [*left, fact]

    def executing(self) -> tuple[bool, tuple[int, ...] | None]:
        """Whether conditions decide which waves execute the next instruction; else the waves' numbers, None for all."""
        blocks = [block for inner in self.blocks.values() for block in inner.every]
        some = [set(block.waves) for block in blocks if block.waves is not None]
        return any(block.waves is None for block in blocks), tuple(sorted(set.intersection(*some))) if some else None

    def every(self) -> Mask:
        """All lanes of all waves."""
        return Mask(np.ones((len(self.waves), self.lanes), np.bool_))

    # Registers.

    def scalar(self, number: int) -> Word | None:
        """A scalar register."""
        if number in (EXEC, EXEC + 1):
            return self._mask_word(self.exec, number - EXEC)
        for first in (number, number - 1):
            mask = self.masks.get(first)
            if mask is not None and first + self.lanes // 32 > number:
                return self._mask_word(mask, number - first)
        return self.s.get(number)

    def _mask_word(self, mask: Mask | Carry, half: int) -> Word | None:
        if isinstance(mask, Carry) or not mask.known or 32 * half >= self.lanes:
            return None
        lanes = mask.on[:, 32 * half : 32 * half + 32].astype(np.int64)
        return bits((lanes << np.arange(32)).sum(axis=1)[:, None])

    def write_scalar(self, number: int, word: Word | None) -> None:
        """Write a scalar register. Of EXEC it is one half of the mask; a wave32 has only the low half."""
        self.put.add(("s", number))
        if number == EXEC + 1 and self.lanes == 32:
            return
        if number in (EXEC, EXEC + 1):
            value, other = known(word), known(self.scalar(EXEC + 1 - (number - EXEC)))
            if value is None or (other is None and self.lanes == 64):
                self.exec = Mask(self.every().on, frozenset({(Condition.opaque(), True)}))
            else:
                halves = (value, other) if number == EXEC else (other, value)
                self.exec = self._mask_of(list(halves))
            return
        for first in (number, number - 1):
            if first in self.masks and first + self.lanes // 32 > number:
                del self.masks[first]
        if word is None:
            self.s.pop(number, None)
        else:
            self.s[number] = word

    def mask(self, number: int) -> Mask:
        """A lane mask in scalar registers."""
        if number == EXEC:
            return self.exec
        found = self.masks.get(number)
        if isinstance(found, Mask):
            return found
        if found is not None and found.lanes is not None:
            under = self.every() if found.under is None else found.under
            return Mask(under.on & found.lanes, under.literals)
        words = [known(self.scalar(number + k)) for k in range(self.lanes // 32)]
        if all(word is not None for word in words):
            return self._mask_of(words)
        made = Mask(self.every().on, frozenset({(Condition.opaque(), True)}))
        self.masks[number] = made
        return made

    def _mask_of(self, words: list[Any]) -> Mask:
        shape = (len(self.waves), 1)
        lanes = [
            (np.broadcast_to(np.asarray(word, np.int64), shape) >> np.arange(32)) & 1
            for word in words[: self.lanes // 32]
        ]
        return Mask(np.concatenate(lanes, axis=1).astype(np.bool_))

    def write_mask(self, number: int, mask: Mask | Carry) -> None:
        """Write a lane mask to scalar registers, or to EXEC."""
        self.put.update(("s", number + k) for k in range(self.lanes // 32))
        if number == EXEC:
            self.exec = (
                mask if isinstance(mask, Mask) else Mask(self.every().on, frozenset({(Condition.opaque(), True)}))
            )
            return
        for k in range(-1, self.lanes // 32):
            other = self.masks.get(number + k)
            if other is not None and (k >= 0 or self.lanes == 64):
                del self.masks[number + k]
        for k in range(self.lanes // 32):
            self.s.pop(number + k, None)
        self.masks[number] = mask

    def vector(self, file: str, number: int) -> Word | None:
        """A vector register that is known in all active lanes; inactive lanes get the value of an active one."""
        word = self.v.get((file, number))
        if word is None or (word.under is not None and not self.exec.within(word.under)):
            return None
        on, value = self.exec.on, word.value
        if on.any() and not on.all():
            waves = on.any(axis=1)
            row = np.where(waves, np.arange(len(on)), waves.argmax())[:, None]
            lane = np.where(on, np.arange(on.shape[1]), on.argmax(axis=1)[row])
            value = value.mapped(lambda c: np.broadcast_to(c, on.shape)[row, lane])
        return Word(value, word.part)

    def write_vector(self, file: str, number: int, word: Word | None) -> None:
        """Write a vector register in the lanes of EXEC.

        Args:
            file: ``v``, ``a``, or ``scratch`` for dwords of the scratch.
            number: of the register.
            word: the new value; None if it is unknown.
        """
        self.put.add((file, number))
        old = self.v.get((file, number))
        merged = word if not self.exec.literals and self.exec.on.all() else self._merged(old, word)
        if merged is None:
            self.v.pop((file, number), None)
        else:
            self.v[file, number] = merged

    def _merged(self, old: Word | None, new: Word | None) -> Word | None:
        if not self.exec.on.any():
            return old
        if new is None:
            if old is None or self.exec.literals or (old.under is not None and old.under.literals):
                return None
            left = self.every() if old.under is None else old.under
            rest = Mask(left.on & ~self.exec.on)
            return replace(old, under=rest, rest=None) if rest.on.any() else None
        if old is not None and old.under is None and old.part == new.part and old.value.same(new.value):
            return old
        if old is not None and old.under is not None and old.part == new.part and old.value.same(new.value):
            union = old.under.either(self.exec)
            if old.under.within(union) and self.exec.within(union):
                whole = not union.literals and union.on.all()
                return replace(old, under=None if whole else union, rest=None if whole else old.rest)
        plain = old is not None and not self.exec.literals and (old.under is None or not old.under.literals)
        if plain and old is not None and old.part == new.part and _wide_symbols(old) == _wide_symbols(new):
            on = self.exec.on
            try:
                value = _either(on, new.value, old.value)
            except TooLarge:
                return replace(new, under=self.exec, rest=None)
            under = None if old.under is None else Mask(old.under.on | on)
            return Word(value, new.part, None if under is None or under.on.all() else under)
        others = None if old is None else self.beyond(old)
        if others is not None and others.part == new.part and others.value.same(new.value):
            return others
        return replace(new, under=self.exec, rest=others)

    def beyond(self, word: Word) -> Word | None:
        """The word of a register in inactive lanes, if it is one word for all of them."""
        if word.under is None or word.under.within(self.exec):
            return word if word.under is None else word.rest
        union = word.under.either(self.exec)
        return Word(word.value, word.part) if not union.literals and union.on.all() else None

    def operand(self, operand: Operand, k: int = 0) -> Word | None:
        """Dword k of a source."""
        if operand.kind in ("v", "a"):
            return self.vector(operand.kind, operand.index + k)
        if operand.kind == "s":
            return self.scalar(operand.index + k)
        if operand.kind == "null":
            return literal(0)
        if operand.kind in ("const", "imm"):
            value = operand.bits >> (32 * k) & 0xFFFFFFFF
            return literal(value)
        return None

    def sources(self, ins: Instruction) -> list[Word | None]:
        """The first dword of each source."""
        return [self.operand(operand) for operand in ins.src]

    def write(self, operand: Operand, words: list[Word | None]) -> None:
        """Write the registers of a destination."""
        for k in range(operand.count):
            word = words[k] if k < len(words) else None
            if operand.kind in ("v", "a"):
                self.write_vector(operand.kind, operand.index + k, word)
            elif operand.kind == "s":
                self.write_scalar(operand.index + k, word)


def _wide_symbols(word: Word) -> set[Symbol]:
    """Whether a word has symbols of more than 32 bits, such as addresses: their high words are merged separately."""
    return {s for s in word.value.symbols if s.high is not None and s.high >= 1 << 32}


def _either(on: NDArray[np.bool_], a: Polynomial, b: Polynomial) -> Polynomial:
    terms: dict[Any, Any] = {}
    for monomial in {**a.terms, **b.terms}:
        x, y = a.terms.get(monomial, 0), b.terms.get(monomial, 0)
        if isinstance(x, int) and isinstance(y, int):
            if x == y:
                terms[monomial] = x
                continue
            if max(abs(x), abs(y)) >= 1 << 62:
                raise TooLarge
        terms[monomial] = np.where(on, x, y)
    return Polynomial({m: c if isinstance(c, int) else _plain(c) for m, c in terms.items()})


def _plain(value: NDArray[Any]) -> Any:
    first = value.flat[0]
    return int(first) if (value == first).all() else value.astype(np.int64)
