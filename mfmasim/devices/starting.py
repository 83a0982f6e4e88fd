"""Processes started from a thread that lives as long as this process.

A process that asks for a signal at its parent's death gets it when the thread that started it ends (prctl(2),
PR_SET_PDEATHSIG). The thread that opens a device may end long before the device is given up.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from queue import SimpleQueue

_Order = tuple["Sequence[str]", int, "Mapping[str, str]", "Future[subprocess.Popen[bytes]]"]


class _Starter:
    """The thread, which begins with the first order; after a fork the child has none yet."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Forget the thread."""
        self._lock = threading.Lock()
        self._orders: SimpleQueue[_Order] | None = None

    def orders(self) -> SimpleQueue[_Order]:
        """Where orders go."""
        with self._lock:
            if self._orders is None:
                self._orders = SimpleQueue()
                threading.Thread(target=_serve, args=(self._orders,), daemon=True, name="starts processes").start()
            return self._orders


_STARTER = _Starter()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_STARTER.renew)


def start(command: Sequence[str], handle: int, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a process.

    Args:
        command: program and arguments.
        handle: file descriptor that it inherits.
        environment: its variables.

    Raises:
        OSError: it cannot be started.
    """
    made: Future[subprocess.Popen[bytes]] = Future()
    _STARTER.orders().put((command, handle, environment, made))
    return made.result()


def _serve(orders: SimpleQueue[_Order]) -> None:
    while True:
        command, handle, environment, made = orders.get()
        try:
            made.set_result(subprocess.Popen(command, pass_fds=(handle,), env=environment))
        except Exception as error:  # noqa: BLE001  (the caller raises it)
            made.set_exception(error)
        del made
