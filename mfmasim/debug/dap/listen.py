"""Connections of clients: standard input and output, a port, or a Unix socket that its owner alone can open."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import socket
import stat
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mfmasim.debug.dap.admission import admit
from mfmasim.debug.dap.server import Server
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mfmasim.debug.session import Session


LOOPBACK = "127.0.0.1"
"""Other machines cannot connect to it."""
TOKEN_BYTES = 24
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group of the client of a Unix socket (Linux, unix(7): SO_PEERCRED)."""
_serving: list[Server] = []


@dataclass(frozen=True)
class Address:
    """The address at which a client connects."""

    port: int = 0
    """Port; 0 means any free port."""
    host: str = LOOPBACK
    path: str = ""
    """Path of a Unix socket, which replaces host and port."""

    @property
    def text(self) -> str:
        """For `parsed`."""
        return f"unix:{self.path}" if self.path else f"tcp:{self.port}:{self.host}"

    @classmethod
    def parsed(cls, text: str) -> Address:
        """The address of a text."""
        kind, _, rest = text.partition(":")
        if kind == "unix":
            return cls(path=rest)
        port, _, host = rest.partition(":")
        return cls(int(port), host)


def serve_streams(source: IO[bytes], sink: IO[bytes], launched: Callable[[dict[str, Any]], Session]) -> int:
    """Serve one client on streams; exit code 0.

    Args:
        source: the client's messages.
        sink: the server's messages.
        launched: makes a session of the arguments of a launch request.
    """
    Server(source, sink, launched).run()
    return 0


def accepted(address: Address, make: Callable[[IO[bytes], IO[bytes]], Server]) -> Server:
    """Wait for the one client; no further one is accepted.

    Args:
        address: where the client connects. At a port it has to show a token, which is printed.
        make: gives the server of its streams.

    Raises:
        MfmasimError: the address cannot be used.
    """
    token = None if address.path else secrets.token_urlsafe(TOKEN_BYTES)
    try:
        with _unix(address.path) if address.path else _tcp(address) as listening:
            if token is not None:
                _say(f'token {token} (clients pass it as "token" in their launch or attach request)')
            return admit(listening, make, token, _foreign if address.path else lambda connection: "")  # noqa: ARG005
    except OSError as error:
        what = f"--socket {address.path}" if address.path else f"--port {address.port}"
        raise MfmasimError(f"{what}: {error.strerror or error}") from None


def _say(text: str) -> None:
    sys.stderr.write(f"DAP: {text}\n")
    sys.stderr.flush()


@contextlib.contextmanager
def _tcp(address: Address) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.create_server((address.host, address.port), family=family, backlog=8) as listening:
        host, port = listening.getsockname()[:2]
        _say(f"listening on {f'[{host}]' if ':' in host else host}:{port}")
        if not host.startswith("127.") and host != "::1":
            _say("other machines can connect, and the token travels unencrypted")
        yield listening


@contextlib.contextmanager
def _unix(text: str) -> Iterator[socket.socket]:
    """A socket in a folder that its owner alone can enter; the block's end removes it."""
    if not hasattr(socket, "AF_UNIX"):
        raise MfmasimError(f"--socket {text}: this system has no Unix sockets; --port N is there")
    path = Path(text)
    folder = path.parent
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.stat()
    if about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077:
        raise MfmasimError(
            f"--socket {text}: others can enter the folder {folder}; chmod 700 it, or name one that does not exist"
        )
    with socket.socket(socket.AF_UNIX) as listening:
        _clear(path)
        listening.bind(text)
        try:
            path.chmod(0o600)
            listening.listen(8)
            _say(f"listening on {text}")
            yield listening
        finally:
            path.unlink(missing_ok=True)


def _clear(path: Path) -> None:
    """Remove a socket without a listener; any other file stays, so that binding fails."""
    if path.is_socket():
        with socket.socket(socket.AF_UNIX) as asking:
            try:
                asking.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()


def _foreign(connection: socket.socket) -> str:
    """Why a client of a Unix socket is refused: it belongs to another user, which only Linux reports."""
    if not hasattr(socket, "SO_PEERCRED"):
        return ""
    _, user, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return "" if user == os.getuid() else f"it belongs to user {user}"


def serve_at(address: Address, launched: Callable[[dict[str, Any]], Session]) -> int:
    """Serve one client that connects; exit code 0."""
    accepted(address, lambda source, sink: Server(source, sink, launched)).run()
    return 0


def serve_program(address: Address, session: Session) -> bool:
    """Debug a launch of a waiting program; returns whether the client has left.

    The first launch waits for a client; later ones go to the same one.
    """
    try:
        if _serving:
            server = _serving[0]
            server.next_session(session)
        else:
            server = accepted(address, lambda source, sink: Server(source, sink, session=session))
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
