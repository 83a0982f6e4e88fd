"""How a caller passes a kernel's arguments: by position, by name, or as the bytes of the whole segment.

Hand-written kernels place their arguments in slots and fill the gaps with unused arguments in their metadata.
These are padding: several numbers named ``pad`` (a compiler's parameters have different
names), or whose name begins with ``_pad``. They need not be passed and are then zero.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.codeobject import Parameter
from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.launch.argument_segment import POINTER, address_of, argument, by_value, structure
from mfmasim.machine.launch.argument_types import is_typed
from mfmasim.machine.launch.interchange import as_array, is_array, with_arrays
from mfmasim.machine.state.memory import POISON_BYTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.argument_segment import Owner

    Arguments = Sequence[Any] | Mapping[str | int, Any] | bytes | bytearray

PADDING = "pad"


def padding(kernel: Kernel) -> frozenset[int]:
    """Numbers of the arguments that are padding."""
    names = Counter(arg.name for arg in kernel.args)
    return frozenset(
        number
        for number, arg in enumerate(kernel.args)
        if arg.value_kind == "by_value"
        and ((arg.name == PADDING and names[PADDING] > 1) or arg.name.startswith("_" + PADDING))
    )


def in_order(kernel: Kernel, args: Arguments) -> list[Any]:
    """One entry for each argument of a kernel, arrays as NumPy's; empty where the bytes of the segment are given.

    Args:
        kernel: the kernel.
        args: its arguments in order, with padding or without; by name or number; or the bytes of the segment.

    Raises:
        MfmasimError: an argument is missing, unknown, or given twice.
    """
    if isinstance(args, bytes | bytearray):
        return []
    found = zip(kernel.args, _listed(kernel, args, padding(kernel)), strict=True)
    return [
        with_arrays(value, f"argument {n}" + f" ({arg.name})" * bool(arg.name)) for n, (arg, value) in enumerate(found)
    ]


def _listed(kernel: Kernel, args: Arguments, left_out: frozenset[int]) -> list[Any]:
    """One entry for each argument, as it was given."""
    if isinstance(args, Mapping):
        return _by_name(kernel, args, left_out)
    if not isinstance(args, list | tuple):
        raise MfmasimError(
            "args: a list with one entry per argument, a dict by name, or the bytes of the whole segment is expected, "
            f"not {type(args).__name__}"
        )
    if len(args) == len(kernel.args):
        return list(args)
    needed = [arg for number, arg in enumerate(kernel.args) if number not in left_out]
    if len(args) != len(needed):
        own = [kernel.parameters[number].name for number in range(len(kernel.args)) if number not in left_out]
        names = ", ".join(name or arg.value_kind for name, arg in zip(own, needed, strict=True))
        more = f", or {len(kernel.args)} with padding" if left_out else ""
        raise MfmasimError(f"{kernel.name} takes {len(needed)} arguments ({names}){more}, {len(args)} were given")
    given = iter(args)
    return [bytes(arg.size) if number in left_out else next(given) for number, arg in enumerate(kernel.args)]


def _by_name(kernel: Kernel, args: Mapping[str | int, Any], left_out: frozenset[int]) -> list[Any]:
    """Arguments in order from a dict; a number names an argument whose name is missing or not its own."""
    places: dict[str, list[int]] = {}
    for number, parameter in enumerate(kernel.parameters):
        if parameter.name and number not in left_out:
            places.setdefault(parameter.name, []).append(number)
    found: dict[int, str | int] = {}
    for key in args:
        number = _number(kernel, places, key)
        if number in found:
            raise MfmasimError(f"{_named(kernel, number)} is given twice, as {found[number]!r} and as {key!r}")
        found[number] = key
    missing = [n for n in range(len(kernel.args)) if n not in found and n not in left_out]
    if missing:
        names = ", ".join(_named(kernel, number) for number in missing)
        what = "an argument is" if len(missing) == 1 else f"{len(missing)} arguments are"
        raise MfmasimError(f"{kernel.name}: {what} missing: {names}")
    return [args[found[n]] if n in found else bytes(arg.size) for n, arg in enumerate(kernel.args)]


def _number(kernel: Kernel, places: Mapping[str, Sequence[int]], key: str | int) -> int:
    """Number of the argument for a key."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not 0 <= key < len(kernel.args):
            raise MfmasimError(f"argument {key}: {kernel.name} has arguments 0 to {len(kernel.args) - 1}")
        return int(key)
    numbers = places.get(str(key), [])
    if len(numbers) > 1:
        which = ", ".join(str(number) for number in numbers)
        raise MfmasimError(f"{kernel.name} has several arguments {key!r}: name one by its number ({which})")
    if numbers:
        return numbers[0]
    if not places and kernel.args:
        raise MfmasimError(
            f"argument {key!r}: the metadata of {kernel.name} names no arguments; pass a list, or numbers as keys"
        )
    near = difflib.get_close_matches(str(key).casefold(), [name.casefold() for name in places], n=1, cutoff=0.5)
    close = next((name for name in places if near and name.casefold() == near[0]), None)
    if close is not None:
        raise MfmasimError(f"unknown argument {key!r} of {kernel.name}; did you mean {close!r}?")
    raise unknown("argument", key, places, f"of {kernel.name}")


