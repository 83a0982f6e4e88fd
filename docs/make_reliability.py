"""Fill in the tables of docs/reliability.md from constants and the record of the fuzzer."""

import importlib
import json

from docs import DOCS

PAGE = DOCS / "reliability.md"

# What, module, constant, unit, what changes it.
LIMITS = (
    ("wave-instructions of a launch", "machine.launch.quota", "INSTRUCTIONS", "", "`--max-instructions`"),
    ("faults of a wave at one instruction", "machine.launch.quota", "FAULTS", "", "`--max-faults`"),
    ("instructions of one wave", "machine.execution.run", "BUDGET", "", "`--budget`, `launch(budget=)`"),
    ("instructions for which one wave runs while another waits", "machine.execution.run", "PATIENCE", "", ""),
    ("waves in flight", "machine.execution.run", "WAVES", "", "`--max-waves`, `launch(max_waves=)`"),
    ("the same of a kernel with matrix instructions", "machine.execution.run", "MATRIX_WAVES", "", "`--max-waves`"),
    ("registers, LDS, scratch of waves in flight", "machine.execution.run", "BATCH_BYTES", "bytes", "`--max-waves`"),
    ("workgroups in x, y, z", "machine.launch.limits", "GRID_LIMIT", "", ""),
    ("work-items in one dimension", "machine.launch.limits", "WORK_ITEMS_LIMIT", "", ""),
    ("workgroups of a launch whose order is chosen", "devices.sim", "SCHEDULED_WORKGROUPS", "", ""),
    ("scratch of a work-item", "machine.launch.limits", "SCRATCH_LIMIT", "bytes", ""),
    ("kernel arguments", "codeobject.metadata", "KERNARG_LIMIT", "bytes", ""),
    ("output of `printf` of a launch", "machine.launch.printf", "PRINTF_BYTES", "bytes", ""),
    ("records of the check `races`", "observe.ordering.history", "MOST", "", ""),
    ("knowledge of the check `races`", "observe.ordering.history", "KNOWLEDGE_BYTES", "bytes", ""),
    ("pairs of accesses that the check `races` goes through", "observe.ordering.pairs", "MOST", "", ""),
    ("one buffer of `mfmasim run`", "cli.run_arguments", "LARGEST_BUFFER", "bytes", ""),
    ("workers of `mfmasim run`", "cli.run", "MOST_WORKERS", "", ""),
    ("processes of `verify`, `report`, `mutate`, `explore` and `golden`", "cli.jobs", "MOST_JOBS", "", "`--jobs`"),
    ("file with code objects", "codeobject.reader", "FILE_LIMIT", "bytes", ""),
    ("source file that is listed with counts", "devices.coverage", "SOURCE_BYTES", "bytes", ""),
    ("image of a code object in memory", "codeobject.elf", "IMAGE_LIMIT", "bytes", ""),
    ("decompressed offload bundle", "codeobject.compressed", "LIMIT", "bytes", ""),
    ("one decompressed section of debug information", "codeobject.lines", "_SECTION_LIMIT", "bytes", ""),
    ("steps of the line programs of a file", "codeobject.lines", "_STEPS", "", ""),
    ("rows of the line table of a file", "codeobject.lines", "_ROWS", "", ""),
    ("file names of a line program", "codeobject.lines_header", "_NAMES_LIMIT", "bytes", ""),
    ("metadata note of version 2", "codeobject.version2", "_NOTE_LIMIT", "bytes", ""),
    ("file of arrays, packed and unpacked", "archives", "LIMIT", "bytes", ""),
    ("arrays of an archive", "archives", "_MEMBERS", "", ""),
    ("levels of a capture's description", "lab.agreement.capture", "_DEEPEST", "", ""),
    ("decoded instructions that are kept, per architecture and wave size", "isa.decoder", "_MOST_CACHED", "", ""),
    ("code object in the memory of a program on the simulated runtime", "hiprt.words", "IMAGE_BYTES", "bytes", ""),
    ("one run of the compiler", "toolchain.compilers", "TIMEOUT_SECONDS", "seconds", "`MFMASIM_COMPILE_SECONDS`"),
)


def number(value, unit):
    """A constant as text."""
    if isinstance(value, tuple):
        return ", ".join(f"{one:,}" for one in value)
    return f"{value:,.0f} {unit}".strip()


def limits():
    """The table of limits."""
    yield "| limit | value | changed by | constant |"
    yield "|---|---|---|---|"
    for what, module, name, unit, how in LIMITS:
        value = getattr(importlib.import_module(f"mfmasim.{module}"), name)
        yield f"| {what} | {number(value, unit)} | {how or '–'} | `{module}.{name}` |"


def counts():
    """The table of what the fuzzer tried."""
    from tests.fuzz import corpus
    from tests.fuzz.surfaces import SURFACES

    record = json.loads((corpus.FOLDER / "record.json").read_text())
    yield "| surface | what | inputs tried | minutes of CPU | branches reached | corpus |"
    yield "|---|---|---|---|---|---|"
    for name, surface in SURFACES.items():
        row = record.get(name, NOTHING)
        minutes = f"{row['seconds'] / 60:.1f}"
        held = len(corpus.inputs(name))
        yield f"| `{name}` | {surface.about} | {row['inputs']:,} | {minutes} | {row['branches']:,} | {held} |"
    total = [sum(row[key] for row in record.values()) for key in ("inputs", "seconds")]
    held = sum(len(corpus.inputs(name)) for name in SURFACES)
    yield f"| all | | {total[0]:,} | {total[1] / 60:.1f} | | {held} |"


NOTHING = {"inputs": 0, "seconds": 0, "branches": 0}
TABLES = {"limits": limits, "counts": counts}


def page():
    """The page with its tables as they should be."""
    text = PAGE.read_text()
    for name, rows in TABLES.items():
        table = "\n".join(rows())
        before, start, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        assert start
        assert end
        text = f"{before}{start}{table}\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
