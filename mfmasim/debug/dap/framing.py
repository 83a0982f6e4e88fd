"""Messages on a stream: a header with the length, then JSON (Debug Adapter Protocol, "Base Protocol")."""

from __future__ import annotations

import json
from typing import IO, Any

from mfmasim.errors import MfmasimError

LARGEST = 16 << 20
HEADER = 4096


def read(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message; None at the end of the stream.

    Raises:
        MfmasimError: what comes is no message.
    """
    length = -1
    while True:
        line = stream.readline(HEADER)
        if not line:
            return None
        if not line.endswith(b"\n"):
            raise MfmasimError("a header line is too long")
        text = line.strip()
        if not text:
            break
        name, _, value = text.partition(b":")
        if name.strip().lower() == b"content-length":
            digits = value.strip()
            if not digits.isdigit() or len(digits) > 9 or int(digits) > LARGEST:
                raise MfmasimError(f"Content-Length {digits[:40]!r}: at most {LARGEST} bytes are expected")
            length = int(digits)
    if length < 0:
        raise MfmasimError("a header without Content-Length")
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise MfmasimError("a message that is no JSON") from None
    if not isinstance(found, dict):
        raise MfmasimError("a message that is no object")
    return found


def write(stream: IO[bytes], message: dict[str, Any]) -> None:
    """Send a message."""
    body = json.dumps(message, separators=(",", ":")).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    stream.flush()
