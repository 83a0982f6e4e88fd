"""Kinds of findings: those of verifying a case, and all kinds by their id."""

from __future__ import annotations

from mfmasim.devices.kinds import KINDS as OF_DEVICES
from mfmasim.errors import unknown
from mfmasim.observe.finding import Kind
from mfmasim.observe.fragments.kinds import MAPPING
from mfmasim.observe.registry import CHECKS

OF_CASES = (
    Kind(
        "outputs-differ", "error", "Outputs differ from the expected values",
        "From golden bits, the exact result, or the reference function; the message says which.",
        "C = a @ b without alpha",
        "Other findings of the case often name the cause; otherwise debug the first element.",
    ),
    Kind(
        "outputs-factor", "error", "A factor of the result is not applied",
        "Every element, or every wrong one, is what the declared expression gives with a factor of 1, or 0, in place "
        "of alpha or beta.",
        "C[i] = alpha * sum + C[i];  // beta is forgotten",
        "Multiply by the factor that the message names.",
    ),
    Kind(
        "outputs-saturated", "error", "Wrong results all have one magnitude, a limit",
        "A cast limits its numbers to another format's largest one, or takes numbers for too large that are not.",
        "fminf(x, 240.0f) before a cast to E4M3 of OCP, whose largest number is 448",
        "Take the limit of the output's format; let the hardware's conversion saturate.",
    ),
    Kind(
        "outputs-fp8-flavour", "error", "Results are off by a factor of 2 or 4, as between the flavours of FP8",
        "The exponent bias of FNUZ (gfx942) is one larger than that of OCP (gfx950, gfx12): the same code is half the "
        "number.",
        "e4m3fnuz codes of a cache of gfx942, converted as e4m3fn",
        "Convert in the flavour that the codes have.",
    ),
    Kind(
        "outputs-between-lines", "error", "The kernel wrote between the rows of C",
        "With a leading dimension larger than a row, the bytes between rows must not change.",
        "C[row * ld + col] = x;  // col reaches N",
        "Guard the columns.",
    ),
    Kind(
        "outputs-not-compared", "warning", "No expected values for C",
        "The case has no expect, so outputs are not compared.",
        "dict(grid=..., block=..., args=[a, b, c])",
        "Add expect to the case.",
    ),
    Kind(
        "outputs-unsteady", "error", "Outputs depend on memory that the kernel has not written",
        "On a GPU a recorded launch is done three times, with other contents of outputs, guard zones, LDS and vector "
        "registers; the results differ.",
        "C[i] += x;  // an output that the case does not fill",
        "Write before reading; the check uninitialised names the read on the simulator.",
    ),
    Kind(
        "proof-refuted", "error", "A size that the contract admits violates what was to be proved",
        "`mfmasim verify --prove` looked for a proof for all sizes, and the simulator found a size at which it fails; "
        "the message has the size and the command that replays it.",
        "a loop without its second barrier, whose case has the size of one turn",
        "Replay it with the command of the message, and mend what its finding says; or narrow needs=.",
    ),
    Kind(
        "formats-fp8-flavour", "warning", "An argument has the other flavour of FP8 than the kernel's instructions",
        "Found before anything runs, from the declared formats and the instructions of the code object.",
        'B("e4m3fn", (K, N)) for a kernel of gfx942 with v_mfma_f32_16x16x32_fp8_fp8',
        "Declare fp8 or bf8, which are the architecture's own, or convert the codes.",
    ),
    Kind(
        "inputs-changed", "error", "The kernel changed an input",
        "Memory declared as read-only differs after the launch.",
        "a[i] = 0.0f;",
        "Do not write to it, or declare it InOut.",
    ),
    Kind(
        "executes-missing", "error", "A required instruction was not executed",
        "The case requires patterns with executes=; the compiler chose other instructions, or the path was not taken.",
        'executes="v_mfma_f32_32x32x8.*" and a kernel built with plain multiplications',
        "Use the builtin, or correct the pattern.",
    ),
    Kind(
        "executes-unused", "error", "The results of a required instruction do not reach the output",
        "With s_nop in place of the instruction the outputs stay right, so that they are computed in another way. Only "
        "exercises (mfmasim learn) are checked for it.",
        "d = mfma(a, b, d); C[i] = A[i] * B[i];",
        "Store what the instruction computes.",
    ),
    Kind(
        "order-differs", "error", "The main loop has another order than declared",
        "The case declares with order= where reads, loads, waits and barriers stand between matrix instructions; the "
        "compiler moved some, or the source has another schedule.",
        'order="R4 F2 B lgkmcnt(0) M8" and a compiler that moves the reads behind the matrix instructions',
        "Keep the compiler from moving them (__builtin_amdgcn_sched_barrier), or correct the declaration.",
    ),
    Kind(
        "order-no-turn", "info", "No turn of the main loop was executed",
        "The shape is so small that the loop whose order the case declares is never entered: nothing was compared.",
        "K of one tile, which the code behind the loop takes",
        "Give the case a shape that takes the loop at least twice.",
    ),
    Kind(
        "source-asm-clobber", "warning", 'Inline assembly waits or synchronises without the clobber "memory"',
        "The compiler may move loads and stores across such a statement, a read of the LDS above the wait for the load "
        "that fills it. Whether this compiler does, the other checks show; the next one may.",
        'asm volatile("s_waitcnt vmcnt(0)");',
        'Write asm volatile("s_waitcnt vmcnt(0)" ::: "memory");',
    ),
    Kind(
        "source-asm-load", "warning", "Inline assembly loads, and nothing in the source waits",
        "The compiler counts no load of inline assembly. Whether its waits for other loads cover this one by accident, "
        "the check of waits shows; the next compiler, or the next change, may move them.",
        'asm volatile("ds_read_b64 %0, %1" : "=v"(x) : "v"(address));',
        'Wait in the same statement: asm volatile("ds_read_b64 %0, %1\\n s_waitcnt lgkmcnt(0)" : ...).',
    ),
    Kind(
        "skip-declared", "info", "The case is skipped on this architecture",
        "The case file declares it, with the reason.",
        'skip={"gfx942": "no FP4"}',
        "Nothing.",
    ),
    Kind(
        "case-wrong", "error", "The case cannot be run",
        "The contract does not hold, the source does not compile, or the simulator does not support an instruction.",
        "--set M=17 where the case needs M % 64 == 0",
        "The message says what is allowed.",
    ),
    Kind(
        "suppress-unused", "info", "A suppression matches nothing",
        "The case suppresses findings that do not occur, or no longer occur, on this architecture.",
        'suppress={"conflicts": "the epilogue only"} in a case without conflicts',
        "Remove it.",
    ),
    Kind(
        "fails-missing", "error", "A declared failure does not occur",
        "The case declares with fails= that its kernel is wrong, but what it names was not found.",
        'fails="barrier-uneven" for a kernel whose waves arrive alike',
        "Remove the declaration if the kernel is right; otherwise the kernel or the check has changed.",
    ),
)  # fmt: skip

KINDS = {
    kind.id: kind
    for kinds in (*(check.kinds for check in CHECKS.values()), MAPPING, OF_DEVICES, OF_CASES)
    for kind in kinds
}
"""Every kind by its id, check by check."""


def kind(name: str) -> Kind:
    """The kind with an id.

    Raises:
        MfmasimError: no kind has this id; the message names the nearest.
    """
    if name not in KINDS:
        raise unknown("finding id", name, KINDS)
    return KINDS[name]
