"""What answers at a scheduler's address and is none: one line within the time that a scheduler has."""

import contextlib
import socket
import threading

import pytest

from mfmasim.clusters import opened, opening
from mfmasim.errors import MfmasimError
from tests.oracles import module

ANSWERS = {
    "nothing": None,
    "an end": b"",
    "HTTP": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "a huge size": b"\xff" * 64,
    "a message of Dask": b"".join(one.to_bytes(8, "little") for one in (25, 1, 9)) + b"\x81\xa2op\xa5error",
}


@contextlib.contextmanager
def lying(answer):
    """A port that answers each connection with some bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kept = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    one, _ = listening.accept()
                    if answer is not None:
                        one.sendall(answer)
                        one.close()
                    kept.append(one)

        threading.Thread(target=serve, daemon=True).start()
        yield f"dask://127.0.0.1:{listening.getsockname()[1]}"
        for one in kept:
            one.close()


@pytest.mark.oracle
@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_no_scheduler_is_one_line(monkeypatch, name):
    module("distributed")
    monkeypatch.setattr(opening, "SECONDS", 3)
    with lying(ANSWERS[name]) as address, pytest.raises(MfmasimError) as error, opened(address):
        pass
    assert "no scheduler answers within 3 s" in str(error.value)
