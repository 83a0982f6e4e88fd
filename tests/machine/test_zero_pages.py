"""A small file that claims a gigabyte of zeros: what is never written takes no memory, in any check."""

import io
import struct
import subprocess
import sys

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.machine.memory import PAGE, PART, Memory
from mfmasim.observe.ordering.sharing import MANY, Sharing, touched
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


def test_a_copy_has_the_same_bytes():
    memory = Memory()
    first, second = memory.reserve("a", 3 * PART + 5), memory.reserve("b", 7, offset=4)
    memory.seal()
    memory.view(first)[[0, PART - 1, PART, 3 * PART + 4]] = [1, 2, 3, 4]
    memory.view(second)[:] = 9
    copy = memory.copied()
    assert np.array_equal(copy.arena, memory.arena)
    assert len(copy.arena) % PAGE == 0


def by_definition(sharing):
    """Dwords that one wave writes and another touches, one at a time."""
    found = []
    for at, (reader, writer, changer) in enumerate(zip(sharing.reader, sharing.writer, sharing.changer, strict=True)):
        users = [one for one in (reader, writer, changer) if one]
        written = writer or changer
        if (written and len(users) > 1 and (len(set(users)) > 1 or (MANY in users and reader))) or writer == MANY:
            found.append(at)
    return found


def test_shared_dwords_are_those_of_the_definition():
    rng = np.random.default_rng(5)
    for changes in (False, True):
        sharing = Sharing(0, 4 * 4000)
        for book in (sharing.reader, sharing.writer, *([sharing.changer] if changes else [])):
            book[:] = rng.choice([0, 0, 1, 2, MANY], len(book))
        sharing._changes = changes
        assert sharing.shared().tolist() == by_definition(sharing)
    book = np.zeros(5 << 20, np.int32)
    book[[0, (1 << 20) - 1, 1 << 20, (5 << 20) - 1]] = 1
    assert touched(book).tolist() == [0, (1 << 20) - 1, 1 << 20, (5 << 20) - 1]
