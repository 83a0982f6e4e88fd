// Waits and barriers as single instructions, so that a kernel says itself what it waits for: the compiler adds nothing.
//
// They are macros and not functions, so that their source line is that of the kernel.
#pragma once

typedef __attribute__((address_space(3))) void mfmasim_lds_void;

// Byte address in the LDS of something `__shared__`.
#define LDS_ADDRESS(pointer) ((unsigned)(__UINTPTR_TYPE__)(mfmasim_lds_void *)(pointer))

#if defined(__GFX12__)
#define WAIT_LDS() asm volatile("s_wait_dscnt 0x0" ::: "memory")
#define SIGNAL() asm volatile("s_barrier_signal -1" ::: "memory")
#define AWAIT() asm volatile("s_barrier_wait -1" ::: "memory")
#define BARRIER() asm volatile("s_barrier_signal -1\n s_barrier_wait -1" ::: "memory")
#define WAIT_FOR_LDS(count, x) asm volatile("s_wait_dscnt " #count : "+v"(x) : : "memory")
#define WAIT_FOR_LOAD(count, x) asm volatile("s_wait_loadcnt " #count : "+v"(x) : : "memory")
#define LOAD_MNEMONIC "global_load_b32"
#else
#define WAIT_LDS() asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory")
#define BARRIER() asm volatile("s_barrier" ::: "memory")
#define WAIT_FOR_LDS(count, x) asm volatile("s_waitcnt lgkmcnt(" #count ")" : "+v"(x) : : "memory")
#define WAIT_FOR_LOAD(count, x) asm volatile("s_waitcnt vmcnt(" #count ")" : "+v"(x) : : "memory")
#define LOAD_MNEMONIC "global_load_dword"
#endif

// Loads to the LDS count as loads from memory.
#define WAIT_DIRECT(count) asm volatile("s_waitcnt vmcnt(" #count ")" ::: "memory")

// What a wave did to the LDS is done, and then all waves meet.
#define SYNC()  \
  do {          \
    WAIT_LDS(); \
    BARRIER();  \
  } while (0)

// Reads and loads that nothing waits for, until the kernel does.
#define START_READ(x, pointer) asm volatile("ds_read_b32 %0, %1" : "=v"(x) : "v"(LDS_ADDRESS(pointer)) : "memory")
#define START_LOAD(x, base, offset) \
  asm volatile(LOAD_MNEMONIC " %0, %1, %2" : "=v"(x) : "v"((unsigned)(offset)), "s"(base) : "memory")
