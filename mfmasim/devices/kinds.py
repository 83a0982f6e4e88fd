"""Kinds of findings of devices: launches that end early, printf, and the guard zones of a GPU."""

from __future__ import annotations

from mfmasim.observe.barriers import DEADLOCK
from mfmasim.observe.finding import Kind

OVERWRITTEN = Kind(
    "guard-overwritten",
    "error",
    "Bytes around a buffer were written",
    "On a GPU every buffer lies between guard zones of poison; a change there was made by the kernel, at an address "
    "outside its buffers.",
    "out[blockIdx.x * 256 + threadIdx.x] = x;  // the grid has more work-items than the buffer elements",
    "Run the same launch on the simulator: its bounds check names the instruction.",
)
READ_ONLY = Kind(
    "guard-read-only",
    "error",
    "A read-only array was written",
    "The array passed is not writable; the kernel changed its copy on the GPU.",
    "in[i] = 0;",
    "Write to a separate buffer, or pass a writable array.",
)
BUDGET = Kind(
    "budget-exhausted",
    "error",
    "A wave executed more instructions than the budget",
    "Probably an endless loop that writes memory or counts; one that repeats the same state is found as such.",
    "while (flag == 0) i++;  // flag is never set",
    "Correct the loop, or raise --budget.",
)
ENDLESS = Kind(
    "endless-loop",
    "error",
    "A loop that never ends",
    "The waves are in the same state again, and none of them has written memory: they repeat this forever, unless "
    "something outside of the launch writes what they read.",
    "while (*flag == 0);  // flag is never set",
    "Correct the condition, or launch what sets it.",
)
QUOTA = Kind(
    "quota-exhausted",
    "error",
    "The launch used up a quota of the caller",
    "More wave-instructions or seconds than a launch may take; outputs are incomplete.",
    "kernel<<<1 << 31, 64>>>(...);  // with --max-seconds 10",
    "Launch less, or raise the quota.",
)
FAULTS = Kind(
    "faults-repeated",
    "error",
    "An instruction of a wave was outside every buffer again and again",
    "A GPU ends the process at the first memory fault; here the wave goes on to the limit (1,000 executions of one "
    "instruction). Often a loop counter has wrapped, so that the loop turns billions of times.",
    "s_sub_u32 s4, s4, 1; s_cmp_lg_u32 s4, 0; s_cbranch_scc1 L  // s4 was 0",
    "Correct what the check bounds reports first; --max-faults changes the limit.",
)
TRAP = Kind(
    "trap-executed",
    "error",
    "The kernel trapped",
    "s_trap was executed, as abort() and assert do.",
    "__builtin_trap();",
    "Find the condition that leads there.",
)
FETCH = Kind(
    "fetch-no-code",
    "error",
    "A wave left the code",
    "A jump outside the code, or code that ends without s_endpgm.",
    "s_setpc_b64 s[4:5]  // s[4:5] holds no code address",
    "Correct the target address.",
)
ENDED = Kind(
    "debugger-ended",
    "info",
    "The launch was ended by the debugger",
    "A breakpoint's function returned False.",
    "debugger.break_at(31, lambda stop: False)",
    "Nothing.",
)
TENSOR = Kind(
    "tensor-descriptor",
    "error",
    "A tensor descriptor that the manual does not allow",
    "A reserved bit or a field that has to hold a certain value; what the hardware would move is not known.",
    "group0 = {0, lds, address, address >> 32};  // type is not 2",
    "Set the field that the message names.",
)
PRINTF = Kind(
    "printf-wrong",
    "warning",
    "printf output could not be decoded",
    "Its buffer was full or its format is wrong.",
    'printf("%s", number);',
    "Print less, or correct the format.",
)

STREAMS_RACE = Kind(
    "streams-race",
    "error",
    "Two streams touch the same bytes in no order",
    "Copies, fills or kernels of different streams, of which one writes. The simulated runtime completes every call at "
    "once, so that values are right here; on hardware both run at the same time.",
    "fill<<<1, 64, 0, s>>>(p); twice<<<1, 64, 0, t>>>(q, p);",
    "Record an event after the one, hipEventRecord(e, s), and let the other wait, hipStreamWaitEvent(t, e, 0).",
)
STREAMS_HOST = Kind(
    "streams-host",
    "error",
    "The host touches memory that work in flight touches",
    "Pinned or managed memory that a copy or a kernel writes, or reads while the host writes it, before a call that "
    "waits for it.",
    'hipMemcpyAsync(pinned, p, 64, hipMemcpyDeviceToHost, s); printf("%d", pinned[0]);',
    "Call hipStreamSynchronize, hipEventSynchronize or hipDeviceSynchronize before the access.",
)
STREAMS_FREED = Kind(
    "streams-freed",
    "error",
    "Memory is freed, or used, while its allocation or end is in flight on another stream",
    "hipMallocAsync and hipFreeAsync take effect in the order of their stream.",
    "scale<<<1, 64, 0, s>>>(p); hipFreeAsync(p, t);",
    "Free in the stream that uses the memory, or let the other stream wait for an event of it.",
)
LAUNCH_FAILED = Kind(
    "launch-failed",
    "error",
    "A launch failed, and the program never asked",
    "<<< >>> drops the error that the launch returns; the kernel did not run.",
    "kernel<<<1, 2048>>>(p); hipDeviceSynchronize();",
    "Correct the launch, and check hipGetLastError() after each.",
)

KINDS = (
    OVERWRITTEN,
    READ_ONLY,
    BUDGET,
    ENDLESS,
    QUOTA,
    FAULTS,
    TRAP,
    FETCH,
    ENDED,
    TENSOR,
    PRINTF,
    STREAMS_RACE,
    STREAMS_HOST,
    STREAMS_FREED,
    LAUNCH_FAILED,
)

STOPS = {kind.check: kind for kind in (BUDGET, ENDLESS, QUOTA, FAULTS, TRAP, FETCH, ENDED, TENSOR, DEADLOCK)}
"""The kind of a launch that ended early, by the check under whose name the machine stops it."""
