"""The table of operations: one small function beside its manual name, with the types of its operands.

A vector operation is a pure function of arrays. Its signature, such as ``"u32 u32 u32 -> u32"``, says how registers
become arrays: u32 i32 f32 u16 i16 f16 take one register (16-bit types its low half), u64 i64 f64 a pair, ``mask`` a
lane mask, ``b32`` any dword, ``sign32`` one whose sign bit neg and abs change, ``b32xN`` N registers on a leading axis,
``pair`` two registers as a tuple of dwords. ``mode`` among the sources hands the body the MODE register (`FloatMode`).
Scalar operations use the same words; ``scc`` as last source or result means the flag. A ``mask`` that is the only
result goes to every destination (V_CMPX on gfx9 writes VCC and EXEC, later only EXEC).

What else is particular to an operation is an argument of its registration: fidelity, how undefined bits pass through it
(`mfmasim.machine.opcodes.undefined_rules`), whether clamp saturates. An ordinary operation is added in a module of
`mfmasim.machine.ops` and in the slow interpreter of the tests, nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.evidence import captured
from mfmasim.fidelity import LEVELS
from mfmasim.machine.opcodes.undefined_rules import TYPED, Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.architectures import Arch

    Body = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """One operation: its name, the unit that runs it, its body and its fidelity."""

    name: str
    """The first of its mnemonics."""
    unit: str
    """``vector``, ``scalar`` or ``direct`` (the body binds itself)."""
    sources: tuple[str, ...]
    results: tuple[str, ...]
    body: Body
    fidelity: str
    """One of `mfmasim.fidelity.LEVELS`."""
    shaped: bool = False
    """The body is called once with the instruction and the architecture, and gives the function of arrays; it takes
    care of the modifiers op_sel, op_sel_hi, neg_lo and neg_hi itself."""
    undefined: Rule = TYPED
    """How undefined bits pass through it."""
    saturates: bool = False
    """With clamp the first result, an integer, saturates to the range of its type; the body also accepts int64."""
    refuses_clamp: bool = False
    """What CLAMP does to its integer result is not known; elsewhere it does nothing where no result can overflow."""
    keeps_high: bool = False
    """A 16-bit result preserves the upper half of the destination on every architecture."""
    flushes: bool = False
    """It never gives denormals, so that OMOD acts whatever FP_DENORM says."""
    checked: Callable[[Arch], bool] | None = None
    """On which architectures it equals a published model that was validated there."""

    def level(self, arch: Arch, name: str = "") -> str:
        """Its fidelity on an architecture, under one of its mnemonics."""
        if captured(name or self.name, arch.name):
            return "hardware"
        return "reference" if self.checked and self.checked(arch) else self.fidelity


OPERATIONS: dict[str, Operation] = {}


def _register(
    unit: str, names: str, fidelity: str, sources: str = "", results: str = "", **rest: Any
) -> Callable[[Body], Body]:
    if fidelity not in LEVELS:
        msg = f"fidelity {fidelity!r} of {names} is not one of {', '.join(LEVELS)}"
        raise ValueError(msg)

    def decorate(body: Body) -> Body:
        first, *others = names.split()
        operation = Operation(first, unit, tuple(sources.split()), tuple(results.split()), body, fidelity, **rest)
        for name in (first, *others):
            if name in OPERATIONS:
                msg = f"operation {name} is registered twice"
                raise ValueError(msg)
            OPERATIONS[name] = operation
        return body

    return decorate


def vector(
    names: str,
    signature: str,
    fidelity: str = "specified",
    *,
    undefined: Rule = TYPED,
    saturates: bool = False,
    refuses_clamp: bool = False,
    keeps_high: bool = False,
    flushes: bool = False,
    checked: Callable[[Arch], bool] | None = None,
) -> Callable[[Body], Body]:
    """Register a vector operation.

    Args:
        names: its mnemonics, which different architectures spell differently.
        signature: types of the sources and results, such as ``"u32 u32 -> u32"``.
        fidelity: one of `mfmasim.fidelity.LEVELS`.
        undefined: how undefined bits pass through it.
        saturates: whether clamp saturates the result; the body is then called with int64 sources, and must give the
            exact first result for them.
        refuses_clamp: whether it is not known what clamp does to its integer result.
        keeps_high: whether a 16-bit result preserves the upper half of the destination on every architecture.
        flushes: whether it never gives denormals.
        checked: on which architectures it equals a published model that was validated there.

    Returns:
        The decorator of the body, a function of arrays.
    """
    sources, _, results = signature.partition("->")
    return _register(
        "vector",
        names,
        fidelity,
        sources,
        results,
        undefined=undefined,
        saturates=saturates,
        refuses_clamp=refuses_clamp,
        keeps_high=keeps_high,
        flushes=flushes,
        checked=checked,
    )


def shaped(
    names: str, signature: str, fidelity: str = "specified", *, undefined: Rule = TYPED
) -> Callable[[Body], Body]:
    """Register a vector operation whose function of arrays depends on the modifiers of the instruction.

    Args:
        names: as in `vector`.
        signature: as in `vector`.
        fidelity: one of `mfmasim.fidelity.LEVELS`.
        undefined: how undefined bits pass through it.

    Returns:
        The decorator of the body: ``body(instruction, arch) -> function of the arrays that the signature names``.
    """
    sources, _, results = signature.partition("->")
    return _register("vector", names, fidelity, sources, results, shaped=True, undefined=undefined)


def scalar(
    names: str, signature: str, fidelity: str = "specified", *, shaped: bool = False, undefined: Rule = TYPED
) -> Callable[[Body], Body]:
    """Register a scalar operation.

    Args:
        names: as in `vector`.
        signature: as in `vector`; ``scc`` comes last among the sources or results.
        fidelity: one of `mfmasim.fidelity.LEVELS`.
        shaped: whether the body is called as in `shaped`.
        undefined: how undefined bits pass through it.

    Returns:
        The decorator of the body.
    """
    sources, _, results = signature.partition("->")
    return _register("scalar", names, fidelity, sources, results, shaped=shaped, undefined=undefined)


def direct(
    names: str, fidelity: str = "specified", *, reads: str = "", writes: str = "", undefined: Rule = TYPED
) -> Callable[[Body], Body]:
    """Register an operation that binds itself.

    Args:
        names: as in `vector`.
        fidelity: one of `mfmasim.fidelity.LEVELS`.
        reads: what it reads besides its operands: ``scc``.
        writes: what it writes besides its operands: ``scc``, ``exec``.
        undefined: how undefined bits pass through it.

    Returns:
        The decorator of the body: ``body(instruction, machine) -> function of a group``.
    """
    return _register("direct", names, fidelity, reads, writes, undefined=undefined)
