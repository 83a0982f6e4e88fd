"""How fast code decodes: `python -m tests.bench.bench_decode [ARCH...]`. Prints instructions per second."""

import random
import sys
import time

from mfmasim.errors import MfmasimError
from mfmasim.isa import decode, decode_range
from mfmasim.isa.family import family
from tests.isa import encode, encode_rdna


def corpus(arch, rounds):
    rdna = arch[:5] in encode_rdna.ENCODINGS
    forms_of = (encode_rdna if rdna else encode).forms_of
    rng = random.Random(1)
    code = b""
    for encoding, rows in family(arch).rows.items():
        for op, row in rows.items():
            for form in forms_of(encoding, row) * rounds:
                if rdna:
                    candidate = encode_rdna.random_code(rng, arch[:5], encoding, op, form, row)
                else:
                    candidate = encode.random_code(rng, encoding, op, form)
                try:
                    code += candidate[: decode(candidate, arch).size]
                except MfmasimError:
                    continue
    return code


def measure(arch):
    from mfmasim.isa import decoder

    code = corpus(arch, 8)
    decoder._CACHES.clear()
    rates = []
    for _ in range(2):
        start = time.perf_counter()
        count = len(decode_range(code, arch))
        rates.append(count / (time.perf_counter() - start))
    instructions = decode_range(code, arch)
    start = time.perf_counter()
    for instruction in instructions:
        assert instruction.text
    printing = len(instructions) / (time.perf_counter() - start)
    new, seen = rates
    print(f"{arch}: {count} instructions: decode {new:,.0f}/s new, {seen:,.0f}/s seen before, print {printing:,.0f}/s")
    print(f"ratio seen/new {seen / new:.1f}")


def main():
    for arch in sys.argv[1:] or ["gfx950", "gfx1151", "gfx1201"]:
        measure(arch)


if __name__ == "__main__":
    main()
