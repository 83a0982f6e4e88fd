"""Damaged code objects of whole kernels: what inspects, proves and runs them answers, or refuses them in a line.

An input's first two bytes choose a code object of the package, the third how it is run; each five of the others are an
edit: a place, what is done there, and a value. ``python -m tests.fuzz.objects SEED COUNT FOLDER...`` also damages code
objects of other folders, such as those of hipkernels in the compiler's cache.
"""

import contextlib
import functools
import io
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import mfmasim
from mfmasim.cli import main as command
from mfmasim.errors import MfmasimError
from mfmasim.observe.registry import CHECKS
from mfmasim.prove.objects import prove_kernel
from mfmasim.resources import folder
from tests.fuzz.errors import check_error
from tests.fuzz.limits import bounded_time
from tests.machine.fuzzing import arguments, sections

HEADER, EDIT = 3, 5
MOST = 8
"""Edits of an input."""
BUDGET = 400
"""Instructions of a wave."""
PROOF_SECONDS = 0.5
LARGEST = 1 << 18
"""Bytes of a code object that is damaged."""


@functools.cache
def bases(*folders):
    """Code objects of the package, then those of other folders."""
    own = sorted((folder("golden") / "code").rglob("*.hsaco"))
    others = [path for one in folders for path in sorted(Path(one).rglob("*")) if path.is_file()]
    found = [path.read_bytes() for path in [*own, *others]]
    # In the compiler's cache, an object has a record in front of it.
    objects = [data[data.find(b"\x7fELF") :] for data in found if b"\x7fELF" in data]
    return [data for data in objects if len(data) <= LARGEST]


@functools.cache
def areas(data):
    """Where edits go: everywhere, the descriptors, the metadata, and most of them to the code."""
    named = sections(data)
    wanted = [named[name] for name in (".rodata", ".note", *[".text"] * 9) if name in named]
    return [(0, len(data)), *((start, size) for start, size in wanted if size)]


def damaged(data, edits):
    """A code object with some edits."""
    whole, out = areas(data), bytearray(data)
    for at in range(0, min(len(edits), MOST * EDIT) - EDIT + 1, EDIT):
        low, high, where, what, value = edits[at : at + EDIT]
        start, size = whole[where % len(whole)]
        place = start + (low | high << 8 | (where >> 2) << 16) * size // (1 << 22)
        if what % 8 == 0:
            out[place : place + 4] = out[start + value * size // 256 :][:4].ljust(4, b"\0")  # another dword
        elif what % 8 == 1:
            del out[max(64, len(out) - value * 16) :]
        elif what % 8 == 2:
            out[place : place + 1] = bytes([out[place] ^ 1 << value % 8]) if place < len(out) else b""
        elif what % 8 == 3:
            out[place : place + 8] = bytes([value]) * 8
        elif place < len(out):
            out[place] = value
    return bytes(out)


def judge(data, how):
    """Inspect, prove and run what some bytes hold; what was done with it."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "x.hsaco")
        path.write_bytes(data)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command(["inspect", str(path)])
        text = err.getvalue()
        assert code in (0, 1, 2), code
        assert "internal error" not in text, text
        assert all(line.isprintable() for line in (out.getvalue() + text).splitlines())
        assert [one.name for one in Path(name).iterdir()] == ["x.hsaco"]
    try:
        loaded = mfmasim.load(data)
        if not loaded.kernels:
            return "empty"
        kernel = loaded[loaded.kernels[how % len(loaded.kernels)]]
    except MfmasimError as error:
        check_error(error)
        return "refused"
    done = "run"
    if how & 4:
        try:
            prove_kernel(kernel, (64,), seconds=PROOF_SECONDS)
            done = "proved and run"
        except MfmasimError as error:
            check_error(error)
    try:
        block = (1, 64, 192)[(how >> 3) % 3]
        checks = list(CHECKS) if how & 64 else "all"
        quota = mfmasim.Quota(seconds=10, bytes=1 << 28)
        report = mfmasim.device("sim").launch(
            kernel, 2, block, arguments(kernel), budget=BUDGET, checks=checks, quota=quota
        )
        assert sum(report.mix.values()) == sum(report.counts.values())
        assert all(line.isprintable() for one in report.findings for line in one.message.splitlines())
    except MfmasimError as error:
        check_error(error)
        done = done.replace("run", "stopped")
    return done


def run(data):
    data = data.ljust(HEADER, b"\0")
    found = bases()
    judge(damaged(found[(data[0] | data[1] << 8) % len(found)], data[HEADER:]), data[2])


def hunt(seed, count, folders):
    """Damage code objects at random; the number of finds."""
    rng, found, finds, slowest = random.Random(seed), bases(*folders), Counter(), 0.0
    done = Counter()
    for number in range(1, count + 1):
        which = rng.randrange(len(found))
        edits = rng.randbytes(EDIT * rng.choice((1, 1, 2, 4, 8)))
        how, begin = rng.randrange(256), time.process_time()
        try:
            with bounded_time(cpu=True):
                done[judge(damaged(found[which], edits), how)] += 1
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it is a find
            last = traceback.extract_tb(error.__traceback__)[-1]
            name = f"{type(error).__name__} {Path(last.filename).name}:{last.lineno}"
            finds[name] += 1
            if finds[name] == 1:
                print("FIND", which, edits.hex(), how, flush=True)
                traceback.print_exc()
        slowest = max(slowest, time.process_time() - begin)
        if number % 100 == 0:
            cpu = time.process_time()
            print(f"{number} tried, {dict(done)}, slowest {slowest:.1f} s, {cpu:.0f} s, {dict(finds)}", flush=True)
    return len(finds)


if __name__ == "__main__":
    raise SystemExit(hunt(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]) > 0)
