"""A small file that claims a gigabyte of zeros: what is never written takes no memory, in any check."""

import io
import struct
import subprocess
import sys

import pytest
from elftools.elf.elffile import ELFFile

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder

FILE = folder("golden") / "code" / "intro" / "mfma_f32_16x16x16_f16.gfx942.hsaco"


def claiming(total, flags=6):
    """The file, its last segment with these flags claiming memory up to `total` bytes."""
    data = bytearray(FILE.read_bytes())
    elf = ELFFile(io.BytesIO(bytes(data)))
    heads = [(elf["e_phoff"] + 56 * n, one.header) for n, one in enumerate(elf.iter_segments())]
    at, header = [(at, one) for at, one in heads if one["p_type"] == "PT_LOAD" and one["p_flags"] == flags][-1]
    struct.pack_into("<Q", data, at + 40, total - header["p_vaddr"])
    return bytes(data)


PROGRAM = """
import resource, sys
import numpy as np, mfmasim
code = mfmasim.load(sys.argv[1])
arrays = [np.zeros(256, np.float16), np.zeros(256, np.float16), np.zeros(256, np.float32)]
def launch(kernel):
    assert mfmasim.device("sim").launch(kernel, 1, 64, arrays, checks="all").ok
launch(mfmasim.load(sys.argv[2])["mfma_f32_16x16x16_f16"])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
launch(code["mfma_f32_16x16x16_f16"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does, in KiB")
def test_all_checks_of_a_gigabyte_that_nothing_touches(tmp_path):
    path = tmp_path / "k.hsaco"
    path.write_bytes(claiming(1 << 30))
    assert path.stat().st_size < 8192
    ran = subprocess.run([sys.executable, "-c", PROGRAM, path, FILE], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 200 * 1024


def test_code_ends_with_the_file():
    """An executable segment that claims a gigabyte: its zeros are no instructions that anything looks through."""
    data = FILE.read_bytes()
    whole = mfmasim.load(data)
    kernel = whole[whole.kernels[0]]
    elf = ELFFile(io.BytesIO(data))
    segment = next(one for one in elf.iter_segments() if one["p_type"] == "PT_LOAD" and one["p_flags"] == 5)
    later = [one["p_vaddr"] for one in elf.iter_segments() if one["p_type"] == "PT_LOAD"]
    room = min(at for at in later if at > segment["p_vaddr"])
    found = mfmasim.load(claiming(room, 5))
    assert found[kernel.name].info.size == kernel.info.size
    assert len(found[kernel.name].reachable) == len(kernel.reachable)
    # The symbol's size beyond the bytes of the file.
    symbols = elf.get_section_by_name(".dynsym")
    number = next(n for n, one in enumerate(symbols.iter_symbols()) if one.name == kernel.name)
    damaged = bytearray(claiming(room, 5))
    struct.pack_into("<Q", damaged, symbols["sh_offset"] + 24 * number + 16, room - kernel.info.entry)
    with pytest.raises(MfmasimError, match="corrupt symbol"):
        mfmasim.load(bytes(damaged))
