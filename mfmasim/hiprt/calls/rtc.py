"""hipRTC: sources compiled at run time, with the compiler that mfmasim finds."""

from __future__ import annotations

import ctypes
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.hiprt.calls.errors import text_at
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Text, serve
from mfmasim.hiprt.words import put_bytes, put_int, put_word, words_at
from mfmasim.program import Code
from mfmasim.program import compile as compile_source

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Runtime

INVALID_INPUT, INVALID_PROGRAM, COMPILATION, NO_LOWERED_NAMES, NAME_NOT_VALID = 3, 4, 6, 9, 10
ERRORS = {
    0: "HIPRTC_SUCCESS", 1: "HIPRTC_ERROR_OUT_OF_MEMORY", 2: "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
    3: "HIPRTC_ERROR_INVALID_INPUT", 4: "HIPRTC_ERROR_INVALID_PROGRAM", 5: "HIPRTC_ERROR_INVALID_OPTION",
    6: "HIPRTC_ERROR_COMPILATION", 7: "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    8: "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", 9: "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    10: "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID", 11: "HIPRTC_ERROR_INTERNAL_ERROR", 100: "HIPRTC_ERROR_LINKING",
}  # fmt: skip
"""hiprtcResult of hiprtc.h."""
ARCH_OPTIONS = ("--offload-arch=", "--gpu-architecture=", "-mcpu=")


@dataclass
class Program:
    """A source and the result of its compilation."""

    source: str
    name: str
    headers: dict[str, str]
    log: str = ""
    code: Code | None = None
    names: list[str] = field(default_factory=list)


def _strings(address: int, count: int) -> list[str]:
    places = words_at(address, count) if count > 0 else []
    return [ctypes.string_at(place).decode(errors="replace") if place else "" for place in places]


def _program(rt: Runtime, handle: int) -> Program:
    found = rt.handles.get(handle)
    if not isinstance(found, Program):
        raise HipFailure(INVALID_PROGRAM)
    return found


@serve(keeps_error=True)
def hiprtcVersion(rt: Runtime, major: Pointer, minor: Pointer) -> None:
    put_int(major, 7)
    put_int(minor, 2)


@serve(keeps_error=True)
def hiprtcGetErrorString(rt: Runtime, code: Int) -> int:
    return ctypes.addressof(text_at(ERRORS.get(code, "HIPRTC_ERROR_UNKNOWN")))


@serve(keeps_error=True)
def hiprtcCreateProgram(
    rt: Runtime, out: Pointer, source: Text, name: Text, count: Int, headers: Pointer, names: Pointer
) -> None:
    if not source:
        raise HipFailure(INVALID_INPUT)
    texts = dict(zip(_strings(names, count), _strings(headers, count), strict=True))
    put_word(out, rt.add(Program(source, Path(name).name or "CompileSource", texts)))


@serve(keeps_error=True)
def hiprtcDestroyProgram(rt: Runtime, place: Pointer) -> None:
    (handle,) = words_at(place, 1)
    _program(rt, handle)
    del rt.handles[handle]
    put_word(place, 0)


@serve(keeps_error=True)
def hiprtcAddNameExpression(rt: Runtime, program: Pointer, name: Text) -> None:
    _program(rt, program).names.append(name)


@serve(keeps_error=True)
def hiprtcCompileProgram(rt: Runtime, program: Pointer, count: Int, options: Pointer) -> None:
    found = _program(rt, program)
    target, flags = rt.arch.name, []
    for option in _strings(options, count):
        given = next((option.removeprefix(start) for start in ARCH_OPTIONS if option.startswith(start)), None)
        if given is None:
            flags.append(option)
        else:
            target = given.partition(":")[0]
    with tempfile.TemporaryDirectory(prefix="mfmasim") as folder:
        for name, text in found.headers.items():
            place = Path(folder, name).resolve()
            if not place.is_relative_to(Path(folder).resolve()):
                raise HipFailure(INVALID_INPUT, f"header {name!r} is outside the folder of the source")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        path = Path(folder, f"{found.name}.hip")
        # hipRTC declares HIP's functions without an include.
        # A name expression instantiates its template.
        names = "".join(f"(void *)({name}), " for name in found.names)
        asked = f"namespace {{ void *const mfmasim_names[] = {{{names}nullptr}}; }}\n" if names else ""
        path.write_text(f'#include <hip/hip_runtime.h>\n#line 1 "{found.name}"\n{found.source}\n{asked}')
        try:
            found.code = compile_source(path, target, flags=flags)
        except MfmasimError as error:
            found.log = str(error)
            raise HipFailure(COMPILATION) from None


def _compiled(rt: Runtime, program: int) -> Code:
    code = _program(rt, program).code
    if code is None:
        raise HipFailure(INVALID_PROGRAM)
    return code


@serve(keeps_error=True)
def hiprtcGetCodeSize(rt: Runtime, program: Pointer, out: Pointer) -> None:
    put_word(out, len(_compiled(rt, program).object.data))


@serve(keeps_error=True)
def hiprtcGetCode(rt: Runtime, program: Pointer, out: Pointer) -> None:
    put_bytes(out, _compiled(rt, program).object.data)


@serve(keeps_error=True)
def hiprtcGetProgramLogSize(rt: Runtime, program: Pointer, out: Pointer) -> None:
    log = _program(rt, program).log
    put_word(out, len(log.encode()) + 1 if log else 0)


@serve(keeps_error=True)
def hiprtcGetProgramLog(rt: Runtime, program: Pointer, out: Pointer) -> None:
    put_bytes(out, _program(rt, program).log.encode() + b"\0")


def _expression(symbol: str) -> str:
    """The name expression of a kernel's symbol, without spaces: ``f<double>`` of ``void f<double>(double*)``."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6")["__cxa_demangle"]
    except OSError:
        return symbol
    demangle.restype = ctypes.c_void_p
    place = demangle(symbol.encode(), None, None, None)
    if not place:
        return symbol
    text = ctypes.string_at(place).decode(errors="replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(place))
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and not depth and not text.startswith("(anonymous", at):
            return text[start:at].replace(" ", "")
        if letter == " " and not depth:
            start = at + 1
    return text[start:].replace(" ", "")


@serve(keeps_error=True)
def hiprtcGetLoweredName(rt: Runtime, program: Pointer, name: Text, out: Pointer) -> None:
    found = _program(rt, program)
    if found.code is None:
        raise HipFailure(NO_LOWERED_NAMES)
    if name not in found.names:
        raise HipFailure(NAME_NOT_VALID)
    try:
        wanted = name.lstrip("&")
        squeezed = wanted.replace(" ", "")
        same = [one for one in found.code.kernels if _expression(one) == squeezed]
        lowered = same[0] if len(same) == 1 else found.code[wanted].name
    except MfmasimError as error:
        raise HipFailure(NAME_NOT_VALID, str(error)) from None
    put_word(out, ctypes.addressof(text_at(lowered)))
