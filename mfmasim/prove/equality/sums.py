"""Sums: expressions as exact real polynomials of the inputs, without the order and rounding of the additions.

Expanded operations: additions, subtractions, products and fused products in F32, sums of matrix instructions, and exact
conversions from narrower formats. Every other operation is an unknown; two unknowns are equal if their operands are
equal sums: the conversions of two equal sums are equal.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.formats import format as number_format
from mfmasim.prove.equality.pool import BYTES

if TYPE_CHECKING:
    from collections.abc import Hashable

    from mfmasim.prove.equality.pool import Codes, Node, Pool

    Monomial = tuple[int, ...]
    Polynomial = dict[Monomial, Fraction]

MOST = 1 << 21
"""Terms that are compared in all."""
WIDEST = 64
"""Terms of one factor of a product of two sums that is expanded."""
DEEPEST = 20_000
"""Deepest nesting of operations."""
ADDS = {"v_add_f32": (1, 1), "v_sub_f32": (1, -1), "v_subrev_f32": (-1, 1), "s_add_f32": (1, 1), "s_sub_f32": (1, -1)}
MULTIPLIES = ("v_mul_f32", "v_fma_f32", "s_mul_f32", "s_fmac_f32")
"""Products, plus the third operand where there is one."""
WIDENS = {"v_cvt_f32_fp8": "fp8", "v_cvt_f32_bf8": "bf8"}
WHOLE = 6
"""SDWA's selection of the whole register."""
FACTORS = {4: 8, 6: 6, 8: 4, 16: 2, 32: 1}
"""Elements of a dword by bits, as codes of a matrix instruction count them."""


