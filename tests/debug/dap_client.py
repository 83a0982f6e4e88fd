"""A client of the Debug Adapter Protocol, written from its specification: framing and sequence numbers of its own."""

import json
import os
import threading
from collections import deque


class Client:
    """Speaks to a server that runs in a thread, over pipes; or to one at the other end of a socket."""

    def __init__(self, make):
        """`make`: a connection, or what gives a server of two binary streams."""
        self.number = 0
        self.events = deque()
        self.log = []
        """Every message, in both directions."""
        if not callable(make):
            self.sink, self.source = make.makefile("wb"), make.makefile("rb")
            return
        their_in, my_out = os.pipe()
        my_in, their_out = os.pipe()
        self.sink, self.source = os.fdopen(my_out, "wb"), os.fdopen(my_in, "rb")
        server = make(os.fdopen(their_in, "rb"), os.fdopen(their_out, "wb"))
        self.thread = threading.Thread(target=server.run, daemon=True)
        self.thread.start()

    def raw(self, data):
        self.sink.write(data)
        self.sink.flush()

    def receive(self):
        length = None
        while (line := self.source.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("ascii").partition(":")
            if name.lower() == "content-length":
                length = int(value)
        if length is None:
            return None
        message = json.loads(self.source.read(length))
        self.log.append(message)
        return message

    def send(self, command, **arguments):
        self.number += 1
        message = {"seq": self.number, "type": "request", "command": command}
        if arguments:
            message["arguments"] = arguments
        self.log.append(message)
        body = json.dumps(message).encode()
        self.raw(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return self.number

    def request(self, command, **arguments):
        """The body of a response; events that come before it are kept."""
        answer = self.ask(command, **arguments)
        assert answer["success"], answer
        return answer.get("body", {})

    def ask(self, command, **arguments):
        number = self.send(command, **arguments)
        while True:
            message = self.receive()
            assert message is not None, f"no answer to {command}"
            if message["type"] == "event":
                self.events.append(message)
            elif message["request_seq"] == number:
                return message

    def event(self, name):
        """The next event of that name."""
        while True:
            while self.events:
                message = self.events.popleft()
                if message["event"] == name:
                    return message.get("body", {})
            message = self.receive()
            assert message is not None, f"no event {name}"
            assert message["type"] == "event", message
            self.events.append(message)

    def leave(self):
        """End a connection; its socket is closed by who made it."""
        self.sink.close()
        self.source.close()

    def close(self):
        self.sink.close()
        self.thread.join(10)
        assert not self.thread.is_alive()
