"""Transposed loads of CDNA5 against the figures of the manual, and with lanes switched off."""

import numpy as np
import pytest

from mfmasim.machine.ops.transposed_cdna5 import EXCHANGES
from tests.machine import harness
from tests.slow import wmma_cdna5 as slow


@pytest.mark.parametrize("form", EXCHANGES)
def test_lanes_receive_the_fragment_of_the_figure(form):
    exchange, loads = EXCHANGES[form], slow.loaded_by(form)
    assert sorted(loads) == list(range(32))
    for part in range(0, 10, exchange.bits):  # the number 32 row + k of an element, as many of its bits as one holds
        bits = np.zeros((32, exchange.count, exchange.bits), np.uint8)
        for lane, (first, k) in loads.items():
            for e in range(exchange.count):
                number = 32 * (first + e) + k >> part
                bits[lane, e] = number >> np.arange(exchange.bits) & 1
        words = np.packbits(bits.reshape(32, -1), axis=1, bitorder="little").view(np.uint32)
        found = exchange.apply([word[None] for word in np.ascontiguousarray(words.T)])
        raw = np.unpackbits(np.stack(found, axis=-1)[0].view(np.uint8), axis=-1, bitorder="little")
        for lane in range(32):
            for e, k in enumerate(slow.received(form, lane)):
                wanted = 32 * (lane % 16) + k >> part
                start = exchange.bits * e
                got = raw[lane, start : start + exchange.bits]
                assert (got == wanted >> np.arange(exchange.bits) & 1).all(), (lane, e)


BODY = """
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 4, v1
  s_wait_kmcnt 0x0
  global_load_b128 v[4:7], v2, s[4:5]
  s_wait_loadcnt 0x0
  ds_store_b128 v2, v[4:7]
  v_mov_b32_e32 v8, 0x55
  v_mov_b32_e32 v9, 0x55
  v_mov_b32_e32 v10, 0x55
  v_mov_b32_e32 v11, 0x55
  s_wait_dscnt 0x0
  s_mov_b32 exec_lo, {mask}
  {line}
  s_wait_loadcnt 0x0
  s_wait_dscnt 0x0
  s_mov_b32 exec_lo, -1
  global_store_b128 v2, v[8:11], s[6:7]
  s_endpgm
"""
DATA = np.random.default_rng(2).integers(0, 1 << 32, (32, 4), dtype=np.uint32)


def run(line, mask):
    out = np.zeros((32, 4), np.uint32)
    kernel = harness.kernel(BODY.format(line=line, mask=mask), "gfx1250", lds=512)
    arrays, _ = harness.fast(kernel, 1, 32, [DATA.copy(), out], checks="none")
    return arrays[1]


def expected():
    halves = DATA.view(np.uint16).reshape(4, 8, 8)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(32, 8).view(np.uint32)


def test_the_lds_ignores_the_mask_of_lanes():
    """CDNA5 ISA manual 11.2.4: EXEC is treated as if it were all ones."""
    for mask in (-1, 5):
        assert (run("ds_load_tr16_b128 v[8:11], v2", mask) == expected()).all()


def test_memory_loads_nothing_without_lanes():
    """CDNA5 ISA manual 10.9.2: with EXEC = 0 a load from memory does nothing."""
    assert (run("global_load_tr16_b128 v[8:11], v2, s[4:5]", -1) == expected()).all()
    assert (run("global_load_tr16_b128 v[8:11], v2, s[4:5]", 0) == 0x55).all()
