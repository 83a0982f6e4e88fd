"""Foreign, truncated and damaged files: one line that names the file and the reason, never anything else."""

from __future__ import annotations

import random
import struct
import tracemalloc
from io import BytesIO

import msgpack
import pytest
from elftools.elf.elffile import ELFFile

from mfmasim.codeobject import load, read
from mfmasim.errors import MfmasimError
from tests.codeobject.codeobject_builds import QUALIFIERS, assemble, assembly, build
from tests.codeobject.test_codeobject_bundles import device, host_elf, pack, squeeze


def refusal(data: bytes, **options) -> str:
    """The error's text, which has to be one line that starts with the file's name."""
    with pytest.raises(MfmasimError) as caught:
        read(data, "k.hsaco", **options)
    text = str(caught.value)
    assert text.startswith("k.hsaco: ")
    assert "\n" not in text
    return text


def changed(at: int, value: bytes, data: bytes | None = None) -> bytes:
    """A code object with some bytes replaced."""
    data = build("gfx942") if data is None else data
    return data[:at] + value + data[at + len(value) :]


def renote(change) -> bytes:
    """A code object whose metadata went through a function; the note keeps its place and size."""
    data = build("gfx942")
    for segment in ELFFile(BytesIO(data)).iter_segments(type="PT_NOTE"):
        for note in segment.iter_notes():
            metadata = msgpack.unpackb(note["n_descdata"])
            for kernel in metadata["amdhsa.kernels"]:
                del kernel[".vgpr_spill_count"]  # room for what the change adds
            metadata = change(metadata) or metadata
            packed = msgpack.packb(metadata)
            start = data.index(note["n_descdata"])
            room = len(note["n_descdata"])
            assert len(packed) <= room, "a test may only shrink the note"
            header = struct.pack("<I", len(packed))
            return changed(start, packed.ljust(room, b"\0"), changed(note["n_offset"] + 4, header, data))
    raise AssertionError("no note")


def test_foreign_files():
    assert "empty file" in refusal(b"")
    assert "not a code object: starts with 23 69 6e 63 6c 75 64 65" in refusal(b"#include <hip/hip_runtime.h>")
    assert "LLVM bitcode, not linked" in refusal(b"BC\xc0\xde" + bytes(100))
    assert "a Windows program" in refusal(b"MZ" + bytes(100))
    assert "truncated or corrupt archive: the member at byte 8" in refusal(b"!<arch>\n" + bytes(100))
    assert "an archive without code for an AMD GPU" in refusal(b"!<arch>\n")
    assert "a thin archive, whose members are other files" in refusal(b"!<thin>\n" + bytes(100))
    assert "an ELF file for X86_64, not for an AMD GPU" in refusal(host_elf(b"x", ".text"))
    assert "an ELF file for AARCH64" in refusal(changed(18, b"\xb7\0"))
    assert "an ELF file for an unknown machine" in refusal(changed(18, b"\xff\xfe"))


def test_headers_that_no_gpu_has():
    assert "an AMD GPU's file is 64-bit little-endian" in refusal(
        changed(4, b"\x01", changed(18, b"\xe0\0", bytes(build("gfx942"))))
    )
    assert "class 7, data encoding 1" in refusal(changed(4, b"\x07"))
    assert "OS ABI 0 is not supported; allowed: 64 (amdhsa)" in refusal(changed(7, b"\0"))
    assert "code object with ABI version 9 is not supported; allowed: 0 to 4 (versions 2 to 6)" in refusal(
        changed(8, b"\x09")
    )
    assert "link it with -shared" in refusal(assemble(assembly("gfx942"), "gfx942", linked=False))
    assert "unknown e_flags 0x1000000" in refusal(changed(51, b"\x01"))


def test_architectures():
    assert "code object for gfx950, gfx942 was requested" in refusal(build("gfx950"), arch="gfx942")
    text = refusal(build("gfx900"))
    assert "code object for gfx900 (EF_AMDGPU_MACH 0x2c); known: gfx908, gfx90a, gfx942" in text
    with pytest.raises(MfmasimError, match="unknown architecture 'gfx943'; did you mean 'gfx942'"):
        read(build("gfx942"), arch="gfx943")


def test_every_truncation():
    for data in (build("gfx942"), pack({device("gfx942"): build("gfx942")}, 1), host_elf(squeeze(b"", 3, "zstd"))):
        for end in [*range(200), *range(200, len(data), 97)]:
            assert refusal(data[:end]) != ""
    assert "truncated ELF file: 40 bytes, the header alone has 64" in refusal(build("gfx942")[:40])
    assert "truncated ELF file: its section headers end at byte" in refusal(build("gfx942")[:-1])


