"""The host's side of calls from kernels, on packets written by hand as ROCm's device library writes them."""

import struct
from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.hostcall import Hostcall, hostcall_bytes
from mfmasim.machine.state.memory import Memory

KERNEL = SimpleNamespace(info=SimpleNamespace(hidden_args=[SimpleNamespace(value_kind="hidden_hostcall_buffer")]))


class Device:
    """What a wave does with the buffer, word by word."""

    def __init__(self, waves):
        memory = Memory()
        region = memory.reserve("hostcall buffer", hostcall_bytes(KERNEL, waves))
        memory.seal()
        self.calls = Hostcall(memory, region, waves)
        self.calls.fill()
        self.base, self.bytes = region.address, memory.view(region)

    def word(self, address, value=None):
        place = self.bytes[address - self.base :][:8].view(np.uint64)
        if value is not None:
            place[0] = value
        return int(place[0])

    def packet(self, number):
        index = number & self.word(self.base + 40)
        return self.word(self.base) + 24 * index, self.word(self.base + 8) + 4096 * index

    def call(self, lanes, service=2):
        """Put a packet on the stack of ready ones; `lanes` has the words of each lane that calls."""
        number = self.word(self.base + 24)
        assert number
        header, payload = self.packet(number)
        self.word(self.base + 24, self.word(header))
        self.word(header + 8, sum(1 << lane for lane in lanes))
        self.word(header + 16, service | 1 << 32)
        for lane, words in lanes.items():
            for place, word in enumerate(words):
                self.word(payload + 64 * lane + 8 * place, word)
        self.word(header, self.word(self.base + 32))
        self.word(self.base + 32, number)
        return number

    def answers(self, number, lanes):
        header, payload = self.packet(number)
        assert self.word(header + 16) >> 32 & 1 == 0  # the wave goes on
        self.word(header, self.word(self.base + 24))
        self.word(self.base + 24, number)
        return {lane: self.word(payload + 64 * lane) for lane in lanes}


def words_of(text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 8)
    return list(struct.unpack(f"<{len(data) // 8}Q", data))


def message(length, begin=0, end=0, number=0):
    return begin | end << 1 | length << 5 | number << 8


def test_texts_of_lanes_in_several_messages():
    device = Device(waves=3)
    first = device.call({lane: [message(1, begin=1), 0] for lane in (0, 5)})
    device.calls.serve()
    answers = device.answers(first, (0, 5))
    numbers = {lane: answer >> 8 for lane, answer in answers.items()}
    assert len(set(numbers.values())) == 2
    assert all(answer & 1 == 0 for answer in answers.values())  # a text begins once
    # The device library sends the format, then arguments, with the number it was given.
    text = words_of("%s: %d of %.2f%%\n")
    for lane in (0, 5):
        device.call({lane: [message(len(text), number=numbers[lane]), *text]})
    device.calls.serve()
    half = struct.unpack("<Q", struct.pack("<d", 12.5))[0]
    for lane in (0, 5):
        device.call(
            {lane: [message(3, end=1, number=numbers[lane]), *words_of("lane"), lane - 7 & (1 << 64) - 1, half]}
        )
    device.calls.serve()
    assert device.calls.text == ["lane: -7 of 12.50%\n", "lane: -2 of 12.50%\n"]


def test_packets_are_as_many_as_waves_and_none_is_taken_twice():
    device = Device(waves=5)
    taken = [device.call({0: [message(1, begin=1), 0]}) for _ in range(5)]
    assert len({device.packet(number) for number in taken}) == 5
    device.calls.serve()
    assert all(device.answers(number, (0,)) for number in taken)
    assert device.call({0: [message(1, begin=1), 0]})


def test_another_service_is_refused():
    device = Device(waves=1)
    device.call({0: [1]}, service=1)
    with pytest.raises(MfmasimError, match=r"service 1; only 2 \(printf\)"):
        device.calls.serve()


def test_the_doorbell_has_a_mailbox():
    """Without one the device library sends no message, and the host would never look."""
    device = Device(waves=1)
    signal = device.word(device.base + 16)
    assert device.word(signal) == 1  # AMD_SIGNAL_KIND_USER
    assert device.base < device.word(signal + 16) < device.base + len(device.bytes)
