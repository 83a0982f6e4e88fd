"""Decoding and printing of code objects against llvm-objdump: `python -m tests.bench.bench_objects FOLDER [STEP]`.

Takes every STEP-th code object below FOLDER (ROCm/aiter's `hsa`, say), prints each instruction once with either, and
prints the ratio of processor times; both run in one process at a time. With `--compare`, our text of each distinct
instruction is held to llvm-objdump's as well.
"""

import re
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import mfmasim
from mfmasim.errors import MfmasimError
from tests.llvm import tool

LINE = re.compile(rb"^\t(.*?)\s*// [0-9A-F]+: ((?:[0-9A-F]{8} ?)+)", re.MULTILINE)


def objects(folder, step):
    """Paths and contents of the code objects that can be loaded."""
    found, refused = [], Counter()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".co", ".hsaco"))[::step]:
        try:
            found.append((path, mfmasim.load(path).arch.name))
        except MfmasimError as error:
            refused[str(error).removeprefix(f"{path}: ")] += 1
    for reason, count in refused.items():
        print(f"{count} left out: {reason}")
    return found


def ours(paths):
    """Processor seconds to load, decode and print all kernels, and how many instructions they have."""
    start = time.process_time()
    count = size = 0
    for path, _ in paths:
        code = mfmasim.load(path)
        for name in code.kernels:
            for instruction in code[name].instructions:
                size += len(instruction.text)
                count += 1
    assert size > count
    return time.process_time() - start, count


def theirs(paths):
    """Processor seconds of llvm-objdump, which prints to nowhere."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for path, _ in paths:
        subprocess.run([tool("llvm-objdump"), "-d", path], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(paths):
    """Distinct instructions whose text was compared, and those that differ."""
    seen, wrong = {}, []
    for path, arch in paths:
        known = seen.setdefault(arch, {})
        listing = subprocess.run([tool("llvm-objdump"), "-d", path], capture_output=True, check=True).stdout
        printed = {bytes.fromhex(words.decode()): text for text, words in set(LINE.findall(listing))}
        code = mfmasim.load(path)
        for name in code.kernels:
            for instruction in code[name].instructions:
                if instruction.raw in known:
                    continue
                words = b"".join(instruction.raw[i : i + 4][::-1] for i in range(0, instruction.size, 4))
                text = printed.get(words)
                # Objdump shortens runs of zeros.
                if text is not None or any(words):
                    known[instruction.raw] = instruction.text
                    # Where a file has labels, branches name them.
                    parts = slice(1) if instruction.target is not None else slice(None)
                    if text is None or text.decode().split()[parts] != instruction.text.split()[parts]:
                        wrong.append((str(path), hex(instruction.pc), instruction.text, text))
    return sum(map(len, seen.values())), wrong


def main():
    words = [word for word in sys.argv[1:] if word != "--compare"]
    if not words:
        sys.exit(__doc__)
    paths = objects(Path(words[0]), int(words[1]) if len(words) > 1 else 1)
    seconds, count = ours(paths)
    reference = theirs(paths)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{len(paths)} objects, {count} instructions, {seconds:.1f} s, at most {peak} MiB; objdump {reference:.1f} s")
    print(f"ratio ours/objdump {seconds / reference:.2f}")
    if "--compare" in sys.argv:
        count, wrong = compare(paths)
        print(f"{count} distinct instructions compared, {len(wrong)} differ {wrong[:5]}")


if __name__ == "__main__":
    main()
