"""Count which rows of wait states AMD's prebuilt kernels break: the evidence in `mfmasim/isa/hazards/shipped.py`.

    python -m tests.isa.count_hazards FOLDER     # the folder hsa of a checkout of ROCm/aiter

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
from mfmasim.isa.hazards import rows
from mfmasim.isa.hazards.follow import Follower, State
from mfmasim.machine.opcodes.matrix import passes

TARGET = Path(mfmasim.__file__).parent / "isa" / "hazards" / "shipped.py"
HEAD = '''"""How closely AMD's prebuilt kernels (ROCm/aiter, hsa/) follow the rows; made by tests/isa/count_hazards.py.

By encoding: how many objects were walked, and of each row that any of them breaks how many objects have which number of
wait states somewhere, and none smaller. The kernels are in production use.
"""

from __future__ import annotations

__all__ = ["SHIPPED"]

#   first, second, link: {present: objects}
SHIPPED: dict[str, tuple[int, dict[tuple[str, str, str], dict[int, int]]]] = {
'''


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
    """Encoding of an object and what it breaks, or why it could not be read."""
    try:
        code = mfmasim.load(path)
        return code.arch.encoding, broken(code), ""
    except MfmasimError as error:
        return "", {}, f"{path}: {error}"


def main(folder: str) -> None:
    """Count, and write the module."""
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
    lines = []
    for encoding in sorted(objects):
        lines.append(f'    "{encoding}": ({objects[encoding]}, {{')
        for key, found in sorted(counts[encoding].items()):
            lines.append(f"        {json.dumps(key)[1:-1].join('()')}: {dict(sorted(found.items()))},")
        lines.append("    }),")
    TARGET.write_text(HEAD + "\n".join(lines) + "\n}  # fmt: skip\n")
    for name in sorted(names):
        print(*name, sep="; ")


if __name__ == "__main__":
    main(sys.argv[1])
