"""Offload bundles: plain, compressed in every header version and method, and inside host programs."""

from __future__ import annotations

import functools
import hashlib
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import pytest

from mfmasim.codeobject import read
from mfmasim.codeobject.compressed import LIMIT
from mfmasim.errors import MfmasimError
from tests.codeobject.codeobject_builds import HIP, QUALIFIERS, build, run
from tests.llvm import tool

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
HOST = "host-x86_64-unknown-linux-gnu-"


def device(target: str) -> str:
    return f"hipv4-amdgcn-amd-amdhsa--{target}"


def pack(entries: dict[str, bytes] | list[tuple[str, bytes]], align: int = 4096) -> bytes:
    """A plain bundle, written from its document and independent of the reader."""
    entries = list(entries.items()) if isinstance(entries, dict) else entries
    table = 32 + sum(24 + len(name) for name, _ in entries)
    head, body, at = MAGIC + struct.pack("<Q", len(entries)), b"", -(-table // align) * align
    start = at
    for name, data in entries:
        head += struct.pack("<QQQ", at, len(data), len(name)) + name.encode()
        body += data + bytes(-len(data) % align)
        at = start + len(body)
    return head.ljust(start, b"\0") + body


def squeeze(plain: bytes, version: int, method: str) -> bytes:
    """A compressed bundle with a header of any version."""
    stream = zlib.compress(plain) if method == "zlib" else zstd.compress(plain)
    digest = hashlib.md5(plain).digest()[:8]
    number = {"zlib": 0, "zstd": 1}[method]
    start = b"CCOB" + struct.pack("<HH", version, number)
    if version == 1:
        return start + struct.pack("<I", len(plain)) + digest + stream
    size = struct.Struct({2: "<II", 3: "<QQ"}[version])
    return start + size.pack(len(start) + size.size + 8 + len(stream), len(plain)) + digest + stream


@functools.cache
def two() -> bytes:
    return pack({HOST: b"", device("gfx942"): build("gfx942"), device("gfx950"): build("gfx950")})


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_the_architecture_picks(arch):
    found = read(two(), "two.hipfb", arch)
    assert found.data == build(arch)
    assert (found.arch.name, found.name) == (arch, f"two.hipfb ({arch})")


def test_one_device_entry_needs_no_architecture():
    found = read(pack({HOST: b"some host code", device("gfx1201"): build("gfx1201")}))
    assert found.data == build("gfx1201")


def test_ambiguous_and_missing_entries_are_named():
    with pytest.raises(MfmasimError, match=r"two.hipfb: several code objects; choose one with arch: gfx942, gfx950$"):
        read(two(), "two.hipfb")
    with pytest.raises(MfmasimError, match=r"two.hipfb: no code object for gfx90a; the bundle holds gfx942, gfx950$"):
        read(two(), "two.hipfb", "gfx90a")
    with pytest.raises(MfmasimError, match="no code object for a device; the bundle holds host code only"):
        read(pack({HOST: b"x"}))


def test_features_pick():
    on, off = build("gfx90a:xnack+"), build("gfx90a:xnack-")
    bundle = pack({device("gfx90a:xnack+"): on, device("gfx90a:xnack-"): off})
    assert read(bundle, arch="gfx90a:xnack-").data == off
    assert read(bundle, arch="gfx90a:xnack+").data == on
    with pytest.raises(MfmasimError, match=r"choose one with arch: gfx90a:xnack\+, gfx90a:xnack-"):
        read(bundle, arch="gfx90a")
    with pytest.raises(MfmasimError, match="unknown target feature 'xnak-' in 'gfx90a:xnak-'; did you mean 'xnack-'"):
        read(bundle, arch="gfx90a:xnak-")


def test_an_entry_has_to_hold_what_its_name_says():
    with pytest.raises(MfmasimError, match="the entry holds a code object for gfx950"):
        read(pack({device("gfx942"): build("gfx950")}))
    with pytest.raises(MfmasimError, match=r"\(gfx942\): not a linked code object: .*\(LLVM bitcode, not linked\)"):
        read(pack({device("gfx942"): b"BC\xc0\xde" + bytes(60)}))


@pytest.mark.parametrize("method", ["zlib", "zstd"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_compressed(version, method):
    data = squeeze(two(), version, method)
    assert len(data) < len(two()) // 2
    assert read(data, arch="gfx950").data == build("gfx950")
    # A linker puts several behind one another, with zeros between.
    other = squeeze(pack({device("gfx1201"): build("gfx1201")}), version, method)
    joined = data + bytes(-len(data) % 4096) + other + bytes(100)
    if version == 1:
        assert read(joined, arch="gfx1201").data == build("gfx1201")
    assert read(joined, arch="gfx942").data == build("gfx942")
    again = pack({device("gfx942"): build("gfx942")}) + joined
    with pytest.raises(MfmasimError, match="2 code objects for gfx942"):
        read(again, arch="gfx942")


def test_damaged_compressed_bundles():
    good = squeeze(two(), 3, "zstd")
    for end in range(0, len(good), 7):
        with pytest.raises(MfmasimError):
            read(good[:end], "cut")
    cases = {
        "version 9; allowed: 1, 2, 3": good[:4] + b"\x09\0" + good[6:],
        r"method 5; allowed: 0 \(zlib\), 1 \(zstd\)": good[:6] + b"\x05\0" + good[8:],
        "its hash does not match its contents": good[:24] + bytes(8) + good[32:],
        "bytes decompressed, its header says": good[:16] + struct.pack("<Q", len(two()) + 5) + good[24:],
        "more than the .* that are read": good[:16] + struct.pack("<Q", LIMIT + 1) + good[24:],
        "truncated or corrupt compressed bundle": good[:40] + b"\xff" * 20 + good[60:],
    }
    for message, data in cases.items():
        with pytest.raises(MfmasimError, match=message):
            read(data)
    with pytest.raises(MfmasimError, match="no bundle at"):
        read(squeeze(good, 3, "zstd"))


@pytest.mark.parametrize("method", ["zlib", "zstd"])
def test_a_stream_that_grows_beyond_its_header_stops_there(method):
    bomb = squeeze(bytes(200_000_000), 3, method)
    assert len(bomb) < 300_000
    small = bomb[:16] + struct.pack("<Q", 1000) + bomb[24:]
    with pytest.raises(MfmasimError, match="1001 bytes decompressed, its header says 1000"):
        read(small)


def test_damaged_plain_bundles():
    good = two()
    cases = {
        "truncated offload bundle: its table": good[:30],
        "truncated offload bundle: 3 entries in 40 bytes": good[:40],
        "truncated offload bundle: entry '.*gfx950' ends at byte": good[:-5000],
        "truncated offload bundle: 18446744073709551615 entries": good[:24] + b"\xff" * 8 + good[32:],
        "an entry's name has 4294967295 bytes": good[:48] + struct.pack("<Q", 0xFFFFFFFF) + good[56:],
        "corrupt offload bundle: no bundle at": good + b"\0\0\0junk",
    }
    for message, data in cases.items():
        with pytest.raises(MfmasimError, match=message):
            read(data)


@pytest.mark.parametrize("size", [0, 1 << 40])
def test_long_and_many_names_make_a_short_error(size):
    """Names of a damaged bundle: zeros, which an error spells with four characters each."""
    entries = b"".join(
        struct.pack("<QQQ", 24, size or 1, 1000) + b"hip-gfx942:%03d" % number + bytes(986) for number in range(50)
    )
    with pytest.raises(MfmasimError) as caught:
        read(MAGIC + struct.pack("<Q", 50) + entries, arch="gfx950")
    assert len(str(caught.value)) < 2000
    assert ("ends at byte" if size else "and 34 more") in str(caught.value)


def host_elf(section: bytes, name: str = ".hip_fatbin") -> bytes:
    """A minimal x86-64 object file with one section, as an assembler would write it."""
    names = b"\0.shstrtab\0" + name.encode() + b"\0"
    at = 64
    body = section + names
    body += bytes(-len(body) % 8)
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, at + len(body), 0, 64, 0, 0, 64, 3, 1)
    rows = [
        bytes(64),
        struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, at + len(section), len(names), 0, 0, 1, 0),
        struct.pack("<IIQQQQIIQQ", 11, 1, 2, 0, at, len(section), 0, 0, 16, 0),
    ]
    return header + body + b"".join(rows)


def test_host_program():
    found = read(host_elf(squeeze(two(), 2, "zlib")), "app", "gfx950")
    assert (found.data, found.name) == (build("gfx950"), "app (gfx950)")
    with pytest.raises(MfmasimError, match="app: an ELF file for X86_64, not for an AMD GPU, and without a section"):
        read(host_elf(two(), ".data"), "app", "gfx950")
    with pytest.raises(MfmasimError, match=r"app: .hip_fatbin: corrupt offload bundle"):
        read(host_elf(b"none of ours"), "app", "gfx950")


@pytest.mark.oracle
@pytest.mark.parametrize("flags", [(), ("-compress",), ("-compress", "-compression-level=19")])
@pytest.mark.parametrize("version", ["2", "3"])
def test_bundles_of_clang_offload_bundler(flags, version, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPRESSED_BUNDLE_FORMAT_VERSION", version)
    for arch in ("gfx942", "gfx950"):
        (tmp_path / arch).write_bytes(build(arch))
    (tmp_path / "host").write_bytes(b"")
    targets = ",".join([HOST, device("gfx942"), device("gfx950")])
    inputs = [f"-input={name}" for name in ("host", "gfx942", "gfx950")]
    run(tool("clang-offload-bundler"), "-type=o", *flags, f"-targets={targets}", *inputs, "-output=out", cwd=tmp_path)
    data = (tmp_path / "out").read_bytes()
    assert data.startswith(b"CCOB" + bytes([int(version)]) if flags else MAGIC)
    for arch in ("gfx942", "gfx950"):
        assert read(data, arch=arch).data == build(arch)


HOST_SOURCE = (
    QUALIFIERS
    + """
#define __host__ __attribute__((host))
typedef __SIZE_TYPE__ size_t;
struct dim3 { unsigned x, y, z; __host__ dim3(unsigned a) : x(a), y(1), z(1) {} };
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, size_t, void*);
extern "C" int __hipPushCallConfiguration(dim3, dim3, size_t = 0, void* stream = 0);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, size_t*, void**);
__global__ void one(float* c) { c[__builtin_amdgcn_workitem_id_x()] = 1; }
int launch(float* p) { one<<<1, 64>>>(p); return 0; }
"""
)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "flags",
    [("--no-offload-new-driver",), ("--no-offload-new-driver", "--offload-compress"), ("--offload-new-driver",)],
)
def test_host_objects_of_clang(flags):
    clang, lld = tool("clang++"), tool("ld.lld")
    host_flags = [flag for flag in HIP if not flag.startswith("--offload-device-only") and "bundle" not in flag]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "host.hip").write_text(HOST_SOURCE)
        archs = "--offload-arch=gfx942,gfx1201"
        run(clang, *host_flags, archs, *flags, f"-fuse-ld={lld}", "-c", "host.hip", "-o", "host.o", cwd=folder)
        data = Path(folder, "host.o").read_bytes()
    for arch in ("gfx942", "gfx1201"):
        assert list(read(data, arch=arch).kernels) == ["_Z3onePf"]
    with pytest.raises(MfmasimError, match="several code objects; choose one with arch: gfx"):
        read(data)
