"""Make the table of docs/device-math.md: ``python -m docs.make_device_math [arguments per function]``."""

import re
import sys

import mfmasim
from docs import DOCS
from tests.toolchain.mathematics import GROUP_OF, ROWS, measure

PAGE = DOCS / "device-math.md"
ARCH = "gfx942"
BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"


def table(count):
    """One line a function: domain, worst error found and bound for both precisions."""
    source = DOCS.parent / "tests" / "toolchain" / "sources" / "mathematics.hip"
    codes = {
        group: mfmasim.compile(source, ARCH, compiler="ziglang", flags=[f"-DGROUP={group}"])
        for group in sorted(set(GROUP_OF.values()))
    }
    lines = ["| function | arguments | f64 found | f64 bound | f32 found | f32 bound |", "|---|---|---|---|---|---|"]
    for row in ROWS:
        wide, single = (measure(codes[GROUP_OF[row.name]], row, size, count)[0] for size in ("f64", "f32"))
        # Rounded up in the second place.
        lines.append(
            f"| `{row.name}` | {row.domain.replace('|', chr(92) + '|')} | {wide + 0.005:.2f} | {row.f64} "
            f"| {single + 0.005:.2f} | {row.f32} |"
        )
        print(lines[-1], file=sys.stderr)
    return f"Largest errors found on {ARCH} among {count:,} arguments each.\n\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    made = table(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
    text = PAGE.read_text()
    place = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    PAGE.write_text(place.sub(lambda _: BEGIN + made + END, text))