class Sums:
    """Compares expressions as sums; expanded sums are memoised."""

    def __init__(self, pool: Pool) -> None:
        """Nothing is expanded yet."""
        self._pool = pool
        self._forms: dict[Hashable, int] = {}
        self._known: dict[int, int] = {}
        self._polynomials: dict[int, Polynomial] = {}
        self._terms = 0
        self.why = ""
        """Why two expressions could not be compared, as the end of a sentence."""

    def same(self, first: Codes, second: Codes) -> bool:
        """Whether bytes are equal parts of equal sums.

        Args:
            first: codes of bytes; 0 is a constant.
            second: codes of the bytes that they are compared with.
        """
        if ((first <= 0) | (second <= 0) | (first % BYTES != second % BYTES)).any():
            return False
        pairs = np.unique(np.stack([first // BYTES, second // BYTES], axis=1), axis=0)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEPEST))
        try:
            return all(self._form(a) == self._form(b) for a, b in pairs.tolist())
        except (MfmasimError, RecursionError) as error:
            self.why = f": {error}"
            return False
        finally:
            sys.setrecursionlimit(limit)

    def _number(self, form: Hashable) -> int:
        """A number for a form: equal forms have equal numbers."""
        return self._forms.setdefault(form, len(self._forms))

    def _form(self, code: int) -> int:
        """Number of the form by which a dword, or a lane mask, is compared."""
        if code < 0:
            return self._number(("constant", code))
        found = self._known.get(code)
        if found is None:
            found = self._known[code] = self._made(code)
        return found

    def _made(self, code: int) -> int:
        node = self._pool.node(code)
        if node.head[0] == "input":
            return self._number(("input", code))
        if node.head[0] == "bytes":
            return self._number(("bytes", *(one if one < 0 else self._part(one) for one in node.operands)))
        if self._expands(node):
            terms = self._polynomial(code)
            (first, *rest) = terms.items() or [((), Fraction(0))]
            if not rest and len(first[0]) == 1 and first[1] == 1:
                return first[0][0]
            return self._number(("sum", tuple(sorted(terms.items()))))
        if node.head[0] == "sum":
            return self._number(("expression", code))
        return self._number((node.head, *(self._form(one) for one in node.operands)))

    def _part(self, code: int) -> int:
        return self._number(("byte", code % BYTES, self._form(code // BYTES)))

    def _expands(self, node: Node) -> bool:
        name = node.head[0]
        if name == "sum":
            formats, modes = node.head[2], node.head[3]
            plain = formats[2:] == ("f32", "f32") and not any(modes[2:6])  # type: ignore[index]
            return plain and not node.head[5]
        return (name in ADDS or name in MULTIPLIES) and not _modified(node)

    def _polynomial(self, code: int) -> Polynomial:
        """A dword in F32; chains of sums are followed without recursion."""
        if code < 0:
            value = _value("f32", -1 - code)
            return {(): value} if value else {}
        known = self._polynomials.get(code)
        if known is not None:
            return known
        total: Polynomial = {}
        pending: list[tuple[int, Fraction]] = [(code, Fraction(1))]
        while pending:
            one, factor = pending.pop()
            if one < 0 or (one != code and one in self._polynomials):
                _add(total, self._polynomial(one), factor)
                continue
            node = self._pool.node(one)
            name = node.head[0]
            if not self._expands(node):
                _add(total, {(self._form(one),): Fraction(1)}, factor)
            elif name in ADDS:
                pending += [(operand, factor * sign) for operand, sign in zip(node.operands, ADDS[name], strict=True)]
            elif name == "sum":
                formats: Any = node.head[2]
                for left, right in zip(node.operands[1::2], node.operands[2::2], strict=True):
                    _add(
                        total, self._product(self._element(left, formats[0]), self._element(right, formats[1])), factor
                    )
                pending.append((node.operands[0], factor))
            else:
                factors = [self._factor(operand) for operand in node.operands[:2]]
                _add(total, self._product(*factors), factor)
                pending += [(operand, factor) for operand in node.operands[2:]]
        found = {monomial: value for monomial, value in total.items() if value}
        self._terms += len(found)
        if self._terms > MOST:
            raise MfmasimError(f"more than {MOST:,} terms")
        self._polynomials[code] = found
        return found

    def _factor(self, code: int) -> Polynomial:
        """A factor in F32."""
        if code < 0:
            return self._polynomial(code)
        node = self._pool.node(code)
        if self._expands(node):
            return self._polynomial(code)
        return {(self._widened(code, node),): Fraction(1)}

    def _widened(self, code: int, node: Node) -> int:
        """The element whose exact conversion to F32 a dword is, as a factor of a matrix instruction; else the dword."""
        name = node.head[0]
        if name in WIDENS and not node.head[3]:
            shapes: Any = node.head[4]
            _, negated, absolute, extended, sel, half = shapes[0][:6]
            if not (negated or absolute or extended or half) and sel in (0, 1, 2, 3, WHOLE):
                kind = find_arch(str(node.head[1])).format_name(WIDENS[str(name)])
                return self._atom(kind, self._byte(node.operands[0], sel % WHOLE), BYTES)
        if name == "v_cvt_f32_f16" and not _modified(node) and node.operands[0] >= 0:
            return self._atom("f16", self._half(node.operands[0]), 2)
        if name == "bytes" and node.operands[:2] == (-1, -1):
            low, high = node.operands[2:]
            if low >= 0 and low % 2 == 0 and high == low + 1:
                return self._atom("bf16", low // 2, 2)
        return self._form(code)

    def _byte(self, code: int, number: int) -> int:
        """Code of a byte of a dword."""
        if code < 0:
            return -1 - ((-1 - code) >> (8 * number) & 0xFF)
        node = self._pool.node(code)
        return node.operands[number] if node.head[0] == "bytes" else code * BYTES + number

    def _half(self, code: int) -> int:
        """Code of the lower half of a dword, as `Pool.halves` gives it for plain ones."""
        node = self._pool.node(code)
        if node.head[0] == "bytes":
            low, high = node.operands[:2]
            if low >= 0 and low % 2 == 0 and high == low + 1:
                return low // 2
        return code * 2

    def _element(self, code: int, name: str) -> Polynomial:
        """A factor of a matrix instruction."""
        width = int(number_format(name).bits)
        if name == "f32" and code >= 0:
            return self._factor(code)
        if code < 0:
            value = _value(name, -1 - code)
            return {(): value} if value else {}
        return {(self._atom(name, code, FACTORS[width]),): Fraction(1)}

    def _atom(self, name: str, code: int, unit: int) -> int:
        """Number of an element of a narrow format."""
        if code < 0:
            return self._number((name, "constant", code))
        return self._number((name, code % unit, unit, self._form(code // unit)))

    def _product(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if min(len(left), len(right)) > WIDEST:
            raise MfmasimError("a product of two long sums is not expanded")
        total: Polynomial = {}
        for one, c in left.items():
            for other, d in right.items():
                key = tuple(sorted((*one, *other)))
                total[key] = total.get(key, Fraction(0)) + c * d
        return total


def _add(total: Polynomial, terms: Polynomial, factor: Fraction) -> None:
    for monomial, value in terms.items():
        total[monomial] = total.get(monomial, Fraction(0)) + factor * value


def _modified(node: Node) -> bool:
    """Whether an instruction has modifiers of its operands or of its result, or reads parts of them."""
    modifiers, shapes = node.head[3], node.head[4]
    parts = [shape[1:4] + shape[5:6] for shape in shapes if shape[4] == WHOLE]  # type: ignore[attr-defined]
    if bool(modifiers) or len(parts) < len(shapes):  # type: ignore[arg-type]
        return True
    return any(map(any, parts))


def _value(name: str, bits: int) -> Fraction:
    """The real number that a constant is.

    Raises:
        MfmasimError: the constant is an infinity or a NaN.
    """
    value: Any = number_format(name).decode(np.array([bits & 0xFFFFFFFF], np.uint32))[0]
    if not np.isfinite(value):
        raise MfmasimError(f"the constant {float(value)} is no real number")
    return Fraction(float(value))
