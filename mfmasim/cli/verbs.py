"""The verbs in their groups, the spellings of 0.1, and the words that stand for a verb's module."""

from __future__ import annotations

from textwrap import wrap

GROUPS = {
    "look": ("list", "show", "lds", "explorer", "inspect"),
    "prove": ("verify", "report", "cost", "mutate", "why", "compare", "explore", "prove", "explain"),
    "run": ("run", "debug", "hiprt", "triton", "learn", "hipcc"),
    "gpu": ("gpu", "doctor"),
}
"""Verbs by group, in the order of the help; each is a module of this package with `add` and `run`."""
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)

LATER = ("mutate", "compare", "explore", "prove", "explain", "hipcc")
"""Verbs that the first screen only names: it shows at most sixteen."""
FIRST = {
    "list": "architectures, products, and their matrix instructions",
    "show": "an instruction, an element of it, a number format, a product",
    "lds": "bank conflicts of an access; lds find, lds prove: swizzles; lds grid: maps of workgroups",
    "explorer": "all of that as one page for a browser",
    "inspect": "what a code object, program or HIP source holds, and what of it cannot run",
    "verify": "kernels against their cases: outputs, fragments, races, waits, bounds, LDS",
    "report": "what a kernel executed: instructions, LDS by line, traffic, occupancy",
    "cost": "bounds of each pipe, and a timeline",
    "why": "why an element has its value: products, lanes, registers, LDS bytes, lines, inputs",
    "run": "one kernel with arguments of the command line; traces and a page to step through",
    "debug": "step through a launch, also backwards; who wrote a value",
    "hiprt": "a HIP program of your own, without a GPU",
    "triton": "a Triton program, without a GPU",
    "learn": "a course of exercises",
    "gpu": "what needs a GPU: gpu golden, gpu calibrate, gpu kit",
    "doctor": "what is installed, and what is missing",
}
"""What the first screen says of each verb."""

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


def first_screen() -> str:
    """The first screen of ``mfmasim --help``."""
    lines = [
        "usage: mfmasim VERB ...",
        "",
        "Run the code object an AMD GPU would run, bit for bit, and prove its matrix fragments and outputs.",
        "Start with: mfmasim verify intro (kernels of the package), then mfmasim verify my_case.py (your own).",
    ]
    for group, verbs in GROUPS.items():
        shown = [verb for verb in verbs if verb not in LATER]
        lines += ["", *(f"{group if verb == shown[0] else '':<7}{verb:<10}{FIRST[verb]}" for verb in shown)]
    rest = f"Further: {', '.join(LATER)}. mfmasim VERB --help: one of them; mfmasim --version."
    lines += ["", *wrap(rest, 110)]
    return "\n".join(lines)
