"""Entry point of the library's calls: the library imports this module in the process that loaded it."""

from __future__ import annotations

import _thread
import atexit
import ctypes
import os
import traceback
from typing import Any

from mfmasim.debug import attached
from mfmasim.errors import MfmasimError
from mfmasim.hiprt import calls
from mfmasim.hiprt.runtime import Runtime, say
from mfmasim.hiprt.settings import Settings
from mfmasim.machine.execution import variations
from mfmasim.matrix import models

UNKNOWN, NOT_INITIALIZED = 999, 3
UNUSABLE = 2
"""Exit code of a compiled program whose settings are invalid."""
HANDLER = ctypes.CFUNCTYPE(ctypes.c_longlong, ctypes.c_char_p, ctypes.POINTER(ctypes.c_ulonglong))
ENDING = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)

_kept: list[Any] = []  # the library holds the callback's address, so it must outlive every call
_runtime: list[Runtime] = []


def current() -> Runtime | None:
    """The runtime of this process, created by the first call."""
    return _runtime[0] if _runtime else None


def begin(library: str, started: bool = False) -> None:
    """Connect to the library at a path; called by the library's first call.

    Args:
        library: the library.
        started: whether the library started this interpreter, for a program that has none.
    """
    calls.load()
    try:
        runtime = Runtime(Settings.read(), library)
    except (MfmasimError, OSError) as error:
        say(str(error))
        _serve(library, lambda name, arguments: NOT_INITIALIZED, lambda status: status or UNUSABLE)  # noqa: ARG005
        return

    def answer(name: bytes, arguments: object) -> int:
        try:
            return runtime.answer(name.decode(), arguments)
        except KeyboardInterrupt:
            _thread.interrupt_main()  # there is C code in between: the program gets the interrupt afterwards
        except BaseException:  # noqa: BLE001
            say(f"{name.decode()}: {traceback.format_exc()}")
        return UNKNOWN

    def end(status: int) -> int:
        runtime.finish()
        attached.finish()
        found = runtime.settings.exit_code if runtime.counts.findings else 0
        return status or found or (UNUSABLE if runtime.unwritten else 0)

    # Before the first launch: an instruction caches its model.
    models.MODELS.update({model.name: model for model in runtime.settings.models})
    for name, parameter, value in runtime.settings.operations:
        variations.apply(name, parameter, value)
    _runtime.append(runtime)
    if started:
        os.register_at_fork(
            before=runtime.before_fork, after_in_parent=runtime.after_fork, after_in_child=runtime.after_fork_in_child
        )
    else:
        atexit.register(runtime.finish)
    _serve(library, answer, end)


def _serve(library: str, answer: Any, end: Any) -> None:
    _kept.extend([HANDLER(answer), ENDING(end)])
    ctypes.CDLL(library).mfmasim_hiprt_serve(*_kept[-2:])
