"""Admission of one client: the first client that shows the token.

A client of the debugger runs programs as the debugger's user. A port of the loopback address is open to every user of
the machine and to every page in a browser: a client there has to show a token, which only the owner of the process has.
No editor lets its user extend the first request, `initialize`: it is answered once, with the server's capabilities. No
other request is answered before the token.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import selectors
import sys
import time
from typing import IO, TYPE_CHECKING, Any, cast

from mfmasim.debug.dap import framing
from mfmasim.errors import MfmasimError
from mfmasim.visible import visible

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from mfmasim.debug.dap.server import Server

SECONDS = 30.0
"""Seconds for a client to show the token."""
MOST = 16
"""Most clients without a token at once; a further client replaces the oldest."""
BYTES = 1 << 16
"""Most bytes of a client before it has shown the token."""
SEND_SECONDS = 2.0
SAID = 8
"""Most refused clients that are named."""
CARRIERS = ("initialize", "launch", "attach")
"""Requests that may have the token; editors pass what their user configures with the last two."""


class _Stream(io.RawIOBase):
    """A connection, after the bytes that were read from it already."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.before = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.before:
            return self.connection.recv_into(buffer)
        taken, self.before = self.before[: len(buffer)], self.before[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        self.connection.close()
        super().close()


class Candidate:
    """A client that has not shown the token yet."""

    def __init__(self, connection: socket.socket, make: Callable[[IO[bytes], IO[bytes]], Server]) -> None:
        """`make` gives the server of two streams."""
        connection.settimeout(SEND_SECONDS)
        self.connection, self.data, self.until = connection, b"", time.monotonic() + SECONDS
        self._stream = _Stream(connection)
        self._sink = connection.makefile("wb")
        self.server = make(cast("IO[bytes]", io.BufferedReader(self._stream)), self._sink)
        self._answered = False

    def admitted(self) -> Server:
        """The server, which continues with the bytes that the client sent."""
        self._stream.before = self.data
        self.connection.settimeout(None)
        return self.server

    def shows(self, token: str) -> bool:
        """Read the bytes that have arrived; returns whether they have the token.

        Raises:
            MfmasimError: the peer is no client of the protocol, or shows another token.
            OSError: the connection is lost.
        """
        more = self.connection.recv(BYTES)
        self.data += more
        while True:
            stream = io.BytesIO(self.data)
            message = framing.read(stream)
            if message is None:
                break
            if self._token_of(message, token):
                return True
            self.data = self.data[stream.tell() :]
            self.server.serve(message)
            self._answered = True
        if not more or len(self.data) >= BYTES:
            raise MfmasimError("it left, or sent too much, without the token")
        return False

    def _token_of(self, message: dict[str, Any], token: str) -> bool:
        """Whether a message has the token; False for an `initialize` without one.

        Raises:
            MfmasimError: the message has another token, or lacks a required token.
        """
        command, arguments = message.get("command"), message.get("arguments")
        shown = arguments.get("token") if isinstance(arguments, dict) and command in CARRIERS else None
        if isinstance(shown, str) and hmac.compare_digest(shown.encode(errors="replace"), token.encode()):
            return True
        if command == "initialize" and shown is None and not self._answered:
            return False
        text = 'the launch or attach request has to have "token": the one that the debugger printed'
        if shown is not None:
            text = "another token than the one that the debugger printed"
        self.server.refuse(text, message)
        raise MfmasimError(text)

    def drop(self, why: str) -> None:
        """End the connection."""
        with contextlib.suppress(OSError, ValueError):
            framing.write(self._sink, framing.output(f"{why}\n"))
        for one in (self._sink, self.connection):
            with contextlib.suppress(OSError):
                one.close()


def admit(
    listening: socket.socket,
    make: Callable[[IO[bytes], IO[bytes]], Server],
    token: str | None,
    refusal: Callable[[socket.socket], str] = lambda connection: "",  # noqa: ARG005
) -> Server:
    """Wait for the client; all others are refused.

    Args:
        listening: where clients connect.
        make: gives the server of a client's streams.
        token: the required token; None without one.
        refusal: why a connection is refused before its first message, or an empty text.

    Raises:
        OSError: the socket that listens is broken.
    """
    waiting: list[Candidate] = []
    refused = 0

    def drop(one: Candidate, why: str) -> None:
        nonlocal refused
        selector.unregister(one.connection)
        waiting.remove(one)
        one.drop(why)
        refused += 1
        if refused <= SAID:
            sys.stderr.write(f"DAP: a client is refused: {visible(why)}\n")
            sys.stderr.flush()

    with selectors.DefaultSelector() as selector:
        selector.register(listening, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select(1.0 if waiting else None):
                if key.fileobj is listening:
                    connection, _ = listening.accept()
                    one = Candidate(connection, make)
                    selector.register(connection, selectors.EVENT_READ, one)
                    waiting.append(one)
                    if why := refusal(connection):
                        drop(one, why)
                    elif token is None:
                        return one.admitted()
                    elif len(waiting) > MOST:
                        drop(waiting[0], "others connected meanwhile")
                elif key.data in waiting:
                    one = cast("Candidate", key.data)
                    try:
                        shown = one.shows(token or "")
                    except MfmasimError as error:
                        drop(one, str(error))
                    except OSError as error:
                        drop(one, error.strerror or type(error).__name__)
                    else:
                        if shown:
                            for other in [other for other in waiting if other is not one]:
                                drop(other, "another client is served")
                            return one.admitted()
            for one in [one for one in waiting if one.until < time.monotonic()]:
                drop(one, f"it did not show the token within {SECONDS:.0f} s")
