"""The verbs in their groups, the spellings of 0.1, and the words for a verb's module."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "mfmasim.verbs"
"""Entry points by which other packages add verbs: the name of a verb, and a module with `add` and `run`."""
GROUPS = {
    "look": ("list", "show", "lds", "explorer", "inspect"),
    "prove": ("verify", "prove", "explore", "mutate", "why", "explain", "report", "cost", "compare", "sweep"),
    "run": ("run", "debug", "hiprt", "hipcc", "triton", "learn", "mcp"),
    "gpu": ("gpu", "doctor", "completion"),
}
"""Verbs by group, in the order of the help; each is a module of this package with `add` and `run`."""
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)

FIRST = {
    "list": "architectures, products, and their matrix instructions",
    "show": "an instruction, an element of it, a number format, a product",
    "lds": "bank conflicts of an access; lds find, lds prove: swizzles; lds grid: maps of workgroups",
    "inspect": "what a code object, program, HIP source or case holds, and what of it cannot run",
    "verify": "run kernels at the sizes of their cases: outputs, fragments, races, waits, bounds, LDS",
    "prove": "bounds, races, waits and bank conflicts for all sizes, without running them",
    "explore": "run at drawn sizes and inputs, and shrink what fails",
    "mutate": "would the checks detect an error? wrong variants of a kernel",
    "why": "why an element has its value: products, lanes, registers, LDS bytes, lines, inputs",
    "report": "what a kernel executed: instructions, LDS by line, traffic, occupancy",
    "cost": "bounds of each pipe, and a timeline",
    "run": "one kernel with arguments of the command line; traces and a page to step through",
    "debug": "step through a launch, also backwards; who wrote a value",
    "hiprt": "a HIP program of your own, without a GPU",
    "triton": "a Triton program, without a GPU",
    "gpu": "what needs a GPU: gpu golden, gpu calibrate, gpu kit",
}
"""What the first screen says of sixteen verbs."""
ALSO = {
    "explorer": "all of that in a browser",
    "explain": "a finding",
    "compare": "two sides of a case",
    "sweep": "a folder of code objects",
    "hipcc": "compiles for hiprt",
    "learn": "a course of exercises",
    "mcp": "a server for agents",
    "doctor": "what is installed",
    "completion": "of words in your shell",
}
"""The other verbs, which share a line at the end of their group."""

ROUTES = {
    ("lds", "find"): ("swizzle", ()),
    ("lds", "prove"): ("swizzle", ("--check",)),
    ("lds", "swizzles"): ("swizzle", ("--list",)),
    ("lds", "grid"): ("grid", ()),
}
"""Two words of the command line: the module that reads the rest, and what is put before it."""

MOVED = {
    "swizzle": "lds find, lds prove NAME, or lds swizzles",
    "where": "show",
    "format": "show",
    "grid": "lds grid",
    "unsupported": "inspect --brief",
    "golden": "gpu golden",
    "calibrate": "gpu calibrate",
    "kit": "gpu kit",
}
"""Spellings of 0.1 that work for one release, and what to write instead."""
MODULES = {"unsupported": "inspect"}
"""Modules of moved verbs that have another name."""


@cache
def joined() -> dict[str, EntryPoint]:
    """Verbs of other installed packages, by name; a verb of mfmasim's own name is left out."""
    from importlib.metadata import entry_points  # takes 10 ms, which a verb of mfmasim does not need

    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
    return {entry.name: entry for entry in found if entry.name not in {*VERBS, *MOVED}}


def module_of(verb: str) -> Any:
    """The module of a verb, with `add`, which registers its parser, and `run`, which gives the exit code.

    Raises:
        MfmasimError: the verb of another package cannot be imported, or lacks one of the two.
    """
    entry = None if verb in {*VERBS, *MOVED} else joined().get(verb)
    if entry is None:
        return importlib.import_module(f"mfmasim.cli.{verb}")
    package = entry.dist.name if entry.dist else entry.value
    try:
        found = entry.load()
    except Exception as error:  # noqa: BLE001 (code of others)
        raise MfmasimError(f"verb {verb!r} of {package}: {entry.value} cannot be imported: {one_line(error)}") from None
    if lacking := [name for name in ("add", "run") if not callable(getattr(found, name, None))]:
        raise MfmasimError(f"verb {verb!r} of {package}: {entry.value} has no function {lacking[0]!r}")
    return found


def first_screen() -> str:
    """The first screen of ``mfmasim --help``."""
    lines = [
        "usage: mfmasim VERB ...",
        "",
        "Run the code object an AMD GPU would run, bit for bit, and prove its matrix fragments and outputs.",
        "Start with: mfmasim verify intro (kernels of the package), then mfmasim verify my_case.py (your own).",
    ]
    for group, verbs in GROUPS.items():
        shown = [verb for verb in verbs if verb in FIRST]
        lines += ["", *(f"{group if verb == shown[0] else '':<7}{verb:<10}{FIRST[verb]}" for verb in shown)]
        others = "; ".join(f"{verb} ({ALSO[verb]})" for verb in verbs if verb in ALSO)
        lines += [f"{'':<7}{'also':<10}{others}"]
    if joined():
        lines += ["", f"verbs of other packages: {', '.join(joined())}"]
    return "\n".join([*lines, "", "mfmasim help VERB: options and examples of one of them; mfmasim -V: the version."])
