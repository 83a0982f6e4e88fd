"""Messages on a stream: a header with the length, then JSON (Debug Adapter Protocol, "Base Protocol")."""

from __future__ import annotations

import json
from typing import IO, Any

from mfmasim.errors import MfmasimError

LARGEST = 16 << 20
HEADER = 4096
LENGTH, TYPE = b"content-length", b"content-type"
"""The only header fields. HTTP's request line, and its other fields, are errors: a page in a browser can send all of a
message except a header without them."""


def read(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message; None if the stream ends first.

    Raises:
        MfmasimError: the bytes are no message.
    """
    length = -1
    seen: set[bytes] = set()
    while True:
        line = stream.readline(HEADER)
        if not line.endswith(b"\n"):
            if len(line) >= HEADER:
                raise MfmasimError("a header line is too long")
            return None
        text = line.strip()
        if not text:
            break
        name, _, value = text.partition(b":")
        name = name.lower()
        if name not in (LENGTH, TYPE) or name in seen:
            raise MfmasimError(f"header {text[:40]!r}: Content-Length and Content-Type are expected, once each")
        seen.add(name)
        if name == LENGTH:
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


def output(text: str) -> dict[str, Any]:
    """An event that shows a text to the user, of a connection that ends."""
    return {"seq": 0, "type": "event", "event": "output", "body": {"category": "stderr", "output": text}}
