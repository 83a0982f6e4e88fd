"""Code objects in archives, offload packages, libraries of many sources, and files of code and a descriptor alone."""

import struct
import subprocess

import numpy as np
import pytest

import mfmasim
from mfmasim.codeobject import entries, read
from mfmasim.errors import MfmasimError
from tests.codeobject.codeobject_builds import build
from tests.codeobject.test_codeobject_bundles import device, host_elf, pack, two
from tests.llvm import tool
from tests.machine import harness


def archive(members: dict[str, bytes]) -> bytes:
    """An archive with GNU's table of long names, written from ar(5)."""

    def member(title: str, data: bytes) -> bytes:
        head = f"{title:16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode()
        return head + data + b"\n" * (len(data) % 2)

    names, parts = "", b""
    for name, data in members.items():
        title = f"/{len(names)}" if len(name) > 15 else f"{name}/"
        names += f"{name}/\n" if len(name) > 15 else ""
        parts += member(title, data)
    return b"!<arch>\n" + member("/", bytes(4)) + member("//", names.encode()) + parts


def package(arch: str, data: bytes) -> bytes:
    """An offload package of one entry, written from OffloadBinary.h."""
    texts = [b"arch", arch.encode(), b"triple", b"amdgcn-amd-amdhsa"]
    entry, strings = 32, 32 + 40
    at = strings + 2 * 16
    places, table = [], b""
    for text in texts:
        places.append(at + len(table))
        table += text + b"\0"
    image = -(-(at + len(table)) // 8) * 8
    size = -(-(image + len(data)) // 8) * 8
    head = b"\x10\xff\x10\xad" + struct.pack("<IQQQ", 1, size, entry, 40)
    head += struct.pack("<HHIQQQQ", 1, 4, 0, strings, 2, image, len(data)) + struct.pack("<4Q", *places) + table
    return (head.ljust(image, b"\0") + data).ljust(size, b"\0")


def store(arch, name, value):
    """A code object with one kernel, which writes a number."""
    body = f"""
      s_load_dwordx2 s[4:5], s[0:1], 0x0
      v_lshlrev_b32 v1, 2, v0
      v_mov_b32 v2, {value}
      s_waitcnt lgkmcnt(0)
      global_store_dword v1, v2, s[4:5]
      s_endpgm
    """
    text = harness.source(body, arch, "p").replace("test.kd", f"{name}.kd")
    return harness.assemble(text.replace("test", name), arch)


def test_archives():
    members = {
        "host.o": host_elf(b"x", ".text"),
        "a_name_of_many_letters.o": host_elf(two()),
        "plain.co": build("gfx90a"),
    }
    data = archive({**members, "notes.txt": b"odd"})
    assert [entry.target_id for entry in entries(data, "lib.a")] == ["gfx942", "gfx950", "gfx90a"]
    assert read(data, "lib.a", "gfx950").data == build("gfx950")
    assert read(data, "lib.a", "gfx90a").name == "lib.a (gfx90a)"
    with pytest.raises(MfmasimError, match=r"lib.a\(a_name_of_many_letters.o\): .hip_fatbin: corrupt offload bundle"):
        read(archive({"a_name_of_many_letters.o": host_elf(b"none")}), "lib.a", "gfx942")
    for end in range(9, len(data), 501):
        with pytest.raises(MfmasimError):
            read(data[:end], "lib.a", "gfx90a")


def test_packages():
    data = package("gfx942", build("gfx942")) + bytes(8) + package("gfx950", build("gfx950"))
    assert read(data, "x", "gfx950").data == build("gfx950")
    assert read(host_elf(data, ".llvm.offloading"), "x", "gfx942").data == build("gfx942")
    assert read(package("gfx942", two()), "x", "gfx950").data == build("gfx950")
    for end in range(4, len(data) - 8, 101):
        with pytest.raises(MfmasimError):
            read(data[:end], "x", "gfx950")
    with pytest.raises(MfmasimError, match="x: offload package of version 7 is not supported; allowed: 1"):
        read(data[:4] + struct.pack("<I", 7) + data[8:], "x", "gfx950")


def test_a_kernel_chooses_among_sources():
    found = {name: store("gfx942", name, value) for name, value in (("first", 1), ("second", 2))}
    data = host_elf(b"".join(pack({device("gfx942"): one}) for one in found.values()))
    for name, one in found.items():
        assert mfmasim.load(data, kernel=name).object.data == one
        assert mfmasim.load(data, "gfx942", kernel=name).kernels == (name,)
    with pytest.raises(MfmasimError, match="2 code objects for gfx942"):
        mfmasim.load(data, kernel="third")


@pytest.mark.oracle
def test_archives_and_packages_of_llvm(tmp_path):
    (tmp_path / "a_name_of_many_letters.co").write_bytes(build("gfx942"))
    (tmp_path / "b.co").write_bytes(build("gfx950"))
    run = lambda *words: subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)  # noqa: E731
    run(tool("llvm-ar"), "rc", "lib.a", "a_name_of_many_letters.co", "b.co")
    image = "--image=file=b.co,triple=amdgcn-amd-amdhsa,arch=gfx950,kind=hip"
    run(tool("clang-offload-packager"), "-o", "package", image)
    for name in ("lib.a", "package"):
        assert read((tmp_path / name).read_bytes(), name, "gfx950").data == build("gfx950")


def bare(data: bytes) -> bytes:
    """What tinygrad writes of a kernel: its code, its descriptor, and sections; no target, no symbols, no notes."""
    code = read(data)
    (kernel,) = code.kernels.values()
    segment = next(one for one in code.segments if one.executable)
    text = segment.data[kernel.entry - segment.vaddr :][: kernel.size]
    text += bytes(-len(text) % 64)
    holder = next(one for one in code.segments if one.vaddr <= kernel.descriptor_address < one.end)
    head = bytearray(holder.data[kernel.descriptor_address - holder.vaddr :][:64])
    head[16:24] = struct.pack("<q", -len(text))
    names, at = b".text\0.rodata\0.strtab\0", 256 + len(text)
    rows = b"".join(
        struct.pack("<IIQQQQIIQQ", *row, 0, 0, 0, 0)
        for row in ((0, 1, 6, 0, 256, len(text)), (6, 1, 2, 0, at, 64), (14, 3, 0, 0, at + 64, len(names)))
    )
    header = bytearray(64)
    header[:5], header[40:48], header[60:64] = b"\x7fELF\2", struct.pack("<Q", at + 64 + len(names)), b"\3\0\2\0"
    return bytes(header).ljust(256, b"\0") + text + bytes(head) + names + rows


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_code_and_a_descriptor_alone(arch):
    data = bare(store(arch, "first", 7))
    with pytest.raises(
        MfmasimError, match="an ELF file without a target, such as tinygrad writes: choose one with arch"
    ):
        mfmasim.load(data)
    kernel = mfmasim.load(data, arch)["kernel"]
    out = np.zeros(64, np.int32)
    report = mfmasim.device("sim").launch(kernel, 1, 64, bytes(8), buffers={0: out}, checks="all")
    assert (out == 7).all()
    assert report.findings == []
    for end in range(64, len(data), 37):
        with pytest.raises(MfmasimError):
            mfmasim.load(data[:end], arch)
