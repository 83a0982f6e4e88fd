"""Kinds of findings that devices make: launches that end early, printf, and the guard zones of a GPU."""

from __future__ import annotations

from mfmasim.observe.barriers import DEADLOCK
from mfmasim.observe.finding import Kind

__all__ = ["KINDS", "OVERWRITTEN", "PRINTF", "READ_ONLY", "STOPS"]

OVERWRITTEN = Kind(
    "guard-overwritten", "error", "Bytes around a buffer were written",
    "On a GPU every buffer lies between guard zones of poison; what is found changed there was written by the kernel, "
    "to an address outside its buffers.",
    "out[blockIdx.x * 256 + threadIdx.x] = x;  // the grid has more work-items than the buffer elements",
    "Run the same launch on the simulator: its bounds check names the instruction.",
)  # fmt: skip
READ_ONLY = Kind(
    "guard-read-only", "error", "A read-only array was written",
    "The array that was passed cannot be written to; the kernel changed its copy on the GPU.",
    "in[i] = 0;",
    "Write to a buffer of its own, or pass an array that may be written.",
)  # fmt: skip
BUDGET = Kind(
    "budget-exhausted", "error", "A wave executed more instructions than the budget",
    "Probably a loop without end.",
    "while (flag == 0);  // nobody sets it",
    "Correct the loop, or raise --budget.",
)  # fmt: skip
TRAP = Kind(
    "trap-executed", "error", "The kernel trapped",
    "s_trap was executed, as abort() and assert do.",
    "__builtin_trap();",
    "See which condition leads there.",
)  # fmt: skip
FETCH = Kind(
    "fetch-no-code", "error", "A wave left the code",
    "A jump, or the end of the code without s_endpgm.",
    "s_setpc_b64 s[4:5]  // s[4:5] holds no code address",
    "Correct the address that it jumps to.",
)  # fmt: skip
ENDED = Kind(
    "debugger-ended", "info", "The launch was ended by hand",
    "A breakpoint's function returned False.",
    "debugger.break_at(31, lambda stop: False)",
    "Nothing.",
)  # fmt: skip
PRINTF = Kind(
    "printf-wrong", "warning", "printf could not be followed",
    "Its buffer was full or its format wrong.",
    'printf("%s", number);',
    "Print less, or correct the format.",
)  # fmt: skip

KINDS = (OVERWRITTEN, READ_ONLY, BUDGET, TRAP, FETCH, ENDED, PRINTF)

STOPS = {kind.check: kind for kind in (BUDGET, TRAP, FETCH, ENDED, DEADLOCK)}
"""The kind of a launch that ended early, by the check in whose name the machine stops it."""
