"""Kinds of findings of the check `races`."""

from __future__ import annotations

from mfmasim.observe.finding import Kind

NO_BARRIER = Kind(
    "races-no-barrier",
    "error",
    "Two waves access the same bytes and no barrier orders them",
    "At least one of them writes; which comes first depends on timing.",
    "tile[t] = x; y = tile[t ^ 64];  // no __syncthreads() between them",
    "Place a barrier between the accesses, on the path of every wave.",
)
NOT_DONE = Kind(
    "races-not-done-at-barrier",
    "error",
    "An access may be in flight when its wave passes the barrier",
    "A barrier orders waves, not their memory operations: those are complete only when a counter says so.",
    "ds_write_b32 v2, v3; s_barrier; ds_read_b32 v4, v5  // no s_waitcnt lgkmcnt(0) before the barrier",
    "Wait for the counter of the first access before the barrier.",
)
OWN = Kind(
    "races-own-in-flight",
    "error",
    "A wave accesses bytes that its own operation in flight touches",
    "Direct-to-LDS loads write until their own counter is down, also for the wave that issued them.",
    "buffer_load_dword v2, s[4:7], 0 offen lds; ds_read_b32 v4, v5  // no s_waitcnt vmcnt(0)",
    "Place the wait that the message names before the access.",
)
GLOBAL_NO_BARRIER = Kind(
    "races-global-no-barrier",
    "error",
    "Two waves access the same bytes of memory without a barrier",
    "At least one of them writes; which comes first depends on timing. As in the LDS, but in global memory.",
    "out[t] = x; y = out[t ^ 64];  // no __syncthreads() between them",
    "Place a barrier between the accesses, on the path of every wave.",
)
GLOBAL_NOT_DONE = Kind(
    "races-global-not-done",
    "error",
    "An access to memory may be in flight at the barrier",
    "The accesses take different paths: scalar and vector ones always do, vector ones of a workgroup on two compute "
    "units (WGP mode, or tg_split). What is not waited for before the barrier may complete after it.",
    "global_store_b32 v0, v1, s[2:3]; s_barrier  // no s_waitcnt_vscnt null, 0 before the barrier",
    "Use __syncthreads(), or wait for the counter of the first access before the barrier.",
)
WORKGROUPS = Kind(
    "races-between-workgroups",
    "error",
    "Two workgroups access the same bytes and nothing orders them",
    "At least one of them writes. Workgroups run in any order, or concurrently; a barrier orders only one workgroup.",
    "if (blockIdx.x == 0) cell = x; else y = cell;",
    "Use atomic operations, a flag or ticket with release and acquire, or a second launch.",
)
NOT_RELEASED = Kind(
    "races-not-released",
    "error",
    "A flag or ticket is written while the data may be in flight",
    "Another workgroup that sees the flag may read old data, because nothing waits for the data to be written.",
    "data[i] = x; atomicAdd(&count, 1);  // no __threadfence() between them",
    "Place __threadfence() before the atomic operation, or give it release order and device scope.",
)
SCOPE = Kind(
    "races-scope",
    "error",
    "An atomic operation between workgroups has workgroup scope",
    "With this scope the operation and its fences reach only the caches of one workgroup. On gfx12 that holds for "
    "read-modify-write operations as well, which elsewhere act in the L2 whatever their scope.",
    "__hip_atomic_fetch_add(&count, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);",
    "Use __HIP_MEMORY_SCOPE_AGENT.",
)
STALE = Kind(
    "races-stale",
    "warning",
    "A read after an acquire may see stale cache contents",
    "The accesses are ordered, but no fence invalidates the caches between the acquire and the read. It matters only "
    "if the line was in the cache.",
    "if (atomicAdd(&count, 1) == last) sum += data[i];  // no __threadfence() before the read",
    "Place __threadfence() after the atomic operation, or give it acquire order.",
)
NOT_BACK = Kind(
    "races-not-written-back",
    "warning",
    "Data may stay in an L2 cache that other workgroups do not read",
    "The device has several L2 caches. A complete store is in that of its workgroup; for a workgroup with another one "
    "it has to be written back, before the flag or ticket.",
    "global_store_dword v0, v1, s[2:3]; s_waitcnt vmcnt(0); global_atomic_add v4, v5, s[4:5]  // no buffer_wbl2 sc1",
    "Place __threadfence() before the atomic operation, or give it release order and device scope.",
)
STALE_SCALAR = Kind(
    "races-stale-scalar",
    "warning",
    "A scalar load may see what was there before another wave's store",
    "Vector stores do not update the scalar cache. The line was in it, because a scalar load had read it before.",
    "s_load_dword s4, s[8:9], 0; another wave stores there; s_barrier; s_load_dword s4, s[8:9], 0",
    "Place s_dcache_inv before the second scalar load, or use a vector load.",
)
STALE_NEAR = Kind(
    "races-stale-near",
    "warning",
    "A read behind a barrier may see what its compute unit read before",
    "A workgroup in WGP mode, or with tg_split, runs on two compute units or more, each with a vector cache. The line "
    "was in that of the wave, because it had read it before the other wave's store.",
    "global_load_b32 v1, v0, s[2:3]; s_barrier; another wave stores there; s_barrier; global_load_b32 v2, v0, s[2:3]",
    "Place buffer_gl0_inv (gfx12: global_inv scope:SCOPE_SE) behind the barrier, as __syncthreads() does.",
)
SAME_VALUE = Kind(
    "races-same-value",
    "info",
    "Several waves write the same value to the same bytes",
    "Which one comes last does not matter. The simulator compares the values written in this launch.",
    "if (x != 0) *found = 1;",
    "Nothing, if the value is always the same.",
)
NOT_FOLLOWED = Kind(
    "races-not-followed",
    "info",
    "Not all of the shared memory was analysed",
    "Waves share so much memory that only a part of it was analysed.",
    "a grid of ten thousand workgroups that all pass flags to each other",
    "Use a smaller grid.",
    place="launch",
)

RACES = (
    NO_BARRIER, NOT_DONE, OWN, GLOBAL_NO_BARRIER, GLOBAL_NOT_DONE, WORKGROUPS, NOT_RELEASED, SCOPE, STALE, NOT_BACK,
    STALE_SCALAR, STALE_NEAR, SAME_VALUE, NOT_FOLLOWED,
)  # fmt: skip
