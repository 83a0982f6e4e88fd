"""Valid encodings of every opcode row in every form, drawn until the decoder takes enough of them.

Their unread fields are zero: `test_isa_unread.py` sets them.
"""

from __future__ import annotations

import random

from mfmasim.errors import MfmasimError
from mfmasim.isa import decode
from mfmasim.isa.family import family


def samples_of(arch, wave, forms_of, draw, per_form, tries, raw_tries, seed=7):
    """Random codes that decode, and raw ones beside them.

    Args:
        arch: architecture.
        wave: lanes of a wave; None is the architecture's own.
        forms_of: forms of an encoding's row.
        draw: (random, encoding, opcode, form, row) to bytes.
        per_form: how many are wanted of each row and form.
        tries: draws after which a row without any fails.
        seed: of the draws.
        raw_tries: of how many draws of each row and form the bytes are kept, whether they decode or not.

    Returns:
        (row, encoding, form, code, instruction) of those that decode, and the raw codes.
    """
    rng = random.Random(seed)
    ours, raw = [], []
    for encoding, rows in family(arch, wave).rows.items():
        for op, row in rows.items():
            for form in forms_of(encoding, row):
                found = 0
                for attempt in range(tries):
                    code = draw(rng, encoding, op, form, row)
                    if attempt < raw_tries:
                        raw.append(code)
                    try:
                        instruction = decode(code, arch, wave=wave)
                    except MfmasimError:
                        continue
                    if instruction.ignored:
                        continue
                    ours.append((row, encoding, form, code[: instruction.size], instruction))
                    found += 1
                    if found == per_form:
                        break
                assert found, f"no encoding of {row.name} {form} was found in {tries} tries"
    return ours, raw
