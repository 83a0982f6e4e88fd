// malloc, free, new and delete in kernels: one heap for each code object, of MFMASIM_HEAP_BYTES bytes, which stays from
// one launch to the next; or the one for all code objects of a device that hipDeviceSetLimit makes. Blocks have one of four sizes between two powers of two, and a header; freed ones of a size
// form a list, from which any work-item takes. A request that finds no room gets a null pointer, as in HIP; a pointer that is freed twice, or was not
// allocated, ends the wave with a trap at the line of the kernel.
#pragma once

#include <mfmasim/lanes.h>
#include <mfmasim/qualifiers.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(MFMASIM_HEAP_BYTES)
#define MFMASIM_HEAP_BYTES (1u << 20)
#endif

namespace mfmasim {

constexpr uint32_t heap_header = 16, heap_smallest = 4, heap_sizes = 4 * (32 - heap_smallest);
constexpr uint32_t heap_taken = 0x600d600d, heap_given_back = 0xdeadf4ee;

// Offsets count from the heap's first byte and are never 0: the first block begins behind a header's room.
struct heap_block {
  uint32_t state, size_class, next, unused;
};
struct alignas(16) heap_state {
  // Both change at once: the first block of the list, and a count that tells two states with the same block apart.
  unsigned long long lists[heap_sizes];
  unsigned long long used;
  unsigned long long size;  // of the bytes that follow; 0 is MFMASIM_HEAP_BYTES
};
struct own_heap_state {
  heap_state state;
  alignas(16) unsigned char bytes[MFMASIM_HEAP_BYTES];
};
#if defined(__HIP_DEVICE_COMPILE__)
inline __device__ own_heap_state own_heap;
inline __device__ heap_state *device_heap = &own_heap.state;  // the runtime changes it: mfmasim/hiprt/limits.py
#else
extern __device__ heap_state *device_heap;  // the host has no shadow of it
#endif

#define MFMASIM_AGENT __HIP_MEMORY_SCOPE_AGENT
MFMASIM_DEVICE unsigned char *heap_bytes() { return (unsigned char *)(device_heap + 1); }
MFMASIM_DEVICE size_t heap_size() { return device_heap->size ? device_heap->size : MFMASIM_HEAP_BYTES; }
MFMASIM_DEVICE heap_block *heap_at(uint32_t offset) { return (heap_block *)(heap_bytes() + offset); }

MFMASIM_DEVICE uint32_t heap_pop(uint32_t size_class) {
  unsigned long long *list = &device_heap->lists[size_class];
  unsigned long long first = __hip_atomic_load(list, __ATOMIC_ACQUIRE, MFMASIM_AGENT), then;
  do {
    if (!(uint32_t)first) return 0;
    uint32_t next = __hip_atomic_load(&heap_at((uint32_t)first)->next, __ATOMIC_RELAXED, MFMASIM_AGENT);
    then = ((first >> 32) + 1) << 32 | next;
  } while (!__hip_atomic_compare_exchange_strong(list, &first, then, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, MFMASIM_AGENT));
  return (uint32_t)first;
}

// The lanes that free blocks of one size hand them over together, as a chain.
MFMASIM_DEVICE void heap_push(uint32_t size_class, uint32_t offset) {
  uint32_t lane = __lane_id();
  for (bool waits = true; waits;) {
    uint32_t chosen = __builtin_amdgcn_readfirstlane(size_class);
    uint64_t mask = __builtin_amdgcn_ballot_w64(size_class == chosen);
    if (size_class != chosen) continue;
    waits = false;
    uint64_t above = lane == 63 ? 0 : mask & ~0ull << (lane + 1);
    int follows = above ? __builtin_ctzll(above) : 63 - __builtin_clzll(mask), first_lane = __builtin_ctzll(mask);
    uint32_t next = __builtin_amdgcn_ds_bpermute(follows << 2, offset);
    uint32_t last = __builtin_amdgcn_readlane(offset, 63 - __builtin_clzll(mask));
    if (above) __hip_atomic_store(&heap_at(offset)->next, next, __ATOMIC_RELAXED, MFMASIM_AGENT);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    if (lane != (uint32_t)first_lane) continue;
    unsigned long long *list = &device_heap->lists[chosen];
    unsigned long long before = __hip_atomic_load(list, __ATOMIC_RELAXED, MFMASIM_AGENT), then;
    do {
      __hip_atomic_store(&heap_at(last)->next, (uint32_t)before, __ATOMIC_RELAXED, MFMASIM_AGENT);
      then = ((before >> 32) + 1) << 32 | offset;
    } while (!__hip_atomic_compare_exchange_strong(list, &before, then, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,
                                                   MFMASIM_AGENT));
  }
}

// Room that was never in use: one instruction for all lanes, which the compiler must not take for one of a scalar.
MFMASIM_DEVICE uint32_t heap_extend(uint32_t bytes) {
  unsigned long long *used = &device_heap->used;
  __asm__("" : "+v"(used));
  size_t room = heap_size() - heap_header;
  if (__hip_atomic_load(used, __ATOMIC_RELAXED, MFMASIM_AGENT) + bytes > room) return 0;
  unsigned long long before = __hip_atomic_fetch_add(used, bytes, __ATOMIC_RELAXED, MFMASIM_AGENT);
  if (before + bytes <= room) return (uint32_t)before + heap_header;
  (void)__hip_atomic_fetch_sub(used, bytes, __ATOMIC_RELAXED, MFMASIM_AGENT);
  return 0;
}

static __device__ __attribute__((noinline, nodebug)) void *heap_allocate(size_t size) {
  if (size == 0 || size > heap_size()) return nullptr;
  uint32_t needed = ((uint32_t)size + heap_header + 15) & ~15u;
  uint32_t power = 31 - __builtin_clz(needed - 1), quarters = ((needed - 1) >> (power - 2)) + 1;
  uint32_t size_class = 4 * (power - heap_smallest) + quarters - 5;
  // Freed blocks are taken when nothing else is left, so that a stale pointer shows, the smallest that suffices first.
  uint32_t offset = heap_extend(quarters << (power - 2));
  while (!offset && size_class < heap_sizes) {
    offset = heap_pop(size_class);
    if (!offset) ++size_class;
  }
  if (!offset) return nullptr;
  heap_block *block = heap_at(offset);
  __hip_atomic_store(&block->size_class, size_class, __ATOMIC_RELAXED, MFMASIM_AGENT);
  __hip_atomic_store(&block->state, heap_taken, __ATOMIC_RELAXED, MFMASIM_AGENT);
  return heap_bytes() + offset + heap_header;
}

static __device__ __attribute__((noinline, nodebug)) bool heap_free(void *pointer) {
  size_t place = (size_t)((unsigned char *)pointer - heap_bytes());
  if (place < 2 * heap_header || place >= heap_size() || place % heap_header) return false;
  heap_block *block = (heap_block *)pointer - 1;
  uint32_t before = heap_taken;
  if (!__hip_atomic_compare_exchange_strong(&block->state, &before, heap_given_back, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                            MFMASIM_AGENT))
    return false;
  heap_push(__hip_atomic_load(&block->size_class, __ATOMIC_RELAXED, MFMASIM_AGENT), (uint32_t)place - heap_header);
  return true;
}
#undef MFMASIM_AGENT

}  // namespace mfmasim

