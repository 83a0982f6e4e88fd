"""Entry point of the library's calls: the library imports this module in the process that loaded it."""

from __future__ import annotations

import _thread
import atexit
import ctypes
import traceback
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import calls
from mfmasim.hiprt.runtime import Runtime, say
from mfmasim.hiprt.settings import Settings
from mfmasim.matrix import models

__all__ = ["begin", "current"]

UNKNOWN, NOT_INITIALIZED = 999, 3
HANDLER = ctypes.CFUNCTYPE(ctypes.c_longlong, ctypes.c_char_p, ctypes.POINTER(ctypes.c_ulonglong))

_kept: list[Any] = []  # the library holds the callback's address, so it must outlive every call
_runtime: list[Runtime] = []


def current() -> Runtime | None:
    """The runtime of this process, created by the first call."""
    return _runtime[0] if _runtime else None


def begin(library: str) -> None:
    """Connect to the library at a path; called by the library's first call."""
    calls.load()
    try:
        runtime = Runtime(Settings.read())
    except (MfmasimError, OSError) as error:
        say(str(error))
        _serve(library, lambda name, arguments: NOT_INITIALIZED)  # noqa: ARG005
        return

    def answer(name: bytes, arguments: Any) -> int:
        try:
            return runtime.answer(name.decode(), arguments)
        except KeyboardInterrupt:
            _thread.interrupt_main()  # there is C code in between: the program gets the interrupt afterwards
        except BaseException:  # noqa: BLE001
            say(f"{name.decode()}: {traceback.format_exc()}")
        return UNKNOWN

    # Before the first launch: an instruction caches its model.
    models.MODELS.update({model.name: model for model in runtime.settings.models})
    _runtime.append(runtime)
    atexit.register(runtime.write_report)
    _serve(library, answer)


def _serve(library: str, answer: Any) -> None:
    _kept.append(HANDLER(answer))
    ctypes.CDLL(library).mfmasim_hiprt_serve(_kept[-1])
