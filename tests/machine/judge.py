"""Probes through both interpreters: what differs, what was refused, how much was compared."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mfmasim.errors import MfmasimError
from tests.machine import frame, harness
from tests.slow.machine.interpreter import ALIASES
from tests.slow.machine.vector_alu import VECTOR


@dataclass
class Verdict:
    """Outcome of a set of probes."""

    compared: int = 0
    """Dwords of probe results, over all work-items."""
    names: set[str] = field(default_factory=set)
    """Operations whose results were compared."""
    refused: dict[str, str] = field(default_factory=dict)
    """Line to the reason for which the machine stopped."""
    differences: list[str] = field(default_factory=list)


def _is_instruction(line):
    text = line.strip()
    return bool(text) and not text.endswith(":")


def _refused_line(body, program, error):
    """The source line at the address that an error names."""
    address = int(re.search(r" at (0x[0-9a-f]+) \(bytes", str(error))[1], 16)
    lines = [line.strip() for line in body.splitlines() if _is_instruction(line)]
    order = [ins.pc for ins in program.instructions]
    assert len(lines) == len(order), "a line of the frame is not one instruction"
    return lines[order.index(address)]


def judge(probes, arch, data, *, strict_nan=False):
    """Run probes on both and compare every dword they left."""
    verdict = Verdict()
    pending = list(probes)
    while pending:
        left = []
        for body, places in frame.programs(pending, arch):
            program = harness.kernel(body, arch, "pppp", lds=frame.LDS_BYTES, extra=frame.PRIVATE)
            try:
                outcome = harness.both(program, frame.GROUPS, frame.ITEMS, data, lds_bytes=frame.LDS_BYTES, arch=arch)
            except MfmasimError as error:
                if "supported" not in str(error):
                    raise
                line = _refused_line(body, program, error)
                mine = list({id(p): p for p in places}.values())
                kept = [p for p in mine if p.line != line]
                if len(kept) == len(mine):
                    raise  # a line of the frame itself
                verdict.refused[line] = str(error)
                left += kept
                continue
            _compare(verdict, outcome, places, strict_nan=strict_nan)
        pending = left
    return verdict


_NAN = {
    # result kind: (exponent, fraction) masks of the dword that tells
    "f32": (0x7F800000, 0x007FFFFF),
    "f16": (0x7C00, 0x3FF),
    "f64": (0x7FF00000, 0x000FFFFF),
}


def _are_nans(name, *dwords):
    """Whether a float operation gave a NaN on both sides: which one is a rule of its own, tested apart."""
    kind = VECTOR.get(ALIASES.get(name, name), ((), ("",)))[1][0]
    if kind not in _NAN:
        return False
    exponent, fraction = _NAN[kind]
    return all(int(x) & exponent == exponent and int(x) & fraction for x in dwords)


def _compare(verdict, outcome, places, *, strict_nan=False):
    verdict.compared += len(places) * frame.ITEMS * frame.GROUPS
    verdict.names |= {probe.name for probe in places}
    seen = {}
    for argument, place in outcome.different():
        item, slot = divmod(place, outcome.fast[argument].size // (frame.ITEMS * frame.GROUPS))
        if argument == 3 and slot < len(places) and not strict_nan:
            pair = [
                side[3].reshape(frame.ITEMS * frame.GROUPS, -1)[item, slot] for side in (outcome.fast, outcome.slow)
            ]
            if _are_nans(places[slot].name, *pair):
                continue
        key = id(places[slot]) if argument == 3 and slot < len(places) else argument
        seen.setdefault(key, []).append((argument, item, slot))
    for found in seen.values():
        argument, item, slot = found[0]
        got, wanted = (
            side[argument].reshape(frame.ITEMS * frame.GROUPS, -1)[item, slot] for side in (outcome.fast, outcome.slow)
        )
        what = "memory" if argument != 3 else f"{places[slot].line}  result {slot - places.index(places[slot])}"
        verdict.differences.append(
            f"{what}: item {item} got {got:08x}, expected {wanted:08x}; {len(found)} dwords differ"
        )
