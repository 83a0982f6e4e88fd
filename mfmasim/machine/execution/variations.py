"""Operations that differ from their row in one parameter: hypothetical devices for the simulator and for searches.

An assumed operation may be another on hardware. A *variation* replaces the body of one operation, for every launch that
starts afterwards; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mfmasim.errors import MfmasimError, decimal, unknown
from mfmasim.machine import ops  # noqa: F401  (fills the table of operations)
from mfmasim.machine.binding.operands import scalar_reader, scalar_writer, vector_reader, vector_writer
from mfmasim.machine.numerics.float_formats import BY_SIZE
from mfmasim.machine.opcodes.registry import OPERATIONS, Operation
from mfmasim.machine.ops import vector_divide


@dataclass(frozen=True)
class Variation:
    """One parameter of an operation with another value than its row's."""

    parameter: str
    value: Any
    row: Any
    """The row's value."""
    about: str
    """In words."""


RESULTS = {
    "last_bit": "every eighth number is one unit of the last place larger",
    "flushed": "subnormal results are zeros",
    "canonical": "NaNs have the default bits",
    "inverted": "the lowest bit of the result, or of each half of what is stored, is inverted",
}
"""Values of the parameter `result`, which every operation has."""


def of(name: str) -> tuple[Variation, ...]:
    """The variations of an operation, the most particular first.

    Args:
        name: of an operation.
    """
    found: list[Variation] = []
    if OPERATIONS[name].body is vector_divide.div_scale:
        wide = 64 if name.endswith("f64") else 32
        for parameter, row in vector_divide.RULE.items():
            was = row[wide]
            values = sorted({*range(was - 8, was + 9), was // 2, was * 2} - {was}, key=lambda value: abs(value - was))
            found += [Variation(parameter, value, was, f"{parameter} {value} instead of {was}") for value in values]
    operation = OPERATIONS[name]
    floats = operation.unit == "vector" and any(word in ("f16", "f32", "f64") for word in operation.results)
    chosen = tuple(RESULTS) if floats else ("inverted",)
    found += [Variation("result", value, "as computed", RESULTS[value]) for value in chosen]
    return tuple(found)


@contextmanager
def applied(name: str, parameter: str, value: object) -> Iterator[None]:
    """Apply a variation for a while.

    Args:
        name: as for `apply`.
        parameter: as for `apply`.
        value: as for `apply`.
    """
    before = OPERATIONS[name]
    apply(name, parameter, value)
    try:
        yield
    finally:
        _put(before, OPERATIONS[name])


def apply(name: str, parameter: str, value: Any) -> None:
    """Replace an operation by a variation.

    Args:
        name: of the operation.
        parameter: ``result``, or one of the operation's own.
        value: of the parameter.

    Raises:
        MfmasimError: there is no such operation, parameter or value.
    """
    if name not in OPERATIONS:
        raise unknown("operation", name, OPERATIONS)
    operation = OPERATIONS[name]
    known = sorted({one.parameter for one in of(name)})
    if parameter not in known:
        raise unknown("parameter", parameter, known, f"of operation {name}")
    if parameter != "result":
        wide = 64 if name.endswith("f64") else 32
        rule = {**vector_divide.RULE, parameter: {**vector_divide.RULE[parameter], wide: value}}
        _alone(name, replace(operation, body=partial(vector_divide.div_scale, rule=rule)))
        return
    if value not in RESULTS:
        raise unknown("value", str(value), RESULTS, f"of {name}.result")
    _alone(name, replace(operation, body=_wrapped(operation, str(value))))


def _alone(name: str, varied: Operation) -> None:
    """Only this mnemonic changes, not the operation's other mnemonics."""
    OPERATIONS[name] = varied


def _put(before: Operation, now: Operation) -> None:
    for name, operation in OPERATIONS.items():
        if operation is now:
            OPERATIONS[name] = before


def read(text: str) -> tuple[str, str, Any]:
    """Read ``OPERATION.PARAMETER=VALUE``.

    Raises:
        MfmasimError: it is malformed, or names no variation.
    """
    where, equals, value = text.partition("=")
    name, dot, parameter = where.strip().partition(".")
    if not equals or not dot:
        raise MfmasimError(f"{text!r}: OPERATION.PARAMETER=VALUE is expected, such as v_rcp_f32.result=last_bit")
    if name not in OPERATIONS:
        raise unknown("operation", name, OPERATIONS)
    allowed = [str(one.value) for one in of(name) if one.parameter == parameter]
    if not allowed:
        raise unknown("parameter", parameter, sorted({one.parameter for one in of(name)}), f"of operation {name}")
    meant = value.strip()
    if parameter != "result":
        if decimal(meant) < 0:
            raise MfmasimError(f"{text!r}: a number is expected")
        return name, parameter, decimal(meant)
    if meant not in allowed:
        raise unknown("value", meant, allowed, f"of {name}.result")
    return name, parameter, meant


def _wrapped(operation: Operation, value: str) -> Callable[..., Any]:
    """The operation's body with changed results."""
    body = operation.body
    if operation.unit != "direct":
        if operation.shaped:
            return lambda *given: _changing(body(*given), operation, value)
        return _changing(body, operation, value)

    def bind(instruction: Any, machine: Any) -> Any:
        run = body(instruction, machine)
        returned = [one for one in instruction.dst if one.kind in ("v", "a")]
        if instruction.dst and instruction.dst[0].kind == "s":
            return _scalar(run, instruction)
        data = returned or [one for one in instruction.src if one.kind in ("v", "a")][-1:]
        if not data:
            return run
        read_one = vector_reader(data[0], "u32", instruction)
        write_one = vector_writer(data[0], "u32", instruction)

        def changed(group: Any) -> Any:
            if returned:
                out = run(group)
                write_one(group, np.asarray(read_one(group)) ^ np.uint32(1))
                return out
            before = np.array(read_one(group))
            write_one(group, before ^ np.uint32(0x1_0001))  # some store the high half alone
            out = run(group)
            write_one(group, before)
            return out

        return changed

    return bind


def _scalar(run: Callable[[Any], Any], instruction: Any) -> Callable[[Any], Any]:
    """An operation with a scalar result, whose lowest bit is inverted."""
    get = scalar_reader(instruction.dst[0], "u32", instruction)
    put = scalar_writer(instruction.dst[0], "u32", instruction)

    def changed(group: Any) -> Any:
        out = run(group)
        put(group, np.asarray(get(group)) ^ np.uint32(1))
        return out

    return changed


def _changing(body: Callable[..., Any], operation: Operation, value: str) -> Callable[..., Any]:
    kind = next((word for word in operation.results if word not in ("mask", "scc")), "u32")

    def run(*given: Any) -> Any:
        out = body(*given)
        if isinstance(out, tuple):
            return (_changed(np.asarray(out[0]), kind, value), *out[1:])
        return _changed(np.asarray(out), kind, value)

    return run


def _changed(out: Any, kind: str, value: str) -> Any:
    form = BY_SIZE[out.dtype.itemsize] if kind in ("f16", "f32", "f64") and out.dtype.kind == "f" else None
    if form is None:
        words = out.view(f"u{out.dtype.itemsize}")
        return (words ^ words.dtype.type(1)).view(out.dtype)
    bits = form.bits(out)
    if value == "inverted":
        return (bits ^ form.word(1)).view(form.real)
    if value == "last_bit":
        ordinary = np.isfinite(out) & (bits & form.word(7) == 5)
        return np.where(ordinary, bits + form.word(1), bits).view(form.real)
    if value == "flushed":
        return form.flushed(out)
    return np.where(np.isnan(out), form.word(form.infinity | form.quiet), bits).view(form.real)
