"""Builds the prebuilt code objects: ``python -m mfmasim.lab.rebuild [--check]``.

Every source that a case of such a family names is compiled once per architecture with the compiler from PyPI, so that
the bytes are reproducible. The manifest says from which source, by which compiler, with which hash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mfmasim.architectures import ARCHITECTURES, DEFAULT
from mfmasim.files import write_file, write_text
from mfmasim.lab.kit.code import probe_source
from mfmasim.lab.kit.kernels import source as kit_source
from mfmasim.resources import folder
from mfmasim.verify.files import CONFORMANCE, families, load_file
from mfmasim.verify.prebuilt import MANIFEST, source_hash

COMPILER = "ziglang"
PREBUILT = ("intro", "zoo")
"""Families whose code objects travel with the package; the others are compiled where they are run."""
MEASURED = (("bench", "valu_loop", DEFAULT), ("bench", "tiled_gemm", DEFAULT))
"""Kernels that no case names: what ``tests/bench`` runs. Folder in conformance, source, architecture."""
PROBES = tuple(
    row
    for arch in ARCHITECTURES
    for row in (("kit", arch, arch), ("calibrate", "probe", arch), ("calibrate", "fill", arch))
)
"""Kernels of ``mfmasim gpu kit``, ``calibrate`` and ``golden record``, which run where there often is no compiler."""


def build(
    compiler: str = COMPILER, kernels: Sequence[tuple[str, str, str]] = (*MEASURED, *PROBES)
) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Compile every kernel source of the families in `PREBUILT`, and others.

    Args:
        compiler: as for `mfmasim.compile`.
        kernels: the others, as in `MEASURED`.

    Returns:
        The manifest's entries, and the files' bytes by name.

    Raises:
        MfmasimError: no compiler, or a source that does not compile.
    """
    from mfmasim.toolchain import compile_hip

    entries: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    root = folder("hipkernels").resolve()
    wanted = {
        (family, case.source, arch)
        for family, path in families().items()
        if family in PREBUILT
        for case in load_file(path)
        for arch in case.arch
    }
    wanted |= {(where, root / CONFORMANCE / where / f"{name}.hip", arch) for where, name, arch in kernels}
    for family, source, arch in sorted(wanted):
        made = compile_hip(source, arch, compiler=compiler)
        name = f"{family}/{source.stem}.{arch}.hsaco"
        files[name] = made.data
        entries.append(
            {
                "source": source.relative_to(root).as_posix(),
                "arch": arch,
                "file": name,
                "sha256": hashlib.sha256(made.data).hexdigest(),
                "source_sha256": source_hash(source),
                "compiler": made.compiler,
            }
        )
    return entries, files


def main(argv: Sequence[str] | None = None) -> int:
    """Write golden/code, or with --check compare with what is there."""
    parser = argparse.ArgumentParser(prog="python -m mfmasim.lab.rebuild", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing; exit 1 when something differs")
    args = parser.parse_args(argv)
    generated = {probe_source(arch): kit_source(arch) for arch in ARCHITECTURES}
    if args.check:
        stale = [path.name for path, text in generated.items() if not _same(path, text.encode())]
        if stale:
            print("\n".join(f"differs: {name}" for name in stale))
            return 1
    for path, text in generated.items():
        write_text(path, text)
    entries, files = build()
    target = folder("golden") / "code"
    manifest = json.dumps({"schema_version": 1, "entries": entries}, indent=1) + "\n"
    if args.check:
        stale = [name for name, data in files.items() if not _same(target / name, data)]
        if not _same(target / MANIFEST, manifest.encode()):
            stale.append(MANIFEST)
        print("\n".join(f"differs: {name}" for name in stale) or f"{len(files)} code objects are up to date")
        return 1 if stale else 0
    for name, data in files.items():
        write_file(target / name, data)
    write_text(target / MANIFEST, manifest)
    print(f"{len(files)} code objects, {sum(map(len, files.values())):,} bytes, in {target.name}")
    return 0


def _same(path: Path, data: bytes) -> bool:
    return bool(path.is_file() and path.read_bytes() == data)


if __name__ == "__main__":
    sys.exit(main())
