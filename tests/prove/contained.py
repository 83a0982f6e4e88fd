"""One instruction in two machines: what the prover says of the registers behind it holds in the simulator.

An observer keeps the registers of a workgroup before and after an instruction. The state of the prover is drawn so that
it is true of those before it: each register is a constant, a polynomial of symbols whose values are chosen, or unknown;
EXEC and masks may have conditions. Then both execute the same instruction, and whatever the prover knows of registers,
masks, SCC, and the addresses of accesses has to be what the simulator has.
"""

from __future__ import annotations

import numpy as np

from mfmasim.isa.operands import EXEC, VCC
from mfmasim.prove.execution import Execution
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.objects import open_contract
from mfmasim.prove.paths import Fork, Split, Stopped, assume
from mfmasim.prove.polynomial import Symbol, TooLarge, constant, of
from mfmasim.prove.state import Carry, State
from mfmasim.prove.words import Word, bits, reduced

WORD = 1 << 32


class Drawn:
    """A state of the prover that is true of a snapshot, and the values of its symbols."""

    def __init__(self, rng, seen, pc, near):
        """Draw what is known of `near`, registers by file and number, besides VCC, SCC and EXEC."""
        self.rng, self.seen, self.values = rng, seen, {}
        self.state = State(np.arange(len(seen.exec)), Mask(seen.exec), pc)
        self.state.rounds = not (seen.mode & 3).any()
        self.lanes = seen.exec.shape[1]
        style = rng.random()
        self.plain = style < 0.3
        """Whether all is constant."""
        for kind, number in sorted(near):
            self._register(kind, number)
        # Masks later: they replace what is said of their registers.
        for number in (VCC, *(n for kind, n in sorted(near) if kind == "s" and n % 2 == 0)):
            if rng.random() < (0.5 if number == VCC else 0.2) and number + 1 < 108:
                self._mask(number)
        self._flag()
        if rng.random() < 0.3:
            self.state.exec = self._literal(seen.exec)

    def symbol(self, value, *, most=None):
        """A symbol with a value, and perhaps a fact of its upper bound."""
        rng = self.rng
        tops = [t for t in (2 * value + 3, (1 << 31) - 1, WORD - 1) if t >= value and t < 1 << 48]
        top = most if most is not None else tops[rng.integers(len(tops))]
        low = int(rng.integers(0, min(value, 3) + 1))
        found = Symbol(f"x{len(self.values)}", low, int(top))
        self.values[found] = int(value)
        if rng.random() < 0.3:
            self.state.facts.append(constant(int(value) + int(rng.integers(0, 9))) - of(found))
        return found

    def _word(self, held):
        """What is known of a register of each wave, or lane."""
        rng = self.rng
        kind = "constant" if self.plain else rng.choice(["none", "constant", "symbol", "symbol", "sum"])
        if kind == "none" or (self.plain and rng.random() < 0.1):
            return None
        if kind == "constant":
            return bits(int(held.flat[0])) if (held == held.flat[0]).all() else bits(held)
        first = int(held.flat[0])
        if kind == "sum":  # of a multiple of a symbol
            factor = int(rng.choice([2, 4, 16, 1 << 16, -1]))
            part = int(rng.integers(0, max(first // abs(factor), 1) + 1))
            value = of(self.symbol(min(part, WORD - 1))).scaled(factor)
            rest = held - factor * min(part, WORD - 1)
        else:
            back = int(rng.choice([0, 0, 1, 7]))
            value, rest = of(self.symbol(max(first - back, 0))), held - max(first - back, 0)
        rest = (rest + (1 << 31)) % WORD - (1 << 31)
        return reduced(value + constant(int(rest.flat[0]) if (rest == rest.flat[0]).all() else rest))

    def _register(self, kind, number):
        rng, state = self.rng, self.state
        if kind == "s":
            if number in (EXEC, EXEC + 1) or number > 127:
                return
            held = self.seen.s[:, number][:, None]
            both = held + (self.seen.s[:, (number + 1) % 128][:, None] << 32)
            if not self.plain and (both == both[0]).all() and 0 < both[0, 0] < 1 << 47 and rng.random() < 0.5:
                symbol = Symbol(f"p{len(self.values)}", 0, 1 << 47)
                self.values[symbol] = int(both[0, 0])
                state.s[number], state.s[number + 1] = Word(of(symbol)), Word(of(symbol), 1)
                return
            if not self.plain and rng.random() < 0.2 and number - 1 in state.s and state.s[number - 1].part == 0:
                return
            word = self._word(held)
            if word is not None:
                state.s[number] = word
            else:
                state.s.pop(number, None)
            return
        held = self.seen.v.get((kind, number))
        word = None if held is None else self._word(held)
        if word is None:
            return
        if rng.random() < 0.1:  # known in some of the lanes
            some = rng.random(held.shape) < 0.7
            word = Word(word.value, word.part, under=Mask(some | self.seen.exec if rng.random() < 0.5 else some))
        state.v[kind, number] = word

    def _literal(self, on):
        """A mask that a condition of each lane decides."""
        symbol = self.symbol(int(self.rng.integers(0, 100)))
        value = of(symbol) - self.values[symbol] + constant(np.where(on, 0, -1).astype(np.int64))
        wide = on | (self.rng.random(on.shape) < 0.8)
        return Mask(wide, frozenset({(Condition.of("ge", value), True)}))

    def _mask(self, number):
        words = self.seen.s[:, number : number + self.lanes // 32]
        on = (words[:, :, None] >> np.arange(32) & 1).astype(np.bool_).reshape(len(words), -1)
        self.state.write_mask(number, Mask(on) if self.rng.random() < 0.5 or self.plain else self._literal(on))

    def _flag(self):
        rng, scc, state = self.rng, self.seen.scc, self.state
        kind = rng.choice(["array", "array", "condition", "carry", "none"]) if not self.plain else "array"
        if kind == "array":
            state.scc = np.array([[bool(scc[0])]]) if (scc == scc[0]).all() else scc[:, None].astype(np.bool_)
        elif kind == "condition" and (scc == scc[0]).all():
            symbol, holds = self.symbol(int(rng.integers(0, 100))), bool(rng.random() < 0.5)
            value = of(symbol) - self.values[symbol] - (0 if bool(scc[0]) == holds else 1)
            state.scc = (Condition.of("ge", value), holds)
        elif kind == "carry" and (scc == scc[0]).all():
            low = int(rng.integers(1, WORD - 1))
            other = WORD - low if scc[0] else WORD - 1 - low
            state.scc = Carry(of(self.symbol(low)), constant(other))


# What it says.


class Values:
    """Polynomials, conditions and masks at the values of their symbols."""

    def __init__(self, values):
        """Symbols that follow from others are added as they are met."""
        self.values = dict(values)

    def of(self, polynomial, shape):
        """A polynomial (shape, objects), and where it is known."""
        total, sure = np.zeros(shape, object), np.ones(shape, np.bool_)
        for monomial, factor in polynomial.terms.items():
            part = np.broadcast_to(np.asarray(factor, object), shape).copy()
            for symbol in monomial:
                value = self._symbol(symbol, shape)
                if value is None:
                    sure &= part == 0
                    part = part * 0
                else:
                    part = part * value
            total = total + part
        return total, sure

    def _symbol(self, symbol, shape):
        if symbol in self.values:
            return self.values[symbol]
        for pair, how in ((symbol.quotient, lambda a, b: a // b), (symbol.smaller, np.minimum)):
            if pair is not None:
                (a, one), (b, two) = (self.of(each, shape) for each in pair)
                return how(a, b) if one.all() and two.all() else None
        return None

    def condition(self, condition, shape):
        """Where a condition holds, and where that is known."""
        if condition.value is None:
            return np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        value, sure = self.of(condition.value, shape)
        return (value >= 0 if condition.kind == "ge" else value == 0), sure

    def mask(self, mask, shape):
        """Lanes of a mask, and where that is known: lanes that are off for sure are, whatever a condition says."""
        on, sure = np.broadcast_to(mask.on, shape).copy(), np.ones(shape, np.bool_)
        off = ~on
        for condition, holds in mask.literals:
            true, known = self.condition(condition, shape)
            off |= known & (true != holds)
            sure &= known
        return on & ~off, sure | off

    def bind(self, word, held, where):
        """A register that is a symbol of its own, of which only the range is known; what is wrong with it, or empty."""
        symbols = word.value.symbols
        if len(symbols) != 1 or word.part or not word.value.same(of(symbol := next(iter(symbols)))):
            return ""
        if symbol in self.values or symbol.quotient is not None or symbol.smaller is not None or not where.any():
            return ""
        number = held[where] if symbol.low >= 0 else (held[where] + (1 << 31)) % WORD - (1 << 31)
        if (number < symbol.low).any() or (symbol.high is not None and (number > symbol.high).any()):
            return f"is {number.min()}..{number.max()}, not within {symbol.low}..{symbol.high}"
        if not symbol.varies:
            if (number != number[0]).any():
                return "differs between lanes, and is one symbol"
            self.values[symbol] = int(number[0])
        return ""


def problems(rng, execution, seen):
    """What the prover says of an instruction that the simulator contradicts.

    Args:
        rng: draws what the prover knows before it.
        execution: the prover of the kernel.
        seen: what the simulator did.

    Returns:
        Lines of text; and whether the prover followed the instruction.
    """
    ins, before, after = seen.instruction, seen.before, seen.after
    changed = {key for key, held in before.v.items() if not np.array_equal(held, dict.__getitem__(after.v, key))}
    changed |= {("s", int(n)) for n in np.flatnonzero((before.s != after.s).any(axis=0)) if n < EXEC}
    near = set(changed)
    for part in ins.halves or (ins,):
        for operand in (*part.dst, *part.src):
            if operand.kind in ("v", "a", "s"):
                near |= {
                    (operand.kind, operand.index + k) for k in range(-1, operand.count + 1) if operand.index + k >= 0
                }
    near.add(("s", execution.arch.m0))
    drawn = Drawn(rng, before, ins.pc, near)
    drawn.state.waves = seen.numbers
    told = _told(drawn.state)
    return [
        f"{line} | {told}" for line in _followed(execution, drawn.state, np.arange(len(before.exec)), drawn, seen, 0)
    ]


def _told(state):
    known = {f"{k}{n}": w for (k, n), w in state.v.items()} | {f"s{n}": w for n, w in state.s.items()}
    return f"known before: {sorted(known)}, masks {sorted(state.masks)}, scc {state.scc}"


def _followed(execution, state, rows, drawn, seen, depth):
    own = state.copy()
    try:
        execution.step(own)
    except Fork as fork:
        if depth > 6:
            return []
        true, sure = Values(drawn.values).condition(fork.condition, (len(rows), drawn.lanes))
        answers = (True, False) if not sure.all() or true.any() != true.all() else (bool(true.all()),)
        found = []
        for holds in answers:
            other = own.copy()
            assume(other, fork.condition, holds=holds)
            if type(fork).__name__ == "_FlagFork":
                other.scc = np.array([[holds]])
            found = _followed(execution, other, rows, drawn, seen, depth + 1)
            if not found:
                return []
        return found
    except Split as split:
        return (
            [
                line
                for part in split.parts
                for line in _followed(execution, own.chosen(part), rows[part], drawn, seen, depth + 1)
            ]
            if depth < 6
            else []
        )
    except (Stopped, TooLarge):
        return []
    return _compared(own, rows, drawn, seen)


def behind(drawn, seen):
    """What the simulator contradicts of a drawn state that has followed an instruction."""
    return _compared(drawn.state, np.arange(len(seen.before.exec)), drawn, seen)


def _compared(state, rows, drawn, seen):
    after, ins, shape = seen.after, seen.instruction, (len(rows), drawn.lanes)
    values, found = Values(drawn.values), []

    def word(name, one, held):
        if one is None:
            return
        where, sure = np.ones(held.shape, np.bool_), True
        if one.under is not None:
            lanes, known = values.mask(one.under, shape)
            where = lanes & known if known.all() else np.zeros(shape, np.bool_)
        if wrong := values.bind(one, held, where):
            found.append(f"{name} {wrong}: {one}")
            return
        total, sure = values.of(one.value, held.shape)
        exact = (total >> 32 * one.part) % WORD
        bad = where & sure & (exact != held)
        if bad.any():
            at = tuple(np.argwhere(bad)[0])
            found.append(f"{name} is {held[at]:#x} in wave, lane {at}, and {one} is {int(exact[at]):#x}")

    for key, one in state.v.items():
        if key in after.v:
            word(f"{key[0]}{key[1]}", one, after.v[key][rows])
    for number in (*state.s, EXEC, EXEC + 1, VCC, VCC + 1):
        if number < 128 and not (shape[1] == 32 and number == EXEC + 1):
            word(f"s{number}", state.scalar(number), after.s[rows, number][:, None])
    masks = {number: one for number, one in state.masks.items() if isinstance(one, Mask)} | {EXEC: state.exec}
    for number, one in masks.items():
        words = after.s[rows, number : number + shape[1] // 32]
        held = (words[:, :, None] >> np.arange(32) & 1).astype(np.bool_).reshape(shape)
        if number == EXEC:
            held = after.exec[rows]
        on, sure = values.mask(one, shape)
        if (sure & (on != held)).any() or (held & ~np.broadcast_to(one.on, shape)).any():
            found.append(f"mask s{number} has other lanes than {sorted(map(str, one.literals))}")
    for number, one in state.masks.items():
        if isinstance(one, Carry):
            (a, x), (b, y) = (values.of(p, shape) for p in (one.a, one.b))
            words = after.s[rows, number : number + shape[1] // 32]
            held = (words[:, :, None] >> np.arange(32) & 1).astype(np.bool_).reshape(shape)
            lanes, sure = (np.ones(shape, np.bool_),) * 2 if one.under is None else values.mask(one.under, shape)
            if (x & y & sure & ((lanes & ((a % WORD + b % WORD) >= WORD)) != held)).any():
                found.append(f"carry s{number} is not that of {one.a} + {one.b}")
    found += _flag(values, state.scc, after.scc[rows])
    if ins.opcode.flow and not state.blocks and (after.pc[rows] != state.pc).any() and ins.opcode.flow != "end":
        found.append(f"goes on at {after.pc[rows]}, not {state.pc:#x}")
    if not state.blocks:
        found += _accesses(state, rows, values, seen)
    return [f"{ins.text}: {line}" for line in found]


def _flag(values, flag, held):
    if isinstance(flag, np.ndarray):
        return [f"SCC is {held}, not {flag.ravel()}"] if (np.broadcast_to(flag[:, 0], held.shape) != held).any() else []
    if isinstance(flag, tuple):
        true, sure = values.condition(flag[0], (len(held), 1))
        wrong = sure[:, 0] & ((true[:, 0] == flag[1]) != held)
        return [f"SCC is {held}, not {flag}"] if wrong.any() else []
    if isinstance(flag, Carry):
        (a, x), (b, y) = (values.of(p, (len(held), 1)) for p in (flag.a, flag.b))
        carry = (a % WORD + b % WORD >= WORD)[:, 0]
        return [f"SCC is {held}, no carry of {flag.a} + {flag.b}"] if ((x & y)[:, 0] & (carry != held)).any() else []
    return []


def _accesses(state, rows, values, seen):
    ins, found = seen.instruction, []
    said = list(state.trace[-1].accesses) if state.trace and state.trace[-1].instruction is ins else []
    if ins.opcode.kind == "tensor" or any(one.address is None for one in said):
        return []
    if not said and ins.opcode.unit == "SMEM":
        return []  # of the kernel's arguments, which the drawn registers do not name
    for space, kind, addresses, active, size in seen.accesses:
        lanes, covered = addresses[rows], np.zeros(active[rows].shape, np.bool_)
        on = active[rows]
        for one in said:
            if one.space != space:
                continue
            total, sure = values.of(one.address, covered.shape)
            total = total % (1 << 64) if space == "global" else total
            mask, known = values.mask(one.mask, covered.shape)
            if ins.opcode.unit == "SMEM":
                mask, known = np.ones_like(covered), np.ones_like(covered)
            inside = (total <= lanes) & (lanes + size <= total + one.size) | ~sure
            covered |= inside & (mask | ~known) & ((one.kind == kind) | (one.kind == "atomic") | (kind == "atomic"))
        if (on & ~covered).any():
            at = tuple(np.argwhere(on & ~covered)[0])
            told = [(one.space, one.kind, str(one.address), one.size) for one in said]
            found.append(f"{kind} of {size} bytes at {int(lanes[at]):#x} of {space} in wave, lane {at}; said {told}")
    return found


def prover(program, block):
    """The prover of a kernel whose launches are open."""
    return Execution(program, open_contract(program, block), seconds=1e9)


__all__ = ["Drawn", "Values", "behind", "problems", "prover"]
