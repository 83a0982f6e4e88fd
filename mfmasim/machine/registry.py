"""The table of operations: one small function beside its manual name, with the types of its operands.

A vector operation is a pure function of arrays. Its signature, such as ``"u32 u32 u32 -> u32"``, says how registers
become arrays: u32 i32 f32 u16 i16 f16 take one register (16-bit types its low half), u64 i64 f64 a pair, ``mask`` a
lane mask, ``b32`` any dword, ``b32xN`` N registers on a leading axis, ``pair`` two registers as a tuple of dwords.
``mode`` among the sources hands the body the MODE register (`FloatMode`). Scalar operations use the same words;
``scc`` as last source or result means the flag. A ``mask`` that is the only result goes to every destination (V_CMPX
on gfx9 writes VCC and EXEC, later only EXEC).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.fidelity import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

    Body = Callable[..., Any]
    Bound = Callable[[Group], None]

__all__ = ["OPERATIONS", "Operation", "direct", "scalar", "shaped", "vector"]


@dataclass(frozen=True)
class Operation:
    """One operation: its name, the unit that runs it, its body and how far it can be trusted."""

    name: str
    """The first of its spellings."""
    unit: str
    """``vector``, ``scalar`` or ``direct`` (the body binds itself)."""
    sources: tuple[str, ...]
    results: tuple[str, ...]
    body: Body
    fidelity: str
    """One of `mfmasim.fidelity.LEVELS`."""
    shaped: bool = False
    """The body is called once with the instruction and the architecture, and gives the function of arrays; it takes
    the modifiers op_sel, op_sel_hi, neg_lo and neg_hi into its own hands."""


OPERATIONS: dict[str, Operation] = {}


def _register(unit: str, names: str, signature: str, fidelity: str, *, shaped: bool = False) -> Callable[[Body], Body]:
    if fidelity not in LEVELS:
        msg = f"fidelity {fidelity!r} of {names} is not one of {', '.join(LEVELS)}"
        raise ValueError(msg)
    sources, _, results = signature.partition("->")
    first = names.split(maxsplit=1)[0]

    def decorate(body: Body) -> Body:
        for name in names.split():
            if name in OPERATIONS:
                msg = f"operation {name} is registered twice"
                raise ValueError(msg)
            OPERATIONS[name] = Operation(
                first, unit, tuple(sources.split()), tuple(results.split()), body, fidelity, shaped
            )
        return body

    return decorate


def vector(names: str, signature: str, fidelity: str = "specified") -> Callable[[Body], Body]:
    """Register a vector operation under one or more names (the same operation in two spellings)."""
    return _register("vector", names, signature, fidelity)


def shaped(names: str, signature: str, fidelity: str = "specified") -> Callable[[Body], Body]:
    """Register a vector operation whose function of arrays depends on the modifiers of the instruction.

    The body is ``body(instruction, arch) -> function of the arrays that the signature names``.
    """
    return _register("vector", names, signature, fidelity, shaped=True)


def scalar(names: str, signature: str, fidelity: str = "specified", *, shaped: bool = False) -> Callable[[Body], Body]:
    """Register a scalar operation; a shaped body is called as in `shaped`."""
    return _register("scalar", names, signature, fidelity, shaped=shaped)


def direct(names: str, fidelity: str = "specified") -> Callable[[Callable[[Instruction, Any], Bound]], Any]:
    """Register an operation that binds itself: ``body(instruction, machine) -> function of a group``."""
    return _register("direct", names, "", fidelity)