extern "C" void *malloc(size_t) noexcept;
extern "C" void *calloc(size_t, size_t) noexcept;
extern "C" void *realloc(void *, size_t) noexcept;
extern "C" void free(void *) noexcept;
MFMASIM_DEVICE void *malloc(size_t size) { return mfmasim::heap_allocate(size); }
MFMASIM_DEVICE void free(void *pointer) {
  if (pointer && !mfmasim::heap_free(pointer)) mfmasim_trap();
}
MFMASIM_DEVICE void *calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void *made = mfmasim::heap_allocate(bytes);
  if (made) __builtin_memset(made, 0, bytes);
  return made;
}

#define MFMASIM_OPERATOR __device__ inline __attribute__((always_inline, nodebug))
MFMASIM_OPERATOR void *operator new(size_t size) { return malloc(size ? size : 1); }
MFMASIM_OPERATOR void *operator new[](size_t size) { return malloc(size ? size : 1); }
MFMASIM_OPERATOR void operator delete(void *pointer) noexcept { free(pointer); }
MFMASIM_OPERATOR void operator delete[](void *pointer) noexcept { free(pointer); }
MFMASIM_OPERATOR void operator delete(void *pointer, size_t) noexcept { free(pointer); }
MFMASIM_OPERATOR void operator delete[](void *pointer, size_t) noexcept { free(pointer); }
// At an address that the caller has: <new> has these for the host alone.
MFMASIM_OPERATOR void *operator new(size_t, void *place) noexcept { return place; }
MFMASIM_OPERATOR void *operator new[](size_t, void *place) noexcept { return place; }
MFMASIM_OPERATOR void operator delete(void *, void *) noexcept {}
MFMASIM_OPERATOR void operator delete[](void *, void *) noexcept {}
namespace std {
struct nothrow_t;
}
MFMASIM_OPERATOR void *operator new(size_t size, const std::nothrow_t &) noexcept { return malloc(size ? size : 1); }
MFMASIM_OPERATOR void *operator new[](size_t size, const std::nothrow_t &) noexcept { return malloc(size ? size : 1); }
MFMASIM_OPERATOR void operator delete(void *pointer, const std::nothrow_t &) noexcept { free(pointer); }
MFMASIM_OPERATOR void operator delete[](void *pointer, const std::nothrow_t &) noexcept { free(pointer); }
#undef MFMASIM_OPERATOR

// What stands in a table of virtual functions where there is none.
extern "C" __device__ __attribute__((weak, nodebug)) void __cxa_pure_virtual() { mfmasim_trap(); }
extern "C" __device__ __attribute__((weak, nodebug)) void __cxa_deleted_virtual() { mfmasim_trap(); }
