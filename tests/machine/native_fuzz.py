"""Generated C under sanitizers: ``python -m tests.machine.native_fuzz 20`` builds regions of so many random programs.

Each region's text becomes a program of its own that fills registers of exactly the sizes that the region has with
random bits, runs, and frees them: an access outside, a shift or conversion that C leaves undefined, ends it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from mfmasim.machine.native import memory, region
from mfmasim.machine.native.driver import FIELDS
from mfmasim.toolchain.clibrary import c_compiler
from tests.machine import frame, harness
from tests.machine.native_programs import catalogue, program

FLAGS = ("-g", "-O1", "-DPLAIN", "-w", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
MAIN = """
#include <stdlib.h>
#include <stdio.h>
static void *some(size_t bytes) {{ u8 *p = malloc(bytes); for (size_t i = 0; i < bytes; i++) p[i] = rand(); return p; }}
int main(void) {{
  i64 steps = 0;
  for (int round = 0; round < {rounds}; round++) {{
    const i64 n = 1 + round % 5;
    i64 *p = calloc({fields}, 8), *executed = calloc(n, 8), *runs = calloc({addresses}, 8), *stepped = calloc(n, 8);
    u32 *S = some(n * {scalars} * 4), *V = some(n * {vectors} * {lanes} * 4), *A = some(n * ({lanes} + 2) * 4);
    if (round % 2) memset(S, 0, n * {scalars} * 4); /* pointers to the buffers */
    u32 *S0 = some(n * {scalars} * 4), *V0 = some(n * {vectors} * {lanes} * 4);
    u32 *saved = some(n * ({scalars} + {vectors} * {lanes} + {lanes} + 2) * 4);
    u64 *undefined = calloc(n, 8);
    i32 *then = calloc(n, 4);
    u8 *waiting = calloc(n, 1);
    i64 m[{memory}] = {{ 0 }}, starts[2] = {{ 0, 2048 }}, ends[2] = {{ 1000, 4000 }};
    u8 writable[2] = {{ 1, round % 2 }};
    i64 *workgroup = calloc(n, 8);
    for (i64 w = 0; w < n; w++) workgroup[w] = w / 2;
    m[M_ARENA] = (i64)some(4000); m[M_BUFFERS] = 2; m[M_STARTS] = (i64)starts; m[M_ENDS] = (i64)ends;
    m[M_WRITABLE] = (i64)writable; m[M_STRIDE] = 4096; m[M_LIMIT] = 4090; m[M_LDS] = (i64)some(4096 * (n + 1) / 2);
    m[M_WORKGROUP] = (i64)workgroup; m[M_AT] = (i64)malloc(n * {lanes} * 8); m[M_DATA] = (i64)malloc(n * {lanes} * 16);
    m[M_UNDO] = (i64)malloc(n * {lanes} * {stored} * sizeof(Undo));
    i32 *now = calloc(n, 4), *now0 = calloc(n, 4), *state = calloc(n, 4), *before = calloc(n, 4);
    i32 *next = calloc({addresses}, 4);
    const i32 *nexts[1] = {{ next }};
    i32 *states[1] = {{ state }}, *earlier[1] = {{ before }};
    u8 *allowed = malloc({addresses}), *ran = calloc(n, 1);
    memset(allowed, 1, {addresses});
    for (i64 w = 0; w < n; w++) {{ now[w] = {entry}; undefined[w] = round % 3 ? 0 : 1ull << rand() % {lanes}; }}
    p[WAVES] = n; p[WEIGHT] = 1; p[PATIENCE] = 4096; p[WHOLE] = round % 2; p[OTHERS_MOST] = -(1ll << 62);
    p[OTHERS_LEAST] = 1ll << 62; p[FIRST_OTHER] = {addresses}; p[BUDGET] = 100000; p[MOST_STEPS] = 2000;
    p[MOST_INSTRUCTIONS] = 100000; p[AUTOMATA] = round % 2; p[COMPARE] = 1;
    run(p, S, V, A, now, executed, runs, stepped, allowed, ran, round % 2 ? undefined : 0, saved,
        nexts, states, earlier, S0, V0, now0, m, then, waiting);
    free(waiting);
    for (int k = 0; k < 5; k++) free((void *)m[(int[]) {{ M_ARENA, M_LDS, M_AT, M_DATA, M_UNDO }}[k]]);
    free(then); free(workgroup);
    steps += p[STEPS];
    free(p); free(executed); free(runs); free(stepped); free(S); free(V); free(A); free(S0); free(V0); free(saved);
    free(undefined); free(now); free(now0); free(state); free(before); free(next); free(allowed); free(ran);
  }}
  printf("%lld\\n", (long long)steps);
}}
"""


def texts(arch, count, seed, monkeypatch):
    """The C of the regions of random programs, with what its program needs to know."""
    found, made = [], region.region_text

    def kept(pieces, registers, lines, lanes):
        text, addresses, sizes = made(pieces, registers, lines, lanes)
        entry = next(place for place, size in enumerate(sizes) if size)
        known = {"scalars": len(registers.scalars), "vectors": len(registers.vectors), "lanes": lanes}
        stored = max(sum(store.size for store in piece.stores) for piece in pieces.values())
        known |= {"addresses": len(addresses), "entry": entry, "stored": stored, "memory": len(memory.FIELDS)}
        found.append((text, known))
        return text, addresses, sizes

    monkeypatch.setattr(region, "region_text", kept)
    monkeypatch.setattr(region, "library_of", lambda text, build: None)
    monkeypatch.setenv("MFMASIM_NATIVE", "forced")
    lines, rng = catalogue(arch, seed), random.Random(f"fuzz {arch} {seed}")
    for number in range(count):
        body = program(rng, lines, arch, memory=number % 2 > 0)
        kernel = harness.kernel(body, arch, "pppp", lds=frame.LDS_BYTES)
        harness.fast(kernel, frame.GROUPS, frame.ITEMS, frame.inputs(np.random.default_rng(number), arch))
    return found


def sanitized(text, known, rounds=20):
    """Build and run one; the steps that it took, or what the sanitizer says."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "a.c"), Path(folder, "a")
        source.write_text(text + MAIN.format(rounds=rounds, fields=len(FIELDS), **known))
        built = subprocess.run(
            [*c_compiler(), *FLAGS, "-o", str(program), str(source), "-lm"], capture_output=True, text=True, check=False
        )
        assert built.returncode == 0, built.stderr[:2000]
        ran = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=600)
        return int(ran.stdout) if ran.returncode == 0 else ran.stderr[:3000]


def main(argv):
    """Fuzz; 1 if a sanitizer complains."""
    import pytest

    steps = regions = 0
    for arch in ("gfx942", "gfx1151", "gfx1201", "gfx1100:64"):
        with pytest.MonkeyPatch().context() as monkeypatch:
            found = texts(arch, int(argv[0]), int(argv[1]) if len(argv) > 1 else 0, monkeypatch)
        for text, known in found:
            said = sanitized(text, known)
            if isinstance(said, str):
                print(arch, said)
                return 1
            steps, regions = steps + said, regions + 1
        print(f"{arch}: {regions} regions, {steps:,} steps", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