def _named(kernel: Kernel, number: int) -> str:
    name = kernel.parameters[number].name
    return f"argument {number}" + (f" ({name})" if name else "")


def segment(owner: Owner, kernel: Kernel, args: Arguments, buffers: Mapping[int, Any] | None = None) -> bytes:
    """The caller's part of the argument segment; hidden arguments come later.

    Args:
        owner: receives the buffers.
        kernel: what is launched.
        args: as for `in_order`.
        buffers: if the bytes of the segment are given, arrays, or lists for structures, by the byte at which
            their address belongs.

    Raises:
        MfmasimError: the arguments do not fit the kernel.
    """
    if isinstance(args, bytes | bytearray):
        return _whole(owner, kernel, bytes(args), buffers or {})
    if buffers:
        raise MfmasimError("buffers: only where args is the bytes of the whole segment; else arrays are arguments")
    values = in_order(kernel, args)

    def parts(parameters: Sequence[Parameter]) -> list[bytes]:
        listed = enumerate(zip(kernel.args, values, parameters, strict=True))
        return [argument(owner, number, arg, value, of) for number, (arg, value, of) in listed]

    try:
        return laid_out(kernel, parts(known(kernel, values)))
    except MfmasimError:
        parts(kernel.parameters)  # the same error, with the name in the source
        raise


def plain(kernel: Kernel, args: Arguments) -> list[Any]:
    """The arguments of a call in order, every number as bytes; arrays and lists unchanged.

    Args:
        kernel: what is launched.
        args: as for `in_order`, but not the bytes of the segment.

    Raises:
        MfmasimError: the arguments do not fit the kernel.
    """
    values = in_order(kernel, args)
    listed = enumerate(zip(kernel.args, values, known(kernel, values), strict=True))
    return [
        value if arg.is_pointer or isinstance(value, list) else by_value(number, arg, value, of)
        for number, (arg, value, of) in listed
    ]


def known(kernel: Kernel, values: Sequence[Any]) -> Sequence[Parameter]:
    """Names and types of the parameters; the source is read only for values that could be of a wrong type."""
    cheap = [Parameter(arg.name, kind) for arg, kind in zip(kernel.args, kernel.types, strict=True)]
    source = kernel.code.source
    if (
        source is None
        or not source.eager
        or all(of.type or not is_typed(v) for of, v in zip(cheap, values, strict=True))
    ):
        return cheap
    return kernel.parameters


def laid_out(kernel: Kernel, words: Sequence[bytes]) -> bytes:
    """The caller's part of the segment from the bytes of each argument; the gaps are not written."""
    out = bytearray([POISON_BYTE]) * max((arg.offset + arg.size for arg in kernel.args), default=0)
    for arg, raw in zip(kernel.args, words, strict=True):
        out[arg.offset : arg.offset + arg.size] = raw
    return bytes(out)


def _whole(owner: Owner, kernel: Kernel, raw: bytes, buffers: Mapping[int, Any]) -> bytes:
    """Bytes of the whole segment with the addresses of buffers in them."""
    info = kernel.info
    end = max((arg.offset + arg.size for arg in kernel.args), default=info.kernarg_size)
    if len(raw) not in (info.kernarg_size, end):
        own = f", of which {end} are the caller's" if end != info.kernarg_size else ""
        raise MfmasimError(f"args: the segment of {kernel.name} has {info.kernarg_size} bytes{own}; {len(raw)} given")
    names = {arg.offset: _named(kernel, number) for number, arg in enumerate(kernel.args)} if buffers else {}
    out = bytearray(raw)
    for offset, value in buffers.items():
        if not isinstance(offset, int | np.integer) or not 0 <= offset <= len(raw) - POINTER:
            raise MfmasimError(f"buffers: byte {offset!r} has no room for an address in {len(raw)} bytes of arguments")
        name = names.get(int(offset), f"byte {offset} of the arguments")
        array = structure(owner, name, value) if isinstance(value, list | tuple) else value
        if not is_array(array):
            raise MfmasimError(f"buffers: at byte {offset} an array or a list is expected, not {type(array).__name__}")
        address = address_of(owner, name, as_array(array, name))
        out[offset : offset + POINTER] = address.to_bytes(POINTER, "little")
    hidden = min((arg.offset for arg in info.hidden_args), default=len(out))
    return bytes(out[:hidden])
