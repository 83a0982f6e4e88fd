"""What the page's script answers, as hashes, and the same from the library."""

import hashlib
from functools import cache
from itertools import zip_longest

import numpy as np

from mfmasim.architectures import ARCHITECTURES
from mfmasim.errors import MfmasimError
from mfmasim.lds import conflicts, ds_instructions
from mfmasim.lds.instructions import ds_instruction
from mfmasim.matrix import instruction, instructions
from mfmasim.matrix.catalogue import format_choices
from mfmasim.matrix.request import Modes

SCRIPT = """async ([call, asked]) => {
  const parts = [];
  for (const given of asked) parts.push(Int32Array.from(window.mfmasim[call](...given)));
  const every = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let next = 0;
  for (const part of parts) { every.set(part, next); next += part.length; }
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", every.buffer));
  return [...found].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}"""

MODES = [
    *({"cbsz": size, "abid": block} for size in (1, 2, 3, 4) for block in (0, 1, 3, 7)),
    *({"abid": number} for number in (1, 2, 3, 7)),
    *({"blgp": number} for number in range(1, 8)),
    *({"op_sel": number} for number in (1, 3, 4)),
    *({"scale_a_byte": a, "scale_b_byte": b} for a, b in ((1, 0), (0, 2), (3, 3))),
    *({"scale_a_row": a, "scale_b_row": b} for a, b in ((1, 0), (0, 1))),
    *({"scale_a_format": a, "scale_b_format": b} for a, b in ((1, 1), (2, 2))),
    {"neg": 1},
]
"""Modifiers; those that an instruction does not take are left out."""


def of_page(page, call, asked):
    """Hash of the numbers that a function of the page gives for all arguments."""
    return page.evaluate(SCRIPT, [call, asked])


def of_arrays(arrays):
    """The same of arrays."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(found, "<i4").tobytes() for found in arrays)).hexdigest()


@cache
def places(arch):
    """Arguments of `table` for every instruction, format, wave size and modifier; and the library's answers."""
    target, asked, answers = ARCHITECTURES[arch], [], []
    for name in instructions(arch):
        row = instruction(arch, name).row
        choices = format_choices(row.a, target), format_choices(row.b, target)
        for wave in target.wave_sizes:
            for a, b in zip_longest(*choices, fillvalue=choices[1][0]):
                op = instruction(arch, name, a, b, wave)
                for modes in [{}, *MODES]:
                    try:
                        fragments = op.under(Modes(**modes))
                    except MfmasimError:
                        continue
                    for operand, fragment in fragments.items():
                        if not modes or fragment is not op.operands[operand]:
                            asked.append([arch, name, operand, {"a": a, "b": b, "wave": wave, **modes}])
                            answers.append(fragment.table().view(np.int32))
    return asked, answers


@cache
def accesses(arch):
    """Arguments of `conflicts` for one instruction of every kind of access of an architecture; and its answers.

    The patterns tell apart the number of banks (strides at and around 128 and 256 bytes) and the lanes of the phases
    (random addresses, whose conflicts depend on which lanes meet).
    """
    target, asked, answers = ARCHITECTURES[arch], [], []
    kinds = {
        (row.row, row.size, row.stride): row for row in (ds_instruction(arch, name) for name in ds_instructions(arch))
    }
    for row in kinds.values():
        name = row.name
        offset = (1, 3) if row.parts == 2 else 16
        for wave in target.wave_sizes:
            lane = np.arange(wave)
            random = np.random.default_rng([wave, row.size]).integers(0, 1024, wave) * row.alignment
            patterns = (lane * row.size, lane * 128, lane * 256, lane * 132, lane // 2 * 64, random, random // 3 + 1)
            for number, pattern in enumerate(patterns):
                active = lane % 3 != 1 if number == 5 else np.ones(wave, bool)
                asked.append([arch, name, pattern.tolist(), {"offset": offset, "active": active.tolist()}])
                answers.append(conflicts(arch, name, pattern, active, offset=offset, warn=False).degrees)
    return asked, answers
