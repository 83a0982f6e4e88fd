"""Calls from a kernel to the host: the buffer of ``hidden_hostcall_buffer``, and the host's side of it.

A wave takes a packet from the stack of free ones, writes the lanes that call, the service and eight words for each
lane, puts the packet on the stack of ready ones, adds 1 to the doorbell signal, sends the message of an interrupt, and
waits until the packet's ready flag is cleared; the first two words of each lane are then the answer. Here the host
answers within the message. Of its services printf is served, by which Triton's `device_print` and `device_assert`
write: each lane sends a text in messages of up to seven words.

Layouts: ROCm device libraries, ockl/src/hostcall_impl.cl and services.cl; amd_signal_t: amd_hsa_signal.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.errors import UnsupportedError
from mfmasim.machine.launch.printf import frame_text

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel
    from mfmasim.machine.state.memory import Memory, Region

INTERRUPT = 1
"""Number of the message by which a wave interrupts the host."""
PACKETS = 2048
"""Packets at most: a wave holds one while it waits, and no more waves are in flight."""
FREE, READY = 24, 32
"""Bytes of the buffer at which the stacks begin."""
SIGNAL, MAILBOX, HEADERS = 64, 128, 192
"""Where the doorbell signal, its mailbox and the packets' headers lie."""
HEADER, PAYLOAD, LANES, SLOT = 24, 4096, 64, 64
"""Bytes of a header, of a payload; lanes of a payload, and bytes of each."""
PRINTF = 2
BEGIN, END = 1, 2
LENGTH, NUMBER = 5, 8
"""Bits of a message's first word: it begins a text, ends one; words that follow; from there on its number."""


def _packets(waves: int) -> int:
    return 1 << (min(max(waves, 1), PACKETS) - 1).bit_length()


def hostcall_bytes(kernel: Kernel, waves: int) -> int:
    """Bytes of the buffer that a launch needs; 0 if its kernel does not call the host.

    Args:
        kernel: the kernel.
        waves: of the launch.
    """
    calls = any(arg.value_kind == "hidden_hostcall_buffer" for arg in kernel.info.hidden_args)
    return (_payloads(_packets(waves)) + _packets(waves) * PAYLOAD) * calls


def _payloads(packets: int) -> int:
    """Offset of the payloads."""
    return -(-(HEADERS + packets * HEADER) // SLOT) * SLOT


@dataclass
class Hostcall:
    """The buffer of a launch, and the kernel's output in it."""

    memory: Memory
    region: Region
    waves: int
    text: list[str] = field(default_factory=list)
    """What the kernel printed, in the order of the calls' ends."""
    begun: dict[int, bytes] = field(default_factory=dict)
    """Texts that have begun, by number."""

    def fill(self) -> None:
        """Put all packets on the stack of free ones. A packet's number on a stack is never 0, which ends it."""
        count, base = _packets(self.waves), self.region.address
        held = self._held
        held[:] = 0
        numbers = count + np.arange(count, dtype=np.uint64)
        headers = np.zeros((count, HEADER // 8), np.uint64)
        headers[1:, 0] = numbers[:-1]
        held[HEADERS : HEADERS + count * HEADER] = headers.reshape(-1).view(np.uint8)
        words = base + HEADERS, base + _payloads(count), base + SIGNAL, int(numbers[-1]), 0, count - 1
        held[: 8 * len(words)] = np.frombuffer(struct.pack("<6Q", *words), np.uint8)
        signal = struct.pack("<qqQI", 1, 0, base + MAILBOX, INTERRUPT)
        held[SIGNAL : SIGNAL + len(signal)] = np.frombuffer(signal, np.uint8)

    def serve(self) -> None:
        """Answer all calls that are ready, in the order in which they became so.

        Raises:
            MfmasimError: an unknown service.
        """
        count, held = _packets(self.waves), self._held
        ready = held[READY : READY + 8].view(np.uint64)
        found = []
        number = int(ready[0])
        ready[0] = 0
        while number:
            index = number & (count - 1)
            found.append(index)
            number = int(held[HEADERS + index * HEADER :][:8].view(np.uint64)[0])
        for index in reversed(found):
            at = HEADERS + index * HEADER
            lanes, service = struct.unpack("<QI", held[at + 8 : at + 20].tobytes())
            if service != PRINTF:
                raise UnsupportedError(
                    f"the kernel calls the host's service {service}; only {PRINTF} (printf) is served"
                )
            for lane in (lane for lane in range(LANES) if lanes >> lane & 1):
                place = _payloads(count) + index * PAYLOAD + lane * SLOT
                answer = self._message(held[place : place + SLOT].tobytes())
                held[place : place + 8] = np.frombuffer(struct.pack("<Q", answer), np.uint8)
            held[at + 20 : at + 24].view(np.uint32)[0] &= ~np.uint32(1)

    @property
    def _held(self) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return self.memory.view(self.region)

    def _message(self, slot: bytes) -> int:
        """Add a lane's words to its text; the answer is the message's first word, with the text's number."""
        first = struct.unpack_from("<Q", slot)[0]
        number = first >> NUMBER
        if first & BEGIN:
            number = 1 + max(self.begun, default=0)
            self.begun[number] = b""
            first = (first & ((1 << NUMBER) - 1) & ~BEGIN) | number << NUMBER
        length = first >> LENGTH & 7
        self.begun[number] = self.begun.get(number, b"") + slot[8 : 8 + 8 * length]
        if first & END:
            # One word says whether it goes to the standard output or error output.
            self.text.append(frame_text(self.begun.pop(number)[8:]))
        return int(first)
