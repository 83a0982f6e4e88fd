"""Kinds of findings: the id each carries, what it means, an example, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import unknown

__all__ = ["KINDS", "STOPS", "Kind", "first_of", "kind"]


@dataclass(frozen=True)
class Kind:
    """One kind of finding."""

    id: str
    """Stable: the check and what it saw, such as ``waits-read-in-flight``."""
    check: str
    severity: str
    """The severity it usually has."""
    title: str
    about: str
    """What it means, and what the hardware does."""
    example: str
    """Code that makes it."""
    fix: str


_ROWS = (
    Kind("waits-read-in-flight", "waits", "error", "Register read while a load to it is in flight",
         "The counters allow the load to be unfinished, so that the old value may be read. The simulator delivers "
         "loads at once: outputs are right here and wrong on some runs of the hardware.",
         "global_load_dword v4, v2, s[8:9]; v_add_u32 v4, 1, v4",
         "Put the wait that the message names between the load and the use."),
    Kind("waits-overwritten-in-flight", "waits", "error", "Register written while a load to it is in flight",
         "The load may arrive after the other write and replace its value.",
         "global_load_dword v4, v2, s[8:9]; v_mov_b32 v4, 1",
         "Wait for the load first, or use another register."),
    Kind("waits-stricter", "waits", "info", "A wait is stricter than what was executed needs",
         "On every path that was executed a larger value, or no wait, would have ended what was used. Only said where "
         "the wait ended nothing but loads to registers, and nothing that orders memory came before their use.",
         "two loads, to v4 and v5; s_waitcnt vmcnt(0); v_add_u32 v4, 1, v4  // v5 is waited for later",
         "Wait for the value that the message names, and for the rest where it is used."),
    Kind("hazards-wait-states", "hazards", "error", "Too few wait states between two instructions",
         "The hardware does not look after this pair: the second one may take what was there before the first. The "
         "simulator executes one after the other, so that outputs are right here.",
         "v_readfirstlane_b32 s4, v1; global_load_dword v2, v3, s[4:5]  // inline assembly, CDNA",
         "Put the s_nop that the message names, or that many other instructions, between them."),
    Kind("hazards-matrix", "hazards", "error", "A matrix instruction and another one are too close",
         "Results of matrix instructions arrive pass by pass, and sources are read late; hardware does not wait.",
         "v_mfma_f32_32x32x8_f16 v[0:15], ...; v_add_f32 v16, v0, v0  // inline assembly, CDNA",
         "Put independent instructions, or the s_nop that the message names, between them."),
    Kind("hazards-vector", "hazards", "error", "An instruction of the vector ALU must lie between two others",
         "S_NOP is none, S_DELAY_ALU only a hint.",
         "v_wmma_f32_16x16x16_f16 v[0:7], ...; v_wmma_f32_16x16x16_f16 v[8:15], v[0:7], ...  // RDNA",
         "Put an independent vector instruction, or v_nop, between them."),
    Kind("hazards-dependency", "hazards", "error", "A wait for the vector or the scalar ALU is missing",
         "The hardware of this chip misses the dependency unless the program waits.",
         "v_rcp_f32 v1, v2; v_mul_f32 v3, v1, v1  // inline assembly, gfx1100",
         "Put the s_waitcnt_depctr or s_wait_alu that the message names between them."),
    Kind("races-no-barrier", "races", "error", "Two waves touch the same bytes and no barrier orders them",
         "At least one of both writes; which comes first depends on timing.",
         "tile[t] = x; y = tile[t ^ 64];  // no __syncthreads() between them",
         "Put a barrier between both accesses, on the path of every wave."),
    Kind("races-not-done-at-barrier", "races", "error", "An access may be in flight when its wave passes the barrier",
         "A barrier orders waves, not their memory operations: those are done only when a counter says so.",
         "ds_write_b32 v2, v3; s_barrier; ds_read_b32 v4, v5  // no s_waitcnt lgkmcnt(0) before the barrier",
         "Wait for the counter of the first access before the barrier."),
    Kind("races-own-in-flight", "races", "error", "A wave touches bytes that its own operation may still move",
         "Loads straight to the LDS write until their own counter is down, also for the wave that issued them.",
         "buffer_load_dword v2, s[4:7], 0 offen lds; ds_read_b32 v4, v5  // no s_waitcnt vmcnt(0)",
         "Put the wait that the message names before the access."),
    Kind("races-global-no-barrier", "races", "error", "Two waves touch the same bytes of memory without a barrier",
         "At least one of both writes; which comes first depends on timing. As in the LDS, but in global memory.",
         "out[t] = x; y = out[t ^ 64];  // no __syncthreads() between them",
         "Put a barrier between both accesses, on the path of every wave."),
    Kind("races-global-not-done", "races", "error", "An access to memory may be in flight at the barrier",
         "The workgroup runs on two compute units (WGP mode, or tg_split), so that its waves' operations do not go one "
         "way: what is not waited for before the barrier may come after it.",
         "global_store_b32 v0, v1, s[2:3]; s_barrier  // no s_waitcnt_vscnt null, 0 before the barrier",
         "Use __syncthreads(), or wait for the counter of the first access before the barrier."),
    Kind("races-between-workgroups", "races", "error", "Two workgroups touch the same bytes and nothing orders them",
         "At least one of both writes. Workgroups run in any order, or at the same time; a barrier orders only one.",
         "if (blockIdx.x == 0) cell = x; else y = cell;",
         "Use atomic operations, a flag or ticket with release and acquire, or a second launch."),
    Kind("races-not-released", "races", "error", "A flag or ticket is written while the data may be in flight",
         "Another workgroup that sees the flag may read old data, as nothing waits for the data to be written.",
         "data[i] = x; atomicAdd(&count, 1);  // no __threadfence() between them",
         "Put __threadfence() before the atomic operation, or give it release order and the scope of the device."),
    Kind("races-scope", "races", "error", "An atomic operation orders workgroups with the scope of one",
         "With such a scope the operation and its fences reach only the caches of the workgroup.",
         "__hip_atomic_fetch_add(&count, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);",
         "Use __HIP_MEMORY_SCOPE_AGENT."),
    Kind("races-stale", "races", "warning", "A read after a flag or ticket may see what a cache held before",
         "The order is right, but no fence empties the caches between the answer and the read. It matters where the "
         "line was in the cache already.",
         "if (atomicAdd(&count, 1) == last) sum += data[i];  // no __threadfence() before the read",
         "Put __threadfence() after the atomic operation, or give it acquire order."),
    Kind("races-same-value", "races", "info", "Several waves write the same value to the same bytes",
         "It does not matter which comes last. The simulator compares the values that were written in this launch.",
         "if (x != 0) *found = 1;", "Nothing, if the value is always the same."),
    Kind("races-not-followed", "races", "info", "Not all of shared memory was followed",
         "The launch shares so much memory between waves that only a part of it was looked at.",
         "a grid of ten thousand workgroups that all hand flags to each other", "Try a smaller grid."),
    Kind("bounds-outside-buffer", "bounds", "error", "Access outside every buffer",
         "The address lies in no buffer of the launch. The hardware faults, or touches what "
         "belongs to somebody else.",
         "out[blockIdx.x * 256 + threadIdx.x] = x;  // the grid has more work-items than the buffer elements",
         "Guard the access, or correct the address; the message names the nearest buffer and the distance."),
    Kind("bounds-read-only", "bounds", "error", "Store to read-only memory",
         "Constants and the code itself cannot be written to; the hardware faults.",
         "a __constant__ table is written through a pointer", "Write to a buffer."),
    Kind("bounds-lds", "bounds", "error", "Access outside the workgroup's LDS",
         "Beyond the allocation stores are dropped and loads give 0.",
         "__shared__ float tile[64]; tile[threadIdx.x + 64] = x;",
         "Allocate more (shared_bytes for dynamic LDS) or correct the index."),
    Kind("bounds-scratch", "bounds", "error", "Access outside a work-item's private segment",
         "The stack or a private array is left: a wrong index, or a stack that is too small.",
         "float a[4]; a[i] = x;  // i is 4 or more",
         "Correct the index, or give a kernel that recurses a larger stack."),
    Kind("bounds-buffer-range", "bounds", "info", "Access beyond num_records of a buffer resource",
         "The hardware drops such stores and returns 0 for such loads; kernels use that on purpose for edges.",
         "buffer_load_dword v4, v2, s[4:7], 0 offen  // v2 is num_records or more",
         "Nothing where it is meant; else correct the range or the offset."),
    Kind("bounds-resource", "bounds", "error", "A buffer resource that this architecture reads otherwise",
         "The last of its four words has an invalid format or type, reserved bits, or a range check under which "
         "nothing is in range: often the constant of another generation.",
         "__builtin_amdgcn_make_buffer_rsrc(p, 0, bytes, 0x27000)  // CDNA's constant on RDNA",
         "Take the architecture's own constant: 0x27000 on CDNA, 0x31004000 on RDNA3 and RDNA4 for raw buffers."),
    Kind("bounds-resource-base", "bounds", "warning", "The base of a buffer resource lies in no buffer",
         "Accesses through it hit memory by their offsets alone, or nothing.",
         "__builtin_amdgcn_make_buffer_rsrc(p + rows * ld, 0, bytes, 0x27000)  // behind the last row",
         "Start the resource in the buffer, or give it 0 records."),
    Kind("guard-overwritten", "guard", "error", "Bytes around a buffer were written",
         "On a GPU every buffer lies between guard zones of poison; what is found changed there was written by the "
         "kernel, to an address outside its buffers.",
         "out[blockIdx.x * 256 + threadIdx.x] = x;  // the grid has more work-items than the buffer elements",
         "Run the same launch on the simulator: its bounds check names the instruction."),
    Kind("guard-read-only", "guard", "error", "A read-only array was written",
         "The array that was passed cannot be written to; the kernel changed its copy on the GPU.",
         "in[i] = 0;", "Write to a buffer of its own, or pass an array that may be written."),
    Kind("alignment-atomic", "alignment", "error", "Atomic at an address that is no multiple of its size",
         "The hardware reports a memory violation and changes nothing.",
         "atomicAdd((int*)(bytes + 2), 1);", "Align the address to the size of the atomic."),
    Kind("alignment-scalar", "alignment", "warning", "Scalar load from an address that is no multiple of 4",
         "The two low bits of the address are ignored, so that another dword is read.",
         "s_load_dword s4, s[0:1], 0x2", "Align the address, or load through the vector memory."),
    Kind("alignment-lds", "alignment", "info", "LDS access that is not aligned",
         "Right in the unaligned mode that drivers turn on, but slower.",
         "ds_read_b128 v[4:7], v2  // v2 is 8", "Align rows of the tile to the size of the access."),
    Kind("alignment-global", "alignment", "info", "Access to memory that is not aligned",
         "Right in the unaligned mode that drivers turn on. The language calls it undefined unless the type says so.",
         "global_load_dwordx2 v[2:3], v[0:1], off  // v[0:1] is 0x7f0000001002",
         "Nothing, if strides are odd on purpose; give the pointer's type the alignment that it has."),
    Kind("barrier-different", "barrier", "warning", "Waves of a workgroup meet at different barriers",
         "The hardware counts arrivals and lets them go on together, but the barrier no longer separates what it was "
         "written to separate.",
         "if (wave == 0) __syncthreads(); else __syncthreads();",
         "Move the barrier to where all waves come by."),
    Kind("barrier-uneven", "barrier", "warning", "Waves of a workgroup pass different numbers of barriers",
         "The hardware does not wait for waves that have ended, so that the barriers that are too many open all the "
         "same. Where waves work in turns, one half is a barrier too late or too early from some place on.",
         "if (half == 1) barrier(); ... // and no barrier that only the other half executes at the end",
         "Let every path through the kernel pass as many barriers."),
    Kind("barrier-signalled-twice", "barrier", "warning", "A wave signals a barrier again before it waits",
         "gfx12 counts signals, not waves: the second one may stand for a wave that has not come.",
         "s_barrier_signal -1; s_barrier_signal -1; s_barrier_wait -1", "Wait between two signals."),
    Kind("barrier-deadlock", "barrier", "error", "A barrier that is never complete",
         "Waves wait for others that will not come.",
         "a split barrier that one wave never signals", "Let every wave signal, or end."),
    Kind("conflicts-lds", "conflicts", "info", "Bank conflict of the LDS",
         "Lanes of one phase need different dwords of one bank; the access takes further passes.",
         "tile[threadIdx.x * 32]  // all lanes in one bank",
         "Pad the rows, or swizzle: mfmasim swizzle finds one."),
    Kind("numerics-not-finite", "numerics", "info", "NaN or Inf appears though all operands are finite",
         "The first place of a source line; what the value spreads to is not told.",
         "y = 1.0f / x;  // x is 0", "Guard the operand, where it is not meant."),
    Kind("numerics-overflow", "numerics", "info", "A conversion to a format that cannot hold the value",
         "It becomes the largest value, Inf or NaN, as the instruction and MODE say.",
         "__builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false)  // x is 1000", "Scale before converting."),
    Kind("numerics-denormal", "numerics", "info", "A denormal operand counts as 0",
         "MODE flushes denormal f32 inputs: compilers set it so with -fgpu-flush-denormals-to-zero.",
         "y = x * 2.0f;  // x is 1e-40", "Nothing, or compile without that option."),
    Kind("strides-lds", "strides", "warning", "Addresses step too far from lane to lane",
         "The step is a multiple of the access and leaves the LDS; the size was probably multiplied in twice.",
         "a byte offset is used as an index: tile[4 * threadIdx.x]",
         "Take one of both factors out."),
    Kind("uninitialised-branch", "uninitialised", "error", "Bits that nobody wrote decide where execution goes",
         "A branch, a jump or EXEC depends on a register, an LDS byte or an element that was never written. What it "
         "holds is left over from earlier work: runs differ.",
         "__shared__ int found; if (threadIdx.x == 0 && hit) found = 1; __syncthreads(); if (found) ...",
         "Write it first, in every lane that is read; a flag in the LDS by one wave before a barrier."),
    Kind("uninitialised-address", "uninitialised", "error", "Bits that nobody wrote make an address",
         "The access, or a register chosen at run time, may be any.",
         "int at[4]; at[0] = n; x = table[at[i]];", "Fill the whole array, or bound the index."),
    Kind("uninitialised-matrix", "uninitialised", "error", "A matrix instruction multiplies bits that nobody wrote",
         "Every element of A and B reaches a row or a column of the result, and 0 times a leftover NaN is a NaN: "
         "padding has to be zeros.",
         "if (k < K) tile[k] = a[k];  // and the rest of the tile is read, too",
         "Fill tails with zeros before the barrier; initialise accumulators."),
    Kind("uninitialised-stored", "uninitialised", "error", "Bits that nobody wrote are stored to global memory",
         "What leaves the kernel differs from run to run.",
         "float c; if (beta != 0) c = C[i]; C[i] = alpha * acc + beta * c;",
         "Write the value on every path; read C only when beta is not 0."),
    Kind("uninitialised-atomic", "uninitialised", "error", "An atomic adds to memory that nobody wrote",
         "The result is the sum of what was left there and of what was added.",
         "atomicAdd(&sum[0], x);  // sum was allocated and never cleared", "Clear the buffer before the launch."),
    Kind("mapping-wrong-element", "mapping", "error", "A slot of a fragment holds another element than it needs",
         "Provenance followed the element from its argument to the matrix instruction; the layout needs another.",
         "lane 5 holds A[0, 5] where the instruction needs A[5, 0]",
         "Compare with mfmasim show ARCH INSTRUCTION --operand A; the message names a pattern where there is one."),
    Kind("mapping-copies-differ", "mapping", "error", "The copies of an operand in two halves of a wave differ",
         "RDNA3 wants each row of A and column of B in every 16 lanes of the wave; what else it does is not said.",
         "lanes 16 to 31 of A hold other rows than lanes 0 to 15", "Load both halves from lane % 16."),
    Kind("mapping-wrong-scale", "mapping", "error", "An element meets another block's scale",
         "Uniform scales hide it; other data do not.",
         "the scale of K block 0 is used for K block 1",
         "Correct the scale's lane, or the byte that op_sel chooses."),
    Kind("mapping-wrong-format", "mapping", "error", "An operand is read in another format than its argument has",
         "The bits are right, their meaning is not.",
         "the argument holds e5m2, cbsz says e4m3", "Choose the instruction or cbsz/blgp by the argument's format."),
    Kind("mapping-accumulator", "mapping", "error", "An accumulator does not hold what it should",
         "It was never initialised, or it does not go on from one result, place by place.",
         "acc is used without acc = {0}", "Initialise it, and pass each result on in the same registers."),
    Kind("mapping-wrong-output", "mapping", "error", "A result or an accumulator belongs to another element of C",
         "The result is stored at, or started from, an element that its row and column do not give.",
         "C[col * N + row] = d[i];", "Take row and column from the layout of D."),
    Kind("mapping-no-result", "mapping", "error", "Elements of C hold no result of a matrix instruction",
         "They were never written, or hold a constant.",
         "the grid is too small for M and N", "Cover all of C, or declare it smaller."),
    Kind("mapping-wrong-sum", "mapping", "error", "The sum leaves out K, or takes it twice",
         "Over the instructions that end in one element, every K has to occur once.",
         "for (k = 0; k < K - 32; k += 32)", "Correct the bounds or the step of the K loop."),
    Kind("mapping-stale-padding", "mapping", "error", "Beyond the end of K only one of the operands holds zeros",
         "The other one holds an element, such as what the last step left there. While that element is finite the "
         "product is 0 and outputs are right; if it is an infinity or a NaN, the sum is a NaN.",
         "if (k < K) a = A[row * lda + k];  // a keeps its old value, b is 0",
         "Put zeros into both operands."),
    Kind("mapping-k-permuted", "mapping", "info", "K is permuted alike in A and B",
         "The exact product is the same. With block scales each element has to meet its own.",
         "A and B are both loaded as 16 consecutive bytes a lane", "Nothing, if it is meant."),
    Kind("mapping-wrong-source", "mapping", "error", "An output element comes from another element than declared",
         "The case declares with ComesFrom which element of the input each element of the output is; labels that went "
         "through the kernel say another one. Symmetric data hide it.",
         "out[row * cols + col] = in[row * cols + col];  // declared as the transpose",
         "Correct the index of the load or of the store, or the declaration."),
    Kind("mapping-wrong-set", "mapping", "error", "An output depends on other elements than declared",
         "The case declares with DependsOn which elements of the input feed each element of the output. Elements of "
         "one size hide it.",
         "the scale of a block of columns is taken from a block of rows",
         "Correct the bounds of the reduction, or the declaration."),
    Kind("mapping-not-followed", "mapping", "info", "Elements or results that provenance does not follow",
         "Operands were converted, results computed further, or the instruction is sparse.",
         "C[i] = relu(acc)", "Nothing; outputs are compared all the same."),
    Kind("mapping-not-traced", "mapping", "error", "The mapping cannot be checked",
         "No matrix instruction was executed, or which are depends on data.",
         "a kernel without matrix instructions", "Declare the case with trace=False."),
    Kind("outputs-differ", "outputs", "error", "Outputs differ from what is expected",
         "Golden bits, the exact result, or the reference function; the message says which.",
         "C = a @ b without alpha", "Other findings of the case often name the cause; else debug the first element."),
    Kind("outputs-between-lines", "outputs", "error", "The kernel wrote between the lines of C",
         "With a leading dimension larger than a line, the bytes between lines belong to nobody.",
         "C[row * ld + col] = x;  // col reaches N", "Guard the columns."),
    Kind("outputs-not-compared", "outputs", "warning", "Nothing is expected of C",
         "The case gives no expect, so that outputs are not compared.",
         "dict(grid=..., block=..., args=[a, b, c])", "Add expect to the case."),
    Kind("inputs-changed", "inputs", "error", "The kernel changed an input",
         "Memory that was declared as read only holds other bytes after the launch.",
         "a[i] = 0.0f;", "Do not write to it, or declare it InOut."),
    Kind("executes-missing", "executes", "error", "An instruction that the case asks for was not executed",
         "The case names patterns with executes=; the compiler chose others, or the path was not taken.",
         'executes="v_mfma_f32_32x32x8.*" and a kernel built with plain multiplications',
         "Use the builtin, or correct the pattern."),
    Kind("budget-exhausted", "budget", "error", "A wave executed more instructions than the budget",
         "Probably a loop without end.",
         "while (flag == 0);  // nobody sets it", "Correct the loop, or raise --budget."),
    Kind("trap-executed", "trap", "error", "The kernel trapped", "s_trap was executed, as abort() and assert do.",
         "__builtin_trap();", "See which condition leads there."),
    Kind("fetch-no-code", "fetch", "error", "A wave left the code", "A jump, or the end of the code without s_endpgm.",
         "s_setpc_b64 s[4:5]  // s[4:5] holds no code address", "Correct the address that it jumps to."),
    Kind("debugger-ended", "debugger", "info", "The launch was ended by hand",
         "A breakpoint's function returned False.",
         "debugger.break_at(31, lambda stop: False)", "Nothing."),
    Kind("printf-wrong", "printf", "warning", "printf could not be followed",
         "Its buffer was full or its format wrong.",
         'printf("%s", number);', "Print less, or correct the format."),
    Kind("skip-declared", "skip", "info", "The case is left out on this architecture", "Its file says so, and why.",
         'skip={"gfx942": "no FP4"}', "Nothing."),
    Kind("case-wrong", "case", "error", "The case cannot be run", "The contract does not hold, the source does not "
         "compile, or the machine does not know an instruction.",
         "--set M=17 where the case needs M % 64 == 0", "The message says what is allowed."),
    Kind("suppress-unused", "suppress", "info", "A suppression matches nothing",
         "The case suppresses findings that do not occur (any more) on this architecture.",
         'suppress={"conflicts": "the epilogue only"} in a case without conflicts', "Take it out."),
)  # fmt: skip

KINDS = {row.id: row for row in _ROWS}
"""Every kind by its id, ordered by check."""

STOPS = {
    "budget": "budget-exhausted", "trap": "trap-executed", "fetch": "fetch-no-code", "debugger": "debugger-ended",
    "barrier": "barrier-deadlock",
}  # fmt: skip
"""Kind of the finding about a launch that ended early, by the check that it belongs to."""


def first_of(check: str) -> str:
    """Id of the first kind of a check; the check's own name where it has none."""
    return next((row.id for row in _ROWS if row.check == check), check)


def kind(name: str) -> Kind:
    """The kind with an id.

    Raises:
        MfmasimError: no kind has it; names the nearest.
    """
    if name not in KINDS:
        raise unknown("finding id", name, KINDS)
    return KINDS[name]
