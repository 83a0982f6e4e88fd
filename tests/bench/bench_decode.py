"""How fast code decodes: `python tests/bench/bench_decode.py`. Prints instructions per second, first and again."""

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "isa"))

from encode import forms_of, random_code

from mfmasim.errors import MfmasimError
from mfmasim.isa import decode, decode_range
from mfmasim.isa.family import family


def corpus(arch, rounds):
    rng = random.Random(1)
    code = b""
    for encoding, rows in family(arch).rows.items():
        for op, row in rows.items():
            for form in forms_of(encoding, row) * rounds:
                candidate = random_code(rng, encoding, op, form)
                try:
                    code += candidate[: decode(candidate, arch).size]
                except MfmasimError:
                    continue
    return code


def main():
    from mfmasim.isa import decoder

    code = corpus("gfx950", 8)
    decoder._CACHES.clear()
    rates = []
    for _ in range(2):
        start = time.perf_counter()
        count = len(decode_range(code, "gfx950"))
        rates.append(count / (time.perf_counter() - start))
    instructions = decode_range(code, "gfx950")
    start = time.perf_counter()
    for instruction in instructions:
        assert instruction.text
    printing = len(instructions) / (time.perf_counter() - start)
    print(f"{count} instructions: decode {rates[0]:,.0f}/s new, {rates[1]:,.0f}/s seen before, print {printing:,.0f}/s")
    print(f"ratio seen/new {rates[1] / rates[0]:.1f}")


if __name__ == "__main__":
    main()
