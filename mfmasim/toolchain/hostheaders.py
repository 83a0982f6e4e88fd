"""The C and C++ standard headers in the ziglang wheel.

A HIP file mixes host and device code, so `<vector>` or `<cstdio>` must parse although only device code is emitted.
A clang finds the system's headers; zig's embedded clang has no such default, so its folders are rows here.
"""

from __future__ import annotations

from pathlib import Path

# In the order in which zig itself passes them for x86_64-linux-gnu with libc++ (`zig build-obj -lc++ --verbose-cc`,
# 0.16 and 0.17; the architecture's folder was renamed in between, so both names are listed).
_FOLDERS = (
    "libcxx/include",
    "libcxxabi/include",
    "include",
    "libc/include/x86_64-linux-gnu",
    "libc/include/x86-linux-gnu",
    "libc/include/generic-glibc",
    "libc/include/x86-linux-any",
    "libc/include/any-linux-any",
)

# libc++'s configuration, which zig passes on the command line instead of a __config_site header (same source).
_MACROS = (
    "__GLIBC_MINOR__=31",
    "_LIBCPP_ABI_VERSION=1",
    "_LIBCPP_ABI_NAMESPACE=__1",
    "_LIBCPP_HAS_THREADS=1",
    "_LIBCPP_HAS_MONOTONIC_CLOCK=1",
    "_LIBCPP_HAS_TERMINAL=1",
    "_LIBCPP_HAS_MUSL_LIBC=0",
    "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "_LIBCPP_HAS_FILESYSTEM=1",
    "_LIBCPP_HAS_RANDOM_DEVICE=1",
    "_LIBCPP_HAS_LOCALIZATION=1",
    "_LIBCPP_HAS_UNICODE=1",
    "_LIBCPP_HAS_WIDE_CHARACTERS=1",
    "_LIBCPP_HAS_TIME_ZONE_DATABASE=1",
    "_LIBCPP_PSTL_BACKEND_SERIAL=1",
    "_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_HARDENING_MODE_DEFAULT=_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
)


def zig_flags(zig: Path) -> list[str]:
    """Flags with which zig's clang finds the standard headers of its wheel.

    Args:
        zig: the program; its ``lib`` folder is beside it.

    Returns:
        Include folders that exist, and libc++'s configuration.
    """
    folders = [zig.parent / "lib" / row for row in _FOLDERS]
    flags = ["-nostdinc"]
    for present in (row for row in folders if row.is_dir()):
        flags += ["-isystem", str(present)]
    return flags + [f"-D{macro}" for macro in _MACROS]