def test_damaged_metadata():
    def kernel(change):
        def apply(metadata):
            change(metadata["amdhsa.kernels"][0])

        return refusal(renote(apply))

    def argument(change):
        return kernel(lambda one: change(one[".args"][0]))

    assert "not a map of names" in refusal(renote(lambda _: [1, 2, 3]))
    assert "amdhsa.kernels is not a list" in refusal(renote(lambda _: {"amdhsa.kernels": 4}))
    assert "a kernel is not a map" in refusal(renote(lambda _: {"amdhsa.kernels": [4]}))
    assert "a kernel without .name or .symbol" in kernel(lambda one: one.pop(".symbol"))
    assert "symbol 'no.kd' is not defined" in kernel(lambda one: one.update({".symbol": "no.kd"}))
    assert "kernel ids is listed twice" in kernel(lambda one: one.update({".name": "ids"}))
    assert ".kernarg_segment_size is None, not a 32-bit number" in kernel(lambda one: one.pop(".kernarg_segment_size"))
    assert ".wavefront_size is -1, not a 32-bit number" in kernel(lambda one: one.update({".wavefront_size": -1}))
    assert ".args is not a list of maps" in kernel(lambda one: one.update({".args": 1}))
    assert ".offset is True, not a 32-bit number" in argument(lambda one: one.update({".offset": True}))
    assert ".size is 16777216, more than 1048576 bytes" in argument(lambda one: one.update({".size": 1 << 24}))
    assert ".value_kind is '', not a name" in argument(lambda one: one.update({".value_kind": ""}))
    assert "arguments overlap at byte 0" in kernel(lambda one: one[".args"][1].update({".offset": 0}))
    assert ".uses_dynamic_stack is 7, not true or false" in kernel(lambda one: one.update({".uses_dynamic_stack": 7}))
    assert "kernel _Z4gemmPKfS0_Pfi: " in argument(lambda one: one.update({".offset": "x"}))


DIFFERENT = {
    ".wavefront_size": (32, "is 32, the kernel descriptor is for waves of 64: the descriptor decides"),
    ".group_segment_fixed_size": (4096, "bytes of LDS: the descriptor's are allocated here, HIP's runtime"),
    ".private_segment_fixed_size": (52, "bytes of scratch: the descriptor's are allocated here, HIP's runtime"),
    ".kernarg_segment_size": (1024, "the segment has the larger size"),
    ".vgpr_count": (600, "the kernel descriptor allocates"),
}


@pytest.mark.parametrize("key", DIFFERENT)
def test_metadata_that_differs_from_the_descriptor_is_a_note(key):
    """What decides on a GPU is the descriptor, or HIP's runtime: neither refuses such a file."""
    assert read(build("gfx942"))["gemm"].disagreements == ()
    value, words = DIFFERENT[key]
    found = read(renote(lambda metadata: metadata["amdhsa.kernels"][0].update({key: value})))
    (kernel,) = [one for one in found.kernels.values() if one.disagreements]
    (note,) = kernel.disagreements
    assert note.startswith(f"metadata {key} is {value}, the kernel descriptor")
    assert words in note
    assert kernel.wave == 64
    assert kernel.kernarg_size == max(kernel.descriptor.kernarg_size, kernel.metadata.kernarg_segment_size)


def test_no_metadata():
    data = build("gfx942")
    note = data.index(b"AMDGPU\0")
    assert "no AMDGPU metadata note" in refusal(changed(note, b"NOTAMD"))


def test_damaged_descriptor():
    code = read(build("gfx942"))
    gemm = code["gemm"]
    at = gemm.descriptor_address  # the first segment is loaded where it lies in the file
    assert code.data[at : at + 64] == code.read_bytes(at, 64)
    assert "kernel gemm".replace("gemm", gemm.name) in refusal(changed(at + 12, b"\x01"))
    assert "has data in its reserved bytes" in refusal(changed(at + 12, b"\x01"))
    assert "sets reserved bit 31 of rsrc3 on gfx942" in refusal(changed(at + 47, b"\x80"))
    assert "sets bulky to 1, which must be 0 in a file" in refusal(changed(at + 51, b"\x01"))
    assert "enables 2 user SGPRs but counts 0" in refusal(changed(at + 52, b"\x80"))
    assert "no code at entry" in refusal(changed(at + 16, (gemm.entry - at + 4).to_bytes(8, "little")))
    assert "no code at entry" in refusal(changed(at + 16, b"\xff" * 8))


def test_relocations_that_cannot_be_applied():
    code = read(build("gfx942"))
    (relocation,) = code.relocations
    place = code.data.index(struct.pack("<QQ", relocation.address, 13))
    assert "R_AMDGPU_ABS32 at 0x" in refusal(changed(place + 8, b"\x06"))
    assert "allowed: R_AMDGPU_ABS32_LO, R_AMDGPU_ABS32_HI, R_AMDGPU_ABS64, R_AMDGPU_RELATIVE64" in refusal(
        changed(place + 8, b"\x06")
    )
    assert "relocation type 200 at" in refusal(changed(place + 8, b"\xc8"))
    assert "corrupt relocation: 0x7fffffff is in no loaded segment" in refusal(
        changed(place, struct.pack("<Q", 0x7FFFFFFF))
    )


