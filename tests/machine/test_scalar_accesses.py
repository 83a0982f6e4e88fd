"""What a listener hears of scalar memory instructions: the bytes that they read, and no others."""

import numpy as np
import pytest

import mfmasim
from mfmasim.machine.events import Observer
from tests.machine import harness

pytestmark = pytest.mark.oracle

HEAD = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s10, 256
  s_mov_b32 s11, 0x27000
"""


class Heard(Observer):
    """Collects the bytes of every scalar access."""

    name = "heard"

    def __init__(self):
        """Nothing was heard."""
        self.bytes = {}

    def on_scalar(self, event):
        """Add the bytes of one access."""
        for address in np.unique(event.addresses):
            self.bytes.setdefault(event.instruction.name, set()).update(range(int(address), int(address) + event.size))


@pytest.mark.parametrize(
    ("line", "offset", "size"),
    [
        ("s_buffer_load_dword s12, s[8:11], 0x10", 16, 4),
        ("s_buffer_load_dwordx2 s[12:13], s[8:11], 0xc", 12, 8),
        ("s_buffer_load_dwordx8 s[12:19], s[8:11], 0x40", 64, 32),
        ("s_load_dword s12, s[8:9], 0x4", 4, 4),
        ("s_load_dwordx4 s[12:15], s[8:9], 0x20", 32, 16),
    ],
)
def test_the_bytes_that_are_read(line, offset, size):
    heard = Heard()
    kernel = harness.kernel(f"{HEAD}  {line}\n  s_waitcnt lgkmcnt(0)\n  s_endpgm\n", "gfx942", "p")
    buffer = np.arange(64, dtype=np.uint32)
    mfmasim.device("sim").launch(kernel, grid=2, block=128, args=[buffer], observers=[heard])
    found = heard.bytes[line.split()[0]]
    arguments = set() if "buffer" in line else heard.bytes["s_load_dwordx2"]
    found = sorted(found - arguments)
    assert found == list(range(found[0], found[0] + size))
    assert (found[0] - offset) % 256 == 0  # buffers begin at multiples of 256 bytes
