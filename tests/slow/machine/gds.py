"""The global data share: one memory for all workgroups, whose part M0 selects.

Sources: CDNA1 ISA manual, 2.2.2 and chapter 11; RDNA3 ISA manual, 12.6, 13.4.2 and 13.4.3.
"""

from __future__ import annotations

BYTES = 4096


class Share:
    """What an instruction sees of the GDS: M0[15:0] bytes from M0[31:16] on."""

    def __init__(self, gds, m0):
        self.gds, self.base = gds, m0 >> 16
        self.data = range(max(0, min(m0 & 0xFFFF, BYTES - self.base)))

    def load(self, address, size):
        """Little-endian integer of `size` bytes; 0 when any of them is outside."""
        if address + size > len(self.data):
            return 0
        return int.from_bytes(self.gds[self.base + address : self.base + address + size], "little")

    def store(self, address, value, size):
        """Write the low `size` bytes unless any of them is outside."""
        if address + size <= len(self.data):
            for k in range(size):
                self.gds[self.base + address + k] = value >> 8 * k & 0xFF


def shared(wave, ins, function):
    """An LDS instruction on the GDS: on gfx11 only the first active lane acts, unless it counts lanes."""
    lds, everyone = wave.lds, wave.exec_
    wave.lds = Share(wave.memory.gds, wave.m0)
    if wave.arch.startswith("gfx11") and ins.name not in ("ds_append", "ds_consume"):
        wave.exec_ = everyone & -everyone
    function(wave, ins)
    wave.lds, wave.exec_ = lds, everyone
