"""Compressed offload bundles: a header that starts with ``CCOB``, then one zlib stream or zstd frame.

Source: LLVM's Clang Offload Bundler document, "Compression and Decompression": versions 1 to 3 of the header.
"""

from __future__ import annotations

import hashlib
import struct
import sys
import zlib
from dataclasses import dataclass

from mfmasim.codeobject.guard import parsing
from mfmasim.errors import DamagedError, UnsupportedError

MAGIC = b"CCOB"

# Limit of all bundles of a file together: a header of a few kilobytes can claim any size.
LIMIT = 1 << 29

_START = struct.Struct("<4sHH")  # magic, version, method


@dataclass(frozen=True)
class _Layout:
    """What follows magic, version and method."""

    fields: struct.Struct
    has_file_size: bool
    """The first field is the size of header and stream together; the last two are always size and hash."""


# Header version -> its fields: [file size,] uncompressed size, hash.
_LAYOUTS = {
    1: _Layout(struct.Struct("<IQ"), has_file_size=False),
    2: _Layout(struct.Struct("<IIQ"), has_file_size=True),
    3: _Layout(struct.Struct("<QQQ"), has_file_size=True),
}

# LLVM's numbers of compression formats.
_METHODS = {0: "zlib", 1: "zstd"}


def decompress(data: memoryview, budget: int, name: str) -> tuple[bytes, int]:
    """Decompress the bundle that starts at the first byte.

    Args:
        data: compressed bundle, and whatever follows it.
        budget: largest decompressed size in bytes.
        name: the file, for the error.

    Returns:
        The plain bundle, and how many bytes the compressed one took.

    Raises:
        MfmasimError: it is truncated, corrupt, of an unknown version or method, or too large.
    """
    if len(data) < _START.size:
        raise DamagedError(f"{name}: truncated compressed bundle: {len(data)} bytes")
    _, version, method_number = _START.unpack_from(data)
    layout = _LAYOUTS.get(version)
    if layout is None:
        raise UnsupportedError(
            f"{name}: compressed bundle of version {version}; allowed: {', '.join(map(str, _LAYOUTS))}"
        )
    method = _METHODS.get(method_number)
    if method is None:
        raise UnsupportedError(f"{name}: compressed bundle of method {method_number}; allowed: 0 (zlib), 1 (zstd)")
    start = _START.size + layout.fields.size
    if len(data) < start:
        raise DamagedError(f"{name}: truncated compressed bundle: its header has {start} bytes, the file {len(data)}")
    *sizes, plain_size, digest = layout.fields.unpack_from(data, _START.size)
    end = sizes[0] if layout.has_file_size else len(data)
    if not start <= end <= len(data):
        raise DamagedError(
            f"{name}: truncated compressed bundle: {end} bytes according to its header, {len(data)} left"
        )
    if plain_size > budget:
        raise UnsupportedError(f"{name}: compressed bundle of {plain_size} bytes, more than the {budget} that are read")
    with parsing(name, "compressed bundle"):
        unpack = _zlib if method == "zlib" else _zstd
        plain, unused = unpack(data[start:end], plain_size)
    if len(plain) != plain_size:
        raise DamagedError(
            f"{name}: corrupt compressed bundle: {len(plain)} bytes decompressed, its header says {plain_size}"
        )
    # LLVM keeps the first half of the MD5 of what it compressed.
    if hashlib.md5(plain, usedforsecurity=False).digest()[:8] != digest.to_bytes(8, "little"):
        raise DamagedError(f"{name}: corrupt compressed bundle: its hash does not match its contents")
    return plain, end if layout.has_file_size else end - unused


def _zlib(data: memoryview, size: int) -> tuple[bytes, int]:
    """At most ``size`` + 1 bytes of a zlib stream, and how many bytes follow the stream."""
    stream = zlib.decompressobj()
    plain = stream.decompress(data, size + 1)
    if not stream.eof and len(plain) <= size:
        raise ValueError("the stream ends early")
    return plain, len(stream.unused_data)


def _zstd(data: memoryview, size: int) -> tuple[bytes, int]:
    """At most ``size`` + 1 bytes of a zstd frame, and how many bytes follow the frame."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    stream = zstd.ZstdDecompressor()
    plain: bytes = stream.decompress(data, max_length=size + 1)
    if not stream.eof and len(plain) <= size:
        raise ValueError("the frame ends early")
    return plain, len(stream.unused_data)
