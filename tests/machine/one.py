"""One operation against the slow interpreter: ``python -m tests.machine.one v_bfrev_b32``, about two seconds.

Lines of all its forms are drawn for every architecture that has it and run on both, and as C where regions can have
them; what differs is printed.
"""

from __future__ import annotations

import random
import sys

import numpy as np

from mfmasim.errors import unknown
from mfmasim.machine.opcodes.refusal import EXCLUDED
from tests.machine import drawing, frame, harness
from tests.machine.judge import judge
from tests.machine.native_judge import judged
from tests.slow.machine import interpreter

TARGETS = (*harness.ARCHITECTURES, "gfx90a", *harness.RDNA, "gfx1250")
"""Architectures whose tables together have every operation."""


def targets(name):
    """Of the architectures that have an operation the newest of CDNA and of RDNA: the others execute the same body."""
    has = [arch for arch in TARGETS if name in harness.executable(arch) and reason(name, arch) is None]
    cdna, rdna = ([arch for arch in has if arch.startswith("gfx1") == rdna] for rdna in (False, True))
    return [each[-1] for each in (cdna, rdna) if each]


def reason(name, arch):
    """Why an operation is not compared on an architecture; None where it is."""
    if arch.startswith("gfx1") and not arch.endswith(":64") and ("saveexec_b64" in name or "wrexec_b64" in name):
        return "a 64-bit EXEC in a wave of 32 lanes is for the wave of 64 lanes to compare"
    if arch == "gfx1250" and name.startswith("v_dot2"):
        return "a step of matrix instructions whose arithmetic is assumed: tests/matrix"
    return drawing.NOT_JUDGED.get(name)


def unjudged(name):
    """Why the bits of an operation are not compared here; None where they are."""
    excluded = next((row.why for row in EXCLUDED if name in row.names), None)
    if excluded:
        return f"not executed: {excluded}"
    if harness.is_matrix(name):
        return "a matrix instruction: tests/matrix compares it"
    has = [arch for arch in TARGETS if name in harness.rows(arch)]
    return next((why for arch in has if (why := reason(name, arch))), None) if not targets(name) else None


def compared(name, arch, lines=1):
    """The verdict on lines of one operation; at least `lines` of each of its encodings."""
    chosen, strange = drawing.probes(arch, random.Random(f"{arch} {name}"), lines, [name])
    assert not strange, f"no line generator for {', '.join(strange)}"
    return judge(chosen, arch, frame.inputs(np.random.default_rng(20), arch))


def main(argv):
    """Compare the named operations; 0 if all are equal, 1 if something differs, 2 for a name that no table has."""
    known = {}
    for arch in TARGETS:
        for name in harness.rows(arch):
            known.setdefault(name, []).append(arch)
    if not argv:
        print(__doc__.splitlines()[0])
    code = 0 if argv else 2
    for name in argv:
        if name not in known:
            print(unknown("operation", name, sorted(known)))
            return 2
        if why := unjudged(name):
            print(f"{name}: {why}")
            continue
        if not interpreter.models(name):
            print(f"{name}: no slow model in tests/slow/machine")
            code = 1
            continue
        chosen = targets(name)
        if not chosen:
            print(f"{name}: decoded for {', '.join(known[name])}, and no body in mfmasim/machine/ops executes it")
            code = 1
        for arch in chosen:
            with judged() as native:
                verdict = compared(name, arch, 3)
            wrong = [*verdict.differences, *verdict.refused.values(), *native.differences]
            code = 1 if wrong or not verdict.compared else code
            print(f"{name} {arch}: {verdict.compared} dwords compared, {len(wrong)} lines differ or are refused")
            print(f"  in C: {native.about(name)}")
            print("\n".join(wrong[:10]), end="\n" if wrong else "")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