def test_undefined_symbols_are_named():
    source = """
extern "C" __device__ int missing;
__device__ int* pointer = &missing;
extern "C" __global__ void k(int* p) { *p = *pointer; }
"""
    # Without its visibility the linker leaves the symbol to the loader, as it does for a variable of the host.
    text = assembly("gfx942", source=QUALIFIERS + source).replace(".protected\tmissing", "")
    assert "undefined symbol 'missing' is needed by a R_AMDGPU_ABS64" in refusal(assemble(text, "gfx942"))


def test_promises_of_memory_are_not_kept():
    data = build("gfx942")
    elf = ELFFile(BytesIO(data))
    load_headers = [
        elf["e_phoff"] + 56 * at for at, one in enumerate(elf.iter_segments()) if one["p_type"] == "PT_LOAD"
    ]
    tracemalloc.start()
    try:
        assert "the image may have 1073741824" in refusal(changed(load_headers[0] + 40, struct.pack("<Q", 1 << 45)))
        assert "a segment ends at byte" in refusal(changed(load_headers[0] + 32, struct.pack("<Q", 1 << 45)))
        assert "two overlap" in refusal(changed(load_headers[0] + 40, struct.pack("<Q", 1 << 25)))
        debug = next(at for at, one in enumerate(elf.iter_sections()) if one.name == ".debug_str")
        header = elf["e_shoff"] + 64 * debug
        # A section without bytes in the file, which pyelftools would fill with zeros.
        damaged = changed(header + 32, struct.pack("<Q", 1 << 45), changed(header + 4, struct.pack("<I", 8)))
        with pytest.raises(MfmasimError, match=r"section \.debug_str of 35184372088832 bytes"):
            read(damaged).line_table()
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_files_that_are_no_files(tmp_path):
    with pytest.raises(MfmasimError, match="a folder, not a code object"):
        load(tmp_path)
    with pytest.raises(MfmasimError, match=r"nothing\.hsaco: cannot be read: No such file"):
        load(tmp_path / "nothing.hsaco")
    with pytest.raises(MfmasimError, match="cannot be read"):
        load("nul\0byte")


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Cut a file, or change a few of its bytes, its header and tables more often than the rest."""
    if rng.random() < 0.15:
        return data[: rng.randrange(len(data))]
    copy = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        at = rng.randrange(len(copy) if rng.random() < 0.5 else min(len(copy), 0xD00))
        value = rng.choice(
            [
                bytes([rng.randrange(256)]),
                bytes([copy[at] ^ 1 << rng.randrange(8)]),
                rng.choice([b"\0", b"\x01", b"\x7f", b"\x80", b"\xff"]),
                rng.choice([b"\xff", b"\0"]) * rng.choice([2, 4, 8]),
                struct.pack("<Q", 1 << rng.randrange(64)),
            ]
        )
        copy[at : at + len(value)] = value[: len(copy) - at]
    return bytes(copy)


def survives(data: bytes) -> bool:
    """Whether a file is read to the end; anything but an `MfmasimError` goes through and fails the test."""
    try:
        code = read(data, "fuzz", "gfx942")
        code.line_table()
        code.segments_at(1 << 40)
    except MfmasimError as error:
        assert "\n" not in str(error)  # noqa: PT017 -- the other outcome is as good
        return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_damage_at_random(seed):
    rng = random.Random(seed)
    plain = build("gfx942")
    bundle = pack({device("gfx942"): plain, device("gfx950"): build("gfx950")})
    files = [
        plain,
        build("gfx942", "-gz=zlib"),
        bundle,
        squeeze(bundle, 3, "zstd"),
        host_elf(squeeze(bundle, 1, "zlib")),
    ]
    assert all(survives(data) for data in files)
    read_to_the_end = sum(survives(mutate(rng.choice(files), rng)) for _ in range(800))
    # Both outcomes have to occur often, or the damage is of the wrong size.
    assert 80 < read_to_the_end < 720


@pytest.mark.long
def test_every_field_of_every_table():
    data = build("gfx942")
    elf = ELFFile(BytesIO(data))
    spans = [(0, 64), (elf["e_phoff"], 56 * elf["e_phnum"]), (elf["e_shoff"], 64 * elf["e_shnum"])]
    tables = (".debug", ".dyn", ".note", ".hash", ".gnu.hash", ".rela", ".rodata")
    sections = [one for one in elf.iter_sections() if one.name.startswith(tables)]
    spans += [(one["sh_offset"], min(one["sh_size"], 400)) for one in sections]
    values = [struct.pack("<Q", one) for one in (0, 1 << 28, 1 << 31, 1 << 40, 0x800, (1 << 63) - 1, (1 << 64) - 1)]
    tried = 0
    for start, size in spans:
        for width in (1, 4, 8):
            for at in range(start, start + size - width + 1, width):
                for value in values if width > 1 else (values[0], values[-1]):
                    survives(changed(at, value[:width], data))
                    tried += 1
    assert tried > 10_000


def test_a_file_larger_than_is_read_is_refused_unread(tmp_path):
    with (tmp_path / "k.hsaco").open("wb") as file:
        file.truncate(1 << 40)  # takes no room on disk
    with pytest.raises(MfmasimError, match="1,099,511,627,776 bytes, more than the 2,147,483,648 that are read"):
        load(tmp_path / "k.hsaco")
