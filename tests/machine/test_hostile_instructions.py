"""Single instructions that once ended a launch in an exception; `tests.fuzz.machine` has random ones."""

import numpy as np
import pytest

import mfmasim
from tests.machine import fuzzing

SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void k(unsigned* out, const unsigned* in, int n) {
  unsigned x = in[threadIdx.x];
  for (int i = 0; i < n; ++i) x = x * 7 + i;
  out[threadIdx.x] = x;
}
"""
CODE = {}


def program(arch, raw, tmp_path_factory):
    """A code object that executes these bytes, and ends."""
    if arch not in CODE:
        path = tmp_path_factory.mktemp("k") / "k.hip"
        path.write_text(SOURCE)
        CODE[arch] = mfmasim.compile(path, arch).object.data
    data = bytearray(CODE[arch])
    code = mfmasim.load(bytes(data))
    kernel = code["k"]
    end = next(ins.raw for ins in kernel.instructions if ins.name == "s_endpgm")
    (segment,) = [one for one in code.object.segments if one.executable]
    start = bytes(data).index(segment.data) + kernel.info.entry - segment.vaddr
    data[start : start + len(raw) + len(end)] = raw + end
    return bytes(data)


RAW = [
    ("00017c98", ["gfx1100", "gfx1151", "gfx1200", "gfx1201"], "finished"),  # s_cselect_b32 null, s0, s1
    ("226f06c9ef4a2022", ["gfx1100", "gfx1151", "gfx1201"], "refused"),  # VOPD with src_pops_exiting_wave_id
    ("e78ec8c8c8c8c8c8", ["gfx1100", "gfx1151"], "refused"),  # VOPD with a source that gfx12 has
    ("000124f4080010f8", ["gfx1100", "gfx1151"], "finished"),  # s_buffer_load_b64 s[4:5], s[0:3], -0xffff8
]


@pytest.mark.parametrize(("raw", "arch", "ends"), [(raw, arch, ends) for raw, archs, ends in RAW for arch in archs])
def test_an_instruction_that_once_raised(raw, arch, ends, tmp_path_factory):
    tally = fuzzing.Tally()
    fuzzing.attempt(program(arch, bytes.fromhex(raw), tmp_path_factory), tally)
    assert getattr(tally, ends) == 1


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1151"])
@pytest.mark.parametrize(
    "raw",
    ["000124f4080010f8", "ff0086befcffff7f000124f40800100c"],  # the second adds s6, which is far larger
    ids=["alone", "and a register that makes the sum positive"],
)
def test_a_negative_offset_of_a_buffer_is_a_violation(raw, arch, tmp_path_factory):
    kernel = mfmasim.load(program(arch, bytes.fromhex(raw), tmp_path_factory))["k"]
    report = mfmasim.device("sim").launch(
        kernel, 1, 32, [np.zeros(64, np.uint32), np.zeros(64, np.uint32), np.int32(1)], checks="bounds"
    )
    (finding,) = report.findings
    assert finding.id == "bounds-outside-buffer"
    assert finding.message.startswith("read of 8 bytes outside every buffer")


@pytest.mark.parametrize("raw", ["01418ad302070218", "01408ad302070238"], ids=["neg_hi", "neg_lo"])
def test_neg_on_a_packed_integer_is_refused(raw, tmp_path_factory):
    """v_pk_add_u16 v1, v2, v3, whose assembler does not write either modifier."""
    kernel = mfmasim.load(program("gfx942", bytes.fromhex(raw), tmp_path_factory))["k"]
    arguments = [np.zeros(64, np.uint32), np.zeros(64, np.uint32), np.int32(1)]
    with pytest.raises(mfmasim.MfmasimError, match="neg on a packed integer"):
        mfmasim.device("sim").launch(kernel, 1, 64, arguments)
