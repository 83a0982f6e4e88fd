"""Count which rows of wait states AMD's own kernels break: the evidence in `mfmasim/isa/hazards/shipped.py`.

    python -m tests.isa.count_hazards AITER=FOLDER hipBLASLt=FOLDER     # their code objects, .co, in any depth

Every kernel is walked from top to bottom as it stands, across conditional branches that are not taken, so that the
counts are lower bounds. An object counts once for each row, with the fewest wait states that it has anywhere between
two instructions; wait states that the hardware adds are among them.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.isa.hazards import rows, table_of
from mfmasim.isa.hazards.follow import Follower, State
from mfmasim.isa.hazards.shipped import SHIPPED
from mfmasim.machine.opcodes.matrix import passes

TARGET = Path(mfmasim.__file__).parent / "isa" / "hazards" / "shipped.py"


@cache
def follower(arch: str, wave: int) -> Follower:
    """The rows of an architecture."""
    found = mfmasim.arch(arch)
    return Follower(rows(found), found, wave, passes)


def broken(code: mfmasim.Code) -> dict[tuple[str, str, str], int]:
    """Rows that an object breaks, and the fewest wait states between two of their instructions."""
    least: dict[tuple[str, str, str], int] = {}

    def note(found):
        if not found.covered:
            key = found.row.first, found.row.second, found.row.link
            least[key] = min(found.present + found.stalled, least.get(key, found.needs))

    for name in code.kernels:
        kernel = code[name]
        rules, state = follower(kernel.arch.name, kernel.wave), State()
        for instruction in kernel.decodable:
            state = rules.step(state, instruction, note)
            if not instruction.opcode.goes_on:
                state = State()
    return least


def examine(path: Path) -> tuple[str, dict[tuple[str, str, str], int], str]:
    """Table of an object's architecture and what it breaks, or why it could not be read."""
    try:
        code = mfmasim.load(path)
        return table_of(code.arch), broken(code), ""
    except MfmasimError as error:
        return "", {}, f"{path}: {error}"


def count(folder: str) -> dict[str, tuple[int, dict]]:
    """Objects of a library by table, and what they break."""
    objects: Counter[str] = Counter()
    counts: dict[str, dict] = defaultdict(lambda: defaultdict(Counter))
    names = []
    paths = sorted(Path(folder).rglob("*.co"))
    with ProcessPoolExecutor(2) as pool:
        for path, (encoding, least, error) in zip(paths, pool.map(examine, paths, chunksize=8), strict=True):
            if error:
                print(error)
                continue
            objects[encoding] += 1
            for key, present in least.items():
                counts[encoding][key][present] += 1
                names.append((*key, present, str(path.relative_to(folder))))
    for name in sorted(names):
        print(*name, sep="; ")
    return {encoding: (objects[encoding], counts[encoding]) for encoding in objects}


def main(given: list[str]) -> None:
    """Count the libraries that are given, and write the module; what it says of others stays."""
    tables: dict[str, dict] = {encoding: dict(libraries) for encoding, libraries in SHIPPED.items()}
    for library, _, folder in (word.partition("=") for word in given):
        for encoding, counted in count(folder).items():
            tables.setdefault(encoding, {})[library] = counted
    lines = []
    for encoding in sorted(tables):
        start = f'    "{encoding}": {{'
        for library, (objects, rules) in sorted(tables[encoding].items()):
            lines.append(f'{start}"{library}": ({objects}, {{')
            for key, found in sorted(rules.items()):
                lines.append(f"        {json.dumps(key)[1:-1].join('()')}: {dict(sorted(found.items()))},")
            start = "    }), "
        lines.append("    })},")
    head = TARGET.read_text().partition("] = {\n")[0] + "] = {\n"
    TARGET.write_text(head + "\n".join(lines) + "\n}  # fmt: skip\n")


if __name__ == "__main__":
    main(sys.argv[1:])
