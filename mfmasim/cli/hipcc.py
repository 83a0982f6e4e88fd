"""``mfmasim hipcc ARGS``: compile and link HIP programs in C++ for the simulated runtime."""

from __future__ import annotations

import argparse

AS_CLANG, ROOT = "--as-clang", "--print-root"


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "hipcc",
        help="compile and link a HIP program in C++ for the simulated HIP runtime",
        description="Takes hipcc's command line: sources, objects, libraries, -o, -c, -D, -I, -std, -O, -fgpu-rdc, "
        "--offload-arch. Without --offload-arch the target is the simulated device's. --print-root prints a folder "
        "shaped as a ROCm installation, for Makefiles and CMake; --as-clang takes clang's command line, not hipcc's.",
        prefix_chars="\0",  # every argument is the compiler's
        add_help=False,
    )
    parser.add_argument("arguments", nargs="*", help="as hipcc and clang take them; clang's own: --as-clang --help")
    parser.set_defaults(help=parser.format_help)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; the exit code is the compiler's."""
    words = list(args.arguments)
    if words in (["--help"], ["-h"]):
        print(args.help(), end="")
        return 0
    if words == [ROOT]:
        from mfmasim.hiprt.root import root

        print(root())
        return 0
    from mfmasim.hiprt.hipcc import run_compiler

    as_clang = words[:1] == [AS_CLANG]
    return run_compiler(words[1:] if as_clang else words, as_clang=as_clang)
