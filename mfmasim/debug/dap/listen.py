"""Where clients come from: standard input and output, or one connection to a port of this machine."""

from __future__ import annotations

import atexit
import socket
import sys
from typing import IO, TYPE_CHECKING, Any

from mfmasim.debug.dap.server import Server
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.debug.session import Session


ADDRESS = "127.0.0.1"
"""Other machines cannot connect."""
_serving: list[Server] = []


def serve_streams(source: IO[bytes], sink: IO[bytes], launched: Callable[[dict[str, Any]], Session]) -> int:
    """Serve one client on streams; exit code 0.

    Args:
        source: the client's messages.
        sink: ours.
        launched: makes a session of the arguments of a launch request.
    """
    Server(source, sink, launched).run()
    return 0


def accepted(port: int) -> tuple[IO[bytes], IO[bytes]]:
    """Wait for one client; no further one is accepted.

    Raises:
        MfmasimError: the port is taken.
    """
    try:
        with socket.create_server((ADDRESS, port), backlog=1) as listening:
            sys.stderr.write(f"DAP: listening on {ADDRESS}:{listening.getsockname()[1]}\n")
            sys.stderr.flush()
            connection, _ = listening.accept()
    except OSError as error:
        raise MfmasimError(f"--port {port}: {error.strerror or error}") from None
    return connection.makefile("rb"), connection.makefile("wb")


def serve_port_with(port: int, launched: Callable[[dict[str, Any]], Session]) -> int:
    """Serve one client that connects to a port; exit code 0."""
    return serve_streams(*accepted(port), launched)


def serve_port(port: int, session: Session) -> bool:
    """Debug a launch of a program that waits; whether the client has left.

    The first launch waits for a client; later ones go to the same one.
    """
    try:
        if _serving:
            server = _serving[0]
            server.next_session(session)
        else:
            server = Server(*accepted(port), session=session)
            _serving.append(server)
            atexit.register(over)
        server.run()
    except OSError:
        return True
    return server.done


def over() -> None:
    """The program has ended: tell the client, once."""
    for server in _serving:
        try:
            if not server.done:
                server.send("event", event="terminated")
        except (OSError, ValueError):
            pass
        server.done = True
