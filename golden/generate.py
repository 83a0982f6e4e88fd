"""Make the golden data, or check that what lies here is what would be made.

python -m golden.generate            write golden/<family>/*.npz and golden/manifest.json
python -m golden.generate --check    make everything in memory and compare SHA-256; exit 1 on any difference
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golden import attention, casts, gradients
from golden.cases import FAMILIES, FAMILY_OF, Case
from golden.inputs import draw
from golden.reference import exact, models
from golden.storage import npz_bytes, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SCHEMA_VERSION = 1
INFINITY = 0x7F800000


def entries() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Every manifest entry with the bytes of its file, in the manifest's order."""
    for family, cases in FAMILIES.items():
        for case in cases:
            for arch in case.arches:
                for data in case.data:
                    for opsel in case.opsels:
                        yield make(family, case, arch, data, opsel)
    yield from casts.entries()
    yield from attention.entries()
    yield from gradients.entries()


def make(family: str, case: Case, arch: str, data: str, opsel: int | None) -> tuple[dict[str, Any], bytes]:
    """One entry and its file.

    Args:
        family: Kernel family.
        case: The case's row.
        arch: Architecture.
        data: Data class.
        opsel: Byte of the scale words that holds the scale, None without scales.

    Returns:
        The manifest entry, and the bytes of its `.npz`.
    """
    parts = [case.name, arch, data] + ([] if opsel is None else [f"opsel{opsel}"])
    entry_id = "/".join([family, *parts])
    # A seed of its own for every entry, so that adding a case changes no other.
    seed = int(sha256(entry_id.encode())[:15], 16)
    a_format, b_format = case.formats(arch)
    rule = models.RULES[FAMILY_OF[arch], case.kind]
    drawn = draw(data, seed, (a_format, b_format), case.shape, case.block, opsel)

    arrays = {"A": drawn.a, "B": drawn.b}
    scales: dict[str, Any] = {}
    if drawn.scale_a is not None and drawn.scale_b is not None:
        arrays |= {"scale_A": drawn.scale_a, "scale_B": drawn.scale_b}
        scales = {"scale_a": drawn.scale_a[..., opsel], "scale_b": drawn.scale_b[..., opsel]}
    arrays["exact"] = exact.matmul(drawn.a, drawn.b, a_format, b_format, **scales)
    arrays["model"] = models.matmul(drawn.a, drawn.b, a_format, b_format, rule, **scales)
    _hold_promises(entry_id, data, arrays, exact_sums=rule.step != "dot2")

    content = npz_bytes(arrays)
    scale_format = None if case.block is None else "e8m0fnu"
    entry = {
        "id": entry_id,
        "family": family,
        "case": case.name,
        "arch": arch,
        "data": data,
        "seed": seed,
        "formats": {"A": a_format, "B": b_format, "C": "f32", "scale_A": scale_format, "scale_B": scale_format},
        "shape": dict(zip("MNK", case.shape, strict=True)),
        "block": case.block,
        "opsel": opsel,
        "rounding": "nearest_even",
        "saturation": "none",
        "denormals": "kept",
        "initial": "+0",
        "file": f"{family}/{'.'.join(parts)}.npz",
        "sha256": sha256(content),
        "expected": {
            "exact": {"kind": "exact_rational", "fidelity": "specified"},
            "model": {"kind": rule.name, "fidelity": rule.fidelity},
        },
        "made_by": "python -m golden.generate",
    }
    return entry, content


def manifest_text(listed: list[dict[str, Any]]) -> str:
    """The manifest as JSON, one line per entry so that a change shows as one line."""
    lines = ",\n".join("  " + json.dumps(entry) for entry in listed)
    return f'{{\n "schema_version": {SCHEMA_VERSION},\n "nan": "0x7fc00000",\n "entries": [\n{lines}\n ]\n}}\n'


def write(folder: Path) -> int:
    """Write all files and the manifest; returns the number of entries."""
    listed = []
    for entry, content in entries():
        path = folder / entry["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        listed.append(entry)
    (folder / "manifest.json").write_bytes(manifest_text(listed).encode())
    return len(listed)


def check(folder: Path) -> list[str]:
    """Differences between a folder and what would be made, one line each; empty when there is none."""
    differences, listed = [], []
    for entry, _ in entries():
        listed.append(entry)
        path = folder / entry["file"]
        if not path.is_file():
            differences.append(f"{entry['file']}: missing")
        elif (found := sha256(path.read_bytes())) != entry["sha256"]:
            differences.append(f"{entry['file']}: SHA-256 is {found}, needs {entry['sha256']}")
    wanted = {entry["file"] for entry in listed}
    families = sorted({entry["family"] for entry in listed})
    present = {f"{family}/{path.name}" for family in families for path in (folder / family).glob("*.npz")}
    differences += [f"{name}: not in the manifest" for name in sorted(present - wanted)]
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        differences.append("manifest.json: missing")
    elif manifest.read_text(encoding="utf-8") != manifest_text(listed):
        differences.append("manifest.json: differs from the generator's")
    return differences


def _hold_promises(entry_id: str, data: str, arrays: dict[str, np.ndarray], *, exact_sums: bool) -> None:
    """Stop when a data class does not keep what its name says; RDNA3 loses a unit where signs of summands differ."""
    exact_bits, model_bits = arrays["exact"], arrays["model"]
    if data in {"integers", "normal"} and bool(np.any((exact_bits & INFINITY) == INFINITY)):
        raise AssertionError(f"{entry_id}: a result is not finite")
    if data == "integers" and exact_sums and not np.array_equal(exact_bits, model_bits):
        raise AssertionError(f"{entry_id}: the model rounds where every sum is exact")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m golden.generate", description="Make or check the golden data.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what lies here")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the data lies (default: %(default)s)")
    options = parser.parse_args(arguments)
    if not options.check:
        print(f"{write(options.folder)} entries written to {options.folder}")
        return 0
    differences = check(options.folder)
    print("\n".join(differences) if differences else "golden data is up to date")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
